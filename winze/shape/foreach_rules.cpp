// SPDX-License-Identifier: Apache-2.0
// Elementwise operators over lists of tensors, after aten/src/ATen/native/ForeachOpsKernels.cpp:
// the operator of one tensor for each of the list.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// Which results an operator refuses to compute.
enum class Refuses : std::uint32_t { nothing, bools, integers };

/// How many arguments are operands, how the dtype is made, and what is refused.
constexpr std::uint32_t with(std::uint32_t count, Promotion promotion = Promotion::to_common,
                             Refuses refuses = Refuses::nothing) {
  return static_cast<std::uint32_t>(refuses) << 16 | static_cast<std::uint32_t>(promotion) << 8 |
         count;
}

/// The operands of a call: lists of tensors, and what is the same for all of them or a list of
/// numbers of one kind.
class Operands {
 public:
  Operands(const ShapeCall& call, std::uint32_t count) : call_(call), lists_(count) {
    for (std::uint32_t index = 0; index < count; ++index) {
      if (!call.argument(index).is_list()) continue;
      lists_[index] = call.tensors(index);
      const std::size_t found = lists_[index].size();
      if (length_ == 0) length_ = found;
      if (found != length_) {
        fail("Tensor lists must have the same number of tensors, got {} and {}", length_, found);
      }
    }
    if (length_ == 0) throw Error("Tensor list must have at least one tensor.");
  }

  [[nodiscard]] std::size_t size() const { return length_; }

  [[nodiscard]] const TensorMeta& tensor(std::size_t at) const {
    const TensorMeta* const found = lists_[0].empty() ? nullptr : lists_[0][at];
    if (found == nullptr) call_.cannot_infer("{} is given None", call_.op().qualified_name);
    return *found;
  }

  /// The operands of tensor `at`.
  [[nodiscard]] ElementwiseOperands at(std::size_t at) const {
    ElementwiseOperands operands;
    for (std::uint32_t index = 0; index < lists_.size(); ++index) {
      if (lists_[index].empty()) {
        add_shared(operands, index);
      } else if (lists_[index][at] == nullptr) {
        call_.cannot_infer("{} is given None", call_.op().qualified_name);
      } else {
        operands.add(*lists_[index][at]);
      }
    }
    return operands;
  }

 private:
  void add_shared(ElementwiseOperands& operands, std::uint32_t index) const {
    switch (call_.argument(index).kind()) {
      case ArgumentKind::integers:
        return operands.add_number(ScalarType::int64);
      case ArgumentKind::floats:
        return operands.add_number(ScalarType::float64);
      case ArgumentKind::booleans:
        return operands.add_number(ScalarType::bool_);
      default:
        break;
    }
    if (const TensorMeta* tensor = call_.tensor_or_null(index)) return operands.add(*tensor);
    operands.add_number(call_.number_kind(index));
  }

  const ShapeCall& call_;
  std::vector<std::vector<const TensorMeta*>> lists_;  ///< by argument; empty where it is no list
  std::size_t length_ = 0;
};

void foreach_pointwise(ShapeCall& call) {
  const Operands operands(call, call.parameter() & 0xFF);
  const auto promotion = static_cast<Promotion>(call.parameter() >> 8 & 0xFF);
  const auto refuses = static_cast<Refuses>(call.parameter() >> 16);
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const FakeTensor result = operands.at(at).result(call.env(), promotion);
    if ((refuses == Refuses::bools && result.dtype == ScalarType::bool_) ||
        (refuses == Refuses::integers && is_integral_or_bool(result.dtype)))
      fail("{} does not support tensors of {}", call.op().schema.name, full_name(result.dtype));
    call.yield(result);
  }
}

/// _foreach_addcmul.Tensor(self, tensor1, tensor2, scalars): a vector with a number for each
/// tensor.
void foreach_with_vector(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& scalars = call.tensor(3);
  const Operands operands(call, 3);
  if (scalars.dim() != 1)
    fail("Expected packed scalar Tensor to be of dimension 1. Got {} instead.", scalars.dim());
  const auto count = static_cast<std::int64_t>(operands.size());
  env.require_equal(scalars.sizes[0], count, [&] {
    return fmt::format("Expected length of scalars to match input of length {} but got {} instead.",
                       count, env.str(scalars.sizes[0]));
  });
  foreach_pointwise(call);
}

