// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/help.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/support/quote.h"

namespace winze {

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return Formatter::make_help(app, std::move(name), mode);
  const std::string help = fmt::format(
      "{}\n{}{}{}{}\n{}", make_description(app), make_usage(app, std::move(name)),
      make_positionals(app), make_groups(app, mode), make_subcommands(app, mode), make_footer(app));
  return CLI::detail::find_and_replace(help, "\n\n\n", "\n\n");
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string name = Formatter::make_option_name(option, is_positional);
  return name.substr(0, name.find('{'));  // of a flag: the value that it has by itself
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string& text = option->get_option_text();
  if (text.starts_with('[')) return text;
  return text.empty() ? text : ' ' + text;
}

CLI::Validator one_of(std::vector<std::string> words) {
  return {[words = std::move(words)](const std::string& value) {
            if (std::ranges::find(words, value) != words.end()) return std::string();
            return fmt::format("{} is not one of {}", quote(value), fmt::join(words, ", "));
          },
          ""};
}

CLI::Validator file_name() {
  return {[](const std::string& value) {
            return value.empty() ? std::string("the name is empty") : std::string();
          },
          ""};
}

CLI::Validator whole_number(long long least, long long most) {
  return {[least, most](const std::string& value) {
            long long number = 0;
            const char* end = value.data() + value.size();
            const auto [rest, error] = std::from_chars(value.data(), end, number);
            if (error == std::errc() && rest == end && least <= number && number <= most) {
              return std::string();
            }
            return fmt::format("{} is no whole number from {} to {}", quote(value), least, most);
          },
          ""};
}

CLI::Validator number_from_zero() {
  return {[](const std::string& value) {
            double number = 0;
            const char* end = value.data() + value.size();
            const auto [rest, error] = std::from_chars(value.data(), end, number);
            if (error == std::errc() && rest == end && std::isfinite(number) && number >= 0)
              return std::string();
            return fmt::format("{} is no number from 0 on", quote(value));
          },
          ""};
}

}  // namespace winze
