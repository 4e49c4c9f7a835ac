// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winze {

/// One program to lower: where it is read from and written to. `-` is standard input or output.
struct Target {
  std::string input;
  std::string output;
  bool operator==(const Target&) const = default;
};

/// Whether what is written there is the text form: `NAME.wz` and `-`.
[[nodiscard]] bool is_text_output(std::string_view output);

/// What goes where. One input goes to the file `output`, or into it where that is a folder or ends
/// in `/`; several go into the folder. In a folder a file keeps its name, and its ending becomes
/// `.pt2` unless it is `.wz`. Throws UsageError where two inputs would have the same name there, or
/// several inputs one file.
[[nodiscard]] std::vector<Target> make_targets(const std::vector<std::string>& inputs,
                                               const std::string& output);

/// Throws UsageError where `path`, a file that `option` has written beside the programs, is also
/// read or written otherwise, under this or another name, and would be destroyed: by a target, or
/// as one of `others`.
void require_own_file(std::string_view option, const std::string& path,
                      const std::vector<Target>& targets, const std::vector<std::string>& others);

/// Makes the folders that the targets go to. Throws Error.
void make_target_folder(const std::string& output);

}  // namespace winze
