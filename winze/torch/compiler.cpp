// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/compiler.h"

#include <algorithm>

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <fmt/ranges.h>

#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/torch/attributes.h"
#include "winze/torch/native_functions.h"
#include "winze/torch/primitives.h"

namespace winze {
namespace {

using c10::IValue;

/// Namespace, name and overload of an operator as the dispatcher has them.
struct DispatcherName {
  std::string name;  ///< `aten::add`
  std::string overload;
};

DispatcherName dispatcher_name(const Op& op) {
  std::string_view text = op.is_opaque() ? op.opaque_target : op.qualified_name;
  if (text.starts_with("torch.ops.")) text.remove_prefix(10);
  if (text.starts_with('#')) text.remove_prefix(1);
  const std::size_t first = text.find_first_of(".:");
  if (first == std::string_view::npos) return {std::string(text), ""};
  const std::string ns(text.substr(0, first));
  text.remove_prefix(text.find_first_not_of(".:", first));
  const std::size_t last = text.rfind('.');
  std::string overload(last == std::string_view::npos ? "" : text.substr(last + 1));
  if (overload == "default") overload.clear();
  return {ns + "::" + std::string(text.substr(0, last)), overload};
}

std::string hint_for_missing(std::string_view name) {
  const std::string_view ns = name.substr(0, name.find("::"));
  std::vector<std::string> overloads;
  for (const c10::OperatorName& other : c10::Dispatcher::singleton().getAllOpNames()) {
    if (other.name == name && !other.overload_name.empty())
      overloads.push_back(other.overload_name);
  }
  if (!overloads.empty()) {
    std::ranges::sort(overloads);
    return fmt::format("name one of its overloads: {}", fmt::join(overloads, ", "));
  }
  if (name == "export::access_subclass_inner_tensor")
    return "weights of a tensor subclass become plain tensors by run_decompositions() before the "
           "program is saved";
  if (ns == "prims")
    return "PyTorch implements its primitives in Python, and this one is not built in; decompose "
           "the program less far";
  if (ns == "aten") {
    return "the program was made by another release of PyTorch; decompose the operator, or export "
           "the program anew";
  }
  if (ns == "torchvision") return "--load FOLDER/torchvision/_C.so registers it";
  if (ns == "torchaudio") return "--load FOLDER/torchaudio/lib/libtorchaudio.so registers it";
  return fmt::format(
      "--load LIB.so loads the library that registers operators of {}; one that is written in "
      "Python cannot be run here",
      ns);
}

/// The type without an optional around it.
const c10::Type* without_optional(const c10::Type* type) {
  if (type->kind() != c10::TypeKind::OptionalType) return type;
  return type->castRaw<c10::OptionalType>()->getElementType().get();
}

ListKind list_kind(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType:
      return ListKind::tensors;
    case c10::TypeKind::OptionalType:
      if (without_optional(&element)->kind() == c10::TypeKind::TensorType)
        return ListKind::optional_tensors;
      return list_kind(*without_optional(&element));
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return ListKind::integers;
    case c10::TypeKind::FloatType:
      return ListKind::floats;
    case c10::TypeKind::BoolType:
      return ListKind::booleans;
    default:
      return ListKind::numbers;
  }
}

}  // namespace

void fail_at(Node node, std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.node = node.str();
  if (const auto line = node.graph().context().user_line(node.source()))
    diagnostic.source = line->str();
  diagnostic.hint = std::move(hint);
  throw Error(std::move(diagnostic));
}

Compiler::Compiler(const Graph& graph) : graph_(&graph), code_(std::make_unique<Code>()) {
  code_->graph = &graph;
  registers_.assign(graph.value_capacity(), no_register);
  uses_left_.assign(graph.value_capacity(), 0);
}

std::unique_ptr<Code> Compiler::run() {
  for (Node node : graph_->nodes()) {
    switch (node.kind()) {
      case NodeKind::placeholder: {
        const Value value = node.value();
        registers_[value.id().index] = new_register();
        uses_left_[value.id().index] = value.use_count();
        ++code_->input_count;
        break;
      }
      case NodeKind::get_attr:
        fail_at(node, fmt::format("attribute {} cannot be read", quote(node.target())),
                "lift attributes to inputs, as torch.export does");
      case NodeKind::call_function:
        visit_call(node);
        break;
      case NodeKind::output:
        visit_output(node);
        break;
    }
  }
  return std::move(code_);
}