/// _foreach_clone
void foreach_clone(ShapeCall& call) {
  const Operands operands(call, 1);
  const MemoryFormat format = call.memory_format(1, MemoryFormat::preserve_format);
  for (std::size_t at = 0; at < operands.size(); ++at)
    call.yield(empty_like(call.env(), operands.tensor(at), format));
}

/// _foreach_norm, _foreach_max: a number for each tensor. `parameter` 1 makes it real.
void foreach_reduction(ShapeCall& call) {
  const Operands operands(call, 1);
  const auto given = call.dtype(call.position("dtype"));
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const TensorMeta& tensor = operands.tensor(at);
    ScalarType dtype = given.value_or(tensor.dtype);
    if (call.parameter() == 1) {
      if (is_integral_or_bool(dtype))
        fail("{} only supports floating point and complex dtypes", call.op().schema.name);
      dtype = to_real(dtype);
    }
    call.yield(empty_tensor(call.env(), {}, dtype, tensor.device));
  }
}

/// _foreach_mm(self, mat2)
void foreach_mm(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto left = call.tensors(0);
  const auto right = call.tensors(1);
  if (left.size() != right.size())
    fail("Tensor lists must have the same number of tensors, got {} and {}", left.size(),
         right.size());
  for (std::size_t at = 0; at < left.size(); ++at) {
    const TensorMeta* const a = left[at];
    const TensorMeta* const b = right[at];
    if (a == nullptr || b == nullptr)
      call.cannot_infer("{} is given None", call.op().qualified_name);
    if (a->dim() != 2 || b->dim() != 2 || a->dtype != b->dtype)
      throw Error("_foreach_mm expects matrices of one dtype");
    env.require_equal(a->sizes[1], b->sizes[0], [&] {
      return fmt::format("_foreach_mm: sizes {} and {} of the operands do not match",
                         env.str(a->sizes[1]), env.str(b->sizes[0]));
    });
    call.yield(empty_tensor(env, DimVector{a->sizes[0], b->sizes[1]}, a->dtype, a->device));
  }
}

constexpr std::uint32_t one = with(1);
constexpr std::uint32_t two = with(2);
constexpr std::uint32_t three = with(3);
constexpr std::uint32_t float_three = with(3, Promotion::to_common, Refuses::integers);
constexpr std::uint32_t fraction = with(1, Promotion::to_common, Refuses::integers);
constexpr std::uint32_t difference = with(2, Promotion::to_common, Refuses::bools);
constexpr std::uint32_t power = with(2, Promotion::bool_to_long);
constexpr std::uint32_t float_one = with(1, Promotion::int_to_float);
constexpr std::uint32_t float_two = with(2, Promotion::int_to_float);

}  // namespace

