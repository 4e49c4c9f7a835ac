// SPDX-License-Identifier: Apache-2.0
// Linear algebra over batches of matrices, after torch/_meta_registrations.py and
// aten/src/ATen/native/{LinearAlgebra,BatchLinearAlgebra}.cpp.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/linalg.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// How matrices lie in memory: LAPACK writes them column by column.
enum class Order : std::uint8_t { row_major, column_major };

FakeTensor matrices(const ShapeEnv& env, const TensorMeta& like, Sizes sizes, Order order,
                    std::optional<ScalarType> dtype = {}) {
  FakeTensor result = empty_tensor(env, sizes, dtype.value_or(like.dtype), like.device);
  if (order == Order::column_major && sizes.size() >= 2) {
    const std::size_t last = sizes.size() - 1;
    result.strides[last] = env.at_least_one(sizes[last - 1]);
    result.strides[last - 1] = 1;
  }
  return result;
}

// --- What PyTorch checks (aten/src/ATen/native/LinearAlgebraUtils.h)

void check_square(ShapeCall& call, const TensorMeta& tensor) {
  check_matrix(call, tensor);
  ShapeEnv& env = call.env();
  const SymInt rows = tensor.sizes[tensor.dim() - 2];
  const SymInt columns = tensor.sizes[tensor.dim() - 1];
  env.require_equal(rows, columns, [&] {
    return fmt::format("{}: A must be batches of square matrices, but they are {} by {} matrices",
                       call.op().schema.name, env.str(rows), env.str(columns));
  });
}

void check_float(const ShapeCall& call, const TensorMeta& tensor) {
  if (is_floating_point(tensor.dtype) || is_complex(tensor.dtype)) return;
  fail("{}: Expected a floating point or complex tensor as input. Got {}", call.op().schema.name,
       full_name(tensor.dtype));
}

void check_full_precision(const ShapeCall& call, const TensorMeta& tensor) {
  check_float(call, tensor);
  if (tensor.dtype != ScalarType::float16 && tensor.dtype != ScalarType::bfloat16) return;
  fail("{}: Low precision dtypes not supported. Got {}", call.op().schema.name,
       full_name(tensor.dtype));
}

void check_same_dtype(const ShapeCall& call, const TensorMeta& a, const TensorMeta& b) {
  if (a.dtype == b.dtype) return;
  fail("{}: Expected A and B to have the same dtype, but found A of type {} and B of type {}",
       call.op().schema.name, full_name(a.dtype), full_name(b.dtype));
}

/// `parameter` of rules that check one argument.
enum class Check : std::uint8_t { none, square, square_float, square_full };

const TensorMeta& checked(ShapeCall& call, Check check) {
  const TensorMeta& tensor = call.tensor(0);
  if (check == Check::none) {
    check_matrix(call, tensor);
    return tensor;
  }
  check_square(call, tensor);
  if (check == Check::square_float) check_float(call, tensor);
  if (check == Check::square_full) check_full_precision(call, tensor);
  return tensor;
}

/// Sizes without the last `count`.
Sizes batch_of(const TensorMeta& tensor, std::size_t count = 2) {
  return tensor.sizes.first(tensor.dim() - count);
}

DimVector with_last(Sizes batch, std::initializer_list<SymInt> last) {
  DimVector sizes(batch);
  for (const SymInt size : last) sizes.push_back(size);
  return sizes;
}

/// Rows, columns, and the smaller of both.
struct Matrix {
  SymInt rows;
  SymInt columns;
  SymInt rank;
};
Matrix matrix_of(const ShapeEnv& env, const TensorMeta& tensor) {
  const SymInt rows = tensor.sizes[tensor.dim() - 2];
  const SymInt columns = tensor.sizes[tensor.dim() - 1];
  return {rows, columns, env.min(rows, columns)};
}

void yield_infos(ShapeCall& call, const TensorMeta& a, std::size_t dropped) {
  call.yield(empty_tensor(call.env(), batch_of(a, dropped), ScalarType::int32, a.device));
}

// --- Determinants and inverses

/// aten::_linalg_det, linalg_det, det: a number for each matrix, and its LU factorization.
void det(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_float);
  call.yield(empty_tensor(call.env(), batch_of(a), a.dtype, a.device));
  if (call.parameter() == 0) return;
  call.yield(matrices(call.env(), a, a.sizes, Order::column_major));
  yield_infos(call, a, 1);
}

void slogdet(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_full);
  call.yield(empty_tensor(call.env(), batch_of(a), a.dtype, a.device));
  call.yield(empty_tensor(call.env(), batch_of(a), to_real(a.dtype), a.device));
  if (call.parameter() == 0) return;
  call.yield(matrices(call.env(), a, a.sizes, Order::column_major));
  yield_infos(call, a, 1);
}

