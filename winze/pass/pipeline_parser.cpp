// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "winze/pass/pipeline.h"
#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// A named pipeline may use others; so deep at most, which also ends a definition that uses itself.
constexpr int max_depth = 16;

/// Reads the text of a pipeline from left to right; errors point at the offending column.
class PipelineParser {
 public:
  PipelineParser(std::string_view text, const PassRegistry& registry, int depth)
      : text_(text), registry_(registry), depth_(depth) {}

  std::vector<PipelineEntry> parse() {
    std::vector<PipelineEntry> entries;
    skip_spaces();
    if (at_end()) return entries;
    while (true) {
      parse_entry(entries);
      if (at_end()) return entries;
      expect(',', "a comma between two passes");
      skip_spaces();
    }
  }

 private:
  void parse_entry(std::vector<PipelineEntry>& entries) {
    const std::size_t start = position_;
    const std::string_view name = word("the name of a pass");
    if (const NamedPipeline* named = registry_.find_pipeline(name)) {
      if (peek() == '{') error(position_, "a named pipeline takes no options");
      append_named(*named, start, entries);
      return;
    }
    const PassInfo* info = registry_.find(name);
    if (info == nullptr) {
      error(start, fmt::format("there is no pass named {}", quote(name)),
            registry_.suggestion(name));
    }
    PipelineEntry entry = pipeline_entry(*info);
    if (peek() == '{') parse_options(entry);
    entries.push_back(std::move(entry));
  }

  void append_named(const NamedPipeline& named, std::size_t start,
                    std::vector<PipelineEntry>& entries) {
    if (depth_ >= max_depth) {
      error(start, fmt::format("pipeline {} uses itself, or is nested too deep", named.name));
    }
    for (PipelineEntry& entry : PipelineParser(named.text, registry_, depth_ + 1).parse()) {
      entries.push_back(std::move(entry));
    }
  }

  void parse_options(PipelineEntry& entry) {
    expect('{', "options");
    skip_spaces();
    std::set<std::string_view> given;
    while (peek() != '}') {
      const std::size_t start = position_;
      const std::string_view name = word("the name of an option");
      if (!given.insert(name).second) {
        error(start, fmt::format("pass {}: option {} is given twice", entry.info->name, name));
      }
      OptionText value{.items = {"true"}};
      if (peek() == '=') {
        expect('=', "a value");
        skip_spaces();
        value = parse_value();
      }
      try {
        entry.options.set(name, value);
      } catch (const Error& cause) {
        error(start, fmt::format("pass {}: {}", entry.info->name, cause.diagnostic().message),
              cause.diagnostic().hint);
      }
      if (peek() == '}') break;
      expect(',', "a comma between two options, or a closing brace");
      skip_spaces();
    }
    expect('}', "a closing brace");
    skip_spaces();
  }

  OptionText parse_value() {
    OptionText value;
    if (peek() != '[') {
      value.items.push_back(parse_item());
      return value;
    }
    value.is_list = true;
    expect('[', "a list");
    skip_spaces();
    while (peek() != ']') {
      value.items.push_back(parse_item());
      if (peek() == ']') break;
      expect(',', "a comma between two values, or a closing bracket");
      skip_spaces();
    }
    expect(']', "a closing bracket");
    skip_spaces();
    return value;
  }

  std::string parse_item() {
    if (peek() != '"') return std::string(word("a value"));
    const std::size_t size = quoted_size(text_.substr(position_));
    if (size == 0) error(position_, "this string does not end");
    std::string item;
    if (auto wrong = unquote(text_.substr(position_, size), item)) {
      error(position_ + wrong->offset, wrong->message);
    }
    position_ += size;
    skip_spaces();
    return item;
  }

  std::string_view word(std::string_view expected) {
    const std::size_t start = position_;
    while (!at_end() && detail::is_option_word(text_.substr(position_, 1))) ++position_;
    if (position_ == start) error(start, found_instead_of(expected));
    const std::string_view result = text_.substr(start, position_ - start);
    skip_spaces();
    return result;
  }

  void expect(char c, std::string_view expected) {
    if (peek() != c || at_end()) error(position_, found_instead_of(expected));
    ++position_;
  }

  [[nodiscard]] std::string found_instead_of(std::string_view expected) const {
    if (at_end()) return fmt::format("the pipeline ends where {} is expected", expected);
    return fmt::format("{} stands where {} is expected", quote(text_.substr(position_, 1)),
                       expected);
  }

  [[noreturn]] void error(std::size_t at, std::string message, std::string hint = {}) const {
    std::string line(text_);
    for (char& c : line) {
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    }
    throw Error(Diagnostic{.message = std::move(message),
                           .where = {.file = "pipeline",
                                     .line = 1,
                                     .column = static_cast<int>(at) + 1,
                                     .source_text = std::move(line)},
                           .hint = std::move(hint)});
  }

  void skip_spaces() {
    while (!at_end() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[position_]; }

  std::string_view text_;
  const PassRegistry& registry_;
  int depth_;
  std::size_t position_ = 0;
};

}  // namespace

Pipeline Pipeline::parse(std::string_view text, const PassRegistry& registry) {
  Pipeline pipeline;
  pipeline.replace(PipelineParser(text, registry, 0).parse());
  return pipeline;
}

}  // namespace winze
