// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/alias_analysis.h"

#include <algorithm>
#include <tuple>

#include "winze/effects/call_arguments.h"
#include "winze/effects/higher_order_calls.h"
#include "winze/program/program.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

constexpr std::uint8_t flag_input = 1;
/// An input of the program, not just of a nested graph.
constexpr std::uint8_t flag_program_input = 32;
constexpr std::uint8_t flag_returned = 2;
constexpr std::uint8_t flag_written = 4;
constexpr std::uint8_t flag_metadata_changed = 8;
constexpr std::uint8_t flag_returned_repeatedly = 64;
/// Two written classes were merged: the order of their writes is not kept.
constexpr std::uint8_t flag_unordered = 16;

bool has_storage(Value value) {
  const ValueKind kind = value.meta().kind;
  return kind == ValueKind::tensor || kind == ValueKind::custom_object ||
         kind == ValueKind::unknown;
}

/// The values of a call that are result `index` of its schema: several for a list. All of them
/// where the schema leaves it open.
struct ResultValues {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

ResultValues values_of_result(Node call, const Schema& schema, std::uint32_t index) {
  const std::uint32_t all = call.value_count();
  const auto is_list = [](const SchemaReturn& result) { return result.type.is_list(); };
  if (schema.is_variadic_returns || index >= schema.returns.size()) return {0, all};
  if (std::none_of(schema.returns.begin(), schema.returns.end(), is_list)) {
    return all == schema.returns.size() ? ResultValues{index, 1} : ResultValues{0, all};
  }
  const ResultStructure* structure = call.graph().result_structure(call);
  if (structure == nullptr || structure->groups.size() != schema.returns.size()) return {0, all};
  ResultValues values;
  for (std::uint32_t i = 0; i <= index; ++i) {
    const std::int32_t group = structure->groups[i];
    values.first += values.count;
    values.count = group == ResultStructure::single ? 1 : static_cast<std::uint32_t>(group);
  }
  return values.first + values.count <= all ? values : ResultValues{0, all};
}

}  // namespace

AliasAnalysis::AliasAnalysis(Graph& root) : context_(&root.context()), effects_(root.context()) {
  build(root);
  settle();
}

AliasAnalysis::AliasAnalysis(const ExportedProgram& program)
    : context_(&program.context()), effects_(program.context()) {
  build(*program.graph);
  tsl::robin_map<std::uint32_t, Value> first_of_storage;
  for (Node placeholder : program.graph->placeholders()) {
    const Weight* weight = program.weight_of(placeholder);
    if (weight == nullptr || !weight->storage.valid()) continue;
    const auto [first, is_new] =
        first_of_storage.emplace(weight->storage.index, placeholder.value());
    if (!is_new) unite(first->second, placeholder.value());
  }
  settle();
}

void AliasAnalysis::build(Graph& root) {
  number_graphs(root);
  visit_graph(0);
}

void AliasAnalysis::number_graphs(Graph& root) {
  std::uint32_t next_value = 0;
  for (Graph* graph : root.all_graphs()) {
    GraphInfo info{.graph = graph,
                   .first_value = next_value,
                   .value_count = static_cast<std::uint32_t>(graph->value_capacity()),
                   .positions = {}};
    info.positions.resize(graph->node_capacity(), no_position);
    next_value += info.value_count;
    ordinals_.emplace(graph, static_cast<std::uint32_t>(graphs_.size()));
    graphs_.push_back(std::move(info));
  }
  parent_.resize(next_value);
  for (std::uint32_t i = 0; i < next_value; ++i) parent_[i] = i;
  flags_.resize(next_value, 0);
}

// Graphs nest at most as deep as the IR allows, so the recursion is bounded.
void AliasAnalysis::visit_graph(std::uint32_t ordinal) {
  Graph& graph = *graphs_[ordinal].graph;
  std::vector<std::uint32_t>& positions = graphs_[ordinal].positions;
  std::uint32_t position = 0;
  for (Node node : graph.nodes()) {
    positions[node.id().index] = position++;
    switch (node.kind()) {
      case NodeKind::placeholder:
        flags_[number_of(node.value())] |=
            ordinal == 0 ? flag_input | flag_program_input : flag_input;
        break;
      case NodeKind::get_attr:
        flags_[number_of(node.value())] |= flag_input | flag_program_input;
        break;
      case NodeKind::output:
        for_each_input(node, [&](Value value) { flags_[number_of(value)] |= flag_returned; });
        break;
      case NodeKind::call_function: {
        const OpEffects& effects = context_->ops().get(node.op()).effects;
        if (!effects.is_pure() || !effects.aliases.empty() || effects.results_overlap)
          visit_call(ordinal, node, effects);
        break;
      }
    }
  }
}

