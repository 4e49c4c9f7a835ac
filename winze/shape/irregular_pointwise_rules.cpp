// SPDX-License-Identifier: Apache-2.0
// Elementwise operators that a row of a table does not describe.
#include <array>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// An operand as torch/_refs converts it before it computes: only what is dense keeps its strides.
FakeTensor converted(const ShapeEnv& env, const TensorMeta& tensor, ScalarType dtype) {
  if (tensor.dtype == dtype || is_non_overlapping_and_dense(env, tensor)) return FakeTensor(tensor);
  return elementwise_like(env, tensor);
}

/// aten::where: the condition decides nothing about the dtype.
void where(ShapeCall& call) {
  TypePromotion promotion;
  for (const std::uint32_t index : {1U, 2U}) {
    if (const TensorMeta* tensor = call.tensor_or_null(index)) {
      promotion.add(*tensor);
    } else {
      promotion.add_number(call.number_kind(index));
    }
  }
  const ScalarType dtype = promotion.common();
  ElementwiseOperands operands;
  operands.add_without_dtype(call.tensor(0));
  std::array<FakeTensor, 2> values;
  std::array<TensorMeta, 2> metas;
  for (std::uint32_t at = 0; at < 2; ++at) {
    const TensorMeta* const tensor = call.tensor_or_null(at + 1);
    if (tensor == nullptr) continue;
    values[at] = converted(call.env(), *tensor, dtype);
    metas[at] = values[at];
    operands.add_without_dtype(metas[at]);
  }
  call.yield(operands.result_of(call.env(), dtype));
}

/// aten::masked_fill: always contiguous (aten/src/ATen/native/TensorAdvancedIndexing.cpp).
void masked_fill(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& mask = call.tensor(1);
  const TensorMeta* const value = call.tensor_or_null(2);
  if (value != nullptr && value->dim() != 0) {
    fail(
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} "
        "dimension(s).",
        value->dim());
  }
  const ScalarType kind = value != nullptr ? value->dtype : call.number_kind(2);
  if (is_complex(kind) && !is_complex(self.dtype))
    fail("value cannot be converted to type {} without overflow", full_name(self.dtype));
  if (mask.dtype != ScalarType::bool_)
    fail("masked_fill only supports boolean masks, but got mask with dtype {}",
         full_name(mask.dtype));
  call.yield(empty_tensor(call.env(), broadcast_sizes(call.env(), self.sizes, mask.sizes),
                          self.dtype, self.device));
}

/// aten::prelu: weights broadcast along the second dimension and have no say.
void prelu(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  if (self.dtype != weight.dtype) {
    fail("prelu: Type promoting not supported. Got {} and {}", full_name(self.dtype),
         full_name(weight.dtype));
  }
  if (weight.dim() > 1)
    fail("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}", weight.dim());
  const SymInt count = weight.dim() == 0 ? SymInt(1) : weight.sizes[0];
  if (!env.known_one(count)) {
    if (self.dim() == 0) throw Error("Not allow zero-dim input tensor.");
    const SymInt channels = self.dim() == 1 ? SymInt(1) : self.sizes[1];
    env.require_equal(count, channels, [&] {
      return fmt::format(
          "Mismatch of parameter numbers and input channel size. Found parameter "
          "numbers = {} and channel size = {}.",
          env.str(count), env.str(channels));
    });
  }
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// aten::div with a rounding mode: only `trunc` and `floor` keep integers.
void div_mode(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  if (const TensorMeta* tensor = call.tensor_or_null(1)) {
    operands.add(*tensor);
  } else {
    operands.add_number(call.number_kind(1));
  }
  const Promotion promotion = call.is_none(2) ? Promotion::int_to_float : Promotion::to_common;
  call.yield(operands.result(call.env(), promotion));
}

/// aten::angle: integers become floats, complex becomes real.
void angle(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  const ScalarType dtype = promoted(call.tensor(0).dtype, Promotion::int_to_float);
  call.yield(operands.result_of(call.env(), to_real(dtype)));
}

/// aten::complex and aten::polar: two real tensors of one dtype.
void complex(ShapeCall& call) {
  ElementwiseOperands operands;
  const TensorMeta& first = call.tensor(0);
  if (first.dtype != call.tensor(1).dtype || !is_floating_point(first.dtype))
    fail("Expected both inputs to be Half, Float or Double tensors of one dtype but got {} and {}",
         full_name(first.dtype), full_name(call.tensor(1).dtype));
  operands.add(first);
  operands.add(call.tensor(1));
  call.yield(operands.result_of(call.env(), to_complex(first.dtype)));
}

/// aten::float_power: in double precision.
void float_power(ShapeCall& call) {
  ElementwiseOperands operands;
  bool any_complex = false;
  for (const std::uint32_t index : {0U, 1U}) {
    if (const TensorMeta* tensor = call.tensor_or_null(index)) {
      operands.add(*tensor);
      any_complex = any_complex || is_complex(tensor->dtype);
    } else {
      any_complex = any_complex || is_complex(call.number_kind(index));
    }
  }
  call.yield(
      operands.result_of(call.env(), any_complex ? ScalarType::complex128 : ScalarType::float64));
}

/// aten::mvlgamma: a sum, which is contiguous.
void mvlgamma(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), self.sizes, promoted(self.dtype, Promotion::int_to_float),
                          self.device));
}

