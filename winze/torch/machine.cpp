// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/machine.h"

#include <ATen/ScalarOps.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/torch/compiler.h"
#include "winze/torch/run_plan.h"
#include "winze/torch/torch_error.h"

namespace winze {
namespace {

using c10::IValue;

double float_of(const IValue& value) {
  return value.isInt() ? static_cast<double>(value.toInt())
                       : (value.isBool() ? static_cast<double>(value.toBool()) : value.toDouble());
}

IValue convert(IValue value, Conversion conversion) {
  switch (conversion) {
    case Conversion::none:
      break;
    case Conversion::to_tensor:
      if (!value.isTensor() && !value.isNone()) return wrapped_number(value);
      break;
    case Conversion::to_float:
      if (value.isInt() || value.isBool()) return float_of(value);
      break;
    case Conversion::to_number:
      if (value.isTensor()) return IValue(value.toTensor().item());
      break;
  }
  return value;
}

IValue fetch(const Code& code, const Operand& operand, std::vector<IValue>& registers);

IValue make_list(const Code& code, const Operand& operand, std::vector<IValue>& registers) {
  const Operand* first = code.operands.data() + operand.index;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the list is moved into the result
  const auto fill = [&](auto list, auto to_element) {
    list.reserve(operand.count);
    for (std::uint32_t i = 0; i < operand.count; ++i)
      list.push_back(to_element(fetch(code, first[i], registers)));
    return IValue(std::move(list));
  };
  switch (operand.list) {
    case ListKind::tensors:
      return fill(c10::List<at::Tensor>(), [](IValue v) { return std::move(v).toTensor(); });
    case ListKind::optional_tensors:
      return fill(c10::List<std::optional<at::Tensor>>(), [](IValue v) {
        return v.isNone() ? std::optional<at::Tensor>() : std::move(v).toTensor();
      });
    case ListKind::integers:
      return fill(c10::List<std::int64_t>(), [](const IValue& v) {
        return v.isBool() ? static_cast<std::int64_t>(v.toBool()) : v.toInt();
      });
    case ListKind::floats:
      return fill(c10::List<double>(), [](const IValue& v) { return float_of(v); });
    case ListKind::booleans:
      return fill(c10::List<bool>(), [](const IValue& v) { return v.toBool(); });
    case ListKind::numbers:
      return fill(c10::impl::GenericList(c10::NumberType::get()), [](IValue v) { return v; });
  }
  return {};
}

IValue fetch(const Code& code, const Operand& operand, std::vector<IValue>& registers) {
  switch (operand.kind) {
    case Operand::Kind::constant:
      return code.constants[operand.index];
    case Operand::Kind::list:
      return make_list(code, operand, registers);
    case Operand::Kind::copy:
      return convert(registers[operand.index], operand.conversion);
    case Operand::Kind::move:
      return convert(std::move(registers[operand.index]), operand.conversion);
  }
  return {};
}

void push(const Code& code, const Operand& operand, std::vector<IValue>& registers, Stack& stack) {
  if (operand.conversion == Conversion::none) {
    if (operand.kind == Operand::Kind::move) {
      stack.push_back(std::move(registers[operand.index]));
      return;
    }
    if (operand.kind == Operand::Kind::constant) {
      stack.push_back(code.constants[operand.index]);
      return;
    }
    if (operand.kind == Operand::Kind::copy) {
      stack.push_back(registers[operand.index]);
      return;
    }
  }
  stack.push_back(fetch(code, operand, registers));
}

/// Takes the lists among the results apart, in place.
void spread_groups(const std::vector<std::int32_t>& groups, Stack& stack) {
  Stack spread;
  TORCH_CHECK(groups.size() <= stack.size(), "it gave ", stack.size(), " results instead of ",
              groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] < 0) {
      spread.push_back(std::move(stack[i]));
      continue;
    }
    const auto wanted = static_cast<std::size_t>(groups[i]);
    TORCH_CHECK(stack[i].isList() && stack[i].toListRef().size() >= wanted, "result ", i,
                " is no list of ", wanted, " values");
    for (std::size_t k = 0; k < wanted; ++k) spread.push_back(stack[i].toListRef()[k]);
  }
  stack = std::move(spread);
}

/// Lets go of what a call that is not made would have been the last to use.
void release(const Code& code, const Operand& operand, std::vector<IValue>& registers) {
  if (operand.kind == Operand::Kind::move) registers[operand.index] = IValue();
  if (operand.kind != Operand::Kind::list) return;
  for (std::uint32_t i = 0; i < operand.count; ++i)
    release(code, code.operands[operand.index + i], registers);  // lists do not hold lists
}

/// Two fills have no number in common, so that what depends on them differs.
void fill_with(const at::Tensor& tensor, UninitializedFill fill) {
  const bool first = fill == UninitializedFill::first;
  if (tensor.numel() == 0 || tensor.layout() != c10::kStrided) return;
  if (c10::isFloatingType(tensor.scalar_type()) || c10::isComplexType(tensor.scalar_type())) {
    tensor.fill_(first ? 11.25 : -7.5);
  } else if (!c10::isQIntType(tensor.scalar_type())) {
    tensor.fill_(first ? 1 : 0);
  }
}

