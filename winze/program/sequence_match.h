// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace winze {

/// Pairs equal elements of two sequences so that the order is kept: a longest common subsequence by
/// Myers' algorithm in linear space ("An O(ND) difference algorithm and its variations", 1986). Of
/// long sequences that differ much a shorter one may be found; time stays linear in their length,
/// with a factor of a few hundred at worst. Pairs are in order.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> match_sequences(
    std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace winze