/// aten::float_power_, which converts nothing.
void in_double(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta* const exponent = call.tensor_or_null(1);
  const bool any_complex =
      is_complex(self.dtype) ||
      (exponent != nullptr ? is_complex(exponent->dtype) : is_complex(call.number_kind(1)));
  const ScalarType wanted = any_complex ? ScalarType::complex128 : ScalarType::float64;
  if (self.dtype != wanted) {
    fail("the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
         full_name(self.dtype), full_name(wanted));
  }
  call.yield(self);
}
/// aten::polygamma_, whose arguments stand the other way round.
void polygamma_in_place(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const ScalarType dtype = promoted(self.dtype, Promotion::int_to_float);
  if (!can_cast(dtype, self.dtype))
    fail("result type {} can't be cast to the desired output type {}", full_name(dtype),
         full_name(self.dtype));
  call.yield(self);
}

/// aten::frexp: mantissa and exponent.
void frexp(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  if (!is_floating_point(call.tensor(0).dtype))
    throw Error("torch.frexp() only supports floating-point dtypes");
  call.yield(operands.result(call.env(), Promotion::to_common));
  call.yield(operands.result_of(call.env(), ScalarType::int32));
}

/// aten::floor_divide: floats are chosen by `where(other != 0, ...)`, of all sizes.
void floor_divide(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta* const other = call.tensor_or_null(1);
  TypePromotion promotion;
  promotion.add(self);
  if (other != nullptr) {
    promotion.add(*other);
  } else {
    promotion.add_number(call.number_kind(1));
  }
  const ScalarType dtype = promotion.common();
  if (is_complex(dtype)) throw Error("floor_divide does not support complex numbers");
  ElementwiseOperands operands;
  if (other == nullptr || is_integral_or_bool(dtype)) {
    operands.add_without_dtype(self);
    if (other != nullptr) operands.add_without_dtype(*other);
    return call.yield(operands.result_of(call.env(), dtype));
  }
  ShapeEnv& env = call.env();
  const FakeTensor chosen =
      elementwise_like(env, expand(env, *other, broadcast_sizes(env, self.sizes, other->sizes)));
  const TensorMeta condition = chosen;
  operands.add_without_dtype(condition);
  operands.add_without_dtype(self);
  call.yield(operands.result_of(env, dtype));
}

