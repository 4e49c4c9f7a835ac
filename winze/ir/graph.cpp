// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/graph.h"

#include <algorithm>
#include <atomic>
#include <ranges>

#include "winze/ir/graph_slots.h"
#include "winze/ir/op_signature.h"
#include "winze/ir/schema_position.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

std::uint32_t next_serial() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}

template <typename AnyGraph>
std::vector<AnyGraph*> with_nested(AnyGraph* root) {
  std::vector<AnyGraph*> found{root};
  for (std::size_t index = 0; index < found.size(); ++index) {
    const std::vector<Graph*> nested = found[index]->subgraphs();
    found.insert(found.end(), nested.begin(), nested.end());
  }
  return found;
}

[[noreturn]] void refuse_erasure(Node node) {
  std::uint32_t uses = 0;
  for (const Value value : node.values()) uses += value.use_count();
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("a node is to be erased that still has {}", plural(uses, "use"));
  diagnostic.node = node.str();
  const std::vector<Node> users = node.users();
  for (std::size_t index = 0; index < users.size() && index < 5; ++index) {
    diagnostic.notes.push_back("used by " + users[index].str());
  }
  diagnostic.hint = "replace its uses first (replace_all_uses_with)";
  throw Error(std::move(diagnostic));
}

}  // namespace

Graph::Graph(Context& context, std::string_view name) : Graph(context, name, nullptr) {}

Graph::Graph(Context& context, std::string_view name, Graph* parent)
    : context_(&context),
      parent_(parent),
      name_(name),
      serial_(next_serial()),
      journal_(parent != nullptr ? parent->journal_ : &own_journal_) {}

Graph::~Graph() = default;

NodeId Graph::allocate_node(NodeKind kind, OpId op, std::uint32_t slots,
                            std::span<const MetaId> metas, SourceId source) {
  if (!erased_.empty() && iterations_ == 0 && !journal_->is_open()) collect_erased();
  WINZE_CHECK(slots <= 0xFFFF && metas.size() <= 0xFFFF,
              "a node has more than 65535 arguments or values");
  NodeId node;
  if (!free_nodes_.empty()) {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  } else {
    node.index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + 1);
    node_sides_.resize(nodes_.size());
  }
  const auto value_count = static_cast<std::uint32_t>(metas.size());
  std::uint32_t first_value = static_cast<std::uint32_t>(values_.size());
  if (value_count < free_values_.size() && !free_values_[value_count].empty()) {
    first_value = free_values_[value_count].back();
    free_values_[value_count].pop_back();
  } else {
    values_.resize(values_.size() + value_count);
  }
  ValueRecord* value = values_.data() + first_value;
  for (const MetaId meta : metas) *value++ = {.node = node, .meta = meta};
  const std::uint32_t first_slot = allocate_slots(slots);
  NodeRecord& record = nodes_[node.index];
  record.op = op;
  record.first_slot = first_slot;
  record.first_value = first_value;
  record.slot_count = static_cast<std::uint16_t>(slots);
  record.value_count = static_cast<std::uint16_t>(value_count);
  node_sides_[node.index].source = source;
  record.kind = kind;
  record.alive = true;
  return node;
}

void Graph::finish_node(NodeId node, NodeId after) {
  WINZE_CHECK(!after.valid() || nodes_[after.index].kind != NodeKind::output,
              "a node is to be inserted after the output");
  link_node(node, after);
  if (insertion_set_ && insert_after_ == after) insert_after_ = node;
  add_to_index(node);
  ++alive_;
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::create_node;
  record.node = node.index;
  journal_->add(record);
}

Node Graph::placeholder(std::string_view name, MetaId meta, Argument spec) {
  journal_->begin_edit();
  const Node last = last_placeholder();
  const NodeId node = allocate_node(NodeKind::placeholder, OpId{}, 1, {&meta, 1}, SourceId{});
  fill_slot(SlotId{nodes_[node.index].first_slot}, spec, node);
  finish_node(node, last ? last.id() : NodeId{});
  const Node made = node_at(node);
  if (!name.empty()) made.value().set_name(name);
  return made;
}

Node Graph::get_attr(std::string_view target, MetaId meta) {
  journal_->begin_edit();
  const NodeId node = allocate_node(NodeKind::get_attr, OpId{}, 1, {&meta, 1}, SourceId{});
  fill_slot(SlotId{nodes_[node.index].first_slot}, context_->string_argument(target), node);
  finish_node(node, insertion_predecessor());
  return node_at(node);
}

