// SPDX-License-Identifier: Apache-2.0
#include "winze/program/module_calls.h"

#include <algorithm>
#include <string_view>

#include "winze/schema/op.h"
#include "winze/schema/op_ids.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

bool is_preserved(const ModuleCallEntry& entry) {
  return entry.signature && !entry.fqn.empty();
}

/// `a.b` of `a.b@2`.
std::string_view module_of(std::string_view call) {
  return call.substr(0, call.find('@'));
}

/// Goes through a graph as `_ModuleFrame` of torch/export/unflatten.py does: a frame is a module
/// that is being made, with the nodes that it can name.
class Outline {
 public:
  Outline(const ExportedProgram& program, ModuleStacks& stacks, const std::vector<bool>& lost)
      : program_(program), graph_(*program.graph), stacks_(stacks) {
    for (std::size_t at = 0; at < program.module_call_graph.size(); ++at) {
      const ModuleCallEntry& entry = program.module_call_graph[at];
      if (is_preserved(entry) && !lost[at]) entries_.emplace(entry.fqn, at);
    }
  }

  /// The entries that fail; false where nothing can be told.
  bool run(std::vector<bool>& failed) {
    failed_ = &failed;
    frames_.push_back({});
    for (const Node placeholder : graph_.placeholders()) {
      seen_.insert(placeholder.id().index);
      frames_[0].nodes.insert(placeholder.id().index);
    }
    for (const Node node : graph_.nodes()) {
      if (node.is_placeholder() || node.kind() == NodeKind::output) continue;
      const std::span<const std::uint32_t> stack = stacks_.of(node);
      if (stack.empty() ? !node.is_call() : !stacks_.frame(stack[0]).fqn.empty()) return false;
      // Without a stack it goes where the writer puts it: at most into the frame that is open.
      if (!stack.empty()) enter(stack);
      for (const Node used : node.all_input_nodes()) use(frames_.size() - 1, used);
      frames_.back().nodes.insert(node.id().index);
      seen_.insert(node.id().index);
    }
    while (frames_.size() > 1) leave();
    for (const Node used : graph_.output_node().all_input_nodes()) use(0, used);
    for (const auto& [call, entry] : entries_) {
      if (!finished_.contains(call)) failed[entry] = true;
    }
    return true;
  }

 private:
  static constexpr std::size_t no_entry = static_cast<std::size_t>(-1);

  struct Frame {
    std::uint32_t id = 0;
    std::size_t entry = no_entry;         ///< the preserved call that this is
    bool is_closed = true;                ///< takes no inputs but those of the signature
    tsl::robin_set<std::uint32_t> nodes;  ///< made here, or results of modules called here
    tsl::robin_set<std::uint32_t> inputs;
  };

  void enter(std::span<const std::uint32_t> stack) {
    std::size_t common = 1;
    while (common < frames_.size() && common < stack.size() && frames_[common].id == stack[common])
      ++common;
    while (frames_.size() > common) leave();
    for (std::size_t depth = common; depth < stack.size(); ++depth) {
      const ModuleFrame& module = stacks_.frame(stack[depth]);
      Frame frame;
      frame.id = stack[depth];
      frame.is_closed = entries_.contains(module.fqn);
      const auto found = entries_.find(module.call);
      if (found != entries_.end() && finished_.contains(module.call)) {
        fail(found->second);  // it cannot be made twice
      } else if (found != entries_.end()) {
        frame.entry = found->second;
        for (const Node input : nodes_of(signature(frame).inputs)) {
          frame.inputs.insert(input.id().index);
          use(frames_.size() - 1, input);
        }
      }
      frames_.push_back(std::move(frame));
    }
  }

  void leave() {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    finished_.insert(stacks_.frame(frame.id).call);
    tsl::robin_set<std::uint32_t>& outer = frames_.back().nodes;
    if (frame.entry == no_entry) {
      for (const std::uint32_t index : frame.nodes) {
        if (is_used_later(graph_.node_at(NodeId{index}))) outer.insert(index);
      }
      return;
    }
    for (const Node output : nodes_of(signature(frame).outputs)) {
      const std::uint32_t index = output.id().index;
      if (!frame.nodes.contains(index) && !frame.inputs.contains(index)) fail(frame.entry);
      outer.insert(index);
    }
  }

