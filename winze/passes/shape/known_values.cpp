// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/known_values.h"

#include <algorithm>
#include <cstring>

#include "winze/passes/shape/element_rules.h"

namespace winze {
namespace {

/// The integers that a dtype holds; nothing where its elements are no integers.
std::optional<Range> range_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::bool_:
      return Range{0, 1};
    case ScalarType::uint8:
      return Range{0, 255};
    case ScalarType::int8:
      return Range{-128, 127};
    case ScalarType::int16:
      return Range{-32768, 32767};
    case ScalarType::int32:
      return Range{-2147483648LL, 2147483647LL};
    case ScalarType::int64:
      return Range::all();
    default:
      return std::nullopt;
  }
}

/// Whether its elements may be known: few integers.
bool is_eligible(const Meta& meta) {
  if (!meta.is_tensor() || meta.tensor.layout != Layout::strided || !range_of(meta.tensor.dtype))
    return false;
  std::int64_t count = 1;
  for (const SymInt size : meta.tensor.sizes) {
    if (!size.is_constant() || size.constant() < 0 ||
        __builtin_mul_overflow(count, size.constant(), &count))
      return false;
  }
  return count <= KnownValues::most_elements && meta.tensor.strides.size() == meta.tensor.dim();
}

template <typename Integer>
std::int64_t load(const char* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<std::int64_t>(value);
}

std::int64_t load(ScalarType dtype, const char* bytes) {
  switch (dtype) {
    case ScalarType::int8:
      return load<std::int8_t>(bytes);
    case ScalarType::int16:
      return load<std::int16_t>(bytes);
    case ScalarType::int32:
      return load<std::int32_t>(bytes);
    case ScalarType::int64:
      return load<std::int64_t>(bytes);
    default:
      return load<std::uint8_t>(bytes);
  }
}

}  // namespace

KnownValues::KnownValues(Graph& root, const AliasAnalysis& aliases, const ExportedProgram* program)
    : symbols_(root.context().symbols()) {
  for (const Graph* graph : root.all_graphs()) {
    for (const Node node : graph->nodes()) {
      if (node.is_call()) visit(node, aliases);
      if (node.is_placeholder() && program != nullptr && graph == &root &&
          !aliases.is_written(node.value()))
        read_constant(node, *program);
    }
  }
}

const KnownValues::Elements* KnownValues::of(Value value) const {
  const auto found = elements_.find(value.key());
  return found == elements_.end() ? nullptr : &found->second;
}

void KnownValues::visit(const Node& node, const AliasAnalysis& aliases) {
  for (std::uint32_t result = 0; result < node.value_count(); ++result) {
    const Value value = node.value(result);
    if (!is_eligible(value.meta()) || aliases.is_written(value)) continue;
    try {
      auto elements = infer_elements(node, result, [this](Value input) { return of(input); });
      if (elements) set(value, std::move(*elements));
    } catch (const Error&) {
      continue;  // an element left the range of integers
    }
  }
}

void KnownValues::set(Value value, Elements elements) {
  const ScalarType dtype = value.meta().tensor.dtype;
  const Range allowed = *range_of(dtype);
  for (SymExpr& element : elements) {
    const Range range = symbols_.range(element);
    if (dtype == ScalarType::bool_ && range == intersection(range, Range::at_least(1))) element = 1;
    const Range held = symbols_.range(element);
    if (intersection(held, allowed) != held) return;  // it would wrap around
    if (dtype == ScalarType::bool_ && !element.is_constant()) return;
  }
  elements_.emplace(value.key(), std::move(elements));
}

void KnownValues::read_constant(const Node& placeholder, const ExportedProgram& program) {
  const Context& context = program.context();
  const Argument role = placeholder.argument(0);
  const Value value = placeholder.value();
  if (role.kind() != ArgumentKind::input_spec || !is_eligible(value.meta()) ||
      context.input_spec_of(role).kind != InputKind::tensor_constant)
    return;
  const Weight* weight = program.weight_of(placeholder);
  if (weight == nullptr || weight->kind != PayloadKind::tensor || !weight->meta.valid()) return;
  const TensorMeta& stored = context.meta(weight->meta).tensor;
  const Storage& storage = program.storage(*weight);
  if (!storage.has_bytes || !stored.is_static() || stored.dtype != value.meta().tensor.dtype ||
      storage_size_needed(stored) > storage.bytes.size())
    return;
  std::vector<std::int64_t> at(stored.dim(), 0);
  std::int64_t left = 1;
  for (const SymInt size : stored.sizes) left *= size.constant();
  Elements elements;
  for (; left > 0; --left) {
    std::int64_t position = stored.storage_offset.constant();
    for (std::size_t dim = 0; dim < at.size(); ++dim)
      position += at[dim] * stored.strides[dim].constant();
    const auto offset =
        static_cast<std::size_t>(position) * static_cast<std::size_t>(element_size(stored.dtype));
    const std::int64_t element = load(stored.dtype, storage.bytes.string_view().data() + offset);
    if (!SymExpr::fits(element)) return;
    elements.push_back(element);
    for (std::size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] < stored.sizes[dim].constant()) break;
      at[dim] = 0;
    }
  }
  set(value, std::move(elements));
}

}  // namespace winze
