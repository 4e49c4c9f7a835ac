// SPDX-License-Identifier: Apache-2.0
#include "winze/builders/builder_plan.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "winze/builders/numbers_as_tensors.h"

namespace winze {
namespace {

bool is_number(const Type& type) {
  switch (type.base_kind()) {
    case TypeKind::scalar:
    case TypeKind::int_:
    case TypeKind::sym_int:
    case TypeKind::float_:
    case TypeKind::sym_float:
    case TypeKind::complex:
      return !type.is_list();
    default:
      return false;
  }
}

bool is_tensor(const Type& type) {
  return type.base_kind() == TypeKind::tensor && !type.is_list();
}

bool is_written(const SchemaArgument& argument) {
  return argument.alias && argument.alias->is_write;
}

/// Whether two overloads differ only in that one takes numbers where the other takes tensors, so
/// that the kind of a value decides between them.
bool are_siblings(const Schema& a, const Schema& b) {
  if (a.arguments.size() != b.arguments.size() || a.returns.size() != b.returns.size())
    return false;
  for (std::size_t index = 0; index < a.arguments.size(); ++index) {
    const SchemaArgument& x = a.arguments[index];
    const SchemaArgument& y = b.arguments[index];
    if (x.name != y.name || is_written(x) != is_written(y)) return false;
    if (x.type == y.type) continue;
    if (!(is_tensor(x.type) || is_number(x.type)) || !(is_tensor(y.type) || is_number(y.type)))
      return false;
  }
  return true;
}

std::optional<std::string> class_of_element(const Type& type) {
  switch (type.base_kind()) {
    case TypeKind::tensor:
      return "TensorArg";
    case TypeKind::int_:
      return "IntArg";
    case TypeKind::sym_int:
      return "SymIntArg";
    case TypeKind::float_:
    case TypeKind::sym_float:
      return "FloatArg";
    case TypeKind::bool_:
      return "BoolArg";
    case TypeKind::sym_bool:
      return "SymBoolArg";
    case TypeKind::scalar:
      return "ScalarArg";
    case TypeKind::str:
      return "StringArg";
    case TypeKind::scalar_type:
      return "DtypeArg";
    case TypeKind::layout:
      return "LayoutArg";
    case TypeKind::memory_format:
      return "MemoryFormatArg";
    case TypeKind::device:
      return "DeviceArg";
    default:
      return std::nullopt;
  }
}

/// Elements of these classes are what they are without a context.
bool may_be_element(TypeKind kind) {
  return kind != TypeKind::scalar && kind != TypeKind::str;
}

std::optional<std::string> class_of_type(const Type& type) {
  const Type inner = type.without_optional();
  std::optional<std::string> name;
  if (inner.is_list()) {
    const Type element = inner.element();
    if (element.is_list() || !may_be_element(element.base_kind())) return std::nullopt;
    name = class_of_type(element);
    if (!name) return std::nullopt;
    const bool expands = inner.list_size() > 0 && is_number(element);
    name = expands ? fmt::format("SizedListArg<{}, {}>", *name, inner.list_size())
                   : fmt::format("ListArg<{}>", *name);
  } else {
    name = class_of_element(inner);
  }
  if (name && type.is_optional()) name = fmt::format("OptionalArg<{}>", *name);
  return name;
}

/// Whether an argument stands in front, without a name: what the operator works on.
bool is_operand(const SchemaArgument& argument) {
  if (argument.default_value || argument.kwarg_only) return false;
  return argument.type.base_kind() == TypeKind::tensor || argument.type.is(TypeKind::scalar);
}

class Planner {
 public:
  explicit Planner(std::vector<const Op*> overloads) : overloads_(std::move(overloads)) {
    std::ranges::sort(overloads_, {}, [](const Op* op) {
      return std::pair(parser_signature(op->schema), op->qualified_name);
    });
  }

  BuilderPlans run() {
    for (const Op* op : overloads_) {
      if (const std::string reason = add(*op); !reason.empty())
        plans_.left_out.push_back(fmt::format("{}: {}", op->qualified_name, reason));
    }
    align_options();
    rank();
    leave_out_unreachable();
    return std::move(plans_);
  }

