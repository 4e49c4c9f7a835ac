// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/effects/alias_analysis.h"
#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/program/module_calls.h"

namespace winze {

// What passes ask before they replace a call's result by what it was made of.

/// Whether both are tensors of one dtype, layout, device, sizes, strides and offset. Export records
/// `requires_grad` of inputs alone, so it does not count.
[[nodiscard]] bool have_equal_layouts(Value a, Value b);

/// Whether an argument for a memory format asks for strides of its own, rather than for those of
/// the input.
[[nodiscard]] bool asks_for_memory_format(const Argument& format);

/// Whether anyone can tell `copy`, the result of `call`, from `source`, of which it is a copy with
/// the same meta: by strides that the program's inputs have by chance, by a write to either, or by
/// what the caller is given.
[[nodiscard]] bool is_copy_seen(Node call, Value source, Value copy, const AliasAnalysis& aliases);

/// Whether anyone can tell `source` itself from another tensor, `view`, with the same storage and
/// meta: by an unbacked symbol made of each, by sizes or strides that are changed in place, or
/// since the caller is given both.
[[nodiscard]] bool is_view_seen(Value source, Value view, const AliasAnalysis& aliases);

/// Takes out calls that do nothing, and keeps what is known of storage right meanwhile.
class NoOpRemoval {
 public:
  NoOpRemoval(Graph& root, const PassContext& context)
      : aliases_(context.alias_analysis(root)), preserved_(context.preserved_calls(root)) {}

  [[nodiscard]] const AliasAnalysis& aliases() const { return aliases_; }
  /// Replaces the result of a call by its first argument, and erases the call; but not where it may
  /// be all that a module whose signature was preserved does.
  void remove(Node call);

 private:
  AliasAnalysis aliases_;
  PreservedCalls preserved_;
};

}  // namespace winze
