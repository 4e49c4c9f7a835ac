// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "winze/support/byte_sink.h"
#include "winze/torch/host_value.h"

namespace winze {

/// What one run was given and left behind, for a file.
struct RecordedCall {
  std::vector<std::pair<std::string, HostValue>> inputs;  ///< by name, as they were before
  std::vector<std::pair<std::string, HostValue>> outputs;
  std::vector<std::pair<std::size_t, HostValue>> inputs_after;  ///< those that may be written
  std::vector<std::pair<std::string, HostValue>> buffers_after;
};

/// Writes calls as an archive that numpy.load and `read_input_file` read: `.npy` members
/// `case0/out/0.npy`, `case0/in/0.npy`, `case0/in_after/0.npy`, `case0/buffers_after/NAME.npy`, and
/// `manifest.json`, which lists them with names, dtypes, shapes and strides, and holds what is no
/// tensor. Tensors are stored contiguous; bfloat16 and float8 as integers of the same width. A
/// storage that several inputs share is stored besides, as bytes (`case0/storage/0.npy`), and each
/// of them says where in it its elements are (`storage`, `storage_offset`).
void write_calls(const std::vector<RecordedCall>& calls, ByteSink& sink);

/// A tensor as a `.npy` file (numpy/lib/format.py, version 1).
[[nodiscard]] std::string npy_file(const HostTensor& tensor);

}  // namespace winze
