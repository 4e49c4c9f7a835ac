// SPDX-License-Identifier: Apache-2.0
// Reductions, and what runs along one dimension: softmax, cumulative sums, sorting.
#include <cmath>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// How the dtype of a reduction comes about.
enum class DtypeRule : std::uint8_t {
  same,      ///< amax
  sum,       ///< integers and bools become int64
  mean,      ///< as it is; integers are refused unless a dtype is given
  boolean,   ///< any; uint8 stays uint8
  index,     ///< argmax
  real,      ///< var, norms: complex becomes real
  floating,  ///< logsumexp: integers become floats
  hash,      ///< hash_tensor: uint64
};

ScalarType result_dtype(const ShapeCall& call, const TensorMeta& self, DtypeRule rule) {
  const std::uint32_t at = call.position("dtype");
  if (const auto dtype = call.dtype(at)) {
    if (rule == DtypeRule::mean && is_integral_or_bool(*dtype))
      fail(
          "{}(): could not infer output dtype. Optional dtype must be either a floating point or "
          "complex dtype. Got: {}",
          call.op().schema.name, full_name(*dtype));
    return rule == DtypeRule::real ? to_real(*dtype) : *dtype;
  }
  switch (rule) {
    case DtypeRule::same:
      return self.dtype;
    case DtypeRule::sum:
      return is_integral_or_bool(self.dtype) ? ScalarType::int64 : self.dtype;
    case DtypeRule::mean:
      if (is_integral_or_bool(self.dtype))
        fail(
            "{}(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: {}",
            call.op().schema.name, full_name(self.dtype));
      return self.dtype;
    case DtypeRule::boolean:
      return self.dtype == ScalarType::uint8 ? ScalarType::uint8 : ScalarType::bool_;
    case DtypeRule::index:
      return ScalarType::int64;
    case DtypeRule::real:
      if (is_integral_or_bool(self.dtype))
        fail("{} only support floating point and complex dtypes", call.op().schema.name);
      return to_real(self.dtype);
    case DtypeRule::floating:
      return promoted(self.dtype, Promotion::int_to_float);
    case DtypeRule::hash:
      return ScalarType::uint64;
  }
  return self.dtype;
}