Node Graph::call_function(OpId op, std::span<const Argument> arguments,
                          std::span<const MetaId> metas, const CallOptions& options) {
  const OpSignature& signature = context_->signature(op);
  const NodeId after = insertion_predecessor();
  check_call(signature, arguments, metas, after);
  journal_->begin_edit();
  const std::size_t slots = std::max(signature.arguments.size(), arguments.size());
  const NodeId node =
      allocate_node(NodeKind::call_function, op, static_cast<std::uint32_t>(slots), metas,
                    options.source.valid() ? options.source : insertion_source_);
  const std::uint32_t first = nodes_[node.index].first_slot;
  for (std::uint32_t index = 0; index < slots; ++index) {
    fill_slot(SlotId{first + index},
              index < arguments.size() ? normalized(signature, index, arguments[index])
                                       : Argument::default_value(),
              node);
  }
  finish_node(node, after);
  const Node made = node_at(node);
  // It may be that of another node of this graph, which moves when one is added.
  if (options.structure != nullptr)
    result_structures_.insert_or_assign(node.index, ResultStructure(*options.structure));
  if (options.positional_count < slots && is_own_spelling(made, options.positional_count))
    spell(node, options.positional_count);
  if (!options.name.empty())
    metas.size() == 1 ? made.value().set_name(options.name) : made.set_name(options.name);
  return made;
}

Node Graph::call_function(OpId op, std::initializer_list<Argument> arguments, MetaId meta,
                          const CallOptions& options) {
  return call_function(op, std::span<const Argument>(arguments.begin(), arguments.size()),
                       {&meta, 1}, options);
}

Node Graph::call_function(OpId op, std::span<const Argument> arguments,
                          std::span<const NamedArgument> keywords, std::span<const MetaId> metas,
                          const CallOptions& options) {
  if (keywords.empty()) return call_function(op, arguments, metas, options);
  CallOptions as_given = options;
  as_given.positional_count = static_cast<std::uint32_t>(arguments.size());
  return call_function(op, in_schema_position(context_->ops().get(op), arguments, keywords), metas,
                       as_given);
}

Node Graph::output(std::span<const Argument> values, std::span<const Argument> specs) {
  WINZE_CHECK(!output_node(), "graph \"{}\" has an output already", name_);
  WINZE_CHECK(specs.empty() || specs.size() == values.size(), "{} roles for {} returned values",
              specs.size(), values.size());
  for (const Argument& value : values) check_value(value, last_, "output");
  journal_->begin_edit();
  const NodeId node = allocate_node(NodeKind::output, OpId{}, 2, {}, SourceId{});
  const std::uint32_t first = nodes_[node.index].first_slot;
  fill_slot(SlotId{first}, Argument(values), node);
  fill_slot(SlotId{first + 1}, Argument(specs), node);
  finish_node(node, last_);
  return node_at(node);
}

GraphId Graph::add_subgraph(std::string_view name) {
  subgraphs_.push_back(std::unique_ptr<Graph>(new Graph(*context_, name, this)));
  return GraphId{static_cast<std::uint32_t>(subgraphs_.size() - 1)};
}

Graph& Graph::subgraph(GraphId id) const {
  WINZE_CHECK(id.index < subgraphs_.size() && subgraphs_[id.index] != nullptr,
              "graph \"{}\" has no nested graph {}", name_, id.index);
  return *subgraphs_[id.index];
}

std::vector<Graph*> Graph::subgraphs() const {
  std::vector<Graph*> found;
  for (const std::unique_ptr<Graph>& nested : subgraphs_) {
    if (nested != nullptr && nested->holder_.valid() && nodes_[nested->holder_.index].alive)
      found.push_back(nested.get());
  }
  return found;
}

std::vector<Graph*> Graph::all_graphs() {
  return with_nested(this);
}

std::vector<const Graph*> Graph::all_graphs() const {
  return with_nested(this);
}

std::vector<Node> Graph::placeholders() const {
  return find_nodes(NodeKind::placeholder);
}

Node Graph::last_placeholder() const {
  const Bucket* list = bucket(static_cast<std::uint32_t>(NodeKind::placeholder));
  if (list == nullptr || list->count == 0) return {};
  // The one made last is the last, unless nodes were moved.
  const NodeId next = nodes_[list->tail.index].next;
  if (!next.valid() || nodes_[next.index].kind != NodeKind::placeholder) return node_at(list->tail);
  return placeholders().back();
}

Node Graph::output_node() const {
  return last_.valid() && nodes_[last_.index].kind == NodeKind::output ? node_at(last_) : Node();
}

void Graph::erase_node(Node node) {
  WINZE_CHECK(node.valid() && &node.graph() == this && node.is_alive(),
              "an erased node, or one of another graph, is to be erased");
  if (!node.has_no_uses()) refuse_erasure(node);
  journal_->begin_edit();
  if (!references_.empty()) {
    for (const Value value : node.values()) move_references(value.id(), ValueId{});
  }
  detach_node(node.id());
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::erase_node;
  record.node = node.id().index;
  journal_->add(record);
}

void Graph::detach_node(NodeId node) {
  NodeRecord& record = nodes_[node.index];
  visit_slots(record, [this](SlotId slot) {
    if (slot_kinds_[slot.index] == ArgumentKind::value) unlink_use(slot);
  });
  remove_from_index(node);
  unlink_node(node);
  record.alive = false;
  ++record.generation;
  --alive_;
  erased_.push_back(node);
}

