// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace winze {
namespace {

using Lines = std::vector<std::string_view>;

Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// One line of the result.
struct Change {
  char sign;  ///< ' ', '-' or '+'
  std::string_view text;
};
using Changes = std::vector<Change>;

void add_all(Changes& changes, char sign, const std::string_view* first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) changes.push_back({sign, first[i]});
}

/// Finds the shortest edit script of two runs of lines. For each number of edits it keeps how far
/// along each diagonal one gets with so many, and then goes back from the end.
class ShortestEdit {
 public:
  ShortestEdit(const std::string_view* a, std::size_t a_count, const std::string_view* b,
               std::size_t b_count)
      : a_(a),
        b_(b),
        n_(static_cast<std::int64_t>(a_count)),
        m_(static_cast<std::int64_t>(b_count)) {}

  /// False where more than `limit` edits are needed.
  bool find(std::size_t limit) {
    std::vector<std::int64_t> reach(2 * limit + 3, 0);
    const auto middle = static_cast<std::int64_t>(limit) + 1;
    for (std::int64_t edits = 0; edits <= static_cast<std::int64_t>(limit); ++edits) {
      for (std::int64_t k = -edits; k <= edits; k += 2) {
        const bool down = k == -edits ||
                          (k != edits && reach[index(middle, k - 1)] < reach[index(middle, k + 1)]);
        std::int64_t x = down ? reach[index(middle, k + 1)] : reach[index(middle, k - 1)] + 1;
        while (x < n_ && x - k < m_ && a_[x] == b_[x - k]) ++x;
        reach[index(middle, k)] = x;
        if (x >= n_ && x - k >= m_) {
          keep(reach, middle, edits);
          return true;
        }
      }
      keep(reach, middle, edits);
    }
    return false;
  }

  [[nodiscard]] Changes changes() const {
    Changes reversed;
    std::int64_t x = n_;
    std::int64_t y = m_;
    for (auto edits = static_cast<std::int64_t>(kept_.size()) - 1; edits > 0; --edits) {
      const std::int64_t k = x - y;
      const bool down =
          k == -edits || (k != edits && reached(edits - 1, k - 1) < reached(edits - 1, k + 1));
      const std::int64_t from_k = down ? k + 1 : k - 1;
      const std::int64_t from_x = reached(edits - 1, from_k);
      const std::int64_t from_y = from_x - from_k;
      while (x > (down ? from_x : from_x + 1) && y > (down ? from_y + 1 : from_y)) {
        reversed.push_back({' ', a_[--x]});
        --y;
      }
      reversed.push_back(down ? Change{'+', b_[from_y]} : Change{'-', a_[from_x]});
      x = from_x;
      y = from_y;
    }
    while (x > 0) reversed.push_back({' ', a_[--x]});
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

 private:
  static std::size_t index(std::int64_t middle, std::int64_t k) {
    return static_cast<std::size_t>(middle + k);
  }
  void keep(const std::vector<std::int64_t>& reach, std::int64_t middle, std::int64_t edits) {
    kept_.emplace_back(reach.begin() + (middle - edits), reach.begin() + (middle + edits + 1));
  }
  /// How far diagonal `k` got with so many edits; -1 where that was not looked at.
  [[nodiscard]] std::int64_t reached(std::int64_t edits, std::int64_t k) const {
    if (k < -edits || k > edits) return -1;
    return kept_[static_cast<std::size_t>(edits)][static_cast<std::size_t>(k + edits)];
  }

  const std::string_view* a_;
  const std::string_view* b_;
  std::int64_t n_;
  std::int64_t m_;
  std::vector<std::vector<std::int64_t>> kept_;  ///< by number of edits: reach of its diagonals
};

Changes compare(const Lines& before, const Lines& after, std::size_t max_differences) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  Changes changes;
  add_all(changes, ' ', before.data(), head);
  const std::size_t gone = before.size() - head - tail;
  const std::size_t come = after.size() - head - tail;
  ShortestEdit edit(before.data() + head, gone, after.data() + head, come);
  if (edit.find(std::min(max_differences, gone + come))) {
    const Changes middle = edit.changes();
    changes.insert(changes.end(), middle.begin(), middle.end());
  } else {
    add_all(changes, '-', before.data() + head, gone);
    add_all(changes, '+', after.data() + head, come);
  }
  add_all(changes, ' ', before.data() + (before.size() - tail), tail);
  return changes;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, std::size_t context,
                      std::size_t max_differences) {
  std::string text;
  if (before == after) return text;
  const Lines old_lines = split(before);
  const Lines new_lines = split(after);
  const Changes changes = compare(old_lines, new_lines, max_differences);
  std::vector<bool> shown(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].sign == ' ') continue;
    const std::size_t end = std::min(changes.size(), i + context + 1);
    for (std::size_t k = i - std::min(i, context); k < end; ++k) shown[k] = true;
  }
  std::size_t line = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].sign != '-') ++line;
    if (!shown[i]) continue;
    if (i == 0 || !shown[i - 1])
      text += fmt::format("@@ line {} @@\n", changes[i].sign == '-' ? line + 1 : line);
    text += fmt::format("{} {}\n", changes[i].sign, changes[i].text);
  }
  return text;
}

}  // namespace winze