 private:
  /// Why there is no builder; empty where there is one.
  std::string add(const Op& op) {
    const Schema& schema = op.schema;
    if (schema.is_variadic_arguments || schema.is_variadic_returns)
      return "it takes or yields any number of values";
    if (schema.overload.ends_with("hacked_twin")) return "only TorchScript calls it";
    BuilderPlan plan{.op = &op, .name = cpp_name(schema.name)};
    if (const auto siblings = siblings_of(op)) {
      plan.overloads = *siblings;
    } else {
      return {};  // the one with a tensor takes numbers too
    }
    bool in_front = true;
    for (std::uint32_t index = 0; index < schema.arguments.size(); ++index) {
      const SchemaArgument& argument = schema.arguments[index];
      if (argument.type.base_kind() == TypeKind::generator && argument.default_value) continue;
      const std::optional<std::string> type = class_of(op, index);
      if (!type) return fmt::format("nothing stands for {} {}", argument.type.str(), argument.name);
      in_front = in_front && is_operand(argument);
      (in_front ? plan.operands : plan.options)
          .push_back({.index = index,
                      .name = cpp_name(argument.name),
                      .type = *type,
                      .required = !argument.default_value,
                      .beside_list = in_front && stands_beside_list(argument, index)});
    }
    if (!set_result(plan)) return "it yields several lists";
    plans_.builders.push_back(std::move(plan));
    return {};
  }

  /// The operators among which the kinds of values decide, those with more tensors first. Nothing
  /// for one whose sibling takes a number for the tensor, as `add.Tensor` does: Python's parser
  /// does not know it.
  [[nodiscard]] std::optional<std::vector<OpId>> siblings_of(const Op& op) const {
    const auto tensors = [](const Op& of) {
      return std::ranges::count_if(of.schema.arguments, [](const SchemaArgument& argument) {
        return is_tensor(argument.type);
      });
    };
    std::vector<const Op*> found;
    for (const Op* other : overloads_) {
      if (other == &op || are_siblings(op.schema, other->schema)) found.push_back(other);
    }
    std::ranges::sort(found, {}, [&](const Op* each) {
      return std::pair(-tensors(*each), each->qualified_name);
    });
    if (allows_numbers_as_tensors(op.schema.name)) {
      if (found.front() != &op) return std::nullopt;
      found.resize(1);
    }
    std::vector<OpId> ids;
    for (const Op* each : found) ids.push_back(each->id);
    return ids;
  }

  [[nodiscard]] std::optional<std::string> class_of(const Op& op, std::uint32_t index) const {
    const SchemaArgument& argument = op.schema.arguments[index];
    std::optional<std::string> name = class_of_type(argument.type);
    if (!name) return name;
    if (is_tensor(argument.type) && index > 0 && !is_written(argument) &&
        allows_numbers_as_tensors(op.schema.name)) {
      return argument.type.is_optional() ? "OptionalArg<TensorOrNumberArg>" : "TensorOrNumberArg";
    }
    if (argument.type.is(TypeKind::scalar) &&
        (stands_beside_list(argument, index) || is_named_as_list(argument) ||
         std::ranges::any_of(overloads_, [&](const Op* other) {
           return are_siblings(op.schema, other->schema) &&
                  is_tensor(other->schema.arguments[index].type);
         }))) {
      return argument.type.is_optional() ? "OptionalArg<NumberArg>" : "NumberArg";
    }
    return name;
  }

  [[nodiscard]] bool stands_beside_list(const SchemaArgument& argument, std::uint32_t index) const {
    if (argument.type.is_list()) return false;
    return std::ranges::any_of(overloads_, [&](const Op* other) {
      const std::vector<SchemaArgument>& arguments = other->schema.arguments;
      return index < arguments.size() && arguments[index].type.is_list() &&
             is_operand(arguments[index]);
    });
  }

