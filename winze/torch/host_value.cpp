// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/host_value.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/support/diagnostic.h"

namespace winze {

std::int64_t HostTensor::element_count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

bool HostTensor::is_contiguous() const {
  std::int64_t wanted = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] != 1 && strides[axis] != wanted) return element_count() == 0;
    wanted *= sizes[axis];
  }
  return true;
}

const std::byte* HostTensor::data() const {
  return storage.data() + offset * static_cast<std::int64_t>(element_size(dtype));
}

std::string HostTensor::type_text() const {
  return fmt::format("{}[{}]", short_name(dtype), fmt::join(sizes, ", "));
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis] > 1 ? sizes[axis] : 1;
  }
  return strides;
}

HostTensor contiguous_tensor(ScalarType dtype, std::vector<std::int64_t> sizes, std::string bytes) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.strides = contiguous_strides(sizes);
  tensor.sizes = std::move(sizes);
  WINZE_CHECK(
      static_cast<std::uint64_t>(tensor.element_count()) * element_size(dtype) == bytes.size(),
      "{} bytes for a tensor of type {}", bytes.size(), tensor.type_text());
  tensor.storage = Bytes::own(std::move(bytes));
  return tensor;
}

Bytes contiguous_bytes(const HostTensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.element_count());
  const std::size_t width = element_size(tensor.dtype);
  if (count == 0) return {};
  if (tensor.is_contiguous()) {
    return tensor.storage.slice(static_cast<std::size_t>(tensor.offset) * width, count * width);
  }
  std::string bytes(count * width, '\0');
  std::vector<std::int64_t> index(tensor.sizes.size(), 0);
  const auto step = static_cast<std::int64_t>(width);
  const std::byte* from = tensor.data();
  for (std::size_t done = 0; done < count; ++done) {
    std::memcpy(bytes.data() + done * width, from, width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      from += tensor.strides[axis] * step;
      if (++index[axis] < tensor.sizes[axis]) break;
      from -= tensor.strides[axis] * tensor.sizes[axis] * step;
      index[axis] = 0;
    }
  }
  return Bytes::own(std::move(bytes));
}

std::string HostValue::type_text() const {
  struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool) const { return "bool"; }
    std::string operator()(std::int64_t) const { return "int"; }
    std::string operator()(double) const { return "float"; }
    std::string operator()(std::complex<double>) const { return "complex"; }
    std::string operator()(const std::string&) const { return "str"; }
    std::string operator()(const HostTensor& tensor) const {
      return "tensor " + tensor.type_text();
    }
    std::string operator()(const HostSequence& sequence) const {
      const char* kind = sequence.kind == HostSequence::Kind::list    ? "list"
                         : sequence.kind == HostSequence::Kind::tuple ? "tuple"
                                                                      : "dict";
      return fmt::format("{} of {}", kind, sequence.items.size());
    }
  };
  return std::visit(Text(), content);
}

// Readers bound how deep values are nested.
void flatten(const HostValue& value, std::vector<HostValue>& leaves) {
  if (const HostSequence* sequence = value.sequence()) {
    for (const HostValue& item : sequence->items) flatten(item, leaves);
  } else {
    leaves.push_back(value);
  }
}

}  // namespace winze