void AliasAnalysis::visit_call(std::uint32_t ordinal, Node call, const OpEffects& effects) {
  if (effects.is_unknown) {
    tie_everything(call);
    write_everything(ordinal, call, true);
    visit_bodies(ordinal, call);
    return;
  }
  for (const ResultAlias& alias : effects.aliases) unite_result(call, alias);
  if (effects.results_overlap) {
    for (std::uint32_t i = 1; i < call.value_count(); ++i) unite(call.value(0), call.value(i));
  }
  for (const ArgumentWrite& write : effects.writes) {
    if (!holds(write.when, call)) continue;
    const bool changes_metadata = effects.changes_metadata && write.argument == 0;
    for_each_value(call, call.argument(write.argument),
                   [&](Value value) { add_write(ordinal, call, value, changes_metadata); });
  }
  if (effects.changes_metadata && effects.writes.empty() && call.argument_count() > 0) {
    for_each_value(call, call.argument(0),
                   [&](Value value) { add_write(ordinal, call, value, true); });
  }
  if (effects.rebinds_storage) tie_everything(call);
  if (effects.runs_graphs) visit_bodies(ordinal, call);
}

void AliasAnalysis::visit_bodies(std::uint32_t ordinal, Node call) {
  const std::size_t first_event = events_.size();
  bool has_body = false;
  for_each_body(call, [&](Graph& body) {
    has_body = true;
    visit_graph(ordinals_.at(&body));
    bind_body(call, body);
  });
  project_writes(ordinal, call, first_event);
  if (has_body) return;
  // Runs operators that it was given: they may return what they were passed.
  tie_everything(call);
  const CallFacts facts = effects_.facts(call);
  if (facts.writes) write_everything(ordinal, call, facts.changes_metadata);
}

void AliasAnalysis::bind_body(Node call, Graph& body) {
  const std::optional<std::vector<Argument>> operands = body_operands(call, body);
  std::vector<Value> returned;
  if (Node output = body.output_node())
    for_each_value(output, output.argument(0), [&](Value value) { returned.push_back(value); });
  Graph& outer = call.graph();
  if (!operands) {
    tie_everything(call);
    Value any;
    for_each_input(call, [&](Value value) { any = has_storage(value) ? value : any; });
    for (Value value : call.values()) any = has_storage(value) ? value : any;
    if (!any) return;
    for (Value value : returned) unite(any, value);
    for (Node placeholder : body.placeholders()) unite(any, placeholder.value());
    return;
  }
  const std::vector<Node> placeholders = body.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    if ((*operands)[i].is_value())
      unite(outer.value_at((*operands)[i].value_id()), placeholders[i].value());
  }
  // A body of a loop that yields what the next run is given, and the condition of a loop, yield
  // fewer or other values than the call: only equal numbers correspond.
  const Node output = body.output_node();
  if (!output) return;
  const Argument list = output.argument(0);
  const bool corresponds = list.is_list() && list.count() == call.value_count();
  for (std::uint32_t i = 0; corresponds && i < list.count(); ++i) {
    const Argument element = output.element(list, i);
    if (!element.is_value()) continue;
    unite(body.value_at(element.value_id()), call.value(i));
    if (is_loop(call) && i < placeholders.size()) unite(placeholders[i].value(), call.value(i));
  }
  if (corresponds) return;
  for (Value value : returned) {
    for (Value result : call.values()) unite(value, result);
  }
}

void AliasAnalysis::unite_result(Node call, const ResultAlias& alias) {
  const Schema& schema = context_->ops().get(call.op()).schema;
  const ResultValues values = values_of_result(call, schema, alias.result);
  for (std::uint32_t i = values.first; i < values.first + values.count; ++i) {
    for_each_value(call, call.argument(alias.argument), [&](Value value) {
      if (has_storage(value)) unite(value, call.value(i));
    });
  }
}

void AliasAnalysis::tie_everything(Node call) {
  Value first;
  const auto tie = [&](Value value) {
    if (!has_storage(value)) return;
    if (first) unite(first, value);
    first = value;
  };
  for_each_input(call, tie);
  for (Value value : call.values()) tie(value);
}