std::span<const ShapeRow> foreach_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__foreach_abs_default, foreach_pointwise, with(1, Promotion::complex_to_float)},
      {op::aten__foreach_acos_default, foreach_pointwise, float_one},
      {op::aten__foreach_add_List, foreach_pointwise, two},
      {op::aten__foreach_add_Scalar, foreach_pointwise, two},
      {op::aten__foreach_add_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_add_Tensor, foreach_pointwise, two},
      {op::aten__foreach_addcdiv_Scalar, foreach_pointwise, float_three},
      {op::aten__foreach_addcdiv_ScalarList, foreach_pointwise, float_three},
      {op::aten__foreach_addcdiv_Tensor, foreach_with_vector, float_three},
      {op::aten__foreach_addcmul_Scalar, foreach_pointwise, three},
      {op::aten__foreach_addcmul_ScalarList, foreach_pointwise, three},
      {op::aten__foreach_addcmul_Tensor, foreach_with_vector, three},
      {op::aten__foreach_asin_default, foreach_pointwise, float_one},
      {op::aten__foreach_atan_default, foreach_pointwise, float_one},
      {op::aten__foreach_ceil_default, foreach_pointwise, one},
      {op::aten__foreach_clamp_max_List, foreach_pointwise, two},
      {op::aten__foreach_clamp_max_Scalar, foreach_pointwise, two},
      {op::aten__foreach_clamp_max_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_clamp_min_List, foreach_pointwise, two},
      {op::aten__foreach_clamp_min_Scalar, foreach_pointwise, two},
      {op::aten__foreach_clamp_min_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_clone_default, foreach_clone},
      {op::aten__foreach_cos_default, foreach_pointwise, float_one},
      {op::aten__foreach_cosh_default, foreach_pointwise, float_one},
      {op::aten__foreach_div_List, foreach_pointwise, float_two},
      {op::aten__foreach_div_Scalar, foreach_pointwise, float_two},
      {op::aten__foreach_div_ScalarList, foreach_pointwise, float_two},
      {op::aten__foreach_div_Tensor, foreach_pointwise, float_two},
      {op::aten__foreach_erf_default, foreach_pointwise, float_one},
      {op::aten__foreach_erfc_default, foreach_pointwise, float_one},
      {op::aten__foreach_exp_default, foreach_pointwise, float_one},
      {op::aten__foreach_expm1_default, foreach_pointwise, float_one},
      {op::aten__foreach_floor_default, foreach_pointwise, one},
      {op::aten__foreach_frac_default, foreach_pointwise, fraction},
      {op::aten__foreach_lerp_List, foreach_pointwise, three},
      {op::aten__foreach_lerp_Scalar, foreach_pointwise, two},
      {op::aten__foreach_lerp_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_lgamma_default, foreach_pointwise, float_one},
      {op::aten__foreach_log10_default, foreach_pointwise, float_one},
      {op::aten__foreach_log1p_default, foreach_pointwise, float_one},
      {op::aten__foreach_log2_default, foreach_pointwise, float_one},
      {op::aten__foreach_log_default, foreach_pointwise, float_one},
      {op::aten__foreach_max_default, foreach_reduction, 0},
      {op::aten__foreach_maximum_List, foreach_pointwise, two},
      {op::aten__foreach_maximum_Scalar, foreach_pointwise, two},
      {op::aten__foreach_maximum_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_minimum_List, foreach_pointwise, two},
      {op::aten__foreach_minimum_Scalar, foreach_pointwise, two},
      {op::aten__foreach_minimum_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_mm_default, foreach_mm},
      {op::aten__foreach_mul_List, foreach_pointwise, two},
      {op::aten__foreach_mul_Scalar, foreach_pointwise, two},
      {op::aten__foreach_mul_ScalarList, foreach_pointwise, two},
      {op::aten__foreach_mul_Tensor, foreach_pointwise, two},
      {op::aten__foreach_neg_default, foreach_pointwise,
       with(1, Promotion::to_common, Refuses::bools)},
      {op::aten__foreach_norm_Scalar, foreach_reduction, 1},
      {op::aten__foreach_pow_List, foreach_pointwise, power},
      {op::aten__foreach_pow_Scalar, foreach_pointwise, power},
      {op::aten__foreach_pow_ScalarAndTensor, foreach_pointwise, power},
      {op::aten__foreach_pow_ScalarList, foreach_pointwise, power},
      {op::aten__foreach_powsum_Scalar, foreach_reduction, 1},
      {op::aten__foreach_reciprocal_default, foreach_pointwise, float_one},
      {op::aten__foreach_round_default, foreach_pointwise, one},
      {op::aten__foreach_rsqrt_default, foreach_pointwise, float_one},
      {op::aten__foreach_sigmoid_default, foreach_pointwise, float_one},
      {op::aten__foreach_sign_default, foreach_pointwise, one},
      {op::aten__foreach_sin_default, foreach_pointwise, float_one},
      {op::aten__foreach_sinh_default, foreach_pointwise, float_one},
      {op::aten__foreach_sqrt_default, foreach_pointwise, float_one},
      {op::aten__foreach_sub_List, foreach_pointwise, difference},
      {op::aten__foreach_sub_Scalar, foreach_pointwise, difference},
      {op::aten__foreach_sub_ScalarList, foreach_pointwise, difference},
      {op::aten__foreach_tan_default, foreach_pointwise, float_one},
      {op::aten__foreach_tanh_default, foreach_pointwise, float_one},
      {op::aten__foreach_trunc_default, foreach_pointwise, one},
  };
  return rows;
}

}  // namespace winze
