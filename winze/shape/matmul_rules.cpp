// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void require_same(ShapeCall& call, SymInt a, SymInt b) {
  call.env().require_equal(a, b, [&] {
    return fmt::format("{}: sizes {} and {} of the operands do not match", call.op().schema.name,
                       call.env().str(a), call.env().str(b));
  });
}

void require_dims(const ShapeCall& call, const TensorMeta& tensor, std::size_t dims) {
  if (tensor.dim() != dims)
    fail("{}: expected a tensor of {} dimensions, but got one of {}", call.op().schema.name, dims,
         tensor.dim());
}

void require_same_dtype(const ShapeCall& call, const TensorMeta& a, const TensorMeta& b) {
  if (a.dtype != b.dtype)
    fail("expected m1 and m2 to have the same dtype, but got: {} != {} ({})", full_name(a.dtype),
         full_name(b.dtype), call.op().schema.name);
}

/// Sizes of the product of two matrices.
DimVector mm_sizes(ShapeCall& call, const TensorMeta& a, const TensorMeta& b) {
  require_dims(call, a, 2);
  require_dims(call, b, 2);
  require_same_dtype(call, a, b);
  require_same(call, a.sizes[1], b.sizes[0]);
  return {a.sizes[0], b.sizes[1]};
}

DimVector bmm_sizes(ShapeCall& call, const TensorMeta& a, const TensorMeta& b) {
  require_dims(call, a, 3);
  require_dims(call, b, 3);
  require_same_dtype(call, a, b);
  require_same(call, a.sizes[0], b.sizes[0]);
  require_same(call, a.sizes[2], b.sizes[1]);
  return {a.sizes[0], a.sizes[1], b.sizes[2]};
}

void yield_like(ShapeCall& call, Sizes sizes, const TensorMeta& tensor) {
  call.yield(empty_tensor(call.env(), sizes, tensor.dtype, tensor.device));
}

/// What is added has to broadcast to the product.
void check_addend(ShapeCall& call, const TensorMeta& addend, Sizes sizes) {
  static_cast<void>(expand(call.env(), addend, sizes));
}

/// The product, in the dtype that argument `parameter` asks for, if there is one.
void yield_product(ShapeCall& call, Sizes sizes, const TensorMeta& a) {
  FakeTensor result = empty_tensor(call.env(), sizes, a.dtype, a.device);
  if (call.parameter() != 0) result.dtype = call.dtype(call.parameter()).value_or(a.dtype);
  call.yield(result);
}

void mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  yield_product(call, mm_sizes(call, a, call.tensor(1)), a);
}
/// _int_mm(self, mat2): the product of matrices of bytes, in int32 (meta__int_mm).
void int_mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  require_dims(call, a, 2);
  require_dims(call, b, 2);
  if (a.dtype != ScalarType::int8 && a.dtype != ScalarType::uint8)
    fail("expected self to be int8 or uint8, got {}", full_name(a.dtype));
  if (b.dtype != ScalarType::int8) fail("expected mat2 to be int8, got {}", full_name(b.dtype));
  require_same(call, a.sizes[1], b.sizes[0]);
  const DimVector sizes = {a.sizes[0], b.sizes[1]};
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int32, a.device));
}
void bmm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  yield_product(call, bmm_sizes(call, a, call.tensor(1)), a);
}
void addmm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(1);
  const DimVector sizes = mm_sizes(call, a, call.tensor(2));
  check_addend(call, call.tensor(0), sizes);
  yield_product(call, sizes, a);
}
void baddbmm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(1);
  const DimVector sizes = bmm_sizes(call, a, call.tensor(2));
  check_addend(call, call.tensor(0), sizes);
  yield_product(call, sizes, a);
}
void mv(ShapeCall& call) {
  const TensorMeta& matrix = call.tensor(0);
  const TensorMeta& vector = call.tensor(1);
  require_dims(call, matrix, 2);
  require_dims(call, vector, 1);
  require_same(call, matrix.sizes[1], vector.sizes[0]);
  yield_like(call, DimVector{matrix.sizes[0]}, matrix);
}
void dot(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  require_dims(call, a, 1);
  require_dims(call, b, 1);
  require_same_dtype(call, a, b);
  require_same(call, a.sizes[0], b.sizes[0]);
  yield_like(call, {}, a);
}
void outer(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  require_dims(call, a, 1);
  require_dims(call, b, 1);
  TypePromotion promotion;
  promotion.add(a);
  promotion.add(b);
  call.yield(
      empty_tensor(call.env(), DimVector{a.sizes[0], b.sizes[0]}, promotion.common(), a.device));
}

