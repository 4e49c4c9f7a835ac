// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/torch/code.h"

namespace winze {

/// The functions of vmap that export leaves in a graph (torch._functorch.predispatch): they enter a
/// level of batching, mark a dimension as its batch, and take both back.
void vmap_increment_nesting(Machine& machine, const Instruction& instruction, Stack& stack);
void vmap_decrement_nesting(Machine& machine, const Instruction& instruction, Stack& stack);
void add_batch_dim(Machine& machine, const Instruction& instruction, Stack& stack);
void remove_batch_dim(Machine& machine, const Instruction& instruction, Stack& stack);

/// How many levels are entered, and leaving those above a number: after a run that failed.
[[nodiscard]] std::size_t vmap_depth();
void leave_vmap_levels(std::size_t depth);

}  // namespace winze
