// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace winze {

/// Tags of operators: PyTorch's, by its names, and those of this table for callables outside the
/// dispatcher.
enum class Tag : std::uint8_t {
  core,
  pointwise,
  reduction,
  view_copy,
  inplace_view,
  generated,
  nondeterministic_seeded,
  nondeterministic_bitwise,
  data_dependent_output,
  dynamic_output_shape,
  maybe_aliasing_or_mutating,
  pt2_compliant_tag,
  cudagraph_unsafe,
  flexible_layout,
  needs_exact_strides,
  needs_fixed_stride_order,
  needs_contiguous_strides,
  inplace,
  out,
  out_variant,
  higher_order,  ///< OpKind::higher_order
  symbolic,      ///< OpKind::symbolic
  function,      ///< OpKind::function
};

/// A set of tags.
class Tags {
 public:
  constexpr Tags() = default;
  [[nodiscard]] constexpr bool has(Tag tag) const {
    return (bits_ >> static_cast<unsigned>(tag)) & 1U;
  }
  constexpr void add(Tag tag) { bits_ |= std::uint64_t{1} << static_cast<unsigned>(tag); }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr int size() const { return std::popcount(bits_); }
  friend constexpr bool operator==(Tags, Tags) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// The name of a tag, as PyTorch and the tables spell it.
[[nodiscard]] std::string_view tag_name(Tag tag);
/// The tag of that name, if it is known.
[[nodiscard]] std::optional<Tag> find_tag(std::string_view name);

}  // namespace winze
