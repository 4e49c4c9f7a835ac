// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: broadcasting, type promotion, strides as TensorIterator makes them.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// What the row of an elementwise operator says: how its dtype is made, and which arguments are
/// operands.
struct Pointwise {
  Promotion promotion;
  std::uint8_t count;      ///< how many arguments are operands
  std::uint8_t first = 0;  ///< the first of them
  /// Whether the last operand has the first say in the layout: PyTorch computes `other - self`.
  bool is_reversed = false;

  [[nodiscard]] constexpr std::uint32_t pack() const {
    return static_cast<std::uint32_t>(promotion) | static_cast<std::uint32_t>(count) << 8 |
           static_cast<std::uint32_t>(first) << 12 | static_cast<std::uint32_t>(is_reversed) << 16;
  }
  [[nodiscard]] static constexpr Pointwise unpack(std::uint32_t bits) {
    return {static_cast<Promotion>(bits & 0xFF), static_cast<std::uint8_t>(bits >> 8 & 0xF),
            static_cast<std::uint8_t>(bits >> 12 & 0xF), (bits >> 16 & 1) != 0};
  }
};

void pointwise(ShapeCall& call) {
  const Pointwise row = Pointwise::unpack(call.parameter());
  ElementwiseOperands operands;
  for (std::uint32_t at = 0; at < row.count; ++at) {
    const std::uint32_t index = row.first + (row.is_reversed ? row.count - 1U - at : at);
    if (call.is_none(index)) continue;
    if (const TensorMeta* tensor = call.tensor_or_null(index)) {
      operands.add(*tensor);
    } else {
      operands.add_number(call.number_kind(index));
    }
  }
  if (operands.tensors().empty())
    call.cannot_infer("{} is given no tensor", call.op().qualified_name);
  const bool is_in_place = call.op().schema.name.ends_with('_') && call.op().is_mutable();
  if (row.promotion == Promotion::complex_to_float && is_in_place &&
      is_complex(operands.tensors()[0]->dtype))
    fail("In-place {} is not supported for complex tensors.", call.op().schema.name);
  call.yield(operands.result(call.env(), row.promotion));
}

constexpr std::uint32_t with(Promotion promotion, std::uint8_t count, std::uint8_t first = 0) {
  return Pointwise{promotion, count, first}.pack();
}

constexpr std::uint32_t reversed(Promotion promotion) {
  return Pointwise{promotion, 2, 0, true}.pack();
}

constexpr std::uint32_t same_1 = with(Promotion::to_common, 1);
constexpr std::uint32_t same_2 = with(Promotion::to_common, 2);
constexpr std::uint32_t same_3 = with(Promotion::to_common, 3);
constexpr std::uint32_t float_1 = with(Promotion::int_to_float, 1);
constexpr std::uint32_t float_2 = with(Promotion::int_to_float, 2);
constexpr std::uint32_t bool_1 = with(Promotion::always_bool, 1);
constexpr std::uint32_t bool_2 = with(Promotion::always_bool, 2);
constexpr std::uint32_t same_reversed = reversed(Promotion::to_common);
constexpr std::uint32_t float_reversed = reversed(Promotion::int_to_float);
constexpr std::uint32_t real_1 = with(Promotion::complex_to_float, 1);

}  // namespace

