// SPDX-License-Identifier: Apache-2.0
// Random edit sequences, checked after every step against a model that is too simple to be wrong.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "winze/ir/graph.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// A graph as a plain list of nodes with plain lists of operands.
struct NaiveNode {
  int name = 0;
  OpId op;
  std::vector<int> operands;
  int alpha = 1;
  bool operator==(const NaiveNode&) const = default;
};
using NaiveGraph = std::vector<NaiveNode>;

class RandomEdits {
 public:
  explicit RandomEdits(unsigned seed) : random_(seed) {
    const std::vector<SymInt> sizes{2};
    meta_ = context_.contiguous_meta(ScalarType::float32, sizes);
    for (int count = 0; count < 3; ++count) {
      const Node node = graph_.placeholder("", meta_);
      remember(node, {next_name_, OpId{}, {}, 1}, model_.size());
    }
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      switch (pick(12)) {
        case 0:
        case 1:
        case 2:
          create_binary();
          break;
        case 3:
          create_list();
          break;
        case 4:
        case 5:
          erase();
          break;
        case 6:
          replace_all();
          break;
        case 7:
          replace_input();
          break;
        case 8:
          set_argument();
          break;
        case 9:
          set_list();
          break;
        case 10:
          move();
          break;
        default:
          transaction();
          break;
      }
      check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  std::size_t pick(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

  Node node_of(int name) const { return nodes_.at(name); }
  std::size_t place_of(int name) const {
    return static_cast<std::size_t>(std::ranges::find(model_, name, &NaiveNode::name) -
                                    model_.begin());
  }
  bool is_call(const NaiveNode& node) const { return node.op.is_valid(); }

  void remember(Node node, NaiveNode naive, std::size_t place) {
    naive.name = next_name_++;
    nodes_[naive.name] = node;
    model_.insert(model_.begin() + static_cast<std::ptrdiff_t>(place), naive);
  }

  /// A place behind the placeholders to insert at, and the guard that goes with it.
  std::size_t pick_place() { return 3 + pick(model_.size() - 2); }
  int pick_before(std::size_t place) { return model_[pick(place)].name; }

  template <typename Create>
  void insert(std::size_t place, Create create) {
    if (place == model_.size()) {
      create();
    } else if (pick(2) == 0) {
      const auto here = graph_.inserting_before(node_of(model_[place].name));
      create();
    } else {
      const auto here = graph_.inserting_after(node_of(model_[place - 1].name));
      create();
    }
  }

  void create_binary() {
    const std::size_t place = pick_place();
    const int a = pick_before(place);
    const int b = pick_before(place);
    const int alpha = static_cast<int>(pick(3)) + 1;
    insert(place, [&] {
      const Node node = graph_.call_function(
          op::aten_add_Tensor, {node_of(a).value(), node_of(b).value(), Argument(alpha)}, meta_);
      remember(node, {0, op::aten_add_Tensor, {a, b}, alpha}, place);
    });
  }

  std::vector<int> pick_list(std::size_t place) {
    std::vector<int> operands(pick(5));
    for (int& operand : operands) operand = pick_before(place);
    return operands;
  }
  std::vector<Argument> values_of(const std::vector<int>& operands) {
    std::vector<Argument> values;
    for (const int operand : operands) values.emplace_back(node_of(operand).value());
    return values;
  }

  void create_list() {
    const std::size_t place = pick_place();
    const std::vector<int> operands = pick_list(place);
    const std::vector<Argument> values = values_of(operands);
    insert(place, [&] {
      remember(graph_.call_function(op::aten_cat_default, {Argument(values)}, meta_),
               {0, op::aten_cat_default, operands, 1}, place);
    });
  }

  bool is_used(int name) const {
    return std::ranges::any_of(
        model_, [&](const NaiveNode& node) { return std::ranges::count(node.operands, name) > 0; });
  }

  void erase() {
    const NaiveNode node = model_[pick(model_.size())];
    if (!is_call(node) || is_used(node.name)) return;
    node_of(node.name).erase();
    nodes_.erase(node.name);
    model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(place_of(node.name)));
  }

  void replace_all() {
    const std::size_t to = pick(model_.size());
    const int from = model_[pick(model_.size())].name;
    const int replacement = model_[to].name;
    if (from == replacement) return;
    node_of(from).replace_all_uses_with(node_of(replacement));
    for (std::size_t place = to + 1; place < model_.size(); ++place) {
      std::ranges::replace(model_[place].operands, from, replacement);
    }
  }

  void replace_input() {
    const std::size_t place = pick(model_.size());
    if (model_[place].operands.empty()) return;
    const int old_name = model_[place].operands[pick(model_[place].operands.size())];
    const int new_name = pick_before(place);
    node_of(model_[place].name).replace_input_with(node_of(old_name), node_of(new_name));
    std::ranges::replace(model_[place].operands, old_name, new_name);
  }

  void set_argument() {
    const std::size_t place = pick(model_.size());
    if (model_[place].op != op::aten_add_Tensor) return;
    const auto which = static_cast<std::uint32_t>(pick(3));
    const Node node = node_of(model_[place].name);
    if (which == 2) {
      model_[place].alpha = static_cast<int>(pick(3)) + 1;
      node.set_argument(2, Argument(model_[place].alpha));
    } else {
      model_[place].operands[which] = pick_before(place);
      node.set_argument(which, node_of(model_[place].operands[which]).value());
    }
  }

  void set_list() {
    const std::size_t place = pick(model_.size());
    if (model_[place].op != op::aten_cat_default) return;
    model_[place].operands = pick_list(place);
    const std::vector<Argument> values = values_of(model_[place].operands);
    node_of(model_[place].name).set_argument(0, Argument(values));
  }

  void move() {
    const std::size_t from = pick(model_.size());
    if (!is_call(model_[from])) return;
    const NaiveNode node = model_[from];
    std::size_t low = 3;
    std::size_t high = model_.size() - 1;
    for (std::size_t place = 0; place < model_.size(); ++place) {
      if (std::ranges::count(node.operands, model_[place].name) > 0) low = std::max(low, place + 1);
      if (std::ranges::count(model_[place].operands, node.name) > 0)
        high = std::min(high, place - 1);
    }
    if (low > high) return;
    const std::size_t to = low + pick(high - low + 1);
    if (to == from) return;
    const Node other = node_of(model_[to].name);
    to > from ? other.append(node_of(node.name)) : other.prepend(node_of(node.name));
    model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(from));
    model_.insert(model_.begin() + static_cast<std::ptrdiff_t>(to), node);
  }

