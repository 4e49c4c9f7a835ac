// SPDX-License-Identifier: Apache-2.0
// The attention kernels of devices, which scaled_dot_product_attention becomes in a training
// graph, and their gradients, after torch/_meta_registrations.py: builds without ROCm.
#include <algorithm>
#include <vector>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void require_rank(const ShapeCall& call, const TensorMeta& tensor, std::size_t rank) {
  if (tensor.dim() != rank) {
    fail("{}: expected a tensor of {} dimensions, but got one of {}", call.op().schema.name, rank,
         tensor.dim());
  }
}

void require_at_least_rank(const ShapeCall& call, const TensorMeta& tensor, std::size_t rank) {
  if (tensor.dim() < rank) {
    fail("{}: expected a tensor of at least {} dimensions, but got one of {}",
         call.op().schema.name, rank, tensor.dim());
  }
}

void yield_new(ShapeCall& call, Sizes sizes, ScalarType dtype) {
  call.yield(empty_tensor(call.env(), sizes, dtype, call.tensor(0).device));
}

/// `size` rounded up to a multiple.
SymInt round_up(const ShapeEnv& env, SymInt size, std::int64_t multiple) {
  const SymInt blocks = env.floor_div(env.add(size, multiple - 1), multiple);
  return env.mul(blocks, multiple);
}

/// A new tensor that lies in memory as (batch, sequence, heads, features), seen with the heads
/// before the sequence.
FakeTensor heads_first(const ShapeEnv& env, const TensorMeta& like, Sizes sizes) {
  DimVector stored(sizes);
  std::swap(stored[1], stored[2]);
  return transpose(empty_tensor(env, stored, like.dtype, like.device), 1, 2);
}

/// Seed and offset of the random numbers: numbers without dimensions.
void yield_philox_state(ShapeCall& call) {
  for (int count = 0; count < 2; ++count) yield_new(call, {}, ScalarType::int64);
}

/// Flash attention keeps two 64-bit numbers, and one of which nothing is read.
void yield_rng_state(ShapeCall& call) {
  yield_new(call, DimVector{2}, ScalarType::uint64);
  yield_new(call, {}, ScalarType::uint64);
}

/// Results that only nested tensors have, and the longest sequences.
void yield_lengths(ShapeCall& call, SymInt of_query, SymInt of_key) {
  call.yield_none();
  call.yield_none();
  call.yield_sym(ValueKind::sym_int, of_query);
  call.yield_sym(ValueKind::sym_int, of_key);
}

/// Which elements dropout kept, where it is asked for.
void yield_debug_mask(ShapeCall& call, std::uint32_t wanted_at, ScalarType dtype, Sizes rows,
                      SymInt features, SymInt keys) {
  const ShapeEnv& env = call.env();
  if (!call.boolean(wanted_at)) return yield_new(call, DimVector{0}, dtype);
  if (!features.is_constant() || !keys.is_constant())
    call.cannot_infer("the block that {} works in depends on symbols", call.op().qualified_name);
  const std::int64_t block = features.constant() > 64 ? 128 : 256;
  DimVector sizes(rows);
  const SymInt queries = rows[rows.size() - 1];
  if (keys.constant() <= 128) {
    sizes.push_back(128);
  } else if (keys.constant() <= 256) {
    sizes.push_back(256);
  } else {
    sizes.push_back(env.floor_div(env.add(queries, block - 1), block));
  }
  yield_new(call, sizes, dtype);
}

/// What flash attention computes of 8-bit floats.
FakeTensor flash_query(const ShapeCall& call) {
  FakeTensor query(call.tensor(0));
  if (call.op().schema.overload == "quantized" && query.dtype == ScalarType::float8_e4m3fn)
    query.dtype = ScalarType::bfloat16;
  return query;
}

// --- As scaled_dot_product_attention calls them: (batch, heads, sequence, features)

/// aten::_scaled_dot_product_flash_attention
void flash(ShapeCall& call) {
  const FakeTensor query = flash_query(call);
  const TensorMeta& key = call.tensor(1);
  require_rank(call, query, 4);
  require_at_least_rank(call, key, 3);
  const Sizes rows = Sizes(query.sizes).first(3);
  call.yield(empty_like(call.env(), query));
  yield_new(call, rows, ScalarType::float32);
  yield_lengths(call, query.sizes[2], key.sizes[2]);
  yield_rng_state(call);
  yield_debug_mask(call, call.position("return_debug_mask"), query.dtype, rows, query.sizes[3],
                   key.sizes[2]);
}

