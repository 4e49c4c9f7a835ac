// SPDX-License-Identifier: Apache-2.0
// Calls against their schemas.
#include <algorithm>

#include "winze/ir/op_signature.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/ir/verifier_checks.h"

namespace winze {
namespace {

/// Kinds of constants whose lists are interned.
bool has_constant_lists(ArgumentKind kind) {
  return kind == ArgumentKind::integer || kind == ArgumentKind::floating ||
         kind == ArgumentKind::boolean || kind == ArgumentKind::string;
}

class CallChecker {
 public:
  CallChecker(const Node& node, Findings& findings)
      : node_(node),
        findings_(findings),
        signature_(node.graph().context().signature(node.op())),
        op_(*signature_.op) {}

  void check() {
    const std::uint32_t count = node_.argument_count();
    const std::size_t formal = signature_.arguments.size();
    if (count < formal)
      add(fmt::format("it has {} arguments, but {} has {}", count, op_.qualified_name, formal));
    if (count > formal && !signature_.variadic) {
      add(fmt::format("it has {} arguments, but {} takes at most {}", count, op_.qualified_name,
                      formal));
    }
    for (std::uint32_t index = 0; index < count; ++index) check_argument(index);
    check_result_count();
  }

 private:
  void add(std::string message, std::string hint = {}) {
    findings_.add(node_.graph(), node_.id(), std::move(message), std::move(hint));
  }

  [[nodiscard]] std::string argument_name(std::uint32_t index) const {
    if (index >= op_.schema.arguments.size() || op_.schema.arguments[index].name.empty()) {
      return fmt::format("argument {}", index);
    }
    return fmt::format("argument {} (\"{}\")", index, op_.schema.arguments[index].name);
  }

  void check_argument(std::uint32_t index) {
    const Argument argument = node_.argument(index);
    if (index >= signature_.arguments.size()) {
      if (argument.is_default()) add(argument_name(index) + " is left out and has no default");
      return check_canonical_list(index, argument);
    }
    const ArgumentSignature& formal = signature_.arguments[index];
    if (argument.is_default()) {
      if (!formal.has_default)
        add(fmt::format("{} is left out and has no default", argument_name(index)));
      return;
    }
    if (!formal.kinds.contains(argument.kind())) {
      add(fmt::format("{} is {}, but the schema has {}", argument_name(index),
                      winze::describe(argument.kind()), op_.schema.arguments[index].type.str()));
    }
    if (formal.has_default && same_attribute(argument, formal.default_value)) {
      add(fmt::format("{} spells out the default of the schema", argument_name(index)),
          "leave it out; the default has one spelling");
    }
    if (argument.is_value()) check_value(index, argument, op_.schema.arguments[index].type);
    if (argument.is_list()) check_list(index, argument);
    check_canonical_list(index, argument);
  }

  void check_list(std::uint32_t index, const Argument& list) {
    const ArgumentSignature& formal = signature_.arguments[index];
    const Type& type = op_.schema.arguments[index].type;
    for (std::uint32_t at = 0; at < list.count(); ++at) {
      const Argument element = node_.element(list, at);
      if (!formal.element_kinds.contains(element.kind())) {
        add(fmt::format("element {} of {} is {}, but the schema has {}", at, argument_name(index),
                        winze::describe(element.kind()), type.str()));
      }
      if (element.is_value() && type.is_list()) check_value(index, element, type.element());
    }
  }

  void check_value(std::uint32_t index, const Argument& argument, const Type& type) {
    const Value value = node_.graph().value_at(argument.value_id());
    const ValueKind kind = value.meta().kind;
    if (fits_type(kind, type)) return;
    std::string shown;
    append_type(shown, node_.graph().context(), value.meta_id(), Device{});
    add(fmt::format("{} is a value of type {}, but the schema has {}", argument_name(index), shown,
                    type.str()));
  }

  void check_canonical_list(std::uint32_t index, const Argument& argument) {
    if (!argument.is_list() || argument.count() == 0) return;
    const ArgumentKind kind = node_.element(argument, 0).kind();
    if (!has_constant_lists(kind)) return;
    for (std::uint32_t at = 1; at < argument.count(); ++at) {
      if (node_.element(argument, at).kind() != kind) return;
    }
    add(fmt::format("{} is a list of constants that is not interned", argument_name(index)));
  }

  void check_result_count() {
    const std::uint32_t count = node_.value_count();
    if (signature_.fixed_values && count != signature_.value_count) {
      add(fmt::format("it yields {} values, but {} yields {}", count, op_.qualified_name,
                      signature_.value_count));
    }
    const ResultStructure* structure = node_.graph().result_structure(node_);
    if (structure == nullptr || op_.schema.is_variadic_returns || op_.is_opaque()) return;
    if (structure->groups.size() != op_.schema.returns.size()) {
      add(fmt::format("its results are in {} groups, but {} has {} results",
                      structure->groups.size(), op_.qualified_name, op_.schema.returns.size()));
    }
  }

  const Node& node_;
  Findings& findings_;
  const OpSignature& signature_;
  const Op& op_;
};

}  // namespace

bool fits_type(ValueKind kind, const Type& type) {
  if (kind == ValueKind::unknown) return true;
  if (type.is_optional() && kind == ValueKind::none) return true;
  // One tensor or number may stand for a list of a fixed size.
  if (type.is_list()) return type.list_size() > 0 && fits_type(kind, type.element());
  const bool is_number =
      kind == ValueKind::sym_int || kind == ValueKind::sym_float || kind == ValueKind::sym_bool;
  const bool is_constant = kind == ValueKind::constant;
  switch (type.base_kind()) {
    case TypeKind::tensor:
      return kind == ValueKind::tensor || is_number || is_constant || kind == ValueKind::none;
    case TypeKind::int_:
    case TypeKind::sym_int:
    case TypeKind::bool_:
    case TypeKind::sym_bool:
      return kind == ValueKind::sym_int || kind == ValueKind::sym_bool || is_constant;
    case TypeKind::float_:
    case TypeKind::sym_float:
    case TypeKind::scalar:
    case TypeKind::complex:
      return is_number || is_constant;
    case TypeKind::token:
      // In torch.fx graphs a token is the empty tensor that prims._make_token yields.
      return kind == ValueKind::token || kind == ValueKind::tensor;
    case TypeKind::none:
      return kind == ValueKind::none;
    case TypeKind::custom_class:
    case TypeKind::generator:
    case TypeKind::storage:
    case TypeKind::stream:
      return kind == ValueKind::custom_object || is_constant;
    case TypeKind::str:
    case TypeKind::scalar_type:
    case TypeKind::layout:
    case TypeKind::memory_format:
    case TypeKind::device:
    case TypeKind::dimname:
    case TypeKind::qscheme:
      return is_constant;
    default:
      return true;
  }
}

void check_schema(const Node& node, Findings& findings) {
  CallChecker(node, findings).check();
}

}  // namespace winze
