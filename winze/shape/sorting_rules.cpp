// SPDX-License-Identifier: Apache-2.0
// Sorting and searching, after torch/_meta_registrations.py and torch/_subclasses/fake_impls.py.
#include <limits>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// aten::msort: along the first dimension, laid out as the input.
void msort(ShapeCall& call) {
  call.yield(elementwise_like(call.env(), call.tensor(0)));
}

ScalarType index_dtype(const ShapeCall& call, std::uint32_t index) {
  return call.boolean(index) ? ScalarType::int32 : ScalarType::int64;
}

/// aten::bucketize: the number's or the tensor's sizes.
void bucketize(ShapeCall& call) {
  const TensorMeta* values = call.tensor_or_null(0);
  const TensorMeta& boundaries = call.tensor(1);
  call.yield(empty_tensor(call.env(), values == nullptr ? Sizes{} : values->sizes,
                          index_dtype(call, 2), boundaries.device));
}

/// aten::searchsorted: all but the last dimension of the sequence are those of the values.
void searchsorted(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& sequence = call.tensor(0);
  const TensorMeta* values = call.tensor_or_null(1);
  if (sequence.dim() == 0)
    throw Error("torch.searchsorted(): input sequence should have at least 1 dimension");
  const std::size_t rank = values == nullptr ? 0 : values->dim();
  if (sequence.dim() != 1) {
    if (values == nullptr)
      throw Error("torch.searchsorted(): boundary tensor should be 1 dimensional for a scalar");
    if (rank != sequence.dim())
      throw Error("torch.searchsorted(): boundaries and values should have the same rank");
    for (std::size_t dim = 0; dim + 1 < rank; ++dim) {
      env.require_equal(values->sizes[dim], sequence.sizes[dim], [&] {
        return fmt::format(
            "torch.searchsorted(): boundaries and values should agree in dimension {}", dim);
      });
    }
  }
  call.yield(empty_tensor(env, values == nullptr ? Sizes{} : values->sizes, index_dtype(call, 2),
                          sequence.device));
}

/// The number of different elements, dimension `dim` of the values: as data has it, and no more
/// than there are.
SymInt unique_count(ShapeCall& call, SymInt most, std::size_t dim = 0) {
  if (call.env().known_zero(most)) return 0;
  return call.unbacked_size(
      0, dim,
      {0, most.is_constant() ? most.constant() : std::numeric_limits<std::int64_t>::max() - 2});
}

/// The slices along a dimension that differ. The CPU yields inverse indices and counts whether they
/// are asked for or not; `flags_at` is the position of what asks.
void unique_slices(ShapeCall& call, SymInt along, std::uint32_t flags_at) {
  const TensorMeta& input = call.tensor(0);
  const std::size_t dim = wrap_dim(along, input.dim(), false);
  const SymInt most = input.sizes[dim];
  const SymInt count = unique_count(call, most, dim);
  DimVector sizes(input.sizes);
  sizes[dim] = count;
  call.yield(empty_tensor(call.env(), sizes, input.dtype, input.device));
  const auto yield = [&](bool is_wanted, SymInt size) {
    const DimVector each = {is_wanted || is_cpu(input) ? size : SymInt(0)};
    call.yield(empty_tensor(call.env(), each, ScalarType::int64, input.device));
  };
  yield(call.boolean(flags_at), most);
  yield(call.boolean(flags_at + 1), count);
}

/// aten::unique_dim, unique_dim_consecutive
void unique_dim(ShapeCall& call) {
  unique_slices(call, call.sym_int(1), call.parameter());
}

/// aten::_unique2, _unique, which has no counts, and unique_consecutive: values, and where they are
/// asked for inverse indices and counts.
void unique(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const std::uint32_t at = call.parameter();
  if (at == 1 && !call.is_none(3)) return unique_slices(call, call.sym_int(3), at);
  const SymInt count = unique_count(call, numel(call.env(), input.sizes));
  const auto yield = [&](Sizes sizes, ScalarType dtype) {
    call.yield(empty_tensor(call.env(), sizes, dtype, input.device));
  };
  const DimVector nothing = {0};
  const DimVector each = {count};
  yield(each, input.dtype);
  yield(call.boolean(at) ? input.sizes : Sizes(nothing), ScalarType::int64);
  if (call.op().schema.returns.size() < 3) return;
  yield(call.boolean(at + 1) ? each : nothing, ScalarType::int64);
}

}  // namespace

std::span<const ShapeRow> sorting_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__unique_default, unique, 2},
      {op::aten__unique2_default, unique, 2},

      {op::aten_bucketize_Scalar, bucketize},
      {op::aten_bucketize_Tensor, bucketize},
      {op::aten_msort_default, msort},
      {op::aten_searchsorted_Scalar, searchsorted},
      {op::aten_searchsorted_Tensor, searchsorted},

      {op::aten_unique_consecutive_default, unique, 1},
      {op::aten_unique_dim_default, unique_dim, 3},
      {op::aten_unique_dim_consecutive_default, unique_dim, 2},
  };
  return rows;
}

}  // namespace winze
