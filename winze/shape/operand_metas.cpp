// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/operand_metas.h"

#include <algorithm>
#include <array>

#include "winze/schema/op.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// The operators that PyTorch tags `inplace_view`, but for those that change no size and no stride.
constexpr std::array changing_in_place = {
    op::aten_as_strided__default, op::aten_resize__default,
    op::aten_resize_as__default,  op::aten_set__default,
    op::aten_set__source_Storage, op::aten_set__source_Storage_storage_offset,
    op::aten_set__source_Tensor,  op::aten_set__source_Tensor_storage_offset,
    op::aten_squeeze__default,    op::aten_squeeze__dim,
    op::aten_squeeze__dims,       op::aten_swapaxes__default,
    op::aten_swapdims__default,   op::aten_t__default,
    op::aten_transpose__default,  op::aten_unsqueeze__default,
};

/// The node of the argument that a call writes and gives back as its result, the same tensor
/// object; invalid where there is none.
Node written_and_returned(const Node& call) {
  if (!call.is_call()) return {};
  const Schema& schema = call.graph().context().ops().get(call.op()).schema;
  if (schema.returns.size() != 1 || !schema.returns[0].alias || !schema.returns[0].alias->is_write)
    return {};
  const std::uint64_t sets = schema.returns[0].alias->before;
  for (std::uint32_t index = 0; index < schema.arguments.size(); ++index) {
    const auto& alias = schema.arguments[index].alias;
    if (!alias || !alias->is_write || (alias->before & sets) == 0) continue;
    const Value value = call.argument_value(index);
    return value ? value.node() : Node{};
  }
  return {};
}

/// Whether `_enter_autocast` or `wrap_with_autocast` turns it on rather than off.
bool turns_on(const Node& call) {
  constexpr std::uint32_t enabled_at = 2;
  if (call.argument_count() <= enabled_at) return true;
  const Argument enabled = call.argument(enabled_at);
  return enabled.kind() != ArgumentKind::boolean || enabled.boolean();
}

Regions autocast_regions(const Graph& graph) {
  return {graph, op::torch_amp_autocast_mode__enter_autocast,
          op::torch_amp_autocast_mode__exit_autocast};
}

/// Whether the call that runs the graph is under autocast, or turns it on itself.
bool is_autocast_around(const Graph& graph) {
  for (Node holder = graph.holder(); holder; holder = holder.graph().holder()) {
    if (holder.is_call_to(op::higher_order_wrap_with_autocast)) return turns_on(holder);
    if (const Node enter = autocast_regions(holder.graph()).innermost(holder))
      return turns_on(enter);
  }
  return false;
}

}  // namespace

Regions::Regions(const Graph& graph, OpId enter, OpId leave) {
  for (const OpId op : {enter, leave}) {
    for (const Node node : graph.find_nodes(op, false)) borders_.push_back({node, {}, 0});
  }
  std::ranges::sort(borders_,
                    [](const Border& a, const Border& b) { return a.node.before(b.node); });
  std::vector<Node> around;
  for (Border& border : borders_) {
    if (border.node.is_call_to(enter)) {
      around.push_back(border.node);
    } else if (!around.empty()) {
      around.pop_back();
    }
    border.depth_behind = around.size();
    if (!around.empty()) border.innermost_behind = around.back();
  }
}

const Regions::Border* Regions::border_before(const Node& node) const {
  const auto behind = std::ranges::partition_point(
      borders_, [&](const Border& border) { return border.node.before(node); });
  return behind == borders_.begin() ? nullptr : &*std::prev(behind);
}

Node Regions::innermost(const Node& node) const {
  const Border* const border = border_before(node);
  return border == nullptr ? Node() : border->innermost_behind;
}

std::size_t Regions::depth(const Node& node) const {
  const Border* const border = border_before(node);
  return border == nullptr ? 0 : border->depth_behind;
}

OperandMetas::OperandMetas(const Graph& graph)
    : autocast_(autocast_regions(graph)), is_autocast_around_(is_autocast_around(graph)) {
  find_changed_in_place(graph);
  find_lacking_dimension(graph);
}

void OperandMetas::find_changed_in_place(const Graph& graph) {
  std::vector<Node> open;
  for (const OpId op : changing_in_place) {
    for (const Node& call : graph.find_nodes(op, false)) open.push_back(call);
  }
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    if (!changed_in_place_.insert(node.id().index).second) continue;
    if (const Node same = written_and_returned(node)) open.push_back(same);
    for (const Node& user : node.users()) {
      if (written_and_returned(user) == node) open.push_back(user);
    }
  }
}

void OperandMetas::find_lacking_dimension(const Graph& graph) {
  const Regions vmap(graph, op::torch__functorch_predispatch__vmap_increment_nesting,
                     op::torch__functorch_predispatch__vmap_decrement_nesting);
  if (vmap.empty()) return;
  std::vector<Node> open;
  for (const Node node : graph.find_nodes(op::torch__functorch_predispatch__add_batch_dim, false))
    open.push_back(node);
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    for (const Node& user : node.users()) {
      if (!user.is_call()) continue;
      // It gives the dimension of its level back; those of levels around it stay away.
      if (user.op() == op::torch__functorch_predispatch__remove_batch_dim && vmap.depth(user) <= 1)
        continue;
      if (lacks_dimension_.insert(user.id().index).second) open.push_back(user);
    }
  }
}

std::string_view OperandMetas::why_untold(const Node& call) const {
  const Node enter = autocast_.innermost(call);
  if (enter ? turns_on(enter) : is_autocast_around_) return "autocast converts arguments first";
  if (changed_in_place_.empty()) return {};
  const std::vector<Node> operands = call.all_input_nodes();
  const bool any = std::ranges::any_of(
      operands, [&](const Node& node) { return changed_in_place_.contains(node.id().index); });
  return any ? "sizes or strides of an operand are changed in place" : std::string_view();
}

}  // namespace winze
