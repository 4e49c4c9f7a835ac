// SPDX-License-Identifier: Apache-2.0
#include "winze/program/graph_diff.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/program/sequence_match.h"
#include "winze/support/hash.h"

namespace winze {
namespace {

constexpr std::uint32_t unpaired = std::numeric_limits<std::uint32_t>::max();

class GraphComparer {
 public:
  GraphComparer(HashedGraph& a, HashedGraph& b, std::string where,
                std::vector<Difference>& differences)
      : a_(a),
        b_(b),
        where_(std::move(where)),
        differences_(differences),
        to_b_(a.nodes().size(), unpaired),
        to_a_(b.nodes().size(), unpaired),
        stand_in_b_(a.nodes().size(), unpaired),
        stand_in_a_(b.nodes().size(), unpaired),
        exact_(a.nodes().size(), false) {}

  void compare() {
    if (a_.whole() == b_.whole() && a_.nodes().size() == b_.nodes().size()) return;
    pair_by_hash();
    pair_in_order();
    report_nodes();
    report_order();
    report_outputs();
  }

  /// Graphs nested in calls that match but are not equal, with the names to show.
  struct Nested {
    const Graph* a;
    const Graph* b;
    std::string where;
  };
  std::vector<Nested> take_nested() { return std::move(nested_); }

 private:
  void pair(std::uint32_t a, std::uint32_t b) {
    to_b_[a] = b;
    to_a_[b] = a;
  }

  /// Nodes that compute the same; of several equal ones the k-th with the k-th.
  void pair_by_hash() {
    const auto sorted = [](HashedGraph& graph) {
      std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
      keys.reserve(graph.nodes().size());
      for (std::uint32_t at = 0; at < graph.nodes().size(); ++at)
        keys.emplace_back(graph.hash(at), at);
      std::ranges::sort(keys);
      return keys;
    };
    const auto keys_a = sorted(a_);
    const auto keys_b = sorted(b_);
    auto a = keys_a.begin();
    for (const auto& [hash, at] : keys_b) {
      while (a != keys_a.end() && a->first < hash) ++a;
      if (a == keys_a.end()) break;
      if (a->first != hash) continue;
      exact_[a->second] = true;
      pair(a->second, at);
      ++a;
    }
  }

  /// What is left: the longest common order of operator and types, then between those of the
  /// operator alone.
  void pair_in_order() {
    std::vector<std::uint32_t> left_a = left(to_b_);
    std::vector<std::uint32_t> left_b = left(to_a_);
    pair_sequences(left_a, left_b, [](HashedGraph& graph, std::uint32_t at, std::uint32_t) {
      return graph.typed_hash(at);
    });
    pair_sequences(left_a, left_b, [](HashedGraph& graph, std::uint32_t at, std::uint32_t gap) {
      // Inputs are told apart by their roles wherever they stand.
      return graph.nodes()[at].is_placeholder() ? graph.kind_hash(at)
                                                : hash_combine(graph.kind_hash(at), gap);
    });
  }

  static std::vector<std::uint32_t> left(const std::vector<std::uint32_t>& pairs) {
    std::vector<std::uint32_t> positions;
    for (std::uint32_t at = 0; at < pairs.size(); ++at) {
      if (pairs[at] == unpaired) positions.push_back(at);
    }
    return positions;
  }

  template <typename Key>
  void pair_sequences(const std::vector<std::uint32_t>& left_a,
                      const std::vector<std::uint32_t>& left_b, Key key) {
    std::vector<std::uint32_t> open_a;
    std::vector<std::uint32_t> open_b;
    const auto keys = [&](HashedGraph& graph, const std::vector<std::uint32_t>& positions,
                          const std::vector<std::uint32_t>& pairs,
                          std::vector<std::uint32_t>& open) {
      std::vector<std::uint64_t> hashes;
      std::uint32_t gap = 0;  // pairs made before by order
      for (const std::uint32_t at : positions) {
        if (pairs[at] != unpaired) {
          ++gap;
          continue;
        }
        open.push_back(at);
        hashes.push_back(key(graph, at, gap));
      }
      return hashes;
    };
    const std::vector<std::uint64_t> keys_a = keys(a_, left_a, to_b_, open_a);
    const std::vector<std::uint64_t> keys_b = keys(b_, left_b, to_a_, open_b);
    for (const auto& [x, y] : match_sequences(keys_a, keys_b)) pair(open_a[x], open_b[y]);
  }

  void add(Difference difference) {
    difference.where = where_;
    differences_.push_back(std::move(difference));
  }

