// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "winze/schema/op_id.h"

namespace winze {

class Graph;
class OptionTable;
class PassContext;

/// A few elements by value, for use in constexpr records: longer lists do not compile.
template <typename Element, std::size_t Capacity>
class ShortList {
 public:
  constexpr ShortList() = default;
  constexpr ShortList(std::initializer_list<Element> elements) {
    for (const Element& element : elements) elements_.at(count_++) = element;
  }
  [[nodiscard]] constexpr const Element* begin() const { return elements_.data(); }
  [[nodiscard]] constexpr const Element* end() const { return elements_.data() + count_; }
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<Element, Capacity> elements_{};
  std::size_t count_ = 0;
};

using OpList = ShortList<OpId, 32>;
/// Names of passes.
using PassNames = ShortList<std::string_view, 16>;

/// On which graphs a pass is called.
enum class PassScope : std::uint8_t {
  program,      ///< once, with the program's own graph; nested graphs are the pass's business
  every_graph,  ///< with the program's graph and each graph nested in it, inner ones first
};

/// A pass: a named function over a graph, and what must be known to place, run and describe it.
struct PassInfo {
  std::string_view name;            ///< verb-object, in lower case with hyphens: `remove-detach`
  std::string_view summary;         ///< one sentence
  std::string_view description;     ///< what it does not do and why, when to use it; Markdown
  std::string_view example_before;  ///< a small graph in text form, as the pass finds it
  std::string_view example_after;   ///< the same graph as the pass leaves it
  std::string_view group;           ///< heading in the reference: `cleanup`
  void (*run)(Graph& graph, PassContext& context) = nullptr;
  PassScope scope = PassScope::program;
  const OptionTable& (*options)() = nullptr;  ///< null where it takes none

  /// Where no graph of the program calls any of these, the pass is not run. Empty: it always runs.
  OpList triggers;
  /// Promised: afterwards no graph calls any of these. Checked.
  OpList leaves_none_of;
  /// It is meant to make outputs stop sharing storage with inputs or with each other. The check on
  /// numbers allows that from this pass on; that outputs begin to share stays a departure.
  bool changes_output_aliasing = false;
  /// Its edits mean something only together, as those that give every value another size: where
  /// `--stop-after-edits` falls among them, none is made.
  bool edits_stand_together = false;
  /// Passes that do not come later in a pipeline where both are.
  PassNames after;
  /// Passes of which each must stand somewhere before this one.
  PassNames needs;
  /// The reason for `after` and `needs`, told when they are violated.
  std::string_view order_reason;
};

}  // namespace winze