/// Sizes without the dimensions in `dims`, or with 1 in their place; all where there are none.
DimVector reduced_sizes(const TensorMeta& self, Sizes dims, bool keepdim) {
  std::array<bool, 64> is_reduced{};
  for (const SymInt given : dims) {
    const std::size_t dim = wrap_dim(given, self.dim());
    if (is_reduced[dim]) fail("dim {} appears multiple times in the list of dims", dim);
    is_reduced[dim] = true;
  }
  DimVector sizes;
  for (std::size_t dim = 0; dim < self.dim(); ++dim) {
    if (!dims.empty() && !is_reduced[dim]) {
      sizes.push_back(self.sizes[dim]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

FakeTensor reduce(const ShapeCall& call, Sizes dims, DtypeRule rule) {
  const TensorMeta& self = call.tensor(0);
  const bool keepdim = call.boolean(call.position("keepdim"));
  return empty_tensor(call.env(), reduced_sizes(self, dims, keepdim),
                      result_dtype(call, self, rule), self.device);
}

/// The largest of no elements is not defined.
void check_has_elements(const ShapeCall& call, const TensorMeta& self, Sizes dims) {
  ShapeEnv& env = call.env();
  if (dims.empty()) {
    for (const SymInt size : self.sizes) {
      env.require_at_least(size, 1, [&] {
        return fmt::format(
            "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument.",
            call.op().schema.name);
      });
    }
  }
  for (const SymInt given : dims) {
    const std::size_t dim = wrap_dim(given, self.dim());
    if (self.dim() == 0) continue;
    env.require_at_least(self.sizes[dim], 1, [&] {
      return fmt::format("{}(): Expected reduction dim {} to have non-zero size.",
                         call.op().schema.name, dim);
    });
  }
}

/// amax, amin, argmax, argmin.
void extremum(ShapeCall& call) {
  const DimVector dims = call.sym_ints(call.position("dim"));
  check_has_elements(call, call.tensor(0), dims);
  call.yield(reduce(call, dims, static_cast<DtypeRule>(call.parameter())));
}

/// linalg_vector_norm(self, ord, dim): norms that are the largest or smallest need elements.
void vector_norm(ShapeCall& call) {
  const DimVector dims = call.sym_ints(call.position("dim"));
  const auto ord = call.constant_number(1);
  if (ord && (*ord < 0 || std::isinf(*ord))) check_has_elements(call, call.tensor(0), dims);
  call.yield(reduce(call, dims, DtypeRule::real));
}

/// A reduction over the argument `dim`: a list, one dimension, or all where it is left out.
void reduction(ShapeCall& call) {
  call.yield(
      reduce(call, call.sym_ints(call.position("dim")), static_cast<DtypeRule>(call.parameter())));
}

/// any, all and nansum over dimensions: an empty list reduces none.
void reduction_of_listed(ShapeCall& call) {
  const std::uint32_t at = call.position("dim");
  if (call.is_none(at) || !call.sym_ints(at).empty()) return reduction(call);
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), self.sizes,
                          result_dtype(call, self, static_cast<DtypeRule>(call.parameter())),
                          self.device));
}

/// var_mean and std_mean: both.
void moments(ShapeCall& call) {
  const DimVector dims = call.sym_ints(call.position("dim"));
  call.yield(reduce(call, dims, DtypeRule::real));
  call.yield(reduce(call, dims, DtypeRule::mean));
}

/// Values and their indices: max.dim, median.dim, kthvalue, mode.
void with_indices(ShapeCall& call) {
  const DimVector dims = call.sym_ints(call.position("dim"));
  call.yield(reduce(call, dims, DtypeRule::same));
  call.yield(reduce(call, dims, DtypeRule::index));
}

/// kthvalue(self, k, dim)
void kthvalue(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  ShapeEnv& env = call.env();
  const SymInt k = call.sym_int(1);
  const SymInt size = self.dim() == 0 ? SymInt(1) : self.sizes[call.dim(2, self.dim())];
  const auto why = [&] {
    return fmt::format("kthvalue(): selected number k out of range for dimension {}",
                       call.dim(2, self.dim()));
  };
  env.require_at_least(k, 1, why);
  env.require_at_least(size, k, why);
  with_indices(call);
}

void aminmax(ShapeCall& call) {
  const DimVector dims = call.sym_ints(1);
  check_has_elements(call, call.tensor(0), dims);
  call.yield(reduce(call, dims, DtypeRule::same));
  call.yield(reduce(call, dims, DtypeRule::same));
}

/// softmax(self, dim, dtype) and _softmax(self, dim, half_to_float).
void softmax(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(call.dim(1, self.dim()));
  FakeTensor result = empty_like(call.env(), self, MemoryFormat::contiguous_format);
  if (call.parameter() == 1) {
    if (call.boolean(2)) result.dtype = ScalarType::float32;
  } else if (const auto dtype = call.dtype(2)) {
    result.dtype = *dtype;
  }
  call.yield(result);
}

void softmax_backward(ShapeCall& call) {
  FakeTensor result = empty_like(call.env(), call.tensor(0), MemoryFormat::contiguous_format);
  if (const auto dtype = call.dtype(3)) result.dtype = *dtype;
  call.yield(result);
}

/// cumsum, cumprod: integers become int64.
void cumulative(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(call.dim(1, self.dim()));
  FakeTensor result = empty_like(call.env(), self, MemoryFormat::contiguous_format);
  result.dtype = result_dtype(call, self, DtypeRule::sum);
  call.yield(result);
}

void cumulative_extremum(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(call.dim(1, self.dim()));
  FakeTensor result = empty_like(call.env(), self, MemoryFormat::contiguous_format);
  call.yield(result);
  result.dtype = ScalarType::int64;
  call.yield(result);
}

/// Values and indices in the layout of the input, or contiguous where that is not dense.
void sort(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(call.dim(call.position("dim"), self.dim()));
  FakeTensor result = elementwise_like(call.env(), self);
  if (call.parameter() == 0) call.yield(result);
  result.dtype = ScalarType::int64;
  call.yield(result);
}

void topk(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  ShapeEnv& env = call.env();
  const std::size_t dim = call.dim(2, self.dim());
  const SymInt k = call.sym_int(1);
  DimVector sizes(self.sizes);
  const auto why = [] { return std::string("selected index k out of range"); };
  env.require_at_least(k, 0, why);
  env.require_at_least(self.dim() == 0 ? SymInt(1) : sizes[dim], k, why);
  if (self.dim() > 0) sizes[dim] = k;
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
  call.yield(empty_tensor(env, sizes, ScalarType::int64, self.device));
}

constexpr std::uint32_t as(DtypeRule rule) {
  return static_cast<std::uint32_t>(rule);
}

}  // namespace

