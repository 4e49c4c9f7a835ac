// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/context.h"

#include <algorithm>
#include <string>
#include <vector>

#include "winze/ir/intern_table.h"
#include "winze/ir/op_signature.h"
#include "winze/support/hash.h"
#include "winze/support/interner.h"

namespace winze {
namespace {

std::uint64_t hash_sizes(const SecretHash& combine, std::uint64_t hash,
                         std::span<const SymInt> sizes) {
  hash = combine(hash, sizes.size());
  for (SymInt size : sizes) hash = combine(hash, size.bits());
  return hash;
}

std::uint64_t hash_meta(const SecretHash& combine, const Meta& meta) {
  std::uint64_t hash = combine(static_cast<std::uint64_t>(meta.kind), meta.class_name.index);
  hash = combine(hash, meta.has_expression ? meta.expression.bits() : 1);
  if (!meta.is_tensor()) return hash;
  const TensorMeta& tensor = meta.tensor;
  const std::uint64_t packed =
      static_cast<std::uint64_t>(tensor.dtype) | static_cast<std::uint64_t>(tensor.layout) << 8 |
      static_cast<std::uint64_t>(tensor.requires_grad) << 16 |
      static_cast<std::uint64_t>(tensor.device.type) << 24 |
      static_cast<std::uint64_t>(static_cast<std::uint16_t>(tensor.device.index)) << 40;
  hash = combine(hash, packed);
  hash = combine(hash, tensor.storage_offset.bits());
  return hash_sizes(combine, hash_sizes(combine, hash, tensor.sizes), tensor.strides);
}

bool same_meta(const Meta& a, const Meta& b) {
  if (a.kind != b.kind || a.class_name != b.class_name || a.has_expression != b.has_expression)
    return false;
  if (a.has_expression && a.expression != b.expression) return false;
  if (!a.is_tensor()) return true;
  const TensorMeta& s = a.tensor;
  const TensorMeta& t = b.tensor;
  return s.dtype == t.dtype && s.layout == t.layout && s.requires_grad == t.requires_grad &&
         s.device == t.device && s.storage_offset == t.storage_offset &&
         std::ranges::equal(s.sizes, t.sizes) && std::ranges::equal(s.strides, t.strides);
}

std::uint64_t bits_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}
std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
std::uint64_t bits_of(bool value) {
  return value ? 1 : 0;
}
std::uint64_t bits_of(StringId value) {
  return value.index;
}

/// Constant lists of one type. Floats are compared by their bits, so that NaN equals NaN and 0.0 is
/// not -0.0.
template <typename T>
class ListTable {
 public:
  AttributeId intern(const SecretHash& combine, std::span<const T> values) {
    std::uint64_t hash = values.size();
    for (const T& value : values) hash = combine(hash, bits_of(value));
    const auto equals = [&](std::span<const T> other) {
      return std::ranges::equal(values, other,
                                [](const T& a, const T& b) { return bits_of(a) == bits_of(b); });
    };
    return AttributeId{table_.intern(hash, equals, [&] { return pool_.copy(values); })};
  }
  [[nodiscard]] std::span<const T> operator[](AttributeId id) const { return table_[id.index]; }

 private:
  InternTable<std::span<const T>> table_;
  SpanPool<T> pool_;
};

template <typename T>
Argument intern_list(const SecretHash& combine, ListTable<T>& table, ArgumentKind kind,
                     std::span<const T> values) {
  if (values.empty()) return Argument::empty_list();
  return Argument::interned(kind, table.intern(combine, values));
}

}  // namespace

struct Context::Pools {
  SecretHash combine;
  StringInterner strings;
  InternTable<Meta> metas;
  SpanPool<SymInt> sizes;
  ListTable<std::int64_t> integers;
  ListTable<double> floats;
  ListTable<bool> booleans;
  ListTable<StringId> strings_lists;
  InternTable<std::pair<double, double>> complexes;
  InternTable<CustomObject> custom_objects;
  InternTable<InputSpec> input_specs;
  InternTable<OutputSpec> output_specs;
  InternTable<SourceInfo> sources;
  std::vector<std::string> device_types{"cpu"};
  std::vector<std::unique_ptr<OpSignature>> signatures;
  StringId stack_trace_key;
};

