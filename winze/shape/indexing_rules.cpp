// SPDX-License-Identifier: Apache-2.0
// Reading and writing by index.
#include <algorithm>
#include <utility>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// How many elements of a tensor may be chosen by data (torch/_subclasses/fake_impls.py nonzero):
/// no more than it has, where that is known.
Range count_range(const ShapeEnv& env, Sizes sizes) {
  const SymInt most = numel(env, sizes);
  return {0, most.is_constant() ? most.constant() : Range::infinity};
}

/// torch/_meta_registrations meta_index_Tensor: each index takes one dimension, a mask as many as
/// it has; what they broadcast to stands in their place, or in front where they are apart.
class Indexing {
 public:
  Indexing(ShapeCall& call, const TensorMeta& self)
      : call_(call), self_(self), indexed_(64, false) {}

  void add(const TensorMeta* index) {
    if (index == nullptr) {
      ++at_;
      return;
    }
    const bool is_mask = index->dtype == ScalarType::bool_ || index->dtype == ScalarType::uint8;
    const std::size_t taken = is_mask ? index->dim() : 1;
    if (at_ + taken > self_.dim()) fail("too many indices for tensor of dimension {}", self_.dim());
    if (is_mask) {
      for (std::size_t dim = 0; dim < taken; ++dim) {
        call_.env().require_equal(index->sizes[dim], self_.sizes[at_ + dim], [&] {
          return fmt::format(
              "The shape of the mask does not match the shape of the indexed tensor "
              "at dimension {}",
              at_ + dim);
        });
      }
      ++masks_;
      masked_count_ = count_range(call_.env(), index->sizes);
    } else {
      shape_ = broadcast_sizes(call_.env(), shape_, index->sizes);
      ++indices_;
    }
    for (std::size_t dim = 0; dim < taken; ++dim) indexed_[at_++] = true;
  }

  FakeTensor result() {
    if (masks_ > 1 || (masks_ == 1 && indices_ > 0))
      call_.cannot_infer("masks and indices are mixed, whose sizes depend on data");
    DimVector before;
    DimVector after;
    DimVector before_strides;
    DimVector after_strides;
    const bool together = stand_together();
    bool seen = !together;
    for (std::size_t dim = 0; dim < self_.dim(); ++dim) {
      if (indexed_[dim]) {
        seen = true;
        continue;
      }
      (seen ? after : before).push_back(self_.sizes[dim]);
      (seen ? after_strides : before_strides).push_back(self_.strides[dim]);
    }
    if (masks_ == 1) shape_ = {call_.unbacked_size(0, before.size(), masked_count_)};
    FakeTensor restrided(self_);
    restrided.sizes = std::move(before);
    restrided.sizes.append(shape_);
    restrided.sizes.append(after);
    restrided.strides = std::move(before_strides);
    restrided.strides.append(DimVector(shape_.size(), 0));
    restrided.strides.append(after_strides);
    FakeTensor out = empty_tensor(call_.env(), restrided.sizes, self_.dtype, self_.device);
    const bool is_empty =
        std::ranges::any_of(self_.sizes, [&](SymInt size) { return call_.env().known_zero(size); });
    if (is_empty) return out;
    const TensorMeta view = restrided;
    const TensorMeta* const operand = &view;
    out.strides = elementwise_strides(call_.env(), restrided.sizes, {&operand, 1});
    return out;
  }

 private:
  [[nodiscard]] bool stand_together() const {
    int runs = 0;
    for (std::size_t dim = 0; dim < self_.dim(); ++dim) {
      if (indexed_[dim] && (dim == 0 || !indexed_[dim - 1])) ++runs;
    }
    return runs <= 1;
  }

  ShapeCall& call_;
  const TensorMeta& self_;
  std::vector<bool> indexed_;
  DimVector shape_;
  std::size_t at_ = 0;
  Range masked_count_;  ///< how many elements the mask may choose
  int masks_ = 0;
  int indices_ = 0;
};

void index(ShapeCall& call) {
  Indexing indexing(call, call.tensor(0));
  for (const TensorMeta* tensor : call.tensors(1)) indexing.add(tensor);
  call.yield(indexing.result());
}