void fill_results(const Stack& stack, UninitializedFill fill) {
  for (const IValue& value : stack) {
    if (value.isTensor() && value.toTensor().defined()) fill_with(value.toTensor(), fill);
  }
}

[[noreturn]] void raise(const Code& code, std::size_t position, std::string_view what) {
  const Node node = code.graph->node_at(code.instructions[position].node);
  const bool assertion = node.target().find("assert") != std::string_view::npos;
  fail_at(node, assertion
                    ? fmt::format("a run-time assertion of the program does not hold: {}", what)
                    : fmt::format("{} failed: {}", node.target(), what));
}

}  // namespace

at::Tensor wrapped_number(const IValue& number) {
  at::Tensor tensor = c10::scalar_to_tensor(number.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

void Machine::observe(const Code& code, const Instruction& instruction, Stack& stack) {
  observer_->after_call(code.graph->node_at(instruction.node), stack);
}

void Machine::store_results(const Code& code, const Instruction& instruction,
                            std::vector<IValue>& registers, Stack& stack) {
  const std::uint32_t* results = code.results.data() + instruction.first_result;
  for (std::uint32_t i = 0; i < instruction.result_count; ++i) {
    if (results[i] != no_register) registers[results[i]] = std::move(stack[i]);
  }
}

bool Machine::leave_out(const Code& code, std::size_t position, const RunPlan& plan,
                        std::vector<IValue>& registers) {
  const RunPlan::Step step = plan.steps[position];
  if (step != RunPlan::Step::take && step != RunPlan::Step::skip) return false;
  const Instruction& instruction = code.instructions[position];
  for (std::uint32_t i = 0; i < instruction.operand_count; ++i)
    release(code, code.operands[instruction.first_operand + i], registers);
  if (step == RunPlan::Step::take) {
    Stack results = *plan.store->find(plan.numbers[position]);
    store_results(code, instruction, registers, results);
  }
  return true;
}

template <bool observed, bool planned>
void Machine::run_instructions(const Code& code, std::vector<IValue>& registers,
                               std::size_t& position, const RunPlan* plan) {
  Stack stack;
  stack.reserve(32);
  const std::size_t count = code.instructions.size();
  for (; position < count; ++position) {
    if constexpr (planned) {
      if (leave_out(code, position, *plan, registers)) continue;
    }
    const Instruction& instruction = code.instructions[position];
    const Operand* operands = code.operands.data() + instruction.first_operand;
    for (std::uint32_t i = 0; i < instruction.operand_count; ++i)
      push(code, operands[i], registers, stack);
    if constexpr (observed) observer_->before_call(code.graph->node_at(instruction.node), stack);
    if (instruction.native == nullptr) {
      instruction.op->callBoxed(stack);
    } else {
      instruction.native(*this, instruction, stack);
    }
    if (instruction.groups >= 0)
      spread_groups(code.groups[static_cast<std::size_t>(instruction.groups)], stack);
    TORCH_CHECK(stack.size() >= instruction.result_count, "it gave ", stack.size(),
                " results instead of ", instruction.result_count);
    if (instruction.is_uninitialized && fill != UninitializedFill::none) fill_results(stack, fill);
    if constexpr (observed) observe(code, instruction, stack);
    if constexpr (planned) {
      if (plan->steps[position] == RunPlan::Step::keep)
        plan->store->keep(plan->numbers[position], stack);
    }
    store_results(code, instruction, registers, stack);
    stack.clear();
  }
}

std::vector<IValue> Machine::run(const Code& code, std::vector<IValue> inputs,
                                 const RunPlan* plan) {
  WINZE_CHECK(inputs.size() == code.input_count, "{} inputs for {} placeholders", inputs.size(),
              code.input_count);
  std::vector<IValue> registers = std::move(inputs);
  registers.resize(code.register_count);
  std::size_t position = 0;
  try {
    if (plan != nullptr) {
      run_instructions<false, true>(code, registers, position, plan);
    } else if (observer_ == nullptr) {
      run_instructions<false, false>(code, registers, position, nullptr);
    } else {
      run_instructions<true, false>(code, registers, position, nullptr);
    }
  } catch (const DiagnosticError&) {
    throw;  // of a nested graph, which names its own node
  } catch (const std::exception& error) {
    raise(code, position, message_of(error));
  } catch (...) {  // of a user's library, which may throw anything
    raise(code, position, "an exception of an unknown type");
  }
  std::vector<IValue> outputs;
  outputs.reserve(code.output_count);
  for (std::uint32_t i = 0; i < code.output_count; ++i) {
    IValue value = fetch(code, code.operands[code.first_output + i], registers);
    if (value.isTensor() && !value.toTensor().defined()) value = IValue();
    outputs.push_back(std::move(value));
  }
  return outputs;
}

}  // namespace winze