Context::Context() : pools_(std::make_unique<Pools>()) {
  pools_->stack_trace_key = string("stack_trace");
}
Context::~Context() = default;

StringId Context::string(std::string_view text) {
  return StringId{pools_->strings.intern(text)};
}

std::string_view Context::text(StringId id) const {
  return id.valid() ? pools_->strings.view(id.index) : std::string_view();
}

MetaId Context::intern(const Meta& meta) {
  const auto equals = [&](const Meta& other) { return same_meta(meta, other); };
  const auto make = [&] {
    Meta copy = meta;
    copy.tensor.sizes = pools_->sizes.copy(meta.tensor.sizes);
    copy.tensor.strides = pools_->sizes.copy(meta.tensor.strides);
    return copy;
  };
  return MetaId{pools_->metas.intern(hash_meta(pools_->combine, meta), equals, make)};
}

MetaId Context::tensor_meta(const TensorMeta& tensor) {
  Meta meta;
  meta.kind = ValueKind::tensor;
  meta.tensor = tensor;
  return intern(meta);
}

MetaId Context::sym_meta(ValueKind kind, SymExpr expression) {
  Meta meta;
  meta.kind = kind;
  meta.expression = expression;
  meta.has_expression = true;
  return intern(meta);
}

MetaId Context::plain_meta(ValueKind kind) {
  Meta meta;
  meta.kind = kind;
  return intern(meta);
}

MetaId Context::custom_object_meta(StringId class_name) {
  Meta meta;
  meta.kind = ValueKind::custom_object;
  meta.class_name = class_name;
  return intern(meta);
}

MetaId Context::contiguous_meta(ScalarType dtype, std::span<const SymInt> sizes, Device device) {
  std::vector<SymInt> strides(sizes.size());
  SymInt stride = 1;
  for (std::size_t index = sizes.size(); index-- > 0;) {
    strides[index] = stride;
    // A dimension of size 0 counts as 1, as in torch/_prims_common make_contiguous_strides_for.
    const SymInt size = sizes[index];
    const bool positive = symbols_.prove_ge(size, 1) == Proof::yes;
    stride = symbols_.mul(stride, positive ? size : symbols_.max(size, 1));
  }
  TensorMeta tensor;
  tensor.dtype = dtype;
  tensor.device = device;
  tensor.sizes = sizes;
  tensor.strides = strides;
  return tensor_meta(tensor);
}

const Meta& Context::meta(MetaId id) const {
  WINZE_CHECK(id.valid(), "a value has no meta");
  return pools_->metas[id.index];
}

Argument Context::complex(double real, double imag) {
  const std::uint64_t hash = pools_->combine(bits_of(real), bits_of(imag));
  const auto equals = [&](const std::pair<double, double>& other) {
    return bits_of(other.first) == bits_of(real) && bits_of(other.second) == bits_of(imag);
  };
  const auto make = [&] { return std::pair(real, imag); };
  return Argument::interned(ArgumentKind::complex,
                            AttributeId{pools_->complexes.intern(hash, equals, make)});
}

Argument Context::integers(std::span<const std::int64_t> values) {
  return intern_list(pools_->combine, pools_->integers, ArgumentKind::integers, values);
}
Argument Context::floats(std::span<const double> values) {
  return intern_list(pools_->combine, pools_->floats, ArgumentKind::floats, values);
}
Argument Context::booleans(std::span<const bool> values) {
  return intern_list(pools_->combine, pools_->booleans, ArgumentKind::booleans, values);
}
Argument Context::strings(std::span<const StringId> values) {
  return intern_list(pools_->combine, pools_->strings_lists, ArgumentKind::strings, values);
}

Argument Context::custom_object(StringId name, StringId class_name) {
  const std::uint64_t hash = pools_->combine(name.index, class_name.index);
  const auto equals = [&](const CustomObject& other) {
    return other.name == name && other.class_name == class_name;
  };
  const auto make = [&] { return CustomObject{name, class_name}; };
  return Argument::interned(ArgumentKind::custom_object,
                            AttributeId{pools_->custom_objects.intern(hash, equals, make)});
}

