// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/program_stats.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/effects/call_arguments.h"
#include "winze/effects/call_effects.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

struct Row {
  std::string name;
  std::uint64_t count = 0;
  std::string more;
};

/// The rows of the table below its heading, largest first, equal ones by name.
std::string table(std::string_view heading, std::vector<Row> rows) {
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  std::string text = fmt::format("{}\n", heading);
  for (const Row& row : rows) {
    text += fmt::format("  {:>9}  {}", row.count, row.name);
    text += row.more.empty() ? "\n" : fmt::format("  {}\n", row.more);
  }
  return text;
}

/// Counts words and gives them as rows.
class Tally {
 public:
  void add(std::string_view name) { ++counts_[std::string(name)]; }
  [[nodiscard]] std::vector<Row> rows() const {
    std::vector<Row> rows;
    rows.reserve(counts_.size());
    for (const auto& [name, count] : counts_) rows.push_back({name, count, {}});
    return rows;
  }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

std::string operators_text(const std::vector<Graph*>& graphs, const Context& context) {
  std::vector<std::uint64_t> calls(context.ops().size());
  std::uint64_t total = 0;
  for (const Graph* graph : graphs) {
    for (const Node node : graph->nodes()) {
      if (!node.is_call()) continue;
      ++calls[context.ops().get(node.op()).base.index];
      ++total;
    }
  }
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i] > 0)
      rows.push_back({std::string(context.ops().qualified_name(OpId{i})), calls[i], {}});
  }
  return table(fmt::format("{} of {}", plural(total, "call"), plural(rows.size(), "operator")),
               rows);
}

std::string effects_text(const std::vector<Graph*>& graphs, const Context& context) {
  CallEffects effects(context);
  Tally tally;
  std::uint64_t impure = 0;
  for (const Graph* graph : graphs) {
    for (const Node node : graph->nodes()) {
      const CallFacts facts = effects.facts(node);
      if (facts.is_impure()) ++impure;
      if (facts.writes) tally.add("write storage that they were given");
      if (facts.changes_metadata) tally.add("change sizes or strides in place");
      if (facts.is_random) tally.add("draw random numbers");
      if (facts.is_unknown) tally.add("are of operators that are not known: may do anything");
      if (facts.ordering == Ordering::assertion) tally.add("assert");
      if (facts.ordering == Ordering::output) tally.add("print or log");
      if (facts.ordering == Ordering::collective) tally.add("communicate");
      if (facts.ordering == Ordering::global_state) tally.add("change state outside the graph");
    }
  }
  return table(fmt::format("{} with effects", plural(impure, "call")), tally.rows());
}

std::string roles_text(const ExportedProgram& program) {
  const Context& context = program.context();
  Tally inputs;
  std::uint64_t input_count = 0;
  for (const Node placeholder : program.graph->placeholders()) {
    ++input_count;
    const Argument spec = placeholder.argument(0);
    inputs.add(spec.kind() == ArgumentKind::input_spec ? name_of(context.input_spec_of(spec).kind)
                                                       : "without a role");
  }
  std::string text = table(plural(input_count, "input"), inputs.rows());
  Tally outputs;
  std::uint64_t output_count = 0;
  if (const Node output = program.graph->output_node()) {
    for_each_leaf(output, output.argument(1), [&](const Argument& spec) {
      if (spec.kind() != ArgumentKind::output_spec) return;
      ++output_count;
      outputs.add(name_of(context.output_spec_of(spec).kind));
    });
  }
  return text + table(plural(output_count, "output"), outputs.rows());
}

std::string weights_text(const ExportedProgram& program) {
  struct Group {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, Group> groups;
  std::vector<bool> seen(program.storages.size());
  std::uint64_t total_bytes = 0;
  for (const WeightTable* weights : {&program.state_dict, &program.constants}) {
    for (const Weight& weight : *weights) {
      const bool is_tensor = weight.kind == PayloadKind::tensor && weight.meta.valid();
      Group& group =
          groups[is_tensor
                     ? std::string(full_name(program.context().meta(weight.meta).tensor.dtype))
                     : "opaque"];
      ++group.count;
      if (!weight.storage.valid() || seen[weight.storage.index]) continue;
      seen[weight.storage.index] = true;  // bytes of a shared storage count once
      group.bytes += program.storage(weight).size;
      total_bytes += program.storage(weight).size;
    }
  }
  std::vector<Row> rows;
  rows.reserve(groups.size());
  for (const auto& [name, group] : groups)
    rows.push_back({name, group.count, bytes_text(group.bytes)});
  return table(fmt::format("{} in {}, {}",
                           plural(program.state_dict.size() + program.constants.size(), "weight"),
                           plural(program.storages.size(), "storage"), bytes_text(total_bytes)),
               rows);
}

std::string symbols_text(const ExportedProgram& program) {
  const std::vector<RangeConstraint>& ranges = program.range_constraints;
  std::string text = plural(ranges.size(), "symbol") + "\n";
  for (const RangeConstraint& range : ranges) {
    text += fmt::format("  {} in {}\n", range.symbol, range.interval());
  }
  return text;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1000 && unit + 1 < units.size()) {
    amount /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string program_stats(const ExportedProgram& program) {
  const std::vector<Graph*> graphs = program.graph->all_graphs();
  std::uint64_t nodes = 0;
  for (const Graph* graph : graphs) nodes += graph->size();
  std::string text = fmt::format("program {} of torch {}: {} in {}\n", program.name,
                                 program.torch_version.empty() ? "unknown" : program.torch_version,
                                 plural(nodes, "node"), plural(graphs.size(), "graph"));
  text += roles_text(program);
  text += operators_text(graphs, program.context());
  text += effects_text(graphs, program.context());
  text += weights_text(program);
  return text + symbols_text(program);
}

}  // namespace winze
