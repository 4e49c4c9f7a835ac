// SPDX-License-Identifier: Apache-2.0
// Normalization, after torch/_refs, torch/_decomp/decompositions.py and
// aten/src/ATen/native/{Normalization,layer_norm,group_norm}.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The dtype of saved statistics: only on the CPU it is that of the input.
ScalarType statistics_dtype(const TensorMeta& input) {
  return is_cpu(input) ? input.dtype : computation_dtype(input.dtype);
}

/// A mean of the input is taken, which there is of floats only.
void check_has_mean(const TensorMeta& input) {
  if (!is_integral_or_bool(input.dtype)) return;
  fail(
      "mean(): could not infer output dtype. Input dtype must be either a floating point or "
      "complex dtype. Got: {}",
      full_name(input.dtype));
}

FakeTensor with_dtype(const TensorMeta& tensor, ScalarType dtype) {
  FakeTensor result(tensor);
  result.dtype = dtype;
  return result;
}

/// An elementwise operation on two tensors, in the dtype of the first.
FakeTensor combine(ShapeEnv& env, const TensorMeta& a, const TensorMeta& b) {
  ElementwiseOperands operands;
  operands.add_without_dtype(a);
  operands.add_without_dtype(b);
  return operands.result_of(env, a.dtype);
}

/// The input in the dtype that statistics are computed in.
FakeTensor in_computation_dtype(const ShapeEnv& env, const TensorMeta& input) {
  const ScalarType dtype = computation_dtype(input.dtype);
  return dtype == input.dtype ? FakeTensor(input) : with_dtype(empty_like(env, input), dtype);
}

/// A tensor over dimension 1, with dimensions of size 1 after it.
FakeTensor per_channel(const ShapeEnv& env, const TensorMeta& input, ScalarType dtype) {
  DimVector sizes(input.dim() - 1, 1);
  sizes[0] = input.sizes[1];
  return empty_tensor(env, sizes, dtype, input.device);
}

// --- Layer norm

/// Requires the last sizes of the input to be `normalized`, and those of the parameters as well.
void check_normalized(ShapeEnv& env, const TensorMeta& input, Sizes normalized,
                      std::initializer_list<const TensorMeta*> parameters) {
  if (normalized.empty()) {
    throw Error(
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
        "element, but got normalized_shape = []");
  }
  const auto require = [&](Sizes sizes, std::string_view name) {
    for (std::size_t at = 1; at <= normalized.size(); ++at) {
      const SymInt expected = normalized[normalized.size() - at];
      const SymInt size = sizes[sizes.size() - at];
      env.require_equal(size, expected, [&] {
        return fmt::format(
            "Given normalized_shape with size {}, expected {} of that size, but got {}",
            env.str(expected), name, env.str(size));
      });
    }
  };
  for (const TensorMeta* parameter : parameters) {
    if (parameter == nullptr) continue;
    if (parameter->dim() != normalized.size()) {
      fail(
          "Expected weight and bias to be of same shape as normalized_shape, but got {} dims, "
          "not {}",
          parameter->dim(), normalized.size());
    }
    require(parameter->sizes, "weight and bias");
  }
  if (input.dim() < normalized.size()) {
    fail("Given normalized_shape of {} dims, expected an input with these, but got {} dims",
         normalized.size(), input.dim());
  }
  require(input.sizes, "input");
}

/// Sizes of statistics over the last `count` dimensions.
DimVector reduced_sizes(const TensorMeta& input, std::size_t count) {
  DimVector sizes(input.sizes.first(input.dim() - count));
  sizes.resize(input.dim(), 1);
  return sizes;
}

/// aten::layer_norm; aten::native_layer_norm yields the statistics as well.
void layer_norm(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const DimVector normalized = call.sym_ints(1);
  check_normalized(call.env(), input, normalized,
                   {call.optional_tensor(2), call.optional_tensor(3)});
  if (is_complex(input.dtype)) throw Error("native_layer_norm does not support complex inputs");
  check_has_mean(input);
  call.yield(empty_tensor(env, input.sizes, input.dtype, input.device));
  if (call.parameter() == 0) return;
  const DimVector sizes = reduced_sizes(input, normalized.size());
  for (int count = 0; count < 2; ++count)
    call.yield(empty_tensor(env, sizes, statistics_dtype(input), input.device));
}

