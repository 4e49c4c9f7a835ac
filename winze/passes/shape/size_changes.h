// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "winze/program/program.h"

namespace winze {

/// New sizes for a program.
struct SizeChanges {
  SymMap replacements;                            ///< symbols that become numbers or other symbols
  std::vector<std::pair<SymExpr, Range>> ranges;  ///< of symbols that are new or get another range
  std::vector<std::pair<Node, MetaId>> inputs;    ///< user inputs and their new metas
  std::vector<std::string> warnings;
};

/// The range of a symbol that a size becomes: PyTorch's for a dynamic dimension, since 0 and 1 are
/// special to broadcasting (torch.fx.experimental.symbolic_shapes, specialize_zero_one).
inline constexpr Range new_size_range{2, Range::infinity};

/// Reads what a user asks for. `symbols` are `s0=7` and `s0=[2, 64]`; `inputs` are
/// `x=f32[s0, 128]`, in which a symbol that the program does not have makes a size dynamic, and a
/// number makes it static. A dynamic size that is given another one changes wherever its symbol
/// stands. Strides and device of an input stay unless they are given.
/// \throws Error where a name is not known, a type cannot be read, or two wishes contradict.
[[nodiscard]] SizeChanges read_size_changes(const ExportedProgram& program,
                                            std::span<const std::string> symbols,
                                            std::span<const std::string> inputs);

}  // namespace winze