/// Dimensions from the outermost to the innermost, as these strides have them.
std::vector<std::size_t> outer_to_inner(const ShapeEnv& env, Sizes strides) {
  std::vector<std::size_t> order;
  for (std::size_t dim = 0; dim < strides.size(); ++dim) {
    auto at = order.end();
    while (at != order.begin() && is_smaller_stride(env, strides[*(at - 1)], strides[dim])) --at;
    order.insert(at, dim);
  }
  return order;
}

/// A new tensor whose dimensions lie in memory in this order.
FakeTensor in_order(const ShapeEnv& env, const TensorMeta& like, Sizes sizes,
                    const std::vector<std::size_t>& order) {
  FakeTensor result = empty_tensor(env, sizes, like.dtype, like.device);
  SymInt stride = 1;
  for (std::size_t at = order.size(); at-- > 0;) {
    result.strides[order[at]] = stride;
    stride = env.mul(stride, sizes[order[at]]);
  }
  return result;
}

/// A tensor of these sizes whose dimensions lie in memory as those of `query` do
/// (alloc_with_matching_layout).
FakeTensor laid_out_as(const ShapeEnv& env, const TensorMeta& query, Sizes sizes) {
  if (env.known_equal(sizes.back(), query.sizes.back())) return empty_like(env, query);
  return in_order(env, query, sizes, outer_to_inner(env, query.strides));
}

/// aten::_scaled_dot_product_cudnn_attention and, with `parameter` 1,
/// _scaled_dot_product_fused_attention_overrideable, which takes a query without batch too.
void device_attention(ShapeCall& call) {
  const TensorMeta& query = call.tensor(0);
  const TensorMeta& key = call.tensor(1);
  const TensorMeta& value = call.tensor(2);
  const bool is_overrideable = call.parameter() == 1;
  if (query.dim() != 4 && !(is_overrideable && query.dim() == 3))
    throw Error(is_overrideable ? "query must be 3D or 4D" : "query must be 4D");
  require_at_least_rank(call, key, 3);
  require_at_least_rank(call, value, 1);
  const std::size_t rank = query.dim();
  DimVector sizes(query.sizes);
  sizes[rank - 1] = value.sizes.back();
  call.yield(laid_out_as(call.env(), query, sizes));
  DimVector rows(query.sizes.first(rank - 1));
  if (rank == 3) rows.insert(0, 1);
  if (!is_overrideable) rows.push_back(1);
  yield_new(call, rows, ScalarType::float32);
  yield_lengths(call, query.sizes[rank - 2], key.sizes[is_overrideable ? key.dim() - 2 : 2]);
  yield_philox_state(call);
  call.yield_none();
}

/// aten::_scaled_dot_product_efficient_attention
void efficient(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(0);
  const TensorMeta& value = call.tensor(2);
  require_rank(call, query, 4);
  require_at_least_rank(call, value, 1);
  DimVector sizes(query.sizes);
  sizes[3] = value.sizes.back();
  call.yield(heads_first(env, query, sizes));
  const SymInt rows = call.boolean(4) ? round_up(env, query.sizes[2], 32) : SymInt(0);
  yield_new(call, DimVector{query.sizes[0], query.sizes[1], rows}, ScalarType::float32);
  yield_philox_state(call);
}

/// A gradient of what is added, in rows that are padded to 16 elements and cut.
FakeTensor bias_gradient(const ShapeEnv& env, const TensorMeta& bias) {
  DimVector padded(bias.sizes);
  if (bias.dim() > 0) padded[bias.dim() - 1] = round_up(env, bias.sizes.back(), 16);
  FakeTensor result = empty_tensor(env, padded, bias.dtype, bias.device);
  result.sizes = DimVector(bias.sizes);
  return result;
}

/// aten::_scaled_dot_product_efficient_attention_backward
void efficient_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(1);
  const TensorMeta& key = call.tensor(2);
  const TensorMeta& value = call.tensor(3);
  for (const TensorMeta* tensor : {&query, &key, &value}) require_rank(call, *tensor, 4);
  const Sizes batch = query.sizes.first(2);
  const auto yield = [&](const TensorMeta& like, SymInt length, SymInt features) {
    DimVector sizes(batch);
    sizes.push_back(length);
    sizes.push_back(features);
    call.yield(heads_first(env, like, sizes));
  };
  yield(query, query.sizes[2], query.sizes[3]);
  yield(key, key.sizes[2], query.sizes[3]);
  yield(value, key.sizes[2], value.sizes[3]);
  const TensorMeta* const bias = call.optional_tensor(4);
  const DimVector mask = call.sym_ints(10);
  if (bias != nullptr && mask.size() == 4 && mask[3] == SymInt(1)) {
    call.yield(bias_gradient(env, *bias));
  } else {
    call.yield_none();
  }
}

