// SPDX-License-Identifier: Apache-2.0
// Bodies of higher-order calls against what they are called with.
#include "winze/ir/body_calls.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/ir/verifier_checks.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

class BodyChecker {
 public:
  BodyChecker(const Node& node, Findings& findings) : node_(node), findings_(findings) {}

  void check() {
    for (const BodyCall& call : body_calls(node_)) {
      check_inputs(call);
      check_results(*call.body, call.results);
    }
  }

 private:
  void add(std::string message) { findings_.add(node_.graph(), node_.id(), std::move(message)); }

  [[nodiscard]] std::string shown(const Value& value) const {
    std::string text;
    append_type(text, node_.graph().context(), value.meta_id(), Device{});
    return text;
  }

  void check_inputs(const BodyCall& call) {
    const Graph& graph = *call.body;
    const std::vector<Node> placeholders = graph.placeholders();
    if (placeholders.size() != call.operands.size()) {
      return add(fmt::format("graph \"{}\" takes {}, and is passed {}", graph.name(),
                             plural(placeholders.size(), "input"), call.operands.size()));
    }
    for (std::size_t index = 0; index < call.operands.size(); ++index) {
      const BodyOperand& operand = call.operands[index];
      if (!operand.argument.is_value()) continue;
      const Value passed = node_.graph().value_at(operand.argument.value_id());
      const Value taken = placeholders[index].value();
      if (agree(passed.meta(), taken.meta(), operand.is_sliced ? 1 : 0)) continue;
      add(fmt::format("input {} of graph \"{}\" is {}, but {} is passed", index, graph.name(),
                      shown(taken), shown(passed)));
    }
  }

  void check_results(const Graph& graph, BodyResults results) {
    const Node output = graph.output_node();
    if (results == BodyResults::unknown) return;
    if (!output) return add(fmt::format("graph \"{}\" has no output", graph.name()));
    const Argument list = output.argument(0);
    const std::uint32_t count = list_size(graph.context(), list);
    if (count != node_.value_count()) {
      return add(fmt::format("graph \"{}\" returns {} values, but the call yields {}", graph.name(),
                             count, node_.value_count()));
    }
    for (std::uint32_t index = 0; index < count; ++index) {
      const Argument returned = list_element(output, list, index);
      if (!returned.is_value()) continue;
      const Value inner = graph.value_at(returned.value_id());
      const Value outer = node_.value(index);
      const bool fits = results == BodyResults::stacked ? agree(outer.meta(), inner.meta(), 1)
                                                        : agree(outer.meta(), inner.meta(), 0);
      if (fits) continue;
      add(fmt::format("graph \"{}\" returns {} as result {}, but the call yields {}", graph.name(),
                      shown(inner), index, shown(outer)));
    }
  }

  /// Same kind, dtype, rank and constant sizes; `dropped` dimensions of `outer` are not in `inner`.
  static bool agree(const Meta& outer, const Meta& inner, std::size_t dropped) {
    if (outer.kind == ValueKind::unknown || inner.kind == ValueKind::unknown) return true;
    if (outer.kind != inner.kind) return false;
    if (!outer.is_tensor()) return true;
    const TensorMeta& a = outer.tensor;
    const TensorMeta& b = inner.tensor;
    if (a.dtype != b.dtype || a.sizes.size() != b.sizes.size() + dropped) return false;
    for (std::size_t index = 0; index < b.sizes.size(); ++index) {
      const SymInt size = a.sizes[index + dropped];
      if (size.is_constant() && b.sizes[index].is_constant() && size != b.sizes[index])
        return false;
    }
    return true;
  }

  const Node& node_;
  Findings& findings_;
};

}  // namespace

void check_bodies(const Node& node, Findings& findings) {
  BodyChecker(node, findings).check();
}

}  // namespace winze
