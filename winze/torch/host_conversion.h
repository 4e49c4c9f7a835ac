// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

#include "winze/torch/compare.h"
#include "winze/torch/executor.h"
#include "winze/torch/host_value.h"

namespace winze {

/// A value for a run. Tensors get storage of their own, with the same strides, so that a run may
/// write to them. \throws Error for a dtype that libtorch lacks.
[[nodiscard]] c10::IValue to_ivalue(const HostValue& value);
/// The values of a call. Tensors that share storage share it here.
[[nodiscard]] std::vector<c10::IValue> to_ivalues(const std::vector<HostValue>& values);

/// Gives inputs that the program may write to, and that share storage with other inputs, storage of
/// their own: torch.export takes such inputs not to share any, and so do the passes. Returns a
/// sentence that says so, or nothing where there are none.
[[nodiscard]] std::string separate_written_inputs(const Executor& executor,
                                                  std::vector<HostValue>& inputs);

/// A value that a run gave. Tensors in host memory share their storage with the result; others are
/// copied to it, sparse ones made dense.
[[nodiscard]] HostValue to_host(const c10::IValue& value);

/// What a run left behind, ready for `compare`: outputs, then those inputs and buffers that the
/// program may write to. Depths are left at 1.
[[nodiscard]] RunValues to_run_values(const Executor& executor, const ExecutorResult& result);

}  // namespace winze
