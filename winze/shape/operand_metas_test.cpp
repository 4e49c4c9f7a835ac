// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/operand_metas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

using ::testing::ElementsAre;

/// The names of the calls whose operands do not tell what they yield.
std::vector<std::string> untold(std::string_view text) {
  Context context;
  const ExportedProgram program = parse_program(context, text);
  const OperandMetas operands(*program.graph);
  std::vector<std::string> names;
  for (const Node node : program.graph->nodes()) {
    if (!node.is_call() || operands.tell(node)) continue;
    names.emplace_back(node.value_count() == 0 ? "nothing" : node.value().name());
  }
  return names;
}

TEST(OperandMetas, DoNotTellOfATensorThatIsTransposedInPlace) {
  EXPECT_THAT(untold(R"(
graph forward(%x: input f32[2, 3], %y: input f32[2, 3]) {
  %view = aten.view(%x, [3, 2]) : f32[3, 2]
  %add = aten.add_.Tensor(%x, 1) : f32[2, 3]
  %t = aten.t_(%add) : f32[3, 2] strides [1, 3]
  %relu = aten.relu(%x) : f32[3, 2] strides [1, 3]
  %relu_ = aten.relu_(%t) : f32[3, 2] strides [1, 3]
  %after = aten.sin(%relu_) : f32[3, 2] strides [1, 3]
  %of_view = aten.sin(%view) : f32[3, 2]
  %other = aten.add_.Tensor(%y, 1) : f32[2, 3]
  return output %relu, output %after, output %of_view, output %other
})"),
              ElementsAre("view", "add", "t", "relu", "relu_", "after"));
}

TEST(OperandMetas, DoNotTellUnderAutocast) {
  EXPECT_THAT(untold(R"(
graph forward(%x: input f32[2, 2]) {
  %before = aten.mm(%x, %x) : f32[2, 2]
  %t = torch.amp.autocast_mode._enter_autocast("cpu", bf16, True, False) : unknown
  %inside = aten.mm(%x, %x) : bf16[2, 2]
  torch.amp.autocast_mode._exit_autocast(%t)
  %after = aten.mm(%x, %x) : f32[2, 2]
  return output %before, output %inside, output %after
})"),
              ElementsAre("inside", "nothing"));
}

TEST(OperandMetas, TellNoLayoutUnderVmap) {
  Context context;
  const ExportedProgram program = parse_program(context, R"(
graph forward(%x: input f32[2, 3, 4]) {
  %before = aten.sin(%x) : f32[2, 3, 4]
  %outer = torch._functorch.predispatch._vmap_increment_nesting(2, "error") : None
  %rows = torch._functorch.predispatch._add_batch_dim(%x, 0, 1) : f32[3, 4]
  %row_sin = aten.sin(%rows) : f32[3, 4]
  %inner = torch._functorch.predispatch._vmap_increment_nesting(3, "error") : None
  %row = torch._functorch.predispatch._add_batch_dim(%row_sin, 0, 2) : f32[4]
  %mul = aten.mul.Tensor(%row, 2) : f32[4]
  %other = aten.cos(%x) : f32[2, 3, 4]
  %mapped = torch._functorch.predispatch._remove_batch_dim(%mul, 2, 3, 0) : f32[3, 4]
  %leave_inner = torch._functorch.predispatch._vmap_decrement_nesting() : None
  %all = torch._functorch.predispatch._remove_batch_dim(%mapped, 1, 2, 0) : f32[2, 3, 4]
  %leave_outer = torch._functorch.predispatch._vmap_decrement_nesting() : None
  %after = aten.sin(%all) : f32[2, 3, 4]
  return output %after, output %other, output %before
})");
  const OperandMetas operands(*program.graph);
  std::vector<std::string> names;
  for (const Node node : program.graph->nodes()) {
    if (node.is_call() && !operands.tell_layout(node)) names.emplace_back(node.value().name());
  }
  EXPECT_THAT(names, ElementsAre("row_sin", "row", "mul", "mapped"));
}

TEST(OperandMetas, TellWhereAutocastIsTurnedOff) {
  EXPECT_THAT(untold(R"(
graph forward(%x: input f32[2, 2]) {
  %on = torch.amp.autocast_mode._enter_autocast("cpu", bf16, True, False) : unknown
  %off = torch.amp.autocast_mode._enter_autocast("cpu", bf16, False, False) : unknown
  %inside = aten.mm(%x, %x) : f32[2, 2]
  torch.amp.autocast_mode._exit_autocast(%off)
  %between = aten.mm(%x, %x) : bf16[2, 2]
  torch.amp.autocast_mode._exit_autocast(%on)
  return output %inside, output %between
})"),
              ElementsAre("off", "between", "nothing"));
}

/// The calls of the innermost body that are untold, where the calls around it turn autocast on and
/// off as told.
std::vector<std::string> untold_in_body(std::string_view outer, std::string_view inner) {
  Context context;
  const ExportedProgram program = parse_program(context, fmt::format(R"(
graph forward(%x: input f32[2, 2]) {{
  %a = higher_order.wrap_with_autocast("cpu", bf16, {}, False, graph outer(%b: f32[2, 2]) {{
    %c = higher_order.wrap_with_autocast("cpu", bf16, {}, False, graph inner(%d: f32[2, 2]) {{
      %e = aten.mm(%d, %d) : f32[2, 2]
      return %e
    }}, %b) : f32[2, 2]
    return %c
  }}, %x) : f32[2, 2]
  return output %a
}})",
                                                                     outer, inner));
  const Graph& body = *program.graph->all_graphs().back();
  const OperandMetas operands(body);
  std::vector<std::string> names;
  for (const Node node : body.nodes()) {
    if (node.is_call() && !operands.tell(node)) names.emplace_back(node.value().name());
  }
  return names;
}

TEST(OperandMetas, TheInnermostRegionAroundABodyDecides) {
  EXPECT_THAT(untold_in_body("True", "True"), ElementsAre("e"));
  EXPECT_THAT(untold_in_body("False", "True"), ElementsAre("e"));
  EXPECT_THAT(untold_in_body("True", "False"), ElementsAre());
}

}  // namespace
}  // namespace winze
