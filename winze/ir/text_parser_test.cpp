// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/text_printer.h"
#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

/// Parses in a context of its own and prints.
std::string reprint(const std::string& text) {
  Context context;
  return print_graph(*parse_graph(context, text, "t.wz"));
}

std::string error_of(const std::string& text) {
  return winze::error_of([&] { return reprint(text); });
}

/// A graph with `statement` as its only statement, over inputs %x and %i.
std::string with(const std::string& statement) {
  return "graph forward(%x: f32[2, 3], %i: i64[4]) {\n  " + statement + "\n}\n";
}

struct Case {
  const char* name;
  std::string text;
};

class RoundTrip : public ::testing::TestWithParam<Case> {};

TEST_P(RoundTrip, PrintsTheSameBytes) {
  EXPECT_EQ(reprint(GetParam().text), GetParam().text);
}

std::vector<Case> statement_cases() {
  const std::vector<std::pair<const char*, const char*>> statements = {
      {"KeywordOnly", "%y = aten.add.Tensor(%x, 1, alpha=2) : f32[2, 3]"},
      {"SkippedPositional", "%y = aten.sum.dim_IntList(%x, [1], dtype=f64) : f64[2]"},
      {"GivenByKeyword", "aten._assert_tensor_metadata.default(%x, *, dtype=f32, device=cpu)"},
      {"GivenByKeywordBehindALeftOut",
       "%y = aten.slice.Tensor(%x, start=1, *, step=2) : f32[1, 3]"},
      {"AllGivenByKeyword", "%y = aten.relu.default(*, self=%x) : f32[2, 3]"},
      {"Floats", "%y = aten.clamp.default(%x, -inf, 1e-05) : f32[2, 3]"},
      {"NoneBeforeAValue", "%y = aten.clamp.default(%x, max=3) : f32[2, 3]"},
      {"BoolsAndLists", "%y = aten.mean.dim(%x, [-1, 0], True) : f32[1, 1]"},
      {"Dtype",
       "%y = aten._to_copy.default(%x, dtype=bf16, layout=strided, device=cuda:1) : bf16[2, 3] "
       "device cuda:1"},
      {"MemoryFormat", "%y = aten.clone.default(%x, memory_format=channels_last) : f32[2, 3]"},
      {"StrangeDevice",
       "%y = aten._to_copy.default(%x, device=device(\"npu\", 0)) : f32[2, 3] device "
       "device(\"npu\", 0)"},
      {"String", "%y = aten.div.Tensor_mode(%x, 2, rounding_mode=\"floor\") : f32[2, 3]"},
      {"StringOfAnyBytes",
       "%y = aten.div.Tensor_mode(%x, 2, rounding_mode=\"a\\\"\\\\\\n\\x00\\xff\xC3\xA9\") : "
       "f32[2, 3]"},
      {"TensorList", "%y = aten.cat.default([%x, %x], 1) : f32[2, 6]"},
      {"EmptyList", "%y = aten.permute.default(%x, []) : f32[2, 3]"},
      {"OptionalTensors", "%y = aten.index.Tensor(%x, [None, %i]) : f32[2, 4]"},
      {"Complex", "%y = aten.add.Tensor(%x, (1.5-2j)) : c64[2, 3]"},
      {"ComplexWithNegativeZero", "%y = aten.add.Tensor(%x, (-0-0j)) : c64[2, 3]"},
      {"Imaginary", "%y = aten.add.Tensor(%x, -infj) : c64[2, 3]"},
      {"ComplexNan", "%y = aten.add.Tensor(%x, (nan+nanj)) : c64[2, 3]"},
      {"SeveralResults", "%v, %n = aten.topk.default(%x, 2) : f32[2, 2], i64[2, 2]"},
      {"ListResult", "[%a, %b] = aten.split.Tensor(%x, 1) : f32[1, 3], f32[1, 3] offset [3]"},
      {"EmptyListResult", "[] = aten.split.Tensor(%x, 1)"},
      {"NodeName", "%v, %n = aten.topk.default(%x, 2) : f32[2, 2], i64[2, 2] name \"topk\""},
      {"NoResult", "aten._assert_async.msg(%x, \"no\")"},
      {"Strides", "%y = aten.t.default(%x) : f32[3, 2] strides [1, 3]"},
      {"AllOfATensor",
       "%y = aten.t.default(%x) : f8e4m3fn[3] strides [0] offset [4] device meta layout sparse_coo "
       "requires_grad"},
      {"ZeroSize", "%y = aten.relu.default(%x) : f32[0, 3]"},
      {"Scalar", "%y = aten.sum.default(%x) : f32[]"},
      {"UnknownType", "%y = \"torch.ops.my.op.default\"(%x) : unknown"},
      {"NoneType", "%y = \"torch.ops.my.op.default\"(%x) : None"},
      {"ObjectType", "%y = \"torch.ops.my.op.default\"(%x) : object \"a.B\""},
      {"TokenType", "%y = \"torch.ops.my.op.default\"(%x) : token"},
      {"SymWithoutExpression", "%y = \"torch.ops.my.op.default\"(%x) : int"},
      {"SymConstant", "%y = aten.sym_size.int(%x, 0) : int = 2"},
      {"GetAttr", "%y = get_attr \"weird name\" : f32[2]"},
      {"Opaque",
       "%y = \"#my:op\"(self: %x, %i, 1, scale=2.0, \"odd name\"=[True, False]) : f32[2]"},
      {"OpaqueKeywordFirst", "%y = \"#my:op\"(k=1, \"a b\": %x, f: cpu, cuda:0) : f32[2]"},
      {"NestedLists",
       "%y = \"#my:op\"([[1, 2], [], [[%x], None]], [\"a\", \"b\"], [1, 2.5], [1.0, nan]) : "
       "f32[2]"},
      {"OpArgument",
       "%y = \"#my:op\"(aten.add_.Tensor, op \"#my:other\", object(\"n\", \"c\")) : f32[2]"},
      {"UnknownEnums",
       "%y = \"#my:op\"(unknown_dtype, unknown_layout, unknown_memory_format) : unknown[2]"},
      {"OpaqueGroups", "%a, [%b, %c], [] = \"#my:op\"(%x) : f32[2], f32[2], f32[2]"},
      {"QuotedNames", "%\"a b\" = aten.relu.default(%x) : f32[2, 3]"},
      {"ExtraKeywords",
       "%y = higher_order.auto_functionalized(aten.add_.Tensor, self=%x, other=%i) -> tuple : "
       "f32[2]"},
      {"ReturnNothing", "return"},
      {"ReturnRoles",
       "return buffer_mutation \"a.b\" %x, input_mutation \"x\" %x, output %i, output None, output "
       "3, output \"s\""},
      {"ReturnLoss",
       "return loss %x, param_gradient \"w\" %x, input_gradient \"x\" %i, token %x, param_mutation "
       "\"w\" %x"},
      {"ReturnConstants", "return 1, 2, 3"},
      {"ReturnStrings", "return output \"a\", output \"b\""},
  };
  std::vector<Case> cases;
  for (const auto& [name, statement] : statements) cases.push_back({name, with(statement)});
  return cases;
}