std::uint32_t Compiler::new_register() {
  if (free_registers_.empty()) return code_->register_count++;
  const std::uint32_t number = free_registers_.back();
  free_registers_.pop_back();
  return number;
}

Operand Compiler::constant(IValue value) {
  code_->constants.push_back(std::move(value));
  return {.kind = Operand::Kind::constant,
          .index = static_cast<std::uint32_t>(code_->constants.size() - 1)};
}

Operand Compiler::value_operand(Value value) {
  const std::uint32_t index = value.id().index;
  Operand operand{.kind = Operand::Kind::copy, .index = registers_[index]};
  if (--uses_left_[index] == 0) {
    operand.kind = Operand::Kind::move;
    free_registers_.push_back(registers_[index]);
  }
  return operand;
}

const Code* Compiler::body(GraphId id) {
  code_->bodies.push_back(compile(graph_->subgraph(id)));
  return code_->bodies.back().get();
}

IValue Compiler::attribute(Node node, const Argument& argument) const {
  std::optional<IValue> value = attribute_value(graph_->context(), argument);
  if (!value) fail_at(node, "an argument of this kind cannot be passed to an operator");
  return *std::move(value);
}

Operand Compiler::list_operand(Node node, const Argument& argument, const c10::Type& element) {
  std::vector<Operand> elements;
  bool constant_list = true;
  for (std::uint32_t i = 0; i < argument.count(); ++i) {
    elements.push_back(operand(node, node.element(argument, i), element));
    constant_list = constant_list && elements.back().kind == Operand::Kind::constant;
  }
  Operand list{.kind = Operand::Kind::list,
               .list = list_kind(element),
               .index = static_cast<std::uint32_t>(code_->operands.size()),
               .count = argument.count()};
  code_->operands.insert(code_->operands.end(), elements.begin(), elements.end());
  return list;
}

Operand Compiler::operand(Node node, const Argument& argument, const c10::Type& type,
                          int list_size) {
  const c10::Type& wanted = *without_optional(&type);
  if (argument.is_none()) {
    const bool undefined = &wanted == &type && wanted.kind() == c10::TypeKind::TensorType;
    return constant(undefined ? IValue(at::Tensor()) : IValue());
  }
  if (argument.is_value()) {
    const Value value = graph_->value_at(argument.value_id());
    if (wanted.kind() == c10::TypeKind::ListType) {  // one size stands for a list of them
      const c10::Type& element = *wanted.castRaw<c10::ListType>()->getElementType();
      const Operand single = operand(node, argument, element);
      Operand list{.kind = Operand::Kind::list,
                   .list = list_kind(element),
                   .index = static_cast<std::uint32_t>(code_->operands.size()),
                   .count = 1};
      code_->operands.push_back(single);
      return list;
    }
    Operand result = value_operand(value);
    const bool is_tensor = value.meta().is_tensor();
    switch (wanted.kind()) {
      case c10::TypeKind::TensorType:
        if (!is_tensor) result.conversion = Conversion::to_tensor;
        break;
      case c10::TypeKind::FloatType:
        result.conversion = Conversion::to_float;
        break;
      case c10::TypeKind::NumberType:
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        if (is_tensor) result.conversion = Conversion::to_number;
        break;
      default:
        break;
    }
    return result;
  }
  if (wanted.kind() == c10::TypeKind::ListType) {
    const c10::Type& element = *wanted.castRaw<c10::ListType>()->getElementType();
    if (argument.is_list()) return list_operand(node, argument, element);
    std::optional<IValue> list =
        attribute_list(graph_->context(), argument, list_kind(element), list_size);
    if (!list) fail_at(node, fmt::format("an argument is no list as {} wants it", type.str()));
    return constant(*std::move(list));
  }
  IValue value = attribute(node, argument);
  if (wanted.kind() == c10::TypeKind::TensorType) {
    if (!value.isInt() && !value.isDouble() && !value.isBool() && !value.isComplexDouble())
      fail_at(node, "an argument is neither a tensor nor a number");
    return constant(wrapped_number(value));
  }
  if (wanted.kind() == c10::TypeKind::FloatType && (value.isInt() || value.isBool()))
    value =
        value.isInt() ? static_cast<double>(value.toInt()) : static_cast<double>(value.toBool());
  return constant(std::move(value));
}

