// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/shape_call.h"

namespace winze {
namespace {

/// No tensor of PyTorch has more dimensions.
constexpr std::size_t most_dims = 64;

IntegerMap<std::uint64_t> first_nodes_of(const Graph& program, const SymbolicContext& symbols) {
  IntegerMap<std::uint64_t> keys;
  std::vector<bool> seen;  // by meta
  for (const Graph* graph : program.all_graphs()) {
    for (const Node node : graph->nodes()) {
      for (const Value value : node.values()) {
        const std::uint32_t meta = value.meta_id().index;
        if (meta >= seen.size()) seen.resize(meta + meta / 2 + 64);
        if (seen[meta]) continue;
        seen[meta] = true;
        for_each_expression(value.meta(), [&](SymExpr expression) {
          if (expression.is_constant()) return;
          for (const SymExpr symbol : symbols.free_symbols(expression))
            keys.emplace(symbol.bits(), node.key());
        });
      }
    }
  }
  return keys;
}

}  // namespace

ShapeCall::ShapeCall(ShapeEnv& env, const Node& node, const OpSignature& signature)
    : env_(env),
      graph_(node.graph()),
      signature_(signature),
      node_(node),
      count_(node.argument_count()) {}

ShapeCall::ShapeCall(ShapeEnv& env, const Graph& graph, const OpSignature& signature,
                     std::span<const Argument> arguments)
    : env_(env),
      graph_(graph),
      signature_(signature),
      arguments_(arguments),
      count_(static_cast<std::uint32_t>(std::max(arguments.size(), signature.arguments.size()))) {}

Argument ShapeCall::argument(std::uint32_t index) const {
  Argument found;
  if (node_) {
    if (index >= count_) return Argument::none();
    found = node_.argument(index);
  } else if (index < arguments_.size()) {
    found = arguments_[index];
  }
  if (!found.is_default()) return found;
  if (index >= signature_.arguments.size() || !signature_.arguments[index].has_default)
    return Argument::none();
  return signature_.arguments[index].default_value;
}

Value ShapeCall::value_of(const Argument& argument) const {
  return argument.is_value() ? graph_.value_at(argument.value_id()) : Value();
}

Argument ShapeCall::element(const Argument& list, std::uint32_t index) const {
  return list.is_external() ? list.external_elements()[index]
                            : (node_ ? node_ : graph_.first()).element(list, index);
}

std::string_view ShapeCall::name_of_argument(std::uint32_t index) const {
  return index < op().schema.arguments.size() ? op().schema.arguments[index].name : "";
}

const TensorMeta& ShapeCall::tensor_of_any_layout(std::uint32_t index) const {
  return meta_of(argument(index));
}

const TensorMeta& ShapeCall::meta_of(const Argument& argument) const {
  const Value value = value_of(argument);
  if (!value.valid() || !value.is_tensor())
    cannot_infer("{} is given what is no tensor", op().qualified_name);
  return value.meta().tensor;
}

const TensorMeta& ShapeCall::tensor_of(const Argument& argument) const {
  const TensorMeta& tensor = meta_of(argument);
  if (tensor.layout != Layout::strided)
    cannot_infer("{} is given a tensor with the layout {}", op().qualified_name,
                 name_of(tensor.layout));
  if (tensor.dim() > most_dims || tensor.sizes.size() != tensor.strides.size())
    cannot_infer("{} is given a tensor of {} sizes and {} strides", op().qualified_name,
                 tensor.sizes.size(), tensor.strides.size());
  if (tensor.dtype == ScalarType::unknown)
    cannot_infer("{} is given a tensor whose dtype is not known", op().qualified_name);
  return tensor;
}

const TensorMeta& ShapeCall::tensor(std::uint32_t index) const {
  return tensor_of(argument(index));
}

const TensorMeta* ShapeCall::optional_tensor(std::uint32_t index) const {
  const Argument given = argument(index);
  return given.is_none() ? nullptr : &tensor_of(given);
}

const TensorMeta* ShapeCall::tensor_or_null(std::uint32_t index) const {
  const Argument given = argument(index);
  const Value value = value_of(given);
  return value.valid() && value.is_tensor() ? &tensor_of(given) : nullptr;
}

std::vector<const TensorMeta*> ShapeCall::tensors(std::uint32_t index) const {
  const Argument given = argument(index);
  std::vector<const TensorMeta*> found;
  if (given.is_none()) return found;
  if (!given.is_list()) return {&tensor_of(given)};
  found.reserve(given.count());
  for (std::uint32_t at = 0; at < given.count(); ++at) {
    const Argument item = element(given, at);
    found.push_back(item.is_none() ? nullptr : &tensor_of(item));
  }
  return found;
}

SymInt ShapeCall::sym_int_of(const Argument& argument) const {
  if (argument.kind() == ArgumentKind::integer) return argument.integer();
  if (argument.kind() == ArgumentKind::boolean) return argument.boolean() ? 1 : 0;
  const Value value = value_of(argument);
  if (!value.valid() || value.meta().kind != ValueKind::sym_int || !value.meta().has_expression)
    cannot_infer("{} is given an int whose value is not known", op().qualified_name);
  return value.meta().expression;
}

SymInt ShapeCall::sym_int(std::uint32_t index) const {
  return sym_int_of(argument(index));
}

std::optional<SymInt> ShapeCall::optional_sym_int(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.is_none()) return std::nullopt;
  return sym_int_of(given);
}

