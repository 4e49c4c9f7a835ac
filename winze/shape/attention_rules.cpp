// SPDX-License-Identifier: Apache-2.0
// Attention and embedding, after torch/_meta_registrations.py and
// aten/src/ATen/native/transformers/{attention,sdp_utils_cpp}.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The operands of aten::scaled_dot_product_attention.
struct Attention {
  const TensorMeta& query;
  const TensorMeta& key;
  const TensorMeta& value;
  const TensorMeta* mask;
  bool has_dropout;
  bool enable_gqa;
};

Proof both(Proof a, Proof b) {
  if (a == Proof::no || b == Proof::no) return Proof::no;
  return a == Proof::yes && b == Proof::yes ? Proof::yes : Proof::unknown;
}
Proof either(Proof a, Proof b) {
  if (a == Proof::yes || b == Proof::yes) return Proof::yes;
  return a == Proof::no && b == Proof::no ? Proof::no : Proof::unknown;
}

/// sdp_utils_cpp.cpp check_attn_mask_shape. Whether a mask of floats needs a gradient, which rules
/// the fused kernel out, is not recorded for what is computed.
Proof fits_fused(const ShapeEnv& env, const Attention& given, const TensorMeta& mask) {
  if (mask.requires_grad) return Proof::no;
  if (mask.dim() != 2 && mask.dim() != 4) return Proof::no;
  const auto fits = [&](std::size_t from_end, SymInt size) {
    const SymInt found = mask.sizes[mask.dim() - from_end];
    return either(env.equal(found, size), env.equal(found, 1));
  };
  Proof proof = both(fits(2, given.query.sizes[2]), fits(1, given.key.sizes[2]));
  if (mask.dim() == 4)
    proof = both(proof, both(fits(4, given.query.sizes[0]), fits(3, given.query.sizes[1])));
  return mask.dtype == ScalarType::bool_ ? proof : both(proof, Proof::unknown);
}

/// Whether the CPU takes its fused kernel (use_flash_attention_cpp).
Proof is_fused(const ShapeEnv& env, const Attention& given) {
  switch (given.query.dtype) {
    case ScalarType::float32:
    case ScalarType::float64:
    case ScalarType::float16:
    case ScalarType::bfloat16:
      break;
    default:
      return Proof::no;
  }
  if (given.has_dropout) return Proof::no;
  Proof proof = Proof::yes;
  for (const TensorMeta* tensor : {&given.query, &given.key, &given.value}) {
    if (tensor->dim() != 4) return Proof::no;
    proof = both(proof, env.equal(tensor->strides[3], 1));
    proof = both(proof, env.equal(tensor->sizes[0], given.query.sizes[0]));
    proof = both(proof, env.equal(tensor->sizes[3], given.query.sizes[3]));
    if (env.known_zero(tensor->sizes[2])) return Proof::no;
    const Proof same_heads = env.equal(tensor->sizes[1], given.query.sizes[1]);
    if (given.enable_gqa && same_heads != Proof::yes) return Proof::unknown;
    proof = both(proof, same_heads);
  }
  if (given.mask != nullptr) proof = both(proof, fits_fused(env, given, *given.mask));
  return proof;
}

/// Sizes of softmax(query @ key) @ value.
DimVector attended_sizes(ShapeEnv& env, const Attention& given) {
  const std::size_t rank = given.query.dim();
  Sizes batch = given.query.sizes.first(rank - 2);
  DimVector sizes(batch);
  if (!given.enable_gqa) {
    sizes = broadcast_sizes(env, sizes, given.key.sizes.first(rank - 2));
    sizes = broadcast_sizes(env, sizes, given.value.sizes.first(rank - 2));
  }
  env.require_equal(given.query.sizes[rank - 1], given.key.sizes[rank - 1], [] {
    return std::string("Expected query and key to have the same last size");
  });
  env.require_equal(given.key.sizes[rank - 2], given.value.sizes[rank - 2], [] {
    return std::string("Expected key and value to have the same sequence length");
  });
  sizes.push_back(given.query.sizes[rank - 2]);
  if (given.mask != nullptr) {
    DimVector scores = sizes;
    scores.push_back(given.key.sizes[rank - 2]);
    static_cast<void>(broadcast_sizes(env, scores, given.mask->sizes));
  }
  sizes.push_back(given.value.sizes[rank - 1]);
  return sizes;
}

