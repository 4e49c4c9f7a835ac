// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace winze {

/// The pieces of one line of a table: `schema [tag, tag]`.
struct TableLine {
  std::string_view schema;  ///< without the tags
  std::string_view tags;    ///< what stands between the brackets; empty without them

  /// `aten::add.Tensor`
  [[nodiscard]] std::string_view name() const { return schema.substr(0, schema.find('(')); }
};

/// Splits a line of a table. Schemas have no ` [` behind their arrow, so what follows one there are
/// the tags.
[[nodiscard]] inline TableLine split_table_line(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
    line.remove_suffix(1);
  std::size_t open = line.rfind(" [");
  if (open == std::string_view::npos || !line.ends_with(']') || line.rfind("->") > open ||
      line.rfind("->") == std::string_view::npos) {
    return {line, {}};
  }
  return {line.substr(0, open), line.substr(open + 2, line.size() - open - 3)};
}

/// Does a list of tags (`core, pointwise`) hold that one?
[[nodiscard]] inline bool has_tag(std::string_view tags, std::string_view wanted) {
  while (!tags.empty()) {
    std::size_t comma = tags.find(',');
    std::string_view tag = tags.substr(0, comma);
    while (tag.starts_with(' ')) tag.remove_prefix(1);
    while (tag.ends_with(' ')) tag.remove_suffix(1);
    if (tag == wanted) return true;
    if (comma == std::string_view::npos) break;
    tags.remove_prefix(comma + 1);
  }
  return false;
}

/// Tags of callables outside the dispatcher: their names have no overload.
inline constexpr std::string_view tags_without_overload[] = {"higher_order", "symbolic",
                                                             "function"};

/// `aten.add.Tensor` from `aten::add.Tensor`: the default overload is spelled out, except for what
/// has none.
[[nodiscard]] inline std::string make_qualified_name(const TableLine& line) {
  std::string_view name = line.name();
  std::size_t colons = name.find("::");
  std::string out(name.substr(0, colons));
  if (colons == std::string_view::npos) return out;
  std::string_view rest = name.substr(colons + 2);
  out += '.';
  out += rest;
  for (std::string_view tag : tags_without_overload) {
    if (has_tag(line.tags, tag)) return out;
  }
  if (rest.find('.') == std::string_view::npos) out += ".default";
  return out;
}

}  // namespace winze
