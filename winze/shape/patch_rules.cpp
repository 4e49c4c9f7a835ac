// SPDX-License-Identifier: Apache-2.0
// Images as columns of patches and back, undone pooling, sampling grids, shuffled channels, after
// torch/_decomp/decompositions.py.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The arguments that say where patches lie, from position `first` on.
struct Patches {
  DimVector kernel;
  DimVector dilation;
  DimVector padding;
  DimVector stride;
};

Patches patches_of(const ShapeCall& call, std::uint32_t first) {
  Patches patches = {call.sym_ints(first), call.sym_ints(first + 1), call.sym_ints(first + 2),
                     call.sym_ints(first + 3)};
  for (const DimVector* values : {&patches.kernel, &patches.dilation, &patches.stride}) {
    for (const SymInt value : *values) {
      if (call.env().known_less(value, 1))
        fail("{}: sizes of patches should be greater than zero, but got {}", call.op().schema.name,
             call.env().str(value));
    }
  }
  for (const DimVector* values :
       {&patches.kernel, &patches.dilation, &patches.padding, &patches.stride}) {
    if (values->size() != 2) fail("{}: only 2D patches are supported", call.op().schema.name);
  }
  return patches;
}

/// How many patches fit along a dimension of this size.
SymInt patches_along(ShapeCall& call, const Patches& patches, std::size_t at, SymInt size) {
  ShapeEnv& env = call.env();
  const SymInt reach = env.add(env.mul(patches.dilation[at], env.sub(patches.kernel[at], 1)), 1);
  const SymInt padded = env.add(size, env.mul(patches.padding[at], 2));
  const SymInt count = env.add(env.floor_div(env.sub(padded, reach), patches.stride[at]), 1);
  env.require_at_least(count, 1, [&] {
    return fmt::format(
        "the calculated shape of the array of sliding blocks has a size of {}, but its components "
        "must be at least one.",
        env.str(count));
  });
  return count;
}

void im2col(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const Patches patches = patches_of(call, 1);
  const std::size_t rank = input.dim();
  bool fits = rank == 3 || rank == 4;
  for (std::size_t dim = rank == 4 ? 1 : 0; fits && dim < rank; ++dim)
    fits = !env.known_zero(input.sizes[dim]);
  if (!fits)
    fail(
        "Expected 3D or 4D (batch mode) tensor for input with possible 0 batch size and non-zero "
        "dimensions, but got {} dimensions",
        rank);
  const SymInt rows = patches_along(call, patches, 0, input.sizes[rank - 2]);
  const SymInt columns = patches_along(call, patches, 1, input.sizes[rank - 1]);
  DimVector sizes(input.sizes.first(rank - 3));
  sizes.push_back(env.mul(input.sizes[rank - 3], env.mul(patches.kernel[0], patches.kernel[1])));
  sizes.push_back(env.mul(rows, columns));
  call.yield(empty_tensor(env, sizes, input.dtype, input.device));
}

void col2im(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const DimVector output = call.sym_ints(1);
  const Patches patches = patches_of(call, 2);
  const std::size_t rank = input.dim();
  if ((rank != 2 && rank != 3) || env.known_zero(input.sizes[rank - 2]) ||
      env.known_zero(input.sizes[rank - 1])) {
    fail(
        "Expected 2D or 3D (batch mode) tensor for input with possible 0 batch size and non-zero "
        "dimensions, but got {} dimensions",
        rank);
  }
  if (output.size() != 2) throw Error("col2im: only 2D output_size is supported");
  const SymInt kernel = env.mul(patches.kernel[0], patches.kernel[1]);
  const SymInt channels = input.sizes[rank - 2];
  if (!env.known_multiple(channels, kernel)) {
    env.require_equal(env.mod(channels, kernel), 0, [&] {
      return fmt::format(
          "Expected size of input's first non-batch dimension to be divisible by the product of "
          "kernel_size, but got {} and {}",
          env.str(channels), env.str(kernel));
    });
  }
  const SymInt count = env.mul(patches_along(call, patches, 0, output[0]),
                               patches_along(call, patches, 1, output[1]));
  env.require_equal(input.sizes[rank - 1], count, [&] {
    return fmt::format(
        "Expected size of input's last dimension to match the calculated number of "
        "sliding blocks {}, but got {}",
        env.str(count), env.str(input.sizes[rank - 1]));
  });
  DimVector sizes(input.sizes.first(rank - 2));
  sizes.push_back(env.floor_div(channels, kernel));
  sizes.append(output);
  call.yield(empty_tensor(env, sizes, input.dtype, input.device));
}

