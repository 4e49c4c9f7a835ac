// SPDX-License-Identifier: Apache-2.0
// Functional collectives, after torch/distributed/_functional_collectives.py.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// Calls `each` with the tensor that is argument 0, or with those of the list.
template <typename Each>
void for_each_tensor(ShapeCall& call, Each each) {
  for (const TensorMeta* tensor : call.tensors(0)) {
    if (tensor == nullptr) call.cannot_infer("{} is given None", call.op().qualified_name);
    each(*tensor);
  }
}

void same_layouts(ShapeCall& call) {
  for_each_tensor(call,
                  [&](const TensorMeta& tensor) { call.yield(empty_like(call.env(), tensor)); });
}
void contiguous_copies(ShapeCall& call) {
  for_each_tensor(call, [&](const TensorMeta& tensor) {
    call.yield(empty_tensor(call.env(), tensor.sizes, tensor.dtype, tensor.device));
  });
}
/// In place: the tensors themselves.
void itself(ShapeCall& call) {
  for_each_tensor(call, [&](const TensorMeta& tensor) { call.yield(tensor); });
}

/// The first dimension times the number of ranks, argument `parameter`.
void gathered(ShapeCall& call) {
  const SymInt ranks = call.sym_int(call.parameter());
  for_each_tensor(call, [&](const TensorMeta& tensor) {
    if (tensor.dim() == 0)
      throw Error("all_gather_into_tensor expects a dimension to gather along");
    DimVector sizes(tensor.sizes);
    sizes[0] = call.env().mul(sizes[0], ranks);
    call.yield(empty_tensor(call.env(), sizes, tensor.dtype, tensor.device));
  });
}
/// The first dimension divided by it.
void scattered(ShapeCall& call) {
  const SymInt ranks = call.sym_int(call.parameter());
  if (!call.env().known_at_least(ranks, 1))
    fail("the size of a group is {}", call.env().str(ranks));
  for_each_tensor(call, [&](const TensorMeta& tensor) {
    if (tensor.dim() == 0)
      throw Error("reduce_scatter_tensor expects a dimension to scatter along");
    DimVector sizes(tensor.sizes);
    sizes[0] = call.env().floor_div(sizes[0], ranks);
    call.yield(empty_tensor(call.env(), sizes, tensor.dtype, tensor.device));
  });
}

/// isend(tensor, dst, tag, group): nothing but what the order hangs on.
FakeTensor sent(const ShapeCall& call, const TensorMeta& tensor) {
  return empty_tensor(call.env(), DimVector{0}, tensor.dtype, tensor.device);
}
void isend(ShapeCall& call) {
  call.yield(sent(call, call.tensor(0)));
}
/// batch_p2p_ops(op_list, peer_list, tag_list, tensors, group)
void batch_p2p_ops(ShapeCall& call) {
  const Argument kinds = call.argument(0);
  const auto tensors = call.tensors(3);
  if (kinds.kind() != ArgumentKind::strings) call.cannot_infer("the operations are not known");
  const std::span<const StringId> names = call.context().strings_of(kinds);
  if (names.size() != tensors.size())
    throw Error("batch_p2p_ops expects a tensor for each operation");
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (tensors[index] == nullptr) call.cannot_infer("a tensor to send is None");
    if (call.context().text(names[index]) == "irecv") {
      call.yield(*tensors[index]);
    } else {
      call.yield(sent(call, *tensors[index]));
    }
  }
}

/// all_to_all_single(input, output_split_sizes, input_split_sizes, group)
void all_to_all(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  if (input.dim() == 0) throw Error("all_to_all_single expects a dimension to split");
  SymInt sum = 0;
  for (const SymInt size : call.sym_ints(1)) {
    env.require_at_least(size, 0, [] { return std::string("a split has a negative size"); });
    sum = env.add(sum, size);
  }
  DimVector sizes(input.sizes);
  sizes[0] = sum;
  call.yield(empty_tensor(env, sizes, input.dtype, input.device));
}

}  // namespace

std::span<const ShapeRow> collective_rows() {
  static constexpr ShapeRow rows[] = {
      {op::_c10d_functional_autograd_all_gather_into_tensor_default, gathered, 1},
      {op::_c10d_functional_autograd_all_to_all_single_default, all_to_all},
      {op::_c10d_functional_autograd_reduce_scatter_tensor_default, scattered, 2},
      {op::_c10d_functional__wrap_tensor_autograd_default, itself},
      {op::_c10d_functional_all_gather_into_tensor_default, gathered, 1},
      {op::_c10d_functional_all_gather_into_tensor_coalesced_default, gathered, 1},
      {op::_c10d_functional_all_gather_into_tensor_out_default, gathered, 1},
      {op::_c10d_functional_all_reduce_default, contiguous_copies},
      {op::_c10d_functional_all_reduce__default, itself},
      {op::_c10d_functional_all_reduce_coalesced_default, same_layouts},
      {op::_c10d_functional_all_reduce_coalesced__default, itself},
      {op::_c10d_functional_all_to_all_single_default, all_to_all},
      {op::_c10d_functional_batch_p2p_ops_default, batch_p2p_ops},
      {op::_c10d_functional_broadcast_default, same_layouts},
      {op::_c10d_functional_broadcast__default, itself},
      {op::_c10d_functional_irecv_default, same_layouts},
      {op::_c10d_functional_isend_default, isend},
      {op::_c10d_functional_reduce_scatter_tensor_default, scattered, 2},
      {op::_c10d_functional_reduce_scatter_tensor_coalesced_default, scattered, 2},
      {op::_c10d_functional_reduce_scatter_tensor_out_default, scattered, 2},
      {op::_c10d_functional_wait_tensor_default, same_layouts},
  };
  return rows;
}

}  // namespace winze
