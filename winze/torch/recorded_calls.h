// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/support/zip_reader.h"
#include "winze/torch/input_file.h"

namespace winze {

inline constexpr std::string_view recorded_calls_manifest = "manifest.json";

/// The inputs of the calls that an archive with a manifest records (`read_input_file` has the
/// layout). Throws Error with the JSON path where the manifest or a member is malformed.
[[nodiscard]] std::vector<InputCase> read_recorded_calls(const ZipReader& zip);

}  // namespace winze