  /// In the order of `b`; what only `a` has stands where its predecessor went.
  void report_nodes() {
    struct Entry {
      std::uint32_t b;
      bool behind;
      std::uint32_t a;
    };
    std::vector<Entry> entries;
    std::uint32_t last_b = 0;
    for (std::uint32_t at = 0; at < to_b_.size(); ++at) {
      if (to_b_[at] == unpaired) {
        entries.push_back({last_b, true, at});
      } else {
        last_b = to_b_[at];
        if (!exact_[at]) entries.push_back({last_b, false, at});
      }
    }
    for (std::uint32_t at = 0; at < to_a_.size(); ++at) {
      if (to_a_[at] == unpaired) entries.push_back({at, false, unpaired});
    }
    std::ranges::sort(
        entries, {}, [](const Entry& entry) { return std::tuple(entry.b, entry.behind, entry.a); });
    for (const Entry& entry : entries) {
      if (entry.a == unpaired) {
        add({.b = b_.line(b_.nodes()[entry.b])});
      } else if (entry.behind) {
        add({.a = a_.line(a_.nodes()[entry.a])});
      } else {
        report_pair(entry.a, entry.b);
      }
    }
  }

  void report_pair(std::uint32_t at_a, std::uint32_t at_b) {
    const Node& a = a_.nodes()[at_a];
    const Node& b = b_.nodes()[at_b];
    Difference difference;
    std::vector<std::string>& details = difference.details;
    if (a.is_call()) compare_calls(a, b, details);
    for (std::uint32_t index = 0; index < std::min(a.value_count(), b.value_count()); ++index) {
      if (a_.side().meta(a.value(index).meta_id()) == b_.side().meta(b.value(index).meta_id()))
        continue;
      std::string label =
          a.value_count() == 1 ? std::string("type") : fmt::format("type of result {}", index);
      details.push_back(fmt::format("{}: {} -> {}", label, a_.type(a.value(index).meta_id()),
                                    b_.type(b.value(index).meta_id())));
    }
    if (a.value_count() != b.value_count()) {
      details.push_back(
          fmt::format("number of results: {} -> {}", a.value_count(), b.value_count()));
    }
    if (details.empty()) return;
    difference.a = a_.line(a);
    difference.b = b_.line(b);
    add(std::move(difference));
  }

  void compare_calls(const Node& a, const Node& b, std::vector<std::string>& details) {
    const Op& op = a.graph().context().ops().get(a.op());
    const std::uint32_t count = std::max(a.argument_count(), b.argument_count());
    for (std::uint32_t index = 0; index < count; ++index) {
      const Argument in_a = index < a.argument_count() ? a.argument(index) : Argument::none();
      const Argument in_b = index < b.argument_count() ? b.argument(index) : Argument::none();
      if (same(a, in_a, b, in_b, 0)) continue;
      std::string label = fmt::format("argument {}", index);
      if (index < op.schema.arguments.size() && !op.schema.arguments[index].name.empty()) {
        label += fmt::format(" ({})", op.schema.arguments[index].name);
      }
      if (in_a.kind() == ArgumentKind::graph && in_b.kind() == ArgumentKind::graph) {
        const Graph& nested_a = a_.graph().subgraph(in_a.graph_id());
        const Graph& nested_b = b_.graph().subgraph(in_b.graph_id());
        nested_.push_back({&nested_a, &nested_b,
                           where_.empty() ? std::string(nested_a.name())
                                          : fmt::format("{}/{}", where_, nested_a.name())});
        continue;
      }
      details.push_back(
          fmt::format("{}: {} -> {}", label, shown(a_, a, in_a, 0), shown(b_, b, in_b, 0)));
    }
    const ResultStructure* structure_a = a_.graph().result_structure(a);
    const ResultStructure* structure_b = b_.graph().result_structure(b);
    const bool same_structure =
        (structure_a == nullptr && structure_b == nullptr) ||
        (structure_a != nullptr && structure_b != nullptr && *structure_a == *structure_b);
    if (!same_structure) details.emplace_back("grouping of the results");
  }

  /// Whether the value of `b` is used where `a` used its own: their nodes are a pair, or each is in
  /// one graph alone and the one stands in for the other wherever that is used. Such nodes are
  /// reported themselves; that their users have another argument says nothing more.
  bool same_value(const Value& value_a, const Value& value_b) {
    if (value_a.index() != value_b.index()) return false;
    const std::uint32_t at_a = a_.position(value_a.node());
    const std::uint32_t at_b = b_.position(value_b.node());
    if (to_b_[at_a] != unpaired || to_a_[at_b] != unpaired) return to_b_[at_a] == at_b;
    if (stand_in_b_[at_a] == unpaired && stand_in_a_[at_b] == unpaired) {
      stand_in_b_[at_a] = at_b;
      stand_in_a_[at_b] = at_a;
    }
    return stand_in_b_[at_a] == at_b;
  }

  /// Equal, where values count as equal by `same_value`.
  bool same(const Node& node_a, const Argument& a, const Node& node_b, const Argument& b,
            int depth) {
    if (a.kind() != b.kind()) return false;
    if (a.is_value())
      return same_value(a_.graph().value_at(a.value_id()), b_.graph().value_at(b.value_id()));
    if (a.kind() == ArgumentKind::graph)
      return a_.argument(node_a, a, 0) == b_.argument(node_b, b, 0);
    if (!a.is_list()) return a_.side().constant(a) == b_.side().constant(b);
    if (a.count() != b.count() || depth > text_max_depth) return false;
    for (std::uint32_t index = 0; index < a.count(); ++index) {
      if (!same(node_a, node_a.element(a, index), node_b, node_b.element(b, index), depth + 1))
        return false;
    }
    return true;
  }