/// aten::_unsafe_masked_index(self, mask, indices, fill): what is masked is filled, which makes the
/// result contiguous.
void index_masked(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& mask = call.tensor(1);
  Indexing indexing(call, self);
  for (const TensorMeta* tensor : call.tensors(2)) indexing.add(tensor);
  const FakeTensor found = indexing.result();
  call.yield(empty_tensor(call.env(), broadcast_sizes(call.env(), found.sizes, mask.sizes),
                          self.dtype, self.device));
}

void embedding(ShapeCall& call) {
  const TensorMeta& weight = call.tensor(0);
  if (weight.dim() != 2) throw Error("'weight' must be 2-D");
  Indexing indexing(call, weight);
  indexing.add(&call.tensor(1));
  call.yield(indexing.result());
}

void index_select(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& indices = call.tensor(2);
  if (indices.dim() > 1) throw Error("Index should have dimension 1 or 0");
  DimVector sizes(self.sizes);
  if (self.dim() > 0) sizes[call.dim(1, self.dim())] = numel(call.env(), indices.sizes);
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// Sizes of the index are at most those of the other tensor in all dimensions but `dim`, for the
/// index of gather and scatter. Without proof it is the kernel that checks.
void check_index_fits(const ShapeCall& call, const TensorMeta& index, const TensorMeta& other,
                      std::string_view name) {
  const ShapeEnv& env = call.env();
  const std::size_t indexed = call.dim(1, index.dim());
  for (std::size_t dim = 0; dim < std::min(index.dim(), other.dim()); ++dim) {
    if (dim == indexed && name != "src") continue;
    if (env.known_less(other.sizes[dim], index.sizes[dim])) {
      fail(
          "Size does not match at dimension {}: expected index of size {} to be no larger than "
          "{} of size {}",
          dim, env.str(index.sizes[dim]), name, env.str(other.sizes[dim]));
    }
  }
}

/// scatter(self, dim, index, src) and scatter_add: into a contiguous copy.
void scatter(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& index = call.tensor(2);
  static_cast<void>(call.dim(1, self.dim()));
  if (!call.env().known_zero(numel(call.env(), index.sizes))) {
    if (std::max<std::size_t>(self.dim(), 1) != std::max<std::size_t>(index.dim(), 1))
      throw Error("Index tensor must have the same number of dimensions as self tensor");
    check_index_fits(call, index, self, "self");
    if (const TensorMeta* source = call.tensor_or_null(3)) {
      if (source->dtype != self.dtype)
        fail("{}(): Expected self.dtype to be equal to src.dtype", call.op().schema.name);
      if (std::max<std::size_t>(source->dim(), 1) != std::max<std::size_t>(index.dim(), 1))
        throw Error("Index tensor must have the same number of dimensions as src tensor");
      check_index_fits(call, index, *source, "src");
    }
  }
  call.yield(empty_like(call.env(), self, MemoryFormat::contiguous_format));
}

void gather(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& indices = call.tensor(2);
  static_cast<void>(call.dim(1, self.dim()));
  if (std::max<std::size_t>(self.dim(), 1) != std::max<std::size_t>(indices.dim(), 1))
    throw Error("Index tensor must have the same number of dimensions as input tensor");
  check_index_fits(call, indices, self, "input");
  call.yield(empty_tensor(call.env(), indices.sizes, self.dtype, self.device));
}

void take(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), call.tensor(1).sizes, self.dtype, self.device));
}

/// What writes into a fresh contiguous tensor of the sizes of self.
void contiguous_like_self(ShapeCall& call) {
  const std::uint32_t dim_at = call.position("dim");
  if (!call.is_none(dim_at)) static_cast<void>(call.dim(dim_at, call.tensor(0).dim()));
  call.yield(empty_like(call.env(), call.tensor(0), MemoryFormat::contiguous_format));
}

/// index_copy, index_add, index_reduce: `source` has a slice for each index.
void index_from_slices(ShapeCall& call) {
  const TensorMeta& index = call.tensor(2);
  const TensorMeta& source = call.tensor(3);
  const std::size_t dim = call.dim(1, call.tensor(0).dim());
  if (index.dim() == 1 && dim < source.dim()) {
    call.env().require_equal(index.sizes[0], source.sizes[dim], [&] {
      return fmt::format("Number of indices ({}) should be equal to source.size(dim) ({})",
                         call.env().str(index.sizes[0]), call.env().str(source.sizes[dim]));
    });
  }
  contiguous_like_self(call);
}