void AliasAnalysis::write_everything(std::uint32_t ordinal, Node call, bool changes_metadata) {
  for_each_input(call, [&](Value value) {
    if (has_storage(value)) add_write(ordinal, call, value, changes_metadata);
  });
}

void AliasAnalysis::add_write(std::uint32_t ordinal, Node writer, Value value,
                              bool changes_metadata) {
  events_.push_back({.value = number_of(value),
                     .graph = ordinal,
                     .position = position_of(writer),
                     .writer = writer.id(),
                     .changes_metadata = changes_metadata,
                     .is_projection = false});
}

void AliasAnalysis::project_writes(std::uint32_t ordinal, Node call, std::size_t first_event) {
  const std::size_t end = events_.size();
  for (std::size_t i = first_event; i < end; ++i) {
    Event event = events_[i];
    event.graph = ordinal;
    event.position = position_of(call);
    event.writer = call.id();
    event.is_projection = true;
    events_.push_back(event);
  }
}

void AliasAnalysis::settle() {
  for (std::uint32_t i = 0; i < parent_.size(); ++i) {
    if (flags_[i] != 0) flags_[find(i)] |= flags_[i];
  }
  count_results();
  for (Event& event : events_) event.value = find(event.value);
  // The position tells the writer, so that events with equal keys are equal.
  const auto key = [](const Event& event) {
    return std::tuple(event.value, event.graph, event.position, event.is_projection,
                      event.changes_metadata);
  };
  std::ranges::sort(events_, {}, key);
  const auto repeated = std::ranges::unique(events_, {}, key);
  events_.erase(repeated.begin(), repeated.end());
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    Range& range = ranges_[event.value];
    if (range.count++ == 0) range.first = i;
    flags_[event.value] |= flag_written;
    if (event.changes_metadata) flags_[event.value] |= flag_metadata_changed;
  }
}

void AliasAnalysis::count_results() {
  tsl::robin_map<std::uint32_t, std::uint32_t> last_graph;  // that returned a value of the class
  for (std::uint32_t ordinal = 0; ordinal < graphs_.size(); ++ordinal) {
    const Node output = graphs_[ordinal].graph->output_node();
    if (!output) continue;
    for (Value value : output.input_values()) {
      const std::uint32_t class_number = class_of(value);
      const auto [found, is_new] = last_graph.emplace(class_number, ordinal);
      if (!is_new && found->second == ordinal) flags_[class_number] |= flag_returned_repeatedly;
      if (!is_new) found.value() = ordinal;
    }
  }
}

std::uint32_t AliasAnalysis::unite_numbers(std::uint32_t a, std::uint32_t b) {
  if (a == no_class || b == no_class) return no_class;
  a = find(a);
  b = find(b);
  // The older value stays the root: chains of views then have short paths.
  if (b < a) std::swap(a, b);
  parent_[b] = a;
  return a;
}

std::uint32_t AliasAnalysis::find(std::uint32_t number) const {
  while (parent_[number] != number) {
    parent_[number] = parent_[parent_[number]];
    number = parent_[number];
  }
  return number;
}

std::uint32_t AliasAnalysis::number_of(Value value) const {
  const auto found = ordinals_.find(&value.graph());
  if (found == ordinals_.end()) return no_class;
  const GraphInfo& info = graphs_[found->second];
  return value.id().index < info.value_count ? info.first_value + value.id().index : no_class;
}

std::uint32_t AliasAnalysis::class_of(Value value) const {
  const std::uint32_t number = number_of(value);
  return number == no_class ? no_class : find(number);
}

bool AliasAnalysis::may_share_storage(Value a, Value b) const {
  if (!has_storage(a) || !has_storage(b)) return false;
  const std::uint32_t class_a = class_of(a);
  return class_a == no_class || class_a == class_of(b) || class_of(b) == no_class;
}

void AliasAnalysis::merge(Value a, Value b) {
  const std::uint32_t class_a = class_of(a);
  const std::uint32_t class_b = class_of(b);
  if (class_a == class_b || class_a == no_class || class_b == no_class) return;
  const std::uint32_t root = unite_numbers(class_a, class_b);
  const std::uint32_t other = root == class_a ? class_b : class_a;
  if ((flags_[root] & flags_[other] & flag_written) != 0) {
    flags_[root] |= flag_unordered;
  } else if (const auto range = ranges_.find(other); range != ranges_.end()) {
    ranges_[root] = Range(range->second);
  }
  if ((flags_[root] & flags_[other] & flag_returned) != 0) flags_[root] |= flag_returned_repeatedly;
  flags_[root] |= flags_[other];
}

