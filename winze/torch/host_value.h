// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "winze/ir/dtype.h"
#include "winze/support/bytes.h"

namespace winze {

/// A strided tensor in host memory. Tensors of one storage have `storage`s that begin at the same
/// address. Sizes, strides and offset are in elements; no element lies outside the storage.
struct HostTensor {
  ScalarType dtype = ScalarType::float32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  Bytes storage;

  [[nodiscard]] std::int64_t element_count() const;
  /// True where the elements lie side by side in C order.
  [[nodiscard]] bool is_contiguous() const;
  /// First element. Only where there is an element.
  [[nodiscard]] const std::byte* data() const;
  /// `f32[2, 3]`.
  [[nodiscard]] std::string type_text() const;
};

/// Strides of a tensor of these sizes whose elements lie side by side in C order.
[[nodiscard]] std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

/// A contiguous tensor over bytes that it takes over. `bytes` holds exactly its elements.
[[nodiscard]] HostTensor contiguous_tensor(ScalarType dtype, std::vector<std::int64_t> sizes,
                                           std::string bytes);

/// The elements one after the other in C order; the bytes of the tensor itself where they lie so.
[[nodiscard]] Bytes contiguous_bytes(const HostTensor& tensor);

struct HostValue;

/// A list, tuple or flattened dictionary of values.
struct HostSequence {
  enum class Kind : std::uint8_t { list, tuple, dictionary };
  Kind kind = Kind::list;
  std::vector<HostValue> items;  ///< of a dictionary: the values, in its own order
  std::vector<HostValue> keys;   ///< of a dictionary only
};

/// What a program takes or gives back: None, bool, int, float, complex, str, a tensor, or a
/// container of these.
struct HostValue {
  using Content = std::variant<std::monostate, bool, std::int64_t, double, std::complex<double>,
                               std::string, HostTensor, HostSequence>;
  Content content;

  HostValue() = default;
  template <typename Held>
  HostValue(Held held)  // NOLINT(google-explicit-constructor): stands for what it holds
      : content(std::move(held)) {}

  [[nodiscard]] bool is_none() const { return content.index() == 0; }
  [[nodiscard]] const HostTensor* tensor() const { return std::get_if<HostTensor>(&content); }
  [[nodiscard]] const HostSequence* sequence() const { return std::get_if<HostSequence>(&content); }
  /// What it is, in Python's words: `tensor f32[2, 3]`, `int`, `None`, `list of 3`.
  [[nodiscard]] std::string type_text() const;
};

/// Appends the leaves of a value in PyTorch's pytree order: containers are taken apart, None is a
/// leaf.
void flatten(const HostValue& value, std::vector<HostValue>& leaves);

}  // namespace winze
