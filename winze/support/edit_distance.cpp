// SPDX-License-Identifier: Apache-2.0
#include "winze/support/edit_distance.h"

#include <algorithm>
#include <vector>

#include "winze/support/quote.h"

namespace winze {
namespace {

/// Names are compared up to this length: the cost of a message stays bounded for hostile input.
constexpr std::size_t longest_name = 256;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t bound) {
  if (a.size() > b.size()) std::swap(a, b);
  const std::size_t too_far = bound + 1;
  if (b.size() - a.size() > bound) return too_far;
  // Three rows of the table of distances between prefixes; only cells near the diagonal can be
  // within the bound.
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before_last(width, too_far);
  std::vector<std::size_t> last(width, too_far);
  std::vector<std::size_t> row(width, too_far);
  for (std::size_t j = 0; j < width && j <= bound; ++j) last[j] = j;
  std::size_t last_least = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t from = i > bound ? i - bound : 1;
    const std::size_t to = std::min(b.size(), i + bound);
    row[from - 1] = from == 1 && i <= bound ? i : too_far;
    std::size_t least = row[from - 1];
    for (std::size_t j = from; j <= to; ++j) {
      std::size_t distance = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance = std::min({distance, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance = std::min(distance, before_last[j - 2] + 1);
      }
      row[j] = std::min(distance, too_far);
      least = std::min(least, row[j]);
    }
    if (to < b.size()) row[to + 1] = too_far;
    // A swap reaches back over one row, so that two rows must be too far.
    if (std::min(least, last_least) > bound) return too_far;
    last_least = least;
    before_last.swap(last);
    last.swap(row);
  }
  return std::min(last[b.size()], too_far);
}

NearestName::NearestName(std::string_view name)
    : name_(name.substr(0, longest_name)), left_(std::max<std::size_t>(1, name_.size() / 3) + 1) {}

void NearestName::offer(std::string_view candidate) {
  if (left_ == 0 || candidate.empty() || candidate.size() > longest_name) return;
  const std::size_t distance = edit_distance(name_, candidate, left_ - 1);
  if (distance >= left_) return;
  best_ = candidate;
  left_ = distance;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  NearestName nearest(name);
  for (const std::string_view candidate : candidates) nearest.offer(candidate);
  return nearest.best();
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest_name(name, candidates);
  return best.empty() ? "" : "did you mean " + quote(best) + "?";
}

}  // namespace winze
