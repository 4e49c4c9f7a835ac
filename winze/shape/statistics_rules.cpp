// SPDX-License-Identifier: Apache-2.0
// Norms of matrices, distances, quantiles, histograms, after torch/_meta_registrations.py and
// aten/src/ATen/native/{Distance,Sorting,LinearAlgebra}.cpp.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

void check_floats(const ShapeCall& call, const TensorMeta& tensor) {
  if (is_floating_point(tensor.dtype)) return;
  fail("{} only supports floating-point dtypes, got: {}", call.op().schema.name,
       full_name(tensor.dtype));
}

// --- Distances

/// Sizes that both broadcast to, without dimension `dim`.
DimVector broadcast_without(ShapeCall& call, std::size_t dim_at, SymInt otherwise, bool keepdim) {
  ShapeEnv& env = call.env();
  DimVector sizes = broadcast_sizes(env, call.tensor(0).sizes, call.tensor(1).sizes);
  const auto at = static_cast<std::uint32_t>(dim_at);
  const SymInt given = at < call.argument_count() ? call.sym_int(at) : otherwise;
  const std::size_t dim = wrap_dim(given, sizes.size());
  if (sizes.empty()) return sizes;
  if (keepdim) {
    sizes[dim] = 1;
  } else {
    sizes.erase(dim);
  }
  return sizes;
}

ScalarType common_float(const ShapeCall& call) {
  TypePromotion promotion;
  promotion.add(call.tensor(0));
  promotion.add(call.tensor(1));
  return promotion.result(Promotion::int_to_float);
}

/// cosine_similarity(x1, x2, dim) and linalg_vecdot(x, y, dim).
void cosine_similarity(ShapeCall& call) {
  const ScalarType dtype = common_float(call);
  call.yield(
      empty_tensor(call.env(), broadcast_without(call, 2, 1, false), dtype, call.tensor(0).device));
}
void vecdot(ShapeCall& call) {
  TypePromotion promotion;
  promotion.add(call.tensor(0));
  promotion.add(call.tensor(1));
  const std::uint32_t at = call.position("dim");
  ShapeEnv& env = call.env();
  call.yield(empty_tensor(env, broadcast_without(call, at, -1, false), promotion.common(),
                          call.tensor(0).device));
}
/// pairwise_distance(x1, x2, p, eps, keepdim): over the last dimension.
void pairwise_distance(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  DimVector sizes = broadcast_sizes(env, a.sizes, b.sizes);
  if (!sizes.empty()) {
    sizes.erase(sizes.size() - 1);
    if (call.boolean(4)) sizes.push_back(1);
  }
  call.yield(empty_tensor(env, sizes, to_real(common_float(call)), a.device));
}

/// cdist(x1, x2) and _cdist_forward: each row of one with each of the other.
void cdist(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  for (const TensorMeta* tensor : {&a, &b}) {
    if (tensor->dim() < 2) fail("cdist only supports at least 2D tensors, got: {}D", tensor->dim());
    check_floats(call, *tensor);
  }
  const SymInt x = a.sizes[a.dim() - 1];
  const SymInt y = b.sizes[b.dim() - 1];
  env.require_equal(x, y, [&] {
    return fmt::format("X1 and X2 must have the same number of columns. X1: {} X2: {}", env.str(x),
                       env.str(y));
  });
  DimVector sizes = broadcast_sizes(env, a.sizes.first(a.dim() - 2), b.sizes.first(b.dim() - 2));
  sizes.push_back(a.sizes[a.dim() - 2]);
  sizes.push_back(b.sizes[b.dim() - 2]);
  call.yield(empty_tensor(env, sizes, a.dtype, a.device));
}
/// pdist(self): each pair of rows.
void pdist(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != 2) fail("pdist only supports 2D tensors, got: {}D", self.dim());
  check_floats(call, self);
  const SymInt rows = self.sizes[0];
  const DimVector sizes = {env.floor_div(env.mul(rows, env.sub(rows, 1)), 2)};
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

