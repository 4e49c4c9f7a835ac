// SPDX-License-Identifier: Apache-2.0
// Copies and conversions of a tensor: contiguous, in another dtype, with some elements dropped,
// resized.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// The same sizes and dtype, laid out anew in row-major order.
void contiguous_copy(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0), MemoryFormat::contiguous_format));
}
/// tril and triu.
void triangle(ShapeCall& call) {
  if (call.tensor(0).dim() < 2)
    fail("{}: input tensor must have at least 2 dimensions", call.op().schema.name);
  contiguous_copy(call);
}
/// The same as `empty_like`: strides kept where they are dense.
void preserving_copy(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}

void contiguous(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const MemoryFormat format = call.memory_format(1, MemoryFormat::contiguous_format);
  const bool is_so = format == MemoryFormat::contiguous_format ? is_contiguous(call.env(), self)
                                                               : is_channels_last(call.env(), self);
  if (format == MemoryFormat::preserve_format)
    throw Error("preserve memory format is unsupported by the contiguous operator");
  call.yield(is_so ? FakeTensor(self) : empty_like(call.env(), self, format));
}

/// aten/src/ATen/native/TensorConversions.cpp: the tensor itself where nothing changes.
void convert(ShapeCall& call, ScalarType dtype, Device device, bool may_alias) {
  const TensorMeta& self = call.tensor(0);
  const MemoryFormat format =
      call.memory_format(call.position("memory_format"), MemoryFormat::preserve_format);
  const bool keeps_format =
      format == MemoryFormat::preserve_format || suggest_memory_format(call.env(), self) == format;
  if (may_alias && dtype == self.dtype && device == self.device && keeps_format) {
    call.yield(self);
    return;
  }
  FakeTensor result = empty_like(call.env(), self, format);
  result.dtype = dtype;
  result.device = device;
  call.yield(result);
}
/// By the arguments `dtype`, `layout` and `device`.
void convert_as_told(ShapeCall& call, bool may_alias) {
  const TensorMeta& self = call.tensor(0);
  call.expect_strided(call.position("layout"));
  convert(call, call.dtype(call.position("dtype")).value_or(self.dtype),
          call.device(call.position("device")).value_or(self.device), may_alias);
}
void to(ShapeCall& call) {
  convert_as_told(call, !call.boolean(call.position("copy")));
}
void to_copy(ShapeCall& call) {
  convert_as_told(call, false);
}
/// chalf: to half precision in both parts.
void chalf(ShapeCall& call) {
  convert(call, ScalarType::complex32, call.tensor(0).device, true);
}
/// _cast_Float and the like; `parameter` is the dtype.
void cast(ShapeCall& call) {
  convert(call, static_cast<ScalarType>(call.parameter()), call.tensor(0).device, true);
}
void to_other(ShapeCall& call) {
  const TensorMeta& other = call.tensor(1);
  convert(call, other.dtype, other.device, !call.boolean(call.position("copy")));
}

/// What drops nothing yields a clone, as torch/_decomp has it for dropout, which export goes
/// through; or the input itself.
enum DropoutInEvaluation : std::uint32_t { gives_input, gives_clone };

/// dropout(input, p, train) and its kin.
void dropout(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const auto p = call.constant_number(1);
  if (!p) call.cannot_infer("the probability of dropout is not known");
  if (!call.boolean(2) || *p == 0) {
    call.yield(call.parameter() == gives_clone ? empty_like(call.env(), input) : FakeTensor(input));
    return;
  }
  ElementwiseOperands operands;
  operands.add(input);
  call.yield(operands.result(call.env(), Promotion::to_common));
}

void native_dropout(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  const FakeTensor result = operands.result(call.env(), Promotion::to_common);
  FakeTensor mask = result;
  mask.dtype = ScalarType::bool_;
  call.yield(result);
  call.yield(mask);
}

/// copy(self, src): self with the contents of src, strides kept
/// (aten/src/ATen/native/Copy.cpp, clone_preserve_strides).
void copy(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& source = call.tensor(1);
  const DimVector sizes = broadcast_sizes(call.env(), self.sizes, source.sizes);
  if (sizes.size() != self.dim() || !std::ranges::equal(sizes, self.sizes, [&](SymInt a, SymInt b) {
        return call.env().equal(a, b) != Proof::no;
      }))
    throw Error("the source of copy does not broadcast to its target");
  FakeTensor result(self);
  // A storage without contents, as functionalization has them, is not cloned up to the offset.
  const Meta* const traced = call.op().is_mutable() ? nullptr : call.recorded(0);
  if (traced != nullptr && traced->is_tensor() &&
      call.env().known_zero(traced->tensor.storage_offset))
    result.storage_offset = 0;
  call.yield(result);
}

