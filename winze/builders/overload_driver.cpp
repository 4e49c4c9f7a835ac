// SPDX-License-Identifier: Apache-2.0
// Makes calls by builders and prints for each the call as Python spells it, a tab, and the overload
// that was chosen: overload_test.py asks PyTorch which it chooses.
#include <iterator>

#include <fmt/format.h>

#include "winze/builders/aten.h"
#include "winze/program/program_text.h"

namespace winze {
namespace {

constexpr std::string_view program_text = R"(
graph f(%x: input f32[4, 4], %y: input f32[4, 4], %i: input i64[4, 4], %m: input b8[4, 4],
        %z: input f32[], %image: input f32[2, 3, 8, 8], %kernel: input f32[5, 3, 2, 2]) {
  %n = aten.sym_size.int(%x, 0) : int = 4
  return
}
)";

struct Inputs {
  Value x, y, i, m, z, image, kernel, n;
};

struct Sample {
  std::string_view python;
  void (*build)(Graph& g, const Inputs& v);
};

constexpr Sample samples[] = {
    {"torch.add(x, y)", [](Graph& g, const Inputs& v) { aten::add(g, v.x, v.y); }},
    {"torch.add(x, 1)", [](Graph& g, const Inputs& v) { aten::add(g, v.x, 1); }},
    {"torch.add(x, y, alpha=2)",
     [](Graph& g, const Inputs& v) { aten::add(g, v.x, v.y, {.alpha = 2}); }},
    {"x.add_(y)", [](Graph& g, const Inputs& v) { aten::add_(g, v.x, v.y); }},
    {"x.add_(1.5)", [](Graph& g, const Inputs& v) { aten::add_(g, v.x, 1.5); }},
    {"torch.add(x, n)", [](Graph& g, const Inputs& v) { aten::add(g, v.x, v.n); }},
    {"torch.sub(x, 2)", [](Graph& g, const Inputs& v) { aten::sub(g, v.x, 2); }},
    {"torch.mul(x, True)", [](Graph& g, const Inputs& v) { aten::mul(g, v.x, true); }},
    {"torch.mul(x, z)", [](Graph& g, const Inputs& v) { aten::mul(g, v.x, v.z); }},
    {"torch.div(x, 2)", [](Graph& g, const Inputs& v) { aten::div(g, v.x, 2); }},
    {"torch.div(x, y, rounding_mode='floor')",
     [](Graph& g, const Inputs& v) { aten::div(g, v.x, v.y, {.rounding_mode = "floor"}); }},
    {"torch.div(x, 2, rounding_mode=None)",
     [](Graph& g, const Inputs& v) { aten::div(g, v.x, 2, {.rounding_mode = std::nullopt}); }},
    {"torch.true_divide(x, 2)", [](Graph& g, const Inputs& v) { aten::true_divide(g, v.x, 2); }},
    {"torch.floor_divide(x, 2)", [](Graph& g, const Inputs& v) { aten::floor_divide(g, v.x, 2); }},
    {"torch.rsub(x, 2)", [](Graph& g, const Inputs& v) { aten::rsub(g, v.x, 2); }},
    {"torch.rsub(x, y)", [](Graph& g, const Inputs& v) { aten::rsub(g, v.x, v.y); }},
    {"torch.remainder(x, 2)", [](Graph& g, const Inputs& v) { aten::remainder(g, v.x, 2); }},
    {"torch.remainder(2, x)", [](Graph& g, const Inputs& v) { aten::remainder(g, 2, v.x); }},
    {"torch.remainder(x, y)", [](Graph& g, const Inputs& v) { aten::remainder(g, v.x, v.y); }},
    {"torch.fmod(x, 2)", [](Graph& g, const Inputs& v) { aten::fmod(g, v.x, 2); }},
    {"torch.pow(x, 2)", [](Graph& g, const Inputs& v) { aten::pow(g, v.x, 2); }},
    {"torch.pow(2, x)", [](Graph& g, const Inputs& v) { aten::pow(g, 2, v.x); }},
    {"torch.pow(x, y)", [](Graph& g, const Inputs& v) { aten::pow(g, v.x, v.y); }},
    {"torch.pow(n, x)", [](Graph& g, const Inputs& v) { aten::pow(g, v.n, v.x); }},
    {"torch.eq(x, 1)", [](Graph& g, const Inputs& v) { aten::eq(g, v.x, 1); }},
    {"torch.eq(x, y)", [](Graph& g, const Inputs& v) { aten::eq(g, v.x, v.y); }},
    {"torch.eq(x, n)", [](Graph& g, const Inputs& v) { aten::eq(g, v.x, v.n); }},
    {"torch.lt(x, 0.5)", [](Graph& g, const Inputs& v) { aten::lt(g, v.x, 0.5); }},
    {"torch.bitwise_and(i, 1)", [](Graph& g, const Inputs& v) { aten::bitwise_and(g, v.i, 1); }},
    {"torch.bitwise_and(1, i)", [](Graph& g, const Inputs& v) { aten::bitwise_and(g, 1, v.i); }},
    {"torch.bitwise_or(i, i)", [](Graph& g, const Inputs& v) { aten::bitwise_or(g, v.i, v.i); }},
    {"torch.xlogy(x, 2)", [](Graph& g, const Inputs& v) { aten::xlogy(g, v.x, 2); }},
    {"torch.xlogy(2, x)", [](Graph& g, const Inputs& v) { aten::xlogy(g, 2, v.x); }},
    {"torch.lerp(x, y, 0.5)", [](Graph& g, const Inputs& v) { aten::lerp(g, v.x, v.y, 0.5); }},
    {"torch.lerp(x, y, y)", [](Graph& g, const Inputs& v) { aten::lerp(g, v.x, v.y, v.y); }},
    {"torch.where(m, x, y)", [](Graph& g, const Inputs& v) { aten::where(g, v.m, v.x, v.y); }},
    {"torch.where(m, x, 2.0)", [](Graph& g, const Inputs& v) { aten::where(g, v.m, v.x, 2.0); }},
    {"torch.where(m, 2.0, x)", [](Graph& g, const Inputs& v) { aten::where(g, v.m, 2.0, v.x); }},
    {"torch.where(m, 1, 2)", [](Graph& g, const Inputs& v) { aten::where(g, v.m, 1, 2); }},
    {"torch.masked_fill(x, m, 1)",
     [](Graph& g, const Inputs& v) { aten::masked_fill(g, v.x, v.m, 1); }},
    {"torch.masked_fill(x, m, z)",
     [](Graph& g, const Inputs& v) { aten::masked_fill(g, v.x, v.m, v.z); }},
    {"torch.fill(x, 1)", [](Graph& g, const Inputs& v) { aten::fill(g, v.x, 1); }},
    {"torch.clamp(x, 0, 1)",
     [](Graph& g, const Inputs& v) { aten::clamp(g, v.x, {.min = 0, .max = 1}); }},
    {"torch.clamp(x, max=1)", [](Graph& g, const Inputs& v) { aten::clamp(g, v.x, {.max = 1}); }},
    {"torch.clamp(x, x, y)",
     [](Graph& g, const Inputs& v) { aten::clamp(g, v.x, {.min = v.x, .max = v.y}); }},
    {"torch.clamp_min(x, 0)", [](Graph& g, const Inputs& v) { aten::clamp_min(g, v.x, 0); }},
    {"x.copy_(y)", [](Graph& g, const Inputs& v) { aten::copy_(g, v.x, v.y); }},
    {"x.copy_(1)", [](Graph& g, const Inputs& v) { aten::copy_(g, v.x, 1); }},
    {"torch.sum(x)", [](Graph& g, const Inputs& v) { aten::sum(g, v.x); }},
    {"torch.sum(x, dtype=torch.float64)",
     [](Graph& g, const Inputs& v) { aten::sum(g, v.x, {.dtype = ScalarType::float64}); }},
    {"torch.sum(x, 1)", [](Graph& g, const Inputs& v) { aten::sum(g, v.x, {.dim = 1}); }},
    {"torch.sum(x, (0, 1), keepdim=True)",
     [](Graph& g, const Inputs& v) { aten::sum(g, v.x, {.dim = {0, 1}, .keepdim = true}); }},
    {"torch.mean(x)", [](Graph& g, const Inputs& v) { aten::mean(g, v.x); }},
    {"torch.mean(x, 1)", [](Graph& g, const Inputs& v) { aten::mean(g, v.x, {.dim = 1}); }},
    {"torch.prod(x, 1)", [](Graph& g, const Inputs& v) { aten::prod(g, v.x, {.dim = 1}); }},
    {"torch.std(x)", [](Graph& g, const Inputs& v) { aten::std(g, v.x); }},
    {"torch.std(x, unbiased=False)",
     [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.unbiased = false}); }},
    {"torch.std(x, dim=1)", [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.dim = 1}); }},
    {"torch.std(x, dim=1, keepdim=True)",
     [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.dim = 1, .keepdim = true}); }},
    {"torch.std(x, dim=1, unbiased=False)",
     [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.dim = 1, .unbiased = false}); }},
    {"torch.std(x, correction=0)",
     [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.correction = 0}); }},
    {"torch.std(x, keepdim=True)",
     [](Graph& g, const Inputs& v) { aten::std(g, v.x, {.keepdim = true}); }},
    {"torch.var_mean(x)", [](Graph& g, const Inputs& v) { aten::var_mean(g, v.x); }},
    {"torch.var_mean(x, dim=1)",
     [](Graph& g, const Inputs& v) { aten::var_mean(g, v.x, {.dim = 1}); }},
    {"torch.any(m)", [](Graph& g, const Inputs& v) { aten::any(g, v.m); }},
    {"torch.any(m, 1)", [](Graph& g, const Inputs& v) { aten::any(g, v.m, {.dim = 1}); }},
    {"torch.any(m, (1,))", [](Graph& g, const Inputs& v) { aten::any(g, v.m, {.dim = {1}}); }},
    {"torch.any(m, keepdim=True)",
     [](Graph& g, const Inputs& v) { aten::any(g, v.m, {.keepdim = true}); }},
    {"torch.count_nonzero(x)", [](Graph& g, const Inputs& v) { aten::count_nonzero(g, v.x); }},
    {"torch.count_nonzero(x, dim=1)",
     [](Graph& g, const Inputs& v) { aten::count_nonzero(g, v.x, {.dim = 1}); }},
    {"torch.count_nonzero(x, dim=(0, 1))",
     [](Graph& g, const Inputs& v) { aten::count_nonzero(g, v.x, {.dim = {0, 1}}); }},
    {"torch.max(x)", [](Graph& g, const Inputs& v) { aten::max(g, v.x); }},
    {"torch.max(x, 1)", [](Graph& g, const Inputs& v) { aten::max(g, v.x, {.dim = 1}); }},
    {"torch.max(x, y)", [](Graph& g, const Inputs& v) { aten::max(g, v.x, v.y); }},
    {"torch.median(x)", [](Graph& g, const Inputs& v) { aten::median(g, v.x); }},
    {"torch.median(x, 1)", [](Graph& g, const Inputs& v) { aten::median(g, v.x, {.dim = 1}); }},
    {"torch.sort(x)", [](Graph& g, const Inputs& v) { aten::sort(g, v.x); }},
    {"torch.sort(x, dim=0)", [](Graph& g, const Inputs& v) { aten::sort(g, v.x, {.dim = 0}); }},
    {"torch.sort(x, stable=True)",
     [](Graph& g, const Inputs& v) { aten::sort(g, v.x, {.stable = true}); }},
    {"torch.argsort(x, dim=0)",
     [](Graph& g, const Inputs& v) { aten::argsort(g, v.x, {.dim = 0}); }},
    {"torch.round(x)", [](Graph& g, const Inputs& v) { aten::round(g, v.x); }},
    {"torch.round(x, decimals=2)",
     [](Graph& g, const Inputs& v) { aten::round(g, v.x, {.decimals = 2}); }},
    {"torch.squeeze(x)", [](Graph& g, const Inputs& v) { aten::squeeze(g, v.x); }},
    {"torch.squeeze(x, 1)", [](Graph& g, const Inputs& v) { aten::squeeze(g, v.x, {.dim = 1}); }},
    {"torch.squeeze(x, (0,))",
     [](Graph& g, const Inputs& v) { aten::squeeze(g, v.x, {.dim = {0}}); }},
    {"torch.split(x, 2)",
     [](Graph& g, const Inputs& v) { aten::split(g, v.x, {.split_size = 2}); }},
    {"x.view(2, 8)", [](Graph& g, const Inputs& v) { aten::view(g, v.x, {.size = {2, 8}}); }},
    {"x.view(torch.int32)",
     [](Graph& g, const Inputs& v) { aten::view(g, v.x, {.dtype = ScalarType::int32}); }},
    {"x.to(torch.float16)",
     [](Graph& g, const Inputs& v) { aten::to(g, v.x, {.dtype = ScalarType::float16}); }},
    {"x.to('cpu', torch.float16)",
     [](Graph& g, const Inputs& v) {
       aten::to(g, v.x, {.dtype = ScalarType::float16, .device = Device{}});
     }},
    {"torch.transpose(x, 0, 1)",
     [](Graph& g, const Inputs& v) { aten::transpose(g, v.x, {.dim0 = 0, .dim1 = 1}); }},
    {"torch.select(x, 0, 1)",
     [](Graph& g, const Inputs& v) { aten::select(g, v.x, {.dim = 0, .index = 1}); }},
    {"torch.arange(5)", [](Graph& g, const Inputs&) { aten::arange(g, 5); }},
    {"torch.arange(0, 5)", [](Graph& g, const Inputs&) { aten::arange(g, 0, 5); }},
    {"torch.arange(0, 5, dtype=torch.float32)",
     [](Graph& g, const Inputs&) { aten::arange(g, 0, 5, {.dtype = ScalarType::float32}); }},
    {"torch.arange(0, 5, 2)", [](Graph& g, const Inputs&) { aten::arange(g, 0, 5, {.step = 2}); }},
    {"torch.linspace(0, 1, 5)",
     [](Graph& g, const Inputs&) { aten::linspace(g, 0, 1, {.steps = 5}); }},
    {"torch.linspace(z, 1, 5)",
     [](Graph& g, const Inputs& v) { aten::linspace(g, v.z, 1, {.steps = 5}); }},
    {"torch.bernoulli(x)", [](Graph& g, const Inputs& v) { aten::bernoulli(g, v.x); }},
    {"torch.bernoulli(x, 0.5)",
     [](Graph& g, const Inputs& v) { aten::bernoulli(g, v.x, {.p = 0.5}); }},
    {"torch.searchsorted(x[0], 0.5)",
     [](Graph& g, const Inputs& v) {
       aten::searchsorted(g, aten::select(g, v.x, {.dim = 0, .index = 0}), 0.5);
     }},
    {"torch.scatter(x, 0, i, y)",
     [](Graph& g, const Inputs& v) {
       aten::scatter(g, v.x, {.dim = 0, .index = v.i, .src = v.y});
     }},
    {"torch.scatter(x, 0, i, 1.0)",
     [](Graph& g, const Inputs& v) {
       aten::scatter(g, v.x, {.dim = 0, .index = v.i, .value = 1.0});
     }},
    {"torch.scatter(x, 0, i, y, reduce='add')",
     [](Graph& g, const Inputs& v) {
       aten::scatter(g, v.x, {.dim = 0, .index = v.i, .src = v.y, .reduce = "add"});
     }},
    {"torch.index_fill(x, 0, i[0], 1.0)",
     [](Graph& g, const Inputs& v) {
       const Value index = aten::select(g, v.i, {.dim = 0, .index = 0});
       aten::index_fill(g, v.x, {.dim = 0, .index = index, .value = 1.0});
     }},
    {"torch.conv2d(image, kernel)",
     [](Graph& g, const Inputs& v) { aten::conv2d(g, v.image, v.kernel); }},
    {"torch.nn.functional.conv2d(image, kernel, padding='same')",
     [](Graph& g, const Inputs& v) { aten::conv2d(g, v.image, v.kernel, {.padding = "same"}); }},
    {"torch.nn.functional.interpolate(image, scale_factor=2)",
     [](Graph& g, const Inputs& v) {
       aten::upsample_nearest2d(g, v.image,
                                {.output_size = std::nullopt, .scale_factors = {{2.0, 2.0}}});
     }},
    {"torch.add(x, y, out=y)",
     [](Graph& g, const Inputs& v) { aten::add(g, v.x, v.y, {.out = v.y}); }},
    {"torch.sum(x, 1, out=z)",
     [](Graph& g, const Inputs& v) { aten::sum(g, v.x, {.dim = 1, .out = v.z}); }},
};

/// The overload of the last call that was made, or of the one that its rule refused.
std::string chosen(Graph& graph, const Inputs& inputs, const Sample& sample) {
  const Node before = graph.last();
  try {
    sample.build(graph, inputs);
  } catch (const Error& error) {
    return error.diagnostic().node.substr(0, error.diagnostic().node.find('('));
  }
  return graph.last() == before ? "none" : std::string(graph.last().target());
}

int run() {
  for (const Sample& sample : samples) {
    Context context;
    const ExportedProgram program = parse_program(context, program_text);
    Graph& graph = *program.graph;
    graph.output_node().erase();
    std::vector<Value> values;
    for (const Node node : graph.nodes()) values.push_back(node.value());
    const Inputs inputs{values[0], values[1], values[2], values[3],
                        values[4], values[5], values[6], values[7]};
    fmt::print("{}\t{}\n", sample.python, chosen(graph, inputs, sample));
  }
  return 0;
}

}  // namespace
}  // namespace winze

int main() {
  return winze::run();
}
