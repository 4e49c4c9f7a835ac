// SPDX-License-Identifier: Apache-2.0
#include "winze/program/graph_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "winze/schema/op.h"

namespace winze {
namespace {

/// Python's keywords and builtins, and what torch.fx keeps for itself (torch/fx/graph.py
/// _illegal_names): a value of such a name would hide what generated code calls. Sorted.
constexpr std::array<std::string_view, 108> reserved = {
    "False",     "None",        "NoneType",   "True",       "abs",      "all",       "and",
    "any",       "as",          "ascii",      "assert",     "async",    "await",     "bin",
    "bool",      "break",       "breakpoint", "bytearray",  "bytes",    "callable",  "chr",
    "class",     "classmethod", "compile",    "complex",    "continue", "copyright", "credits",
    "def",       "del",         "delattr",    "device",     "dict",     "dir",       "divmod",
    "elif",      "else",        "enumerate",  "eval",       "except",   "exec",      "exit",
    "filter",    "finally",     "float",      "for",        "format",   "from",      "frozenset",
    "fx_pytree", "getattr",     "global",     "globals",    "hasattr",  "hash",      "help",
    "hex",       "id",          "if",         "import",     "in",       "inf",       "input",
    "int",       "is",          "isinstance", "issubclass", "iter",     "lambda",    "len",
    "license",   "list",        "locals",     "map",        "max",      "min",       "nan",
    "next",      "nonlocal",    "not",        "object",     "oct",      "open",      "or",
    "ord",       "pass",        "pow",        "print",      "pytree",   "quit",      "raise",
    "range",     "repr",        "return",     "reversed",   "round",    "set",       "slice",
    "sorted",    "str",         "sum",        "super",      "torch",    "try",       "tuple",
    "type",      "while",       "zip",
};

bool is_reserved(std::string_view name) {
  return std::ranges::binary_search(reserved, name);
}

bool is_identifier_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

bool is_identifier(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, is_identifier_byte);
}

/// `add` for `aten.add.Tensor`, `cond` for `higher_order.cond`.
std::string_view base_name(const Op& op) {
  std::string_view name = op.qualified_name;
  if (op.kind == OpKind::overload) {
    const std::size_t overload = name.rfind('.');
    if (overload != std::string_view::npos) name = name.substr(0, overload);
  }
  const std::size_t last = name.find_last_of(".:");
  return last == std::string_view::npos || last + 1 == name.size() ? name : name.substr(last + 1);
}

}  // namespace

ResultStructure result_structure_of(Node node) {
  if (const ResultStructure* recorded = node.graph().result_structure(node)) return *recorded;
  ResultStructure structure;
  const Schema& schema = node.graph().context().ops().get(node.op()).schema;
  if (!schema.is_variadic_returns && schema.returns.size() == 1 &&
      schema.returns[0].type.is_list()) {
    structure.groups.push_back(static_cast<std::int32_t>(node.value_count()));
  } else {
    structure.groups.assign(node.value_count(), ResultStructure::single);
  }
  return structure;
}

GraphNames::GraphNames(const Graph& graph)
    : value_names_(graph.value_capacity()), node_names_(graph.node_capacity()) {
  used_.reserve(graph.size() + graph.size() / 2);
  take_given_names(graph);
  make_missing_names(graph);
}

std::string_view GraphNames::add_attribute(std::string_view wanted) {
  return make(wanted);
}

void GraphNames::take_given_names(const Graph& graph) {
  // Placeholders first: signatures and guards speak of them by name.
  for (const Node node : graph.placeholders()) {
    if (take(node.value().name())) value_names_[node.value().id().index] = node.value().name();
  }
  for (const Node node : graph.nodes()) {
    if (node.is_placeholder()) continue;
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      const Value value = node.value(index);
      const std::string_view name = value.name();
      if (is_identifier(name) && take(name)) value_names_[value.id().index] = name;
    }
    if (const std::string_view name = node.name(); is_identifier(name)) {
      const bool is_own_value =
          node.value_count() == 1 && value_names_[node.value().id().index] == name;
      if (is_own_value || take(name)) node_names_[node.id().index] = name;
    }
  }
}

void GraphNames::make_missing_names(const Graph& graph) {
  std::uint32_t placeholder_count = 0;
  for (const Node node : graph.nodes()) {
    std::string_view& name = node_names_[node.id().index];
    if (node.is_placeholder()) {
      std::string_view& value_name = value_names_[node.value().id().index];
      if (value_name.empty()) {
        const std::string_view given = node.value().name();
        value_name = make(given.empty() ? fmt::format("arg{}", placeholder_count) : given);
      }
      ++placeholder_count;
      name = value_name;
    } else if (node.is_call()) {
      make_result_names(graph, node);
    } else if (node.kind() == NodeKind::get_attr) {
      std::string_view& value_name = value_names_[node.value().id().index];
      if (value_name.empty()) value_name = make(node.target());
      name = value_name;
    }
  }
}

void GraphNames::make_result_names(const Graph& graph, Node node) {
  const std::string_view base = base_name(graph.context().ops().get(node.op()));
  const ResultStructure* recorded = graph.result_structure(node);
  std::string_view& name = node_names_[node.id().index];
  const bool is_plain =
      node.value_count() == 1 &&
      (recorded == nullptr ? result_structure_of(node).groups[0] == ResultStructure::single
                           : recorded->is_single_tensor_return.value_or(false));
  if (is_plain) {
    std::string_view& value_name = value_names_[node.value().id().index];
    if (value_name.empty())
      value_name = make(node.value().name().empty() ? base : node.value().name());
    if (name.empty()) name = value_name;
    return;
  }
  if (name.empty()) name = make(node.name().empty() ? base : node.name());
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    const Value value = node.value(index);
    std::string_view& value_name = value_names_[value.id().index];
    if (!value_name.empty()) continue;
    if (!value.name().empty()) {
      value_name = make(value.name());
    } else {
      value_name = make(value.has_uses() ? "getitem" : fmt::format("{}_unused_{}", name, index));
    }
  }
}

bool GraphNames::take(std::string_view name) {
  return !name.empty() && used_.insert(name).second;
}

std::string_view GraphNames::make(std::string_view wanted) {
  std::string base;
  for (const char byte : wanted) base += is_identifier_byte(byte) ? byte : '_';
  if (base.empty() || (base[0] >= '0' && base[0] <= '9')) base.insert(base.begin(), '_');
  if (!is_reserved(base) && !used_.contains(base)) {
    made_.push_back(std::move(base));
    used_.insert(made_.back());
    return made_.back();
  }
  // `add_7` is taken: the next is `add_8`, or the first that is free after it.
  const std::size_t end = base.find_last_not_of("0123456789");
  if (end != std::string::npos && end > 0 && end + 1 < base.size() && base[end] == '_')
    base.resize(end);
  std::uint32_t& next = next_suffix_[base];
  while (true) {
    std::string candidate = fmt::format("{}_{}", base, ++next);
    if (used_.contains(candidate)) continue;
    made_.push_back(std::move(candidate));
    used_.insert(made_.back());
    return made_.back();
  }
}

}  // namespace winze
