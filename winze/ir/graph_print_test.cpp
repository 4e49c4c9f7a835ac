// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/graph.h"
#include "winze/ir/text_parser.h"

namespace winze {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* small =
    "graph forward(%x: f32[2, 3]) {\n"
    "  %y = aten.add.Tensor(%x, 1, alpha=2) : f32[2, 3]\n"
    "  %v, %i = aten.topk.default(%y, 2, largest=False) : f32[2, 2], i64[2, 2]\n"
    "  return %v\n"
    "}\n";

TEST(PrintTabular, ShowsWhatTorchFxShows) {
  Context context;
  EXPECT_EQ(parse_graph(context, small)->print_tabular(),
            "opcode         name    target             args                kwargs\n"
            "-------------  ------  -----------------  ------------------  ------------\n"
            "placeholder    %x      x                  ()                  {}\n"
            "call_function  %y      aten.add.Tensor    (%x, 1)             {'alpha': 2}\n"
            "call_function  %v, %i  aten.topk.default  (%y, 2, -1, False)  {}\n"
            "output         output  output             ([%v],)             {}\n");
}

TEST(PrintTabular, ShowsWhatIsGivenByKeyword) {
  Context context;
  const auto graph =
      parse_graph(context,
                  "graph forward(%x: f32[3]) {\n"
                  "  %y = aten.relu.default(*, self=%x) : f32[3]\n"
                  "  %q = higher_order.flat_apply(None, None, %x, checked_output=False) : f32[3]\n"
                  "  return %y\n"
                  "}\n");
  EXPECT_THAT(graph->print_tabular(),
              AllOf(HasSubstr("()                {'self': %x}\n"),
                    HasSubstr("(None, None, %x)  {'checked_output': False}\n")));
}

TEST(ToDot, ShowsNodesTypesAndEdges) {
  Context context;
  const auto graph = parse_graph(context, small);
  const std::string dot = graph->to_dot();
  const std::string x = "g" + std::to_string(graph->serial()) + "n0";
  const std::string y = "g" + std::to_string(graph->serial()) + "n1";
  EXPECT_THAT(dot, HasSubstr("digraph \"forward\" {\n"));
  EXPECT_THAT(dot, HasSubstr("  " + y + " [label=\"%y\\laten.add.Tensor\\lf32[2, 3]\\l\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  " + x + " -> " + y + ";\n"));
}

TEST(ToDot, PutsNestedGraphsIntoClusters) {
  Context context;
  const auto graph = parse_graph(context,
                                 "graph forward(%p: b8[], %x: f32[2]) {\n"
                                 "  %y = higher_order.cond(%p, graph t(%a: f32[2]) { return %a }, "
                                 "graph f(%a: f32[2]) { return %a }, [%x]) -> tuple : f32[2]\n"
                                 "  return %y\n}\n");
  const std::string dot = graph->to_dot();
  EXPECT_THAT(dot, HasSubstr("    label=\"t\";\n"));
  EXPECT_THAT(dot, HasSubstr("    label=\"f\";\n"));
  EXPECT_THAT(dot, HasSubstr(" [style=dotted];\n"));
}

TEST(ToDot, EscapesNames) {
  Context context;
  const auto graph =
      parse_graph(context, "graph \"a\\\"b\"(%\"x\\\\\\n\": f32[2]) {\n  return\n}\n");
  const std::string dot = graph->to_dot();
  EXPECT_THAT(dot, HasSubstr("digraph \"a\\\"b\" {"));
  EXPECT_THAT(dot, HasSubstr("label=\"%\\\"x\\\\\\\\\\\\n\\\"\\lf32[2]\\l\""));
}

}  // namespace
}  // namespace winze
