// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_printer.h"

#include <algorithm>
#include <cstdio>

#include "winze/pass/line_diff.h"
#include "winze/program/program_text.h"

namespace winze {
namespace {

bool asks_for(const std::vector<std::string>& names, const PassInfo& info) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == "all" || name == info.name; });
}

}  // namespace

void PassPrinter::show(std::string_view when, const PipelineEntry& entry, std::size_t index,
                       std::string_view text) const {
  const std::string shown =
      fmt::format("// ----- {} {} (at {}) -----\n{}", when, entry.str(), index, text);
  if (options_.print) {
    options_.print(shown);
  } else {
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  }
}

void PassPrinter::before(const PipelineEntry& entry, std::size_t index) {
  const bool asked = asks_for(options_.print_before, *entry.info);
  if (!asked && options_.print_on_change != PrintChange::diff) return;
  text_before_ = print_program(program_, {.sources = TextSources::none});
  if (asked) show("before", entry, index, text_before_);
}

void PassPrinter::after(const PipelineEntry& entry, std::size_t index, bool changed) {
  const bool asked = asks_for(options_.print_after, *entry.info);
  const bool on_change = changed && options_.print_on_change != PrintChange::none;
  if (!asked && !on_change) return;
  const std::string text = print_program(program_, {.sources = TextSources::none});
  if (asked || options_.print_on_change == PrintChange::full) {
    show("after", entry, index, text);
  }
  if (on_change && options_.print_on_change == PrintChange::diff)
    show("changed by", entry, index, line_diff(text_before_, text));
}

void PassPrinter::on_failure(const PipelineEntry& entry, std::size_t index) {
  if (options_.print_on_failure)
    show("left by failing", entry, index, print_program(program_, {.sources = TextSources::none}));
}

}  // namespace winze
