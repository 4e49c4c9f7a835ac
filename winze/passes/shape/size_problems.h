// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/pass/pass_context.h"
#include "winze/passes/shape/size_literals.h"
#include "winze/shape/meta_propagation.h"

namespace winze {

/// Warns of numbers that may mean a size that is another now, where nothing contradicts them.
void report_numbers(Graph& root, const SizeLiterals& literals, PassContext& context);

/// What keeps the program from the new sizes: each number once, at the call that it stands in, and
/// not what follows from it.
/// \throws Error of all problems, where there are any.
void throw_what_stands_in_the_way(Graph& root, const std::vector<PropagationProblem>& problems,
                                  SizeLiterals& literals);

}  // namespace winze