/// aten::rms_norm; aten::_fused_rms_norm yields the statistic as well.
void rms_norm(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const DimVector normalized = call.sym_ints(1);
  check_normalized(env, input, normalized, {call.optional_tensor(2)});
  check_has_mean(input);
  if (is_complex(input.dtype)) call.cannot_infer("rms_norm of complex numbers is not known");
  if (suggest_memory_format(env, input) != MemoryFormat::contiguous_format)
    call.cannot_infer("rms_norm of channels last is not known");
  call.yield(empty_tensor(env, input.sizes, input.dtype, input.device));
  if (call.parameter() == 0) return;
  call.yield(empty_tensor(env, reduced_sizes(input, normalized.size()),
                          computation_dtype(input.dtype), input.device));
}

// --- Group norm

void check_divides(ShapeEnv& env, SymInt channels, SymInt groups) {
  env.require_at_least(groups, 1,
                       [] { return std::string("Expected num groups to be greater than 0"); });
  if (env.known_multiple(channels, groups)) return;
  env.require_equal(env.mod(channels, groups), 0, [&] {
    return fmt::format(
        "Expected number of channels in input to be divisible by num_groups, but got {} channels "
        "and num_groups={}",
        env.str(channels), env.str(groups));
  });
}

void check_per_channel(ShapeEnv& env, const TensorMeta* tensor, SymInt channels) {
  if (tensor == nullptr) return;
  const SymInt count = numel(env, tensor->sizes);
  env.require_equal(count, channels, [&] {
    return fmt::format("Expected a vector of size equal to the number of channels {}, but got {}",
                       env.str(channels), env.str(count));
  });
}

struct GroupNorm {
  SymInt batch;
  SymInt channels;
  SymInt inner;
  SymInt groups;
  const TensorMeta* weight = nullptr;
  const TensorMeta* bias = nullptr;
};

/// torch/_refs native_group_norm: on the CPU scale and shift are folded into one operation.
FakeTensor group_norm_result(ShapeCall& call, const TensorMeta& input, const GroupNorm& norm) {
  ShapeEnv& env = call.env();
  if (input.dim() < 2)
    fail("Expected at least 2 dimensions for input tensor but received {}", input.dim());
  check_divides(env, norm.channels, norm.groups);
  check_has_mean(input);
  if (is_complex(input.dtype)) call.cannot_infer("group_norm of complex numbers is not known");
  // Dimensions of size 1 have other strides after some of the operations than after others.
  if (!is_contiguous(env, input) &&
      (suggest_memory_format(env, input) == MemoryFormat::contiguous_format ||
       env.known_one(input.sizes[0])))
    call.cannot_infer("the layout of group_norm of what is not dense is not known");
  const FakeTensor values = in_computation_dtype(env, input);
  const SymInt each = env.floor_div(norm.channels, norm.groups);
  const FakeTensor grouped =
      reshape(env, values, DimVector{norm.batch, norm.groups, each, norm.inner});
  FakeTensor scale;
  FakeTensor result;
  if (is_cpu(input) && norm.weight != nullptr) {
    DimVector sizes(input.dim(), 1);
    sizes[0] = norm.batch;
    sizes[1] = norm.channels;
    scale = empty_tensor(env, sizes, values.dtype, input.device);
    result = combine(env, combine(env, values, scale), scale);
  } else {
    const FakeTensor statistic =
        empty_tensor(env, DimVector{norm.batch, norm.groups, 1, 1}, values.dtype, input.device);
    result = view(env, combine(env, combine(env, grouped, statistic), statistic), input.sizes);
    scale = per_channel(env, input, values.dtype);
    if (norm.weight != nullptr) result = combine(env, result, scale);
    if (norm.bias != nullptr) result = combine(env, result, scale);
  }
  return with_dtype(result, input.dtype);
}