DimVector ShapeCall::sym_ints(std::uint32_t index) const {
  const Argument given = argument(index);
  DimVector result;
  switch (given.kind()) {
    case ArgumentKind::none:
      break;
    case ArgumentKind::integers:
      for (const std::int64_t value : context().integers_of(given)) result.push_back(value);
      break;
    case ArgumentKind::booleans:
      for (const bool value : context().booleans_of(given)) result.push_back(value ? 1 : 0);
      break;
    case ArgumentKind::list:
      for (std::uint32_t at = 0; at < given.count(); ++at)
        result.push_back(sym_int_of(element(given, at)));
      break;
    default: {
      // `int[2]` takes one value for all.
      const int count = index < op().schema.arguments.size()
                            ? op().schema.arguments[index].type.without_optional().list_size()
                            : 0;
      result.resize(static_cast<std::size_t>(std::max(count, 1)), sym_int_of(given));
    }
  }
  return result;
}

bool ShapeCall::boolean(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.is_none()) return false;
  if (given.kind() == ArgumentKind::boolean) return given.boolean();
  if (given.kind() == ArgumentKind::integer) return given.integer() != 0;
  cannot_infer("argument \"{}\" of {} is a bool whose value is not known", name_of_argument(index),
               op().qualified_name);
}

std::string_view ShapeCall::string(std::uint32_t index) const {
  const Argument given = argument(index);
  return given.kind() == ArgumentKind::string ? context().text(given.string_id())
                                              : std::string_view();
}

ScalarType ShapeCall::number_kind(std::uint32_t index) const {
  const Argument given = argument(index);
  switch (given.kind()) {
    case ArgumentKind::integer:
      return ScalarType::int64;
    case ArgumentKind::floating:
      return ScalarType::float64;
    case ArgumentKind::boolean:
      return ScalarType::bool_;
    case ArgumentKind::complex:
      return ScalarType::complex128;
    default:
      break;
  }
  const Value value = value_of(given);
  if (value.valid()) {
    switch (value.meta().kind) {
      case ValueKind::sym_int:
        return ScalarType::int64;
      case ValueKind::sym_float:
        return ScalarType::float64;
      case ValueKind::sym_bool:
        return ScalarType::bool_;
      default:
        break;
    }
  }
  cannot_infer("argument \"{}\" of {} is no number whose kind is known", name_of_argument(index),
               op().qualified_name);
}

std::optional<double> ShapeCall::constant_number(std::uint32_t index) const {
  const Argument given = argument(index);
  switch (given.kind()) {
    case ArgumentKind::integer:
      return static_cast<double>(given.integer());
    case ArgumentKind::floating:
      return given.floating();
    case ArgumentKind::boolean:
      return given.boolean() ? 1.0 : 0.0;
    default:
      return std::nullopt;
  }
}

std::uint32_t ShapeCall::position(std::string_view name) const {
  const int found = op().schema.find_argument(name);
  return found < 0 ? count_ : static_cast<std::uint32_t>(found);
}

std::optional<ScalarType> ShapeCall::dtype(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.is_none()) return std::nullopt;
  if (given.kind() != ArgumentKind::dtype)
    cannot_infer("argument \"{}\" of {} is no dtype", name_of_argument(index), op().qualified_name);
  return given.dtype();
}

