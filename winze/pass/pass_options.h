// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "winze/support/diagnostic.h"

namespace winze {

enum class OptionType : std::uint8_t { boolean, integer, floating, string, choice, strings };

/// The value of an option as a pipeline spells it: one word, or a list of words in brackets.
struct OptionText {
  bool is_list = false;
  std::vector<std::string> items;
};

/// One option of a pass, made by `option`.
struct Option {
  std::string_view name;
  OptionType type = OptionType::boolean;
  std::string_view help;
  std::vector<std::string_view> choices;              ///< the values a `choice` may have
  std::function<void(void*, const OptionText&)> set;  ///< throws Error where the text does not fit
  std::function<std::string(const void*)> get;        ///< the text form
};

/// The options of a pass, described once: parsing, printing, help and the reference page follow
/// from this. Made from a plain struct whose initializers are the defaults.
class OptionTable {
 public:
  template <typename Struct>
  static OptionTable describe(std::vector<Option> options) {
    OptionTable table;
    table.options_ = std::move(options);
    table.type_ = &typeid(Struct);
    table.create_ = [](const void* source) -> std::shared_ptr<void> {
      return source == nullptr ? std::make_shared<Struct>()
                               : std::make_shared<Struct>(*static_cast<const Struct*>(source));
    };
    return table;
  }

  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// The option of that name, or null.
  [[nodiscard]] const Option* find(std::string_view name) const;
  /// Text of the default of an option.
  [[nodiscard]] std::string default_text(const Option& option) const;
  [[nodiscard]] const std::type_info& type() const { return *type_; }

 private:
  OptionTable() = default;
  std::vector<Option> options_;
  const std::type_info* type_ = nullptr;
  std::function<std::shared_ptr<void>(const void*)> create_;
  friend class PassOptions;
};

/// The values of a pass's options in one place of a pipeline. Copies share until one is changed.
class PassOptions {
 public:
  /// Of a pass that takes none.
  PassOptions() = default;
  /// The defaults of a table, which must outlive this.
  explicit PassOptions(const OptionTable& table);

  /// Sets one option. \throws Error that names the nearest option, or what the value should be.
  void set(std::string_view name, const OptionText& text);
  void set(std::string_view name, std::string_view text) {
    set(name, OptionText{.items = {std::string(text)}});
  }

  /// The struct of options. InternalError where the pass has another.
  template <typename Struct>
  [[nodiscard]] const Struct& get() const {
    WINZE_CHECK(table_ != nullptr && table_->type() == typeid(Struct),
                "a pass asks for options of a type other than the one it declared");
    return *static_cast<const Struct*>(data_.get());
  }
  /// Sets the whole struct.
  template <typename Struct>
  void assign(Struct value) {
    WINZE_CHECK(table_ != nullptr && table_->type() == typeid(Struct),
                "options of a type other than the one the pass declared");
    data_ = std::make_shared<Struct>(std::move(value));
  }

  /// `{name=value, flag}` with the options that differ from their default; empty where none does.
  [[nodiscard]] std::string str() const;
  bool operator==(const PassOptions& other) const;

 private:
  const OptionTable* table_ = nullptr;
  std::shared_ptr<void> data_;
};

namespace detail {
/// Whether a text can stand in a pipeline without quotes.
[[nodiscard]] bool is_option_word(std::string_view text);
[[nodiscard]] std::string option_text(bool value);
[[nodiscard]] std::string option_text(std::int64_t value);
[[nodiscard]] std::string option_text(double value);
/// Quoted where the text is no plain word.
[[nodiscard]] std::string option_text(const std::string& value);
[[nodiscard]] std::string option_text(const std::vector<std::string>& value);
void read_option(bool& value, const OptionText& text);
void read_option(std::int64_t& value, const OptionText& text);
void read_option(double& value, const OptionText& text);
void read_option(std::string& value, const OptionText& text);
void read_option(std::vector<std::string>& value, const OptionText& text);
/// Index of the choice the text names. \throws Error that lists the choices.
[[nodiscard]] std::size_t read_choice(const std::vector<std::string_view>& choices,
                                      const OptionText& text);

template <typename Member>
constexpr OptionType option_type() {
  if constexpr (std::is_same_v<Member, bool>) return OptionType::boolean;
  if constexpr (std::is_same_v<Member, std::int64_t>) return OptionType::integer;
  if constexpr (std::is_same_v<Member, double>) return OptionType::floating;
  if constexpr (std::is_same_v<Member, std::string>) return OptionType::string;
  return OptionType::strings;
}
}  // namespace detail

/// An option kept in a member of the struct: bool, int64_t, double, string or a list of strings.
template <typename Struct, typename Member>
Option option(std::string_view name, Member Struct::* member, std::string_view help) {
  return {.name = name,
          .type = detail::option_type<Member>(),
          .help = help,
          .choices = {},
          .set =
              [member](void* data, const OptionText& text) {
                detail::read_option(static_cast<Struct*>(data)->*member, text);
              },
          .get =
              [member](const void* data) {
                return detail::option_text(static_cast<const Struct*>(data)->*member);
              }};
}

/// An option that takes one of a few words, kept as an enumeration.
template <typename Struct, typename Enum>
Option option(std::string_view name, Enum Struct::* member, std::string_view help,
              std::vector<std::pair<std::string_view, Enum>> values) {
  std::vector<std::string_view> words;
  std::vector<Enum> meanings;
  for (const auto& [word, meaning] : values) {
    words.push_back(word);
    meanings.push_back(meaning);
  }
  Option result{.name = name,
                .type = OptionType::choice,
                .help = help,
                .choices = words,
                .set = {},
                .get = {}};
  result.set = [member, words, meanings](void* data, const OptionText& text) {
    static_cast<Struct*>(data)->*member = meanings[detail::read_choice(words, text)];
  };
  result.get = [member, words, meanings](const void* data) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (meanings[i] == static_cast<const Struct*>(data)->*member) return std::string(words[i]);
    }
    return std::string();
  };
  return result;
}

}  // namespace winze
