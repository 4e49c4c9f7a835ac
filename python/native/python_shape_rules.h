// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "winze/ir/context.h"

namespace winze {

/// Gives an operator of the context a shape rule that is a function in Python. It is called with a
/// list of the arguments in schema position, a list of the names of those that are given by
/// keyword, and the ranges of the symbols among them, and returns a list of results: what it was
/// asked for these metas is not asked again. `winze/torch/_shape_rules.py` has the other side, and
/// says how tensors and numbers are handed over.
/// \throws Error where the context has no such operator.
void add_python_shape_rule(Context& context, const std::string& op, nanobind::object function);

}  // namespace winze
