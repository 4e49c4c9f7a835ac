// SPDX-License-Identifier: Apache-2.0
// Operators that run nested graphs, or operators given as arguments.
#include <algorithm>
#include <span>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/torch/compiler.h"
#include "winze/torch/machine.h"
#include "winze/torch/native_functions.h"

namespace winze {

namespace {

using c10::IValue;
using Values = std::vector<IValue>;

bool truth(const IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toBool();
  return value.isBool() ? value.toBool() : value.toScalar().toLong() != 0;
}

Values slice(const Stack& stack, std::size_t first, std::size_t count) {
  const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void append(Values& to, const Values& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The operands of group `number`.
Values group(const Instruction& instruction, const Stack& stack, std::size_t number) {
  const auto& sizes = instruction.detail->group_sizes;
  std::size_t first = 0;
  for (std::size_t i = 0; i < number; ++i) first += sizes[i];
  return slice(stack, first, sizes[number]);
}

const Code& body(const Instruction& instruction, std::size_t index) {
  return *instruction.detail->bodies[index];
}

// (pred, true_fn, false_fn, operands)
void cond(Machine& machine, const Instruction& instruction, Stack& stack) {
  const bool taken = truth(stack.front());
  stack = machine.run(body(instruction, taken ? 0 : 1), group(instruction, stack, 1));
}

// (cond_fn, body_fn, carried_inputs, additional_inputs)
void while_loop(Machine& machine, const Instruction& instruction, Stack& stack) {
  Values carried = group(instruction, stack, 0);
  const Values additional = group(instruction, stack, 1);
  stack.clear();
  while (true) {
    Values operands = carried;
    append(operands, additional);
    if (!truth(machine.run(body(instruction, 0), operands).at(0))) break;
    carried = machine.run(body(instruction, 1), std::move(operands));
  }
  // A loop that was never entered gives its operands; the results of a call are tensors of their
  // own.
  for (IValue& value : carried) {
    if (value.isTensor()) value = value.toTensor().clone();
  }
  stack = std::move(carried);
}

/// One slice of each tensor along its first dimension.
void append_slices(Values& to, const Values& tensors, std::int64_t index) {
  for (const IValue& tensor : tensors) to.emplace_back(tensor.toTensor().select(0, index));
}

std::int64_t length_of(const Values& xs) {
  TORCH_CHECK(!xs.empty(), "it is given no tensors to go over");
  return xs.front().toTensor().size(0);
}

/// Collects what runs return, by position, and stacks it.
class Collector {
 public:
  void add(const Values& outputs, std::size_t first) {
    columns_.resize(outputs.size() - first);
    for (std::size_t i = first; i < outputs.size(); ++i)
      columns_[i - first].push_back(outputs[i].isNone() ? at::Tensor() : outputs[i].toTensor());
  }
  void stack_to(Stack& stack) const {
    for (const std::vector<at::Tensor>& column : columns_)
      stack.push_back(column.front().defined() ? IValue(at::stack(column)) : IValue());
  }

 private:
  std::vector<std::vector<at::Tensor>> columns_;
};

// (f, xs, pos_args)
void map_impl(Machine& machine, const Instruction& instruction, Stack& stack) {
  const Values xs = group(instruction, stack, 0);
  const Values shared = group(instruction, stack, 1);
  stack.clear();
  const std::int64_t length = length_of(xs);
  TORCH_CHECK(length > 0, "the tensors to go over have length 0");
  Collector collector;
  for (std::int64_t i = 0; i < length; ++i) {
    Values operands;
    append_slices(operands, xs, i);
    append(operands, shared);
    collector.add(machine.run(body(instruction, 0), std::move(operands)), 0);
  }
  collector.stack_to(stack);
}

// (combine_fn, init, xs, additional_inputs)
void scan(Machine& machine, const Instruction& instruction, Stack& stack) {
  Values carry = group(instruction, stack, 0);
  const Values xs = group(instruction, stack, 1);
  const Values additional = group(instruction, stack, 2);
  stack.clear();
  const std::size_t carried = carry.size();
  const std::int64_t length = length_of(xs);
  TORCH_CHECK(length > 0, "the tensors to go over have length 0");
  Collector collector;
  for (std::int64_t i = 0; i < length; ++i) {
    Values operands = std::move(carry);
    append_slices(operands, xs, i);
    append(operands, additional);
    Values outputs = machine.run(body(instruction, 0), std::move(operands));
    collector.add(outputs, carried);
    outputs.resize(carried);
    carry = std::move(outputs);
  }
  stack = std::move(carry);
  collector.stack_to(stack);
}

// (combine_fn, xs, additional_inputs): element i is the combination of 0 to i, made from the left.
// PyTorch combines pairs in a tree, which gives the same where the function is associative, but for
// rounding.
void associative_scan(Machine& machine, const Instruction& instruction, Stack& stack) {
  const Values xs = group(instruction, stack, 0);
  const Values additional = group(instruction, stack, 1);
  stack.clear();
  const std::int64_t length = length_of(xs);
  if (length == 0) {
    stack = xs;
    return;
  }
  // The body sees single elements, or with a leading dimension a batch of pairs.
  const Graph& graph = *body(instruction, 0).graph;
  const bool batched = graph.first().value().meta().tensor.dim() ==
                       static_cast<std::size_t>(xs.front().toTensor().dim());
  const auto element = [&](std::int64_t i) {
    Values values;
    for (const IValue& x : xs) {
      values.emplace_back(batched ? x.toTensor().slice(0, i, i + 1) : x.toTensor().select(0, i));
    }
    return values;
  };
  Values so_far = element(0);
  Collector collector;
  const auto collect = [&] {
    Values values;
    for (const IValue& value : so_far)
      values.emplace_back(batched ? value.toTensor().squeeze(0) : value.toTensor());
    collector.add(values, 0);
  };
  collect();
  for (std::int64_t i = 1; i < length; ++i) {
    Values operands = so_far;
    append(operands, element(i));
    append(operands, additional);
    so_far = machine.run(body(instruction, 0), std::move(operands));
    collect();
  }
  collector.stack_to(stack);
}

/// Runs the only body on all operands.
void inline_body(Machine& machine, const Instruction& instruction, Stack& stack) {
  stack = machine.run(body(instruction, 0), std::move(stack));
}

void with_grad_mode(Machine& machine, const Instruction& instruction, Stack& stack) {
  const at::AutoGradMode mode(instruction.detail->settings.at(0).toBool());
  inline_body(machine, instruction, stack);
}

void with_autocast(Machine& machine, const Instruction& instruction, Stack& stack) {
  push_autocast(machine, instruction.detail->settings);
  inline_body(machine, instruction, stack);  // after an exception the executor leaves all regions
  pop_autocast(machine);
}

/// Calls the operator given as an argument, on a stack with its arguments.
void call_op(const Instruction& instruction, Stack& stack) {
  instruction.detail->op->callBoxed(stack);
}

// (token, op, *args): the next token, and None where the operator yields nothing
void with_effects(Machine& /*machine*/, const Instruction& instruction, Stack& stack) {
  stack.erase(stack.begin());
  call_op(instruction, stack);
  if (stack.empty()) stack.emplace_back();
  stack.insert(stack.begin(), IValue());
}

// (op, output_dtype, *args)
void out_dtype(Machine& /*machine*/, const Instruction& instruction, Stack& stack) {
  const auto dtype = static_cast<at::ScalarType>(instruction.detail->settings.at(0).toInt());
  const std::string& name = instruction.detail->op->operator_name().name;
  // As PyTorch: products of small integers are computed in the wide type.
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::matmul") {
    for (IValue& value : stack) {
      if (value.isTensor()) value = value.toTensor().to(dtype);
    }
  }
  call_op(instruction, stack);
  stack.at(0) = stack.at(0).toTensor().to(dtype);
}

IValue clone_of(const IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    return tensor.defined() ? IValue(tensor.clone()) : value;
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> copies;
    for (const at::Tensor& tensor : value.toTensorVector()) copies.push_back(tensor.clone());
    return copies;
  }
  return value;
}

// (op, **arguments): calls a mutating operator on copies, and returns its results and the copies.
void auto_functionalized(Machine& /*machine*/, const Instruction& instruction, Stack& stack) {
  const CallDetail& detail = *instruction.detail;
  Values copies;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (detail.plans[i].empty()) continue;
    stack[i] = clone_of(stack[i]);
    copies.push_back(stack[i]);
  }
  const bool returns_nothing = detail.op->schema().returns().empty();
  call_op(instruction, stack);
  if (returns_nothing) stack.assign(1, IValue());
  append(stack, copies);
}

/// A view of one of the bases, from the numbers that the call gives. How they are laid out:
/// see `Views` in functionalized_calls.cpp.
IValue make_view(const Values& bases, std::span<const std::int64_t> plan, const Stack& operands) {
  if (plan[0] < 0) return {};
  const IValue& base = bases.at(static_cast<std::size_t>(plan[0]));
  const auto number = [&](std::size_t i) {
    return operands.at(static_cast<std::size_t>(plan[i])).toInt();
  };
  const auto numbers = [&](std::size_t i) {
    return operands.at(static_cast<std::size_t>(plan[i])).toIntVector();
  };
  switch (plan[1]) {
    case 1:
      return base.toTensor().alias();
    case 2:
      return base.toTensor().slice(number(2), number(3), number(4));
    case 3:
      return base.toTensor().as_strided(numbers(2), numbers(3), number(4));
    default:
      return base;
  }
}

// The same where the call names bases of which its arguments are views.
void auto_functionalized_v2(Machine& /*machine*/, const Instruction& instruction, Stack& stack) {
  const CallDetail& detail = *instruction.detail;
  Values bases = group(instruction, stack, 0);
  for (IValue& base : bases) base = clone_of(base);
  const Values operands = group(instruction, stack, 1);
  stack.clear();
  for (const std::vector<std::int64_t>& plan : detail.plans) {
    if (plan[0] == 0) {  // a plain operand
      stack.push_back(operands.at(static_cast<std::size_t>(plan[1])));
    } else if (plan[0] == 1) {  // a view
      stack.push_back(make_view(bases, std::span(plan).subspan(1), operands));
    } else {  // a list of views, five numbers each
      c10::List<at::Tensor> list;
      for (std::size_t at = 1; at < plan.size(); at += 5)
        list.push_back(make_view(bases, std::span(plan).subspan(at, 5), operands).toTensor());
      stack.emplace_back(std::move(list));
    }
  }
  const bool returns_nothing = detail.op->schema().returns().empty();
  call_op(instruction, stack);
  if (returns_nothing) stack.assign(1, IValue());
  append(stack, bases);
}

constexpr NamedFunction higher_order_functions[] = {
    {"higher_order.associative_scan", associative_scan},
    {"higher_order.auto_functionalized", auto_functionalized},
    {"higher_order.auto_functionalized_v2", auto_functionalized_v2},
    {"higher_order.cond", cond},
    {"higher_order.hints_wrapper", inline_body},
    {"higher_order.invoke_quant", inline_body},
    {"higher_order.invoke_quant_packed", inline_body},
    {"higher_order.invoke_subgraph", inline_body},
    {"higher_order.map_impl", map_impl},
    {"higher_order.out_dtype", out_dtype},
    {"higher_order.run_const_graph", inline_body},
    {"higher_order.scan", scan},
    {"higher_order.strict_mode", inline_body},
    {"higher_order.tag_activation_checkpoint", inline_body},
    {"higher_order.while_loop", while_loop},
    {"higher_order.with_effects", with_effects},
    {"higher_order.wrap", inline_body},
    {"higher_order.wrap_activation_checkpoint", inline_body},
    {"higher_order.wrap_with_autocast", with_autocast},
    {"higher_order.wrap_with_set_grad_enabled", with_grad_mode},
};

bool is_setting(const Schema& schema, std::uint32_t position) {
  if (position >= schema.arguments.size()) return false;
  const TypeKind kind = schema.arguments[position].type.base_kind();
  return kind != TypeKind::any && kind != TypeKind::tensor && kind != TypeKind::token;
}

/// Bodies take their operands by position: the dictionary of others is empty.
void check_no_keywords(Node node, const Argument& keywords) {
  const Context& context = node.graph().context();
  if (keywords.kind() == ArgumentKind::custom_object &&
      context.text(context.custom_object_of(keywords).name) == "{}")
    return;
  fail_at(node, "a body cannot be run with keyword arguments");
}

/// Arguments of an operator that is called with those of the node: with_effects, out_dtype. By
/// position they begin at `first`; others go by their names.
void add_op_arguments(Compiler& compiler, Node node, std::uint32_t first, CallDetail& detail,
                      std::vector<Operand>& operands) {
  const auto& formals = detail.op->schema().arguments();
  const Schema& own = compiler.graph().context().ops().get(node.op()).schema;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const std::uint32_t position =
        own.index_for(formals[i].name(), first, static_cast<std::uint32_t>(i));
    if (position < node.argument_count() && !node.argument(position).is_default()) {
      operands.push_back(compiler.operand(node, node.argument(position), *formals[i].type(),
                                          formals[i].N().value_or(0)));
    } else if (formals[i].default_value()) {
      operands.push_back(compiler.constant(*formals[i].default_value()));
    } else {
      fail_at(node, fmt::format("argument {} is missing", quote(formals[i].name())));
    }
  }
}

}  // namespace

