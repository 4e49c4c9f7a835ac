// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/tags.h"

#include <array>
#include <cstddef>

namespace winze {
namespace {

/// In order of Tag.
constexpr std::array<std::string_view, 23> names = {
    "core",
    "pointwise",
    "reduction",
    "view_copy",
    "inplace_view",
    "generated",
    "nondeterministic_seeded",
    "nondeterministic_bitwise",
    "data_dependent_output",
    "dynamic_output_shape",
    "maybe_aliasing_or_mutating",
    "pt2_compliant_tag",
    "cudagraph_unsafe",
    "flexible_layout",
    "needs_exact_strides",
    "needs_fixed_stride_order",
    "needs_contiguous_strides",
    "inplace",
    "out",
    "out_variant",
    "higher_order",
    "symbolic",
    "function",
};
static_assert(names.size() == static_cast<std::size_t>(Tag::function) + 1);

}  // namespace

std::string_view tag_name(Tag tag) {
  return names[static_cast<std::size_t>(tag)];
}

std::optional<Tag> find_tag(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Tag>(i);
  }
  return std::nullopt;
}

}  // namespace winze
