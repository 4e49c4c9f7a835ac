// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/ids.h"

namespace winze {

/// Where a node comes from: the string map that export writes as a node's metadata
/// (`stack_trace`, `nn_module_stack`, `torch_fn`, `source_fn_stack`, `from_node`, `custom`).
/// Interned by the Context. Keys are in the file's order.
struct SourceInfo {
  struct Entry {
    StringId key;
    StringId value;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  StringId
      unknown_fields;  ///< JSON members of the node that this version does not know, kept as text
  bool operator==(const SourceInfo&) const = default;
};

/// A frame of a Python stack trace.
struct SourceLine {
  std::string_view file;
  int line = 0;
  std::string_view function;
  std::string_view code;

  /// `model.py:12, in forward: y = x + 1`
  [[nodiscard]] std::string str() const;
};

/// Reads the user's own line out of a stack trace as torch writes it (`File "f", line 1, in g\n
/// code`): the innermost frame of user code, else of PyTorch itself, else of generated code
/// (`<eval_with_key>`).
[[nodiscard]] std::optional<SourceLine> user_source_line(std::string_view stack_trace);

}  // namespace winze
