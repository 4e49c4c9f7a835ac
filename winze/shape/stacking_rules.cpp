// SPDX-License-Identifier: Apache-2.0
// Tensors side by side after dimensions are added, matrices of diagonals, differences along a
// dimension, after torch/_refs and aten/src/ATen/native/TensorShape.cpp.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/joining.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// A tensor with at least `rank` dimensions, up to 3.
FakeTensor at_least(const ShapeEnv& env, const TensorMeta& tensor, std::size_t rank) {
  FakeTensor result(tensor);
  if (rank >= 1 && result.dim() == 0) result = unsqueeze(env, result, 0);
  if (rank >= 2 && result.dim() == 1) result = unsqueeze(env, result, 0);
  if (rank >= 3 && result.dim() == 2) result = unsqueeze(env, result, 2);
  return result;
}

/// atleast_1d, atleast_2d, atleast_3d of a tensor or a list; `parameter` says how many.
void atleast(ShapeCall& call) {
  for (const TensorMeta* tensor : call.tensors(0)) {
    if (tensor == nullptr) call.cannot_infer("a tensor is None");
    call.yield(at_least(call.env(), *tensor, call.parameter()));
  }
}

/// Tensors of their own with at least `rank` dimensions.
std::vector<FakeTensor> all_at_least(const ShapeCall& call, std::size_t rank) {
  const auto given = call.tensors(0);
  if (given.empty()) fail("{} expects a non-empty TensorList", call.op().schema.name);
  std::vector<FakeTensor> tensors;
  for (const TensorMeta* tensor : given) {
    if (tensor == nullptr) call.cannot_infer("a tensor is None");
    tensors.push_back(at_least(call.env(), *tensor, rank));
  }
  return tensors;
}

void yield_joined(ShapeCall& call, const std::vector<FakeTensor>& tensors, std::int64_t dim) {
  const std::vector<TensorMeta> metas(tensors.begin(), tensors.end());
  std::vector<const TensorMeta*> pointers;
  for (const TensorMeta& meta : metas) pointers.push_back(&meta);
  call.yield(join(call, pointers, dim));
}

/// vstack and dstack; `parameter` says to how many dimensions.
void stack_at_least(ShapeCall& call) {
  yield_joined(call, all_at_least(call, call.parameter()), call.parameter() == 2 ? 0 : 2);
}
void hstack(ShapeCall& call) {
  const auto tensors = all_at_least(call, 1);
  yield_joined(call, tensors, tensors[0].dim() == 1 ? 0 : 1);
}
/// Vectors become columns.
void column_stack(ShapeCall& call) {
  auto tensors = all_at_least(call, 1);
  for (FakeTensor& tensor : tensors)
    if (tensor.dim() == 1) tensor = unsqueeze(call.env(), tensor, 1);
  yield_joined(call, tensors, 1);
}

void block_diag(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  TypePromotion promotion;
  DimVector sizes = {0, 0};
  const auto tensors = call.tensors(0);
  if (tensors.empty()) throw Error("block_diag of no tensors");
  for (const TensorMeta* tensor : tensors) {
    if (tensor->dim() > 2)
      fail("torch.block_diag: Input tensors must have 2 or fewer dimensions, got {}",
           tensor->dim());
    const FakeTensor block = at_least(env, *tensor, 2);
    promotion.add(block);
    for (std::size_t dim = 0; dim < 2; ++dim) sizes[dim] = env.add(sizes[dim], block.sizes[dim]);
  }
  call.yield(empty_tensor(env, sizes, promotion.common(), tensors[0]->device));
}

/// All combinations of elements of vectors: a row for each; the vector itself where it is alone.
void cartesian_prod(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto tensors = call.tensors(0);
  if (tensors.empty()) throw Error("meshgrid expects a non-empty TensorList");
  SymInt count = 1;
  for (const TensorMeta* tensor : tensors) {
    if (tensor->dim() != 1) throw Error("Expect a 1D vector");
    count = env.mul(count, tensor->sizes[0]);
  }
  if (tensors.size() == 1) return call.yield(*tensors[0]);
  const DimVector sizes = {count, static_cast<std::int64_t>(tensors.size())};
  call.yield(empty_tensor(env, sizes, tensors[0]->dtype, tensors[0]->device));
}

// --- Diagonals

SymInt magnitude(const ShapeCall& call, SymInt offset) {
  if (call.env().known_less(offset, 0)) return call.env().sub(0, offset);
  if (!call.env().known_at_least(offset, 0))
    call.cannot_infer("whether the offset of a diagonal is negative is not known");
  return offset;
}