std::vector<Operand> compile_higher_order(Compiler& compiler, Node node, CallDetail& detail) {
  const Context& context = compiler.graph().context();
  const Op& op = context.ops().get(node.op());
  const std::string_view name = context.ops().get(op.base).qualified_name;
  if (name.starts_with("higher_order.auto_functionalized"))
    return compile_functionalized(compiler, node, detail, name.ends_with("_v2"));
  std::vector<Operand> operands;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const Argument argument = node.argument_or_default(i);
    if (name == "higher_order.hints_wrapper" && i == 2) {
      check_no_keywords(node, argument);
      return operands;  // what follows are the hints
    }
    if (argument.kind() == ArgumentKind::graph) {
      detail.bodies.push_back(compiler.body(argument.graph_id()));
    } else if (argument.kind() == ArgumentKind::op) {
      detail.op = compiler.find_operator(node, argument.op());
      if (name == "higher_order.with_effects") {
        add_op_arguments(compiler, node, i + 1, detail, operands);
        return operands;
      }
    } else if (is_setting(op.schema, i)) {
      detail.settings.push_back(compiler.attribute(node, argument));
      if (name == "higher_order.out_dtype") {
        add_op_arguments(compiler, node, i + 1, detail, operands);
        return operands;
      }
    } else if (i < op.schema.arguments.size() && op.schema.arguments[i].type.is_list()) {
      const std::uint32_t count = list_size(context, argument);
      for (std::uint32_t k = 0; k < count; ++k)
        operands.push_back(compiler.plain_operand(node, node.element(argument, k)));
      detail.group_sizes.push_back(count);
    } else {
      operands.push_back(compiler.plain_operand(node, argument));
      detail.group_sizes.push_back(1);
    }
  }
  return operands;
}

NativeFunction find_higher_order_function(std::string_view name) {
  return find_function(higher_order_functions, name);
}

}  // namespace winze
