// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "winze/program/program.h"

namespace winze {

enum class DifferenceKind : std::uint8_t {
  node,     ///< a node of a graph, an input, or a returned value
  range,    ///< bounds of a symbol
  weight,   ///< a weight, constant or object
  program,  ///< dialect, opsets, guards, the module call graph
};

/// One difference. An empty side means that the thing is not there.
struct Difference {
  DifferenceKind kind = DifferenceKind::node;
  std::string where;  ///< the nested graph, the table; empty for the program's own graph
  std::string a;      ///< the node, weight or line in the one program
  std::string b;      ///< in the other
  std::vector<std::string> details;  ///< what of it changed: `argument 1 (other): 1 -> 2`
};

/// What differs between two programs by what they compute: names of values and nodes, numbers of
/// symbols, sources and an order that no effect depends on play no part. The programs may be of one
/// context or of two. Weights are compared by meta and by size and CRC, or byte by byte where a CRC
/// is not known and the bytes are at hand.
///
/// Nodes are matched first by a hash of all that they compute, then what is left by the longest
/// common order of operators and types. Time is linear but for sorting, with a constant that grows
/// with the number of differences up to a bound.
[[nodiscard]] std::vector<Difference> compare_programs(const ExportedProgram& a,
                                                       const ExportedProgram& b);

/// Differences as text: lines with `-` of the one program, with `+` of the other, and below a pair
/// what of it changed. Empty where there are none.
[[nodiscard]] std::string print_differences(const std::vector<Difference>& differences);

/// `print_differences(compare_programs(a, b))`.
[[nodiscard]] std::string diff_programs(const ExportedProgram& a, const ExportedProgram& b);

}  // namespace winze