/// aten::max_unpool2d and max_unpool3d; `parameter` says how many dimensions.
void max_unpool(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& indices = call.tensor(1);
  const std::size_t count = call.parameter();
  const DimVector output = call.sym_ints(2);
  if (indices.dtype != ScalarType::int64)
    fail("elements in indices should be type int64 but got: {}", full_name(indices.dtype));
  if (output.size() != count)
    fail("There should be exactly {} elements in output_size, but got {} elements.", count,
         output.size());
  if (self.dim() != count + 1 && self.dim() != count + 2) {
    fail(
        "Input to max_unpooling{}d should be a {}d or {}d Tensor, but got a tensor with {} "
        "dimensions.",
        count, count + 1, count + 2, self.dim());
  }
  if (indices.dim() != self.dim())
    throw Error("Expected shape of indices to be same as that of the input tensor");
  for (std::size_t dim = 0; dim < self.dim(); ++dim) {
    env.require_equal(self.sizes[dim], indices.sizes[dim], [] {
      return std::string("Expected shape of indices to be same as that of the input tensor");
    });
  }
  for (std::size_t dim = 1; dim < self.dim(); ++dim) {
    env.require_at_least(self.sizes[dim], 1, [&] {
      return fmt::format(
          "max_unpooling{}d(): Expected input to have non-zero size for non-batch dimensions, but "
          "dimension {} is empty",
          count, dim);
    });
  }
  DimVector sizes(self.sizes.first(self.dim() - count));
  sizes.append(output);
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

/// aten::affine_grid_generator(theta, size): a point for each pixel.
void affine_grid_generator(ShapeCall& call) {
  const TensorMeta& theta = call.tensor(0);
  const DimVector size = call.sym_ints(1);
  if (size.size() != 4 && size.size() != 5)
    throw Error("affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.");
  const auto dims = static_cast<std::int64_t>(size.size()) - 2;
  const DimVector expected = {size[0], dims, dims + 1};
  if (theta.dim() != 3)
    fail("Expected a batch of affine matrices for theta, got {} dimensions", theta.dim());
  for (std::size_t dim = 0; dim < 3; ++dim) {
    call.env().require_equal(theta.sizes[dim], expected[dim], [&] {
      return fmt::format(
          "Expected a batch of {}D affine matrices of shape Nx{}x{} for size, got {}", dims, dims,
          dims + 1, call.env().str(theta.sizes[dim]));
    });
  }
  DimVector sizes = {size[0]};
  sizes.append(Sizes(size).subspan(2));
  sizes.push_back(static_cast<std::int64_t>(size.size() - 2));
  call.yield(empty_tensor(call.env(), sizes, theta.dtype, theta.device));
}
void affine_grid_generator_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  const DimVector size = call.sym_ints(1);
  const auto dims = static_cast<std::int64_t>(size.size()) - 2;
  if (dims != 2 && dims != 3)
    throw Error("affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.");
  const FakeTensor theta =
      empty_tensor(call.env(), DimVector{size[0], dims + 1, dims}, grad.dtype, grad.device);
  call.yield(transpose(theta, 1, 2));
}

/// aten::channel_shuffle
void channel_shuffle(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt groups = call.sym_int(1);
  if (self.dim() < 3)
    fail("channel_shuffle expects input with > 2 dims, but got input with {} dims", self.dim());
  env.require_at_least(groups, 1, [] {
    return std::string("Number of groups to divide channels in must be positive.");
  });
  if (!env.known_multiple(self.sizes[1], groups)) {
    env.require_equal(env.mod(self.sizes[1], groups), 0, [&] {
      return fmt::format(
          "Number of channels must be divisible by groups. Got {} channels and {} "
          "groups.",
          env.str(self.sizes[1]), env.str(groups));
    });
  }
  call.yield(empty_tensor(env, self.sizes, self.dtype, self.device));
}

}  // namespace

std::span<const ShapeRow> patch_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_affine_grid_generator_default, affine_grid_generator},
      {op::aten_affine_grid_generator_backward_default, affine_grid_generator_backward},
      {op::aten_channel_shuffle_default, channel_shuffle},
      {op::aten_col2im_default, col2im},
      {op::aten_im2col_default, im2col},
      {op::aten_max_unpool2d_default, max_unpool, 2},
      {op::aten_max_unpool3d_default, max_unpool, 3},
      {op::aten_native_channel_shuffle_default, channel_shuffle},
  };
  return rows;
}

}  // namespace winze