/// A matrix of the same sizes, column by column. `parameter` has the check in its lower bits and
/// whether infos follow.
constexpr std::uint32_t with_infos = 16;
void same_matrix(ShapeCall& call) {
  const TensorMeta& a = checked(call, static_cast<Check>(call.parameter() % with_infos));
  call.yield(matrices(call.env(), a, a.sizes, Order::column_major));
  if (call.parameter() >= with_infos) yield_infos(call, a, 2);
}

/// aten::cholesky, which lays out row by row what has no elements.
void cholesky(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_float);
  const bool is_empty = call.env().known_zero(numel(call.env(), a.sizes));
  call.yield(matrices(call.env(), a, a.sizes, is_empty ? Order::row_major : Order::column_major));
}

/// Row by row: linalg_matrix_exp.
void same_sizes(ShapeCall& call) {
  const TensorMeta& a = checked(call, static_cast<Check>(call.parameter()));
  call.yield(empty_tensor(call.env(), a.sizes, a.dtype, a.device));
}

// --- Factorizations

/// aten::linalg_eig, and _linalg_eigvals and linalg_eigvals with values alone.
void eig(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_float);
  const ScalarType dtype = to_complex(a.dtype);
  call.yield(empty_tensor(call.env(), batch_of(a, 1), dtype, a.device));
  if (call.parameter() == 0) return;
  call.yield(matrices(call.env(), a, a.sizes, Order::column_major, dtype));
}

/// aten::linalg_eigh; _linalg_eigh says whether vectors are wanted, linalg_eigvalsh has none.
void eigh(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_float);
  call.yield(empty_tensor(call.env(), batch_of(a, 1), to_real(a.dtype), a.device));
  if (call.parameter() == 0) return;
  const bool has_vectors = call.parameter() == 1 || call.boolean(2);
  const DimVector nothing = {0};
  call.yield(has_vectors ? matrices(call.env(), a, a.sizes, Order::column_major)
                         : empty_tensor(call.env(), nothing, a.dtype, a.device));
}

struct SvdSizes {
  DimVector u;
  DimVector s;
  DimVector vh;
};
SvdSizes svd_sizes(const ShapeEnv& env, const TensorMeta& a, bool is_full) {
  const Matrix matrix = matrix_of(env, a);
  return {with_last(batch_of(a), {matrix.rows, is_full ? matrix.rows : matrix.rank}),
          with_last(batch_of(a), {matrix.rank}),
          with_last(batch_of(a), {is_full ? matrix.columns : matrix.rank, matrix.columns})};
}

/// aten::_linalg_svd(A, full_matrices, compute_uv) and linalg_svd(A, full_matrices).
void svd(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::none);
  check_float(call, a);
  const ShapeEnv& env = call.env();
  const SvdSizes sizes = svd_sizes(env, a, call.boolean(1));
  const bool has_vectors = call.parameter() == 0 || call.boolean(2);
  const FakeTensor nothing = empty_tensor(env, DimVector{0}, a.dtype, a.device);
  call.yield(has_vectors ? matrices(env, a, sizes.u, Order::column_major) : nothing);
  call.yield(empty_tensor(env, sizes.s, to_real(a.dtype), a.device));
  call.yield(has_vectors ? matrices(env, a, sizes.vh, Order::column_major) : nothing);
}
void svdvals(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::none);
  check_float(call, a);
  const SvdSizes sizes = svd_sizes(call.env(), a, false);
  call.yield(empty_tensor(call.env(), sizes.s, to_real(a.dtype), a.device));
}
/// aten::svd(self, some, compute_uv): V instead of its adjoint, and zeros where it is not wanted.
void svd_of_old(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::none);
  check_float(call, a);
  const ShapeEnv& env = call.env();
  const bool has_vectors = call.boolean(2);
  const SvdSizes sizes = svd_sizes(env, a, !call.boolean(1));
  const Matrix matrix = matrix_of(env, a);
  const FakeTensor s = empty_tensor(env, sizes.s, to_real(a.dtype), a.device);
  if (has_vectors) {
    call.yield(matrices(env, a, sizes.u, Order::column_major));
    call.yield(s);
    const FakeTensor vh = matrices(env, a, sizes.vh, Order::column_major);
    return call.yield(transpose(vh, a.dim() - 2, a.dim() - 1));
  }
  call.yield(
      empty_tensor(env, with_last(batch_of(a), {matrix.rows, matrix.rows}), a.dtype, a.device));
  call.yield(s);
  call.yield(empty_tensor(env, with_last(batch_of(a), {matrix.columns, matrix.columns}), a.dtype,
                          a.device));
}