/// dist(self, other): the norm of the difference.
void dist(ShapeCall& call) {
  static_cast<void>(broadcast_sizes(call.env(), call.tensor(0).sizes, call.tensor(1).sizes));
  TypePromotion promotion;
  promotion.add(call.tensor(0));
  promotion.add(call.tensor(1));
  const ScalarType dtype = promotion.common();
  if (is_integral_or_bool(dtype))
    fail("norm(): input dtype should be either floating point or complex. Got {} instead.",
         full_name(dtype));
  call.yield(empty_tensor(call.env(), {}, to_real(dtype), call.tensor(0).device));
}

// --- Matrices

/// The sum of the diagonal.
void trace(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != 2) throw Error("trace: expected a matrix");
  const ScalarType dtype = is_integral_or_bool(self.dtype) ? ScalarType::int64 : self.dtype;
  call.yield(empty_tensor(call.env(), {}, dtype, self.device));
}

/// A number for each matrix of a batch: linalg_cond is real, linalg_matrix_rank an int.
void per_matrix(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() < 2) {
    fail("{}: The input tensor must have at least 2 dimensions, got {}", call.op().schema.name,
         self.dim());
  }
  const bool is_rank = call.parameter() == 1;
  if (!is_floating_point(self.dtype) && !is_complex(self.dtype))
    fail("{}: Expected a floating point or complex tensor as input. Got {}", call.op().schema.name,
         full_name(self.dtype));
  call.yield(empty_tensor(call.env(), self.sizes.first(self.dim() - 2),
                          is_rank ? ScalarType::int64 : to_real(self.dtype), self.device));
}

// --- Quantiles and histograms

/// quantile(self, q, dim, keepdim): one for each `q`, computed behind and moved to the front; over
/// all elements without `dim`.
void quantile(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta* const q = call.tensor_or_null(1);
  if (self.dtype != ScalarType::float32 && self.dtype != ScalarType::float64)
    throw Error("quantile() input tensor must be either float or double dtype");
  if (q != nullptr && q->dim() > 1) throw Error("quantile() q must be a scalar or 1D tensor");
  if (q != nullptr && q->dtype != self.dtype)
    throw Error("quantile() q tensor must be same dtype as the input tensor");
  DimVector sizes;
  if (call.is_none(2)) {
    if (call.boolean(3)) sizes = DimVector(self.dim(), 1);
  } else {
    const std::size_t dim = call.dim(2, self.dim());
    sizes = DimVector(self.sizes);
    if (!sizes.empty() && call.boolean(3)) {
      sizes[dim] = 1;
    } else if (!sizes.empty()) {
      sizes.erase(dim);
    }
  }
  const bool has_many = q != nullptr && q->dim() == 1;
  if (has_many) sizes.push_back(q->sizes[0]);
  FakeTensor result = empty_tensor(call.env(), sizes, self.dtype, self.device);
  if (has_many) {
    std::rotate(result.sizes.begin(), result.sizes.end() - 1, result.sizes.end());
    std::rotate(result.strides.begin(), result.strides.end() - 1, result.strides.end());
  }
  call.yield(result);
}

/// histc(self, bins)
void histc(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (is_cpu(self) && !is_floating_point(self.dtype))
    fail("\"histogram_cpu\" not implemented for '{}'", full_name(self.dtype));
  const SymInt bins = call.sym_int(1);
  call.env().require_at_least(bins, 1, [] { return std::string("bins must be > 0"); });
  call.yield(empty_tensor(call.env(), DimVector{bins}, self.dtype, self.device));
}
/// histogram(self, bins): counts, and the edges between them.
void histogram(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const SymInt bins = call.sym_int(1);
  check_floats(call, self);
  call.yield(empty_tensor(call.env(), DimVector{bins}, self.dtype, self.device));
  call.yield(empty_tensor(call.env(), DimVector{call.env().add(bins, 1)}, self.dtype, self.device));
}

/// histogram(self, bins), where the bins are edges.
void histogram_of_edges(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& edges = call.tensor(1);
  check_floats(call, self);
  if (edges.dim() != 1) fail("histogram() expects a vector of bin edges, got {}D", edges.dim());
  const DimVector counts = {call.env().sub(edges.sizes[0], 1)};
  call.yield(empty_tensor(call.env(), counts, self.dtype, self.device));
  call.yield(empty_tensor(call.env(), edges.sizes, edges.dtype, edges.device));
}

