// SPDX-License-Identifier: Apache-2.0
#include "winze/program/canonical_side.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/support/hash.h"
#include "winze/support/integer_map.h"

namespace winze {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

CanonicalSide::CanonicalSide(const ExportedProgram& program, CanonicalContext& shared)
    : program_(&program), shared_(&shared) {
  name_symbols(*program.graph);
  std::uint32_t position = 0;
  for (const Node placeholder : program.graph->placeholders()) {
    const Argument spec = placeholder.argument(0);
    if (spec.kind() == ArgumentKind::input_spec &&
        context().input_spec_of(spec).kind != InputKind::user_input)
      continue;
    user_inputs_.emplace(placeholder.value().name(), position++);
  }
}

void CanonicalSide::name_symbols(const Graph& graph) {
  for (const Graph* each : graph.all_graphs()) {
    for (const Node node : each->nodes()) {
      for (std::uint32_t index = 0; index < node.value_count(); ++index)
        name_symbols(node.value(index).meta_id());
    }
  }
}

void CanonicalSide::name_symbols(MetaId id) {
  if (id.index >= named_metas_.size()) named_metas_.resize(id.index + id.index / 2 + 64);
  if (named_metas_[id.index]) return;
  named_metas_[id.index] = true;
  for_each_expression(context().meta(id), [this](SymExpr expression) { name_symbols(expression); });
}

void CanonicalSide::name_symbols(SymExpr expression) {
  if (expression.is_constant()) return;
  const SymbolicContext& symbols = context().symbols();
  for (const SymExpr symbol : symbols.free_symbols(expression)) {
    if (expressions_.contains(symbol)) continue;
    // The assumptions are part of the name: a symbol has only one set of them in a context.
    const SymbolAssumptions assumptions = symbols.symbol_assumptions(symbol);
    const std::string name =
        fmt::format("s{}_{:x}", symbol_names_.size(), hash_bytes(assumptions.str()));
    expressions_.emplace(symbol, shared_->symbols.symbol(name, assumptions));
    symbol_names_.emplace(symbols.symbol_name(symbol), name);
  }
}

SymExpr CanonicalSide::translate_node(SymExpr own) {
  const SymbolicContext& symbols = context().symbols();
  const ExprStore& store = symbols.store();
  switch (const SymOp op = symbols.op(own)) {
    case SymOp::symbol:
      return shared_->symbols.symbol("unnamed_" + symbols.symbol_name(own),
                                     symbols.symbol_assumptions(own));
    case SymOp::rational:
      return shared_->symbols.rational(store.numerator(own), store.denominator(own));
    case SymOp::float_constant:
      return shared_->symbols.float_constant(store.float_value(own));
    default: {
      const std::span<const SymExpr> operands = symbols.operands(own);
      if (operands.empty()) return ExprStore::atom(op);
      std::vector<SymExpr> translated;
      for (const SymExpr operand : operands) {
        translated.push_back(operand.is_constant() ? operand : expressions_.at(operand));
      }
      return shared_->symbols.make(op, translated);
    }
  }
}

SymExpr CanonicalSide::expression(SymExpr own) {
  if (own.is_constant()) return own;
  if (const auto found = expressions_.find(own); found != expressions_.end()) return found->second;
  // Operands have smaller indices than what they are operands of: in that order all are there in
  // time.
  const SymbolicContext& symbols = context().symbols();
  std::vector<SymExpr> reached{own};
  IntegerSet seen;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (const SymExpr operand : symbols.operands(reached[at])) {
      if (operand.is_constant() || expressions_.contains(operand)) continue;
      if (seen.insert(operand.bits()).second) reached.push_back(operand);
    }
  }
  std::ranges::sort(reached, {}, [](SymExpr expression) { return expression.index(); });
  for (const SymExpr expression : reached) {
    if (!expressions_.contains(expression))
      expressions_.emplace(expression, translate_node(expression));
  }
  return expressions_.at(own);
}

std::string CanonicalSide::renamed(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string word(text.substr(at, end - at));
    const auto found = symbol_names_.find(word);
    out += found == symbol_names_.end() ? word : found->second;
    at = end;
  }
  return out;
}

std::uint64_t CanonicalSide::text(StringId id) {
  return id.valid() ? bytes(context().text(id)) : 1;
}

