// SPDX-License-Identifier: Apache-2.0
#include "winze/builders/call.h"

#include <algorithm>

#include "winze/builders/numbers_as_tensors.h"
#include "winze/ir/op_signature.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/shape/shape_rules.h"

namespace winze {
namespace {

/// What builders keep for a context.
struct Builders {
  explicit Builders(Context& context) : rules(ShapeRules::of(context)) {}
  ShapeRules& rules;
  Inference inference;  ///< kept for its memory
};

Builders& builders_of(Context& context) {
  static constexpr char key = 0;
  if (const auto& kept = context.attachment(&key)) return *static_cast<Builders*>(kept.get());
  auto made = std::make_shared<Builders>(context);
  context.attachment(&key) = made;
  return *made;
}

Argument element_of(const Graph& graph, const Argument& list, std::uint32_t index) {
  return list.is_external() ? list.external_elements()[index] : graph.first().element(list, index);
}

/// Shape rules look values up by index, so that none may be of another graph.
void check_graph(const Graph& graph, OpId op, const Argument& argument) {
  if (argument.is_list()) {
    for (std::uint32_t at = 0; at < argument.count(); ++at)
      check_graph(graph, op, element_of(graph, argument, at));
  }
  if (!argument.is_value()) return;
  WINZE_CHECK((argument.graph_serial() == 0 || argument.graph_serial() == graph.serial()) &&
                  argument.value_id().index < graph.value_capacity(),
              "{} is passed a value of another graph than \"{}\"",
              graph.context().ops().qualified_name(op), graph.name());
}

void append_argument(std::string& text, const Graph& graph, const Argument& argument) {
  Context& context = graph.context();
  if (argument.is_value()) {
    const Value value = graph.value_at(argument.value_id());
    text += value.name().empty() ? fmt::format("%#{}", value.id().index)
                                 : fmt::format("%{}", value.name());
    text += ": ";
    append_type(text, context, value.meta_id(), Device{});
  } else if (argument.is_list()) {
    text += '[';
    for (std::uint32_t at = 0; at < argument.count(); ++at) {
      if (at > 0) text += ", ";
      append_argument(text, graph, element_of(graph, argument, at));
    }
    text += ']';
  } else if (argument.kind() == ArgumentKind::graph) {
    text += fmt::format("graph {}", graph.subgraph(argument.graph_id()).name());
  } else {
    TextPrinter(context, text).constant(argument);
  }
}

/// `aten.add.Tensor(%x: f32[2], 1, alpha=2)`
std::string text_of_call(const Graph& graph, OpId op, std::span<const Argument> arguments) {
  const Op& found = graph.context().ops().get(op);
  std::string text = fmt::format("{}(", found.qualified_name);
  bool by_name = false;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (arguments[index].is_default()) {
      by_name = true;
      continue;
    }
    if (!text.ends_with('(')) text += ", ";
    if (index < found.schema.arguments.size()) {
      by_name |= found.schema.arguments[index].kwarg_only;
      if (by_name) text += fmt::format("{}=", found.schema.arguments[index].name);
    }
    append_argument(text, graph, arguments[index]);
  }
  return text + ")";
}

/// A call that is not made.
class Refusal {
 public:
  Refusal(const Graph& graph, OpId op, std::span<const Argument> arguments, SourceId source)
      : graph_(graph), op_(op), arguments_(arguments), source_(source) {}

  [[noreturn]] void operator()(std::string message, std::string hint = {}) const {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    (*this)(std::move(diagnostic));
  }
  [[noreturn]] void operator()(Diagnostic diagnostic) const {
    diagnostic.node = text_of_call(graph_, op_, arguments_);
    if (const auto line = graph_.context().user_line(source_)) diagnostic.source = line->str();
    throw Error(std::move(diagnostic));
  }
  [[nodiscard]] std::string_view name() const { return graph_.context().ops().qualified_name(op_); }

 private:
  const Graph& graph_;
  OpId op_;
  std::span<const Argument> arguments_;
  SourceId source_;
};

constexpr const char* metas_hint =
    "give the metas of its results: graph.call_function(op, arguments, metas), in Python like= a "
    "node that yields the same";

void check_inferred(const Graph& graph, const Inference& inference, const Refusal& refuse) {
  switch (inference.state) {
    case InferenceState::no_rule:
      refuse(
          fmt::format("{} has no shape rule, so that what it yields is not known", refuse.name()),
          metas_hint);
    case InferenceState::not_inferable:
      refuse(fmt::format("what {} yields cannot be told: {}", refuse.name(), inference.reason),
             metas_hint);
    case InferenceState::inferred:
      break;
  }
  if (inference.constraints.empty()) return;
  const ShapeConstraint& needed = inference.constraints.front();
  refuse(fmt::format("{} needs {}, which is not known: {}", refuse.name(),
                     graph.context().symbols().str(needed.condition), needed.why),
         "narrow the range of the symbols so that it follows, or pass values whose sizes agree");
}

/// Whether an overload takes a value, or a number, where one is given.
bool takes(const Graph& graph, const Op& op, std::span<const Argument> arguments) {
  const bool numbers = allows_numbers_as_tensors(op.schema.name);
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const Argument& argument = arguments[index];
    const Type& type = op.schema.arguments[index].type;
    bool is_tensor = false;
    switch (argument.kind()) {
      case ArgumentKind::value:
        is_tensor = graph.value_at(argument.value_id()).is_tensor();
        break;
      case ArgumentKind::integer:
      case ArgumentKind::floating:
      case ArgumentKind::boolean:
      case ArgumentKind::complex:
        break;
      default:
        continue;
    }
    const bool takes_tensor = type.is(TypeKind::tensor);
    if (is_tensor ? !takes_tensor : takes_tensor && !numbers) return false;
  }
  return true;
}

}  // namespace

Node call_function(Graph& graph, OpId op, std::span<const Argument> arguments,
                   const CallOptions& options) {
  for (const Argument& argument : arguments) check_graph(graph, op, argument);
  const Refusal refuse(graph, op, arguments,
                       options.source.valid() ? options.source : graph.insertion_source());
  Builders& builders = builders_of(graph.context());
  try {
    builders.rules.infer(graph, op, arguments, builders.inference);
  } catch (const Error& error) {
    refuse(error.diagnostic());
  }
  check_inferred(graph, builders.inference, refuse);
  return graph.call_function(op, arguments, builders.inference.metas, options);
}

Node call_function(Graph& graph, OpId op, std::initializer_list<Argument> arguments,
                   const CallOptions& options) {
  return call_function(graph, op, std::span<const Argument>(arguments.begin(), arguments.size()),
                       options);
}

Node call_function(Graph& graph, std::initializer_list<OpId> overloads,
                   std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) check_graph(graph, *overloads.begin(), argument);
  const auto found = std::ranges::find_if(overloads, [&](OpId op) {
    return takes(graph, graph.context().ops().get(op),
                 std::span<const Argument>(arguments.begin(), arguments.size()));
  });
  return call_function(graph, found == overloads.end() ? *overloads.begin() : *found, arguments);
}

}  // namespace winze
