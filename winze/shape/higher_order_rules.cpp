// SPDX-License-Identifier: Apache-2.0
// Higher-order operators yield what their bodies return, after torch/_higher_order_ops. Calls
// inside of a body are inferred as any others; here the metas of what it returns count.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/shape_rules.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// What a nested graph returns.
std::vector<Argument> returned_by(const Graph& body) {
  const Node output = body.output_node();
  std::vector<Argument> returned;
  if (!output) return returned;
  const Argument list = output.argument(0);
  for (std::uint32_t index = 0; index < list.count(); ++index)
    returned.push_back(output.element(list, index));
  return returned;
}

/// The meta of what a nested graph returns; numbers and None have one too.
Meta meta_of(const ShapeCall& call, const Graph& body, const Argument& returned) {
  if (returned.is_value()) return body.value_at(returned.value_id()).meta();
  Meta meta;
  if (returned.is_none()) {
    meta.kind = ValueKind::none;
  } else if (returned.kind() == ArgumentKind::integer) {
    meta.kind = ValueKind::sym_int;
    meta.expression = SymInt(returned.integer());
    meta.has_expression = true;
  } else {
    call.cannot_infer("the body \"{}\" returns a constant", body.name());
  }
  return meta;
}

void yield_meta(ShapeCall& call, const Meta& meta) {
  switch (meta.kind) {
    case ValueKind::tensor:
      return call.yield(meta.tensor);
    case ValueKind::none:
      return call.yield_none();
    default:
      if (!meta.has_expression) call.cannot_infer("a body returns what is not known");
      return call.yield_sym(meta.kind, meta.expression);
  }
}

/// Operators that call one body: invoke_subgraph, wrap_with_set_grad_enabled. `parameter` is the
/// position of the body.
void one_body(ShapeCall& call) {
  const Graph& body = call.subgraph(call.parameter());
  for (const Argument& returned : returned_by(body))
    yield_meta(call, meta_of(call, body, returned));
}

// --- cond

/// Merges what the branches of a cond return, after torch/_higher_order_ops/cond.py _merge_output:
/// sizes that differ become symbols that depend on data.
class Branches {
 public:
  Branches(ShapeCall& call, std::uint32_t result) : call_(call), result_(result) {}

  void merge(const Meta& a, const Meta& b) {
    if (a.kind == ValueKind::none && b.kind == ValueKind::none) return call_.yield_none();
    if (a.kind != b.kind) throw Error("the branches of cond return values of different kinds");
    if (a.is_tensor()) return merge_tensors(a.tensor, b.tensor);
    if (!a.has_expression || !b.has_expression)
      call_.cannot_infer("a branch returns a number whose value is not known");
    if (a.expression == b.expression) return call_.yield_sym(a.kind, a.expression);
    const SymExpr merged = call_.unbacked_value(result_, a.kind);
    constrain(merged, a.expression, b.expression);
    call_.yield_sym(a.kind, merged);
  }

 private:
  [[nodiscard]] Range range_over(SymExpr a, SymExpr b) const {
    const SymbolicContext& symbols = call_.env().symbols();
    return hull(symbols.range(a), symbols.range(b));
  }
  void constrain(SymExpr merged, SymExpr a, SymExpr b) const {
    SymbolicContext& symbols = call_.env().symbols();
    if (symbols.is_symbol(merged) && symbols.range(merged) == Range::all())
      symbols.set_range(merged, range_over(a, b));
  }

  void merge_tensors(const TensorMeta& a, const TensorMeta& b) {
    const auto refuse = [](std::string_view what) {
      fail("When merging two branches' output in torch.cond, expected same {}", what);
    };
    if (a.dtype != b.dtype) refuse("dtype");
    if (!(a.device == b.device)) refuse("device");
    if (a.layout != b.layout) refuse("layout");
    if (a.dim() != b.dim()) refuse("dim");
    ShapeEnv& env = call_.env();
    env.require_equal(a.storage_offset, b.storage_offset, [] {
      return std::string(
          "When merging two branches' output in torch.cond, expected same storage_offset");
    });
    FakeTensor merged(a);
    bool differ = false;
    for (std::size_t dim = 0; dim < a.dim(); ++dim) {
      if (a.sizes[dim] == b.sizes[dim] && !env.is_unbacked(a.sizes[dim])) continue;
      merged.sizes[dim] = call_.unbacked_size(result_, dim, range_over(a.sizes[dim], b.sizes[dim]));
      differ = true;
    }
    if (differ) merged.strides = merged_strides(merged, a, b);
    merged.storage_offset = 0;
    call_.yield(merged);
  }

