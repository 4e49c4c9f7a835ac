// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/graph.h"

namespace winze {

/// A call of a module in which nodes were made.
struct ModuleFrame {
  std::string fqn;   ///< of the module; empty for the root
  std::string call;  ///< the fqn, with `@1` and so on behind it from the second call on
};

/// Reads in which calls of modules nodes were made, from the `nn_module_stack` that export writes.
class ModuleStacks {
 public:
  explicit ModuleStacks(const Context& context) : context_(context) {}

  /// Ids of the calls, the root's first; empty where the node says nothing, nothing that PyTorch
  /// would read, or that it belongs to whatever is before it. Calls whose module is in none of
  /// those before them are left out, as `torch.export.unflatten` does. Valid until the next call.
  [[nodiscard]] std::span<const std::uint32_t> of(Node node);
  [[nodiscard]] const ModuleFrame& frame(std::uint32_t id) const { return frames_[id]; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> parse(std::string_view text);

  const Context& context_;
  std::vector<ModuleFrame> frames_;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> ids_;
  tsl::robin_map<std::uint32_t, std::vector<std::uint32_t>> stacks_;  ///< by StringId
};

/// The text of a node's `nn_module_stack`; empty where it has none, or belongs to what is before
/// it.
[[nodiscard]] std::string_view module_stack_text(Node node);
/// The calls that two such texts begin with.
[[nodiscard]] std::string_view common_module_stack(std::string_view a, std::string_view b);

}  // namespace winze
