// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/result_keys.h"

#include <algorithm>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/call_arguments.h"
#include "winze/effects/call_effects.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// What a list of words begins with, so that those of different things differ.
enum Tag : std::uint64_t { tag_input, tag_weight, tag_state, tag_call, tag_body };

constexpr int max_key_nesting = 32;

}  // namespace

/// The numbers of one program.
class ResultNumbering {
 public:
  ResultNumbering(ResultKeys& keys, const ExportedProgram& program)
      : keys_(keys),
        program_(program),
        graph_(*program.graph),
        aliases_(program),
        effects_(program.context()),
        keys_of_nodes_(graph_.node_capacity()) {}

  std::vector<ResultKey> run() {
    for (const Node node : graph_.nodes()) {
      if (node.kind() == NodeKind::placeholder) {
        keys_of_nodes_[node.id().index].number = placeholder_number(node);
      } else if (node.is_call()) {
        visit_call(node);
      }
    }
    return std::move(keys_of_nodes_);
  }

 private:
  using Words = ResultKeys::Words;

  std::uint32_t placeholder_number(Node node) {
    const Weight* weight = program_.weight_of(node);
    if (weight == nullptr) return keys_.number_of({tag_input, inputs_++});
    const Storage& storage = program_.storage(*weight);
    const std::size_t known = keys_.numbers_.size();
    const std::uint32_t number = keys_.number_of(
        {tag_weight, weight->storage.index, weight->meta.index, storage.size,
         storage.has_bytes ? 1U : 0U, reinterpret_cast<std::uintptr_t>(storage.bytes.data())});
    if (keys_.numbers_.size() != known) keys_.pinned_.push_back(storage.bytes);
    return number;
  }

  void visit_call(Node node) {
    const CallFacts facts = effects_.facts(node);
    Words words{tag_call, node.op().index, node.value_count()};
    add_structure(words, node);
    for (std::uint32_t i = 0; i < node.argument_count(); ++i)
      add_argument(words, node, node.argument(i));
    if (facts.is_impure()) words.insert(words.end(), {random_state_, order_state_});
    ResultKey& key = keys_of_nodes_[node.id().index];
    key.number = keys_.number_of(words);
    key.must_run = facts.is_impure() || facts.changes_metadata;
    key.is_reusable = !key.must_run && !has_changed_state_ && has_own_results(node) &&
                      reusable_.insert(key.number).second;  // equal calls do not share storage
    if (facts.is_random || facts.is_unknown) random_state_ = key.number;
    if (facts.is_unknown || facts.ordering != Ordering::none) order_state_ = key.number;
    // From here on calls may compute otherwise (autocast), or give what outlives no run (vmap).
    // Gradients are off in any case.
    if (facts.ordering == Ordering::global_state && node.op() != op::torch__C__set_grad_enabled)
      has_changed_state_ = true;
    if (key.must_run) count_writes(node, key.number);
  }

  void add_structure(Words& words, Node node) const {
    const ResultStructure* structure = graph_.result_structure(node);
    if (structure == nullptr) return;
    for (const std::int32_t group : structure->groups)
      words.push_back(static_cast<std::uint64_t>(group));
  }

  void add_argument(Words& words, Node node, const Argument& argument) {
    words.push_back(static_cast<std::uint64_t>(argument.kind()));
    if (argument.is_list()) {
      words.push_back(argument.count());
      for (std::uint32_t i = 0; i < argument.count(); ++i)
        add_argument(words, node, node.element(argument, i));
    } else if (argument.is_value()) {
      add_value(words, graph_.value_at(argument.value_id()));
    } else if (argument.kind() == ArgumentKind::graph) {
      add_body(words, graph_.subgraph(argument.graph_id()), 0);
    } else {
      words.push_back(argument.bits());
    }
  }

  void add_value(Words& words, Value value) {
    const auto state = states_.find(aliases_.class_of(value));
    words.insert(words.end(), {keys_of_nodes_[value.node().id().index].number, value.index(),
                               state == states_.end() ? 0 : state->second});
  }

  /// A nested graph as it stands; its values are numbered from its beginning.
  void add_body(Words& words, const Graph& body, int nesting) {
    words.push_back(tag_body);
    if (nesting > max_key_nesting) {
      words.push_back(keys_.numbers_.size());  // it grows with these words: they are equal to none
      return;
    }
    tsl::robin_map<std::uint32_t, std::uint64_t> places;
    for (const Node node : body.nodes()) {
      words.insert(words.end(), {static_cast<std::uint64_t>(node.kind()), node.op().index,
                                 node.argument_count(), node.value_count()});
      for (const Value value : node.values()) places.emplace(value.id().index, places.size());
      if (node.kind() == NodeKind::placeholder) {
        words.push_back(node.value().meta_id().index);  // scans look at the dimensions
        continue;
      }
      for (std::uint32_t i = 0; i < node.argument_count(); ++i)
        add_body_argument(words, body, node, node.argument(i), places, nesting);
    }
  }

  void add_body_argument(Words& words, const Graph& body, Node node, const Argument& argument,
                         const tsl::robin_map<std::uint32_t, std::uint64_t>& places, int nesting) {
    words.push_back(static_cast<std::uint64_t>(argument.kind()));
    if (argument.is_list()) {
      words.push_back(argument.count());
      for (std::uint32_t i = 0; i < argument.count(); ++i)
        add_body_argument(words, body, node, node.element(argument, i), places, nesting);
    } else if (argument.is_value()) {
      words.push_back(places.at(argument.value_id().index));
    } else if (argument.kind() == ArgumentKind::graph) {
      add_body(words, body.subgraph(argument.graph_id()), nesting + 1);
    } else {
      words.push_back(argument.bits());
    }
  }

  /// Whether the results share storage with nothing else and keep the content they have.
  bool has_own_results(Node node) {
    const OpEffects& effects = program_.context().ops().get(node.op()).effects;
    if (effects.is_uninitialized) return false;
    for (const Value value : node.values()) {
      if (!value.meta().is_tensor()) continue;
      if (aliases_.is_written(value) || aliases_.is_input(value)) return false;
      bool shares = false;
      for_each_input(node, [&](Value input) {
        shares = shares || (input.meta().is_tensor() && aliases_.may_share_storage(value, input));
      });
      if (shares) return false;
    }
    return true;
  }

  void count_writes(Node node, std::uint32_t number) {
    const auto count = [&](Value value) {
      if (!value.meta().is_tensor() || !aliases_.is_written(value)) return;
      std::uint32_t& state = states_[aliases_.class_of(value)];
      state = keys_.number_of({tag_state, state, number});
    };
    for_each_input(node, count);
    for (const Value value : node.values()) count(value);
  }

  ResultKeys& keys_;
  const ExportedProgram& program_;
  Graph& graph_;
  AliasAnalysis aliases_;
  CallEffects effects_;
  std::vector<ResultKey> keys_of_nodes_;
  tsl::robin_set<std::uint32_t> reusable_;               ///< numbers of reusable calls so far
  tsl::robin_map<std::uint32_t, std::uint32_t> states_;  ///< of written storage classes
  std::uint64_t inputs_ = 0;                             ///< numbered so far, weights left out
  std::uint64_t random_state_ = 0;
  std::uint64_t order_state_ = 0;
  bool has_changed_state_ = false;
};

std::uint32_t ResultKeys::number_of(const Words& words) {
  return numbers_.emplace(words, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

std::vector<ResultKey> ResultKeys::number(const ExportedProgram& program) {
  return ResultNumbering(*this, program).run();
}

}  // namespace winze
