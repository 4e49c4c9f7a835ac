// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "winze/pass/pass_options.h"
#include "winze/pass/pass_registry.h"
#include "winze/schema/op_registry.h"

namespace winze {
namespace {

std::string type_text(const Option& option, std::string_view quote) {
  switch (option.type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "integer";
    case OptionType::floating:
      return "number";
    case OptionType::string:
      return "text";
    case OptionType::strings:
      return "list of words";
    case OptionType::choice:
      break;
  }
  std::string text;
  for (std::string_view choice : option.choices)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " or ", quote, choice, quote);
  return text;
}

std::string joined(const PassNames& names, std::string_view quote) {
  std::string text;
  for (std::string_view name : names)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", quote, name, quote);
  return text;
}

std::string joined(const OpList& list, const OpRegistry& ops, std::string_view quote) {
  std::string text;
  for (OpId id : list)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", quote, ops.qualified_name(id), quote);
  return text;
}

std::string reason_of(const PassInfo& info) {
  return info.order_reason.empty() ? "" : fmt::format(": {}", info.order_reason);
}

/// The words of a text in lines of at most `width` characters.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t width) {
  std::string lines;
  std::string line(indent);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (line.size() > indent.size() && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    at = end + 1;
  }
  return lines + line + "\n";
}

void append_options_table(std::string& page, const PassInfo& info) {
  if (info.options == nullptr) return;
  const OptionTable& table = info.options();
  page += "\n| option | values | default | meaning |\n|---|---|---|---|\n";
  for (const Option& option : table.options()) {
    page += fmt::format("| `{}` | {} | `{}` | {} |\n", option.name, type_text(option, "`"),
                        table.default_text(option), option.help);
  }
}

void append_facts(std::string& page, const PassInfo& info, const OpRegistry& ops) {
  std::string facts;
  if (!info.triggers.empty())
    facts += fmt::format("- Looks for {}; without any it is not run.\n",
                         joined(info.triggers, ops, "`"));
  if (!info.leaves_none_of.empty())
    facts += fmt::format("- Leaves no {}.\n", joined(info.leaves_none_of, ops, "`"));
  if (info.changes_output_aliasing)
    facts += "- Makes outputs stop sharing storage by intention: `--check` allows it.\n";
  if (info.edits_stand_together)
    facts += "- Its edits stand together: `--stop-after-edits` takes all of them or none.\n";
  if (!info.after.empty())
    facts += fmt::format("- Stands after {}{}.\n", joined(info.after, "`"), reason_of(info));
  if (!info.needs.empty())
    facts += fmt::format("- Needs {} before it{}.\n", joined(info.needs, "`"), reason_of(info));
  if (!facts.empty()) page += "\n" + facts;
}

void append_pass(std::string& page, const PassInfo& info, const OpRegistry& ops) {
  page += fmt::format("\n### `{}`\n\n{}\n", info.name, info.summary);
  if (!info.description.empty()) page += fmt::format("\n{}", wrapped(info.description, "", 120));
  append_options_table(page, info);
  append_facts(page, info, ops);
  if (info.example_before.empty()) return;
  page += fmt::format("\nBefore:\n```\n{}\n```\nAfter:\n```\n{}\n```\n", info.example_before,
                      info.example_after);
}

/// The headings in order of their first pass.
std::vector<std::string_view> groups_of(const PassRegistry& registry) {
  std::vector<std::string_view> groups;
  for (const PassInfo* info : registry.passes()) {
    if (std::find(groups.begin(), groups.end(), info->group) == groups.end())
      groups.push_back(info->group);
  }
  return groups;
}

}  // namespace

std::string markdown_reference(const PassRegistry& registry) {
  const OpRegistry ops;
  std::string page = "<!-- Written by `winze passes --markdown`. -->\n# Passes\n";
  if (!registry.pipelines().empty()) {
    page += "\n## Named pipelines\n\n| name | what it is for | passes |\n|---|---|---|\n";
    for (const NamedPipeline& pipeline : registry.pipelines())
      page += fmt::format("| `{}` | {} | `{}` |\n", pipeline.name, pipeline.summary, pipeline.text);
  }
  for (std::string_view group : groups_of(registry)) {
    page += fmt::format("\n## {}\n", group.empty() ? "Passes without a group" : group);
    for (const PassInfo* info : registry.passes()) {
      if (info->group == group) append_pass(page, *info, ops);
    }
  }
  return page;
}

std::string text_reference(const PassRegistry& registry) {
  const OpRegistry ops;
  std::string text;
  for (const PassInfo* info : registry.passes()) {
    text += fmt::format("{}\n{}", info->name, wrapped(info->summary, "  ", 100));
    if (info->options != nullptr) {
      text += "  options:\n";
      for (const Option& option : info->options().options()) {
        text += fmt::format("    {:<24} {} ({})\n",
                            fmt::format("{}={}", option.name, info->options().default_text(option)),
                            option.help, type_text(option, ""));
      }
    }
    if (!info->triggers.empty())
      text += wrapped("looks for: " + joined(info->triggers, ops, ""), "  ", 100);
    if (info->changes_output_aliasing) text += "  makes outputs stop sharing storage\n";
    if (info->edits_stand_together) text += "  its edits stand together\n";
    if (!info->needs.empty())
      text += fmt::format("  needs before it: {}\n", joined(info->needs, ""));
    if (!info->after.empty()) text += fmt::format("  stands after: {}\n", joined(info->after, ""));
    text += '\n';
  }
  for (const NamedPipeline& pipeline : registry.pipelines()) {
    text += fmt::format("{} = {}\n{}\n", pipeline.name, pipeline.text,
                        wrapped(pipeline.summary, "  ", 100));
  }
  return text;
}

}  // namespace winze