Operand Compiler::plain_operand(Node node, const Argument& argument) {
  if (argument.is_value()) return value_operand(graph_->value_at(argument.value_id()));
  if (argument.is_none() || argument.is_default()) return constant({});
  if (!argument.is_list()) return constant(attribute(node, argument));
  bool has_tensor = argument.count() == 0;
  for (std::uint32_t i = 0; i < argument.count(); ++i) {
    const Argument element = node.element(argument, i);
    has_tensor = has_tensor ||
                 (element.is_value() && graph_->value_at(element.value_id()).meta().is_tensor());
  }
  if (has_tensor) return list_operand(node, argument, *c10::TensorType::get());
  return list_operand(node, argument, *c10::IntType::get());
}

c10::OperatorHandle Compiler::find_operator(Node node, OpId op) const {
  const DispatcherName name = dispatcher_name(graph_->context().ops().get(op));
  const auto found = c10::Dispatcher::singleton().findSchema({name.name, name.overload});
  if (!found) {
    fail_at(node,
            fmt::format("this libtorch has no operator {}{}{}", name.name,
                        name.overload.empty() ? "" : ".", name.overload),
            hint_for_missing(name.name));
  }
  return *found;
}

void Compiler::visit_operator(Node node, const c10::OperatorHandle& handle,
                              Instruction& instruction) {
  const Schema& ours = graph_->context().ops().get(node.op()).schema;
  const std::vector<c10::Argument>& theirs = handle.schema().arguments();
  std::vector<Operand> operands;
  std::vector<bool> taken(node.argument_count(), false);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const c10::Argument& formal = theirs[i];
    std::size_t position = i;
    if (position >= ours.arguments.size() || ours.arguments[position].name != formal.name()) {
      const int found = ours.find_argument(formal.name());
      if (found >= 0) position = static_cast<std::size_t>(found);
    }
    const bool given =
        position < node.argument_count() && position < ours.arguments.size() &&
        (ours.arguments[position].name == formal.name() || ours.arguments[position].name.empty()) &&
        !node.argument(static_cast<std::uint32_t>(position)).is_default();
    if (given) {
      taken[position] = true;
      operands.push_back(operand(node, node.argument(static_cast<std::uint32_t>(position)),
                                 *formal.type(), formal.N().value_or(0)));
    } else if (formal.default_value()) {
      operands.push_back(constant(*formal.default_value()));
    } else {
      fail_at(node, fmt::format("this libtorch's {} wants an argument {}, which the call does not "
                                "have",
                                handle.operator_name().name, quote(formal.name())));
    }
  }
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const Argument argument = node.argument(i);
    if (taken[i] || argument.is_default() || argument.is_none()) continue;
    fail_at(node, fmt::format("this libtorch's {} has no argument {}", handle.operator_name().name,
                              i < ours.arguments.size() ? quote(ours.arguments[i].name)
                                                        : fmt::format("number {}", i)));
  }
  instruction.op = handle;
  finish(node, std::move(instruction), std::move(operands));
}

void Compiler::visit_plain(Node node, Instruction& instruction) {
  std::vector<Operand> operands;
  operands.reserve(node.argument_count());
  for (std::uint32_t i = 0; i < node.argument_count(); ++i)
    operands.push_back(plain_operand(node, node.argument_or_default(i)));
  finish(node, std::move(instruction), std::move(operands));
}

