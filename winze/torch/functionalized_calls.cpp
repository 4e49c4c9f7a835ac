// SPDX-License-Identifier: Apache-2.0
// How a call of auto_functionalized gives the arguments of the operator that it calls.
// PyTorch's side is torch/_higher_order_ops/auto_functionalize.py.
#include <optional>
#include <string>

#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/torch/compiler.h"

namespace winze {
namespace {

/// Compiles the arguments of one call.
///
/// A plan says how one argument of the operator is made: {0, operand}; {1, base, kind, a, b, c} for
/// a view of a base (-1 for None), where kind 0 is the base itself, 1 an alias, 2 a slice with
/// dimension, start and end, 3 as_strided with sizes, strides and offset, each the number of an
/// operand; {2, …} for a list of views, five numbers each as after the 1.
class Views {
 public:
  Views(Compiler& compiler, Node node, CallDetail& detail)
      : compiler_(&compiler),
        node_(node),
        detail_(&detail),
        schema_(&node.graph().context().ops().get(node.op()).schema) {}

  std::vector<Operand> run() {
    std::vector<Operand> bases;
    if (const std::optional<Argument> list = find("_all_bases")) {
      const std::uint32_t count = list_size(node_.graph().context(), *list);
      for (std::uint32_t i = 0; i < count; ++i)
        bases.push_back(compiler_->plain_operand(node_, node_.element(*list, i)));
    }
    for (const c10::Argument& formal : detail_->op->schema().arguments())
      detail_->plans.push_back(plan_for(formal));
    detail_->group_sizes = {static_cast<std::uint32_t>(bases.size()),
                            static_cast<std::uint32_t>(operands_.size())};
    bases.insert(bases.end(), operands_.begin(), operands_.end());
    return bases;
  }

 private:
  [[nodiscard]] std::optional<Argument> find(const std::string& name) const {
    const int position = schema_->find_argument(name);
    if (position < 0) return std::nullopt;
    return node_.argument_or_default(static_cast<std::uint32_t>(position));
  }

  std::int64_t add(Operand operand) {
    operands_.push_back(operand);
    return static_cast<std::int64_t>(operands_.size() - 1);
  }

  std::int64_t add_number(const std::string& name) {
    return add(compiler_->operand(node_, wanted(name), *c10::IntType::get()));
  }
  std::int64_t add_numbers(const std::string& name) {
    return add(compiler_->operand(node_, wanted(name), *c10::ListType::ofInts()));
  }
  [[nodiscard]] Argument wanted(const std::string& name) const {
    const std::optional<Argument> argument = find(name);
    if (!argument) fail_at(node_, fmt::format("argument {} is missing", quote(name)));
    return *argument;
  }

  /// The five numbers of a view.
  void add_view(std::vector<std::int64_t>& plan, const std::string& prefix) {
    const Argument base = wanted(prefix + "_base_index");
    std::vector<std::int64_t> view(5, 0);
    view[0] = base.kind() == ArgumentKind::integer ? base.integer() : -1;
    if (find(prefix + "_alias")) {
      view[1] = 1;
    } else if (find(prefix + "_slice_dim")) {
      view = {view[0], 2, add_number(prefix + "_slice_dim"), add_number(prefix + "_slice_start"),
              add_number(prefix + "_slice_end")};
    } else if (find(prefix + "_size")) {
      view = {view[0], 3, add_numbers(prefix + "_size"), add_numbers(prefix + "_stride"),
              add_number(prefix + "_storage_offset")};
    }
    plan.insert(plan.end(), view.begin(), view.end());
  }

  std::vector<std::int64_t> plan_for(const c10::Argument& formal) {
    const std::string prefix = "_" + formal.name();
    if (find(prefix + "_base_index")) {
      std::vector<std::int64_t> plan{1};
      add_view(plan, prefix);
      return plan;
    }
    if (const std::optional<Argument> length = find(prefix + "_length");
        length && length->kind() == ArgumentKind::integer) {
      std::vector<std::int64_t> plan{2};
      for (std::int64_t i = 0; i < length->integer(); ++i)
        add_view(plan, fmt::format("{}_{}", prefix, i));
      return plan;
    }
    const std::optional<Argument> given = find(formal.name());
    if (given && !given->is_default()) {
      return {0, add(compiler_->operand(node_, *given, *formal.type(), formal.N().value_or(0)))};
    }
    return {0, add(compiler_->constant(formal.default_value().value_or(c10::IValue())))};
  }

  Compiler* compiler_;
  Node node_;
  CallDetail* detail_;
  const Schema* schema_;
  std::vector<Operand> operands_;
};

}  // namespace

std::vector<Operand> compile_functionalized(Compiler& compiler, Node node, CallDetail& detail,
                                            bool has_bases) {
  detail.op = compiler.find_operator(node, node.argument(0).op());
  if (has_bases) return Views(compiler, node, detail).run();
  const Schema& schema = node.graph().context().ops().get(node.op()).schema;
  std::vector<Operand> operands;
  for (const c10::Argument& formal : detail.op->schema().arguments()) {
    const bool written = formal.alias_info() != nullptr && formal.alias_info()->isWrite();
    detail.plans.push_back(written ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{});
    const int position = schema.find_argument(formal.name());
    if (position >= 0) {
      operands.push_back(compiler.operand(node, node.argument(static_cast<std::uint32_t>(position)),
                                          *formal.type(), formal.N().value_or(0)));
    } else {
      operands.push_back(compiler.constant(formal.default_value().value_or(c10::IValue())));
    }
  }
  return operands;
}

}  // namespace winze
