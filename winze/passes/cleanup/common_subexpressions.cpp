// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/call_arguments.h"
#include "winze/effects/layout_uses.h"
#include "winze/program/module_calls.h"
#include "winze/schema/op.h"
#include "winze/support/hash.h"
#include "winze/support/record_array.h"

namespace winze {
namespace {

/// What an operator means to this pass.
enum class Role : std::uint8_t {
  unknown,      ///< not looked at yet
  mergeable,    ///< equal calls may be merged
  conditional,  ///< unless a call draws random numbers
  opposed,      ///< calls are never merged
  runs_graphs,  ///< never, and a barrier where a body holds one
  barrier,      ///< nor are calls before it with calls after it
};

Role role_of(const Op& op) {
  const OpEffects& effects = op.effects;
  if (effects.is_unknown || effects.ordering == Ordering::global_state ||
      effects.ordering == Ordering::unknown) {
    return Role::barrier;
  }
  if (effects.runs_graphs) return Role::runs_graphs;
  if (!effects.writes.empty() || effects.ordering != Ordering::none || effects.is_uninitialized ||
      op.is_opaque()) {
    return Role::opposed;
  }
  return effects.is_random ? Role::conditional : Role::mergeable;
}

bool same_argument(Node a, const Argument& left, Node b, const Argument& right) {
  if (!left.is_list()) return left == right;
  if (!right.is_list() || left.count() != right.count()) return false;
  for (std::uint32_t i = 0; i < left.count(); ++i) {
    if (!same_argument(a, a.element(left, i), b, b.element(right, i))) return false;
  }
  return true;
}

bool same_call(Node a, Node b) {
  if (a.op() != b.op() || a.argument_count() != b.argument_count() ||
      a.value_count() != b.value_count()) {
    return false;
  }
  for (std::uint32_t i = 0; i < a.value_count(); ++i) {
    if (a.value(i).meta_id() != b.value(i).meta_id()) return false;
  }
  for (std::uint32_t i = 0; i < a.argument_count(); ++i) {
    if (!same_argument(a, a.argument(i), b, b.argument(i))) return false;
  }
  return true;
}

/// Hashes calls under a secret: a file can hold constants of any value.
class CallHash {
 public:
  [[nodiscard]] std::uint32_t operator()(Node node) const {
    std::uint64_t hash = node.op().index;
    const std::uint32_t arguments = node.argument_count();
    for (std::uint32_t i = 0; i < arguments; ++i) hash = add(hash, node, node.argument(i));
    const std::uint32_t values = node.value_count();
    for (std::uint32_t i = 0; i < values; ++i) hash = combine_(hash, node.value(i).meta_id().index);
    return static_cast<std::uint32_t>(hash);
  }

 private:
  [[nodiscard]] std::uint64_t add(std::uint64_t hash, Node node, const Argument& argument) const {
    // One step for both: equal bits of different kinds are few.
    const std::uint64_t kind = static_cast<std::uint64_t>(argument.kind()) << 58U;
    if (!argument.is_list()) return combine_(hash, argument.bits() ^ kind);
    hash = combine_(hash, argument.count() ^ kind);
    for (std::uint32_t i = 0; i < argument.count(); ++i)
      hash = add(hash, node, node.element(argument, i));
    return hash;
  }

  SecretHash combine_;
};

/// Decides whether two equal calls can be one without anyone seeing it.
class MergeSafety {
 public:
  explicit MergeSafety(AliasAnalysis aliases) : aliases_(std::move(aliases)) {}

  [[nodiscard]] bool may_merge(Node first, Node second) const {
    const OpEffects& effects = first.graph().context().ops().get(first.op()).effects;
    const bool is_view = views_only(first, effects);
    bool reads_content = false;
    for (std::uint32_t i = 0; i < first.value_count(); ++i) {
      reads_content = reads_content || (first.value(i).is_tensor() && !is_view);
      if (!results_may_merge(first, second, i, is_view)) return false;
    }
    reads_content = reads_content || effects.is_data_dependent;
    bool unchanged = true;
    for_each_input(first, [&](Value operand) {
      if (!reads_content && !aliases_.is_metadata_changed(operand)) return;
      unchanged = unchanged && !aliases_.is_written_between(operand, first, second);
    });
    return unchanged;
  }

  void merged(Node first, Node second) {
    for (std::uint32_t i = 0; i < first.value_count(); ++i)
      aliases_.merge(first.value(i), second.value(i));
  }

 private:
  /// Whether every result is a view of an argument for certain, so that equal calls share storage
  /// before they are merged.
  static bool views_only(Node call, const OpEffects& effects) {
    const Schema& schema = call.graph().context().ops().get(call.op()).schema;
    if (schema.is_variadic_returns || effects.aliases.empty()) return false;
    std::vector<bool> is_view(schema.returns.size());
    for (const ResultAlias& alias : effects.aliases) {
      if (alias.kind != ResultAlias::Kind::view) return false;
      is_view[alias.result] = true;
    }
    return std::find(is_view.begin(), is_view.end(), false) == is_view.end();
  }