/// addmv(self, matrix, vector)
void addmv(ShapeCall& call) {
  const TensorMeta& matrix = call.tensor(1);
  const TensorMeta& vector = call.tensor(2);
  require_dims(call, matrix, 2);
  require_dims(call, vector, 1);
  require_same(call, matrix.sizes[1], vector.sizes[0]);
  const DimVector sizes = {matrix.sizes[0]};
  check_addend(call, call.tensor(0), sizes);
  yield_like(call, sizes, matrix);
}
/// addbmm(self, batch1, batch2): the sum of the products.
void addbmm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(1);
  const DimVector batched = bmm_sizes(call, a, call.tensor(2));
  const DimVector sizes = {batched[1], batched[2]};
  check_addend(call, call.tensor(0), sizes);
  yield_like(call, sizes, a);
}
/// addr(self, vec1, vec2): elementwise with the outer product.
void addr(ShapeCall& call) {
  const TensorMeta& a = call.tensor(1);
  const TensorMeta& b = call.tensor(2);
  require_dims(call, a, 1);
  require_dims(call, b, 1);
  const FakeTensor product =
      empty_tensor(call.env(), DimVector{a.sizes[0], b.sizes[0]}, a.dtype, a.device);
  check_addend(call, call.tensor(0), product.sizes);
  const TensorMeta view = product;
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  operands.add(view);
  TypePromotion promotion;
  promotion.add(call.tensor(0));
  promotion.add(a);
  promotion.add(b);
  call.yield(operands.result_of(call.env(), promotion.common()));
}

/// at::linear: all but the last dimension stay.
void linear(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  if (input.dim() == 0 || weight.dim() == 0)
    throw Error("both arguments to linear need to be at least 1D");
  require_same_dtype(call, input, weight);
  require_same(call, input.sizes[input.dim() - 1], weight.sizes[weight.dim() - 1]);
  DimVector sizes(input.sizes.first(input.dim() - 1));
  if (weight.dim() == 2) sizes.push_back(weight.sizes[0]);
  if (weight.dim() > 2) throw Error("linear: weight is to have at most 2 dimensions");
  if (const TensorMeta* bias = call.optional_tensor(2)) check_addend(call, *bias, sizes);
  yield_like(call, sizes, input);
}

/// at::matmul. Where a gradient of a matrix is wanted, PyTorch may give a transposed result; under
/// fake tensors, as export records them, it is contiguous.
void matmul(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  ShapeEnv& env = call.env();
  if (a.dim() == 0 || b.dim() == 0)
    fail("both arguments to matmul need to be at least 1D, but they are {}D and {}D", a.dim(),
         b.dim());
  require_same_dtype(call, a, b);
  const SymInt inner_a = a.sizes[a.dim() - 1];
  const SymInt inner_b = b.sizes[b.dim() == 1 ? 0 : b.dim() - 2];
  require_same(call, inner_a, inner_b);
  const Sizes batch_a = a.dim() > 2 ? a.sizes.first(a.dim() - 2) : Sizes();
  const Sizes batch_b = b.dim() > 2 ? b.sizes.first(b.dim() - 2) : Sizes();
  DimVector sizes = broadcast_sizes(env, batch_a, batch_b);
  if (a.dim() > 1) sizes.push_back(a.sizes[a.dim() - 2]);
  if (b.dim() > 1) sizes.push_back(b.sizes[b.dim() - 1]);
  yield_like(call, sizes, a);
}

}  // namespace

std::span<const ShapeRow> matmul_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__addmm_activation_default, addmm},
      {op::aten__int_mm_default, int_mm},
      {op::aten_addbmm_default, addbmm},
      {op::aten_addmm_default, addmm},
      {op::aten_addmm_dtype, addmm, 3},
      {op::aten_addmv_default, addmv},
      {op::aten_addr_default, addr},
      {op::aten_baddbmm_default, baddbmm},
      {op::aten_baddbmm_dtype, baddbmm, 3},
      {op::aten_bmm_default, bmm},
      {op::aten_bmm_dtype, bmm, 2},
      {op::aten_dot_default, dot},
      {op::aten_ger_default, outer},
      {op::aten_linalg_matmul_default, matmul},
      {op::aten_linear_default, linear},
      {op::aten_matmul_default, matmul},
      {op::aten_mm_default, mm},
      {op::aten_mm_dtype, mm, 2},
      {op::aten_mv_default, mv},
      {op::aten_outer_default, outer},
      {op::aten_vdot_default, dot},
  };
  return rows;
}

}  // namespace winze