/// What writes into a clone of self.
void clone_of_self(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}

/// The same where fake tensors call torch.empty_like (torch/_meta_registrations.py).
void like_self(ShapeCall& call) {
  call.yield(elementwise_like(call.env(), call.tensor(0)));
}

/// slice_scatter, select_scatter, diagonal_scatter: a copy of self that keeps its strides
/// (aten/src/ATen/native/TensorShape.cpp, clone_preserve_strides), with `src` in a view of it. An
/// offset it keeps too, but where run_decompositions has given self a storage of its own.
void scatter_into_view(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  bool overlaps = false;
  for (std::size_t dim = 0; dim < self.dim(); ++dim) {
    overlaps = overlaps ||
               (call.env().known_zero(self.strides[dim]) && !call.env().known_one(self.sizes[dim]));
  }
  if (!overlaps && !call.env().known_zero(self.storage_offset))
    call.cannot_infer("whether the storage offset is kept depends on the storage");
  call.yield(overlaps ? empty_like(call.env(), self) : FakeTensor(self));
}

/// as_strided_scatter(self, src, size, stride)
void as_strided_scatter(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& source = call.tensor(1);
  const DimVector sizes = call.sym_ints(2);
  if (source.dim() != sizes.size())
    fail("expected src to have {} dimensions, but got {}", sizes.size(), source.dim());
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    env.require_equal(source.sizes[dim], sizes[dim], [&] {
      return fmt::format(
          "expected src to have a size equal to the slice of self, but got {} and {}",
          env.str(source.sizes[dim]), env.str(sizes[dim]));
    });
  }
  scatter_into_view(call);
}

/// masked_scatter(self, mask, source): contiguous.
void masked_scatter(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& mask = call.tensor(1);
  if (mask.dtype != ScalarType::bool_ && mask.dtype != ScalarType::uint8)
    fail("masked_scatter_ only supports boolean masks, but got mask with dtype {}",
         full_name(mask.dtype));
  if (self.dtype != call.tensor(2).dtype)
    fail("masked_scatter: expected self and source to have same dtypes but got {} and {}",
         full_name(self.dtype), full_name(call.tensor(2).dtype));
  call.yield(empty_tensor(call.env(), broadcast_sizes(call.env(), self.sizes, mask.sizes),
                          self.dtype, self.device));
}

/// masked_select and nonzero: as many elements as there are, which depends on data.
void masked_select(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const DimVector mask = broadcast_sizes(call.env(), self.sizes, call.tensor(1).sizes);
  const DimVector sizes = {call.unbacked_size(0, 0, count_range(call.env(), mask))};
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}
void nonzero(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const SymInt count = call.unbacked_size(0, 0, count_range(call.env(), self.sizes));
  FakeTensor result;
  result.dtype = ScalarType::int64;
  result.device = self.device;
  result.sizes = {count, static_cast<std::int64_t>(self.dim())};
  // torch/_subclasses/fake_impls.py nonzero: column by column.
  result.strides = {1, count};
  call.yield(result);
}
/// nonzero_numpy, and where of a condition alone: the columns of nonzero, each a view of it. A
/// tensor without dimensions counts as one of a single element.
void nonzero_columns(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  FakeTensor column;
  column.dtype = ScalarType::int64;
  column.device = self.device;
  column.sizes = {call.unbacked_size(0, 0, count_range(call.env(), self.sizes))};
  column.strides = {1};
  const std::size_t columns = std::max<std::size_t>(self.dim(), 1);
  for (std::size_t index = 0; index < columns; ++index) {
    call.yield(column);
    column.storage_offset = call.env().add(column.storage_offset, column.sizes[0]);
  }
}
/// aten::nonzero_static(self, size): as many as are asked for.
void nonzero_static(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const SymInt count = call.sym_int(1);
  if (call.env().known_less(count, 0))
    fail("nonzero_static: 'size' must be an non-negative integer, got {}", call.env().str(count));
  const DimVector sizes = {count, static_cast<std::int64_t>(self.dim())};
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, self.device));
}
/// aten::one_hot(self, num_classes=-1), `self.unsqueeze(-1) == arange(num_classes)` as int64
/// (aten/src/ATen/native/Onehot.cpp); -1 is one more than the largest element.
void one_hot(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dtype != ScalarType::int64)
    throw Error("one_hot is only applicable to index tensor of type LongTensor.");
  SymInt classes = call.sym_int(1);
  if (classes == SymInt(-1)) classes = call.unbacked_size(0, self.dim(), {1, Range::infinity});
  if (call.env().known_less(classes, 0))
    fail("one_hot: num_classes is {}, neither -1 nor a number of classes", call.env().str(classes));
  const FakeTensor unsqueezed = unsqueeze(call.env(), self, self.dim());
  const TensorMeta rows = unsqueezed;
  const FakeTensor range =
      empty_tensor(call.env(), DimVector{classes}, ScalarType::int64, self.device);
  const TensorMeta columns = range;
  ElementwiseOperands operands;
  operands.add(rows);
  operands.add(columns);
  call.yield(operands.result_of(call.env(), ScalarType::int64));
}
/// aten::_is_all_true(self)
void is_all_true(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dtype != ScalarType::bool_)
    fail("_is_all_true expects a tensor of bools, got {}", full_name(self.dtype));
  call.yield(empty_tensor(call.env(), {}, ScalarType::bool_, self.device));
}
void item(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (!is_integral(self.dtype)) call.cannot_infer("the item of a {} tensor", full_name(self.dtype));
  call.yield_sym(ValueKind::sym_int, call.unbacked_value(0, ValueKind::sym_int));
}