  /// Both have to lie in memory in the same order, without gaps.
  DimVector merged_strides(const FakeTensor& merged, const TensorMeta& a, const TensorMeta& b) {
    const ShapeEnv& env = call_.env();
    for (const TensorMeta* branch : {&a, &b}) {
      if (!is_non_overlapping_and_dense(env, *branch))
        call_.cannot_infer("a branch returns a tensor that is not known to be dense");
    }
    const DimVector strides = dense_strides_like(env, merged.sizes, a.strides);
    if (!(dense_strides_like(env, merged.sizes, b.strides) == strides))
      throw Error("The sorted order of strides of the two branches' output doesn't match.");
    return strides;
  }

  ShapeCall& call_;
  std::uint32_t result_;
};

void cond(ShapeCall& call) {
  const Graph& on_true = call.subgraph(1);
  const Graph& on_false = call.subgraph(2);
  const std::vector<Argument> a = returned_by(on_true);
  const std::vector<Argument> b = returned_by(on_false);
  if (a.size() != b.size()) {
    fail("Unmatched output spec from torch.cond branches: {} and {} values", a.size(), b.size());
  }
  for (std::uint32_t index = 0; index < a.size(); ++index) {
    Branches(call, index)
        .merge(meta_of(call, on_true, a[index]), meta_of(call, on_false, b[index]));
  }
}

// --- Loops

/// What the body returns is carried into its next run, so that one run tells. Numbers change from
/// run to run.
void while_loop(ShapeCall& call) {
  const Graph& body = call.subgraph(1);
  std::uint32_t result = 0;
  for (const Argument& returned : returned_by(body)) {
    const Meta meta = meta_of(call, body, returned);
    if (meta.kind == ValueKind::sym_int) {
      call.yield_sym(meta.kind, call.unbacked_value(result, meta.kind));
    } else {
      yield_meta(call, meta);
    }
    ++result;
  }
}

/// A contiguous tensor with a dimension of `count` in front: what each run returns, stacked.
void yield_stacked(ShapeCall& call, const Meta& meta, SymInt count) {
  if (!meta.is_tensor()) return yield_meta(call, meta);
  DimVector sizes(meta.tensor.sizes);
  sizes.insert(0, count);
  call.yield(empty_tensor(call.env(), sizes, meta.tensor.dtype, meta.tensor.device));
}

/// The size that all of `xs` have in front.
SymInt runs_over(const ShapeCall& call, std::uint32_t xs_at) {
  const auto xs = call.tensors(xs_at);
  if (xs.empty() || xs[0] == nullptr || xs[0]->dim() == 0)
    call.cannot_infer("{} runs over no tensor", call.op().qualified_name);
  return xs[0]->sizes[0];
}

void map_impl(ShapeCall& call) {
  const Graph& body = call.subgraph(0);
  const SymInt count = runs_over(call, 1);
  for (const Argument& returned : returned_by(body))
    yield_stacked(call, meta_of(call, body, returned), count);
}

/// scan(combine_fn, init, xs, additional_inputs): what is carried, then what is stacked.
void scan(ShapeCall& call) {
  const Graph& body = call.subgraph(0);
  const SymInt count = runs_over(call, 2);
  std::uint32_t carried = call.argument(1).count();
  for (const Argument& returned : returned_by(body)) {
    const Meta meta = meta_of(call, body, returned);
    if (carried > 0) {
      yield_meta(call, meta);
      --carried;
    } else {
      yield_stacked(call, meta, count);
    }
  }
}

/// A clone of each of `xs`.
void associative_scan(ShapeCall& call) {
  for (const TensorMeta* tensor : call.tensors(1)) {
    if (tensor == nullptr) call.cannot_infer("{} runs over None", call.op().qualified_name);
    call.yield(empty_like(call.env(), *tensor));
  }
}