std::uint64_t CanonicalSide::meta(MetaId id) {
  if (!id.valid()) return 0;
  if (id.index >= metas_.size()) metas_.resize(id.index + id.index / 2 + 64);
  if (metas_[id.index] != 0) return metas_[id.index];
  const Meta& meta = context().meta(id);
  std::uint64_t hash = combine(static_cast<std::uint64_t>(meta.kind), text(meta.class_name));
  hash = combine(hash, meta.has_expression ? expression(meta.expression).bits() + 1 : 0);
  if (meta.is_tensor()) {
    const TensorMeta& tensor = meta.tensor;
    hash = combine(hash, static_cast<std::uint64_t>(tensor.dtype) << 16U |
                             static_cast<std::uint64_t>(tensor.layout) << 8U |
                             (tensor.requires_grad ? 1U : 0U));
    hash = combine(hash, bytes(context().device_text(tensor.device)));
    hash = combine(hash, expression(tensor.storage_offset).bits());
    for (const auto& sizes : {tensor.sizes, tensor.strides}) {
      hash = combine(hash, sizes.size());
      for (const SymInt size : sizes) hash = combine(hash, expression(size).bits());
    }
  }
  metas_[id.index] = hash;
  return hash;
}

std::uint64_t CanonicalSide::op(OpId id) {
  if (id.index >= ops_.size()) ops_.resize(id.index + id.index / 2 + 64);
  if (ops_[id.index] != 0) return ops_[id.index];
  const Op& op = context().ops().get(id);
  std::uint64_t hash = bytes(op.target());
  if (op.is_variant() || op.is_opaque()) {
    for (const SchemaArgument& argument : op.schema.arguments) {
      hash = combine(hash, bytes(argument.name) + (argument.kwarg_only ? 1 : 0));
    }
  }
  ops_[id.index] = hash;
  return hash;
}

std::uint64_t CanonicalSide::constant(const Argument& argument) {
  const auto kind = static_cast<std::uint64_t>(argument.kind());
  const auto list = [&](const auto& values, const auto& hash_of) {
    std::uint64_t hash = combine(kind, values.size());
    for (const auto& value : values) hash = combine(hash, hash_of(value));
    return hash;
  };
  switch (argument.kind()) {
    case ArgumentKind::string:
      return combine(kind, text(argument.string_id()));
    case ArgumentKind::complex: {
      const std::complex<double> value = context().complex_of(argument);
      return combine(combine(kind, std::bit_cast<std::uint64_t>(value.real())),
                     std::bit_cast<std::uint64_t>(value.imag()));
    }
    case ArgumentKind::device:
      return combine(kind, bytes(context().device_text(argument.device())));
    case ArgumentKind::op:
      return combine(kind, op(argument.op()));
    case ArgumentKind::integers:
      return list(context().integers_of(argument),
                  [](std::int64_t value) { return static_cast<std::uint64_t>(value); });
    case ArgumentKind::floats:
      return list(context().floats_of(argument),
                  [](double value) { return std::bit_cast<std::uint64_t>(value); });
    case ArgumentKind::booleans:
      return list(context().booleans_of(argument), [](bool value) { return value ? 1U : 0U; });
    case ArgumentKind::strings:
      return list(context().strings_of(argument), [&](StringId value) { return text(value); });
    case ArgumentKind::custom_object: {
      const Context::CustomObject object = context().custom_object_of(argument);
      return combine(combine(kind, text(object.name)), text(object.class_name));
    }
    case ArgumentKind::list:
      return combine(kind, 0);
    default:
      return combine(kind, argument.bits());
  }
}

std::uint64_t CanonicalSide::input_role(const Node& placeholder, std::uint32_t user_position) {
  const Argument argument = placeholder.argument(0);
  if (argument.kind() != ArgumentKind::input_spec) return combine(0, user_position);
  const InputSpec& spec = context().input_spec_of(argument);
  std::uint64_t hash = combine(static_cast<std::uint64_t>(spec.kind) + 1, text(spec.target));
  hash = combine(hash, spec.persistent ? 1 : 0);
  const bool by_position = !spec.target.valid();
  if (by_position) hash = combine(hash, user_position);
  return combine(hash, constant(spec.constant));
}

std::uint64_t CanonicalSide::output_role(const Argument& spec) {
  if (spec.kind() != ArgumentKind::output_spec) return 0;
  const OutputSpec& role = context().output_spec_of(spec);
  const auto kind = static_cast<std::uint64_t>(role.kind);
  // Inputs are named by value: their position stands for the name.
  if (role.kind == OutputKind::user_input_mutation ||
      role.kind == OutputKind::gradient_to_user_input) {
    const auto found = user_inputs_.find(context().text(role.target));
    if (found != user_inputs_.end()) return combine(kind, found->second);
  }
  return combine(kind, text(role.target));
}

}  // namespace winze