void yield_qr(ShapeCall& call, bool has_q, bool is_reduced) {
  const TensorMeta& a = checked(call, Check::none);
  check_float(call, a);
  const ShapeEnv& env = call.env();
  const Matrix matrix = matrix_of(env, a);
  const DimVector q = with_last(batch_of(a), {matrix.rows, is_reduced ? matrix.rank : matrix.rows});
  const DimVector r =
      with_last(batch_of(a), {is_reduced || !has_q ? matrix.rank : matrix.rows, matrix.columns});
  call.yield(has_q ? matrices(env, a, q, Order::column_major)
                   : empty_tensor(env, DimVector{0}, a.dtype, a.device));
  call.yield(matrices(env, a, r, Order::column_major));
}
void qr(ShapeCall& call) {
  const std::string_view mode = call.string(1);
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    fail(
        "qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or "
        "'complete'",
        mode);
  }
  yield_qr(call, mode != "r", mode == "reduced");
}
/// aten::qr(self, some)
void qr_of_old(ShapeCall& call) {
  yield_qr(call, true, call.boolean(1));
}

/// aten::geqrf: reflectors and their scales.
void geqrf(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::none);
  const ShapeEnv& env = call.env();
  call.yield(matrices(env, a, a.sizes, Order::column_major));
  call.yield(
      empty_tensor(env, with_last(batch_of(a), {matrix_of(env, a).rank}), a.dtype, a.device));
}

/// P, L and U; `wants` says which, others are empty.
void yield_plu(ShapeCall& call, bool wants_p, bool wants_lu) {
  const TensorMeta& a = checked(call, Check::none);
  const ShapeEnv& env = call.env();
  const Matrix matrix = matrix_of(env, a);
  const auto yield = [&](bool is_wanted, SymInt rows, SymInt columns) {
    const DimVector sizes =
        is_wanted ? with_last(batch_of(a), {rows, columns}) : DimVector{SymInt(0)};
    call.yield(empty_tensor(env, sizes, a.dtype, a.device));
  };
  yield(wants_p, matrix.rows, matrix.rows);
  yield(wants_lu, matrix.rows, matrix.rank);
  yield(wants_lu, matrix.rank, matrix.columns);
}
void lu(ShapeCall& call) {
  yield_plu(call, call.boolean(1), true);
}
void lu_unpack(ShapeCall& call) {
  if (call.boolean(3) && call.tensor(1).dtype != ScalarType::int32)
    throw Error("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32");
  yield_plu(call, call.boolean(3), call.boolean(2));
}

/// Factors, pivots and, with `parameter` 1, infos.
void lu_factor(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::none);
  const ShapeEnv& env = call.env();
  call.yield(matrices(env, a, a.sizes, Order::column_major));
  const DimVector pivots = with_last(batch_of(a), {matrix_of(env, a).rank});
  call.yield(empty_tensor(env, pivots, ScalarType::int32, a.device));
  if (call.parameter() == 1) yield_infos(call, a, 2);
}
void ldl_factor(ShapeCall& call) {
  const TensorMeta& a = checked(call, Check::square_float);
  call.yield(matrices(call.env(), a, a.sizes, Order::column_major));
  yield_infos(call, a, 1);
  if (call.parameter() == 1) yield_infos(call, a, 2);
}

// --- Systems of equations

/// Sizes of `b` with the batch that both broadcast to.
DimVector broadcast_batch(ShapeEnv& env, const TensorMeta& b, const TensorMeta& a) {
  DimVector sizes = broadcast_sizes(env, batch_of(b), batch_of(a));
  sizes.append(b.sizes.subspan(b.dim() - 2));
  return sizes;
}

/// Requires A and B to fit: `A X = B`, or `X A = B` where `left` is false.
void check_solver(ShapeCall& call, const TensorMeta& a, const TensorMeta& b, bool left) {
  check_square(call, a);
  check_matrix(call, b);
  ShapeEnv& env = call.env();
  const SymInt size = a.sizes[a.dim() - 1];
  const SymInt other = b.sizes[b.dim() - (left ? 2 : 1)];
  env.require_equal(size, other, [&] {
    return fmt::format("{}: Incompatible shapes of A and B for the equation {} ({} and {})",
                       call.op().schema.name, left ? "AX = B" : "XA = B", env.str(size),
                       env.str(other));
  });
}