  /// Whether another overload has a list of tensors of this name, so that a tensor in braces is
  /// one.
  [[nodiscard]] bool is_named_as_list(const SchemaArgument& argument) const {
    return std::ranges::any_of(overloads_, [&](const Op* other) {
      const int at = other->schema.find_argument(argument.name);
      if (at < 0) return false;
      const Type type = other->schema.arguments[static_cast<std::size_t>(at)].type;
      return type.is_list() && type.base_kind() == TypeKind::tensor;
    });
  }

  static bool set_result(BuilderPlan& plan) {
    const std::vector<SchemaReturn>& returns = plan.op->schema.returns;
    const auto lists = std::ranges::count_if(
        returns, [](const SchemaReturn& result) { return result.type.is_list(); });
    if (returns.empty()) {
      plan.result = BuilderResult::node;
    } else if (returns.size() == 1) {
      plan.result = lists > 0 ? BuilderResult::list : BuilderResult::value;
    } else if (lists > 0) {
      return false;
    } else {
      const bool named = std::ranges::none_of(
          returns, [](const SchemaReturn& result) { return result.name.empty(); });
      plan.result = named ? BuilderResult::record : BuilderResult::array;
    }
    return true;
  }

  /// Names are given in the order of their declaration, so overloads that share them have them in
  /// one order, that of the overload with most: `to.device` has dtype and device as
  /// `to.dtype_layout` does. GCC refuses a call where only one of the two fits.
  void align_options() {
    for (BuilderPlan& plan : plans_.builders) {
      const auto longest =
          std::ranges::max_element(plans_.builders, {}, [&](const BuilderPlan& other) {
            return same_operands(plan, other) ? other.options.size() : 0;
          });
      const std::vector<BuilderParameter> order = longest->options;
      const auto place = [&](const BuilderParameter& option) {
        return std::ranges::find(order, option.name, &BuilderParameter::name) - order.begin();
      };
      const auto has_place = [&](const BuilderParameter& option) {
        return place(option) < static_cast<std::ptrdiff_t>(order.size());
      };
      if (std::ranges::all_of(plan.options, has_place)) std::ranges::sort(plan.options, {}, place);
    }
  }

  /// Functions that the same operands lead to are told apart by their options; where those do not
  /// tell, the first in PyTorch's order is meant.
  void rank() {
    std::vector<BuilderPlan>& builders = plans_.builders;
    for (std::size_t index = 0; index < builders.size(); ++index) {
      BuilderPlan& plan = builders[index];
      const auto may_be_meant = [&](const BuilderPlan& other) {
        return same_operands(plan, other) && is_out(plan) == is_out(other);
      };
      const auto all_default = [](const BuilderPlan& of) {
        return std::ranges::none_of(of.options, &BuilderParameter::required);
      };
      plan.options_default = all_default(plan);
      for (std::size_t before = 0; before < index; ++before) {
        if (!may_be_meant(builders[before])) continue;
        ++plan.rank;
        if (all_default(builders[before])) plan.options_default = false;
      }
    }
  }

  /// Leaves out builders that no call is meant for: where one that is tried before takes all of
  /// their options, and where two that come after the first two, which C++ does not rank, have
  /// options of the same names: a list of one int looks like an int.
  void leave_out_unreachable() {
    std::vector<BuilderPlan> kept;
    for (const BuilderPlan& plan : plans_.builders) {
      const auto hides = [&](const BuilderPlan& other) {
        if (&other == &plan || !same_operands(plan, other) || is_out(plan) != is_out(other))
          return false;
        return other.rank < plan.rank ? takes_options_of(other, plan)
                                      : plan.rank >= 2 && takes_ints_for_lists_of(other, plan);
      };
      const auto hiding = std::ranges::find_if(plans_.builders, hides);
      if (hiding == plans_.builders.end()) {
        kept.push_back(plan);
      } else {
        plans_.left_out.push_back(fmt::format("{}: what it takes {} takes too",
                                              plan.op->qualified_name, hiding->op->qualified_name));
      }
    }
    plans_.builders = std::move(kept);
  }