void native_group_norm(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const GroupNorm norm = {call.sym_int(3), call.sym_int(4),         call.sym_int(5),
                          call.sym_int(6), call.optional_tensor(1), call.optional_tensor(2)};
  call.yield(group_norm_result(call, input, norm));
  for (int count = 0; count < 2; ++count) {
    call.yield(
        empty_tensor(call.env(), DimVector{norm.batch, norm.groups}, input.dtype, input.device));
  }
}

/// aten::group_norm makes its input dense first.
void group_norm(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2)
    fail("Expected at least 2 dimensions for input tensor but received {}", input.dim());
  GroupNorm norm = {input.sizes[0],  input.sizes[1],          1,
                    call.sym_int(1), call.optional_tensor(2), call.optional_tensor(3)};
  norm.inner = numel(env, input.sizes.subspan(2));
  check_per_channel(env, norm.weight, norm.channels);
  check_per_channel(env, norm.bias, norm.channels);
  const MemoryFormat format =
      is_cpu(input) ? suggest_memory_format(env, input) : MemoryFormat::contiguous_format;
  call.yield(group_norm_result(
      call, empty_tensor(env, input.sizes, input.dtype, input.device, format), norm));
}

// --- Batch norm

/// Where the arguments of a batch norm stand.
struct BatchNorm {
  std::uint32_t running = 3;   ///< mean and variance; 0 where it has none
  std::uint32_t training = 5;  ///< 0 where it never trains
  static constexpr std::uint32_t always = ~0U;
  bool yields_statistics = true;
};

void batch_norm_rule(ShapeCall& call, BatchNorm norm) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2) fail("batch_norm: expected at least 2 dimensions, got {}", input.dim());
  if (is_complex(input.dtype)) call.cannot_infer("batch_norm of complex numbers is not known");
  const bool is_training =
      norm.training == BatchNorm::always || (norm.training != 0 && call.boolean(norm.training));
  const SymInt channels = input.sizes[1];
  const TensorMeta* weight = call.optional_tensor(1);
  const TensorMeta* bias = call.optional_tensor(2);
  const TensorMeta* mean = norm.running == 0 ? nullptr : call.optional_tensor(norm.running);
  const TensorMeta* variance = norm.running == 0 ? nullptr : call.optional_tensor(norm.running + 1);
  for (const TensorMeta* tensor : {weight, bias, mean, variance})
    check_per_channel(env, tensor, channels);
  if (is_training) {
    check_has_mean(input);
  } else if (mean == nullptr || variance == nullptr) {
    throw Error("running_mean and running_var must be defined in evaluation mode");
  } else if (is_integral_or_bool(input.dtype)) {
    call.cannot_infer("batch_norm of integers is not known");
  }
  const FakeTensor statistic = per_channel(env, input, computation_dtype(input.dtype));
  FakeTensor output = combine(env, combine(env, input, statistic), statistic);
  if (weight != nullptr) output = combine(env, output, statistic);
  if (bias != nullptr) output = combine(env, output, statistic);
  call.yield(output);
  if (!norm.yields_statistics) return;
  const SymInt saved = is_training || !is_cpu(input) ? channels : SymInt(0);
  for (int count = 0; count < 2; ++count)
    call.yield(empty_tensor(env, DimVector{saved}, statistics_dtype(input), input.device));
}

/// A parameter is read even where there are no elements.
void require_channels(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2) return;
  call.env().require_at_least(
      input.sizes[1], 1, [] { return std::string("batch_norm expects at least one channel"); });
}

