// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/context.h"
#include "winze/ir/graph.h"
#include "winze/program/module_call.h"
#include "winze/program/unknown_members.h"
#include "winze/program/weights.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {

/// Version of the export schema (torch/_export/serde/schema.py).
struct SchemaVersion {
  std::int64_t major = 8;
  std::int64_t minor = 20;
  auto operator<=>(const SchemaVersion&) const = default;
};

/// Bounds of a symbol as the file gives them; unset means unbounded.
struct RangeConstraint {
  std::string symbol;
  std::optional<std::int64_t> min_val;
  std::optional<std::int64_t> max_val;
  bool operator==(const RangeConstraint&) const = default;
  /// `[2, int_oo]`.
  [[nodiscard]] std::string interval() const;
};

/// The example value that export recorded for an expression; monostate where it recorded null.
using SymHint = std::variant<std::monostate, std::int64_t, bool, double>;

/// What a file says of symbolic expressions beyond their value: the hint, and the spelling in
/// sympy's srepr.
class ExpressionTable {
 public:
  struct Entry {
    SymHint hint;
    StringId text;  ///< srepr as the file spells it; invalid where it is not known
  };
  /// Keeps the first entry given for an expression.
  void add(SymExpr expression, Entry entry) { entries_.emplace(expression, entry); }
  [[nodiscard]] const Entry* find(SymExpr expression) const {
    const auto found = entries_.find(expression);
    return found == entries_.end() ? nullptr : &found->second;
  }
  /// The recorded hint, else what the hints of the symbols make of the expression, else nothing.
  [[nodiscard]] SymHint hint(const SymbolicContext& symbols, SymExpr expression) const;
  /// All entries in no particular order.
  [[nodiscard]] const auto& entries() const { return entries_; }

 private:
  tsl::robin_map<SymExpr, Entry, std::hash<SymExpr>> entries_;
};

/// Field names of a named tuple type in a tree spec.
struct NamedTupleDef {
  std::string type_name;
  std::vector<std::string> field_names;
  bool operator==(const NamedTupleDef&) const = default;
};

/// The archive that a program's weights come from.
struct ArchiveReference {
  std::string path;    ///< as the user gave it; empty where there is none
  std::string digest;  ///< `ZipReader::digest`
};

/// All of a program but its graph. Copying it copies no bytes of weights.
///
/// Members named `unknown_fields` hold a JSON object of the members that this version does not
/// know; empty for none.
struct ProgramDetails {
  std::string name = "model";  ///< of the model in the archive
  std::string torch_version;   ///< that wrote the program, such as `2.13.0+cpu`
  SchemaVersion schema_version;
  std::vector<std::pair<std::string, std::int64_t>> opset_version;
  std::vector<std::string> verifiers;  ///< dialects: `TRAINING`, `ATEN`
  std::vector<RangeConstraint>
      range_constraints;  ///< as in the file; also set as ranges of `context().symbols()`
  ExpressionTable expressions;
  std::vector<std::string> guards_code;
  std::vector<ModuleCallEntry> module_call_graph;
  std::vector<NamedTupleDef> treespec_namedtuple_fields;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< of the graph module
  /// False where all offsets that were read are 0: torch.export.load drops them, so that a program
  /// which PyTorch has read and saved again has none.
  bool has_offsets = true;
  std::string unknown_fields;
  std::string graph_module_unknown_fields;
  std::string signature_unknown_fields;
  std::vector<UnknownMembers> unknown_members;  ///< of all other records of the program's JSON

  std::vector<Storage> storages;
  WeightTable state_dict;  ///< parameters and persistent buffers
  WeightTable constants;   ///< lifted tensor constants, non-persistent buffers, objects
  std::optional<ArchiveRecord> example_inputs;  ///< a pickle; carried through, never opened
  std::vector<ArchiveRecord> records;  ///< every other record of the archive, `extra/…` among them
  ArchiveReference archive;
};

/// A program as `torch.export` makes it: the graph (roles of inputs and outputs are in its
/// placeholders and its output node), the ranges of its symbols, its weights by reference, and all
/// that is carried along.
struct ExportedProgram : ProgramDetails {
  explicit ExportedProgram(Context& program_context)
      : graph(std::make_unique<Graph>(program_context)) {}

  [[nodiscard]] Context& context() const { return graph->context(); }

  std::unique_ptr<Graph> graph;  ///< never null

  StorageId add_storage(Storage storage);
  [[nodiscard]] Storage& storage(const Weight& weight) { return storages[weight.storage.index]; }
  [[nodiscard]] const Storage& storage(const Weight& weight) const {
    return storages[weight.storage.index];
  }
  /// True where the bytes of every weight are at hand.
  [[nodiscard]] bool has_all_bytes() const;
  /// The weight or constant behind a placeholder with a parameter, buffer, constant or object spec;
  /// null for others.
  [[nodiscard]] const Weight* weight_of(Node placeholder) const;

  /// Puts `range_constraints` into the symbols of the context. An Error names a symbol whose bounds
  /// are empty.
  void apply_range_constraints();

  /// Sets `has_offsets` by the metas of the graph. O(nodes) where there is none.
  void look_for_offsets();

  /// A deep copy in the same context; bytes are shared.
  [[nodiscard]] ExportedProgram clone() const;
};

/// The bytes of a new weight for a tensor with these strides: `bytes` becomes its own storage.
/// An Error where the meta needs more bytes than there are or the name is taken.
const Weight& add_constant(ExportedProgram& program, std::string_view fqn, MetaId meta,
                           Bytes bytes);

/// Bytes that a static tensor meta reaches from the start of its storage. An Error for a symbolic
/// or negative size, a negative stride or offset, or where the number overflows.
[[nodiscard]] std::uint64_t storage_size_needed(const TensorMeta& meta);

}  // namespace winze
