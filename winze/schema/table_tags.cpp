// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/table_tags.h"

#include <vector>

#include <fmt/format.h>

#include "winze/support/edit_distance.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// The words of a list with commas between.
std::vector<std::string_view> split_tags(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.push_back(word);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return words;
}

}  // namespace

Tags parse_tags(std::string_view text) {
  Tags tags;
  for (const std::string_view word : split_tags(text)) {
    if (const std::optional<Tag> tag = find_tag(word)) tags.add(*tag);
  }
  return tags;
}

std::optional<Diagnostic> unknown_tag(std::string_view text) {
  for (const std::string_view word : split_tags(text)) {
    if (find_tag(word)) continue;
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Tag::function); ++i)
      names.push_back(tag_name(static_cast<Tag>(i)));
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("there is no tag {}", quote(word));
    diagnostic.where.column = static_cast<int>(word.data() - text.data()) + 1;
    diagnostic.hint = did_you_mean(word, names);
    if (diagnostic.hint.empty())
      diagnostic.hint = "tags are PyTorch's: core, pointwise, nondeterministic_seeded, ...";
    return diagnostic;
  }
  return std::nullopt;
}

std::string hint_for_tags(std::string_view schema) {
  const std::string_view last = schema.substr(schema.find_last_of(" ,") + 1);
  if (last.find('_') == std::string_view::npos || !find_tag(last)) return {};
  return fmt::format("tags stand in brackets: [{}]", last);
}

}  // namespace winze