/// B is one vector for each matrix.
bool is_vector(const ShapeCall& call, const TensorMeta& a, const TensorMeta& b) {
  if (b.dim() == 1) return true;
  if (a.dim() - 1 != b.dim()) return false;
  bool same = true;
  for (std::size_t dim = 0; dim < b.dim(); ++dim) {
    const Proof proof = call.env().equal(a.sizes[dim], b.sizes[dim]);
    if (proof == Proof::no) return false;
    same = same && proof == Proof::yes;
  }
  if (!same) call.cannot_infer("whether the right side is a vector or a matrix is not known");
  return true;
}

/// aten::_linalg_solve_ex, linalg_solve_ex (infos follow), linalg_solve.
enum class Solve : std::uint32_t { result, infos, factors };
void solve(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  check_float(call, a);
  check_same_dtype(call, a, b);
  check_matrix(call, a);
  const bool left = call.boolean(call.position("left"));
  const bool vector = is_vector(call, a, b);
  if (vector && !left)
    throw Error(
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.");
  FakeTensor columns(b);
  if (vector) columns = unsqueeze(env, b, b.dim());
  const TensorMeta right = columns;
  check_solver(call, a, right, left);
  DimVector sizes = broadcast_batch(env, right, a);
  if (vector) sizes.erase(sizes.size() - 1);
  call.yield(matrices(env, b, sizes, left ? Order::column_major : Order::row_major));
  const auto extent = static_cast<Solve>(call.parameter());
  if (extent == Solve::factors) {
    call.yield(matrices(env, a, a.sizes, Order::column_major));
    yield_infos(call, a, 1);
  }
  if (extent != Solve::result) yield_infos(call, a, 2);
}

void solve_triangular(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  check_solver(call, a, b, call.boolean(call.position("left")));
  call.yield(matrices(call.env(), a, broadcast_batch(call.env(), b, a), Order::column_major));
}

/// aten::cholesky_solve(self, input2), lu_solve(self, LU_data, LU_pivots), and triangular_solve, of
/// which a copy of A follows. `parameter` 1 says so.
void solve_of_old(ShapeCall& call) {
  const TensorMeta& b = call.tensor(0);
  const TensorMeta& a = call.tensor(1);
  check_same_dtype(call, a, b);
  check_solver(call, a, b, true);
  call.yield(matrices(call.env(), b, broadcast_batch(call.env(), b, a), Order::column_major));
  if (call.parameter() == 0) return;
  call.yield(matrices(call.env(), a, broadcast_batch(call.env(), a, b), Order::column_major));
}

/// aten::linalg_lu_solve(LU, pivots, B) and linalg_ldl_solve; `parameter` 1 has `left`.
void solve_factored(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(2);
  check_float(call, a);
  check_same_dtype(call, a, b);
  const bool left = call.parameter() == 0 || call.boolean(call.position("left"));
  check_solver(call, a, b, left);
  call.yield(matrices(call.env(), b, broadcast_batch(call.env(), b, a),
                      left ? Order::column_major : Order::row_major));
}

void householder_product(ShapeCall& call) {
  const TensorMeta& input = checked(call, Check::none);
  const TensorMeta& tau = call.tensor(1);
  if (input.dim() - tau.dim() != 1) {
    fail(
        "torch.linalg.householder_product: Expected tau to have one dimension less than input, but "
        "got tau.ndim equal to {} and input.ndim is equal to {}",
        tau.dim(), input.dim());
  }
  check_same_dtype(call, input, tau);
  ShapeEnv& env = call.env();
  const Matrix matrix = matrix_of(env, input);
  env.require_at_least(matrix.rows, matrix.columns, [] {
    return std::string(
        "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
        "input.shape[-1]");
  });
  call.yield(matrices(env, input, input.sizes, Order::column_major));
}

void ormqr(ShapeCall& call) {
  const TensorMeta& input = checked(call, Check::none);
  const TensorMeta& other = call.tensor(2);
  check_matrix(call, other);
  check_float(call, input);
  check_same_dtype(call, input, other);
  call.yield(matrices(call.env(), other, other.sizes, Order::column_major));
}

/// The first dimension of size 3 is meant where none is named.
void check_some_three(const ShapeCall& call, Sizes sizes) {
  bool unknown = false;
  for (const SymInt size : sizes) {
    const Proof proof = call.env().equal(size, 3);
    if (proof == Proof::yes) return;
    unknown = unknown || proof == Proof::unknown;
  }
  if (unknown) call.cannot_infer("whether a dimension has 3 elements is not known");
  throw Error("no dimension of size 3 in input");
}

/// aten::linalg_cross, and cross whose dimension may be left out.
void cross(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& other = call.tensor(1);
  if (self.dim() != other.dim())
    throw Error("linalg.cross: inputs must have the same number of dimensions.");
  const std::uint32_t at = call.position("dim");
  if (!call.is_none(at)) {
    const std::size_t dim = call.dim(at, self.dim());
    for (const TensorMeta* tensor : {&self, &other}) {
      const SymInt size = tensor->dim() == 0 ? SymInt(1) : tensor->sizes[dim];
      env.require_equal(size, 3, [&] {
        return fmt::format("linalg.cross: inputs dimension {} must have length 3. Got {}", dim,
                           env.str(size));
      });
    }
  }
  const DimVector sizes = broadcast_sizes(env, self.sizes, other.sizes);
  if (call.is_none(at)) check_some_three(call, sizes);
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

constexpr std::uint32_t with(Check check, bool infos = false) {
  return static_cast<std::uint32_t>(check) + (infos ? with_infos : 0);
}
constexpr std::uint32_t with(Solve solve) {
  return static_cast<std::uint32_t>(solve);
}

}  // namespace

void check_matrix(const ShapeCall& call, const TensorMeta& tensor) {
  if (tensor.dim() >= 2) return;
  fail("{}: The input tensor must have at least 2 dimensions, got {}", call.op().schema.name,
       tensor.dim());
}

std::span<const ShapeRow> linalg_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__cholesky_solve_helper_default, solve_of_old, 0},
      {op::aten__linalg_det_default, det, 1},
      {op::aten__linalg_eigh_default, eigh, 2},
      {op::aten__linalg_eigvals_default, eig, 0},
      {op::aten__linalg_slogdet_default, slogdet, 1},
      {op::aten__linalg_solve_ex_default, solve, with(Solve::factors)},
      {op::aten__linalg_svd_default, svd, 1},
      {op::aten__lu_with_info_default, lu_factor, 1},
      {op::aten_cholesky_default, cholesky},
      {op::aten_cholesky_inverse_default, same_matrix, with(Check::square)},
      {op::aten_cholesky_solve_default, solve_of_old, 0},
      {op::aten_cross_default, cross},
      {op::aten_det_default, det, 0},
      {op::aten_geqrf_default, geqrf},
      {op::aten_inverse_default, same_matrix, with(Check::square_full)},
      {op::aten_linalg_cholesky_default, same_matrix, with(Check::square_float)},
      {op::aten_linalg_cholesky_ex_default, same_matrix, with(Check::square_float, true)},
      {op::aten_linalg_cross_default, cross},
      {op::aten_linalg_det_default, det, 0},
      {op::aten_linalg_eig_default, eig, 1},
      {op::aten_linalg_eigh_default, eigh, 1},
      {op::aten_linalg_eigvals_default, eig, 0},
      {op::aten_linalg_eigvalsh_default, eigh, 0},
      {op::aten_linalg_householder_product_default, householder_product},
      {op::aten_linalg_inv_default, same_matrix, with(Check::square_full)},
      {op::aten_linalg_inv_ex_default, same_matrix, with(Check::square_full, true)},
      {op::aten_linalg_ldl_factor_default, ldl_factor, 0},
      {op::aten_linalg_ldl_factor_ex_default, ldl_factor, 1},
      {op::aten_linalg_ldl_solve_default, solve_factored, 0},
      {op::aten_linalg_lu_default, lu},
      {op::aten_linalg_lu_factor_default, lu_factor, 0},
      {op::aten_linalg_lu_factor_ex_default, lu_factor, 1},
      {op::aten_linalg_lu_solve_default, solve_factored, 1},
      {op::aten_linalg_matrix_exp_default, same_sizes, with(Check::square_float)},
      {op::aten_linalg_qr_default, qr},
      {op::aten_linalg_slogdet_default, slogdet, 0},
      {op::aten_linalg_solve_default, solve, with(Solve::result)},
      {op::aten_linalg_solve_ex_default, solve, with(Solve::infos)},
      {op::aten_linalg_solve_triangular_default, solve_triangular},
      {op::aten_linalg_svd_default, svd, 0},
      {op::aten_linalg_svdvals_default, svdvals},
      {op::aten_logdet_default, det, 0},
      {op::aten_lu_solve_default, solve_of_old, 0},
      {op::aten_lu_unpack_default, lu_unpack},
      {op::aten_matrix_exp_default, same_sizes, with(Check::square_float)},
      {op::aten_orgqr_default, householder_product},
      {op::aten_ormqr_default, ormqr},
      {op::aten_qr_default, qr_of_old},
      {op::aten_slogdet_default, slogdet, 0},
      {op::aten_svd_default, svd_of_old},
      {op::aten_triangular_solve_default, solve_of_old, 1},
  };
  return rows;
}

}  // namespace winze