/// validate_sdpa_input
void check_attention(const ShapeCall& call, const Attention& given) {
  for (const TensorMeta* tensor : {&given.key, &given.value}) {
    if (tensor->dtype != given.query.dtype) {
      fail(
          "Expected query, key, and value to have the same dtype, but got query.dtype: {} and {} "
          "instead.",
          full_name(given.query.dtype), full_name(tensor->dtype));
    }
    if (tensor->dim() != given.query.dim())
      call.cannot_infer("query, key and value have different numbers of dimensions");
  }
  if (given.enable_gqa && given.query.dim() < 3)
    throw Error("enable_gqa expects query, key, and value to have a dimension of heads");
  if (given.query.dim() < 2) {
    fail("Expected query, key, and value to all be at least 2 dimensional, but got {}",
         given.query.dim());
  }
}

/// aten::scaled_dot_product_attention: the fused kernel keeps the layout of the query, the other is
/// contiguous.
void attention(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const Argument dropout = call.argument(4);
  if (dropout.kind() != ArgumentKind::floating && dropout.kind() != ArgumentKind::integer)
    call.cannot_infer("the probability of dropout is not known");
  const bool has_dropout =
      dropout.kind() == ArgumentKind::floating ? dropout.floating() != 0 : dropout.integer() != 0;
  const Attention given = {call.tensor(0),          call.tensor(1), call.tensor(2),
                           call.optional_tensor(3), has_dropout,    call.boolean(7)};
  check_attention(call, given);
  if (is_integral_or_bool(given.query.dtype))
    fail("expected scalar type torch.float32 but found torch.{}", full_name(given.query.dtype));
  const DimVector sizes = attended_sizes(env, given);
  const FakeTensor plain = empty_tensor(env, sizes, given.query.dtype, given.query.device);
  const FakeTensor fused = elementwise_like(env, given.query);
  if (is_cpu(given.query)) {
    const Proof proof = is_fused(env, given);
    if (proof == Proof::yes) return call.yield(fused);
    if (proof == Proof::no) return call.yield(plain);
  }
  if (fused.sizes == plain.sizes && fused.strides == plain.strides) return call.yield(plain);
  // A program that was traced shows in the layout of the result which kernel it was.
  if (const Meta* const traced = call.recorded(0); traced != nullptr && traced->is_tensor())
    return call.yield(is_contiguous(env, traced->tensor) ? plain : fused);
  call.cannot_infer("whether attention is fused, and so its layout, is not known");
}

/// aten::_scaled_dot_product_attention_math and its like for MPS: the result and the weights, both
/// contiguous.
void attention_math(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const Attention given = {call.tensor(0),          call.tensor(1), call.tensor(2),
                           call.optional_tensor(3), false,          call.boolean(8)};
  check_attention(call, given);
  const DimVector sizes = attended_sizes(env, given);
  DimVector weights(sizes);
  weights[weights.size() - 1] = given.key.sizes[given.key.dim() - 2];
  call.yield(empty_tensor(env, sizes, given.query.dtype, given.query.device));
  call.yield(empty_tensor(env, weights, given.query.dtype, given.query.device));
}

void expect_four_dims(const TensorMeta& tensor) {
  if (tensor.dim() != 4) fail("attention expects a 4-dimensional query, got {}", tensor.dim());
}

/// A new tensor that lies in memory as (batch, sequence, heads, features).
FakeTensor empty_sequence_first(const ShapeEnv& env, const TensorMeta& like, Sizes sizes,
                                ScalarType dtype) {
  DimVector swapped(sizes);
  std::swap(swapped[1], swapped[2]);
  return transpose(empty_tensor(env, swapped, dtype, like.device), 1, 2);
}

void attention_for_cpu(ShapeCall& call) {
  const TensorMeta& query = call.tensor(0);
  expect_four_dims(query);
  call.yield(elementwise_like(call.env(), query));
  call.yield(empty_sequence_first(call.env(), query, query.sizes.first(3),
                                  computation_dtype(query.dtype)));
}

/// Gradients of query, key and value.
void attention_for_cpu_backward(ShapeCall& call) {
  for (const std::uint32_t index : {1U, 2U, 3U}) {
    const TensorMeta& tensor = call.tensor(index);
    expect_four_dims(tensor);
    call.yield(empty_sequence_first(call.env(), tensor, tensor.sizes, tensor.dtype));
  }
}

// --- Embedding

void check_indices(const TensorMeta& indices) {
  if (indices.dtype == ScalarType::int64 || indices.dtype == ScalarType::int32) return;
  fail(
      "Expected tensor for argument 'indices' to have one of the following scalar types: Long, "
      "Int; but got {} instead",
      full_name(indices.dtype));
}

