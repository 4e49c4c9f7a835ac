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

/// The file that a path means after symbolic links, which need not exist.
fs::path final_path(const std::string& path) {
  constexpr int max_links = 40;  // what Linux follows
  std::error_code ignored;
  fs::path at = fs::absolute(path, ignored);
  for (int i = 0; i < max_links && fs::is_symlink(at, ignored); ++i) {
    at = at.parent_path() / fs::read_symlink(at, ignored);
  }
  fs::path canonical = fs::weakly_canonical(at, ignored);
  return canonical.empty() ? at.lexically_normal() : canonical;
}

/// Tells whether other paths mean the same file as one.
class SameFile {
 public:
  explicit SameFile(const std::string& path) : path_(path), final_path_(final_path(path)) {}

  bool operator()(const std::string& other) const {
    std::error_code ignored;
    // Of devices and pipes nothing is destroyed.
    const fs::file_status status = fs::status(other, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) return false;
    return fs::equivalent(path_, other, ignored) || final_path_ == final_path(other);
  }

 private:
  std::string path_;
  fs::path final_path_;
};

}  // namespace

bool is_text_output(std::string_view output) {
  return output == "-" || output.ends_with(".wz");
}

std::vector<Target> make_targets(const std::vector<std::string>& inputs,
                                 const std::string& output) {
  if (inputs.size() == 1 && !names_folder(output)) return {{inputs.front(), output}};
  if (!names_folder(output)) {
    throw UsageError(fmt::format("{} inputs, {} and {}, cannot go to one file {}", inputs.size(),
                                 inputs.size() == 2 ? quote(inputs[0]) : quote(inputs[0]) + ", ...",
                                 quote(inputs.back()), quote(output)),
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

void require_own_file(std::string_view option, const std::string& path,
                      const std::vector<Target>& targets, const std::vector<std::string>& others) {
  if (path.empty()) return;
  const std::string hint = fmt::format("name a file of its own: {} FILE", option);
  const auto refuse = [&](std::string_view use) {
    throw UsageError(fmt::format("{} {} {}", option, quote(path), use), hint);
  };
  if (path == "-") {
    for (const Target& target : targets) {
      if (target.output == "-") refuse("is where the program goes");
    }
    return;
  }
  const SameFile is_same(path);
  for (const Target& target : targets) {
    if (target.input != "-" && is_same(target.input)) refuse("is one of the programs");
    if (target.output != "-" && is_same(target.output)) refuse("is where the program goes");
  }
  for (const std::string& other : others) {
    if (!other.empty() && is_same(other)) refuse("has another use on the command line");
  }
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
