// SPDX-License-Identifier: Apache-2.0
// Questions that a program asks of a tensor: its sizes, strides and dtype as numbers and truth
// values (aten/src/ATen/native/{TensorProperties,TypeProperties}.cpp).
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

void yield_int(ShapeCall& call, SymInt value) {
  call.yield_sym(ValueKind::sym_int, value);
}
void yield_bool(ShapeCall& call, bool value) {
  call.yield_sym(ValueKind::sym_bool, call.env().symbols().bool_constant(value));
}

void size(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  yield_int(call, self.sizes[wrap_dim(call.sym_int(1), self.dim(), false)]);
}
void stride(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  yield_int(call, self.strides[wrap_dim(call.sym_int(1), self.dim(), false)]);
}
void numel_rule(ShapeCall& call) {
  yield_int(call, numel(call.env(), call.tensor(0).sizes));
}
void storage_offset(ShapeCall& call) {
  yield_int(call, call.tensor(0).storage_offset);
}
void dim(ShapeCall& call) {
  yield_int(call, static_cast<std::int64_t>(call.tensor(0).dim()));
}
void element_size_rule(ShapeCall& call) {
  yield_int(call, element_size(call.tensor(0).dtype));
}
/// The number of the device; -1 on the CPU.
void get_device(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (!is_cpu(self) && self.device.index < 0)
    call.cannot_infer("the number of the device is not known");
  yield_int(call, is_cpu(self) ? -1 : self.device.index);
}

bool is_signed_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::bool_:
    case ScalarType::uint8:
    case ScalarType::uint16:
    case ScalarType::uint32:
    case ScalarType::uint64:
      return false;
    default:
      return true;
  }
}

/// What is asked of a dtype.
enum class Kind : std::uint32_t { floating, complex, is_signed };
void is_of_kind(ShapeCall& call) {
  const ScalarType dtype = call.tensor(0).dtype;
  switch (static_cast<Kind>(call.parameter())) {
    case Kind::floating:
      return yield_bool(call, is_floating_point(dtype));
    case Kind::complex:
      return yield_bool(call, is_complex(dtype));
    case Kind::is_signed:
      return yield_bool(call, is_signed_type(dtype));
  }
}

/// Tensors that are strided are not distributed, sparse, nested or on Vulkan.
void never(ShapeCall& call) {
  static_cast<void>(call.tensor(0));
  yield_bool(call, false);
}

/// Sizes that may be equal leave the answer open.
void is_same_size(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  if (a.dim() != b.dim()) return yield_bool(call, false);
  bool unknown = false;
  for (std::size_t at = 0; at < a.dim(); ++at) {
    const Proof proof = call.env().equal(a.sizes[at], b.sizes[at]);
    if (proof == Proof::no) return yield_bool(call, false);
    unknown = unknown || proof == Proof::unknown;
  }
  if (unknown) call.cannot_infer("whether the sizes are the same depends on symbols");
  yield_bool(call, true);
}

void can_cast_rule(ShapeCall& call) {
  const auto from = call.dtype(0);
  const auto to = call.dtype(1);
  if (!from || !to) call.cannot_infer("the dtypes of can_cast are not known");
  yield_bool(call, can_cast(*from, *to));
}

/// aten::is_nonzero and equal: as data has it.
void depends_on_data(ShapeCall& call) {
  call.yield_sym(ValueKind::sym_bool, call.unbacked_value(0, ValueKind::sym_bool));
}

constexpr std::uint32_t with(Kind kind) {
  return static_cast<std::uint32_t>(kind);
}

}  // namespace

std::span<const ShapeRow> query_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_allclose_default, depends_on_data},
      {op::aten_can_cast_default, can_cast_rule},
      {op::aten_dim_default, dim},
      {op::aten_element_size_default, element_size_rule},
      {op::aten_equal_default, depends_on_data},
      {op::aten_get_device_default, get_device},
      {op::aten_is_complex_default, is_of_kind, with(Kind::complex)},
      {op::aten_is_distributed_default, never},
      {op::aten_is_floating_point_default, is_of_kind, with(Kind::floating)},
      {op::aten_is_nonzero_default, depends_on_data},
      {op::aten_is_same_size_default, is_same_size},
      {op::aten_is_signed_default, is_of_kind, with(Kind::is_signed)},
      {op::aten_numel_default, numel_rule},
      {op::aten_size_int, size},
      {op::aten_storage_offset_default, storage_offset},
      {op::aten_stride_int, stride},
  };
  return rows;
}

}  // namespace winze