/// aten::embedding_dense_backward, and embedding_backward, which may be sparse.
void embedding_dense_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  check_indices(call.tensor(1));
  const std::uint32_t sparse_at = call.position("sparse");
  if (!call.is_none(sparse_at) && call.boolean(sparse_at))
    call.cannot_infer("the gradient of the weights is sparse");
  if (grad.dim() == 0) throw Error("Dimension specified as -1 but tensor has no dimensions");
  call.yield(empty_tensor(call.env(), DimVector{call.sym_int(2), grad.sizes[grad.dim() - 1]},
                          grad.dtype, grad.device));
}

/// Whether the CPU sums without saving where each index goes (EmbeddingBag.cpp is_fast_path).
Proof sums_fast(const ShapeEnv& env, const TensorMeta& weight, const TensorMeta* scale,
                SymInt padding_idx) {
  if (weight.dtype != ScalarType::float32 && weight.dtype != ScalarType::float16) return Proof::no;
  if (!env.known_less(padding_idx, 0)) return Proof::no;
  Proof proof = env.equal(weight.strides[1], 1);
  if (scale != nullptr) proof = both(proof, env.equal(scale->strides[0], 1));
  // The result, which is contiguous, has a stride of its own only for two features or more.
  return proof;
}

/// With `parameter` 1 without gradients, where kernels save less.
///
/// aten::_embedding_bag(weight, indices, offsets, ..., mode, sparse, per_sample_weights,
/// include_last_offset, padding_idx), after torch/_meta_registrations.py: a sum for each bag, where
/// each index goes, sizes of bags, and the largest indices.
void embedding_bag(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& weight = call.tensor(0);
  const TensorMeta& indices = call.tensor(1);
  const TensorMeta& offsets = call.tensor(2);
  const TensorMeta* const scale = call.optional_tensor(6);
  constexpr std::int64_t mode_sum = 0;
  constexpr std::int64_t mode_max = 2;
  const SymInt mode = call.sym_int(4);
  if (!is_cpu(weight) || !mode.is_constant())
    call.cannot_infer("what embedding_bag saves is not known here");
  check_indices(indices);
  if (offsets.dtype != ScalarType::int64 && offsets.dtype != ScalarType::int32)
    fail("expected offsets to be long or int, got {}", full_name(offsets.dtype));
  if (!is_floating_point(weight.dtype))
    fail("expected weight to be floating point type, got {}", full_name(weight.dtype));
  if (weight.dim() != 2 || indices.dim() != 1 || offsets.dim() != 1)
    throw Error("embedding_bag expects a matrix of weights and vectors of indices and offsets");
  SymInt bags = offsets.sizes[0];
  if (call.boolean(7)) {
    if (call.parameter() == 1)
      call.cannot_infer("whether embedding_bag counts the last offset as a bag is not known");
    env.require_at_least(
        bags, 1, [] { return std::string("include_last_offset: numBags should be at least 1"); });
    bags = env.sub(bags, 1);
  }
  if (scale != nullptr) {
    if (mode.constant() != mode_sum)
      throw Error("embedding_bag: per_sample_weights only supported with mode='sum'");
    if (scale->dim() != 1)
      fail("expected per_sample_weights to be 1D tensor, got {}D", scale->dim());
    env.require_equal(scale->sizes[0], indices.sizes[0], [] {
      return std::string("expected per_sample_weights.numel() to be the same as indices.numel()");
    });
  }
  const std::optional<SymInt> padding = call.optional_sym_int(8);
  Proof fast =
      mode.constant() == mode_sum ? sums_fast(env, weight, scale, padding.value_or(-1)) : Proof::no;
  if (fast == Proof::unknown) call.cannot_infer("which kernel sums the bags is not known");
  const auto yield = [&](Sizes sizes, ScalarType dtype) {
    call.yield(empty_tensor(env, sizes, dtype, weight.device));
  };
  const DimVector result = {bags, weight.sizes[1]};
  const DimVector each = {bags};
  yield(result, weight.dtype);
  yield(DimVector{fast == Proof::yes ? SymInt(0) : indices.sizes[0]}, offsets.dtype);
  yield(each, offsets.dtype);
  yield(mode.constant() == mode_max ? result : each, offsets.dtype);
}