// --- Calls of operators that are given as arguments

/// Infers a call of `op` with arguments in its schema's order, by the rules that the context keeps.
/// What has to hold for it has to hold for this call.
std::vector<MetaId> infer_call(ShapeCall& call, OpId op, std::span<const Argument> arguments) {
  const Op& called = call.context().ops().get(op);
  if (called.schema.ns == call.op().schema.ns)
    call.cannot_infer("{} calls {}", call.op().qualified_name, called.qualified_name);
  Inference inference;
  ShapeRules::of(call.context()).infer(call.graph(), op, arguments, inference);
  if (inference.state == InferenceState::no_rule)
    call.cannot_infer("{} has no rule", called.qualified_name);
  if (inference.state == InferenceState::not_inferable) call.cannot_infer("{}", inference.reason);
  for (ShapeConstraint& constraint : inference.constraints)
    call.env().require(std::move(constraint));
  return std::move(inference.metas);
}

OpId op_argument(const ShapeCall& call, std::uint32_t index) {
  const Argument op = call.argument(index);
  if (op.kind() != ArgumentKind::op)
    call.cannot_infer("argument {} of {} is no operator", index, call.op().qualified_name);
  return op.op();
}

/// The arguments of `op` among those of this call: from position `first` on, or by their name.
std::vector<Argument> arguments_of(const ShapeCall& call, const Op& op, std::uint32_t first) {
  std::vector<Argument> arguments;
  for (const SchemaArgument& formal : op.schema.arguments) {
    const std::uint32_t at = call.op().schema.index_for(
        formal.name, first, static_cast<std::uint32_t>(arguments.size()));
    arguments.push_back(at < call.argument_count() ? call.argument(at) : Argument());
  }
  return arguments;
}

/// with_effects(token, op, ...): the next token, then what the operator yields.
void with_effects(ShapeCall& call) {
  const OpId op = op_argument(call, 1);
  const std::vector<Argument> arguments = arguments_of(call, call.context().ops().get(op), 2);
  const Value token = call.value(0);
  const auto metas = infer_call(call, op, arguments);
  call.yield(token.valid() ? token.meta_id() : call.context().plain_meta(ValueKind::token));
  for (const MetaId meta : metas) call.yield(meta);
  if (metas.empty()) call.yield_none();
}

/// out_dtype(op, output_dtype, ...): what the operator yields, in another dtype.
void out_dtype(ShapeCall& call) {
  const OpId op = op_argument(call, 0);
  const auto dtype = call.dtype(1);
  if (!dtype) call.cannot_infer("the dtype of the result is not known");
  const std::vector<Argument> arguments = arguments_of(call, call.context().ops().get(op), 2);
  for (const MetaId id : infer_call(call, op, arguments)) {
    const Meta& meta = call.context().meta(id);
    if (!meta.is_tensor()) call.cannot_infer("the operator of out_dtype yields no tensor");
    FakeTensor result(meta.tensor);
    result.dtype = *dtype;
    call.yield(result);
  }
}

// --- auto_functionalized

/// What the operator itself yields, which comes first: None where it yields nothing.
void yield_own_results(ShapeCall& call, const Op& mutable_op, std::span<const Argument> arguments) {
  if (mutable_op.is_opaque()) {
    const Meta* const recorded = call.recorded(0);
    if (recorded == nullptr || recorded->kind != ValueKind::none)
      call.cannot_infer("nothing is known of what {} yields", mutable_op.qualified_name);
  }
  if (mutable_op.schema.returns.empty()) return call.yield_none();
  for (const MetaId meta : infer_call(call, mutable_op.id, arguments)) call.yield(meta);
}

const Op& mutable_op(const ShapeCall& call) {
  const Argument op = call.argument(0);
  if (op.kind() != ArgumentKind::op) call.cannot_infer("the operator that writes is a graph");
  return call.context().ops().get(op.op());
}

/// A copy that keeps strides and offset (torch/_prims_common clone_preserve_strides).
void yield_copy(ShapeCall& call, const TensorMeta* tensor) {
  tensor == nullptr ? call.yield_none() : call.yield(*tensor);
}