Argument Context::input_spec(const InputSpec& spec) {
  std::uint64_t hash = pools_->combine(static_cast<std::uint64_t>(spec.kind), spec.target.index);
  hash = pools_->combine(hash, spec.persistent ? 1 : 0);
  hash = pools_->combine(hash, spec.name.index);
  hash = pools_->combine(hash, pools_->combine(static_cast<std::uint64_t>(spec.constant.kind()),
                                               spec.constant.bits()));
  const auto equals = [&](const InputSpec& other) { return other == spec; };
  const auto make = [&] { return spec; };
  return Argument::interned(ArgumentKind::input_spec,
                            AttributeId{pools_->input_specs.intern(hash, equals, make)});
}

Argument Context::output_spec(const OutputSpec& spec) {
  const std::uint64_t hash =
      pools_->combine(static_cast<std::uint64_t>(spec.kind), spec.target.index);
  const auto equals = [&](const OutputSpec& other) { return other == spec; };
  const auto make = [&] { return spec; };
  return Argument::interned(ArgumentKind::output_spec,
                            AttributeId{pools_->output_specs.intern(hash, equals, make)});
}

std::complex<double> Context::complex_of(const Argument& argument) const {
  const auto& [real, imag] = pools_->complexes[argument.attribute().index];
  return {real, imag};
}
std::span<const std::int64_t> Context::integers_of(const Argument& argument) const {
  return pools_->integers[argument.attribute()];
}
std::span<const double> Context::floats_of(const Argument& argument) const {
  return pools_->floats[argument.attribute()];
}
std::span<const bool> Context::booleans_of(const Argument& argument) const {
  return pools_->booleans[argument.attribute()];
}
std::span<const StringId> Context::strings_of(const Argument& argument) const {
  return pools_->strings_lists[argument.attribute()];
}
Context::CustomObject Context::custom_object_of(const Argument& argument) const {
  return pools_->custom_objects[argument.attribute().index];
}
const InputSpec& Context::input_spec_of(const Argument& argument) const {
  return pools_->input_specs[argument.attribute().index];
}
const OutputSpec& Context::output_spec_of(const Argument& argument) const {
  return pools_->output_specs[argument.attribute().index];
}

std::uint16_t Context::device_type(std::string_view name) {
  std::vector<std::string>& names = pools_->device_types;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::uint16_t>(found - names.begin());
  if (names.size() >= 256) fail("too many device types: \"{}\" would be the 257th", name);
  names.emplace_back(name);
  return static_cast<std::uint16_t>(names.size() - 1);
}

std::string_view Context::device_type_name(Device device) const {
  return pools_->device_types.at(device.type);
}

std::string Context::device_text(Device device) const {
  std::string text(device_type_name(device));
  if (device.index >= 0) text += fmt::format(":{}", device.index);
  return text;
}

SourceId Context::source(const SourceInfo& info) {
  std::uint64_t hash = info.unknown_fields.index;
  for (const SourceInfo::Entry& entry : info.entries) {
    hash = pools_->combine(hash,
                           static_cast<std::uint64_t>(entry.key.index) << 32 | entry.value.index);
  }
  const auto equals = [&](const SourceInfo& other) { return other == info; };
  return SourceId{pools_->sources.intern(hash, equals, [&] { return info; })};
}

const SourceInfo& Context::source_info(SourceId id) const {
  return pools_->sources[id.index];
}

std::optional<SourceLine> Context::user_line(SourceId id) const {
  if (!id.valid()) return std::nullopt;
  for (const SourceInfo::Entry& entry : source_info(id).entries) {
    if (entry.key == pools_->stack_trace_key) return user_source_line(text(entry.value));
  }
  return std::nullopt;
}

std::shared_ptr<void>& Context::attachment(const void* key) {
  for (auto& [known, content] : attachments_) {
    if (known == key) return content;
  }
  return attachments_.emplace_back(key, nullptr).second;
}

const OpSignature& Context::signature(OpId op) {
  std::vector<std::unique_ptr<OpSignature>>& signatures = pools_->signatures;
  if (op.index < signatures.size() && signatures[op.index] != nullptr) return *signatures[op.index];
  const Op& found = ops_.get(op);
  if (op.index >= signatures.size()) signatures.resize(ops_.size());
  signatures[op.index] = std::make_unique<OpSignature>(make_op_signature(*this, found));
  return *signatures[op.index];
}

}  // namespace winze