std::vector<Case> graph_cases() {
  return {
      {"Empty", "graph forward() {\n}\n"},
      {"OddName", "graph \"a b\"() {\n  return\n}\n"},
      {"Roles",
       "graph forward(\n"
       "    %w: param \"lin.weight\" f32[32, 16],\n"
       "    %b: buffer \"b\" non_persistent f32[32],\n"
       "    %c: constant \"c\" f32[],\n"
       "    %o: object \"o\" object \"my.Class\",\n"
       "    %t: token token,\n"
       "    %k: constant_input named \"k\" constant = 3.5,\n"
       "    %l: constant_input named \"l\" constant = None,\n"
       "    %s: input constant = \"text\",\n"
       "    %x: input f32[2]) {\n"
       "  return output %x\n"
       "}\n"},
      {"TypesThatAreRoles",
       "graph forward(%a: token, %b: constant, %c: object, %d: object \"x\") {\n  return %a\n}\n"},
      {"Symbols",
       "symbol s0 in [2, 64]\n"
       "symbol s1\n"
       "symbol u0 in [0, int_oo]\n"
       "symbol k (nonnegative=True, integer=True)\n"
       "graph forward(%x: f32[s0, 2*s1, 3], %y: i64[u0, k]) {\n"
       "  %n = aten.sym_size.int(%x, 0) : int = s0\n"
       "  %m = _operator.mul(%n, 2) : int = 2*s0\n"
       "  %o = _operator.add(%m, 1) : int = (2*s0 + 1)\n"
       "  %p = _operator.floordiv(%n, 2) : int = s0//2\n"
       "  return %o\n"
       "}\n"},
      {"NestedGraphs",
       "graph forward(%p: b8[], %x: f32[3]) {\n"
       "  %y = higher_order.cond(\n"
       "    %p,\n"
       "    graph true_graph_0(%x: f32[3]) {\n"
       "      %add = aten.add.Tensor(%x, 1) : f32[3]\n"
       "      return %add\n"
       "    },\n"
       "    graph false_graph_0(%x: f32[3]) -> Tensor {\n"
       "      return %x\n"
       "    },\n"
       "    [%x]) -> tuple : f32[3]\n"
       "  return %y\n"
       "}\n"},
      {"Sources",
       "graph forward(%x: f32[3] loc 0) {\n"
       "  %y = aten.relu.default(%x) : f32[3] loc 1\n"
       "  %z = aten.relu.default(%y) : f32[3] loc 0\n"
       "  return %z loc 2\n"
       "}\n"
       "\n"
       "loc 0 {\n"
       "  stack_trace:\n"
       "    \"File \\\"m.py\\\", line 1, in f\\n\"\n"
       "    \"    x = 1\"\n"
       "  key \"odd key\": \"v\"\n"
       "  key: \"w\"\n"
       "}\n"
       "\n"
       "loc 1 {\n"
       "  torch_fn: \"relu_1;method\"\n"
       "  unknown_fields = \"{\\\"a\\\": 1}\"\n"
       "}\n"
       "\n"
       "loc 2 {\n"
       "}\n"},
      {"UnknownFields",
       "graph forward(%x: f32[3]) -> Tensor unknown_fields \"{\\\"a\\\": 1}\" {\n  return %x\n}\n"},
  };
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Statements, RoundTrip, ::testing::ValuesIn(statement_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Graphs, RoundTrip, ::testing::ValuesIn(graph_cases()), case_name);

TEST(TextParser, TakesWhatIsShorterThanItPrints) {
  EXPECT_EQ(reprint("// RUN: winze %s\n// CHECK: nothing\n"
                    "graph forward(%x:input f32[s0,3]){ // an input\n"
                    "%y=aten.add.Tensor(self=%x,other=1,alpha=1):float32[s0,3] %z = aten.relu(%y) "
                    ": f32[s0, 3] return %z }"),
            "symbol s0\n"
            "graph forward(%x: input f32[s0, 3]) {\n"
            "  %y = aten.add.Tensor(%x, 1) : f32[s0, 3]\n"
            "  %z = aten.relu.default(%y) : f32[s0, 3]\n"
            "  return %z\n"
            "}\n");
}

TEST(TextParser, TakesAnOperatorOfAnUnknownNamespaceAsOpaque) {
  EXPECT_THAT(reprint(with("%y = mylib.op(%x, k=2) : f32[2]")),
              HasSubstr("%y = \"torch.ops.mylib.op.default\"(%x, k=2) : f32[2]"));
}

TEST(TextParser, TakesTorchsOwnSpellings) {
  EXPECT_THAT(
      reprint(with(
          "%y = torch.ops.aten.clone.default(%x, memory_format=torch.channels_last) : f32[2]")),
      HasSubstr("%y = aten.clone.default(%x, memory_format=channels_last) : f32[2]"));
}

TEST(TextParser, NestedGraphsSeeOnlyTheirOwnValues) {
  EXPECT_THAT(
      error_of(
          with("%y = higher_order.wrap(graph g(%a: f32[2]) { return %x }, %x) -> tuple : f32[2]")),
      HasSubstr("%x is not defined here"));
}

TEST(TextParser, SaysWhatWasExpected) {
  EXPECT_EQ(
      error_of("graph forward(%x: f32[2]) {\n  %y = aten.add.Tensor(%x, 1 : f32[2]\n}\n"),
      "t.wz:2:30: error: expected ')' or ',' after an argument of aten.add.Tensor, found \":\"\n"
      "      %y = aten.add.Tensor(%x, 1 : f32[2]\n"
      "                                 ^");
  EXPECT_THAT(error_of(with("%y aten.relu.default(%x) : f32[2]")),
              HasSubstr("expected '=' after the results of a call"));
  EXPECT_THAT(error_of(with("%y = aten.relu.default(%x)")),
              HasSubstr("expected ':' before the types of the results, found \"}\""));
  EXPECT_THAT(error_of(with("%y = aten.relu.default(%x) : g32[2]")),
              HasSubstr("expected a type such as f32[2, 3]"));
  EXPECT_THAT(error_of("graph forward("),
              HasSubstr("expected '%' before the name of a value, found the end of the text"));
  EXPECT_THAT(error_of("grap forward() {}"),
              HasSubstr("expected 'graph', 'symbol' or 'device', found \"grap\""));
  EXPECT_THAT(error_of(""), HasSubstr("expected 'graph', found the end of the text"));
}

TEST(TextParser, NamesTheNearestOperator) {
  const std::string message = error_of(with("%y = aten.add.Tensr(%x, 1) : f32[2]"));
  EXPECT_THAT(message, HasSubstr("t.wz:2:8: error: operator \"aten.add.Tensr\" is not known"));
  EXPECT_THAT(message, HasSubstr("did you mean aten.add.Tensor"));
}

TEST(TextParser, NamesTheNearestValue) {
  const std::string message = error_of(with("%y = aten.relu.default(%xs) : f32[2]"));
  EXPECT_THAT(message, HasSubstr("%xs is not defined here"));
  EXPECT_THAT(message, HasSubstr("did you mean %x?"));
}

TEST(TextParser, RefusesANameDefinedTwice) {
  EXPECT_THAT(error_of(with("%x = aten.relu.default(%x) : f32[2]")),
              HasSubstr("t.wz:2:3: error: %x is defined twice"));
  EXPECT_THAT(error_of("graph f(%0: f32[2], %0: f32[2]) {}"), HasSubstr("%0 is defined twice"));
}

TEST(TextParser, ChecksArgumentsAgainstTheSchema) {
  EXPECT_THAT(
      error_of(with("%y = aten.relu.default(%x, 1) : f32[2]")),
      HasSubstr("t.wz:2:30: error: aten.relu.default takes at most 1 argument by position"));
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x) : f32[2]")),
              HasSubstr("argument 1 (\"other\") of aten.add.Tensor is missing"));
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x, 1, other=2) : f32[2]")),
              HasSubstr("argument \"other\" of aten.add.Tensor is given twice"));
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x, 1, alpa=2) : f32[2]")),
              HasSubstr("aten.add.Tensor has no argument \"alpa\""));
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x, 1, alpa=2) : f32[2]")),
              HasSubstr("did you mean \"alpha\"?"));
  EXPECT_THAT(
      error_of(with("%y = aten.relu.default(\"a\") : f32[2]")),
      HasSubstr("t.wz:2:8: error: argument 0 (\"self\") of aten.relu.default takes Tensor"));
  EXPECT_THAT(error_of(with("%y, %z = aten.relu.default(%x) : f32[2], f32[2]")),
              HasSubstr("aten.relu.default yields 1 value"));
}

