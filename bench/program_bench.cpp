// SPDX-License-Identifier: Apache-2.0
// What is done with a whole graph, and with the Llama that WINZE_BENCH_LLAMA names.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/rows.h"
#include "bench/sample_graph.h"
#include "winze/ir/text_parser.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/verifier.h"
#include "winze/pass/pass_manager.h"
#include "winze/passes/registration.h"
#include "winze/program/pt2_reader.h"
#include "winze/program/pt2_writer.h"
#include "winze/shape/meta_check.h"
#include "winze/support/atomic_file.h"

namespace winze::bench {
namespace {

void verify(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(winze::verify(*graph, VerifyLevel::schema));
  report_per_item(state, nodes_of(state));
}

void print_text(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(print_graph(*graph));
  report_per_item(state, nodes_of(state));
}

void parse_text(benchmark::State& state) {
  Context context;
  const std::string text = print_graph(*sample_graph(context, nodes_of(state)));
  for (auto _ : state) {
    std::unique_ptr<Graph> graph = parse_graph(context, text);
    state.PauseTiming();
    graph.reset();
    state.ResumeTiming();
  }
  report_per_item(state, nodes_of(state));
}

/// Runs passes without checks around them, so that a row shows the passes alone.
Report run_passes(ExportedProgram& program, std::string_view passes) {
  PassManagerOptions options;
  options.verify_each = VerifyEach::none;
  return PassManager(Pipeline::parse(passes, all_passes()), options).run(program);
}

void common_subexpressions(benchmark::State& state) {
  Context context;
  ExportedProgram program(context);
  program.graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_passes(program, "common-subexpressions"));
  }
  report_per_item(state, nodes_of(state));
}

/// The file to measure with; without one the row is skipped.
std::optional<std::string> llama(benchmark::State& state,
                                 const char* variable = "WINZE_BENCH_LLAMA") {
  const char* path = std::getenv(variable);
  if (path != nullptr) return path;
  state.SkipWithError(fmt::format("{} names no file", variable).c_str());
  return std::nullopt;
}

ExportedProgram read(Context& context, const std::string& path) {
  return read_pt2(context, map_file(path), {.file_name = path});
}

/// Infers the metas of every call anew, and compares.
void infer_all(benchmark::State& state, const ExportedProgram& program) {
  for (auto _ : state) {
    if (!verify_metas(program).empty()) state.SkipWithError("metas differ from what is recorded");
  }
  report_per_item(state, program.graph->size());
}

void infer_graph(benchmark::State& state) {
  Context context;
  ExportedProgram program(context);
  program.graph = sample_graph(context, nodes_of(state));
  infer_all(state, program);
}

void infer_llama_from(benchmark::State& state, const char* variable) {
  const std::optional<std::string> path = llama(state, variable);
  if (!path) return;
  Context context;
  infer_all(state, read(context, *path));
}

void infer_llama(benchmark::State& state) {
  infer_llama_from(state, "WINZE_BENCH_LLAMA_CORE");
}

void infer_llama_dynamic(benchmark::State& state) {
  infer_llama_from(state, "WINZE_BENCH_LLAMA_DYNAMIC");
}

void read_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama(state);
  if (!path) return;
  for (auto _ : state) {
    Context context;
    benchmark::DoNotOptimize(read(context, *path));
  }
}

void passes_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama(state);
  if (!path) return;
  for (auto _ : state) {
    state.PauseTiming();
    Context context;
    ExportedProgram program = read(context, *path);
    state.ResumeTiming();
    benchmark::DoNotOptimize(PassManager(Pipeline::parse("default", all_passes())).run(program));
  }
}

/// Measures `write` onto a path where no file is; taking away what it wrote is not counted.
template <typename Write>
void write_anew(benchmark::State& state, const std::string& beside, Write write) {
  const std::filesystem::path target = std::filesystem::path(beside).replace_extension(".copy");
  std::filesystem::remove(target);
  for (auto _ : state) {
    write(target.string());
    state.PauseTiming();
    std::filesystem::remove(target);
    state.ResumeTiming();
  }
}

void write_whole(const ExportedProgram& program, const std::string& target) {
  AtomicFile file(target);
  write_pt2(program, file, {});
  file.commit();
}

void write_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama(state);
  if (!path) return;
  Context context;
  const ExportedProgram program = read(context, *path);
  write_anew(state, *path, [&](const std::string& target) { write_whole(program, target); });
}

/// The whole job without start and exit of a process.
void lower_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama(state);
  if (!path) return;
  write_anew(state, *path, [&](const std::string& target) {
    Context context;
    ExportedProgram program = read(context, *path);
    PassManager(Pipeline::parse("default", all_passes())).run(program).throw_if_failed();
    write_whole(program, target);
  });
}

/// What writing is held against: the system copies the bytes of the same file.
void copy_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama(state);
  if (!path) return;
  write_anew(state, *path,
             [&](const std::string& target) { std::filesystem::copy_file(*path, target); });
}

BENCHMARK(verify)->Apply(both_sizes);
BENCHMARK(print_text)->Apply(both_sizes);
BENCHMARK(parse_text)->Apply(both_sizes);
BENCHMARK(common_subexpressions)->Apply(both_sizes);
BENCHMARK(infer_graph)->Apply(both_sizes);
BENCHMARK(infer_llama);
BENCHMARK(infer_llama_dynamic);
BENCHMARK(read_llama)->Apply(best_of_several);
BENCHMARK(passes_llama)->Apply(best_of_several);
BENCHMARK(write_llama)->Apply(best_of_several);
BENCHMARK(lower_llama)->Apply(best_of_several);
BENCHMARK(copy_llama)->Apply(best_of_several);

}  // namespace
}  // namespace winze::bench