/// _embedding_bag_backward and _embedding_bag_dense_backward; `parameter` is the position of the
/// number of weights.
void embedding_bag_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  if (grad.dim() != 2) fail("embedding_bag_backward expects a matrix, got {}D", grad.dim());
  const std::uint32_t sparse_at = call.position("sparse");
  if (!call.is_none(sparse_at) && call.boolean(sparse_at))
    call.cannot_infer("the gradient of the weights is sparse");
  call.yield(empty_tensor(call.env(), DimVector{call.sym_int(call.parameter()), grad.sizes[1]},
                          grad.dtype, grad.device));
}
/// _embedding_bag_per_sample_weights_backward(grad, weight, indices): a number for each index.
void embedding_bag_weights_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  const TensorMeta& indices = call.tensor(2);
  if (grad.dim() != 2 || indices.dim() != 1)
    throw Error("embedding_bag_backward expects a matrix of gradients and a vector of indices");
  call.yield(empty_tensor(call.env(), indices.sizes, grad.dtype, grad.device));
}

// --- The fused kernels of nn.MultiheadAttention and nn.TransformerEncoderLayer

/// _native_multi_head_attention(query, key, value, embed_dim, num_head, ..., mask, need_weights,
/// average_attn_weights): the result, and the weights where they are asked for.
void multi_head_attention(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& query = call.tensor(0);
  if (query.dim() != 3) fail("expected a 3-dimensional query, got {} dimensions", query.dim());
  const TensorMeta& projection = call.tensor(7);
  if (projection.dim() != 2) fail("expected proj_weight to be 2D, got {}D", projection.dim());
  const SymInt batch = query.sizes[0];
  const SymInt length = query.sizes[1];
  const auto yield = [&](Sizes sizes) {
    call.yield(empty_tensor(env, sizes, query.dtype, query.device));
  };
  if (env.known_zero(numel(env, query.sizes))) {
    yield(query.sizes);
    return yield(DimVector{0});
  }
  for (const SymInt size : query.sizes) {
    env.require_at_least(size, 1, [] {
      return std::string("the attention of no elements has no weights of this shape");
    });
  }
  yield(DimVector{batch, length, projection.sizes[0]});
  if (!call.boolean(call.position("need_weights"))) return call.yield_none();
  if (call.boolean(call.position("average_attn_weights")))
    return yield(DimVector{batch, length, length});
  yield(DimVector{batch, call.sym_int(4), length, length});
}
/// _transform_bias_rescale_qkv(qkv, qkv_bias, num_heads): query, key and value with the heads
/// before the sequence, each a part of one tensor.
void split_heads(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& joined = call.tensor(0);
  if (joined.dim() != 3) fail("expected 3D qkv, got {}D", joined.dim());
  const SymInt heads = call.sym_int(2);
  const SymInt features = env.floor_div(env.floor_div(joined.sizes[2], 3), heads);
  const DimVector sizes = {3, joined.sizes[0], heads, joined.sizes[1], features};
  const FakeTensor all = empty_tensor(env, sizes, joined.dtype, joined.device);
  for (int part = 0; part < 3; ++part) call.yield(select(env, all, 0, part));
}
void encoder_layer(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}

}  // namespace

std::span<const ShapeRow> attention_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__embedding_bag_backward_default, embedding_bag_backward, 6},
      {op::aten__embedding_bag_dense_backward_default, embedding_bag_backward, 5},
      {op::aten__embedding_bag_per_sample_weights_backward_default, embedding_bag_weights_backward},
      {op::aten__native_multi_head_attention_default, multi_head_attention},
      {op::aten__transform_bias_rescale_qkv_default, split_heads},
      {op::aten__transformer_encoder_layer_fwd_default, encoder_layer},
      {op::aten__scaled_dot_product_attention_math_default, attention_math},
      {op::aten__scaled_dot_product_attention_math_for_mps_default, attention_math},
      {op::aten__scaled_dot_product_flash_attention_for_cpu_default, attention_for_cpu},
      {op::aten__scaled_dot_product_flash_attention_for_cpu_backward_default,
       attention_for_cpu_backward},

      {op::aten__embedding_bag_default, embedding_bag},
      {op::aten__embedding_bag_forward_only_default, embedding_bag, 1},
      {op::aten_embedding_bag_default, embedding_bag, 1},
      {op::aten_embedding_bag_padding_idx, embedding_bag, 1},
      {op::aten_embedding_backward_default, embedding_dense_backward},
      {op::aten_embedding_dense_backward_default, embedding_dense_backward},
      {op::aten_scaled_dot_product_attention_default, attention},
  };
  return rows;
}

}  // namespace winze
