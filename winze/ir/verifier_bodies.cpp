// SPDX-License-Identifier: Apache-2.0
// Bodies of higher-order calls against what they are called with.
#include <algorithm>
#include <array>

#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/ir/verifier_checks.h"

namespace winze {
namespace {

/// Where the inputs of a body come from.
enum class Source : std::uint8_t {
  argument,  ///< a list argument, each element as it is
  sliced,    ///< a list argument, each element without its first dimension
  more,      ///< the arguments beyond the schema's
};

struct Inputs {
  Source source = Source::argument;
  std::uint8_t argument = 0;
};

enum class Results : std::uint8_t {
  same,     ///< the call yields what the body returns
  stacked,  ///< each with one dimension more
  unknown,
};

struct Body {
  std::string_view op;
  std::array<std::int8_t, 2> graphs;  ///< positions of the bodies, -1 for none
  std::array<Inputs, 3> inputs;
  std::uint8_t input_count;
  std::array<Results, 2> results;  ///< of each body
};

// torch/_higher_order_ops: how each operator calls its bodies.
constexpr std::array bodies = {
    Body{"higher_order.cond",
         {1, 2},
         {Inputs{Source::argument, 3}},
         1,
         {Results::same, Results::same}},
    Body{"higher_order.while_loop",
         {0, 1},
         {Inputs{Source::argument, 2}, Inputs{Source::argument, 3}},
         2,
         {Results::unknown, Results::same}},
    Body{"higher_order.scan",
         {0, -1},
         {Inputs{Source::argument, 1}, Inputs{Source::sliced, 2}, Inputs{Source::argument, 3}},
         3,
         {Results::unknown, Results::unknown}},
    Body{"higher_order.map_impl",
         {0, -1},
         {Inputs{Source::sliced, 1}, Inputs{Source::argument, 2}},
         2,
         {Results::stacked, Results::unknown}},
    Body{"higher_order.invoke_subgraph",
         {0, -1},
         {Inputs{Source::more, 2}},
         1,
         {Results::same, Results::unknown}},
    Body{"higher_order.wrap_with_set_grad_enabled",
         {1, -1},
         {Inputs{Source::more, 2}},
         1,
         {Results::same, Results::unknown}},
    Body{"higher_order.wrap_with_autocast",
         {4, -1},
         {Inputs{Source::more, 5}},
         1,
         {Results::same, Results::unknown}},
    Body{"higher_order.strict_mode",
         {0, -1},
         {Inputs{Source::argument, 1}},
         1,
         {Results::same, Results::unknown}},
    Body{"higher_order.wrap",
         {0, -1},
         {Inputs{Source::more, 1}},
         1,
         {Results::same, Results::unknown}},
};

class BodyChecker {
 public:
  BodyChecker(const Node& node, const Body& body, Findings& findings)
      : node_(node), body_(body), findings_(findings) {}

  void check() {
    for (std::size_t index = 0; index < body_.graphs.size(); ++index) {
      const std::int8_t position = body_.graphs[index];
      if (position < 0 || static_cast<std::uint32_t>(position) >= node_.argument_count()) continue;
      const Argument argument = node_.argument(static_cast<std::uint32_t>(position));
      if (argument.kind() != ArgumentKind::graph) continue;
      const Graph& graph = node_.graph().subgraph(argument.graph_id());
      check_inputs(graph);
      check_results(graph, body_.results[index]);
    }
  }

 private:
  void add(std::string message) { findings_.add(node_.graph(), node_.id(), std::move(message)); }

  [[nodiscard]] std::string shown(const Value& value) const {
    std::string text;
    append_type(text, node_.graph().context(), value.meta_id(), Device{});
    return text;
  }

  /// What the call passes, with the number of dimensions that the body does not see.
  void collect_operands() {
    operands_.clear();
    for (std::uint8_t index = 0; index < body_.input_count; ++index) {
      const Inputs& inputs = body_.inputs[index];
      if (inputs.source == Source::more) {
        for (std::uint32_t at = inputs.argument; at < node_.argument_count(); ++at)
          operands_.push_back({node_.argument(at), 0});
        continue;
      }
      if (inputs.argument >= node_.argument_count()) continue;
      const Argument list = node_.argument(inputs.argument);
      const std::uint32_t count = list_size(node_.graph().context(), list);
      const std::size_t dropped = inputs.source == Source::sliced ? 1 : 0;
      for (std::uint32_t at = 0; at < count; ++at)
        operands_.push_back({list_element(node_, list, at), dropped});
    }
  }

  void check_inputs(const Graph& graph) {
    collect_operands();
    const std::vector<Node> placeholders = graph.placeholders();
    if (placeholders.size() != operands_.size()) {
      return add(fmt::format("graph \"{}\" has {} inputs, but {} are passed", graph.name(),
                             placeholders.size(), operands_.size()));
    }
    for (std::size_t index = 0; index < operands_.size(); ++index) {
      const auto& [operand, dropped] = operands_[index];
      if (!operand.is_value()) continue;
      const Value passed = node_.graph().value_at(operand.value_id());
      const Value taken = placeholders[index].value();
      if (agree(passed.meta(), taken.meta(), dropped)) continue;
      add(fmt::format("input {} of graph \"{}\" is {}, but {} is passed", index, graph.name(),
                      shown(taken), shown(passed)));
    }
  }

  void check_results(const Graph& graph, Results results) {
    const Node output = graph.output_node();
    if (results == Results::unknown) return;
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
      const bool fits = results == Results::stacked ? agree(outer.meta(), inner.meta(), 1)
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

  struct Operand {
    Argument argument;
    std::size_t dropped = 0;
  };
  const Node& node_;
  const Body& body_;
  Findings& findings_;
  std::vector<Operand> operands_;
};

}  // namespace

void check_bodies(const Node& node, Findings& findings) {
  OpRegistry& ops = node.graph().context().ops();
  const Op& op = ops.get(node.op());
  if (!op.is_higher_order()) return;
  const std::string_view name = ops.qualified_name(op.base);
  const auto found = std::ranges::find(bodies, name, &Body::op);
  if (found != bodies.end()) BodyChecker(node, *found, findings).check();
}

}  // namespace winze
