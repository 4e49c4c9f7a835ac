// SPDX-License-Identifier: Apache-2.0
// Linear algebra that PyTorch composes of products and factorizations, and covariances, after
// aten/src/ATen/native/{LinearAlgebra,Correlation}.cpp.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/linalg.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// linalg_pinv and pinverse: the sizes of the transposed, contiguous.
void pseudo_inverse(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  check_matrix(call, self);
  if (is_integral_or_bool(self.dtype))
    fail("{}: Expected a floating point or complex tensor as input. Got {}", call.op().schema.name,
         full_name(self.dtype));
  DimVector sizes(self.sizes);
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  const FakeTensor result = empty_tensor(call.env(), sizes, self.dtype, self.device);
  call.yield(result);
}

/// matrix_power(self, n): contiguous, but for an inverse, which LAPACK writes column by column.
void matrix_power(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  check_matrix(call, self);
  const std::size_t rank = self.dim();
  env.require_equal(self.sizes[rank - 1], self.sizes[rank - 2], [&] {
    return fmt::format("{}: A must be batches of square matrices", call.op().schema.name);
  });
  const SymInt power = call.sym_int(1);
  FakeTensor result = empty_tensor(env, self.sizes, self.dtype, self.device);
  if (power == SymInt(-1)) {
    result.strides[rank - 1] = env.at_least_one(self.sizes[rank - 2]);
    result.strides[rank - 2] = 1;
  }
  call.yield(result);
}

/// linalg_vander(x, N): powers of each number, as many as there are numbers unless told otherwise.
void linalg_vander(ShapeCall& call) {
  const TensorMeta& x = call.tensor(0);
  const std::optional<SymInt> given = call.optional_sym_int(1);
  if (given && call.env().known_less(*given, 2))
    fail("N must be greater than 1, got {}", call.env().str(*given));
  DimVector sizes(x.sizes);
  if (sizes.empty()) sizes.push_back(1);
  sizes.push_back(given.value_or(sizes.back()));
  const ScalarType dtype = is_integral_or_bool(x.dtype) ? ScalarType::int64 : x.dtype;
  call.yield(empty_tensor(call.env(), sizes, dtype, x.device));
}
/// vander(x, N, increasing): of a vector; decreasing powers are a copy flipped.
void vander(ShapeCall& call) {
  const TensorMeta& x = call.tensor(0);
  if (x.dim() != 1) throw Error("x must be a one-dimensional tensor.");
  const SymInt columns = call.optional_sym_int(1).value_or(x.sizes[0]);
  const ScalarType dtype = promote_types(x.dtype, ScalarType::int64).value_or(x.dtype);
  call.yield(empty_tensor(call.env(), DimVector{x.sizes[0], columns}, dtype, x.device));
}

/// linalg_tensorinv(self, ind): the last dimensions, then the first.
void tensorinv(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt given = call.sym_int(1);
  if (!given.is_constant() || given.constant() <= 0)
    throw Error("Expected a strictly positive integer for 'ind'");
  const auto split = std::min(static_cast<std::size_t>(given.constant()), self.dim());
  const Sizes first = self.sizes.first(split);
  const Sizes last = self.sizes.subspan(split);
  const SymInt rows = numel(env, first);
  const SymInt columns = numel(env, last);
  env.require_equal(rows, columns, [&] {
    return fmt::format(
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind]), "
        "but got {} != {}",
        env.str(columns), env.str(rows));
  });
  DimVector sizes(last);
  sizes.append(first);
  FakeTensor result = empty_tensor(env, DimVector{columns, rows}, self.dtype, self.device);
  result.strides = {1, env.at_least_one(columns)};
  call.yield(reshape(env, result, sizes));
}

/// linalg_tensorsolve(self, other, dims): the dimensions of self that other does not have.
void tensorsolve(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& other = call.tensor(1);
  DimVector sizes(self.sizes);
  if (!call.is_none(2)) {
    std::vector<std::size_t> moved;
    for (const SymInt dim : call.sym_ints(2)) moved.push_back(wrap_dim(dim, self.dim()));
    sizes = {};
    for (std::size_t dim = 0; dim < self.dim(); ++dim) {
      if (std::ranges::find(moved, dim) == moved.end()) sizes.push_back(self.sizes[dim]);
    }
    for (const std::size_t dim : moved) sizes.push_back(self.sizes[dim]);
  }
  if (other.dim() > sizes.size()) throw Error("tensorsolve: other has too many dimensions");
  const Sizes result = Sizes(sizes).subspan(other.dim());
  const SymInt columns = numel(env, result);
  const SymInt rows = numel(env, other.sizes);
  env.require_equal(columns, rows, [&] {
    return fmt::format(
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
        "prod(self.shape[:other.ndim]), but got {} != {}",
        env.str(columns), env.str(rows));
  });
  call.yield(empty_tensor(env, result, self.dtype, self.device));
}

/// fweights and aweights of cov: one for each observation.
void check_weights(ShapeCall& call, const TensorMeta* weights, std::string_view name, bool whole) {
  if (weights == nullptr) return;
  if (weights->dim() > 1) fail("cov(): expected {} to have one or fewer dimensions", name);
  if (is_complex(weights->dtype) || is_floating_point(weights->dtype) == whole)
    fail("cov(): expected {} to have {} dtype but got {} with {}", name,
         whole ? "integral" : "floating point", name, full_name(weights->dtype));
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt observations = self.dim() == 0 ? SymInt(1) : self.sizes.back();
  const SymInt count = numel(env, weights->sizes);
  env.require_equal(count, observations, [&] {
    return fmt::format(
        "cov(): expected {} to have the same numel as there are observations in the input but got "
        "{} != {}",
        name, env.str(count), env.str(observations));
  });
}

/// cov(self) and corrcoef(self): of each variable, a row, with each other. Sizes of 1 are squeezed.
void covariance(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  if (self.dim() > 2)
    fail("{}(): expected input to have two or fewer dimensions but got an input with {} dimensions",
         call.op().schema.name, self.dim());
  if (self.dtype == ScalarType::bool_)
    fail("{}(): bool dtype is not supported for input", call.op().schema.name);
  check_weights(call, call.optional_tensor(call.position("fweights")), "fweights", true);
  check_weights(call, call.optional_tensor(call.position("aweights")), "aweights", false);
  DimVector sizes;
  if (self.dim() == 2 && !env.known_one(self.sizes[0])) {
    if (env.equal(self.sizes[0], 1) == Proof::unknown)
      call.cannot_infer("whether there is one variable is not known");
    sizes = {self.sizes[0], self.sizes[0]};
  }
  call.yield(empty_tensor(env, sizes, promoted(self.dtype, Promotion::int_to_float), self.device));
}

}  // namespace

std::span<const ShapeRow> linalg_composite_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_corrcoef_default, covariance},
      {op::aten_cov_default, covariance},
      {op::aten_linalg_matrix_power_default, matrix_power},
      {op::aten_linalg_pinv_default, pseudo_inverse},
      {op::aten_linalg_pinv_atol_rtol_float, pseudo_inverse},
      {op::aten_linalg_pinv_atol_rtol_tensor, pseudo_inverse},
      {op::aten_linalg_pinv_rcond_tensor, pseudo_inverse},
      {op::aten_linalg_tensorinv_default, tensorinv},
      {op::aten_linalg_tensorsolve_default, tensorsolve},
      {op::aten_linalg_vander_default, linalg_vander},
      {op::aten_matrix_power_default, matrix_power},
      {op::aten_pinverse_default, pseudo_inverse},
      {op::aten_vander_default, vander},
  };
  return rows;
}

}  // namespace winze
