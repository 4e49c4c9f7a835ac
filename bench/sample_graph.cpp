// SPDX-License-Identifier: Apache-2.0
#include "bench/sample_graph.h"

#include <array>
#include <vector>

#include "winze/builders/aten/add.h"
#include "winze/builders/aten/mm.h"
#include "winze/builders/aten/mul.h"
#include "winze/builders/aten/view.h"
#include "winze/schema/op_ids.h"

namespace winze::bench {
namespace {

constexpr std::array<SymInt, 2> square = {SymInt(8), SymInt(8)};

}  // namespace

void append_calls(Graph& graph, std::size_t nodes) {
  Context& context = graph.context();
  const MetaId meta = context.contiguous_meta(ScalarType::float32, square);
  const std::array<std::int64_t, 2> shape = {8, 8};
  const Argument size = context.integers(shape);
  const std::vector<Node> inputs = graph.placeholders();
  const Value weight = inputs[1].value();
  Value last = inputs[0].value();
  Value before = last;
  for (std::size_t index = 0; index < nodes; ++index) {
    Value made;
    switch (index % 4) {
      case 0:
        made = graph.call_function(op::aten_mm_default, {last, weight}, meta);
        break;
      case 1:
        made = graph.call_function(op::aten_add_Tensor, {last, before}, meta);
        break;
      case 2:
        made = graph.call_function(op::aten_view_default, {last, size}, meta);
        break;
      default:
        made = graph.call_function(op::aten_mul_Tensor, {last, before}, meta);
        break;
    }
    before = last;
    last = made;
  }
}

void build_calls(Graph& graph, std::size_t nodes) {
  const std::vector<Node> inputs = graph.placeholders();
  const Value weight = inputs[1].value();
  Value last = inputs[0].value();
  Value before = last;
  for (std::size_t index = 0; index < nodes; ++index) {
    Value made;
    switch (index % 4) {
      case 0:
        made = aten::mm(graph, last, weight);
        break;
      case 1:
        made = aten::add(graph, last, before);
        break;
      case 2:
        made = aten::view(graph, last, {.size = {8, 8}});
        break;
      default:
        made = aten::mul(graph, last, before);
        break;
    }
    before = last;
    last = made;
  }
}

std::unique_ptr<Graph> sample_graph(Context& context, std::size_t nodes) {
  auto graph = std::make_unique<Graph>(context);
  graph->reserve(nodes + 3, nodes + 3, nodes * 3);
  const MetaId meta = context.contiguous_meta(ScalarType::float32, square);
  graph->placeholder("x", meta);
  graph->placeholder("weight", meta);
  append_calls(*graph, nodes);
  const std::array<Argument, 1> returned = {Argument(graph->last().value())};
  graph->output(returned);
  return graph;
}

}  // namespace winze::bench