/// renorm(self, p, dim, maxnorm): contiguous.
void renorm(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() < 2)
    fail("renorm: input needs at least 2 dimensions, got {} dimensions", self.dim());
  static_cast<void>(call.dim(2, self.dim()));
  if (is_integral_or_bool(self.dtype))
    fail("renorm: input has to be of floats, not {}", full_name(self.dtype));
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

/// logcumsumexp(self, dim)
void logcumsumexp(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(call.dim(1, self.dim()));
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

/// Integrals along a dimension: trapezoid.x(y, x, dim) and trapezoid.dx(y, dx, dim); `parameter`
/// says whether each partial sum is wanted.
void trapezoid(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& y = call.tensor(0);
  const bool is_cumulative = call.parameter() == 1;
  const std::size_t dim = wrap_dim(call.sym_int(call.position("dim")), y.dim(), false);
  TypePromotion promotion;
  promotion.add(y);
  DimVector sizes(y.sizes);
  const TensorMeta* const x = call.tensor_or_null(1);
  if (x != nullptr) {
    promotion.add(*x);
    if (x->dim() > 1) sizes = broadcast_sizes(env, sizes, x->sizes);
  }
  ScalarType dtype = promotion.result(Promotion::int_to_float);
  if (env.known_zero(y.sizes[dim])) {
    dtype = y.dtype;
  } else if (dtype != y.dtype) {
    env.require_at_least(y.sizes[dim], 1, [] {
      return std::string("an integral of integers is one of floats only where there are some");
    });
  }
  if (is_cumulative) {
    if (!env.known_at_least(y.sizes[dim], 1))
      call.cannot_infer("whether a dimension has elements is not known");
    sizes[dim] = env.sub(y.sizes[dim], 1);
  } else {
    sizes.erase(dim);
  }
  call.yield(empty_tensor(env, sizes, dtype, y.device));
}

}  // namespace

std::span<const ShapeRow> statistics_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__cdist_forward_default, cdist},
      {op::aten__euclidean_dist_default, cdist},
      {op::aten__logcumsumexp_default, logcumsumexp},
      {op::aten__pdist_forward_default, pdist},
      {op::aten_cdist_default, cdist},
      {op::aten_cosine_similarity_default, cosine_similarity},
      {op::aten_cumulative_trapezoid_dx, trapezoid, 1},
      {op::aten_cumulative_trapezoid_x, trapezoid, 1},
      {op::aten_dist_default, dist},
      {op::aten_histc_default, histc},
      {op::aten_histogram_bin_ct, histogram},
      {op::aten_histogram_bins_tensor, histogram_of_edges},
      {op::aten_linalg_cond_default, per_matrix, 0},
      {op::aten_linalg_cond_p_str, per_matrix, 0},
      {op::aten_linalg_matrix_rank_default, per_matrix, 1},
      {op::aten_linalg_matrix_rank_atol_rtol_float, per_matrix, 1},
      {op::aten_linalg_matrix_rank_atol_rtol_tensor, per_matrix, 1},
      {op::aten_linalg_matrix_rank_tol_tensor, per_matrix, 1},
      {op::aten_linalg_vecdot_default, vecdot},
      {op::aten_logcumsumexp_default, logcumsumexp},
      {op::aten_nanquantile_default, quantile},
      {op::aten_nanquantile_scalar, quantile},
      {op::aten_pairwise_distance_default, pairwise_distance},
      {op::aten_pdist_default, pdist},
      {op::aten_quantile_default, quantile},
      {op::aten_quantile_scalar, quantile},
      {op::aten_renorm_default, renorm},
      {op::aten_trace_default, trace},
      {op::aten_trapezoid_dx, trapezoid, 0},
      {op::aten_trapezoid_x, trapezoid, 0},
      {op::aten_trapz_dx, trapezoid, 0},
      {op::aten_trapz_x, trapezoid, 0},
  };
  return rows;
}

}  // namespace winze
