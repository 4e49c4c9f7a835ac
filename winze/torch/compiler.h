// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "winze/torch/code.h"

namespace winze {

/// Makes the code of one graph: gives values registers, and calls their operands.
class Compiler {
 public:
  explicit Compiler(const Graph& graph);
  [[nodiscard]] std::unique_ptr<Code> run();

  // What those that compile particular operators are built of.

  [[nodiscard]] const Graph& graph() const { return *graph_; }
  /// An argument for a parameter of this type of PyTorch's.
  [[nodiscard]] Operand operand(Node node, const Argument& argument, const c10::Type& type,
                                int list_size = 0);
  /// An argument as it stands, for parameters of any type. Lists of values become lists of tensors
  /// or ints.
  [[nodiscard]] Operand plain_operand(Node node, const Argument& argument);
  [[nodiscard]] Operand constant(c10::IValue value);
  /// An attribute as PyTorch has it. `argument` is no value, graph or list of values.
  [[nodiscard]] c10::IValue attribute(Node node, const Argument& argument) const;
  /// The code of a nested graph.
  [[nodiscard]] const Code* body(GraphId id);
  /// Looks up an operator of the dispatcher. \throws Error where there is none.
  [[nodiscard]] c10::OperatorHandle find_operator(Node node, OpId op) const;

 private:
  void visit_call(Node node);
  void visit_operator(Node node, const c10::OperatorHandle& handle, Instruction& instruction);
  void visit_plain(Node node, Instruction& instruction);
  void finish(Node node, Instruction instruction, std::vector<Operand> operands);
  void add_results(Node node, Instruction& instruction);
  void visit_output(Node node);
  [[nodiscard]] Operand value_operand(Value value);
  [[nodiscard]] Operand list_operand(Node node, const Argument& argument, const c10::Type& element);
  [[nodiscard]] std::uint32_t new_register();

  const Graph* graph_;
  std::unique_ptr<Code> code_;
  std::vector<std::uint32_t> registers_;  ///< by value
  std::vector<std::uint32_t> uses_left_;  ///< by value
  std::vector<std::uint32_t> free_registers_;
};

/// The operands and the detail of a call to a higher-order operator.
std::vector<Operand> compile_higher_order(Compiler& compiler, Node node, CallDetail& detail);

/// The same for auto_functionalized, whose keyword arguments stand for those of an operator;
/// `has_bases` for its second form.
std::vector<Operand> compile_functionalized(Compiler& compiler, Node node, CallDetail& detail,
                                            bool has_bases);

/// An error about a node, with the user's line.
[[noreturn]] void fail_at(Node node, std::string message, std::string hint = {});

}  // namespace winze
