// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_registry.h"

#include "winze/support/diagnostic.h"
#include "winze/support/edit_distance.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

bool is_pass_name(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z' || name.back() == '-') return false;
  for (char c : name) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') return false;
  }
  return true;
}

}  // namespace

void PassRegistry::check_name(std::string_view name, std::string_view what) const {
  if (!is_pass_name(name)) {
    throw Error(fmt::format("{} is not a name for a {}", quote(name), what),
                "names have lower-case letters, digits and hyphens, such as remove-detach");
  }
  if (find(name) != nullptr) fail("there is a pass named {} already", quote(name));
  if (find_pipeline(name) != nullptr) fail("there is a pipeline named {} already", quote(name));
}

void PassRegistry::add(const PassInfo& info) {
  check_name(info.name, "pass");
  if (info.name == "all") fail("\"all\" means every pass and cannot be the name of one");
  WINZE_CHECK(info.run != nullptr, "pass {} has no function to run", info.name);
  passes_.push_back(&info);
}

void PassRegistry::add_pipeline(NamedPipeline pipeline) {
  check_name(pipeline.name, "pipeline");
  pipelines_.push_back(std::move(pipeline));
}

const PassInfo* PassRegistry::find(std::string_view name) const {
  for (const PassInfo* info : passes_) {
    if (info->name == name) return info;
  }
  return nullptr;
}

const NamedPipeline* PassRegistry::find_pipeline(std::string_view name) const {
  for (const NamedPipeline& pipeline : pipelines_) {
    if (pipeline.name == name) return &pipeline;
  }
  return nullptr;
}

const PassInfo& PassRegistry::get(std::string_view name) const {
  if (const PassInfo* info = find(name)) return *info;
  throw Error(fmt::format("there is no pass named {}", quote(name)), suggestion(name));
}

std::string PassRegistry::suggestion(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const PassInfo* info : passes_) names.push_back(info->name);
  for (const NamedPipeline& pipeline : pipelines_) names.push_back(pipeline.name);
  return did_you_mean(name, names);
}

}  // namespace winze