  /// Opens a transaction, or ends the open one, by keeping or by undoing it.
  void transaction() {
    Journal& journal = graph_.journal();
    if (!journal.is_open()) {
      saved_model_ = model_;
      saved_uses_ = uses();
      journal.begin("test");
      return;
    }
    if (pick(3) == 0) {
      journal.commit();
      return;
    }
    journal.undo();
    model_ = saved_model_;
    // Handles of nodes that came back: by place, since the order is as it was.
    nodes_.clear();
    std::size_t place = 0;
    for (const Node node : graph_.nodes()) nodes_[model_.at(place++).name] = node;
    ASSERT_EQ(uses(), saved_uses_) << "undo gives back the order of uses too";
  }

  /// For each value in order: the places of its users, in the order of the use list.
  std::vector<std::vector<std::size_t>> uses() {
    std::map<std::uint32_t, std::size_t> place;
    for (const Node node : graph_.nodes()) place.emplace(node.id().index, place.size());
    std::vector<std::vector<std::size_t>> all;
    for (const Node node : graph_.nodes()) {
      all.emplace_back();
      for (const Use use : node.value().uses()) all.back().push_back(place.at(use.node.id().index));
    }
    return all;
  }

  std::vector<int> operands_of(Node node) {
    std::map<std::uint32_t, int> names;
    for (const auto& [name, known] : nodes_) names[known.value().id().index] = name;
    std::vector<int> operands;
    if (!node.is_call()) return operands;
    if (node.is_call_to(op::aten_cat_default)) {
      const Argument list = node.argument(0);
      for (std::uint32_t at = 0; at < list.count(); ++at)
        operands.push_back(names.at(node.element(list, at).value_id().index));
    } else {
      for (std::uint32_t at = 0; at < 2; ++at)
        operands.push_back(names.at(node.argument_value(at).id().index));
    }
    return operands;
  }

  void check() {
    ASSERT_EQ(graph_.size(), model_.size());
    std::size_t place = 0;
    std::map<int, std::vector<int>> users;
    for (const NaiveNode& node : model_) {
      for (const int operand : node.operands) users[operand].push_back(node.name);
    }
    Node previous;
    for (const Node node : graph_.nodes()) {
      const NaiveNode& expected = model_[place++];
      ASSERT_EQ(node, node_of(expected.name));
      ASSERT_EQ(operands_of(node), expected.operands);
      ASSERT_EQ(node.value().use_count(), users[expected.name].size());
      std::size_t listed = 0;
      for (const Use use : node.value().uses()) {
        ASSERT_TRUE(use.node.uses(node.value()));
        ++listed;
      }
      ASSERT_EQ(listed, users[expected.name].size());
      if (node.is_call_to(op::aten_add_Tensor)) {
        ASSERT_EQ(node.argument_or_default(2).integer(), expected.alpha);
      }
      if (previous) {
        ASSERT_TRUE(previous.before(node));
        ASSERT_EQ(node.prev(), previous);
      }
      previous = node;
    }
    const auto count = [&](OpId op) { return std::ranges::count(model_, op, &NaiveNode::op); };
    ASSERT_EQ(graph_.count(op::aten_add_Tensor), count(op::aten_add_Tensor));
    ASSERT_EQ(graph_.find_nodes(op::aten_cat_default).size(),
              static_cast<std::size_t>(count(op::aten_cat_default)));
  }

  std::mt19937 random_;
  Context context_;
  Graph graph_{context_};
  MetaId meta_;
  NaiveGraph model_;
  NaiveGraph saved_model_;
  std::vector<std::vector<std::size_t>> saved_uses_;
  std::map<int, Node> nodes_;
  int next_name_ = 0;
};

class GraphRandomTest : public testing::TestWithParam<unsigned> {};

TEST_P(GraphRandomTest, AgreesWithTheNaiveModel) {
  RandomEdits(GetParam()).run(250);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GraphRandomTest, testing::Range(0U, 12U));

}  // namespace
}  // namespace winze
