// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/host_conversion.h"

#include <cstring>
#include <memory>

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>
#include <fmt/format.h>
#include <tsl/robin_map.h>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/torch/attributes.h"

namespace winze {
namespace {

using c10::IValue;

/// Elements from the first to the last that a tensor reaches.
std::size_t reach(const HostTensor& tensor) {
  std::size_t elements = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return 0;
    elements += static_cast<std::size_t>((tensor.sizes[i] - 1) * tensor.strides[i]);
  }
  return elements;
}

c10::Storage storage_of(const std::byte* bytes, std::size_t size) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  c10::DataPtr data = allocator->allocate(size);
  if (size != 0) std::memcpy(data.get(), bytes, size);
  return {c10::Storage::use_byte_size_t(), size, std::move(data), allocator, true};
}

at::Tensor tensor_in(c10::Storage storage, const HostTensor& host, std::int64_t offset) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(to_torch(host.dtype)));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(host.sizes, host.strides);
  tensor.unsafeGetTensorImpl()->set_storage_offset(offset);
  return tensor;
}

/// With storage of its own, which holds no more than its elements and what lies between them.
at::Tensor to_tensor(const HostTensor& host) {
  const std::size_t size = reach(host) * element_size(host.dtype);
  return tensor_in(storage_of(size == 0 ? nullptr : host.data(), size), host, 0);
}

/// How many tensors with elements have each storage.
tsl::robin_map<const std::byte*, std::size_t> count_storages(const std::vector<HostValue>& values) {
  tsl::robin_map<const std::byte*, std::size_t> counts;
  for (const HostValue& value : values) {
    const HostTensor* tensor = value.tensor();
    if (tensor != nullptr && tensor->element_count() != 0) ++counts[tensor->storage.data()];
  }
  return counts;
}

bool is_shared(const tsl::robin_map<const std::byte*, std::size_t>& counts,
               const HostTensor* tensor) {
  return tensor != nullptr && tensor->element_count() != 0 && counts.at(tensor->storage.data()) > 1;
}

HostTensor to_host_tensor(at::Tensor tensor) {
  if (tensor.is_meta())
    throw Error("a tensor on the meta device has no numbers that could be shown or compared",
                "leave it out of what the program returns");
  if (tensor.layout() != c10::kStrided) tensor = tensor.to_dense();
  if (!tensor.is_cpu()) tensor = tensor.cpu();
  tensor = tensor.resolve_conj().resolve_neg();
  const c10::Storage storage = tensor.storage();
  HostTensor host;
  host.dtype = from_torch(tensor.scalar_type());
  host.sizes = tensor.sizes().vec();
  host.strides = tensor.strides().vec();
  host.offset = tensor.storage_offset();
  const auto owner = std::make_shared<const c10::Storage>(storage);
  host.storage = Bytes::share(owner, owner->data(), owner->nbytes());
  return host;
}

NamedValue named(NamedValue::Role role, std::size_t position, std::string name,
                 const IValue& value) {
  NamedValue result;
  result.role = role;
  result.position = static_cast<std::uint32_t>(position);
  result.name = std::move(name);
  result.value = to_host(value);
  return result;
}

}  // namespace

IValue to_ivalue(const HostValue& value) {
  struct Visitor {
    IValue operator()(std::monostate) const { return {}; }
    IValue operator()(bool held) const { return held; }
    IValue operator()(std::int64_t held) const { return held; }
    IValue operator()(double held) const { return held; }
    IValue operator()(const std::complex<double>& held) const {
      return c10::complex<double>(held.real(), held.imag());
    }
    IValue operator()(const std::string& held) const { return held; }
    IValue operator()(const HostTensor& held) const { return to_tensor(held); }
    IValue operator()(const HostSequence& /*held*/) const {
      fail("a container of values stands where a single value is wanted");
    }
  };
  return std::visit(Visitor{}, value.content);
}

std::vector<IValue> to_ivalues(const std::vector<HostValue>& values) {
  const auto counts = count_storages(values);
  tsl::robin_map<const std::byte*, c10::Storage> storages;
  std::vector<IValue> result;
  result.reserve(values.size());
  for (const HostValue& value : values) {
    const HostTensor* tensor = value.tensor();
    if (!is_shared(counts, tensor)) {
      result.push_back(to_ivalue(value));
      continue;
    }
    c10::Storage& storage = storages[tensor->storage.data()];
    if (!storage) storage = storage_of(tensor->storage.data(), tensor->storage.size());
    result.emplace_back(tensor_in(storage, *tensor, tensor->offset));
  }
  return result;
}

std::string separate_written_inputs(const Executor& executor, std::vector<HostValue>& inputs) {
  const auto counts = count_storages(inputs);
  std::string names;
  for (std::size_t i = 0; i < inputs.size() && i < executor.inputs().size(); ++i) {
    const ExecutorInput& input = executor.inputs()[i];
    if (!input.may_be_written || !is_shared(counts, inputs[i].tensor())) continue;
    HostTensor own = *inputs[i].tensor();
    own.storage = Bytes::copy(own.storage.string_view());
    inputs[i] = std::move(own);
    names += (names.empty() ? "" : ", ") + input.name;
  }
  if (names.empty()) return names;
  return fmt::format(
      "inputs that the program writes to got storage of their own, which export takes them to "
      "have: {}",
      names);
}

HostValue to_host(const IValue& value) {
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return {};
    return to_host_tensor(value.toTensor());
  }
  if (value.isNone()) return {};
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    return std::complex<double>(number.real(), number.imag());
  }
  if (value.isString()) return value.toStringRef();
  if (value.isList()) {
    HostSequence sequence;
    for (const IValue& item : value.toListRef()) sequence.items.push_back(to_host(item));
    return sequence;
  }
  fail("a value of kind {} cannot be shown or compared", value.tagKind());
}

RunValues to_run_values(const Executor& executor, const ExecutorResult& result) {
  RunValues values;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    values.values.push_back(
        named(NamedValue::Role::output, i, executor.outputs()[i].name, result.outputs[i]));
  }
  for (std::size_t i = 0; i < result.inputs.size(); ++i) {
    values.inputs.push_back(to_host(result.inputs[i]));
    const ExecutorInput& input = executor.inputs()[i];
    if (!input.may_be_written) continue;
    values.values.push_back(named(NamedValue::Role::input, i, input.name, result.inputs[i]));
  }
  for (std::size_t i = 0; i < result.state.size(); ++i) {
    values.values.push_back(
        named(NamedValue::Role::buffer, i, result.state[i].name, result.state[i].tensor));
  }
  return values;
}

}  // namespace winze
