// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "winze/program/module_stacks.h"
#include "winze/program/program.h"
#include "winze/support/string_map.h"

namespace winze {

/// Tells which calls of modules whose signature was preserved (`preserve_module_call_signature`)
/// nodes belong to. What two of them compute must stay with each: `torch.export.unflatten` makes a
/// module of each, which sees nothing but its own inputs.
class PreservedCalls {
 public:
  explicit PreservedCalls(const ExportedProgram& program);
  /// Of a graph that stands alone: none.
  explicit PreservedCalls(const Context& context) : stacks_(context) {}

  /// A number for the innermost preserved call that the node is in; 0 where it is in none.
  [[nodiscard]] std::uint32_t of(Node node);
  /// Whether both nodes are in the same.
  [[nodiscard]] bool same(Node a, Node b) { return calls_.empty() || of(a) == of(b); }

 private:
  ModuleStacks stacks_;
  StringSet calls_;
};

/// Which entries of the module call graph `torch.export.unflatten` cannot make modules of any more:
/// the call has no node left, uses what is no input of it, keeps to itself what others use, or
/// refers to a value that is gone. With one call of a module, all calls of it. Follows what
/// torch/export/unflatten.py does; linear in the graph times the depth of modules, and nothing
/// where no signature was preserved.
[[nodiscard]] std::vector<std::size_t> lost_module_calls(const ExportedProgram& program);

}  // namespace winze