bool AliasAnalysis::has_flag(Value value, std::uint8_t flag) const {
  const std::uint32_t number = class_of(value);
  return number == no_class || (flags_[number] & flag) != 0;
}

bool AliasAnalysis::is_input(Value value) const {
  return has_flag(value, flag_input);
}
bool AliasAnalysis::is_program_input(Value value) const {
  return has_flag(value, flag_program_input);
}
bool AliasAnalysis::is_program_input_class(std::uint32_t class_number) const {
  return (flags_[class_number] & flag_program_input) != 0;
}
bool AliasAnalysis::is_returned(Value value) const {
  return has_flag(value, flag_returned);
}
bool AliasAnalysis::is_returned_repeatedly(Value value) const {
  return has_flag(value, flag_returned_repeatedly);
}
bool AliasAnalysis::is_written(Value value) const {
  return has_flag(value, flag_written);
}
bool AliasAnalysis::is_metadata_changed(Value value) const {
  return has_flag(value, flag_metadata_changed);
}

std::uint32_t AliasAnalysis::position_of(Node node) const {
  const auto found = ordinals_.find(&node.graph());
  if (found == ordinals_.end()) return no_position;
  const std::vector<std::uint32_t>& positions = graphs_[found->second].positions;
  return node.id().index < positions.size() ? positions[node.id().index] : no_position;
}

AliasAnalysis::Range AliasAnalysis::writes_in(std::uint32_t class_number,
                                              std::uint32_t ordinal) const {
  const auto found = ranges_.find(class_number);
  if (found == ranges_.end()) return {};
  const auto begin = events_.begin() + found->second.first;
  const auto [first, last] =
      std::equal_range(begin, begin + found->second.count, Event{.graph = ordinal, .writer = {}},
                       [](const Event& a, const Event& b) { return a.graph < b.graph; });
  return {static_cast<std::uint32_t>(first - events_.begin()),
          static_cast<std::uint32_t>(last - first)};
}

bool AliasAnalysis::is_written_between(Value value, Node first, Node last) const {
  if (!is_written(value)) return false;
  const std::uint32_t class_number = class_of(value);
  const std::uint32_t from = position_of(first);
  const std::uint32_t to = position_of(last);
  if (class_number == no_class || from == no_position || to == no_position) return true;
  if ((flags_[class_number] & flag_unordered) != 0) return true;
  const Range range = writes_in(class_number, ordinals_.at(&first.graph()));
  const auto begin = events_.begin() + range.first;
  const auto after = std::upper_bound(
      begin, begin + range.count, from,
      [](std::uint32_t position, const Event& event) { return position < event.position; });
  return after != begin + range.count && after->position < to;
}

bool AliasAnalysis::is_written_after(Value value, Node node) const {
  if (!is_written(value)) return false;
  const std::uint32_t class_number = class_of(value);
  const std::uint32_t from = position_of(node);
  if (class_number == no_class || from == no_position) return true;
  if ((flags_[class_number] & flag_unordered) != 0) return true;
  const Range range = writes_in(class_number, ordinals_.at(&node.graph()));
  return range.count != 0 && events_[range.first + range.count - 1].position > from;
}

StorageWrite AliasAnalysis::write_of(const Event& event) const {
  return {graphs_[event.graph].graph->node_at(event.writer), event.changes_metadata};
}

std::vector<StorageWrite> AliasAnalysis::writers_of(Value value) const {
  std::vector<StorageWrite> writes;
  const std::uint32_t number = class_of(value);
  if (number == no_class) return writes;
  // Of merged written classes one range alone is linked, so all events are looked through.
  if ((flags_[number] & flag_unordered) != 0) {
    for_each_write([&](const StorageWrite& write, std::uint32_t written) {
      if (written == number) writes.push_back(write);
    });
    return writes;
  }
  const auto found = ranges_.find(number);
  if (found == ranges_.end()) return writes;
  for (std::uint32_t i = 0; i < found->second.count; ++i) {
    const Event& event = events_[found->second.first + i];
    if (!event.is_projection) writes.push_back(write_of(event));
  }
  return writes;
}

}  // namespace winze