TEST(TextParser, ChecksWhatFollowsAStar) {
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x, *, 1) : f32[2]")),
              HasSubstr("t.wz:2:31: error: an argument after '*' is given by name"));
  EXPECT_THAT(error_of(with("%y = aten.add.Tensor(%x, *, other=1, *, alpha=2) : f32[2]")),
              HasSubstr("t.wz:2:40: error: a second '*'"));
  EXPECT_THAT(error_of(with("%y = aten.relu.default(%x, *) : f32[2]")),
              HasSubstr("',' and an argument by name after '*'"));
  EXPECT_THAT(error_of(with("%y = \"#my:op\"(%x, *, k=1) : f32[2]")),
              HasSubstr("an operator that is not known has no '*'"));
}

TEST(TextParser, RefusesWordsThatAreNoArguments) {
  EXPECT_THAT(error_of(with("%y = aten.clone.default(%x, memory_format=chanels_last) : f32[2]")),
              HasSubstr("\"chanels_last\" is not an argument"));
  EXPECT_THAT(error_of(with("%y = aten.relu.default(%x) : f32[2] device npu")),
              HasSubstr("\"npu\" is not a device that PyTorch knows"));
}

TEST(TextParser, RefusesUndeclaredSymbols) {
  EXPECT_THAT(error_of("graph f(%x: f32[n]) {}"), HasSubstr("t.wz:1:17"));
  EXPECT_THAT(error_of("symbol s0 in [5, 2]\ngraph f() {}"), HasSubstr("the range is empty"));
  EXPECT_THAT(error_of("symbol s0 in [0, 0]\ngraph f() {}"),
              HasSubstr("t.wz:1:1: error: the range [0, 0]"));
  EXPECT_THAT(error_of("symbol s0 (odd)\ngraph f() {}"),
              HasSubstr("expected '=' after an assumption"));
  EXPECT_THAT(error_of("symbol s0 (od=True)\ngraph f() {}"),
              HasSubstr("\"od\" is not an assumption of sympy"));
}

