// SPDX-License-Identifier: Apache-2.0
// What a call must satisfy before its node is made.
#include <array>

#include "winze/ir/graph.h"
#include "winze/ir/op_signature.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

constexpr std::array<std::string_view, 22> kind_words = {"the default",     "None",
                                                         "a value",         "an int",
                                                         "a float",         "a bool",
                                                         "a string",        "a complex number",
                                                         "a dtype",         "a layout",
                                                         "a memory format", "a device",
                                                         "a list of ints",  "a list of floats",
                                                         "a list of bools", "a list of strings",
                                                         "a list",          "a graph",
                                                         "an operator",     "a custom object",
                                                         "an input's role", "an output's role"};

[[noreturn]] void refuse(const Op& op, std::string message) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.notes.push_back("the schema is " + print_schema(op.schema));
  throw Error(std::move(diagnostic));
}

[[noreturn]] void refuse_argument(const Op& op, std::size_t index, const Argument& argument) {
  const SchemaArgument& formal = op.schema.arguments[index];
  refuse(op, fmt::format("argument {} (\"{}\") of {} takes {}, not {}", index, formal.name,
                         op.qualified_name, formal.type.str(), describe(argument.kind())));
}

[[noreturn]] void refuse_missing(const OpSignature& signature, std::size_t index) {
  const Op& op = *signature.op;
  const bool is_formal = index < signature.arguments.size();
  refuse(op, is_formal ? fmt::format("argument {} (\"{}\") of {} is missing", index,
                                     op.schema.arguments[index].name, op.qualified_name)
                       : fmt::format("argument {} of {} is left out and has no default", index,
                                     op.qualified_name));
}

}  // namespace

std::string_view describe(ArgumentKind kind) {
  return kind_words[static_cast<std::size_t>(kind)];
}

void Graph::check_value(const Argument& argument, NodeId after, std::string_view what) const {
  if (argument.is_list()) {
    for (std::uint32_t index = 0; index < argument.count(); ++index)
      check_value(element(argument, index), after, what);
    return;
  }
  if (argument.is_value() && !is_usable(argument, after)) refuse_value(argument, what);
}

void Graph::refuse_value(const Argument& argument, std::string_view what) const {
  const std::uint32_t value = argument.value_id().index;
  WINZE_CHECK(argument.graph_serial() == 0 || argument.graph_serial() == serial_,
              "{} is passed a value of another graph than \"{}\"", what, name_);
  WINZE_CHECK(value < values_.size() && nodes_[values_[value].node.index].alive,
              "{} is passed a value whose node was erased", what);
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{} would use a value before it is defined", what);
  diagnostic.node = node_at(values_[value].node).str();
  diagnostic.hint = "insert the call after the node that defines the value (inserting_after)";
  throw Error(std::move(diagnostic));
}

void Graph::check_elements(const OpSignature& signature, std::size_t index,
                           const Argument& list) const {
  for (std::uint32_t at = 0; at < list.count(); ++at) {
    const Argument element = this->element(list, at);
    if (!signature.arguments[index].element_kinds.contains(element.kind()))
      refuse_argument(*signature.op, index, element);
  }
}

void Graph::check_argument(const OpSignature& signature, std::size_t index,
                           const Argument& argument, NodeId after) const {
  const Op& op = *signature.op;
  const bool is_formal = index < signature.arguments.size();
  if (argument.is_default()) {
    if (is_formal && signature.arguments[index].has_default) return;
    refuse_missing(signature, index);
  }
  if (is_formal) {
    const ArgumentSignature& formal = signature.arguments[index];
    if (!formal.kinds.contains(argument.kind())) refuse_argument(op, index, argument);
    if (argument.is_list()) check_elements(signature, index, argument);
  }
  if (argument.is_list() || argument.is_value()) check_value(argument, after, op.qualified_name);
}

void Graph::check_call(const OpSignature& signature, std::span<const Argument> arguments,
                       std::span<const MetaId> metas, NodeId after) const {
  const Op& op = *signature.op;
  const std::size_t formal = signature.arguments.size();
  if (arguments.size() > formal && !signature.variadic) {
    refuse(op, fmt::format("{} takes at most {} arguments, not {}", op.qualified_name, formal,
                           arguments.size()));
  }
  for (std::size_t index = 0; index < arguments.size(); ++index)
    check_argument(signature, index, arguments[index], after);
  for (std::size_t index = arguments.size(); index < formal; ++index) {
    if (!signature.arguments[index].has_default) refuse_missing(signature, index);
  }
  if (signature.fixed_values && metas.size() != signature.value_count) {
    refuse(op, fmt::format("{} yields {}, but {} {} given", op.qualified_name,
                           plural(signature.value_count, "value"), plural(metas.size(), "meta"),
                           metas.size() == 1 ? "is" : "are"));
  }
}

}  // namespace winze