void batch_norm(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  // What has no elements is cloned, whatever its rank.
  if (call.env().known_zero(numel(call.env(), input.sizes)) && input.dim() < 2)
    return call.yield(empty_like(call.env(), input));
  require_channels(call);
  batch_norm_rule(call, {.yields_statistics = false});
}
void native_batch_norm(ShapeCall& call) {
  batch_norm_rule(call, {});
}
void batch_norm_no_training(ShapeCall& call) {
  batch_norm_rule(call, {.training = 0});
}
void batch_norm_no_stats(ShapeCall& call) {
  batch_norm_rule(call, {.running = 0, .training = 3});
}
/// The new running statistics are blended of the batch's, in the dtype they are computed in.
void yield_running_statistics(ShapeCall& call, bool is_training) {
  const TensorMeta& input = call.tensor(0);
  for (const std::uint32_t index : {3U, 4U}) {
    const TensorMeta& running = call.tensor(index);
    const ScalarType computed = computation_dtype(input.dtype);
    const auto dtype = is_training ? promote_types(computed, running.dtype) : computed;
    if (!dtype) call.cannot_infer("the running statistics have no common dtype with the input");
    call.yield(empty_tensor(call.env(), running.sizes, *dtype, running.device));
  }
}
void batch_norm_functional(ShapeCall& call) {
  batch_norm_rule(call, {});
  yield_running_statistics(call, call.boolean(5));
}

/// What kernels keep for the gradient: nothing on the CPU, and unknown on devices.
void yield_reserve(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  call.yield(empty_tensor(call.env(), DimVector{0}, ScalarType::uint8, input.device));
}
/// _batch_norm_with_update; with `parameter` 1 the new running statistics follow.
void batch_norm_with_update(ShapeCall& call) {
  batch_norm_rule(call, {.training = BatchNorm::always});
  yield_reserve(call);
  if (call.parameter() == 1) yield_running_statistics(call, true);
}
void batch_norm_no_update(ShapeCall& call) {
  batch_norm_rule(call, {.training = 0});
  yield_reserve(call);
}
/// cudnn_batch_norm: statistics only where it trains.
void cudnn_batch_norm(ShapeCall& call) {
  batch_norm_rule(call, {.yields_statistics = call.boolean(5)});
  const TensorMeta& weight = call.tensor(1);
  for (int count = 0; count < 2 && !call.boolean(5); ++count)
    call.yield(empty_tensor(call.env(), DimVector{0}, weight.dtype, weight.device));
  yield_reserve(call);
}

/// miopen_batch_norm: in the memory format of its input, with statistics only where it trains.
void miopen_batch_norm(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  call.yield(empty_like(env, input, suggest_memory_format(env, input)));
  for (const std::uint32_t index : {3U, 4U}) {
    const TensorMeta* const running = call.optional_tensor(index);
    const DimVector nothing = {0};
    const Sizes sizes = running == nullptr ? weight.sizes : running->sizes;
    call.yield(
        empty_tensor(env, call.boolean(5) ? sizes : Sizes(nothing), weight.dtype, weight.device));
  }
}
/// _batch_norm_impl_index: what batch_norm yields, what its gradient needs, and which kernel it
/// was.
void batch_norm_of_index(ShapeCall& call) {
  if (!is_cpu(call.tensor(0))) call.cannot_infer("which kernel a device has is not known");
  batch_norm_rule(call, {});
  yield_reserve(call);
  call.yield_sym(ValueKind::sym_int, SymInt(0));
}
/// batch_norm_update_stats(input, ...): mean and variance of the batch.
void batch_norm_update_stats(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2) fail("batch_norm: expected at least 2 dimensions, got {}", input.dim());
  for (int count = 0; count < 2; ++count)
    call.yield(empty_tensor(call.env(), input.sizes.subspan(1, 1), input.dtype, input.device));
}

// --- Weight norm

/// aten::_weight_norm(v, g, dim); _weight_norm_interface yields the norm as well.
void weight_norm(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& v = call.tensor(0);
  const TensorMeta& g = call.tensor(1);
  ElementwiseOperands operands;
  operands.add(v);
  operands.add(g);
  call.yield(operands.result(env, Promotion::to_common));
  if (call.parameter() == 0) return;
  FakeTensor norm(v);
  const std::size_t dim = call.dim(2, v.dim());
  for (std::size_t at = 0; at < v.dim(); ++at)
    if (at != dim) norm.sizes[at] = 1;
  call.yield(empty_tensor(
      env, norm.sizes, g.dtype == ScalarType::bfloat16 ? ScalarType::float32 : v.dtype, v.device));
}