/// Copies of all arguments that are written, in the order of the schema.
void auto_functionalized(ShapeCall& call) {
  const Op& op = mutable_op(call);
  yield_own_results(call, op, arguments_of(call, op, 1));
  for (const SchemaArgument& argument : op.schema.arguments) {
    if (!argument.alias || !argument.alias->is_write) continue;
    const std::uint32_t at = call.position(argument.name);
    if (call.is_none(at)) {
      call.yield_none();
    } else {
      for (const TensorMeta* tensor : call.tensors(at)) yield_copy(call, tensor);
    }
  }
}

/// What the operator of auto_functionalized_v2 is given for an argument that it writes: one of the
/// bases (torch/_higher_order_ops/auto_functionalize.py).
Argument written_argument(const ShapeCall& call, const Op& op, const SchemaArgument& formal) {
  const std::string prefix = fmt::format("_{}", formal.name);
  // A view of a base is made anew from these numbers, and there is no value of it to ask about.
  for (const char* number : {"_size", "_slice_dim", "_length"}) {
    if (!call.is_none(call.position(prefix + number)))
      call.cannot_infer("{} writes a view or a list, {}", op.qualified_name, formal.name);
  }
  const auto index = call.optional_sym_int(call.position(prefix + "_base_index"));
  if (!index) return Argument::none();
  const Argument bases = call.argument(call.position("_all_bases"));
  if (!index->is_constant() || !bases.is_list() || index->constant() < 0 ||
      index->constant() >= static_cast<std::int64_t>(bases.count()))
    call.cannot_infer("{} is given no base {}", op.qualified_name, formal.name);
  return call.element(bases, static_cast<std::uint32_t>(index->constant()));
}

/// Copies of all tensors that views are written through.
void auto_functionalized_v2(ShapeCall& call) {
  const Op& op = mutable_op(call);
  std::vector<Argument> arguments;
  if (!op.schema.returns.empty()) {
    for (const SchemaArgument& formal : op.schema.arguments) {
      arguments.push_back(formal.alias && formal.alias->is_write
                              ? written_argument(call, op, formal)
                              : call.argument(call.position(formal.name)));
    }
  }
  yield_own_results(call, op, arguments);
  for (const TensorMeta* base : call.tensors(call.position("_all_bases"))) yield_copy(call, base);
}

// --- vmap, as export keeps it

/// How many elements a level runs over that begins with this call, or that this call adds a tensor
/// to.
std::optional<SymInt> elements_of(const Node& call) {
  if (call.op() == op::torch__functorch_predispatch__vmap_increment_nesting) {
    const Argument count = call.argument_or_default(0);
    if (count.kind() == ArgumentKind::integer) return count.integer();
    if (!count.is_value()) return std::nullopt;
    const Meta& meta = call.graph().value_at(count.value_id()).meta();
    return meta.has_expression ? std::optional(meta.expression) : std::nullopt;
  }
  const Value tensor = call.argument_value(0);
  const Argument dim = call.argument_or_default(1);
  if (!tensor || !tensor.is_tensor() || dim.kind() != ArgumentKind::integer) return std::nullopt;
  const Sizes sizes = tensor.meta().tensor.sizes;
  if (sizes.empty()) return std::nullopt;
  return sizes[wrap_dim(dim.integer(), sizes.size())];
}

/// How many elements the level runs over that a call adds a tensor to, as far as the calls before
/// it tell: export begins a level with one `_add_batch_dim` behind the other.
std::optional<SymInt> elements_of_level(const Node& add) {
  constexpr int looked_at = 8;
  Node before = add ? add.prev() : Node();
  for (int count = 0; before && count < looked_at; ++count, before = before.prev()) {
    if (before.is_call_to(op::torch__functorch_predispatch__vmap_increment_nesting) ||
        before.is_call_to(op::torch__functorch_predispatch__add_batch_dim))
      return elements_of(before);
    if (before.is_call_to(op::torch__functorch_predispatch__vmap_decrement_nesting)) break;
  }
  return std::nullopt;
}

