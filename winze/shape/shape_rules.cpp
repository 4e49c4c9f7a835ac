// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/shape_rules.h"

#include <algorithm>

#include "winze/shape/families.h"

namespace winze {
namespace {

/// The name without what marks it as in-place: `add_` is `add`, `__iand__` is `__and__`. Empty for
/// others.
std::string without_in_place(std::string_view name) {
  if (name.starts_with("__i") && name.ends_with("__")) return "__" + std::string(name.substr(3));
  if (name.ends_with('_') && !name.ends_with("__"))
    return std::string(name.substr(0, name.size() - 1));
  return {};
}

bool is_written(const SchemaArgument& argument) {
  return argument.alias && argument.alias->is_write;
}

/// What a factory is told of its result, and a tensor given as `out` says itself.
bool is_tensor_option(const SchemaArgument& argument) {
  constexpr std::string_view names[] = {"dtype", "layout", "device", "pin_memory", "memory_format"};
  return argument.kwarg_only && std::ranges::find(names, argument.name) != std::end(names);
}

/// How the arguments of a variant lie among those of the functional form.
enum class Fit : std::uint8_t { none, same, without_options };

/// Whether `functional` takes what `variant` takes, but for the arguments named `out` and the like
/// that stand last, and for the tensor options that only the functional form needs.
Fit fit(const Schema& functional, const Schema& variant, bool in_place) {
  std::size_t count = variant.arguments.size();
  if (!in_place) {
    while (count > 0 && is_written(variant.arguments[count - 1])) --count;
  }
  Fit found = Fit::same;
  std::size_t at = 0;
  for (const SchemaArgument& argument : functional.arguments) {
    if (at < count && argument.name == variant.arguments[at].name &&
        argument.type == variant.arguments[at].type) {
      ++at;
    } else if (!in_place && is_tensor_option(argument)) {
      found = Fit::without_options;
    } else {
      return Fit::none;
    }
  }
  return at == count ? found : Fit::none;
}

bool writes_anything(const Schema& schema) {
  return std::ranges::any_of(schema.arguments, is_written);
}

}  // namespace

ShapeRules::ShapeRules(Context& context) : context_(context), env_(context.symbols()) {
  entries_.resize(context.ops().size());
  for (const ShapeFamily& family : shape_families()) {
    for (const ShapeRow& row : family.rows) {
      Entry& entry = entries_[row.op.index];
      WINZE_CHECK(entry.rule == nullptr, "{} has two shape rules",
                  context.ops().qualified_name(row.op));
      entry = {row.rule, row.parameter, Via::rule, 0};
    }
  }
}

ShapeRules& ShapeRules::of(Context& context) {
  static constexpr char key = 0;
  std::shared_ptr<void>& kept = context.attachment(&key);
  if (kept == nullptr) kept = std::make_shared<ShapeRules>(context);
  return *static_cast<ShapeRules*>(kept.get());
}

bool ShapeRules::has_rule(OpId op) {
  return entry(op).via != Via::none;
}

void ShapeRules::add(OpId op, CustomShapeRule rule) {
  if (op.index >= entries_.size()) entries_.resize(context_.ops().size());
  Entry& entry = entries_[op.index];
  entry = {nullptr, 0, Via::custom, static_cast<std::uint32_t>(custom_.size())};
  custom_.push_back(std::move(rule));
}

const ShapeRules::Entry& ShapeRules::entry(OpId op) {
  if (op.index >= entries_.size()) entries_.resize(context_.ops().size());
  if (entries_[op.index].via == Via::unknown) {
    const Entry found = find_entry(op);
    entries_[op.index] = found;
  }
  return entries_[op.index];
}

ShapeRules::Entry ShapeRules::find_entry(OpId id) {
  Entry none;
  none.via = Via::none;
  const Op& op = context_.ops().get(id);
  if (op.is_opaque()) return none;
  if (op.is_variant()) return entry(op.base);
  const auto [functional, takes_options] = functional_form(op);
  const OpId form = functional.is_valid() ? functional : view_form(op);
  if (!form.is_valid()) return none;
  Entry found = entry(form);
  if (functional.is_valid()) {
    // `t_copy.out` goes through `t_copy`, and so through `t`: what is written has its own strides.
    if (found.via != Via::rule && found.via != Via::copy) return none;
    found.via = takes_options ? Via::factory : Via::functional;
  } else {
    if (found.via != Via::rule) return none;
    found.via = Via::copy;
  }
  return found;
}

OpId ShapeRules::view_form(const Op& op) const {
  constexpr std::string_view suffix = "_copy";
  if (!op.schema.name.ends_with(suffix) || writes_anything(op.schema)) return {};
  const std::string_view name = op.schema.name.substr(0, op.schema.name.size() - suffix.size());
  const OpId found = context_.ops().find(fmt::format(
      "{}.{}.{}", op.schema.ns, name, op.schema.overload.empty() ? "default" : op.schema.overload));
  if (!found.is_valid()) return {};
  const Op& view = context_.ops().get(found);
  return view.is_view() && fit(view.schema, op.schema, true) == Fit::same ? found : OpId{};
}

ShapeRules::FunctionalForm ShapeRules::functional_form(const Op& op) const {
  if (!writes_anything(op.schema)) return {};
  // `pow_.Tensor` is `pow.Tensor_Tensor`: the overload is the one that takes the same.
  const std::string in_place = without_in_place(op.schema.name);
  const std::string_view name = in_place.empty() ? op.schema.name : std::string_view(in_place);
  FunctionalForm with_options;
  for (const OpId other : context_.ops().overloads(fmt::format("{}.{}", op.schema.ns, name))) {
    const Schema& schema = context_.ops().get(other).schema;
    if (writes_anything(schema)) continue;
    const Fit found = fit(schema, op.schema, !in_place.empty());
    if (found == Fit::same) return {other, false};
    if (found == Fit::without_options && !with_options.op.is_valid()) with_options = {other, true};
  }
  return with_options;
}

void ShapeRules::infer(const Node& node, Inference& result) {
  result.metas.clear();
  result.constraints.clear();
  const Entry found = entry(node.op());
  if (found.via == Via::none) {
    result.state = InferenceState::no_rule;
    return;
  }
  ShapeCall call(env_, node, context_.signature(node.op()));
  try {
    run(found, call, result);
  } catch (Error& error) {
    result.constraints = env_.take_constraints();
    Diagnostic diagnostic = error.diagnostic();
    diagnostic.node = node.str();
    if (const auto line = context_.user_line(node.source())) diagnostic.source = line->str();
    throw Error(std::move(diagnostic));
  }
}

void ShapeRules::infer(const Graph& graph, OpId op, std::span<const Argument> arguments,
                       Inference& result) {
  result.metas.clear();
  result.constraints.clear();
  const Entry found = entry(op);
  if (found.via == Via::none) {
    result.state = InferenceState::no_rule;
    return;
  }
  ShapeCall call(env_, graph, context_.signature(op), arguments);
  run(found, call, result);
}

void ShapeRules::run(const Entry& entry, ShapeCall& call, Inference& result) {
  env_.clear_constraints();
  call.parameter_ = entry.parameter;
  call.results_.swap(result.metas);
  try {
    if (entry.via == Via::custom) {
      custom_[entry.custom](call);
    } else {
      entry.rule(call);
    }
    if (entry.via == Via::functional) replace_written(call, true);
    if (entry.via == Via::factory) replace_written(call, false);
    if (entry.via == Via::copy) replace_views(call);
    result.state = InferenceState::inferred;
  } catch (const NotInferable& reason) {
    result.state = InferenceState::not_inferable;
    result.reason = reason.what();
    call.results_.clear();
  }
  result.metas.swap(call.results_);
  if (!env_.constraints().empty()) result.constraints = env_.take_constraints();
}

void ShapeRules::replace_views(ShapeCall& call) {
  for (MetaId& result : call.results_) {
    const TensorMeta view = context_.meta(result).tensor;
    result = context_.tensor_meta(empty_like(env_, view, MemoryFormat::contiguous_format));
  }
}

void ShapeRules::replace_written(ShapeCall& call, bool has_dtype) {
  const Op& op = call.op();
  if (op.schema.returns.empty()) {
    call.results_.clear();
    return;
  }
  if (op.tags.has(Tag::inplace_view)) return;  // `t_`: the tensor becomes what the rule says
  for (const ResultAlias& alias : op.effects.aliases) {
    if (alias.kind != ResultAlias::Kind::self) continue;
    WINZE_CHECK(alias.result < call.results_.size(), "{} yields {} results by its rule",
                op.qualified_name, call.results_.size());
    const Value written = call.value(alias.argument);
    if (!written.valid()) call.cannot_infer("{} writes to what is no tensor", op.qualified_name);
    const Meta& expected = context_.meta(call.results_[alias.result]);
    const Meta& is = written.meta();
    if (expected.is_tensor() && is.is_tensor()) {
      const auto list = [&](Sizes sizes) {
        std::string text;
        for (const SymInt size : sizes) text += (text.empty() ? "" : ", ") + env_.str(size);
        return text;
      };
      if (expected.tensor.dim() != is.tensor.dim() ||
          !std::equal(is.tensor.sizes.begin(), is.tensor.sizes.end(), expected.tensor.sizes.begin(),
                      [&](SymInt a, SymInt b) { return env_.equal(a, b) != Proof::no; })) {
        if (op.schema.arguments[alias.argument].kwarg_only)
          call.cannot_infer("{} resizes its argument \"{}\"", op.qualified_name,
                            op.schema.arguments[alias.argument].name);
        fail("output with shape [{}] doesn't match the broadcast shape [{}]", list(is.tensor.sizes),
             list(expected.tensor.sizes));
      }
    }
    if (has_dtype && expected.is_tensor() && is.is_tensor() &&
        !can_cast(expected.tensor.dtype, is.tensor.dtype)) {
      fail("result type {} can't be cast to the desired output type {}",
           full_name(expected.tensor.dtype), full_name(is.tensor.dtype));
    }
    call.results_[alias.result] = written.meta_id();
  }
  // A functional form yields all that the other writes, also what the other does not return.
  if (std::ranges::none_of(op.schema.returns,
                           [](const SchemaReturn& result) { return result.type.is_list(); }))
    call.results_.resize(std::min(call.results_.size(), op.schema.returns.size()));
}

}  // namespace winze
