// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/views.h"

#include <array>

#include "winze/shape/shape_call.h"

namespace winze {
namespace {

std::string list_text(const ShapeEnv& env, Sizes sizes) {
  std::string text;
  for (const SymInt size : sizes) text += (text.empty() ? "" : ", ") + env.str(size);
  return "[" + text + "]";
}

}  // namespace

FakeTensor view(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes) {
  FakeTensor result(tensor);
  result.sizes = infer_view_sizes(env, sizes, numel(env, tensor.sizes));
  const auto strides = view_strides(env, tensor, result.sizes);
  if (!strides) {
    const auto is_constant = [](SymInt value) { return value.is_constant(); };
    if (!std::ranges::all_of(tensor.sizes, is_constant) ||
        !std::ranges::all_of(tensor.strides, is_constant) ||
        !std::ranges::all_of(result.sizes, is_constant)) {
      throw NotInferable(fmt::format(
          "whether a tensor with shape {} and strides {} can be viewed with shape {} is not known",
          list_text(env, tensor.sizes), list_text(env, tensor.strides),
          list_text(env, result.sizes)));
    }
    throw Error(fmt::format("Cannot view a tensor with shape {} and strides {} as a tensor with "
                            "shape {}",
                            list_text(env, tensor.sizes), list_text(env, tensor.strides),
                            list_text(env, result.sizes)),
                "use reshape, which copies where it has to");
  }
  result.strides = *strides;
  return result;
}

FakeTensor reshape(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes) {
  FakeTensor result(tensor);
  result.sizes = infer_view_sizes(env, sizes, numel(env, tensor.sizes));
  if (const auto strides = view_strides(env, tensor, result.sizes)) {
    result.strides = *strides;
  } else {
    result.strides = contiguous_strides(env, result.sizes);
    result.storage_offset = 0;
  }
  return result;
}

FakeTensor flatten(ShapeEnv& env, const TensorMeta& tensor, std::size_t start, std::size_t end) {
  if (tensor.dim() == 0) return reshape(env, tensor, DimVector{1});
  if (start > end) throw Error("flatten() has invalid args: start_dim cannot come after end_dim");
  if (start == end) return FakeTensor(tensor);
  DimVector sizes(tensor.sizes.first(start));
  sizes.push_back(numel(env, tensor.sizes.subspan(start, end - start + 1)));
  sizes.append(tensor.sizes.subspan(end + 1));
  return reshape(env, tensor, sizes);
}

FakeTensor expand(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes) {
  if (sizes.size() < tensor.dim()) {
    fail(
        "expand: the number of sizes provided ({}) must be greater or equal to the number of "
        "dimensions in the tensor ({})",
        sizes.size(), tensor.dim());
  }
  FakeTensor result(tensor);
  result.sizes = DimVector(sizes);
  result.strides = DimVector(sizes.size(), 0);
  if (tensor.dim() == 0) {
    // torch/_prims broadcast_in_dim, which export goes through. (Of a tensor without dimensions the
    // kernel makes all strides 0: aten/src/ATen/ExpandUtils.cpp.)
    for (std::size_t at = 0; at < sizes.size(); ++at)
      result.strides[at] = env.known_one(sizes[at]) ? 1 : 0;
    return result;
  }
  const std::size_t added = sizes.size() - tensor.dim();
  for (std::size_t at = sizes.size(); at-- > 0;) {
    const bool is_new = at < added;
    const SymInt size = is_new ? SymInt(1) : tensor.sizes[at - added];
    SymInt stride = 1;
    if (!is_new) {
      stride = tensor.strides[at - added];
    } else if (at + 1 < sizes.size()) {
      stride = env.mul(result.sizes[at + 1], result.strides[at + 1]);
    }
    SymInt target = sizes[at];
    if (target.is_constant() && target.constant() == -1) {
      if (is_new) {
        fail(
            "expand: the expanded size of the tensor (-1) isn't allowed in a leading, "
            "non-existing dimension {}",
            at);
      }
      target = size;
    }
    if (!env.known_equal(size, target)) {
      if (env.known_one(size)) {
        stride = 0;
      } else {
        env.require_equal(size, target, [&] {
          return fmt::format(
              "The expanded size of the tensor ({}) must match the existing size "
              "({}) at non-singleton dimension {}",
              env.str(target), env.str(size), at);
        });
      }
    }
    result.sizes[at] = target;
    result.strides[at] = stride;
  }
  return result;
}

FakeTensor permute(const TensorMeta& tensor, Sizes dims) {
  if (dims.size() != tensor.dim()) {
    fail(
        "permute: number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
        tensor.dim(), dims.size());
  }
  FakeTensor result(tensor);
  std::array<bool, 64> seen{};
  for (std::size_t at = 0; at < dims.size(); ++at) {
    const std::size_t dim = wrap_dim(dims[at], tensor.dim(), false);
    if (seen[dim]) throw Error("permute: duplicate dims are not allowed");
    seen[dim] = true;
    result.sizes[at] = tensor.sizes[dim];
    result.strides[at] = tensor.strides[dim];
  }
  return result;
}

FakeTensor transpose(const TensorMeta& tensor, std::size_t a, std::size_t b) {
  FakeTensor result(tensor);
  if (tensor.dim() == 0) return result;
  std::swap(result.sizes[a], result.sizes[b]);
  std::swap(result.strides[a], result.strides[b]);
  return result;
}

FakeTensor unsqueeze(const ShapeEnv& env, const TensorMeta& tensor, std::size_t dim) {
  FakeTensor result(tensor);
  const SymInt stride =
      dim >= tensor.dim() ? SymInt(1) : env.mul(tensor.sizes[dim], tensor.strides[dim]);
  result.sizes.insert(dim, 1);
  result.strides.insert(dim, stride);
  return result;
}

FakeTensor without_dim(const TensorMeta& tensor, std::size_t dim) {
  FakeTensor result(tensor);
  result.sizes.erase(dim);
  result.strides.erase(dim);
  return result;
}

FakeTensor narrow(const ShapeEnv& env, const TensorMeta& tensor, std::size_t dim, SymInt start,
                  SymInt length) {
  FakeTensor result(tensor);
  result.sizes[dim] = length;
  result.storage_offset = env.add(tensor.storage_offset, env.mul(start, tensor.strides[dim]));
  return result;
}

FakeTensor select(ShapeEnv& env, const TensorMeta& tensor, std::size_t dim, SymInt index) {
  const SymInt size = tensor.sizes[dim];
  if (env.known_at_least(index, size) || env.known_less(index, env.sub(0, size))) {
    fail("select(): index {} out of range for tensor of size {} at dimension {}", env.str(index),
         list_text(env, tensor.sizes), dim);
  }
  // An index that depends on data is checked when the program runs.
  if (!env.is_unbacked(index)) {
    const SymInt least = env.known_less(index, 0) ? env.sub(0, index) : env.add(index, 1);
    env.require_at_least(size, least, [&] {
      return fmt::format("select(): index {} out of range for tensor of size {} at dimension {}",
                         env.str(index), list_text(env, tensor.sizes), dim);
    });
  }
  FakeTensor result = without_dim(tensor, dim);
  const SymInt from_front = env.known_less(index, 0) ? env.add(index, size) : index;
  result.storage_offset = env.add(tensor.storage_offset, env.mul(from_front, tensor.strides[dim]));
  return result;
}

}  // namespace winze