void Compiler::visit_call(Node node) {
  const Op& op = graph_->context().ops().get(node.op());
  Instruction instruction;
  instruction.node = node.id();
  // Others that leave memory as it was, such as _ctc_loss, do so in places alone.
  instruction.is_uninitialized =
      op.effects.is_uninitialized && op.qualified_name.find("empty") != std::string_view::npos;
  if (op.kind == OpKind::higher_order) {
    const Op& base = graph_->context().ops().get(op.base);
    instruction.native = find_higher_order_function(base.qualified_name);
    if (instruction.native == nullptr)
      fail_at(node, fmt::format("{} cannot be run", base.qualified_name),
              "replace it, by a pass or before export");
    code_->details.push_back(std::make_unique<CallDetail>());
    CallDetail& detail = *code_->details.back();
    std::vector<Operand> operands = compile_higher_order(*this, node, detail);
    instruction.detail = &detail;
    finish(node, std::move(instruction), std::move(operands));
    return;
  }
  const DispatcherName name = dispatcher_name(op);
  const auto handle = c10::Dispatcher::singleton().findSchema({name.name, name.overload});
  if (handle) {
    visit_operator(node, *handle, instruction);
    return;
  }
  std::string plain_name(op.is_opaque() ? op.opaque_target : op.qualified_name);
  if (plain_name.starts_with("torch.ops.")) plain_name.erase(0, 10);
  instruction.native = find_scalar_function(plain_name);
  if (instruction.native == nullptr) instruction.native = find_python_function(plain_name);
  if (instruction.native == nullptr) instruction.native = find_primitive_function(plain_name);
  if (instruction.native == nullptr) {
    if (const auto aten = find_aten_operator(name.name)) {
      visit_operator(node, *aten, instruction);
      return;
    }
    if (op.kind == OpKind::symbolic || op.kind == OpKind::function)
      fail_at(node, fmt::format("{} cannot be run", op.qualified_name));
    static_cast<void>(find_operator(node, node.op()));  // says what is missing
  }
  visit_plain(node, instruction);
}

void Compiler::finish(Node node, Instruction instruction, std::vector<Operand> operands) {
  instruction.first_operand = static_cast<std::uint32_t>(code_->operands.size());
  instruction.operand_count = static_cast<std::uint32_t>(operands.size());
  code_->operands.insert(code_->operands.end(), operands.begin(), operands.end());
  add_results(node, instruction);
  code_->instructions.push_back(std::move(instruction));
}

void Compiler::add_results(Node node, Instruction& instruction) {
  instruction.first_result = static_cast<std::uint32_t>(code_->results.size());
  instruction.result_count = node.value_count();
  for (std::uint32_t i = 0; i < node.value_count(); ++i) {
    const Value value = node.value(i);
    std::uint32_t target = no_register;
    if (value.has_uses()) {
      target = registers_[value.id().index] = new_register();
      uses_left_[value.id().index] = value.use_count();
    }
    code_->results.push_back(target);
  }
  std::vector<std::int32_t> groups;
  if (const ResultStructure* structure = graph_->result_structure(node)) {
    groups = structure->groups;
  } else if (instruction.op) {
    const auto& returns = instruction.op->schema().returns();
    if (returns.size() == 1 && returns[0].type()->kind() == c10::TypeKind::ListType)
      groups = {static_cast<std::int32_t>(node.value_count())};
  }
  const bool has_list =
      std::any_of(groups.begin(), groups.end(), [](std::int32_t group) { return group >= 0; });
  // Higher-order operators give their values one by one.
  if (!has_list || instruction.detail != nullptr) return;
  instruction.groups = static_cast<std::int32_t>(code_->groups.size());
  code_->groups.push_back(std::move(groups));
}

void Compiler::visit_output(Node node) {
  const Argument values = node.argument(0);
  const std::uint32_t count = list_size(graph_->context(), values);
  std::vector<Operand> operands;
  operands.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i)
    operands.push_back(plain_operand(node, node.element(values, i)));
  code_->first_output = static_cast<std::uint32_t>(code_->operands.size());
  code_->output_count = static_cast<std::uint32_t>(operands.size());
  code_->operands.insert(code_->operands.end(), operands.begin(), operands.end());
}

std::unique_ptr<Code> compile(const Graph& graph) {
  return Compiler(graph).run();
}

}  // namespace winze