/// Gradients of query, key and value, and of a bias where `parameter` says where it is.
void gradients_alike(ShapeCall& call) {
  for (const std::uint32_t index : {1U, 2U, 3U})
    call.yield(empty_like(call.env(), call.tensor(index)));
  if (call.parameter() == 0) return;
  if (const TensorMeta* const bias = call.optional_tensor(call.parameter())) {
    call.yield(empty_like(call.env(), *bias));
  } else {
    call.yield_none();
  }
}

// --- As nested tensors and `varlen_attn` call them: (batch, sequence, heads, features), or
// (sequences one after the other, heads, features)

/// The sum over a row, for each row: of each sequence, or of all sequences in one.
void yield_row_sums(ShapeCall& call, const TensorMeta& query, const TensorMeta* offsets) {
  const std::size_t rank = query.dim();
  const SymInt heads = query.sizes[rank - 2];
  if (offsets == nullptr) {
    yield_new(call, DimVector{query.sizes[0], heads, query.sizes[1]}, ScalarType::float32);
  } else {
    yield_new(call, DimVector{heads, query.sizes[0]}, ScalarType::float32);
  }
}

/// aten::_flash_attention_forward
void flash_forward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const FakeTensor query = flash_query(call);
  const TensorMeta& key = call.tensor(1);
  const TensorMeta* const query_offsets = call.optional_tensor(3);
  const TensorMeta* const key_offsets = call.optional_tensor(4);
  require_at_least_rank(call, query, 2);
  require_at_least_rank(call, key, 2);
  call.yield(empty_like(env, query));
  yield_row_sums(call, query, query_offsets);
  yield_rng_state(call);
  const std::size_t rank = query.dim();
  const SymInt batch =
      query_offsets == nullptr ? query.sizes[0] : env.sub(numel(env, query_offsets->sizes), 1);
  const SymInt longest = query_offsets == nullptr ? query.sizes[1] : call.sym_int(5);
  yield_debug_mask(call, call.position("return_debug_mask"), query.dtype,
                   DimVector{batch, query.sizes[rank - 2], longest}, query.sizes[rank - 1],
                   key_offsets == nullptr ? key.sizes[1] : call.sym_int(6));
}
/// aten::_flash_attention_forward_no_dropout_inplace(out, query, ...): the sums alone.
void flash_forward_into(ShapeCall& call) {
  const TensorMeta& query = call.tensor(1);
  require_at_least_rank(call, query, 2);
  yield_row_sums(call, query, call.optional_tensor(4));
}

/// aten::_efficient_attention_forward
void efficient_forward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(0);
  const TensorMeta& key = call.tensor(1);
  const TensorMeta& value = call.tensor(2);
  const TensorMeta* const offsets = call.optional_tensor(4);
  require_at_least_rank(call, query, 2);
  require_at_least_rank(call, key, 2);
  require_at_least_rank(call, value, 1);
  const SymInt heads = query.sizes[query.dim() - 2];
  yield_new(call, DimVector{query.sizes[0], query.sizes[1], heads, value.sizes.back()},
            query.dtype);
  if (offsets != nullptr && (offsets->dim() == 0 || call.is_none(6)))
    throw Error("max_seqlen_q must not be None when cu_seqlens_q is provided");
  const SymInt batch = offsets == nullptr ? query.sizes[0] : env.sub(offsets->sizes[0], 1);
  const SymInt longest = offsets == nullptr ? query.sizes[1] : call.sym_int(6);
  const SymInt rows =
      call.boolean(call.position("compute_log_sumexp")) ? round_up(env, longest, 32) : SymInt(0);
  yield_new(call, DimVector{batch, heads, rows}, ScalarType::float32);
  yield_philox_state(call);
  call.yield_sym(ValueKind::sym_int, longest);
  call.yield_sym(ValueKind::sym_int, call.optional_sym_int(7).value_or(key.sizes[1]));
}

/// aten::_efficient_attention_backward
void efficient_attention_backward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(1);
  const TensorMeta& key = call.tensor(2);
  if (call.boolean(call.position("shared_storage_dqdkdv"))) {
    require_rank(call, query, 4);
    require_rank(call, key, 4);
    env.require_equal(query.sizes[1], key.sizes[1],
                      [] { return std::string("seqlen must match for `shared_storage_dqdkdv"); });
    env.require_equal(query.sizes[3], key.sizes[3], [] {
      return std::string("embedding dim must match for `shared_storage_dqdkdv");
    });
    DimVector sizes(query.sizes);
    sizes.insert(2, 3);
    const FakeTensor chunk = empty_tensor(env, sizes, query.dtype, query.device);
    for (int index = 0; index < 3; ++index) call.yield(select(env, chunk, 2, index));
  } else {
    gradients_alike(call);
  }
  if (const TensorMeta* const bias = call.optional_tensor(4)) {
    call.yield(bias_gradient(env, *bias));
  } else {
    yield_new(call, {}, default_float);
  }
}

