// SPDX-License-Identifier: Apache-2.0
// Operators that join, repeat, turn and pad tensors.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/joining.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// torch/_refs cat: the memory format that all have in common.
MemoryFormat common_format(const ShapeEnv& env, std::span<const TensorMeta* const> tensors) {
  MemoryFormat format = suggest_memory_format(env, *tensors[0]);
  for (const TensorMeta* tensor : tensors) {
    if (suggest_memory_format(env, *tensor) != format) return MemoryFormat::contiguous_format;
  }
  return format;
}

}  // namespace

FakeTensor join(ShapeCall& call, std::span<const TensorMeta* const> given, SymInt along) {
  ShapeEnv& env = call.env();
  TypePromotion promotion;
  std::vector<const TensorMeta*> tensors;
  for (const TensorMeta* tensor : given) {
    promotion.add(*tensor);
    const bool is_nothing = tensor->dim() == 1 && env.known_zero(tensor->sizes[0]);
    if (!is_nothing) tensors.push_back(tensor);
  }
  if (given.empty()) fail("{} expects at least one tensor", call.op().schema.name);
  if (tensors.empty()) tensors.push_back(given[0]);
  const TensorMeta& first = *tensors[0];
  if (first.dim() == 0) throw Error("zero-dimensional tensor cannot be concatenated");
  const std::size_t dim = wrap_dim(along, first.dim());
  DimVector sizes(first.sizes);
  for (const TensorMeta* tensor : std::span(tensors).subspan(1)) {
    if (tensor->dim() != sizes.size()) {
      fail("Tensors must have same number of dimensions: got {} and {}", sizes.size(),
           tensor->dim());
    }
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      if (at == dim) {
        sizes[at] = env.add(sizes[at], tensor->sizes[at]);
        continue;
      }
      env.require_equal(sizes[at], tensor->sizes[at], [&] {
        return fmt::format(
            "Sizes of tensors must match except in dimension {}. Expected {} but "
            "got {}",
            dim, env.str(sizes[at]), env.str(tensor->sizes[at]));
      });
      if (tensor->sizes[at].is_constant()) sizes[at] = tensor->sizes[at];
    }
  }
  return empty_tensor(env, sizes, promotion.common(), first.device, common_format(env, tensors));
}