void Graph::reattach_node(NodeId node) {
  NodeRecord& record = nodes_[node.index];
  WINZE_CHECK(erased_.back() == node, "erasures are undone out of order");
  erased_.pop_back();
  record.alive = true;
  --record.generation;
  ++alive_;
  relink_node(node);
  if (record.kind != NodeKind::output) assign_order(node);
  restore_to_index(node);
  std::vector<SlotId> uses;
  visit_slots(record, [&](SlotId slot) {
    if (slot_kinds_[slot.index] == ArgumentKind::value) uses.push_back(slot);
  });
  for (auto slot = uses.rbegin(); slot != uses.rend(); ++slot) relink_use(*slot);
}

void Graph::destroy_node(NodeId node) {
  NodeRecord& record = nodes_[node.index];
  for (std::uint32_t slot = record.first_slot; slot < record.first_slot + record.slot_count;
       ++slot) {
    release_list(SlotId{slot});
  }
  release_slots(record.first_slot, record.slot_count);
  if (record.value_count > 0) {
    if (record.value_count >= free_values_.size())
      free_values_.resize(record.value_count + std::size_t{1});
    free_values_[record.value_count].push_back(record.first_value);
  }
  for (std::uint32_t value = record.first_value; value < record.first_value + record.value_count;
       ++value) {
    if (value < value_names_.size()) value_names_[value] = StringId{};
  }
  if (!node_names_.empty()) node_names_.erase(node.index);
  if (!result_structures_.empty()) result_structures_.erase(node.index);
  if (!positional_counts_.empty()) positional_counts_.erase(node.index);
  free_nodes_.push_back(node);
}

void Graph::collect_erased() {
  for (const NodeId node : erased_) destroy_node(node);
  erased_.clear();
}

void Graph::reserve(std::size_t nodes, std::size_t values, std::size_t arguments) {
  nodes_.reserve(nodes_.size() + nodes);
  node_sides_.reserve(node_sides_.size() + nodes);
  values_.reserve(values_.size() + values);
  slots_.reserve(slots_.size() + arguments);
  slot_kinds_.reserve(slot_kinds_.size() + arguments);
}

std::size_t Graph::memory_bytes() const {
  const auto bytes = [](const auto& items) { return items.capacity() * sizeof(items[0]); };
  return bytes(nodes_) + bytes(node_sides_) + bytes(values_) + bytes(slots_) + bytes(slot_kinds_) +
         bytes(value_names_) + bytes(erased_) + bytes(free_nodes_) +
         buckets_.bucket_count() * sizeof(buckets_.begin().value());
}

const ResultStructure* Graph::result_structure(Node node) const {
  const auto found = result_structures_.find(node.id().index);
  return found == result_structures_.end() ? nullptr : &found->second;
}

std::uint32_t Graph::given_positional_count(Node node) const {
  if (positional_counts_.empty()) return CallOptions::as_dispatched;
  const auto found = positional_counts_.find(node.id().index);
  return found == positional_counts_.end() ? CallOptions::as_dispatched : found->second;
}

std::uint32_t Graph::positional_end(Node call, std::uint32_t limit) const {
  const auto& formals = context_->signature(call.op()).arguments;
  std::uint32_t count = std::min(call.argument_count(), limit);
  while (count > 0 && (call.argument(count - 1).is_default() ||
                       (count <= formals.size() && formals[count - 1].kwarg_only)))
    --count;
  return count;
}

bool Graph::is_own_spelling(Node call, std::uint32_t positional_count) const {
  // Arguments beyond the schema's follow positional ones.
  return call.argument_count() == context_->signature(call.op()).arguments.size() &&
         positional_count < positional_end(call, CallOptions::as_dispatched);
}

void Graph::spell(NodeId call, std::uint32_t positional_count) {
  if (positional_count == CallOptions::as_dispatched) {
    positional_counts_.erase(call.index);
  } else {
    positional_counts_.insert_or_assign(call.index, positional_count);
  }
}

std::uint32_t Graph::observe(Value value) {
  const auto reference = static_cast<std::uint32_t>(observed_.size());
  observed_.push_back(value.id());
  references_[value.id().index].push_back(reference);
  return reference;
}

Value Graph::observed(std::uint32_t reference) const {
  WINZE_CHECK(reference < observed_.size(), "no value of graph \"{}\" has the reference {}", name_,
              reference);
  return value_at(observed_[reference]);
}

void Graph::move_references(ValueId from, ValueId to) {
  if (references_.empty()) return;
  const auto found = references_.find(from.index);
  if (found == references_.end()) return;
  const std::vector<std::uint32_t> moved = found->second;
  // The last first, so that each is found at the end of its list, when it is moved back too.
  for (const std::uint32_t reference : moved | std::views::reverse) set_reference(reference, to);
}

void Graph::set_reference(std::uint32_t reference, ValueId value) {
  const ValueId old = observed_[reference];
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::move_reference;
  record.a = reference;
  record.b = old.index;
  journal_->add(record);
  if (old.valid()) {
    const auto found = references_.find(old.index);
    std::vector<std::uint32_t>& references = found.value();
    const auto from_end = std::find(references.rbegin(), references.rend(), reference);
    references.erase(std::next(from_end).base());
    if (references.empty()) references_.erase(found);
  }
  observed_[reference] = value;
  if (value.valid()) references_[value.index].push_back(reference);
}

}  // namespace winze
