// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"

namespace winze {

/// Whether strides or storage offset of a tensor are seen by one of its uses or by a use of a view
/// of it: by a call that fails or computes something else with other strides (`view`,
/// `as_strided`, `sym_stride`), by an operator outside of PyTorch's own, by a nested graph, or by
/// whoever gets it as a result. What a program's inputs look like at run time is not what they
/// looked like in the example: neither export's guards nor the loaded module check strides.
/// O(uses of the value and its views).
[[nodiscard]] bool layout_is_seen(Value value);

/// Whether both values have a use that makes an unbacked symbol, or a number, of their content
/// (`nonzero`, `item`). PyTorch's fake tensors remember the symbol by tensor: once the two values
/// are one, both calls would have to yield the same symbol, as they do not in the program.
/// O(uses).
[[nodiscard]] bool both_give_symbols(Value a, Value b);

}  // namespace winze
