// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_propagation.h"

#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/linear_solution.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/meta_edits.h"

namespace winze {
namespace {

bool comes_later(const Node& a, const Node& b) {
  return b.before(a);
}

bool has_unbacked(const ShapeEnv& env, const Meta& meta) {
  if (meta.has_expression) return env.is_unbacked(meta.expression);
  return meta.is_tensor() &&
         std::ranges::any_of(meta.tensor.sizes, [&](SymInt size) { return env.is_unbacked(size); });
}

/// Lays a tensor out as it is recorded, where it has the same sizes.
void keep_layout(const ShapeEnv& env, const Meta& recorded, Meta& meta) {
  if (!recorded.is_tensor() || !meta.is_tensor()) return;
  if (!std::ranges::equal(recorded.tensor.sizes, meta.tensor.sizes,
                          [&](SymInt a, SymInt b) { return env.known_equal(a, b); }))
    return;
  meta.tensor.strides = recorded.tensor.strides;
  meta.tensor.storage_offset = recorded.tensor.storage_offset;
}

}  // namespace

Diagnostic diagnostic_of(const PropagationProblem& problem) {
  Context& context = problem.node.graph().context();
  SymbolicContext& symbols = context.symbols();
  const std::string_view name = context.ops().qualified_name(problem.node.op());
  Diagnostic diagnostic;
  diagnostic.node = problem.node.str();
  if (const auto line = context.user_line(problem.node.source())) diagnostic.source = line->str();
  diagnostic.hint = problem.hint;
  switch (problem.kind) {
    case PropagationProblem::Kind::refused:
      diagnostic.message = fmt::format("{} refuses its arguments: {}", name, problem.message);
      return diagnostic;
    case PropagationProblem::Kind::unknown:
      diagnostic.message =
          fmt::format("what {} yields now is not known: {}", name, problem.message);
      return diagnostic;
    case PropagationProblem::Kind::constraint:
      break;
  }
  if (symbols.op(problem.condition) == SymOp::eq) {
    const auto operands = symbols.operands(problem.condition);
    if (const auto fixed = linear_solution(symbols, operands[0], operands[1])) {
      diagnostic.message =
          fmt::format("{} fixes {} to {}: {}", name, symbols.symbol_name(fixed->symbol),
                      fixed->value, problem.message);
      diagnostic.hint = "a number among its arguments, or before them, came of the example's size";
      return diagnostic;
    }
  }
  diagnostic.message = fmt::format("{} needs {}, which the ranges of the symbols do not prove: {}",
                                   name, symbols.str(problem.condition), problem.message);
  return diagnostic;
}

MetaPropagation::MetaPropagation(Graph& root)
    : root_(root), rules_(ShapeRules::of(root.context())), env_(root.context().symbols()) {}

MetaPropagation::Work& MetaPropagation::work(Graph& graph) {
  std::unique_ptr<Work>& work = works_[&graph];
  if (work == nullptr) work = std::make_unique<Work>(graph);
  return *work;
}

void MetaPropagation::add(const Node& call) {
  // The call that runs a graph leads to it, and yields what it returns.
  for (Node node = call; node && node.is_call() && !takes_all_; node = node.graph().holder()) {
    // It is inferred once its bodies are.
    if (std::ranges::find(frames_, node, &Frame::opened) != frames_.end()) return;
    Work& work = this->work(node.graph());
    if (!work.waiting.insert(node.id().index).second) return;
    work.heap.push_back(node);
    std::ranges::push_heap(work.heap, comes_later);
    if (&node.graph() == &root_) return;
  }
}

void MetaPropagation::add_users(Value value) {
  work(value.graph()).changed.insert(value.id().index);
  for (const Use use : value.uses()) {
    if (use.node.is_call()) {
      add(use.node);
    } else if (use.node.is_output() && &value.graph() != &root_) {
      add(value.graph().holder());
    }
  }
}

void MetaPropagation::set_meta(Value value, const Meta& meta) {
  const Meta& is = value.meta();
  if (same_meta(env_, is, meta, compared_layout(true, compare_offsets_)) == Proof::yes) return;
  Context& context = root_.context();
  MetaId id;
  if (meta.is_tensor()) {
    TensorMeta tensor = meta.tensor;
    tensor.requires_grad = is.is_tensor() && is.tensor.requires_grad;
    id = context.tensor_meta(tensor);
  } else if (meta.kind == ValueKind::custom_object) {
    id = context.custom_object_meta(meta.class_name);
  } else {
    id = meta.has_expression ? context.sym_meta(meta.kind, meta.expression)
                             : context.plain_meta(meta.kind);
  }
  value.set_meta(id);
  ++result_.changed;
  add_users(value);
}

void MetaPropagation::add_edits() {
  const MetaEdits edits = meta_edits(root_);
  for (const Node& call : edits.calls) add(call);
  for (const Value& value : edits.retyped) add_users(value);
  for (const Value& value : edits.replacements) {
    for (const Use use : value.uses()) add(use.node);
  }
}

Propagation MetaPropagation::run() {
  return go_through();
}

Propagation MetaPropagation::run_all() {
  takes_all_ = true;
  return go_through();
}

Propagation MetaPropagation::go_through() {
  push(root_);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const Node opened = std::exchange(frame.opened, Node());
    const Node call = opened ? opened : next(frame);
    if (!call) {
      frames_.pop_back();
      continue;
    }
    if (!opened && root_.context().ops().get(call.op()).is_higher_order()) {
      frame.opened = call;
      if (open_bodies(call)) continue;
      frames_.back().opened = Node();
    }
    infer(call);
  }
  return std::move(result_);
}