  static std::string shown(HashedGraph& graph, const Node& node, const Argument& argument,
                           int depth) {
    if (argument.is_default()) return "default";
    if (argument.is_value()) return graph.value(argument.value_id());
    if (argument.kind() == ArgumentKind::graph) return "graph";
    std::string text;
    if (!argument.is_list() || argument.count() == 0 || depth > text_max_depth) {
      TextPrinter(node.graph().context(), text).constant(argument);
      return text;
    }
    text = "[";
    for (std::uint32_t index = 0; index < argument.count(); ++index) {
      if (index > 0) text += ", ";
      text += shown(graph, node, node.element(argument, index), depth + 1);
    }
    return text + "]";
  }

  /// Calls with effects keep their order; the first that does not is named.
  void report_order() {
    std::uint32_t last = 0;
    std::uint32_t last_a = unpaired;
    for (std::uint32_t at = 0; at < to_b_.size(); ++at) {
      const Node& node = a_.nodes()[at];
      const bool ordered =
          node.is_placeholder() ||
          (node.is_call() && !node.graph().context().ops().get(node.op()).is_pure());
      if (!ordered || to_b_[at] == unpaired) continue;
      if (last_a != unpaired && to_b_[at] < last) {
        const bool inputs = node.is_placeholder() && a_.nodes()[last_a].is_placeholder();
        add({.a = a_.line(a_.nodes()[last_a]),
             .b = b_.line(b_.nodes()[to_b_[at]]),
             .details = {inputs ? "the inputs are in another order"
                                : "calls with effects are in another order"}});
        return;
      }
      last = to_b_[at];
      last_a = at;
    }
  }

  void report_outputs() {
    const Node a = a_.graph().output_node();
    const Node b = b_.graph().output_node();
    if (!a || !b) {
      if (a) add({.a = a_.line(a)});
      if (b) add({.b = b_.line(b)});
      return;
    }
    const Context& context_a = a.graph().context();
    const Context& context_b = b.graph().context();
    const std::uint32_t count_a = list_size(context_a, a.argument(0));
    const std::uint32_t count_b = list_size(context_b, b.argument(0));
    Difference difference;
    for (std::uint32_t index = 0; index < std::max(count_a, count_b); ++index) {
      if (index >= count_a || index >= count_b) {
        difference.details.push_back(
            fmt::format("number of returned values: {} -> {}", count_a, count_b));
        break;
      }
      const Argument value_a = list_element(a, a.argument(0), index);
      const Argument value_b = list_element(b, b.argument(0), index);
      if (!same(a, value_a, b, value_b, 0)) {
        difference.details.push_back(fmt::format("returned value {}: {} -> {}", index,
                                                 shown(a_, a, value_a, 0),
                                                 shown(b_, b, value_b, 0)));
      }
      if (role(a_, a, index) != role(b_, b, index))
        difference.details.push_back(fmt::format("role of returned value {}", index));
    }
    if (a_.graph().is_single_tensor_return() != b_.graph().is_single_tensor_return()) {
      difference.details.emplace_back("whether one tensor or a tuple is returned");
    }
    if (difference.details.empty()) return;
    difference.a = a_.line(a);
    difference.b = b_.line(b);
    add(std::move(difference));
  }

  static std::uint64_t role(HashedGraph& graph, const Node& output, std::uint32_t index) {
    const Argument roles = output.argument(1);
    if (index >= list_size(output.graph().context(), roles)) return 0;
    return graph.side().output_role(list_element(output, roles, index));
  }

  HashedGraph& a_;
  HashedGraph& b_;
  std::string where_;
  std::vector<Difference>& differences_;
  std::vector<std::uint32_t> to_b_;
  std::vector<std::uint32_t> to_a_;
  std::vector<std::uint32_t> stand_in_b_;  // of nodes without a pair, see same_value
  std::vector<std::uint32_t> stand_in_a_;
  std::vector<bool> exact_;  // of `a`: everything down to the inputs is equal
  std::vector<Nested> nested_;
};

}  // namespace

void compare_graphs(CanonicalSide& a, const Graph& graph_a, CanonicalSide& b, const Graph& graph_b,
                    std::vector<Difference>& differences) {
  std::vector<GraphComparer::Nested> open{{&graph_a, &graph_b, {}}};
  while (!open.empty()) {
    const GraphComparer::Nested graphs = std::move(open.back());
    open.pop_back();
    HashedGraph hashed_a(a, *graphs.a);
    HashedGraph hashed_b(b, *graphs.b);
    GraphComparer comparer(hashed_a, hashed_b, graphs.where, differences);
    comparer.compare();
    for (GraphComparer::Nested& nested : comparer.take_nested()) open.push_back(std::move(nested));
  }
}

}  // namespace winze