/// Whether nothing is to be resized, which has to be known.
bool same_sizes(const ShapeCall& call, Sizes a, Sizes b) {
  if (a.size() != b.size()) return false;
  bool unknown = false;
  for (std::size_t dim = 0; dim < a.size(); ++dim) {
    const Proof proof = call.env().equal(a[dim], b[dim]);
    if (proof == Proof::no) return false;
    unknown = unknown || proof == Proof::unknown;
  }
  if (unknown) call.cannot_infer("whether the sizes are those that the tensor has is not known");
  return true;
}

/// resize_(self, size) and, with `parameter` 1, resize_as_(self, the_template): laid out anew where
/// the sizes differ.
FakeTensor resized(const ShapeCall& call, FakeTensor result) {
  const ShapeEnv& env = call.env();
  const TensorMeta* const like = call.parameter() == 1 ? &call.tensor(1) : nullptr;
  result.sizes = like == nullptr ? call.sym_ints(1) : DimVector(like->sizes);
  if (same_sizes(call, call.tensor(0).sizes, result.sizes)) return result;
  for (const SymInt size : result.sizes) {
    if (env.known_less(size, 0))
      fail("Trying to resize a tensor to a negative size: {}", env.str(size));
  }
  MemoryFormat format =
      call.memory_format(call.position("memory_format"), MemoryFormat::contiguous_format);
  if (format == MemoryFormat::preserve_format) {
    if (like == nullptr) fail("resize_ does not support the memory format {}", name_of(format));
    format = suggest_memory_format(env, *like);
  }
  result.strides = strides_for(env, result.sizes, format);
  return result;
}
void resize(ShapeCall& call) {
  call.yield(resized(call, FakeTensor(call.tensor(0))));
}
/// resize and resize_as: of a clone.
void resize_copy(ShapeCall& call) {
  call.yield(resized(call, empty_like(call.env(), call.tensor(0))));
}

constexpr std::uint32_t to_dtype(ScalarType dtype) {
  return static_cast<std::uint32_t>(dtype);
}

}  // namespace

std::span<const ShapeRow> conversion_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__cast_Byte_default, cast, to_dtype(ScalarType::uint8)},
      {op::aten__cast_Char_default, cast, to_dtype(ScalarType::int8)},
      {op::aten__cast_Double_default, cast, to_dtype(ScalarType::float64)},
      {op::aten__cast_Float_default, cast, to_dtype(ScalarType::float32)},
      {op::aten__cast_Half_default, cast, to_dtype(ScalarType::float16)},
      {op::aten__cast_Int_default, cast, to_dtype(ScalarType::int32)},
      {op::aten__cast_Long_default, cast, to_dtype(ScalarType::int64)},
      {op::aten__cast_Short_default, cast, to_dtype(ScalarType::int16)},
      {op::aten__to_copy_default, to_copy},
      {op::aten_alpha_dropout_default, dropout, gives_input},
      {op::aten_bernoulli_default, contiguous_copy},
      {op::aten_bernoulli_p, contiguous_copy},
      {op::aten_bernoulli_Tensor, preserving_copy},
      {op::aten_chalf_default, chalf},
      {op::aten_contiguous_default, contiguous},
      {op::aten_copy_default, copy},
      {op::aten_dropout_default, dropout, gives_clone},
      {op::aten_feature_alpha_dropout_default, dropout, gives_input},
      {op::aten_feature_dropout_default, dropout, gives_input},
      {op::aten_fill_Scalar, preserving_copy},
      {op::aten_fill_Tensor, preserving_copy},
      {op::aten_lift_fresh_copy_default, contiguous_copy},
      {op::aten_native_dropout_default, native_dropout},
      {op::aten_resize__default, resize, 0},
      {op::aten_resize_as__default, resize, 1},
      {op::aten_to_device, to},
      {op::aten_to_dtype, to},
      {op::aten_to_dtype_layout, to},
      {op::aten_to_other, to_other},
      {op::aten_tril_default, triangle},
      {op::aten_triu_default, triangle},
      {op::aten_type_as_default, to_other},
      {op::aten_zero_default, preserving_copy},
      {op::aten_resize_default, resize_copy, 0},
      {op::aten_resize_as_default, resize_copy, 1},
  };
  return rows;
}

}  // namespace winze
