// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/vmap_functions.h"

#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>

namespace winze {

using c10::IValue;

void vmap_increment_nesting(Machine& /*machine*/, const Instruction& /*instruction*/,
                            Stack& stack) {
  const std::string randomness = stack.size() > 1 ? stack[1].toStringRef() : "error";
  at::functorch::RandomnessType kind = at::functorch::RandomnessType::Error;
  if (randomness == "same") kind = at::functorch::RandomnessType::Same;
  if (randomness == "different") kind = at::functorch::RandomnessType::Different;
  const std::int64_t level = at::functorch::initAndPushDynamicLayer(
      at::functorch::TransformType::Vmap, c10::SymInt(stack[0].toInt()), kind);
  stack.assign(1, IValue(level));
}

void vmap_decrement_nesting(Machine& /*machine*/, const Instruction& /*instruction*/,
                            Stack& stack) {
  TORCH_CHECK(vmap_depth() != 0, "a level of vmap is left where none was entered");
  const at::functorch::DynamicLayer layer = at::functorch::popDynamicLayerAndDeleteMetadata();
  stack.assign(1, IValue(layer.layerId()));
}

// The levels that the graph names are counted from the one in which it was exported.
void add_batch_dim(Machine& /*machine*/, const Instruction& /*instruction*/, Stack& stack) {
  stack.assign(1, IValue(at::functorch::addBatchDim(stack[0].toTensor(), stack[1].toInt(),
                                                    stack[2].toInt())));
}

// As torch/csrc/functorch/init.cpp, which is part of the Python library only.
void remove_batch_dim(Machine& /*machine*/, const Instruction& /*instruction*/, Stack& stack) {
  const at::Tensor tensor = stack[0].toTensor();
  const std::int64_t level = stack[1].toInt();
  const std::int64_t batch_size = stack[2].toInt();
  const std::int64_t out_dim = stack[3].toInt();
  const at::functorch::BatchedTensorImpl* batched = nullptr;
  if (at::functorch::isBatchedTensor(tensor)) {
    batched = at::functorch::unsafeGetBatchedImpl(tensor);
    if (batched->level() != level) batched = nullptr;
  }
  at::Tensor result;
  if (batched != nullptr) {
    result = batched->value().movedim(batched->bdim(), out_dim);
  } else {  // the result does not depend on the batch
    std::vector<std::int64_t> sizes = tensor.sizes().vec();
    const std::int64_t at = out_dim < 0 ? out_dim + tensor.dim() + 1 : out_dim;
    sizes.insert(sizes.begin() + at, batch_size);
    result = tensor.unsqueeze(at).expand(sizes);
  }
  stack.assign(1, IValue(std::move(result)));
}

std::size_t vmap_depth() {
  return at::functorch::getDynamicLayerStack().size();
}

void leave_vmap_levels(std::size_t depth) {
  while (vmap_depth() > depth) at::functorch::popDynamicLayerAndDeleteMetadata();
}

}  // namespace winze
