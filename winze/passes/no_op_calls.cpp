// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/no_op_calls.h"

#include <algorithm>

#include "winze/effects/layout_uses.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// Whether the storage of a value was made for it. A part of a larger one, when returned, would
/// keep all of that alive.
bool has_storage_of_its_own(Value value) {
  const Node node = value.node();
  if (!node.is_call()) return false;
  const OpEffects& effects = node.graph().context().ops().get(node.op()).effects;
  return effects.aliases.empty() && !effects.runs_graphs && !effects.is_unknown;
}

}  // namespace

bool have_equal_layouts(Value a, Value b) {
  if (!a.is_tensor() || !b.is_tensor()) return false;
  if (a.meta_id() == b.meta_id()) return true;
  const TensorMeta& x = a.meta().tensor;
  const TensorMeta& y = b.meta().tensor;
  return x.dtype == y.dtype && x.layout == y.layout && x.device == y.device &&
         x.storage_offset == y.storage_offset && std::ranges::equal(x.sizes, y.sizes) &&
         std::ranges::equal(x.strides, y.strides);
}

bool asks_for_memory_format(const Argument& format) {
  return format.kind() == ArgumentKind::memory_format &&
         format.memory_format() != MemoryFormat::preserve_format;
}

bool is_copy_seen(Node call, Value source, Value copy, const AliasAnalysis& aliases) {
  if (aliases.is_input(source) && layout_is_seen(copy)) return true;
  if (both_give_symbols(source, copy)) return true;
  if (aliases.is_written_after(source, call) || aliases.is_written_after(copy, call)) return true;
  if (!aliases.is_returned(copy)) return false;
  return aliases.escapes(source) || !has_storage_of_its_own(source);
}

bool is_view_seen(Value source, Value view, const AliasAnalysis& aliases) {
  return both_give_symbols(source, view) || aliases.is_metadata_changed(source) ||
         aliases.is_returned_repeatedly(source) ||
         (aliases.is_returned(source) && aliases.is_input(source));
}

void NoOpRemoval::remove(Node call) {
  const Value source = call.argument_value(0);
  if (!preserved_.same(source.node(), call)) return;
  aliases_.merge(source, call.value());
  call.value().replace_all_uses_with(source);
  call.erase();
}

}  // namespace winze
