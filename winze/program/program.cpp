// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/support/quote.h"

namespace winze {

namespace {

/// Makes the references of `calls`, which are to values of `from`, references to the same values of
/// its clone `to`.
void observe_again(const Graph& from, Graph& to, std::vector<ModuleCallEntry>& calls) {
  tsl::robin_map<std::uint32_t, Value> clones;
  const auto each_argument = [&](auto visit) {
    for (ModuleCallEntry& entry : calls) {
      if (!entry.signature) continue;
      for (ModuleCallArgument& argument : entry.signature->inputs) visit(argument);
      for (ModuleCallArgument& argument : entry.signature->outputs) visit(argument);
    }
  };
  each_argument([&](ModuleCallArgument& argument) {
    if (!argument.reference) return;
    if (const Value value = from.observed(*argument.reference))
      clones.emplace(value.id().index, Value());
  });
  if (clones.empty()) return;
  auto clone = to.nodes().begin();
  for (const Node node : from.nodes()) {
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      const auto wanted = clones.find(node.value(index).id().index);
      if (wanted != clones.end()) wanted.value() = (*clone).value(index);
    }
    ++clone;
  }
  each_argument([&](ModuleCallArgument& argument) {
    if (!argument.reference) return;
    const Value value = from.observed(*argument.reference);
    argument.reference = to.observe(value ? clones.find(value.id().index)->second : Value());
  });
}

}  // namespace

std::string RangeConstraint::interval() const {
  const auto bound = [](const std::optional<std::int64_t>& value, std::string_view unbounded) {
    return value ? fmt::format("{}", *value) : std::string(unbounded);
  };
  return fmt::format("[{}, {}]", bound(min_val, "-int_oo"), bound(max_val, "int_oo"));
}

SymHint ExpressionTable::hint(const SymbolicContext& symbols, SymExpr expression) const {
  if (const Entry* entry = find(expression)) return entry->hint;
  const auto lookup = [&](SymExpr symbol) -> std::optional<SymValue> {
    const Entry* entry = find(symbol);
    if (entry == nullptr) return std::nullopt;
    if (const auto* integer = std::get_if<std::int64_t>(&entry->hint)) return *integer;
    if (const auto* real = std::get_if<double>(&entry->hint)) return *real;
    return std::nullopt;
  };
  const std::optional<SymValue> value = symbols.evaluate(expression, lookup);
  if (!value) return {};
  return std::visit([](auto content) { return SymHint(content); }, *value);
}

StorageId ExportedProgram::add_storage(Storage storage) {
  storages.push_back(std::move(storage));
  return StorageId{static_cast<std::uint32_t>(storages.size() - 1)};
}

bool ExportedProgram::has_all_bytes() const {
  const auto at_hand = [this](const Weight& weight) { return storage(weight).has_bytes; };
  return std::ranges::all_of(state_dict, at_hand) && std::ranges::all_of(constants, at_hand);
}

const Weight* ExportedProgram::weight_of(Node placeholder) const {
  const Argument role = placeholder.argument(0);
  if (role.kind() != ArgumentKind::input_spec) return nullptr;
  const InputSpec& spec = context().input_spec_of(role);
  const std::string_view fqn = context().text(spec.target);
  switch (spec.kind) {
    case InputKind::parameter:
      return state_dict.find(fqn);
    case InputKind::buffer:
      return spec.persistent ? state_dict.find(fqn) : constants.find(fqn);
    case InputKind::tensor_constant:
    case InputKind::custom_obj:
      return constants.find(fqn);
    default:
      return nullptr;
  }
}

void ExportedProgram::look_for_offsets() {
  const SymInt none = 0;
  has_offsets = true;
  for (const Graph* each : graph->all_graphs()) {
    for (const Node node : each->nodes()) {
      for (std::uint32_t index = 0; index < node.value_count(); ++index) {
        const Meta& meta = node.value(index).meta();
        if (meta.is_tensor() && meta.tensor.storage_offset != none) return;
      }
    }
  }
  has_offsets = false;
}

void ExportedProgram::apply_range_constraints() {
  SymbolicContext& symbols = context().symbols();
  for (const RangeConstraint& constraint : range_constraints) {
    const std::optional<SymExpr> symbol = symbols.find_symbol(constraint.symbol);
    // Export also lists symbols that no expression uses.
    if (!symbol) continue;
    const Range range{constraint.min_val.value_or(Range::minus_infinity),
                      constraint.max_val.value_or(Range::infinity)};
    symbols.set_range(*symbol, range);
    if (symbols.range(*symbol).empty()) {
      fail("the range {} of symbol {} leaves no value", range.str(), quote(constraint.symbol));
    }
  }
}

ExportedProgram ExportedProgram::clone() const {
  ExportedProgram copy(context());
  static_cast<ProgramDetails&>(copy) = *this;
  copy.graph = graph->clone();
  observe_again(*graph, *copy.graph, copy.module_call_graph);
  return copy;
}

const Weight& add_constant(ExportedProgram& program, std::string_view fqn, MetaId meta,
                           Bytes bytes) {
  const std::uint64_t needed = storage_size_needed(program.context().meta(meta).tensor);
  if (bytes.size() < needed)
    fail("constant {} needs {} bytes, but has {}", quote(fqn), needed, bytes.size());
  Weight weight;
  weight.fqn = fqn;
  weight.meta = meta;
  if (program.constants.find(fqn) != nullptr || program.state_dict.find(fqn) != nullptr) {
    fail("the name {} is taken by another weight", quote(fqn));
  }
  Storage storage;
  storage.size = bytes.size();
  storage.bytes = std::move(bytes);
  storage.has_bytes = true;
  weight.storage = program.add_storage(std::move(storage));
  return program.constants.add(std::move(weight));
}

std::uint64_t storage_size_needed(const TensorMeta& meta) {
  if (!meta.is_static()) fail("a weight has a symbolic size");
  if (meta.storage_offset.constant() < 0)
    fail("a weight has the negative storage offset {}", meta.storage_offset.constant());
  std::uint64_t last = 0;  // index of the last element
  for (std::size_t index = 0; index < meta.sizes.size(); ++index) {
    const std::int64_t size = meta.sizes[index].constant();
    const std::int64_t stride = index < meta.strides.size() ? meta.strides[index].constant() : 0;
    if (size < 0) fail("a weight has the negative size {}", size);
    if (stride < 0) fail("a weight has the negative stride {}", stride);
  }
  const bool has_elements =
      std::ranges::none_of(meta.sizes, [](SymInt size) { return size.constant() == 0; });
  if (!has_elements) return 0;
  for (std::size_t index = 0; index < meta.sizes.size() && index < meta.strides.size(); ++index) {
    const auto steps = static_cast<std::uint64_t>(meta.sizes[index].constant() - 1);
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(steps, static_cast<std::uint64_t>(meta.strides[index].constant()),
                               &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      fail("a weight reaches further than 64 bits hold");
    }
  }
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  if (__builtin_add_overflow(last, static_cast<std::uint64_t>(meta.storage_offset.constant()),
                             &elements) ||
      __builtin_add_overflow(elements, std::uint64_t{1}, &elements) ||
      __builtin_mul_overflow(elements, std::uint64_t{element_size(meta.dtype)}, &bytes)) {
    fail("a weight reaches further than 64 bits hold");
  }
  return bytes;
}

}  // namespace winze