  [[nodiscard]] bool is_used_later(Node node) const {
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      for (const Use use : node.value(index).uses()) {
        if (!seen_.contains(use.node.id().index)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] const ModuleCallSignature& signature(const Frame& frame) const {
    return *program_.module_call_graph[frame.entry].signature;
  }

  /// Of the values that a signature names, the nodes that came so far.
  [[nodiscard]] std::vector<Node> nodes_of(const std::vector<ModuleCallArgument>& arguments) const {
    std::vector<Node> nodes;
    for (const ModuleCallArgument& argument : arguments) {
      if (!argument.reference) continue;
      const Value value = graph_.observed(*argument.reference);
      if (value && seen_.contains(value.node().id().index)) nodes.push_back(value.node());
    }
    return nodes;
  }

  /// Symbolic values and a few more are computed anew in a module that does not get them.
  [[nodiscard]] static bool is_computed_anew(Node node) {
    if (!node.is_call()) return false;
    const Op& called = node.graph().context().ops().get(node.op());
    return node.op() == op::aten_sym_size_int || node.op() == op::aten_item_default ||
           node.op() == op::aten_unbind_int || node.op() == op::aten_sum_dim_IntList ||
           node.op() == op::aten_view_default || node.op() == op::aten_diff_default ||
           called.target().starts_with("_operator.");
  }

  /// Makes a node known in a frame, by way of those around it.
  void use(std::size_t depth, Node node) {
    std::vector<std::pair<std::size_t, Node>> open{{depth, node}};
    while (!open.empty()) {
      const auto [at, wanted] = open.back();
      open.pop_back();
      Frame& frame = frames_[at];
      const std::uint32_t index = wanted.id().index;
      if (frame.nodes.contains(index) || frame.inputs.contains(index)) continue;
      if (at > 0 && (wanted.is_placeholder() || !frame.is_closed)) {
        frame.inputs.insert(index);
        open.emplace_back(at - 1, wanted);
      } else if (is_computed_anew(wanted)) {
        frame.nodes.insert(index);
        for (const Node used : wanted.all_input_nodes()) open.emplace_back(at, used);
      } else if (is_written_in_place(wanted)) {
        open.emplace_back(at, wanted.argument_value(0).node());
      } else {
        fail_use(at, wanted);
      }
    }
  }

  /// Then a frame that does not know the result reads what was written.
  [[nodiscard]] static bool is_written_in_place(Node node) {
    if (!node.is_call() || node.argument_count() == 0 || !node.argument(0).is_value()) return false;
    const std::vector<SchemaArgument>& formal =
        node.graph().context().ops().get(node.op()).schema.arguments;
    return std::ranges::any_of(formal, [](const SchemaArgument& argument) {
      return argument.alias && argument.alias->is_write;
    });
  }

  void fail(std::size_t entry) { (*failed_)[entry] = true; }

  /// The frame may not have the node, or the calls that it was made in do not give it away.
  void fail_use(std::size_t at, Node node) {
    if (frames_[at].entry != no_entry) fail(frames_[at].entry);
    std::size_t depth = 0;
    for (const std::uint32_t id : stacks_.of(node)) {
      const bool is_open = depth <= at && (depth == 0 || frames_[depth].id == id);
      ++depth;
      if (is_open) continue;
      const auto found = entries_.find(stacks_.frame(id).call);
      if (found != entries_.end()) fail(found->second);
    }
    frames_[at].nodes.insert(node.id().index);  // said once
  }

  const ExportedProgram& program_;
  const Graph& graph_;
  ModuleStacks& stacks_;
  std::vector<bool>* failed_ = nullptr;
  StringMap<std::size_t> entries_;
  std::vector<Frame> frames_;
  tsl::robin_set<std::uint32_t> seen_;
  StringSet finished_;
};

bool is_whole(const Graph& graph, const ModuleCallSignature& signature) {
  const auto is_there = [&](const ModuleCallArgument& argument) {
    return !argument.reference || graph.observed(*argument.reference).valid();
  };
  return std::ranges::all_of(signature.inputs, is_there) &&
         std::ranges::all_of(signature.outputs, is_there);
}

/// With one call of a module all are lost: PyTorch numbers those that have a signature.
void lose_all_calls(const ExportedProgram& program, std::vector<bool>& lost) {
  StringViewSet modules;
  for (std::size_t at = 0; at < lost.size(); ++at) {
    if (lost[at]) modules.insert(module_of(program.module_call_graph[at].fqn));
  }
  for (std::size_t at = 0; at < lost.size(); ++at) {
    const ModuleCallEntry& entry = program.module_call_graph[at];
    if (is_preserved(entry) && modules.contains(module_of(entry.fqn))) lost[at] = true;
  }
}

}  // namespace

PreservedCalls::PreservedCalls(const ExportedProgram& program) : stacks_(program.context()) {
  for (const ModuleCallEntry& entry : program.module_call_graph) {
    if (is_preserved(entry)) calls_.insert(entry.fqn);
  }
}

std::uint32_t PreservedCalls::of(Node node) {
  if (calls_.empty()) return 0;
  const std::span<const std::uint32_t> stack = stacks_.of(node);
  for (std::size_t depth = stack.size(); depth > 0; --depth) {
    if (calls_.contains(stacks_.frame(stack[depth - 1]).call)) return stack[depth - 1] + 1;
  }
  return 0;
}

std::vector<std::size_t> lost_module_calls(const ExportedProgram& program) {
  const std::vector<ModuleCallEntry>& entries = program.module_call_graph;
  if (std::ranges::none_of(entries, is_preserved)) return {};
  std::vector<bool> lost(entries.size(), false);
  for (std::size_t at = 0; at < entries.size(); ++at)
    lost[at] = is_preserved(entries[at]) && !is_whole(*program.graph, *entries[at].signature);
  lose_all_calls(program, lost);
  ModuleStacks stacks(program.context());
  // Without the one signature another may fit no more. Two rounds, mostly; what goes on and on is
  // lost as a whole.
  constexpr int most_rounds = 16;
  int round = 0;
  for (bool is_changed = true; is_changed;) {
    const std::vector<bool> before = lost;
    if (++round > most_rounds) {
      for (std::size_t at = 0; at < entries.size(); ++at) lost[at] = is_preserved(entries[at]);
      break;
    }
    if (!Outline(program, stacks, before).run(lost)) break;
    lose_all_calls(program, lost);
    is_changed = lost != before;
  }
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < lost.size(); ++at) {
    if (lost[at]) found.push_back(at);
  }
  return found;
}

}  // namespace winze