/// aten::instance_norm(input, ...): batch norm of each sample, contiguous.
void instance_norm(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2) fail("instance_norm: expected at least 2 dimensions, got {}", input.dim());
  for (const std::uint32_t index : {1U, 2U, 3U, 4U})
    check_per_channel(env, call.optional_tensor(index), input.sizes[1]);
  require_channels(call);
  if (is_complex(input.dtype)) call.cannot_infer("instance_norm of complex numbers is not known");
  check_has_mean(input);
  call.yield(empty_tensor(env, input.sizes, input.dtype, input.device));
}

// --- Softmax

/// aten::special_softmax, special_log_softmax
void softmax(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  static_cast<void>(call.dim(1, input.dim()));
  call.yield(
      empty_tensor(call.env(), input.sizes, call.dtype(2).value_or(input.dtype), input.device));
}

/// aten::_masked_softmax(self, mask, dim, mask_type), laid out as its input; its gradient is
/// contiguous.
void masked_softmax(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}
void masked_softmax_backward(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0), MemoryFormat::contiguous_format));
}

/// aten::_log_softmax_backward_data: grad - exp(output) * sum(grad)
void log_softmax_backward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(0);
  FakeTensor sum(grad);
  const std::size_t dim = call.dim(2, grad.dim());
  if (grad.dim() > 0) sum.sizes[dim] = 1;
  sum = empty_tensor(env, sum.sizes, grad.dtype, grad.device);
  const FakeTensor scaled = combine(env, empty_like(env, call.tensor(1)), sum);
  call.yield(with_dtype(combine(env, grad, scaled), call.dtype(3).value_or(grad.dtype)));
}

}  // namespace

std::span<const ShapeRow> normalization_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__batch_norm_no_update_default, batch_norm_no_update},
      {op::aten__batch_norm_with_update_default, batch_norm_with_update, 0},
      {op::aten__batch_norm_with_update_functional_default, batch_norm_with_update, 1},
      {op::aten__batch_norm_impl_index_default, batch_norm_of_index},
      {op::aten__masked_softmax_default, masked_softmax},
      {op::aten__masked_softmax_backward_default, masked_softmax_backward},
      {op::aten_batch_norm_update_stats_default, batch_norm_update_stats},
      {op::aten_cudnn_batch_norm_default, cudnn_batch_norm},
      {op::aten_miopen_batch_norm_default, miopen_batch_norm},
      {op::aten__fused_rms_norm_default, rms_norm, 1},
      {op::aten__weight_norm_default, weight_norm, 0},
      {op::aten__weight_norm_interface_default, weight_norm, 1},
      {op::aten__log_softmax_backward_data_default, log_softmax_backward},

      {op::aten__native_batch_norm_legit_default, native_batch_norm},
      {op::aten__native_batch_norm_legit_functional_default, batch_norm_functional},
      {op::aten__native_batch_norm_legit_no_stats, batch_norm_no_stats},
      {op::aten__native_batch_norm_legit_no_training_default, batch_norm_no_training},

      {op::aten_batch_norm_default, batch_norm},

      {op::aten_group_norm_default, group_norm},
      {op::aten_instance_norm_default, instance_norm},
      {op::aten_layer_norm_default, layer_norm},

      {op::aten_native_batch_norm_default, native_batch_norm},

      {op::aten_native_group_norm_default, native_group_norm},
      {op::aten_native_layer_norm_default, layer_norm, 1},
      {op::aten_rms_norm_default, rms_norm},

      {op::aten_special_log_softmax_default, softmax},
      {op::aten_special_softmax_default, softmax},
  };
  return rows;
}

}  // namespace winze