namespace {

void cat(ShapeCall& call) {
  call.yield(join(call, call.tensors(0), call.sym_int(1)));
}

/// torch/_refs stack: joined along the dimension that is then split, or a new one at the end.
void stack(ShapeCall& call) {
  const auto tensors = call.tensors(0);
  if (tensors.empty()) throw Error("stack expects a non-empty TensorList");
  const std::size_t rank = tensors[0]->dim();
  const std::size_t dim = call.dim(1, rank + 1);
  for (const TensorMeta* tensor : tensors) {
    if (tensor->dim() != rank) throw Error("stack expects each tensor to be equal size");
    for (std::size_t at = 0; at < rank; ++at) {
      call.env().require_equal(tensor->sizes[at], tensors[0]->sizes[at], [&] {
        return fmt::format("stack expects each tensor to be equal size, but size {} is {} and {}",
                           at, call.env().str(tensors[0]->sizes[at]),
                           call.env().str(tensor->sizes[at]));
      });
    }
  }
  TypePromotion promotion;
  for (const TensorMeta* tensor : tensors) promotion.add(*tensor);
  DimVector sizes(tensors[0]->sizes);
  const auto count = static_cast<std::int64_t>(tensors.size());
  if (dim == rank) {
    sizes.push_back(count);
    call.yield(empty_tensor(call.env(), sizes, promotion.common(), tensors[0]->device));
    return;
  }
  const SymInt size = sizes[dim];
  sizes[dim] = call.env().mul(size, count);
  const FakeTensor joined = empty_tensor(call.env(), sizes, promotion.common(), tensors[0]->device,
                                         common_format(call.env(), tensors));
  sizes[dim] = count;
  sizes.insert(dim + 1, size);
  call.yield(view(call.env(), joined, sizes));
}

/// repeat(self, repeats) and tile(self, dims): dimensions are added in front where there are more
/// repeats; tile adds repeats of 1 instead.
void repeat(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  DimVector repeats = call.sym_ints(1);
  const bool is_tile = call.parameter() == 1;
  while (is_tile && repeats.size() < self.dim()) repeats.insert(0, 1);
  if (repeats.size() < self.dim())
    throw Error(
        "Number of dimensions of repeat dims can not be smaller than number of dimensions "
        "of tensor");
  const std::size_t added = repeats.size() - self.dim();
  DimVector sizes(repeats);
  for (std::size_t at = 0; at < self.dim(); ++at)
    sizes[added + at] = call.env().mul(self.sizes[at], repeats[added + at]);
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// repeat_interleave(self, repeats, dim) with a number.
void repeat_interleave(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const SymInt repeats = call.sym_int(1);
  DimVector sizes;
  if (call.is_none(2)) {
    sizes = {call.env().mul(numel(call.env(), self.sizes), repeats)};
  } else {
    sizes = DimVector(self.sizes);
    if (sizes.empty()) sizes.push_back(1);
    const std::size_t dim = call.dim(2, self.dim());
    sizes[dim] = call.env().mul(sizes[dim], repeats);
  }
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// repeat_interleave.Tensor(repeats, output_size): the index of each, repeated. `dim` is where the
/// number of all stands in the result.
SymInt repeated_count(ShapeCall& call, std::uint32_t output_size_at, std::size_t dim) {
  if (const auto count = call.optional_sym_int(output_size_at)) return *count;
  return call.unbacked_size(0, dim, Range::at_least(0));
}
void repeat_indices(ShapeCall& call) {
  const TensorMeta& repeats = call.tensor(0);
  call.yield(empty_tensor(call.env(), DimVector{repeated_count(call, 1, 0)}, repeats.dtype,
                          repeats.device));
}
/// repeat_interleave.self_Tensor(self, repeats, dim, output_size): slices chosen by these indices.
void repeat_interleave_by_tensor(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& repeats = call.tensor(1);
  const bool is_flat = call.is_none(2);
  DimVector sizes(self.sizes);
  if (is_flat) sizes = {numel(env, self.sizes)};
  if (sizes.empty()) throw Error("repeat_interleave expects a tensor with dimensions");
  const std::size_t dim = is_flat ? 0 : call.dim(2, self.dim());
  if (repeats.dim() > 1) throw Error("repeats must be 0-dim or 1-dim tensor");
  if (repeats.dim() == 1 && !env.known_one(repeats.sizes[0])) {
    env.require_equal(repeats.sizes[0], sizes[dim], [&] {
      return fmt::format(
          "repeats must have the same size as input along dim, but got repeats.size(0) = {} and "
          "input.size({}) = {}",
          env.str(repeats.sizes[0]), dim, env.str(sizes[dim]));
    });
  }
  sizes[dim] = repeated_count(call, 3, dim);
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

/// _chunk_cat(tensors, dim, num_chunks): each tensor is padded, cut into chunks along `dim`, and
/// flattened behind; chunks of one number are joined.
void chunk_cat(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto tensors = call.tensors(0);
  if (tensors.empty() || tensors[0] == nullptr)
    throw Error("_chunk_cat expects a non-empty input tensor list");
  const SymInt chunks = call.sym_int(2);
  env.require_at_least(chunks, 1,
                       [] { return std::string("_chunk_cat expects positive num_chunks"); });
  const TensorMeta& first = *tensors[0];
  const std::size_t dim = wrap_dim(call.sym_int(1), first.dim(), false);
  DimVector sizes(first.sizes.first(dim));
  SymInt width = 0;
  for (const TensorMeta* tensor : tensors) {
    if (tensor == nullptr || tensor->dim() <= dim)
      throw Error("_chunk_cat expects ndim > dim for all tensors");
    if (tensor->dtype != first.dtype)
      throw Error("_chunk_cat expects all input tensors to have the same dtype");
    for (std::size_t at = 0; at < dim; ++at) {
      env.require_equal(tensor->sizes[at], first.sizes[at], [] {
        return std::string(
            "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
      });
    }
    env.require_at_least(numel(env, tensor->sizes), 1,
                         [] { return std::string("_chunk_cat expects non-empty tensor"); });
    const SymInt rows = env.floor_div(env.add(tensor->sizes[dim], env.sub(chunks, 1)), chunks);
    width = env.add(width, env.mul(rows, numel(env, tensor->sizes.subspan(dim + 1))));
  }
  sizes.push_back(chunks);
  sizes.push_back(width);
  call.yield(empty_tensor(env, sizes, first.dtype, first.device));
}

/// flatten_dense_tensors(tensors): one after the other.
void flatten_dense_tensors(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto tensors = call.tensors(0);
  TypePromotion promotion;
  SymInt count = 0;
  for (const TensorMeta* tensor : tensors) {
    if (tensor == nullptr) call.cannot_infer("{} is given None", call.op().qualified_name);
    promotion.add(*tensor);
    count = env.add(count, numel(env, tensor->sizes));
  }
  if (tensors.size() < 2) call.cannot_infer("the flattened tensor may be a view of the only one");
  call.yield(empty_tensor(env, DimVector{count}, promotion.common(), tensors[0]->device));
}
/// unflatten_dense_tensors(flat, tensors): views of the flat one, with the sizes of the others.
void unflatten_dense_tensors(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& flat = call.tensor(0);
  if (flat.dim() != 1) fail("expected a flat tensor, but got one of {} dimensions", flat.dim());
  SymInt offset = 0;
  for (const TensorMeta* tensor : call.tensors(1)) {
    if (tensor == nullptr) call.cannot_infer("{} is given None", call.op().qualified_name);
    const SymInt count = numel(env, tensor->sizes);
    if (!env.known_at_least(count, 1))
      call.cannot_infer("a tensor without elements is one of its own");
    const SymInt end = env.add(offset, count);
    env.require_at_least(flat.sizes[0], end, [&] {
      return fmt::format("the flat tensor of {} elements ends before element {}",
                         env.str(flat.sizes[0]), env.str(end));
    });
    call.yield(view(env, narrow(env, flat, 0, offset, count), tensor->sizes));
    offset = end;
  }
}

void roll(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const std::size_t shifts = call.sym_ints(1).size();
  const DimVector dims = call.sym_ints(2);
  if (shifts == 0) throw Error("`shifts` required");
  if (dims.empty() ? shifts != 1 : shifts != dims.size())
    fail("shifts and dimensions must align. shifts: {}, dims: {}", shifts, dims.size());
  for (const SymInt dim : dims) static_cast<void>(wrap_dim(dim, self.dim(), false));
  const bool is_empty =
      std::ranges::any_of(self.sizes, [&](SymInt size) { return call.env().known_zero(size); });
  call.yield(is_empty ? empty_like(call.env(), self)
                      : empty_like(call.env(), self, MemoryFormat::contiguous_format));
}
void flip(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  for (const SymInt dim : call.sym_ints(1)) static_cast<void>(wrap_dim(dim, self.dim()));
  ElementwiseOperands operands;
  operands.add(self);
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// pixel_shuffle(self, r) and, with `parameter` 1, pixel_unshuffle: channels for pixels.
void pixel_shuffle(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const ShapeEnv& env = call.env();
  const SymInt factor = call.sym_int(1);
  const SymInt area = env.mul(factor, factor);
  if (self.dim() < 3) fail("{} expects input to have at least 3 dimensions", call.op().schema.name);
  if (!env.known_less(0, factor))
    fail("{} expects a positive factor, but got {}", call.op().schema.name, env.str(factor));
  DimVector sizes(self.sizes);
  SymInt& channels = sizes[sizes.size() - 3];
  const bool back = call.parameter() == 1;
  const auto grow = [&](SymInt& size, SymInt by) { size = env.mul(size, by); };
  const auto shrink = [&](SymInt& size, SymInt by) {
    call.env().require_equal(env.mod(size, by), 0, [&] {
      return fmt::format("{} expects a size to be divisible by {}, but it is {}",
                         call.op().schema.name, env.str(by), env.str(size));
    });
    size = env.floor_div(size, by);
  };
  back ? grow(channels, area) : shrink(channels, area);
  for (std::size_t at = sizes.size() - 2; at < sizes.size(); ++at)
    back ? shrink(sizes[at], factor) : grow(sizes[at], factor);
  const MemoryFormat format = suggest_memory_format(env, self);
  if (back && format != MemoryFormat::contiguous_format)
    call.cannot_infer("the memory format that pixel_unshuffle keeps differs between kernels");
  call.yield(empty_tensor(env, sizes, self.dtype, self.device, format));
}

}  // namespace

std::span<const ShapeRow> joining_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_cat_default, cat},
      {op::aten_concat_default, cat},
      {op::aten_concatenate_default, cat},
      {op::aten_flip_default, flip},
      {op::aten_pixel_shuffle_default, pixel_shuffle, 0},
      {op::aten_pixel_unshuffle_default, pixel_shuffle, 1},
      {op::aten_repeat_default, repeat, 0},
      {op::aten_repeat_interleave_Tensor, repeat_indices},
      {op::aten_repeat_interleave_self_int, repeat_interleave},
      {op::aten_repeat_interleave_self_Tensor, repeat_interleave_by_tensor},
      {op::aten_roll_default, roll},
      {op::aten__chunk_cat_default, chunk_cat},
      {op::aten__stack_default, stack},
      {op::aten_flatten_dense_tensors_default, flatten_dense_tensors},
      {op::aten_stack_default, stack},
      {op::aten_unflatten_dense_tensors_default, unflatten_dense_tensors},
      {op::aten_tile_default, repeat, 1},
  };
  return rows;
}

}  // namespace winze
