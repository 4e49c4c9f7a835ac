// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace winze {

/// The least number of insertions, deletions, replacements and swaps of neighbours that make one
/// string the other (optimal string alignment), or `bound + 1` when it is above `bound`. O(length *
/// bound).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t bound);

/// Finds the candidate that a mistyped name most likely meant.
class NearestName {
 public:
  explicit NearestName(std::string_view name);
  /// Considers a candidate; among equally near ones the first wins.
  void offer(std::string_view candidate);
  /// The nearest candidate, or empty when none is near enough (a third of the length, at least
  /// one).
  [[nodiscard]] std::string_view best() const { return best_; }

 private:
  std::string_view name_;
  std::string_view best_;
  std::size_t left_;  ///< a candidate has to be nearer than this
};

[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// `did you mean "x"?`, or an empty string when nothing is near: for the hint of a diagnostic.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> candidates);

}  // namespace winze
