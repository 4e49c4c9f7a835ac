// SPDX-License-Identifier: Apache-2.0
#include "winze/program/sequence_match.h"

#include <algorithm>

namespace winze {
namespace {

/// Sequences up to this length together are matched exactly.
constexpr std::size_t exact_size = 20'000;
/// In longer ones a search gives up after so many differences and takes what it has.
constexpr std::int64_t inexact_limit = 256;

/// A part of both sequences, ends excluded.
struct Box {
  std::int64_t a_begin = 0;
  std::int64_t a_end = 0;
  std::int64_t b_begin = 0;
  std::int64_t b_end = 0;
};

class Matcher {
 public:
  Matcher(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) : a_(a), b_(b) {
    const std::size_t diagonals = a.size() + b.size() + 3;
    forward_.resize(diagonals);
    backward_.resize(diagonals);
    offset_ = static_cast<std::int64_t>(b.size()) + 1;
    limit_ = diagonals <= exact_size ? static_cast<std::int64_t>(diagonals) : inexact_limit;
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> match() {
    std::vector<Box> open{
        {0, static_cast<std::int64_t>(a_.size()), 0, static_cast<std::int64_t>(b_.size())}};
    while (!open.empty()) {
      Box box = open.back();
      open.pop_back();
      trim(box);
      if (box.a_begin == box.a_end || box.b_begin == box.b_end) continue;
      const auto [x, y] = split(box);
      // A split at a corner would not make the box smaller: then nothing more is paired in it.
      const bool at_begin = x == box.a_begin && y == box.b_begin;
      const bool at_end = x == box.a_end && y == box.b_end;
      if (at_begin || at_end) continue;
      open.push_back({x, box.a_end, y, box.b_end});
      open.push_back({box.a_begin, x, box.b_begin, y});
    }
    std::ranges::sort(pairs_);
    return std::move(pairs_);
  }

 private:
  void pair(std::int64_t x, std::int64_t y) {
    pairs_.emplace_back(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
  }
  [[nodiscard]] bool equal(std::int64_t x, std::int64_t y) const {
    return a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
  }
  std::int64_t& forward(std::int64_t diagonal) {
    return forward_[static_cast<std::size_t>(diagonal + offset_)];
  }
  std::int64_t& backward(std::int64_t diagonal) {
    return backward_[static_cast<std::size_t>(diagonal + offset_)];
  }

  /// Pairs what is equal at both ends.
  void trim(Box& box) {
    while (box.a_begin < box.a_end && box.b_begin < box.b_end && equal(box.a_begin, box.b_begin)) {
      pair(box.a_begin++, box.b_begin++);
    }
    while (box.a_begin < box.a_end && box.b_begin < box.b_end &&
           equal(box.a_end - 1, box.b_end - 1)) {
      pair(--box.a_end, --box.b_end);
    }
  }

  /// A point on a shortest path through the box: where the searches from both ends meet. After
  /// `limit_` steps the point that the searches got furthest to.
  std::pair<std::int64_t, std::int64_t> split(const Box& box) {
    const std::int64_t lowest = box.a_begin - box.b_end;
    const std::int64_t highest = box.a_end - box.b_begin;
    const std::int64_t first = box.a_begin - box.b_begin;
    const std::int64_t last = box.a_end - box.b_end;
    const bool odd = ((first - last) & 1) != 0;
    std::int64_t forward_low = first;
    std::int64_t forward_high = first;
    std::int64_t backward_low = last;
    std::int64_t backward_high = last;
    forward(first) = box.a_begin;
    backward(last) = box.a_end;
    for (std::int64_t cost = 1;; ++cost) {
      forward_low > lowest ? static_cast<void>(forward(--forward_low - 1) = -1)
                           : static_cast<void>(++forward_low);
      forward_high < highest ? static_cast<void>(forward(++forward_high + 1) = -1)
                             : static_cast<void>(--forward_high);
      for (std::int64_t d = forward_high; d >= forward_low; d -= 2) {
        std::int64_t x = std::max(forward(d - 1) + 1, forward(d + 1));
        while (x < box.a_end && x - d < box.b_end && equal(x, x - d)) ++x;
        forward(d) = x;
        if (odd && backward_low <= d && d <= backward_high && backward(d) <= x) return {x, x - d};
      }
      constexpr std::int64_t far = std::int64_t{1} << 60;
      backward_low > lowest ? static_cast<void>(backward(--backward_low - 1) = far)
                            : static_cast<void>(++backward_low);
      backward_high < highest ? static_cast<void>(backward(++backward_high + 1) = far)
                              : static_cast<void>(--backward_high);
      for (std::int64_t d = backward_high; d >= backward_low; d -= 2) {
        std::int64_t x = std::min(backward(d - 1), backward(d + 1) - 1);
        while (x > box.a_begin && x - d > box.b_begin && equal(x - 1, x - 1 - d)) --x;
        backward(d) = x;
        if (!odd && forward_low <= d && d <= forward_high && x <= forward(d)) return {x, x - d};
      }
      if (cost >= limit_) return furthest(box, forward_low, forward_high);
    }
  }

  std::pair<std::int64_t, std::int64_t> furthest(const Box& box, std::int64_t low,
                                                 std::int64_t high) {
    std::pair<std::int64_t, std::int64_t> best{box.a_begin, box.b_begin};
    for (std::int64_t d = high; d >= low; d -= 2) {
      const std::int64_t x = std::min(forward(d), box.a_end);
      const std::int64_t y = x - d;
      if (y < box.b_begin || y > box.b_end || x < box.a_begin) continue;
      if (x + y > best.first + best.second) best = {x, y};
    }
    return best;
  }

  std::span<const std::uint64_t> a_;
  std::span<const std::uint64_t> b_;
  std::vector<std::int64_t> forward_;  // furthest x on each diagonal x - y
  std::vector<std::int64_t> backward_;
  std::int64_t offset_ = 0;
  std::int64_t limit_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> match_sequences(
    std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return Matcher(a, b).match();
}

}  // namespace winze