// --- flex_attention

/// torch/_higher_order_ops/flex_attention.py _permute_strides: as `like` lies in memory, but for
/// the features, which are innermost.
FakeTensor features_innermost(const ShapeEnv& env, const TensorMeta& like, Sizes sizes) {
  std::vector<std::size_t> order = outer_to_inner(env, like.strides);
  const std::size_t last = sizes.size() - 1;
  order.erase(std::ranges::find(order, last));
  order.push_back(last);
  return in_order(env, like, sizes, order);
}

/// flex_attention(query, key, value, score_mod, ...): the result, and for each row the logarithm of
/// the sum and the largest score.
void flex_attention(ShapeCall& call) {
  const TensorMeta& query = call.tensor(0);
  const TensorMeta& value = call.tensor(2);
  require_rank(call, query, 4);
  require_rank(call, value, 4);
  DimVector sizes(query.sizes);
  sizes[3] = value.sizes[3];
  call.yield(features_innermost(call.env(), query, sizes));
  for (int count = 0; count < 2; ++count)
    yield_new(call, query.sizes.first(3), ScalarType::float32);
}

/// flex_attention_backward: gradients of query, key and value, and of the tensors that the score
/// reads. A batch that is broadcast is summed over.
void flex_attention_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(0);
  for (const std::uint32_t index : {0U, 1U, 2U}) require_rank(call, call.tensor(index), 4);
  call.yield(features_innermost(env, query, query.sizes));
  const Proof same_batch = env.equal(query.sizes[0], call.tensor(2).sizes[0]);
  if (same_batch == Proof::unknown)
    call.cannot_infer("whether the batch of the keys is broadcast is not known");
  for (const std::uint32_t index : {1U, 2U}) {
    const TensorMeta& tensor = call.tensor(index);
    DimVector sizes(call.tensor(2).sizes);
    sizes[0] = query.sizes[0];
    sizes[3] = index == 1 ? query.sizes[3] : sizes[3];
    if (same_batch == Proof::yes) {
      call.yield(features_innermost(env, tensor, sizes));
    } else {
      sizes[0] = 1;
      yield_new(call, sizes, tensor.dtype);
    }
  }
  const std::uint32_t buffers_at = call.position("score_mod_other_buffers");
  const Argument buffers = call.argument(buffers_at);
  if (!buffers.is_list() || buffers.count() == 0) return;
  for (const TensorMeta* buffer : call.tensors(buffers_at)) {
    if (buffer == nullptr) {
      call.yield_none();
    } else {
      call.yield(empty_like(env, *buffer, MemoryFormat::contiguous_format));
    }
  }
}

}  // namespace

std::span<const ShapeRow> fused_attention_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__cudnn_attention_backward_default, gradients_alike},
      {op::aten__efficient_attention_backward_default, efficient_attention_backward},
      {op::aten__efficient_attention_forward_default, efficient_forward},
      {op::aten__flash_attention_backward_default, gradients_alike},
      {op::aten__flash_attention_forward_default, flash_forward},
      {op::aten__flash_attention_forward_quantized, flash_forward},
      {op::aten__flash_attention_forward_no_dropout_inplace_default, flash_forward_into},
      {op::aten__scaled_dot_product_cudnn_attention_default, device_attention, 0},
      {op::aten__scaled_dot_product_cudnn_attention_backward_default, gradients_alike},
      {op::aten__scaled_dot_product_efficient_attention_default, efficient},
      {op::aten__scaled_dot_product_efficient_attention_backward_default, efficient_backward},
      {op::aten__scaled_dot_product_flash_attention_default, flash},
      {op::aten__scaled_dot_product_flash_attention_quantized, flash},
      {op::aten__scaled_dot_product_flash_attention_backward_default, gradients_alike},
      {op::aten__scaled_dot_product_fused_attention_overrideable_default, device_attention, 1},
      {op::aten__scaled_dot_product_fused_attention_overrideable_backward_default, gradients_alike,
       4},
      {op::higher_order_flex_attention, flex_attention},
      {op::higher_order_flex_attention_backward, flex_attention_backward},
  };
  return rows;
}

}  // namespace winze