  static const BuilderParameter* option_of(const BuilderPlan& plan, std::string_view name) {
    const auto found = std::ranges::find(plan.options, name, &BuilderParameter::name);
    return found == plan.options.end() ? nullptr : &*found;
  }
  static bool takes_options_of(const BuilderPlan& plan, const BuilderPlan& other) {
    return std::ranges::all_of(other.options,
                               [&](const BuilderParameter& option) {
                                 const BuilderParameter* same = option_of(plan, option.name);
                                 return same != nullptr && same->type == option.type;
                               }) &&
           std::ranges::all_of(plan.options, [&](const BuilderParameter& option) {
             return !option.required || option_of(other, option.name) != nullptr;
           });
  }
  static bool takes_ints_for_lists_of(const BuilderPlan& plan, const BuilderPlan& other) {
    bool differs = false;
    if (plan.options.size() != other.options.size()) return false;
    for (const BuilderParameter& option : other.options) {
      const BuilderParameter* same = option_of(plan, option.name);
      if (same == nullptr) return false;
      if (same->type == option.type) continue;
      if (option.type != "ListArg<IntArg>" || !same->type.ends_with("IntArg>")) return false;
      differs = true;
    }
    return differs;
  }

  static bool same_operands(const BuilderPlan& a, const BuilderPlan& b) {
    return std::ranges::equal(a.operands, b.operands, {}, &BuilderParameter::type,
                              &BuilderParameter::type);
  }
  static bool is_out(const BuilderPlan& plan) {
    return std::ranges::any_of(plan.options, [&](const BuilderParameter& option) {
      return is_written(plan.op->schema.arguments[option.index]);
    });
  }

  std::vector<const Op*> overloads_;
  BuilderPlans plans_;
};

std::string parser_type(const Type& type) {
  const Type inner = type.without_optional();
  std::string name;
  if (inner.is_list()) {
    const Type element = inner.element();
    const std::string size =
        inner.list_size() > 0 ? fmt::format("[{}]", inner.list_size()) : std::string();
    if (is_number(element) && !element.is(TypeKind::scalar)) {
      name = element.is(TypeKind::float_) ? "ArrayRef<double>" : "IntArrayRef" + size;
    } else if (element.is(TypeKind::tensor)) {
      name = element.is_optional() ? "c10::List<::std::optional<Tensor>>" : "TensorList" + size;
    } else {
      name = "::std::array<" + element.str() + ">";
    }
  } else if (is_number(inner) && inner.base_kind() != TypeKind::scalar) {
    name = inner.is(TypeKind::float_) ? "double" : "int64_t";
  } else if (inner.is(TypeKind::str)) {
    name = "c10::string_view";
  } else {
    name = inner.str();
  }
  return type.is_optional() ? name + "?" : name;
}

}  // namespace

std::string parser_signature(const Schema& schema) {
  std::string text = std::string(schema.name) + "(";
  bool after_star = false;
  for (const SchemaArgument& argument : schema.arguments) {
    if (is_written(argument) && argument.kwarg_only) continue;
    if (!text.ends_with('(')) text += ", ";
    if (argument.kwarg_only && !after_star) {
      // The parser of `to` is written by hand: it tries a dtype by position before keywords.
      text += schema.name == "to" ? "~, " : "*, ";
      after_star = true;
    }
    text += parser_type(argument.type) + " ";
    text += argument.name == "self" ? "input" : argument.name;
    if (argument.default_value) text += fmt::format("={}", argument.default_text);
  }
  return text + ")";
}

std::string cpp_name(std::string_view name) {
  // Keywords that may well be names in Python, and what builders themselves name.
  constexpr std::array<std::string_view, 36> taken = {
      "auto",   "bool",     "case",     "catch",    "char",   "const",  "default",  "delete",
      "do",     "double",   "enum",     "explicit", "export", "false",  "float",    "graph",
      "inline", "int",      "long",     "mutable",  "new",    "not",    "operator", "options",
      "or",     "register", "short",    "signed",   "static", "switch", "template", "this",
      "true",   "union",    "unsigned", "xor"};
  const bool is_taken = std::ranges::find(taken, name) != taken.end();
  return is_taken ? std::string(name) + "_" : std::string(name);
}

BuilderPlans plan_builders(const std::vector<const Op*>& overloads) {
  return Planner(overloads).run();
}

}  // namespace winze
