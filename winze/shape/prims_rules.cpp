// SPDX-License-Identifier: Apache-2.0
// The elementwise operators of torch/_prims, which decompositions of Inductor's leave in graphs.
// They promote nothing: the result has the dtype of the operands.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// How many operands there are, and what becomes of their dtype.
constexpr std::uint32_t with(std::uint32_t count, Promotion promotion = Promotion::to_common) {
  return static_cast<std::uint32_t>(promotion) << 8 | count;
}

/// Prims do not broadcast, but for tensors without dimensions on the CPU.
void require_same_sizes(ShapeEnv& env, const TensorMeta& a, const TensorMeta& b) {
  if ((a.dim() == 0 && is_cpu(a)) || (b.dim() == 0 && is_cpu(b))) return;
  const auto refuse = [] { return std::string("the operands of a prim have different shapes"); };
  if (a.dim() != b.dim()) throw Error(refuse());
  for (std::size_t dim = 0; dim < a.dim(); ++dim)
    env.require_equal(a.sizes[dim], b.sizes[dim], refuse);
}

/// The operand with more dimensions, to whose sizes those of the others are compared.
const TensorMeta* widest(const TensorMeta* a, const TensorMeta* b) {
  return a == nullptr || a->dim() < b->dim() ? b : a;
}

void prim(ShapeCall& call) {
  ElementwiseOperands operands;
  const TensorMeta* first = nullptr;
  const TensorMeta* shaped = nullptr;
  for (std::uint32_t index = 0; index < (call.parameter() & 0xFF); ++index) {
    const TensorMeta* const tensor = call.tensor_or_null(index);
    if (tensor == nullptr) continue;
    if (shaped != nullptr) require_same_sizes(call.env(), *shaped, *tensor);
    shaped = widest(shaped, tensor);
    if (first != nullptr && tensor->dtype != first->dtype)
      fail("Tensor with dtype {} is not the expected dtype of {}!", full_name(tensor->dtype),
           full_name(first->dtype));
    if (first == nullptr) first = tensor;
    operands.add(*tensor);
  }
  if (first == nullptr) call.cannot_infer("{} is given no tensor", call.op().qualified_name);
  const auto promotion = static_cast<Promotion>(call.parameter() >> 8);
  call.yield(operands.result_of(call.env(), promoted(first->dtype, promotion)));
}

const TensorMeta& complex_operand(const ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (!is_complex(self.dtype)) throw Error("Only complex dtype is supported");
  return self;
}
/// prims::conj: a view.
void conj(ShapeCall& call) {
  call.yield(complex_operand(call));
}
/// prims::conj_physical, and real and imag, which fake tensors take for tensors of their own.
void complex_part(ShapeCall& call) {
  static_cast<void>(complex_operand(call));
  prim(call);
}

/// prims::where(pred, a, b): the predicate has no say in the dtype.
void where(ShapeCall& call) {
  ElementwiseOperands operands;
  const TensorMeta& a = call.tensor(1);
  const TensorMeta& b = call.tensor(2);
  if (a.dtype != b.dtype)
    fail("Tensor with dtype {} is not the expected dtype of {}!", full_name(b.dtype),
         full_name(a.dtype));
  operands.add_without_dtype(call.tensor(0));
  operands.add(a);
  operands.add(b);
  require_same_sizes(call.env(), call.tensor(0), a);
  require_same_sizes(call.env(), *widest(&call.tensor(0), &a), b);
  call.yield(operands.result_of(call.env(), a.dtype));
}

/// prims::convert_element_type(a, dtype)
void convert_element_type(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const auto dtype = call.dtype(1);
  if (!dtype) call.cannot_infer("the dtype to convert to is not known");
  FakeTensor result = empty_like(call.env(), self);
  if (!is_non_overlapping_and_dense(call.env(), self)) {
    const TensorMeta* const operand = &self;
    result.strides = elementwise_strides(call.env(), self.sizes, {&operand, 1});
  }
  result.dtype = *dtype;
  call.yield(result);
}

/// prims::iota(length, start, step, dtype, device): whole numbers.
void iota(ShapeCall& call) {
  const auto dtype = call.dtype(call.position("dtype"));
  const auto device = call.device(call.position("device"));
  const SymInt length = call.sym_int(0);
  call.env().require_at_least(length, 0,
                              [] { return std::string("the length of iota is not negative"); });
  call.yield(empty_tensor(call.env(), DimVector{length}, dtype.value_or(ScalarType::int64),
                          device.value_or(Device{})));
}

