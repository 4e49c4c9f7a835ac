// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/argument.h"
#include "winze/ir/ids.h"

namespace winze {

class Graph;

/// What one edit did.
enum class EditKind : std::uint8_t {
  create_node,
  erase_node,
  set_slot,      ///< an argument, or an element of a list argument, was changed
  replace_uses,  ///< a run of uses went from one value to another
  move_node,
  set_meta,
  set_name,
  set_node_name,
  set_source,
  set_positional_count,
  move_reference,  ///< an observed reference went to another value (Graph::observe)
};

/// The record of each edit to a graph and the graphs nested in it: counts them always, and while
/// a transaction is open also keeps what undoing them takes. Shared by a graph and its nested
/// graphs.
class Journal {
 public:
  /// Number of edits made so far; never goes down, undo included.
  [[nodiscard]] std::uint64_t edit_count() const { return edit_count_; }

  /// Opens a transaction: from now on edits are recorded. `author` names the pass or rule; nesting
  /// is an error.
  void begin(std::string_view author);
  /// Keeps the edits and frees what was erased. The records go.
  void commit();
  /// Takes back every edit since `begin`, newest first. O(edits).
  void undo();
  [[nodiscard]] bool is_open() const { return open_; }
  /// Number of edits of the open transaction.
  [[nodiscard]] std::size_t pending() const { return records_.size(); }

  /// Names the author of the edits from here on (a pass, or `pass/rule`).
  void set_author(std::string_view author);
  [[nodiscard]] const std::string& author() const { return authors_.back().name; }

  /// Stops the edits after the n-th of the transaction: the next one throws EditLimitReached.
  /// Zero takes the limit away.
  void set_edit_limit(std::uint64_t limit) { limit_ = limit; }

  /// One edit as data, for reports and for narrowing down which edit broke something.
  struct Entry {
    EditKind kind;
    const Graph* graph;
    NodeId node;  ///< the node that was made, erased, moved or changed
    std::string_view author;
    ValueId replacement;  ///< for `replace_uses`: the value that the uses went to
  };
  /// Edit `index` of the open transaction.
  [[nodiscard]] Entry entry(std::size_t index) const;

  /// A node that was edited, and how.
  struct Change {
    std::uint32_t graph_serial = 0;
    NodeId node;
    std::uint16_t kinds = 0;  ///< a bit for each EditKind
    [[nodiscard]] bool has(EditKind kind) const {
      return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
    }
  };
  /// From now on remembers, across transactions, which nodes are edited, so that whoever keeps
  /// something else in step with the graph looks at these alone. A user whose input was replaced
  /// counts as edited. Memory: some bytes an edit.
  void watch() { watching_ = true; }
  [[nodiscard]] bool is_watching() const { return watching_; }
  /// The nodes edited since `watch`, each once, in no order that means anything. Edits that were
  /// undone are among them. A node that took the index of an erased one is the same entry.
  /// O(edits log edits).
  [[nodiscard]] std::vector<Change> changes() const;

 private:
  struct Record {
    Graph* graph = nullptr;
    EditKind kind = EditKind::create_node;
    ArgumentKind old_kind = ArgumentKind::none;
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    std::uint32_t node = NodeId::none_value;
  };
  struct Author {
    std::size_t first_record = 0;
    std::string name;
  };

  /// Called by Graph before each edit: counts it. Throws EditLimitReached where the limit is used
  /// up.
  void begin_edit();
  /// Keeps what undoing takes, while a transaction is open.
  void add(const Record& record) {
    if (watching_) note(record.graph, record.kind, record.node);
    if (open_ && !undoing_) keep(record);
  }
  void keep(const Record& record);
  void note(const Graph* graph, EditKind kind, std::uint32_t node);
  void close();

  std::uint64_t edit_count_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t made_ = 0;
  bool open_ = false;
  bool undoing_ = false;
  bool watching_ = false;
  std::vector<Record> records_;
  std::vector<Author> authors_{{0, ""}};
  std::vector<Graph*> touched_;
  std::vector<Change> changes_;
  friend class Graph;
  friend class Node;
  friend class Value;
};

/// Thrown by the edit that goes past `Journal::set_edit_limit`; the pass manager catches it and
/// keeps the edits made so far.
struct EditLimitReached {};

}  // namespace winze