std::optional<Device> ShapeCall::device(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.is_none()) return std::nullopt;
  if (given.kind() != ArgumentKind::device)
    cannot_infer("argument \"{}\" of {} is no device", name_of_argument(index),
                 op().qualified_name);
  return given.device();
}

const Graph& ShapeCall::subgraph(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.kind() != ArgumentKind::graph)
    cannot_infer("argument {} of {} is no graph", index, op().qualified_name);
  return graph_.subgraph(given.graph_id());
}

void ShapeCall::expect_strided(std::uint32_t index) const {
  const Argument given = argument(index);
  if (given.is_none() ||
      (given.kind() == ArgumentKind::layout && given.layout() == Layout::strided))
    return;
  cannot_infer("{} makes a tensor that is not strided", op().qualified_name);
}

MemoryFormat ShapeCall::memory_format(std::uint32_t index, MemoryFormat otherwise) const {
  const Argument given = argument(index);
  if (given.is_none()) return otherwise;
  if (given.kind() != ArgumentKind::memory_format || given.memory_format() == MemoryFormat::unknown)
    cannot_infer("argument \"{}\" of {} is no memory format", name_of_argument(index),
                 op().qualified_name);
  return given.memory_format();
}

const Meta* ShapeCall::recorded(std::size_t result) const {
  if (!node_ || result >= node_.value_count()) return nullptr;
  return &node_.value(static_cast<std::uint32_t>(result)).meta();
}

SymInt ShapeCall::unbacked_size(std::size_t result, std::size_t dim, Range range) {
  const Meta* const known = recorded(result);
  if (known != nullptr && known->is_tensor() && dim < known->tensor.dim()) {
    const SymInt size = known->tensor.sizes[dim];
    const Range held = env_.symbols().range(size);
    if (intersection(held, range) != range && env_.renews_range(size)) {
      env_.symbols().set_range(size, range);
      return size;
    }
    if (intersection(held, range).empty())
      fail("result {} has the size {}, but {} yields sizes in {}", result, env_.str(size),
           op().qualified_name, range.str());
    // A narrower range is what the program asserts, or what the example's sizes allowed.
    env_.require_in(size, held, range, [&] {
      return fmt::format("result {} has a size in {}, and {} yields sizes in {}", result,
                         held.str(), op().qualified_name, range.str());
    });
    return size;
  }
  const SymExpr symbol = new_symbol();
  env_.symbols().set_range(symbol, range);
  return symbol;
}

bool ShapeCall::has_own_size(std::size_t result, std::size_t dim) const {
  const Meta* const known = recorded(result);
  return known != nullptr && known->is_tensor() && dim < known->tensor.dim() &&
         is_own_symbol(known->tensor.sizes[dim]);
}

bool ShapeCall::has_own_offset(std::size_t result) const {
  const Meta* const known = recorded(result);
  return known != nullptr && known->is_tensor() && is_own_symbol(known->tensor.storage_offset);
}

bool ShapeCall::is_own_symbol(SymInt recorded) const {
  if (!env_.is_unbacked(recorded) || !env_.symbols().is_symbol(recorded)) return false;
  const Graph* program = &graph_;
  while (program->parent() != nullptr) program = program->parent();
  FirstNodes& first = env_.first_nodes();
  if (first.graph_serial != program->serial())
    first = {program->serial(), first_nodes_of(*program, env_.symbols())};
  const auto found = first.keys.find(recorded.bits());
  return found != first.keys.end() && found->second == node_.key();
}

SymInt ShapeCall::unbacked_offset(std::size_t result) {
  const Meta* const known = recorded(result);
  if (known != nullptr && known->is_tensor()) return known->tensor.storage_offset;
  const SymExpr symbol = new_symbol();
  env_.symbols().set_range(symbol, Range::at_least(0));
  return symbol;
}

SymExpr ShapeCall::unbacked_value(std::size_t result, ValueKind kind) {
  const Meta* const known = recorded(result);
  if (known != nullptr && known->kind == kind && known->has_expression) return known->expression;
  if (kind != ValueKind::sym_int)
    cannot_infer("{} yields a number that depends on data", op().qualified_name);
  return new_symbol();
}

SymExpr ShapeCall::new_symbol() {
  SymbolicContext& symbols = env_.symbols();
  for (std::size_t number = symbols.symbols().size();; ++number) {
    const std::string name = fmt::format("u{}", number);
    if (!symbols.find_symbol(name)) return symbols.symbol(name, SymbolAssumptions::any_integer());
  }
}

}  // namespace winze