Node MetaPropagation::next(Frame& frame) {
  if (takes_all_) {
    Node node = frame.next;
    while (node && !node.is_call()) node = node.next();
    frame.next = node ? node.next() : node;
    return node;
  }
  Work& work = *frame.work;
  if (work.heap.empty()) return {};
  std::ranges::pop_heap(work.heap, comes_later);
  const Node node = work.heap.back();
  work.heap.pop_back();
  work.waiting.erase(node.id().index);
  return node;
}

std::string_view MetaPropagation::why_untold(const Node& call) const {
  return frames_.back().work->operands.why_untold(call);
}

bool MetaPropagation::open_bodies(const Node& call) {
  if (!why_untold(call).empty()) return false;
  bool any = false;
  for (const BodyCall& body_call : body_calls(call)) {
    Graph& body = *body_call.body;
    const std::vector<Node> inputs = body.placeholders();
    const std::size_t count = std::min(inputs.size(), body_call.operands.size());
    for (std::size_t index = 0; index < count; ++index)
      pass_operand(call, body_call.operands[index], body_call.is_loop, inputs[index].value());
    if (!takes_all_ && work(body).heap.empty()) continue;
    push(body);
    any = true;
  }
  return any;
}

void MetaPropagation::pass_operand(const Node& call, const BodyOperand& operand, bool is_loop,
                                   Value input) {
  if (!operand.argument.is_value()) return;
  // What is carried from run to run is given a symbol of its own where it changes.
  if (is_loop && has_unbacked(env_, input.meta())) return;
  Meta meta = call.graph().value_at(operand.argument.value_id()).meta();
  if (operand.is_sliced && meta.is_tensor()) {
    if (meta.tensor.sizes.empty() || meta.tensor.strides.empty()) return;
    meta.tensor.sizes = meta.tensor.sizes.subspan(1);
    meta.tensor.strides = meta.tensor.strides.subspan(1);
  }
  set_meta(input, meta);
}

void MetaPropagation::infer(const Node& call) {
  ++result_.inferred;
  using Kind = PropagationProblem::Kind;
  const auto results_stay = [&](std::string reason) {
    if (inputs_changed(call)) add_problem(Kind::unknown, call, std::move(reason));
  };
  if (const std::string_view why = why_untold(call); !why.empty())
    return results_stay(fmt::format("{}, so that they do not tell the results", why));
  try {
    rules_.infer(call, inference_);
  } catch (const Error& error) {
    const Diagnostic& diagnostic = error.diagnostic();
    // What it took for granted so far says more than what then failed.
    if (inference_.constraints.empty())
      return add_problem(Kind::refused, call, diagnostic.message, diagnostic.hint);
    for (const ShapeConstraint& constraint : inference_.constraints)
      add_problem(Kind::constraint, call, constraint.why, {}, constraint.condition);
    return;
  }
  if (inference_.state == InferenceState::no_rule)
    return results_stay("no shape rule says what it yields");
  if (inference_.state == InferenceState::not_inferable) return results_stay(inference_.reason);
  for (const ShapeConstraint& constraint : inference_.constraints)
    add_problem(Kind::constraint, call, constraint.why, {}, constraint.condition);
  apply(call);
}

void MetaPropagation::apply(const Node& call) {
  if (inference_.metas.size() != call.value_count()) {
    return add_problem(PropagationProblem::Kind::refused, call,
                       fmt::format("it yields {} values, and the program takes {}",
                                   inference_.metas.size(), call.value_count()));
  }
  const bool tells_layout = frames_.back().work->operands.tell_layout(call);
  const Proof same =
      same_results(env_, call, inference_, compared_layout(tells_layout, compare_offsets_));
  if (same == Proof::yes) return;
  // Where something has to be assumed, so has that what is recorded is right.
  if (same == Proof::unknown && !inference_.constraints.empty() && !inputs_changed(call)) return;
  const Context& context = root_.context();
  for (std::uint32_t index = 0; index < call.value_count(); ++index) {
    Meta meta = context.meta(inference_.metas[index]);
    if (!tells_layout) keep_layout(env_, call.value(index).meta(), meta);
    set_meta(call.value(index), meta);
  }
}

bool MetaPropagation::inputs_changed(const Node& call) const {
  const tsl::robin_set<std::uint32_t>& changed = frames_.back().work->changed;
  if (changed.empty()) return false;
  return std::ranges::any_of(call.input_values(),
                             [&](Value value) { return changed.contains(value.id().index); });
}

void MetaPropagation::add_problem(PropagationProblem::Kind kind, const Node& node,
                                  std::string message, std::string hint, SymExpr condition) {
  // Two dimensions may want the same.
  if (kind == PropagationProblem::Kind::constraint && !result_.problems.empty() &&
      result_.problems.back().node == node && result_.problems.back().condition == condition)
    return;
  result_.problems.push_back({kind, node, condition, std::move(message), std::move(hint)});
}

Propagation propagate_metas(Graph& root) {
  MetaPropagation propagation(root);
  propagation.add_edits();
  return propagation.run();
}

}  // namespace winze