/// diag_embed(self, offset, dim1, dim2)
void diag_embed(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() == 0) throw Error("diag_embed of a tensor without dimensions");
  const std::size_t first = call.dim(2, self.dim() + 1);
  const std::size_t second = call.dim(3, self.dim() + 1);
  if (first == second) fail("diagonal dimensions cannot be identical {}, {}", first, second);
  const SymInt size = call.env().add(self.sizes[self.dim() - 1], magnitude(call, call.sym_int(1)));
  DimVector sizes(self.sizes.first(self.dim() - 1));
  sizes.insert(std::min(first, second), size);
  sizes.insert(std::max(first, second), size);
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// The diagonal of a matrix, or the matrix of a diagonal. diagflat flattens first.
void diag(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt offset = call.sym_int(1);
  const bool flattens = call.parameter() == 1;
  DimVector sizes;
  if (flattens || self.dim() == 1) {
    const SymInt size = env.add(numel(env, self.sizes), magnitude(call, offset));
    sizes = {size, size};
  } else if (self.dim() == 2) {
    const bool is_below = env.known_less(offset, 0);
    const SymInt by = magnitude(call, offset);
    const SymInt rows = is_below ? env.sub(self.sizes[0], by) : self.sizes[0];
    const SymInt columns = is_below ? self.sizes[1] : env.sub(self.sizes[1], by);
    sizes = {env.max(env.min(rows, columns), 0)};
  } else {
    fail("diag(): Supports 1D or 2D tensors. Got {}D", self.dim());
  }
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

// --- Turned

/// fliplr and flipud: along dimension `parameter`.
void flip_one(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() <= call.parameter()) fail("Input must be >= {}-d.", call.parameter() + 1);
  ElementwiseOperands operands;
  operands.add(self);
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// rot90(self, k, dims)
void rot90(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const SymInt k = call.sym_int(1);
  const DimVector dims = call.sym_ints(2);
  if (dims.size() != 2) fail("expected total rotation dims == 2, but got dims = {}", dims.size());
  if (self.dim() < 2) fail("expected total dims >= 2, but got total dims = {}", self.dim());
  const std::size_t a = wrap_dim(dims[0], self.dim());
  const std::size_t b = wrap_dim(dims[1], self.dim());
  if (a == b) fail("expected rotation dims to be different, but got dim0 = {} and dim1 = {}", a, b);
  if (!k.is_constant()) call.cannot_infer("how often to turn is not known");
  const std::int64_t turns = (k.constant() % 4 + 4) % 4;
  if (turns == 0) return call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
  ElementwiseOperands operands;
  operands.add(self);
  const FakeTensor flipped = operands.result(call.env(), Promotion::to_common);
  call.yield(turns == 2 ? flipped : transpose(flipped, a, b));
}

// --- Differences

FakeTensor combined(ShapeEnv& env, const TensorMeta& a, const TensorMeta& b) {
  ElementwiseOperands operands;
  operands.add(a);
  operands.add(b);
  return operands.result(env, Promotion::to_common);
}

/// Each element and the one after it, combined.
FakeTensor neighbours(ShapeEnv& env, const TensorMeta& tensor, std::size_t dim) {
  const SymInt less = env.sub(tensor.sizes[dim], 1);
  return combined(env, narrow(env, tensor, dim, 1, less), narrow(env, tensor, dim, 0, less));
}

/// diff(self, n, dim, prepend, append)
void diff(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt n = call.sym_int(1);
  if (self.dim() == 0) throw Error("diff expects input to be at least one-dimensional");
  const std::size_t dim = call.dim(2, self.dim());
  if (!n.is_constant() || n.constant() > 1 << 10)
    call.cannot_infer("how many differences to take is not known");
  if (n.constant() < 0) fail("order must be non-negative but got {}", n.constant());
  if (n.constant() == 0) return call.yield(empty_like(env, self));
  std::vector<const TensorMeta*> parts;
  for (const std::uint32_t index : {3U, 0U, 4U})
    if (const TensorMeta* part = call.optional_tensor(index)) parts.push_back(part);
  FakeTensor result(self);
  if (parts.size() > 1) result = join(call, parts, static_cast<std::int64_t>(dim));
  for (std::int64_t times = 0; times < n.constant(); ++times) {
    if (env.known_zero(result.sizes[dim])) break;
    env.require_at_least(result.sizes[dim], 1, [] {
      return std::string("diff expects as many elements as differences to take");
    });
    result = neighbours(env, result, dim);
  }
  call.yield(result);
}

/// Elements at indices that broadcast to the tensor in all other dimensions.
void take_along_dim(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& indices = call.tensor(1);
  if (indices.dtype != ScalarType::int64)
    fail("torch.take_along_dim(): dtype of indices should be Long but got {}",
         full_name(indices.dtype));
  if (call.is_none(2)) {
    // Both are viewed as vectors.
    const DimVector sizes = view(env, indices, DimVector{-1}).sizes;
    static_cast<void>(view(env, self, DimVector{-1}));
    return call.yield(empty_tensor(env, sizes, self.dtype, self.device));
  }
  if (self.dim() != indices.dim()) {
    fail(
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
        "got {} dimensions for input, and {} dimensions for indices",
        self.dim(), indices.dim());
  }
  const std::size_t dim = call.dim(2, self.dim());
  DimVector sizes(self.sizes);
  if (!sizes.empty()) sizes[dim] = indices.sizes[dim];
  call.yield(
      empty_tensor(env, broadcast_sizes(env, sizes, indices.sizes), self.dtype, self.device));
}

}  // namespace

std::span<const ShapeRow> stacking_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_atleast_1d_default, atleast, 1},
      {op::aten_atleast_1d_Sequence, atleast, 1},
      {op::aten_atleast_2d_default, atleast, 2},
      {op::aten_atleast_2d_Sequence, atleast, 2},
      {op::aten_atleast_3d_default, atleast, 3},
      {op::aten_atleast_3d_Sequence, atleast, 3},
      {op::aten_block_diag_default, block_diag},
      {op::aten_cartesian_prod_default, cartesian_prod},
      {op::aten_column_stack_default, column_stack},
      {op::aten_diag_default, diag, 0},
      {op::aten_diag_embed_default, diag_embed},
      {op::aten_diagflat_default, diag, 1},
      {op::aten_diff_default, diff},
      {op::aten_dstack_default, stack_at_least, 3},
      {op::aten_fliplr_default, flip_one, 1},
      {op::aten_flipud_default, flip_one, 0},
      {op::aten_hstack_default, hstack},
      {op::aten_rot90_default, rot90},
      {op::aten_row_stack_default, stack_at_least, 2},
      {op::aten_take_along_dim_default, take_along_dim},
      {op::aten_vstack_default, stack_at_least, 2},
  };
  return rows;
}

}  // namespace winze
