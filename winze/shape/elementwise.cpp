// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/elementwise.h"

#include <numeric>

namespace winze {
namespace {

/// torch/_prims_common, `ge` of compute_elementwise_output_logical_to_physical_perm.
bool is_at_least(const ShapeEnv& env, SymInt a, SymInt b) {
  if (a.is_constant() && b.is_constant()) return a.constant() >= b.constant();
  if (env.known_zero(b)) return true;
  if (env.known_zero(a)) return false;
  return env.known_at_least(a, b) || env.known_multiple(a, b);
}

/// 1 where `outer` is to come before `inner`, -1 where they are in order, 0 where nothing says.
int compare_dims(const ShapeEnv& env, Sizes sizes, std::span<const Sizes> strides,
                 std::size_t inner, std::size_t outer) {
  for (const Sizes& operand : strides) {
    const SymInt a = operand[inner];
    const SymInt b = operand[outer];
    if (env.known_zero(a) || env.known_zero(b)) continue;
    if (env.known_equal(a, b)) {
      if (is_at_least(env, sizes[outer], sizes[inner])) continue;
      return 1;
    }
    if (is_at_least(env, b, a)) return -1;
    if (is_at_least(env, a, b)) return 1;
  }
  return 0;
}

/// Strides of an operand at the sizes it is broadcast to.
DimVector broadcast_strides(const ShapeEnv& env, Sizes sizes, const TensorMeta& operand) {
  DimVector result(sizes.size(), 0);
  const std::size_t offset = sizes.size() - operand.dim();
  for (std::size_t dim = 0; dim < operand.dim(); ++dim) {
    const bool is_broadcast =
        env.known_one(operand.sizes[dim]) && !env.known_one(sizes[offset + dim]);
    if (!is_broadcast) result[offset + dim] = operand.strides[dim];
  }
  return result;
}

bool is_cpu_scalar(const TensorMeta& tensor) {
  return tensor.dim() == 0 && tensor.device.type == 0;
}

}  // namespace

DimOrder::DimOrder(std::size_t rank) : size_(rank) {
  if (rank > most) fail("a tensor has {} dimensions; at most {} are supported", rank, most);
}

bool is_smaller_stride(const ShapeEnv& env, SymInt a, SymInt b) {
  if (a.is_constant() && b.is_constant()) return a.constant() < b.constant();
  if (env.known_zero(b)) return false;
  if (env.known_less(a, b)) return true;
  return (env.known_zero(a) || env.known_multiple(b, a)) && !env.known_equal(a, b);
}

DimOrder memory_order(const ShapeEnv& env, Sizes sizes, std::span<const Sizes> strides) {
  DimOrder order(sizes.size());
  std::iota(std::reverse_iterator(order.end()), std::reverse_iterator(order.begin()),
            std::uint8_t{0});
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t at = i;
    for (std::size_t j = i; j-- > 0;) {
      const int comparison = compare_dims(env, sizes, strides, order[j], order[at]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

DimVector elementwise_strides(const ShapeEnv& env, Sizes sizes,
                              std::span<const TensorMeta* const> operands) {
  if (sizes.size() < 2) return DimVector(sizes.size(), 1);
  std::array<DimVector, most_operands> strides;
  std::array<Sizes, most_operands> views;
  std::size_t count = 0;
  bool all_contiguous = true;
  bool all_channels_last = true;
  for (const TensorMeta* operand : operands) {
    if (is_cpu_scalar(*operand)) continue;
    if (count == most_operands) fail("an elementwise operator has more than {} operands", count);
    strides[count] = broadcast_strides(env, sizes, *operand);
    views[count] = strides[count];
    all_contiguous = all_contiguous && is_contiguous(env, sizes, views[count]);
    all_channels_last =
        all_channels_last && sizes.size() == 4 && is_channels_last(env, sizes, views[count]);
    ++count;
  }
  if (count == 0) return contiguous_strides(env, sizes);
  if (all_contiguous && !all_channels_last) return contiguous_strides(env, sizes);
  if (all_channels_last && !all_contiguous) return channels_last_strides(env, sizes);
  DimVector result(sizes.size(), 1);
  SymInt stride = 1;
  for (const std::uint8_t dim : memory_order(env, sizes, {views.data(), count})) {
    result[dim] = stride;
    stride = env.mul(stride, env.at_least_one(sizes[dim]));
  }
  return result;
}

FakeTensor elementwise_like(const ShapeEnv& env, const TensorMeta& tensor) {
  FakeTensor result(tensor);
  const TensorMeta* const operand = &tensor;
  result.strides = elementwise_strides(env, tensor.sizes, {&operand, 1});
  result.storage_offset = 0;
  return result;
}

Device ElementwiseOperands::common_device() const {
  const TensorMeta* first = tensors_[0];
  for (const TensorMeta* tensor : tensors()) {
    if (is_cpu_scalar(*tensor)) continue;
    if (is_cpu_scalar(*first)) first = tensor;
    if (!(tensor->device == first->device))
      throw Error("Expected all tensors to be on the same device");
  }
  return first->device;
}

FakeTensor ElementwiseOperands::result(ShapeEnv& env, Promotion promotion) const {
  return result_of(env, promotion_.result(promotion));
}

FakeTensor ElementwiseOperands::result_of(ShapeEnv& env, ScalarType dtype) const {
  FakeTensor result;
  result.dtype = dtype;
  result.device = common_device();
  result.sizes = DimVector(tensors_[0]->sizes);
  for (std::size_t index = 1; index < count_; ++index)
    result.sizes = broadcast_sizes(env, result.sizes, tensors_[index]->sizes);
  result.strides = elementwise_strides(env, result.sizes, tensors());
  return result;
}

}  // namespace winze
