// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_options.h"

#include <charconv>
#include <cmath>

#include <fmt/ranges.h>

#include "winze/support/edit_distance.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+./:*").find(c) != std::string_view::npos;
}

const std::string& single(const OptionText& text, std::string_view expected) {
  if (text.is_list) fail("a list was given where {} is expected", expected);
  return text.items.at(0);
}

template <typename Number>
void read_number(Number& value, const OptionText& text, std::string_view expected) {
  const std::string& word = single(text, expected);
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::result_out_of_range) fail("{} is out of range", quote(word));
  if (error != std::errc() || stop != end) fail("{} is not {}", quote(word), expected);
}

}  // namespace

namespace detail {

bool is_option_word(std::string_view text) {
  for (char c : text) {
    if (!is_word_character(c)) return false;
  }
  return !text.empty();
}

std::string option_text(bool value) {
  return value ? "true" : "false";
}
std::string option_text(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string option_text(double value) {
  return fmt::format("{}", value);
}
std::string option_text(const std::string& value) {
  return is_option_word(value) ? value : quote(value);
}
std::string option_text(const std::vector<std::string>& value) {
  std::string text = "[";
  for (std::size_t i = 0; i < value.size(); ++i)
    text += (i == 0 ? "" : ", ") + option_text(value[i]);
  return text + "]";
}

void read_option(bool& value, const OptionText& text) {
  const std::string& word = single(text, "true or false");
  if (word != "true" && word != "false") fail("{} is not true or false", quote(word));
  value = word == "true";
}
void read_option(std::int64_t& value, const OptionText& text) {
  read_number(value, text, "an integer");
}
void read_option(double& value, const OptionText& text) {
  read_number(value, text, "a number");
}
void read_option(std::string& value, const OptionText& text) {
  value = single(text, "one word");
}
void read_option(std::vector<std::string>& value, const OptionText& text) {
  value = text.items;
}

std::size_t read_choice(const std::vector<std::string_view>& choices, const OptionText& text) {
  const std::string& word = single(text, "one word");
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == word) return i;
  }
  throw Error(fmt::format("{} is none of {}", quote(word), fmt::join(choices, ", ")),
              did_you_mean(word, choices));
}

}  // namespace detail

const Option* OptionTable::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string OptionTable::default_text(const Option& option) const {
  return option.get(create_(nullptr).get());
}

PassOptions::PassOptions(const OptionTable& table)
    : table_(&table), data_(table.create_(nullptr)) {}

void PassOptions::set(std::string_view name, const OptionText& text) {
  if (table_ == nullptr) fail("option {} given to a pass that takes none", quote(name));
  const Option* option = table_->find(name);
  if (option == nullptr) {
    std::vector<std::string_view> names;
    for (const Option& known : table_->options()) names.push_back(known.name);
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = fmt::format("the options are {}", fmt::join(names, ", "));
    throw Error(fmt::format("no option {}", quote(name)), hint);
  }
  std::shared_ptr<void> changed = table_->create_(data_.get());
  try {
    option->set(changed.get(), text);
  } catch (const Error& error) {
    throw Error(fmt::format("option {}: {}", name, error.diagnostic().message),
                error.diagnostic().hint);
  }
  data_ = std::move(changed);
}

std::string PassOptions::str() const {
  std::string text;
  if (table_ == nullptr) return text;
  for (const Option& option : table_->options()) {
    const std::string value = option.get(data_.get());
    if (value == table_->default_text(option)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "{" : ", ", option.name, value);
  }
  return text.empty() ? text : text + "}";
}

bool PassOptions::operator==(const PassOptions& other) const {
  return table_ == other.table_ && str() == other.str();
}

}  // namespace winze
