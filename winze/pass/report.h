// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/ids.h"
#include "winze/support/diagnostic.h"

namespace winze {

enum class PassStatus : std::uint8_t {
  ran,
  skipped,      ///< nothing for it in the program; `reason` says what it looked for
  stopped,      ///< the edit limit was reached in it; the edits until then are kept
  failed,       ///< its edits were taken back
  not_reached,  ///< an earlier pass failed or stopped
};

[[nodiscard]] std::string_view name_of(PassStatus status);

/// How many calls of an operator there were before and after a pass.
struct OpCountChange {
  std::string op;
  std::size_t before = 0;
  std::size_t after = 0;
};

/// The edit with which a run came to its edit limit.
struct LastEdit {
  std::string kind;       ///< `replace_uses`
  std::string author;     ///< the pass, or `pass/rule`
  std::string node;       ///< the node that was made or changed; empty where it is gone
  std::string source;     ///< the user's own line, where the node has one
  NodeId id;              ///< of that node, gone or not
  std::size_t graph = 0;  ///< in which it stands, by its place in Graph::all_graphs
};

/// What one pass did.
struct PassReport {
  std::string name;
  std::string options;  ///< `{to=core-aten}`, or empty
  PassStatus status = PassStatus::not_reached;
  std::string reason;  ///< why it was skipped or stopped
  std::uint64_t edits = 0;
  double seconds = 0;                  ///< of the pass itself
  double verify_seconds = 0;           ///< of checking what it left
  std::int64_t peak_memory_bytes = 0;  ///< growth of the process's peak resident set
  std::size_t nodes_before = 0;        ///< nested graphs included
  std::size_t nodes_after = 0;
  std::vector<OpCountChange> op_changes;
  std::map<std::string, std::uint64_t> edits_by_rule;  ///< for passes that name their rules
  std::map<std::string, std::int64_t> statistics;      ///< what the pass counted
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
  std::optional<LastEdit> last_edit;  ///< of the pass in which the edit limit was reached
  std::size_t dropped_notes = 0;      ///< beyond those kept
  std::size_t dropped_warnings = 0;
};

/// What a pipeline did to a program, as data.
struct Report {
  std::string program;   ///< the program's name
  std::string pipeline;  ///< in text form
  std::vector<PassReport> passes;
  std::uint64_t edits = 0;
  double seconds = 0;  ///< of the whole run, checks and prints included
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  bool stopped_by_edit_limit = false;
  std::optional<Diagnostic> error;  ///< why the pipeline stopped; names the pass
  std::string reproducer;           ///< file written on failure; empty where none was

  [[nodiscard]] bool ok() const { return !error.has_value(); }
  /// \throws Error with `error` where the pipeline failed.
  void throw_if_failed() const;
  /// One JSON object; the fields are those above.
  [[nodiscard]] std::string to_json() const;
  /// One line a pass: edits, nodes, what changed, and time where asked; notes and warnings below.
  [[nodiscard]] std::string to_text(bool with_time) const;
};

}  // namespace winze
