// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace winze {

/// Lays out `--help`: what the command does, usage, arguments, options in groups, examples.
class HelpFormatter : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_option_name(const CLI::Option* option,
                                             bool is_positional) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
};

/// Accepts these words; the error lists them.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
/// Accepts the name of a file: what is not empty.
[[nodiscard]] CLI::Validator file_name();
/// Accepts whole numbers in a range.
[[nodiscard]] CLI::Validator whole_number(long long least, long long most);
/// Accepts finite numbers from 0 on.
[[nodiscard]] CLI::Validator number_from_zero();

}  // namespace winze