std::span<const ShapeRow> pointwise_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_infinitely_differentiable_gelu_backward_default, pointwise, same_reversed},
      // One operand, same dtype.
      {op::aten_bitwise_not_default, pointwise, same_1},
      {op::aten_ceil_default, pointwise, same_1},
      {op::aten_celu_default, pointwise, same_1},
      {op::aten_conj_physical_default, pointwise, same_1},
      {op::aten__conj_physical_default, pointwise, same_1},
      {op::aten_elu_default, pointwise, same_1},
      {op::aten_floor_default, pointwise, same_1},
      {op::aten_frac_default, pointwise, same_1},
      {op::aten_hardshrink_default, pointwise, same_1},
      {op::aten_hardsigmoid_default, pointwise, same_1},
      {op::aten_hardswish_default, pointwise, same_1},
      {op::aten_hardtanh_default, pointwise, same_1},
      {op::aten_leaky_relu_default, pointwise, same_1},
      {op::aten_log_sigmoid_default, pointwise, same_1},
      {op::aten_mish_default, pointwise, same_1},
      {op::aten_nan_to_num_default, pointwise, same_1},
      {op::aten_relu_default, pointwise, same_1},
      {op::aten_relu6_default, pointwise, same_1},
      {op::aten_round_default, pointwise, same_1},
      {op::aten_round_decimals, pointwise, same_1},
      {op::aten_selu_default, pointwise, same_1},
      {op::aten_sgn_default, pointwise, same_1},
      {op::aten_sign_default, pointwise, same_1},
      {op::aten_silu_default, pointwise, same_1},
      {op::aten_softplus_default, pointwise, same_1},
      {op::aten_square_default, pointwise, with(Promotion::bool_to_long, 1)},
      {op::aten_special_round_default, pointwise, same_1},
      {op::aten_threshold_default, pointwise, same_1},
      {op::aten_trunc_default, pointwise, same_1},
      {op::aten_fix_default, pointwise, same_1},
      // One operand, integers become floats.
      {op::aten_acos_default, pointwise, float_1},
      {op::aten_acosh_default, pointwise, float_1},
      {op::aten_arccos_default, pointwise, float_1},
      {op::aten_arccosh_default, pointwise, float_1},
      {op::aten_arcsin_default, pointwise, float_1},
      {op::aten_arcsinh_default, pointwise, float_1},
      {op::aten_arctan_default, pointwise, float_1},
      {op::aten_arctanh_default, pointwise, float_1},
      {op::aten_asin_default, pointwise, float_1},
      {op::aten_asinh_default, pointwise, float_1},
      {op::aten_atan_default, pointwise, float_1},
      {op::aten_atanh_default, pointwise, float_1},
      {op::aten_cos_default, pointwise, float_1},
      {op::aten_cosh_default, pointwise, float_1},
      {op::aten_deg2rad_default, pointwise, float_1},
      {op::aten_digamma_default, pointwise, float_1},
      {op::aten_erf_default, pointwise, float_1},
      {op::aten_erfc_default, pointwise, float_1},
      {op::aten_erfinv_default, pointwise, float_1},
      {op::aten_exp_default, pointwise, float_1},
      {op::aten_exp2_default, pointwise, float_1},
      {op::aten_expm1_default, pointwise, float_1},
      {op::aten_i0_default, pointwise, float_1},
      {op::aten_lgamma_default, pointwise, float_1},
      {op::aten_log_default, pointwise, float_1},
      {op::aten_log10_default, pointwise, float_1},
      {op::aten_log1p_default, pointwise, float_1},
      {op::aten_log2_default, pointwise, float_1},
      {op::aten_logit_default, pointwise, float_1},
      {op::aten_polygamma_default, pointwise, with(Promotion::int_to_float, 1, 1)},
      {op::aten_rad2deg_default, pointwise, float_1},
      {op::aten_reciprocal_default, pointwise, float_1},
      {op::aten_rsqrt_default, pointwise, float_1},
      {op::aten_sigmoid_default, pointwise, float_1},
      {op::aten_sin_default, pointwise, float_1},
      {op::aten_sinc_default, pointwise, float_1},
      {op::aten_sinh_default, pointwise, float_1},
      {op::aten_special_digamma_default, pointwise, float_1},
      {op::aten_special_psi_default, pointwise, float_1},
      {op::aten_special_erf_default, pointwise, float_1},
      {op::aten_special_erfc_default, pointwise, float_1},
      {op::aten_special_erfinv_default, pointwise, float_1},
      {op::aten_special_exp2_default, pointwise, float_1},
      {op::aten_special_expit_default, pointwise, float_1},
      {op::aten_special_expm1_default, pointwise, float_1},
      {op::aten_special_gammaln_default, pointwise, float_1},
      {op::aten_special_i0_default, pointwise, float_1},
      {op::aten_special_log1p_default, pointwise, float_1},
      {op::aten_special_ndtr_default, pointwise, float_1},
      {op::aten_special_sinc_default, pointwise, float_1},
      {op::aten_special_polygamma_default, pointwise, with(Promotion::int_to_float, 1, 1)},
      {op::aten_special_airy_ai_default, pointwise, float_1},
      {op::aten_special_bessel_j0_default, pointwise, float_1},
      {op::aten_special_bessel_j1_default, pointwise, float_1},
      {op::aten_special_bessel_y0_default, pointwise, float_1},
      {op::aten_special_bessel_y1_default, pointwise, float_1},
      {op::aten_special_entr_default, pointwise, float_1},
      {op::aten_special_erfcx_default, pointwise, float_1},
      {op::aten_special_i0e_default, pointwise, float_1},
      {op::aten_special_i1_default, pointwise, float_1},
      {op::aten_special_i1e_default, pointwise, float_1},
      {op::aten_special_log_ndtr_default, pointwise, float_1},
      {op::aten_special_logit_default, pointwise, float_1},
      {op::aten_special_modified_bessel_i0_default, pointwise, float_1},
      {op::aten_special_modified_bessel_i1_default, pointwise, float_1},
      {op::aten_special_modified_bessel_k0_default, pointwise, float_1},
      {op::aten_special_modified_bessel_k1_default, pointwise, float_1},
      {op::aten_special_ndtri_default, pointwise, float_1},
      {op::aten_special_scaled_modified_bessel_k0_default, pointwise, float_1},
      {op::aten_special_scaled_modified_bessel_k1_default, pointwise, float_1},
      {op::aten_special_spherical_bessel_j0_default, pointwise, float_1},
      {op::aten_sqrt_default, pointwise, float_1},
      {op::aten_tan_default, pointwise, float_1},
      {op::aten_tanh_default, pointwise, float_1},
      // One operand, complex becomes real.
      {op::aten_abs_default, pointwise, real_1},
      {op::aten_absolute_default, pointwise, real_1},
      // One operand, a bool results.
      {op::aten_isfinite_default, pointwise, bool_1},
      {op::aten_isinf_default, pointwise, bool_1},
      {op::aten_isnan_default, pointwise, bool_1},
      {op::aten_isneginf_default, pointwise, bool_1},
      {op::aten_isposinf_default, pointwise, bool_1},
      {op::aten_isreal_default, pointwise, bool_1},
      {op::aten_logical_not_default, pointwise, bool_1},
      {op::aten_signbit_default, pointwise, bool_1},
      // Two operands.
      {op::aten___and___Scalar, pointwise, same_2},
      {op::aten___and___Tensor, pointwise, same_2},
      {op::aten___lshift___Scalar, pointwise, same_2},
      {op::aten___lshift___Tensor, pointwise, same_2},
      {op::aten___or___Scalar, pointwise, same_2},
      {op::aten___or___Tensor, pointwise, same_2},
      {op::aten___rshift___Scalar, pointwise, same_2},
      {op::aten___rshift___Tensor, pointwise, same_2},
      {op::aten___xor___Scalar, pointwise, same_2},
      {op::aten___xor___Tensor, pointwise, same_2},
      {op::aten__add_relu_Scalar, pointwise, same_2},
      {op::aten__add_relu_Tensor, pointwise, same_2},
      {op::aten_add_Scalar, pointwise, same_2},
      {op::aten_add_Tensor, pointwise, same_2},
      {op::aten_bitwise_and_Scalar, pointwise, same_2},
      {op::aten_bitwise_and_Scalar_Tensor, pointwise, same_2},
      {op::aten_bitwise_and_Tensor, pointwise, same_2},
      {op::aten_bitwise_left_shift_Scalar_Tensor, pointwise, same_2},
      {op::aten_bitwise_left_shift_Tensor, pointwise, same_2},
      {op::aten_bitwise_left_shift_Tensor_Scalar, pointwise, same_2},
      {op::aten_bitwise_or_Scalar, pointwise, same_2},
      {op::aten_bitwise_or_Scalar_Tensor, pointwise, same_2},
      {op::aten_bitwise_or_Tensor, pointwise, same_2},
      {op::aten_bitwise_right_shift_Scalar_Tensor, pointwise, same_2},
      {op::aten_bitwise_right_shift_Tensor, pointwise, same_2},
      {op::aten_bitwise_right_shift_Tensor_Scalar, pointwise, same_2},
      {op::aten_bitwise_xor_Scalar, pointwise, same_2},
      {op::aten_bitwise_xor_Scalar_Tensor, pointwise, same_2},
      {op::aten_bitwise_xor_Tensor, pointwise, same_2},
      {op::aten_fmax_default, pointwise, same_2},
      {op::aten_fmin_default, pointwise, same_2},
      {op::aten_fmod_Scalar, pointwise, same_2},
      {op::aten_fmod_Tensor, pointwise, same_2},
      {op::aten_gcd_default, pointwise, same_2},
      {op::aten_heaviside_default, pointwise, same_2},
      {op::aten_hypot_default, pointwise, same_2},
      {op::aten_igamma_default, pointwise, same_2},
      {op::aten_igammac_default, pointwise, same_2},
      {op::aten_lcm_default, pointwise, same_2},
      {op::aten_logaddexp_default, pointwise, float_2},
      {op::aten_logaddexp2_default, pointwise, float_2},
      {op::aten_max_other, pointwise, same_2},
      {op::aten_maximum_default, pointwise, same_2},
      {op::aten_min_other, pointwise, same_2},
      {op::aten_minimum_default, pointwise, same_2},
      {op::aten_mul_Scalar, pointwise, same_2},
      {op::aten_mul_Tensor, pointwise, same_2},
      {op::aten_multiply_Scalar, pointwise, same_2},
      {op::aten_multiply_Tensor, pointwise, same_2},
      {op::aten_nextafter_default, pointwise, same_2},
      {op::aten_pow_Scalar, pointwise, same_2},
      {op::aten_pow_Tensor_Scalar, pointwise, with(Promotion::to_common, 2)},
      {op::aten_pow_Tensor_Tensor, pointwise, same_2},
      {op::aten_remainder_Scalar, pointwise, same_2},
      {op::aten_remainder_Scalar_Tensor, pointwise, same_2},
      {op::aten_remainder_Tensor, pointwise, same_2},
      {op::aten_rsub_Scalar, pointwise, same_2},
      {op::aten_rsub_Tensor, pointwise, same_reversed},
      {op::aten_sub_Scalar, pointwise, same_2},
      {op::aten_sub_Tensor, pointwise, same_2},
      {op::aten_subtract_Scalar, pointwise, same_2},
      {op::aten_subtract_Tensor, pointwise, same_2},
      {op::aten_atan2_default, pointwise, float_2},
      {op::aten_arctan2_default, pointwise, float_2},
      {op::aten_copysign_Scalar, pointwise, float_2},
      {op::aten_copysign_Tensor, pointwise, float_reversed},
      {op::aten_div_Scalar, pointwise, float_2},
      {op::aten_div_Tensor, pointwise, float_2},
      {op::aten_divide_Scalar, pointwise, float_2},
      {op::aten_divide_Tensor, pointwise, float_2},
      {op::aten_true_divide_Scalar, pointwise, float_2},
      {op::aten_true_divide_Tensor, pointwise, float_2},
      {op::aten_special_gammainc_default, pointwise, same_2},
      {op::aten_special_gammaincc_default, pointwise, same_2},
      {op::aten_special_xlog1py_default, pointwise, float_reversed},
      {op::aten_special_xlog1py_other_scalar, pointwise, float_2},
      {op::aten_special_xlog1py_self_scalar, pointwise, float_2},
      {op::aten_special_zeta_default, pointwise, float_2},
      {op::aten_special_zeta_other_scalar, pointwise, float_2},
      {op::aten_special_zeta_self_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_t_default, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_t_n_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_t_x_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_u_default, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_u_n_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_u_x_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_v_default, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_w_default, pointwise, float_2},
      {op::aten_special_hermite_polynomial_h_default, pointwise, float_2},
      {op::aten_special_hermite_polynomial_h_n_scalar, pointwise, float_2},
      {op::aten_special_hermite_polynomial_h_x_scalar, pointwise, float_2},
      {op::aten_special_hermite_polynomial_he_default, pointwise, float_2},
      {op::aten_special_hermite_polynomial_he_n_scalar, pointwise, float_2},
      {op::aten_special_hermite_polynomial_he_x_scalar, pointwise, float_2},
      {op::aten_special_laguerre_polynomial_l_default, pointwise, float_2},
      {op::aten_special_laguerre_polynomial_l_n_scalar, pointwise, float_2},
      {op::aten_special_laguerre_polynomial_l_x_scalar, pointwise, float_2},
      {op::aten_special_legendre_polynomial_p_default, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_t_default, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_t_n_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_t_x_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_u_default, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_u_n_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_u_x_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_v_default, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_v_n_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_v_x_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_w_default, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_w_n_scalar, pointwise, float_2},
      {op::aten_special_shifted_chebyshev_polynomial_w_x_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_v_n_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_v_x_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_w_n_scalar, pointwise, float_2},
      {op::aten_special_chebyshev_polynomial_w_x_scalar, pointwise, float_2},
      {op::aten_special_legendre_polynomial_p_n_scalar, pointwise, float_2},
      {op::aten_special_legendre_polynomial_p_x_scalar, pointwise, float_2},
      {op::aten_ldexp_Tensor, pointwise, float_2},
      {op::aten_xlogy_Scalar_Other, pointwise, float_2},
      {op::aten_xlogy_Scalar_Self, pointwise, float_2},
      {op::aten_special_xlogy_default, pointwise, float_reversed},
      {op::aten_special_xlogy_other_scalar, pointwise, float_2},
      {op::aten_special_xlogy_self_scalar, pointwise, float_2},
      {op::aten_xlogy_Tensor, pointwise, float_reversed},
      {op::aten__prelu_kernel_default, pointwise, same_2},
      // Comparisons.
      {op::aten_eq_Scalar, pointwise, bool_2},
      {op::aten_eq_Tensor, pointwise, bool_2},
      {op::aten_ge_Scalar, pointwise, bool_2},
      {op::aten_ge_Tensor, pointwise, bool_2},
      {op::aten_greater_Scalar, pointwise, bool_2},
      {op::aten_greater_Tensor, pointwise, bool_2},
      {op::aten_greater_equal_Scalar, pointwise, bool_2},
      {op::aten_greater_equal_Tensor, pointwise, bool_2},
      {op::aten_gt_Scalar, pointwise, bool_2},
      {op::aten_gt_Tensor, pointwise, bool_2},
      {op::aten_le_Scalar, pointwise, bool_2},
      {op::aten_le_Tensor, pointwise, bool_2},
      {op::aten_less_Scalar, pointwise, bool_2},
      {op::aten_less_Tensor, pointwise, bool_2},
      {op::aten_less_equal_Scalar, pointwise, bool_2},
      {op::aten_less_equal_Tensor, pointwise, bool_2},
      {op::aten_logical_and_default, pointwise, bool_2},
      {op::aten_logical_or_default, pointwise, bool_2},
      {op::aten_logical_xor_default, pointwise, bool_2},
      {op::aten_lt_Scalar, pointwise, bool_2},
      {op::aten_lt_Tensor, pointwise, bool_2},
      {op::aten_ne_Scalar, pointwise, bool_2},
      {op::aten_ne_Tensor, pointwise, bool_2},
      {op::aten_not_equal_Scalar, pointwise, bool_2},
      {op::aten_not_equal_Tensor, pointwise, bool_2},
      // Three operands, and numbers that say how to compute.
      {op::aten_addcmul_default, pointwise, same_3},
      {op::aten_clamp_default, pointwise, with(Promotion::to_common, 3)},
      {op::aten_clamp_Tensor, pointwise, same_3},
      {op::aten_clamp_max_default, pointwise, with(Promotion::to_common, 2)},
      {op::aten_clamp_max_Tensor, pointwise, same_2},
      {op::aten_clamp_min_default, pointwise, with(Promotion::to_common, 2)},
      {op::aten_clamp_min_Tensor, pointwise, same_2},
      {op::aten_clip_default, pointwise, with(Promotion::to_common, 3)},
      {op::aten_clip_Tensor, pointwise, same_3},
      // Backward formulas.
      {op::aten_gelu_backward_default, pointwise, same_2},
      {op::aten_hardshrink_backward_default, pointwise, same_2},
      {op::aten_hardsigmoid_backward_default, pointwise, same_reversed},
      {op::aten_hardswish_backward_default, pointwise, same_reversed},
      {op::aten_hardtanh_backward_default, pointwise, same_reversed},
      {op::aten_leaky_relu_backward_default, pointwise, same_reversed},
      {op::aten_log_sigmoid_backward_default, pointwise, same_3},
      {op::aten_logit_backward_default, pointwise, same_reversed},
      {op::aten_mish_backward_default, pointwise, same_2},
      {op::aten_sigmoid_backward_default, pointwise, same_2},
      {op::aten_silu_backward_default, pointwise, same_2},
      {op::aten_rrelu_with_noise_backward_default, pointwise, same_reversed},
      {op::aten_softplus_backward_default, pointwise, same_reversed},
      {op::aten_softshrink_backward_default, pointwise, same_2},
      {op::aten_tanh_backward_default, pointwise, same_2},
  };
  return rows;
}

}  // namespace winze
