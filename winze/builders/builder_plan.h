// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "winze/schema/op.h"
#include "winze/schema/op_registry.h"

// What builders there are to be: the generator's decisions, apart from the text that it writes.
namespace winze {

/// How the results of a call are given back.
enum class BuilderResult : std::uint8_t {
  node,    ///< no results: the node itself
  value,   ///< one
  list,    ///< one list
  array,   ///< several without names
  record,  ///< several with names
};

/// A parameter of a builder: an argument of the operator.
struct BuilderParameter {
  std::uint32_t index = 0;  ///< among the arguments of the schema
  std::string name;         ///< as C++ spells it
  std::string type;         ///< the class of its argument: `OptionalArg<SymIntArg>`
  bool required = false;
  /// An operand where another overload has a list: what stands in braces is the list.
  bool beside_list = false;
};

/// One function.
struct BuilderPlan {
  const Op* op = nullptr;
  std::string name;  ///< `sum`
  /// Tensors and numbers that the operator works on: the leading required arguments of such types.
  std::vector<BuilderParameter> operands;
  /// The rest, in the order of the schema.
  std::vector<BuilderParameter> options;
  /// Operators among which the arguments decide, in PyTorch's order; at least `op`.
  std::vector<OpId> overloads;
  /// How many other functions of the same name and operands are tried before.
  int rank = 0;
  BuilderResult result = BuilderResult::value;
  /// Whether all options may be left out, and the function is the first for which they may.
  bool options_default = false;
};

/// All functions of one header, and the operators that none can be made for, with the reason.
struct BuilderPlans {
  std::vector<BuilderPlan> builders;
  std::vector<std::string> left_out;
};

/// Plans the builders for the overloads of one name: those given, which are all that have a rule.
[[nodiscard]] BuilderPlans plan_builders(const std::vector<const Op*>& overloads);

/// The signature by which PyTorch's Python argument parser is given overloads to try, nearly:
/// sorted by this text they come in its order (torchgen's sort_overloads). Ints count as SymInts,
/// so that lists come before single ones.
[[nodiscard]] std::string parser_signature(const Schema& schema);

/// A name that C++ allows: one that is a keyword gets a `_` behind it.
[[nodiscard]] std::string cpp_name(std::string_view name);

}  // namespace winze
