// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/targets.h"

#include <filesystem>
#include <map>

#include "tools/winze/command.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

namespace fs = std::filesystem;

bool names_folder(const std::string& output) {
  std::error_code ignored;
  return output.ends_with('/') || fs::is_directory(output, ignored);
}

std::string path_in_folder(const std::string& folder, const std::string& input) {
  if (input == "-") {
    throw UsageError("standard input has no file name to keep in a folder",
                     "name the output file: -o FILE.pt2");
  }
  fs::path name = fs::path(input).filename();
  if (name.extension() != ".wz") name.replace_extension(".pt2");
  return (fs::path(folder) / name).string();
}

}  // namespace

bool is_text_output(std::string_view output) {
  return output == "-" || output.ends_with(".wz");
}

std::vector<Target> make_targets(const std::vector<std::string>& inputs,
                                 const std::string& output) {
  if (inputs.size() == 1 && !names_folder(output)) return {{inputs.front(), output}};
  if (!names_folder(output)) {
    throw UsageError(
        fmt::format("{} inputs cannot go to one file {}", inputs.size(), quote(output)),
        "name a folder for them: -o FOLDER/");
  }
  std::vector<Target> targets;
  std::map<std::string, std::string> input_of;
  for (const std::string& input : inputs) {
    std::string path = path_in_folder(output, input);
    const auto [other, is_new] = input_of.emplace(path, input);
    if (!is_new) {
      throw UsageError(fmt::format("{} and {} would both become {}", quote(other->second),
                                   quote(input), quote(path)),
                       "lower them into different folders");
    }
    targets.push_back({input, std::move(path)});
  }
  return targets;
}

void make_target_folder(const std::string& output) {
  if (!output.ends_with('/')) return;
  std::error_code error;
  fs::create_directories(output, error);
  if (error && !fs::is_directory(output)) {
    fail("cannot make the folder {}: {}", quote(output), error.message());
  }
}

}  // namespace winze