TEST(TextParser, PointsIntoExpressions) {
  EXPECT_THAT(error_of("graph f(%x: f32[2, s0 +* 2]) {}"), HasSubstr("t.wz:1:2"));
}

TEST(TextParser, RefusesSourcesThatAreNotThere) {
  EXPECT_THAT(error_of("graph f(%x: f32[2] loc 3) {\n}\n"),
              HasSubstr("t.wz:1:23: error: source 3 is not in the text"));
  EXPECT_THAT(error_of("graph f() {\n}\nloc 0 {}\nloc 0 {}"),
              HasSubstr("t.wz:4:5: error: source 0 is in the text twice"));
  EXPECT_THAT(error_of("graph f() {\n}\nloc 4000000000 {}"),
              HasSubstr("source 4000000000 is out of order"));
}

TEST(TextParser, RefusesStatementsBehindTheReturn) {
  EXPECT_THAT(error_of(with("return %x\n  %y = aten.relu.default(%x) : f32[2]")),
              HasSubstr("expected '}' after the return of the graph"));
}

TEST(TextParser, BoundsNesting) {
  EXPECT_THAT(
      error_of(with("%y = \"op\"(" + std::string(100, '[') + std::string(100, ']') + ") : f32[2]")),
      HasSubstr("lists nest deeper than 64"));
  std::string graphs;
  for (int depth = 0; depth < 100; ++depth) graphs += "graph g() { higher_order.wrap(";
  EXPECT_THAT(error_of(graphs), HasSubstr("graphs nest deeper than 64"));
}

TEST(TextParser, BoundsArgumentsAndResults) {
  std::string arguments = "1";
  std::string results = "%a0";
  for (int index = 1; index < 70'000; ++index) {
    arguments += ",1";
    results += ",%a" + std::to_string(index);
  }
  EXPECT_THAT(error_of(with("\"op\"(" + arguments + ")")),
              HasSubstr("a call has more than 65535 arguments"));
  EXPECT_THAT(error_of(with(results + " = \"op\"()")),
              HasSubstr("a call has more than 65535 results"));
}

TEST(TextParser, GivesNodesTheirSources) {
  Context context;
  const auto graph = parse_graph(
      context,
      "graph f(%x: f32[2]) {\n  %y = aten.relu(%x) : f32[2] loc 0\n}\nloc 0 { torch_fn: \"a\" }");
  const SourceInfo& info = context.source_info(graph->last().source());
  ASSERT_EQ(info.entries.size(), 1U);
  EXPECT_EQ(context.text(info.entries[0].value), "a");
}

}  // namespace
}  // namespace winze