constexpr std::uint32_t one = with(1);
constexpr std::uint32_t two = with(2);
constexpr std::uint32_t compares = with(2, Promotion::always_bool);

}  // namespace

std::span<const ShapeRow> prims_rows() {
  static constexpr ShapeRow rows[] = {
      {op::prims_abs_default, prim, with(1, Promotion::complex_to_float)},
      {op::prims_acos_default, prim, one},
      {op::prims_acosh_default, prim, one},
      {op::prims_add_default, prim, two},
      {op::prims_asin_default, prim, one},
      {op::prims_asinh_default, prim, one},
      {op::prims_atan2_default, prim, two},
      {op::prims_atan_default, prim, one},
      {op::prims_atanh_default, prim, one},
      {op::prims_bessel_i0_default, prim, one},
      {op::prims_bessel_i0e_default, prim, one},
      {op::prims_bessel_i1_default, prim, one},
      {op::prims_bessel_i1e_default, prim, one},
      {op::prims_bessel_j0_default, prim, one},
      {op::prims_bessel_j1_default, prim, one},
      {op::prims_bitwise_and_default, prim, two},
      {op::prims_bitwise_not_default, prim, one},
      {op::prims_bitwise_or_default, prim, two},
      {op::prims_bitwise_xor_default, prim, two},
      {op::prims_cbrt_default, prim, one},
      {op::prims_ceil_default, prim, one},
      {op::prims_conj_default, conj},
      {op::prims_conj_physical_default, complex_part, one},
      {op::prims_convert_element_type_default, convert_element_type},
      {op::prims_cos_default, prim, one},
      {op::prims_cosh_default, prim, one},
      {op::prims_digamma_default, prim, one},
      {op::prims_div_default, prim, two},
      {op::prims_eq_default, prim, compares},
      {op::prims_erf_default, prim, one},
      {op::prims_erf_inv_default, prim, one},
      {op::prims_erfc_default, prim, one},
      {op::prims_erfcx_default, prim, one},
      {op::prims_exp2_default, prim, one},
      {op::prims_exp_default, prim, one},
      {op::prims_expm1_default, prim, one},
      {op::prims_floor_default, prim, one},
      {op::prims_fma_default, prim, with(3)},
      {op::prims_fmax_default, prim, two},
      {op::prims_fmin_default, prim, two},
      {op::prims_fmod_default, prim, two},
      {op::prims_gcd_default, prim, two},
      {op::prims_ge_default, prim, compares},
      {op::prims_gt_default, prim, compares},
      {op::prims_hypot_default, prim, two},
      {op::prims_igamma_default, prim, two},
      {op::prims_igammac_default, prim, two},
      {op::prims_imag_default, complex_part, with(1, Promotion::complex_to_float)},
      {op::prims_iota_default, iota},
      {op::prims_isfinite_default, prim, with(1, Promotion::always_bool)},
      {op::prims_le_default, prim, compares},
      {op::prims_lgamma_default, prim, one},
      {op::prims_log10_default, prim, one},
      {op::prims_log1p_default, prim, one},
      {op::prims_log2_default, prim, one},
      {op::prims_log_default, prim, one},
      {op::prims_lt_default, prim, compares},
      {op::prims_maximum_default, prim, two},
      {op::prims_minimum_default, prim, two},
      {op::prims_mul_default, prim, two},
      {op::prims_ndtri_default, prim, one},
      {op::prims_ne_default, prim, compares},
      {op::prims_neg_default, prim, one},
      {op::prims_nextafter_default, prim, two},
      {op::prims_pow_default, prim, two},
      {op::prims_real_default, complex_part, with(1, Promotion::complex_to_float)},
      {op::prims_reciprocal_default, prim, one},
      {op::prims_remainder_default, prim, two},
      {op::prims_round_default, prim, one},
      {op::prims_rsqrt_default, prim, one},
      {op::prims_shift_left_default, prim, two},
      {op::prims_shift_right_arithmetic_default, prim, two},
      {op::prims_sign_default, prim, one},
      {op::prims_signbit_default, prim, one},
      {op::prims_sin_default, prim, one},
      {op::prims_sinh_default, prim, one},
      {op::prims_spherical_bessel_j0_default, prim, one},
      {op::prims_sqrt_default, prim, one},
      {op::prims_sub_default, prim, two},
      {op::prims_tan_default, prim, one},
      {op::prims_tanh_default, prim, one},
      {op::prims_trunc_default, prim, one},
      {op::prims_where_default, where},
      {op::prims_zeta_default, prim, two},
  };
  return rows;
}

}  // namespace winze