  [[nodiscard]] bool results_may_merge(Node first, Node second, std::uint32_t index,
                                       bool is_view) const {
    const Value a = first.value(index);
    const Value b = second.value(index);
    if (a.meta().kind == ValueKind::custom_object || a.meta().kind == ValueKind::unknown ||
        a.meta().kind == ValueKind::token) {
      return false;
    }
    if (!a.is_tensor()) return true;
    if (both_give_symbols(a, b)) return false;
    if (is_view) {
      // Two results of the graph that share storage must not become one tensor object.
      return !aliases_.is_metadata_changed(a) && !aliases_.is_returned_repeatedly(a);
    }
    if (aliases_.is_written_after(a, first) || aliases_.is_written_after(b, second)) return false;
    return !(aliases_.is_returned(a) && aliases_.is_returned(b));
  }

  AliasAnalysis aliases_;
};

/// Goes through graphs from first to last node and keeps the calls seen so far in a hash table.
class CallMerger {
 public:
  CallMerger(Graph& root, const PassContext& context)
      : root_(root),
        context_(context),
        effects_(root.context()),
        roles_(root.context().ops().size(), Role::unknown),
        preserved_(context.preserved_calls(root)) {}

  void run(Graph& graph) {
    entries_.assign_zeroed(std::bit_ceil(graph.size() + graph.size() / 2 + 1));
    barrier_ = Node();
    for (Node node : graph.nodes()) {
      if (!node.is_call()) continue;
      const Role role = this->role(node);
      if (role == Role::barrier) {
        merge_or_keep_pending(graph);
        barrier_ = node;
      } else if (role == Role::mergeable && node.value_count() != 0) {
        const std::uint32_t hash = hash_(node);
        entries_.prefetch(place_of(hash));
        pending_.push_back({hash, node.id()});
        if (pending_.size() == lookahead) merge_or_keep_pending(graph);
      }
    }
    merge_or_keep_pending(graph);
  }

 private:
  /// 8 bytes, zero where free.
  struct Entry {
    std::uint32_t hash;
    std::uint32_t node;  ///< its index + 1
  };
  struct Pending {
    std::uint32_t hash;
    NodeId node;
  };
  /// Calls whose places in the table are on their way from memory: a large table is in no cache,
  /// and one place after the other would take longer than all else.
  static constexpr std::size_t lookahead = 16;

  Role role(Node node) {
    Role& role = roles_[node.op().index];
    if (role == Role::unknown) role = role_of(root_.context().ops().get(node.op()));
    if (role == Role::runs_graphs) {
      const CallFacts facts = effects_.facts(node);
      const bool is_barrier = facts.is_unknown || facts.ordering == Ordering::global_state ||
                              facts.ordering == Ordering::unknown;
      return is_barrier ? Role::barrier : Role::opposed;
    }
    if (role != Role::conditional) return role;
    const OpEffects& effects = root_.context().ops().get(node.op()).effects;
    return holds(effects.random_when, node) ? Role::opposed : Role::mergeable;
  }

  [[nodiscard]] std::size_t place_of(std::uint32_t hash) const {
    return hash & (entries_.size() - 1);
  }

  void merge_or_keep_pending(Graph& graph) {
    bool is_changed = false;  // a merge may have changed arguments of the calls behind it
    for (const Pending& pending : pending_) {
      const Node node = graph.node_at(pending.node);
      if (merge_or_keep(node, is_changed ? hash_(node) : pending.hash)) is_changed = true;
    }
    pending_.clear();
  }

  /// Merges the node into an equal one seen before, or remembers it in its place. True where it was
  /// merged.
  bool merge_or_keep(Node node, std::uint32_t hash) {
    std::size_t at = place_of(hash);
    for (; entries_[at].node != 0; at = place_of(static_cast<std::uint32_t>(at + 1))) {
      if (entries_[at].hash != hash) continue;
      const Node earlier = node.graph().node_at(NodeId{entries_[at].node - 1});
      if (!same_call(earlier, node)) continue;
      // A call before the last barrier is as good as not seen, and so is one that must stay apart:
      // a third call is nearer to the later one.
      const bool is_apart =
          (barrier_ && earlier.before(barrier_)) || !preserved_.same(earlier, node);
      if (is_apart || !safety().may_merge(earlier, node)) break;
      safety().merged(earlier, node);
      node.replace_all_uses_with(earlier);
      node.erase();
      return true;
    }
    entries_[at] = {hash, node.id().index + 1};
    return false;
  }

  MergeSafety& safety() {
    // Made for the first pair alone: most graphs have none.
    if (!safety_) safety_.emplace(context_.alias_analysis(root_));
    return *safety_;
  }

  Graph& root_;
  const PassContext& context_;
  CallEffects effects_;
  CallHash hash_;
  std::vector<Role> roles_;     ///< by operator
  RecordArray<Entry> entries_;  ///< open addressing, linear probing
  std::vector<Pending> pending_;
  Node barrier_;  ///< the last one so far; invalid before the first
  std::optional<MergeSafety> safety_;
  PreservedCalls preserved_;
};

}  // namespace

void merge_common_subexpressions(Graph& graph, PassContext& context) {
  CallMerger merger(graph, context);
  for (Graph* each : graph.all_graphs()) merger.run(*each);
}

}  // namespace winze
