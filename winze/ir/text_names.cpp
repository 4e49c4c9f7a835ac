// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_names.h"

#include <charconv>

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/ir/graph_checker.h"
#include "winze/ir/text_lexer.h"

namespace winze {

void append_value_name(std::string& out, std::string_view name) {
  out += '%';
  append_text_name(out, name);
}

ValueNames::ValueNames(const Graph& graph)
    : context_(&graph.context()), names_(graph.value_capacity()) {
  // Interned names are dense small integers: a bit each tells whether one was seen.
  std::vector<bool> seen;
  std::vector<ValueId> duplicates;
  std::uint32_t unnamed = 0;
  for (const Node node : graph.nodes()) {
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      const ValueId value = node.value(index).id();
      const StringId id = GraphChecker::name_of(graph, value);
      if (!id.valid() || context_->text(id).empty()) {
        if (numbers_.empty()) numbers_.resize(graph.value_capacity());
        numbers_[value.index] = unnamed++;
        continue;
      }
      if (id.index >= seen.size()) seen.resize(id.index + id.index / 2 + 64);
      if (seen[id.index]) {
        duplicates.push_back(value);
      } else {
        seen[id.index] = true;
      }
      names_[value.index] = id;
    }
  }
  if (!duplicates.empty()) rename_duplicates(duplicates, graph);
}

void ValueNames::rename_duplicates(const std::vector<ValueId>& duplicates, const Graph& graph) {
  Context& context = graph.context();
  tsl::robin_set<std::uint32_t> taken;
  for (const StringId name : names_) {
    if (name.valid()) taken.insert(name.index);
  }
  tsl::robin_map<std::uint32_t, std::uint32_t> next_suffix;
  for (const ValueId value : duplicates) {
    const StringId given = names_[value.index];
    std::uint32_t& suffix = next_suffix[given.index];
    StringId renamed;
    do {
      renamed = context.string(fmt::format("{}_{}", context.text(given), ++suffix));
    } while (!taken.insert(renamed.index).second);
    names_[value.index] = renamed;
  }
}

void ValueNames::append(std::string& out, ValueId value) const {
  const StringId name = names_[value.index];
  if (name.valid()) {
    append_value_name(out, context_->text(name));
    return;
  }
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, numbers_[value.index]);
  out += '%';
  out.append(digits, end);
}

}  // namespace winze