/// The tensor without the dimension that is mapped over, which is as long as that of the others.
void add_batch_dim(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() == 0) fail("vmap cannot run over a tensor that has no dimension");
  const std::size_t dim = call.dim(1, self.dim());
  if (const std::optional<SymInt> elements = elements_of_level(call.node())) {
    call.env().require_equal(self.sizes[dim], *elements, [&] {
      return fmt::format("vmap runs over {} elements, and dimension {} of a tensor has {}",
                         call.env().str(*elements), dim, call.env().str(self.sizes[dim]));
    });
  }
  call.yield(without_dim(self, dim));
}

/// Whether each size of a recorded tensor is more than 1, so that its strides tell their order.
bool tells_its_order(const ShapeEnv& env, const TensorMeta& tensor) {
  return is_non_overlapping_and_dense(env, tensor) &&
         std::ranges::all_of(tensor.sizes, [&](SymInt size) { return env.known_less(1, size); });
}

/// The mapped dimension lies where the operators before have put it, which a tensor without it does
/// not tell: the order in memory is the one that is recorded.
void remove_batch_dim(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const std::size_t dim = call.dim(3, self.dim() + 1);
  DimVector sizes(self.sizes);
  sizes.insert(dim, call.sym_int(2));
  const Meta* const recorded = call.recorded(0);
  const bool is_known = recorded != nullptr && recorded->is_tensor();
  const bool is_as_recorded =
      is_known && std::ranges::equal(recorded->tensor.sizes, sizes, [&](SymInt a, SymInt b) {
        return call.env().known_equal(a, b);
      });
  const bool has_same_order = is_known && recorded->tensor.dim() == sizes.size() &&
                              tells_its_order(call.env(), recorded->tensor);
  if (!is_as_recorded && !has_same_order)
    call.cannot_infer("where a mapped dimension lies in memory is not known");
  FakeTensor result(recorded->tensor);
  if (!is_as_recorded) {
    result.strides = dense_strides_like(call.env(), sizes, recorded->tensor.strides);
    result.sizes = std::move(sizes);
  }
  result.dtype = self.dtype;
  result.device = self.device;
  call.yield(result);
}

void enter_or_leave_vmap(ShapeCall& call) {
  call.yield_none();
}
void nothing(ShapeCall& call) {
  static_cast<void>(call);
}

}  // namespace

std::span<const ShapeRow> higher_order_rows() {
  static constexpr ShapeRow rows[] = {
      {op::higher_order_out_dtype, out_dtype},
      {op::higher_order_with_effects, with_effects},
      {op::higher_order_associative_scan, associative_scan},
      {op::higher_order_auto_functionalized, auto_functionalized},
      {op::higher_order_auto_functionalized_v2, auto_functionalized_v2},
      {op::higher_order_cond, cond},
      {op::higher_order_hints_wrapper, one_body, 0},
      {op::higher_order_invoke_quant, one_body, 0},
      {op::higher_order_invoke_quant_packed, one_body, 0},
      {op::higher_order_invoke_subgraph, one_body, 0},
      {op::higher_order_map_impl, map_impl},
      {op::higher_order_run_const_graph, one_body, 0},
      {op::higher_order_scan, scan},
      {op::higher_order_strict_mode, one_body, 0},
      {op::higher_order_tag_activation_checkpoint, one_body, 0},
      {op::higher_order_while_loop, while_loop},
      {op::higher_order_wrap, one_body, 0},
      {op::higher_order_wrap_activation_checkpoint, one_body, 0},
      {op::higher_order_wrap_with_autocast, one_body, 4},
      {op::higher_order_wrap_with_set_grad_enabled, one_body, 1},
      {op::torch__functorch_predispatch__add_batch_dim, add_batch_dim},
      {op::torch__functorch_predispatch__remove_batch_dim, remove_batch_dim},
      {op::torch__functorch_predispatch__vmap_decrement_nesting, enter_or_leave_vmap},
      {op::torch__functorch_predispatch__vmap_increment_nesting, enter_or_leave_vmap},
      {op::torch__functorch_predispatch_lazy_load_decompositions, nothing},
  };
  return rows;
}

}  // namespace winze
