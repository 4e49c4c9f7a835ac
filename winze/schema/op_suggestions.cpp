// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_suggestions.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/schema/op_registry.h"

namespace winze {

std::string suggest_ops(const OpRegistry& registry, std::string_view name) {
  std::string_view in_aten = name;
  if (in_aten.starts_with("torch.")) in_aten.remove_prefix(6);
  const std::string packet = fmt::format("aten.{}", in_aten);
  if (registry.find(packet).is_valid() || !registry.overloads(packet).empty())
    return fmt::format("did you mean {}? Operators are named with their namespace", packet);
  const std::vector<std::string> near = registry.similar_names(name);
  return near.empty() ? std::string() : fmt::format("did you mean {}?", fmt::join(near, " or "));
}

}  // namespace winze
