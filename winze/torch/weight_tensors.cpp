// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/weight_tensors.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <ATen/ops/empty_strided.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

#include "winze/support/diagnostic.h"
#include "winze/support/hash.h"
#include "winze/support/quote.h"
#include "winze/torch/attributes.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

/// Kernels read elements at their own alignment; that of complex128 is the largest.
constexpr std::uintptr_t needed_alignment = 16;

void drop_bytes(void* context) {
  delete static_cast<Bytes*>(context);
}

c10::Storage copy_of(const Storage& bytes) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  c10::DataPtr data = allocator->allocate(bytes.size);
  if (bytes.size != 0)
    bytes.bytes.copy_to({static_cast<char*>(data.get()), static_cast<std::size_t>(bytes.size)}, 0);
  return {c10::Storage::use_byte_size_t(), bytes.size, std::move(data), allocator, false};
}

c10::Storage in_place(const Storage& bytes) {
  // Nothing writes through this pointer: weights that the program writes to are copied.
  void* data = const_cast<std::byte*>(bytes.bytes.data());
  c10::DataPtr pointer(data, new Bytes(bytes.bytes), &drop_bytes, c10::Device(c10::kCPU));
  return {c10::Storage::use_byte_size_t(), bytes.size, std::move(pointer), nullptr, false};
}

bool is_aligned(const Storage& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.bytes.data()) % needed_alignment == 0;
}

std::vector<std::int64_t> constants(std::span<const SymInt> values) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (SymInt value : values) result.push_back(value.constant());
  return result;
}

}  // namespace

at::Tensor tensor_over(const c10::Storage& storage, const TensorMeta& meta) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(to_torch(meta.dtype)));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(constants(meta.sizes),
                                                      constants(meta.strides));
  tensor.unsafeGetTensorImpl()->set_storage_offset(meta.storage_offset.constant());
  return tensor;
}

WeightTensors::WeightTensors(const ExportedProgram& program, bool make_up_missing)
    : program_(&program),
      make_up_missing_(make_up_missing),
      shared_(program.storages.size()),
      writable_(program.storages.size()) {}

void WeightTensors::renew() {
  for (c10::Storage& storage : writable_) storage = {};
}

c10::Storage& WeightTensors::storage(const Weight& weight, bool writable) {
  c10::Storage& storage = (writable ? writable_ : shared_)[weight.storage.index];
  if (storage) return storage;
  const Storage& bytes = program_->storage(weight);
  if (!bytes.has_bytes && make_up_missing_) return storage = made_up(weight);
  if (!bytes.has_bytes) {
    throw Error(fmt::format("the bytes of weight {} are not at hand", quote(weight.fqn)),
                "--weights FILE.pt2 takes them from an archive");
  }
  storage = writable || !is_aligned(bytes) ? copy_of(bytes) : in_place(bytes);
  return storage;
}

c10::Storage WeightTensors::made_up(const Weight& weight) const {
  const ScalarType dtype = program_->context().meta(weight.meta).tensor.dtype;
  const std::size_t width = element_size(to_real(dtype));
  Storage bytes;
  bytes.size = program_->storage(weight).size;
  std::string content(bytes.size, '\0');
  for (std::size_t i = 0; i + width <= content.size(); i += width) {
    const std::uint64_t random = hash_integer(i + (std::uint64_t{weight.storage.index} << 40U));
    const double number = is_floating_point(to_real(dtype))
                              ? static_cast<double>(random % 2001) / 1000 - 1
                              : static_cast<double>(random % 2);
    write_numbers(to_real(dtype), std::span(&number, 1),
                  reinterpret_cast<std::byte*>(content.data() + i));
  }
  bytes.bytes = Bytes::own(std::move(content));
  return copy_of(bytes);
}

at::Tensor WeightTensors::tensor(const Weight& weight, bool writable) {
  if (weight.kind != PayloadKind::tensor || !weight.meta.valid()) {
    throw Error(fmt::format("weight {} is no plain tensor and cannot be used to run the program",
                            quote(weight.fqn)));
  }
  const Meta& meta = program_->context().meta(weight.meta);
  if (meta.tensor.is_static() && program_->context().is_meta(meta.tensor.device)) {
    return at::empty_strided(constants(meta.tensor.sizes), constants(meta.tensor.strides),
                             at::device(c10::kMeta).dtype(to_torch(meta.tensor.dtype)));
  }
  if (!meta.tensor.is_static() ||
      storage_size_needed(meta.tensor) > program_->storage(weight).size) {
    throw Error(fmt::format("weight {} reaches past the end of its bytes", quote(weight.fqn)));
  }
  return tensor_over(storage(weight, writable), meta.tensor);
}

}  // namespace winze