std::span<const ShapeRow> reduction_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_linalg__powsum_default, vector_norm},
      {op::aten_hash_tensor_default, reduction, as(DtypeRule::hash)},
      {op::aten__log_softmax_default, softmax, 1},

      {op::aten__safe_softmax_default, softmax, 0},
      {op::aten__softmax_default, softmax, 1},
      {op::aten__softmax_backward_data_default, softmax_backward},
      {op::aten_all_default, reduction, as(DtypeRule::boolean)},
      {op::aten_all_dim, reduction, as(DtypeRule::boolean)},
      {op::aten_all_dims, reduction_of_listed, as(DtypeRule::boolean)},
      {op::aten_amax_default, extremum, as(DtypeRule::same)},
      {op::aten_amin_default, extremum, as(DtypeRule::same)},
      {op::aten__aminmax_default, aminmax},
      {op::aten__aminmax_dim, aminmax},
      {op::aten_aminmax_default, aminmax},
      {op::aten_any_default, reduction, as(DtypeRule::boolean)},
      {op::aten_any_dim, reduction, as(DtypeRule::boolean)},
      {op::aten_any_dims, reduction_of_listed, as(DtypeRule::boolean)},
      {op::aten_argmax_default, extremum, as(DtypeRule::index)},
      {op::aten_argmin_default, extremum, as(DtypeRule::index)},
      {op::aten_argsort_default, sort, 1},
      {op::aten_argsort_stable, sort, 1},
      {op::aten_count_nonzero_default, reduction, as(DtypeRule::index)},
      {op::aten_count_nonzero_dim_IntList, reduction, as(DtypeRule::index)},
      {op::aten_cummax_default, cumulative_extremum},
      {op::aten_cummin_default, cumulative_extremum},
      {op::aten_cumprod_default, cumulative},
      {op::aten_cumsum_default, cumulative},
      {op::aten_kthvalue_default, kthvalue},
      {op::aten_frobenius_norm_dim, reduction, as(DtypeRule::real)},
      {op::aten_linalg_matrix_norm_default, reduction, as(DtypeRule::real)},
      {op::aten_linalg_matrix_norm_str_ord, reduction, as(DtypeRule::real)},
      {op::aten_linalg_norm_default, reduction, as(DtypeRule::real)},
      {op::aten_linalg_norm_ord_str, reduction, as(DtypeRule::real)},
      {op::aten_linalg_vector_norm_default, vector_norm},
      {op::aten_log_softmax_int, softmax, 0},
      {op::aten_logsumexp_default, reduction, as(DtypeRule::floating)},
      {op::aten_max_default, reduction, as(DtypeRule::same)},
      {op::aten_max_dim, with_indices},
      {op::aten_mean_default, reduction, as(DtypeRule::mean)},
      {op::aten_mean_dim, reduction, as(DtypeRule::mean)},
      {op::aten_median_default, reduction, as(DtypeRule::same)},
      {op::aten_median_dim, with_indices},
      {op::aten_min_default, reduction, as(DtypeRule::same)},
      {op::aten_min_dim, with_indices},
      {op::aten_mode_default, with_indices},
      {op::aten_nanmean_default, reduction, as(DtypeRule::mean)},
      {op::aten_nanmedian_default, reduction, as(DtypeRule::same)},
      {op::aten_nanmedian_dim, with_indices},
      {op::aten_nansum_default, reduction_of_listed, as(DtypeRule::sum)},
      {op::aten_norm_Scalar, reduction, as(DtypeRule::real)},
      {op::aten_norm_ScalarOpt_dim, reduction, as(DtypeRule::real)},
      {op::aten_norm_ScalarOpt_dim_dtype, reduction, as(DtypeRule::real)},
      {op::aten_norm_ScalarOpt_dtype, reduction, as(DtypeRule::real)},
      {op::aten_nuclear_norm_default, reduction, as(DtypeRule::real)},
      {op::aten_nuclear_norm_dim, reduction, as(DtypeRule::real)},
      {op::aten_prod_default, reduction, as(DtypeRule::sum)},
      {op::aten_prod_dim_int, reduction, as(DtypeRule::sum)},
      {op::aten_softmax_int, softmax, 0},
      {op::aten_sort_default, sort, 0},
      {op::aten_sort_stable, sort, 0},
      {op::aten_special_logsumexp_default, reduction, as(DtypeRule::floating)},
      {op::aten_std_default, reduction, as(DtypeRule::real)},
      {op::aten_std_correction, reduction, as(DtypeRule::real)},
      {op::aten_std_dim, reduction, as(DtypeRule::real)},
      {op::aten_std_mean_default, moments},
      {op::aten_std_mean_correction, moments},
      {op::aten_std_mean_dim, moments},
      {op::aten_sum_default, reduction, as(DtypeRule::sum)},
      {op::aten_sum_dim_IntList, reduction, as(DtypeRule::sum)},
      {op::aten_topk_default, topk},
      {op::aten_var_default, reduction, as(DtypeRule::real)},
      {op::aten_var_correction, reduction, as(DtypeRule::real)},
      {op::aten_var_dim, reduction, as(DtypeRule::real)},
      {op::aten_var_mean_default, moments},
      {op::aten_var_mean_correction, moments},
      {op::aten_var_mean_dim, moments},
  };
  return rows;
}

}  // namespace winze
