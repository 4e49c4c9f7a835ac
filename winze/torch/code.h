// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "winze/ir/graph.h"

namespace winze {

class Machine;
struct Code;
struct Instruction;

using Stack = torch::jit::Stack;

/// What is made of a value when it is pushed.
enum class Conversion : std::uint8_t {
  none,
  to_tensor,  ///< a number becomes a tensor that promotes as Python numbers do
  to_float,   ///< an int becomes a float
  to_number,  ///< a tensor of one element becomes a number
};

/// Type of a list that is made at run time.
enum class ListKind : std::uint8_t {
  tensors,
  optional_tensors,
  integers,
  floats,
  booleans,
  numbers,
};

/// Where an argument of an instruction comes from.
struct Operand {
  enum class Kind : std::uint8_t {
    copy,      ///< register `index`
    move,      ///< the same, for the last time
    constant,  ///< constant `index`
    list,      ///< a list of the `count` operands from `index` on
  };
  Kind kind = Kind::copy;
  Conversion conversion = Conversion::none;
  ListKind list = ListKind::tensors;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
};

/// What an instruction does where it is no call of the dispatcher: takes its operands from the top
/// of the stack and leaves its results there.
using NativeFunction = void (*)(Machine&, const Instruction&, Stack&);

/// How a native function is set up: what of its arguments is not an operand.
struct CallDetail {
  std::vector<const Code*> bodies;
  std::vector<std::uint32_t> group_sizes;  ///< operands of each list argument, in order
  std::vector<c10::IValue> settings;       ///< arguments that are no operands
  std::optional<c10::OperatorHandle> op;   ///< an operator given as an argument
  /// For auto_functionalized: by argument of `op`, how it is made (see higher_order.cpp).
  std::vector<std::vector<std::int64_t>> plans;
};

/// One call: a boxed operator, or a native function.
struct Instruction {
  NativeFunction native = nullptr;  ///< null: `op` is called
  std::optional<c10::OperatorHandle> op;
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_result = 0;  ///< in `Code::results`
  std::uint32_t result_count = 0;
  std::int32_t groups = -1;       ///< in `Code::groups`; -1: each result is one value
  bool is_uninitialized = false;  ///< all of each result is what was in memory before
  const CallDetail* detail = nullptr;
  NodeId node;
};

/// Stands for a result that nobody uses.
inline constexpr std::uint32_t no_register = 0xFFFFFFFFU;

/// A graph made ready to run.
struct Code {
  const Graph* graph = nullptr;
  std::uint32_t input_count = 0;  ///< in registers 0, 1, …
  std::uint32_t register_count = 0;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<std::uint32_t> results;             ///< registers
  std::vector<std::vector<std::int32_t>> groups;  ///< as ResultStructure::groups
  std::vector<c10::IValue> constants;
  std::uint32_t first_output = 0;  ///< in `operands`: what is returned
  std::uint32_t output_count = 0;
  std::vector<std::unique_ptr<CallDetail>> details;
  std::vector<std::unique_ptr<Code>> bodies;
};

/// A tensor without dimensions that takes part in type promotion as a Python number does.
[[nodiscard]] at::Tensor wrapped_number(const c10::IValue& number);

/// Compiles a graph and those nested in it. \throws Error that names the node.
[[nodiscard]] std::unique_ptr<Code> compile(const Graph& graph);

}  // namespace winze