/// embedding_renorm_(self, indices)
void embedding_renorm(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != 2) fail("embedding_renorm_ expects a matrix, got {} dims", self.dim());
  call.yield(self);
}

}  // namespace

std::span<const ShapeRow> indexing_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__index_put_impl_default, clone_of_self},
      {op::aten__is_any_true_default, is_all_true},
      {op::aten__unsafe_index_Tensor_hacked_twin, index},
      {op::aten__unsafe_index_put_hacked_twin, like_self},
      {op::aten_argwhere_default, nonzero},
      {op::aten_embedding_renorm_default, embedding_renorm},
      {op::aten_index_Tensor_hacked_twin, index},
      {op::aten_index_put_hacked_twin, like_self},
      {op::aten__is_all_true_default, is_all_true},
      {op::aten__local_scalar_dense_default, item},
      {op::aten__unsafe_index_Tensor, index},
      {op::aten__unsafe_index_put_default, like_self},
      {op::aten__unsafe_masked_index_default, index_masked},
      {op::aten__unsafe_masked_index_put_accumulate_default, like_self},
      {op::aten_as_strided_scatter_default, as_strided_scatter},
      {op::aten_diagonal_scatter_default, scatter_into_view},
      {op::aten_embedding_default, embedding},
      {op::aten_embedding_renorm__default, embedding_renorm},
      {op::aten_gather_default, gather},
      {op::aten_index_Tensor, index},
      {op::aten_index_add_default, index_from_slices},
      {op::aten_index_copy_default, index_from_slices},
      {op::aten_index_fill_int_Scalar, clone_of_self},
      {op::aten_index_fill_int_Tensor, clone_of_self},
      {op::aten_index_put_default, like_self},
      {op::aten_index_reduce_default, index_from_slices},
      {op::aten_index_select_default, index_select},
      {op::aten_item_default, item},
      {op::aten_masked_scatter_default, masked_scatter},
      {op::aten_masked_select_default, masked_select},
      {op::aten_nonzero_default, nonzero},
      {op::aten_nonzero_numpy_default, nonzero_columns},
      {op::aten_nonzero_static_default, nonzero_static},
      {op::aten_one_hot_default, one_hot},
      {op::aten_put_default, clone_of_self},
      {op::aten_scatter_reduce, scatter},
      {op::aten_scatter_src, scatter},
      {op::aten_scatter_value, scatter},
      {op::aten_scatter_value_reduce, scatter},
      {op::aten_scatter_add_default, scatter},
      {op::aten_scatter_reduce_two, scatter},
      {op::aten_select_scatter_default, scatter_into_view},
      {op::aten_slice_scatter_default, scatter_into_view},
      {op::aten_take_default, take},
      {op::aten_where_default, nonzero_columns},
  };
  return rows;
}

}  // namespace winze