/// aten::addcdiv(self, tensor1, tensor2)
void addcdiv(ShapeCall& call) {
  if (is_integral_or_bool(call.tensor(1).dtype) && is_integral_or_bool(call.tensor(2).dtype))
    throw Error("Integer division with addcdiv is no longer supported");
  ElementwiseOperands operands;
  for (const std::uint32_t index : {0U, 1U, 2U}) operands.add(call.tensor(index));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// aten::lerp(self, end, weight): of one dtype, but for a weight without dimensions.
void lerp(ShapeCall& call) {
  ElementwiseOperands operands;
  const TensorMeta& self = call.tensor(0);
  constexpr std::string_view names[] = {"self", "end", "weight"};
  for (const std::uint32_t index : {0U, 1U, 2U}) {
    const TensorMeta* const tensor = call.tensor_or_null(index);
    if (tensor == nullptr) continue;
    const bool is_number = index == 2 && tensor->dim() == 0;
    if (tensor->dtype != self.dtype && !is_number)
      fail("expected dtype {} for `{}`, but got dtype {}", full_name(self.dtype), names[index],
           full_name(tensor->dtype));
    operands.add(*tensor);
  }
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// aten::threshold_backward(grad, self): `where(self <= threshold, 0, grad)`
void threshold_backward(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add_without_dtype(call.tensor(1));
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}
/// aten::elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)
void elu_backward(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(5));
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// aten::isin(elements, test_elements)
void isin(ShapeCall& call) {
  const TensorMeta* const elements = call.tensor_or_null(0);
  if (elements == nullptr)
    return call.yield(empty_tensor(call.env(), {}, ScalarType::bool_, call.tensor(1).device));
  FakeTensor result = elementwise_like(call.env(), *elements);
  result.dtype = ScalarType::bool_;
  call.yield(result);
}

/// aten::log_sigmoid_forward: what the gradient needs follows, on the CPU alone.
void log_sigmoid_forward(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  ElementwiseOperands operands;
  operands.add(self);
  const FakeTensor result = operands.result(call.env(), Promotion::to_common);
  call.yield(result);
  const DimVector nothing = {0};
  call.yield(is_cpu(self) ? result : empty_tensor(call.env(), nothing, self.dtype, self.device));
}

/// Operators of one tensor that refuse some of their arguments.
void like_one(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}
void neg(ShapeCall& call) {
  if (call.tensor(0).dtype == ScalarType::bool_)
    throw Error(
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.");
  like_one(call);
}
void gelu(ShapeCall& call) {
  const std::string_view approximate = call.string(1);
  if (approximate != "none" && approximate != "tanh")
    throw Error("approximate argument must be either none or tanh.");
  like_one(call);
}
void softshrink(ShapeCall& call) {
  if (const auto lambda = call.constant_number(1); lambda && *lambda < 0)
    fail("lambda must be greater or equal to 0, but found to be {}.", *lambda);
  like_one(call);
}
/// aten::isclose(self, other, rtol, atol)
void isclose(ShapeCall& call) {
  constexpr std::string_view names[] = {"rtol", "atol"};
  for (std::uint32_t at = 0; at < 2; ++at) {
    if (const auto tolerance = call.constant_number(2 + at); tolerance && *tolerance < 0)
      fail("{} must be greater than or equal to zero, but got {}", names[at], *tolerance);
  }
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& other = call.tensor(1);
  if (self.dtype != other.dtype)
    fail("{} did not match {}", full_name(self.dtype), full_name(other.dtype));
  ElementwiseOperands operands;
  operands.add(self);
  operands.add(other);
  call.yield(operands.result(call.env(), Promotion::always_bool));
}

}  // namespace

std::span<const ShapeRow> irregular_pointwise_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_addcdiv_default, addcdiv},
      {op::aten_angle_default, angle},
      {op::aten_complex_default, complex},
      {op::aten_div_Scalar_mode, div_mode},
      {op::aten_div_Tensor_mode, div_mode},
      {op::aten_divide_Scalar_mode, div_mode},
      {op::aten_divide_Tensor_mode, div_mode},
      {op::aten_elu_backward_default, elu_backward},
      {op::aten_float_power_Scalar, float_power},
      {op::aten_float_power_Tensor_Scalar, float_power},
      {op::aten_float_power_Tensor_Tensor, float_power},
      {op::aten_float_power__Scalar, in_double},
      {op::aten_float_power__Tensor, in_double},
      {op::aten_floor_divide_default, floor_divide},
      {op::aten_floor_divide_Scalar, floor_divide},
      {op::aten_frexp_Tensor, frexp},
      {op::aten_gelu_default, gelu},
      {op::aten_isclose_default, isclose},
      {op::aten_isin_Scalar_Tensor, isin},
      {op::aten_isin_Tensor_Scalar, isin},
      {op::aten_isin_Tensor_Tensor, isin},
      {op::aten_lerp_Scalar, lerp},
      {op::aten_lerp_Tensor, lerp},
      {op::aten_log_sigmoid_forward_default, log_sigmoid_forward},
      {op::aten_masked_fill_Scalar, masked_fill},
      {op::aten_masked_fill_Tensor, masked_fill},
      {op::aten_mvlgamma_default, mvlgamma},
      {op::aten_neg_default, neg},
      {op::aten_negative_default, neg},
      {op::aten_polar_default, complex},
      {op::aten_polygamma__default, polygamma_in_place},
      {op::aten_prelu_default, prelu},
      {op::aten_softshrink_default, softshrink},
      {op::aten_special_multigammaln_default, mvlgamma},
      {op::aten_threshold_backward_default, threshold_backward},
      {op::aten_where_Scalar, where},
      {op::aten_where_ScalarOther, where},
      {op::aten_where_ScalarSelf, where},
      {op::aten_where_self, where},
      {op::prims_frexp_default, frexp},
  };
  return rows;
}

}  // namespace winze
