// SPDX-License-Identifier: Apache-2.0
#include "winze/program/module_stacks.h"

#include <algorithm>

#include "winze/ir/context.h"

namespace winze {
namespace {

constexpr std::string_view stack_key = "nn_module_stack";
/// What export writes of nodes, symbolic ones for the most part, that it made between the calls of
/// modules (torch/_export/passes/_node_metadata_hook.py): they go with the nodes before them.
constexpr std::string_view nowhere = "_empty_nn_module_stack_from_metadata_hook,";

/// The parts of `key,path,type` of one call: at commas outside of brackets, as
/// torch/_export/serde/serialize.py splits them.
std::vector<std::string_view> split_call(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (text[at] != ',' || depth != 0) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// What stands behind the last `@` of a key: how many calls of the module came before.
std::string_view calls_before(std::string_view key) {
  const std::size_t at = key.rfind('@');
  return at == std::string_view::npos ? "0" : key.substr(at + 1);
}

StringId stack_of(Node node) {
  if (!node.source().valid()) return {};
  const Context& context = node.graph().context();
  for (const SourceInfo::Entry& entry : context.source_info(node.source()).entries) {
    if (context.text(entry.key) != stack_key) continue;
    const std::string_view text = context.text(entry.value);
    const bool is_nowhere = text.starts_with(nowhere) && text.find(';') == std::string_view::npos;
    return is_nowhere ? StringId() : entry.value;
  }
  return {};
}

}  // namespace

std::string_view module_stack_text(Node node) {
  const StringId text = stack_of(node);
  return text.valid() ? node.graph().context().text(text) : std::string_view();
}

std::string_view common_module_stack(std::string_view a, std::string_view b) {
  std::size_t common = 0;
  for (std::size_t at = 0; at <= a.size(); ++at) {
    const bool ends_a = at == a.size() || a[at] == ';';
    const bool ends_b = at >= b.size() || b[at] == ';';
    if (ends_a && ends_b) common = at;
    if (at >= a.size() || at >= b.size() || a[at] != b[at]) break;
  }
  return a.substr(0, common);
}

std::span<const std::uint32_t> ModuleStacks::of(Node node) {
  const StringId text = stack_of(node);
  if (!text.valid()) return {};
  const auto found = stacks_.find(text.index);
  if (found != stacks_.end()) return found->second;
  return stacks_.emplace(text.index, parse(context_.text(text))).first->second;
}

std::vector<std::uint32_t> ModuleStacks::parse(std::string_view text) {
  std::vector<std::uint32_t> stack;
  std::string_view outer;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::vector<std::string_view> parts = split_call(text.substr(begin, end - begin));
    begin = end + 1;
    if (parts.size() != 3) return {};
    const std::string_view path = parts[1];
    if (!stack.empty()) {
      const std::string_view inner = path.substr(0, path.find('@'));
      if (inner.size() <= outer.size() || !inner.starts_with(outer)) break;
      outer = inner;
    } else {
      outer = path.substr(0, path.find('@'));
    }
    const std::string calls(calls_before(parts[0]));
    const std::string type(path.empty() ? std::string_view() : parts[2]);
    const auto [known, is_new] = ids_.try_emplace({std::string(path), type, calls},
                                                  static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
      ModuleFrame& frame = frames_.emplace_back();
      frame.fqn = path;
      frame.call = calls == "0" ? frame.fqn : frame.fqn + '@' + calls;
    }
    stack.push_back(known->second);
  }
  return stack;
}

}  // namespace winze
