// SPDX-License-Identifier: Apache-2.0
// Losses and their gradients, after torch/_decomp/decompositions.py and
// aten/src/ATen/native/Loss*.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

enum class Reduction : std::int64_t { none = 0, mean = 1, sum = 2 };

Reduction reduction_of(const ShapeCall& call) {
  const SymInt value = call.sym_int(call.position("reduction"));
  if (!value.is_constant()) call.cannot_infer("the reduction is not known");
  return static_cast<Reduction>(value.constant());
}

void check_has_mean(const ShapeCall& call, const FakeTensor& loss) {
  if (reduction_of(call) != Reduction::mean || !is_integral_or_bool(loss.dtype)) return;
  fail(
      "mean(): could not infer output dtype. Input dtype must be either a floating point or "
      "complex dtype. Got: {}",
      full_name(loss.dtype));
}

/// The loss of each element, or one number for all.
void yield_reduced(ShapeCall& call, const FakeTensor& loss) {
  const Reduction reduction = reduction_of(call);
  if (reduction == Reduction::none) return call.yield(loss);
  check_has_mean(call, loss);
  ScalarType dtype = loss.dtype;
  if (reduction == Reduction::sum && is_integral_or_bool(dtype)) dtype = ScalarType::int64;
  call.yield(empty_tensor(call.env(), {}, dtype, loss.device));
}

/// What a row says: how the dtype is made, and that the first `count` arguments are operands, of
/// which the one at `leading` has the first say in the layout, then those behind it.
constexpr std::uint32_t with(std::uint32_t count, Promotion promotion = Promotion::to_common,
                             std::uint32_t leading = 0) {
  return leading << 16 | static_cast<std::uint32_t>(promotion) << 8 | count;
}
constexpr std::uint32_t led_by(std::uint32_t leading, std::uint32_t count) {
  return with(count, Promotion::to_common, leading);
}

FakeTensor combined(ShapeCall& call) {
  ElementwiseOperands operands;
  const std::uint32_t count = call.parameter() & 0xFF;
  const std::uint32_t leading = call.parameter() >> 16;
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::uint32_t index = (leading + at) % count;
    if (const TensorMeta* tensor = call.optional_tensor(index)) operands.add(*tensor);
  }
  return operands.result(call.env(), static_cast<Promotion>(call.parameter() >> 8 & 0xFF));
}

/// huber_loss(self, target, reduction, delta)
void huber_loss(ShapeCall& call) {
  if (const auto delta = call.constant_number(3); delta && *delta <= 0)
    throw Error("huber_loss does not support non-positive values for delta.");
  yield_reduced(call, combined(call));
}

/// Losses that are elementwise up to their reduction.
void pointwise_loss(ShapeCall& call) {
  yield_reduced(call, combined(call));
}

/// Gradients of those; what reduction there was makes no difference.
void pointwise_loss_backward(ShapeCall& call) {
  call.yield(combined(call));
}

// --- Negative log likelihood

void check_classes(ShapeCall& call, const TensorMeta* weight, SymInt classes) {
  if (weight == nullptr) return;
  call.env().require_equal(numel(call.env(), weight->sizes), classes, [&] {
    return fmt::format(
        "weight tensor should be defined either for all {} classes or no classes but got weight "
        "tensor of {} elements",
        call.env().str(classes), call.env().str(numel(call.env(), weight->sizes)));
  });
}

/// One number for each target: sizes of the input without the dimension of classes.
FakeTensor loss_of_classes(ShapeCall& call, const TensorMeta& self, const TensorMeta& target) {
  ShapeEnv& env = call.env();
  if (self.dim() == 0) throw Error("input tensor should be at least 1D");
  const std::size_t channel = self.dim() < 2 ? 0 : 1;
  DimVector sizes(self.sizes);
  check_classes(call, call.optional_tensor(2), sizes[channel]);
  sizes.erase(channel);
  const bool is_single = self.dim() == 1;
  if (!is_single && target.dim() != sizes.size()) {
    fail("Expected a target of {} dimensions for an input of {}, got {}", sizes.size(), self.dim(),
         target.dim());
  }
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    env.require_equal(sizes[dim], target.sizes[dim], [&] {
      return fmt::format("size mismatch (got input: {}, target: {})", env.str(self.sizes[dim]),
                         env.str(target.sizes[dim]));
    });
  }
  return empty_tensor(env, sizes, self.dtype, self.device);
}

/// aten::nll_loss and nll_loss_nd; the forward operators yield the total weight as well.
void nll_loss(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  yield_reduced(call, loss_of_classes(call, self, call.tensor(1)));
  if (call.parameter() == 1) call.yield(empty_tensor(call.env(), {}, self.dtype, self.device));
}

/// nll_loss_backward and nll_loss2d_backward: where(target, grad, 0) * weight.
void nll_loss_backward(ShapeCall& call) {
  const TensorMeta& self = call.tensor(1);
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

/// aten::cross_entropy_loss: of classes, or of probabilities where the target has the sizes of the
/// input.
void cross_entropy_loss(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& target = call.tensor(1);
  bool same = self.dim() == target.dim();
  for (std::size_t dim = 0; same && dim < self.dim(); ++dim) {
    const Proof proof = call.env().equal(self.sizes[dim], target.sizes[dim]);
    if (proof == Proof::unknown)
      call.cannot_infer("whether the target has classes or probabilities is not known");
    same = proof == Proof::yes;
  }
  if (!same) return yield_reduced(call, loss_of_classes(call, self, target));
  if (!is_floating_point(target.dtype)) {
    fail("Expected floating point type for target with class probabilities, got {}",
         full_name(target.dtype));
  }
  const std::size_t channel = self.dim() < 2 ? 0 : 1;
  check_classes(call, call.optional_tensor(2), self.dim() == 0 ? SymInt(1) : self.sizes[channel]);
  DimVector sizes(self.sizes);
  if (!sizes.empty()) sizes.erase(channel);
  const auto dtype = promote_types(self.dtype, target.dtype);
  if (!dtype) call.cannot_infer("input and target have no common dtype");
  yield_reduced(call, empty_tensor(call.env(), sizes, *dtype, self.device));
}

// --- Margins

void require_classes(ShapeEnv& env, SymInt classes) {
  env.require_at_least(classes, 1, [] {
    return std::string("Expected non-empty vector or matrix with optional 0-dim batch size");
  });
}

/// One number for each row of a matrix, or for a vector.
void multi_margin_loss(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& target = call.tensor(1);
  if (self.dim() > 2) {
    fail("Expected non-empty vector or matrix with optional 0-dim batch size, but got: {} dims",
         self.dim());
  }
  const SymInt frames = self.dim() == 2 ? self.sizes[0] : SymInt(1);
  ShapeEnv& env = call.env();
  if (target.dim() > 1) fail("inconsistent target size: {} dims", target.dim());
  if (target.dtype != ScalarType::int64)
    fail("expected scalar type Long but found {}", full_name(target.dtype));
  const SymInt classes = self.dim() == 0 ? SymInt(1) : self.sizes.back();
  require_classes(env, classes);
  if (const TensorMeta* weight = call.optional_tensor(4)) {
    env.require_equal(numel(env, weight->sizes), classes, [&] {
      return fmt::format("inconsistent weight size, expected {} but got {}", env.str(classes),
                         env.str(numel(env, weight->sizes)));
    });
  }
  env.require_equal(numel(env, target.sizes), frames, [&] {
    return fmt::format("inconsistent target size, expected {} but got {}", env.str(frames),
                       env.str(numel(env, target.sizes)));
  });
  DimVector sizes;
  if (self.dim() == 2 || target.dim() == 1) sizes.push_back(frames);
  const bool is_reduced = reduction_of(call) != Reduction::none;
  call.yield(empty_tensor(env, is_reduced ? DimVector() : sizes, self.dtype, self.device));
}

/// aten::multilabel_margin_loss_forward, and without the mask multilabel_margin_loss.
void multilabel_margin_loss(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const TensorMeta& target = call.tensor(1);
  if (self.dim() > 2) {
    fail("Expected non-empty vector or matrix with optional 0-dim batch size, but got: {} dims",
         self.dim());
  }
  if (self.dim() > 0) require_classes(call.env(), self.sizes.back());
  if (target.dim() != self.dim())
    fail("inconsistent target size: {} dims for an input of {}", target.dim(), self.dim());
  ShapeEnv& env = call.env();
  for (std::size_t dim = 0; dim < self.dim(); ++dim) {
    env.require_equal(self.sizes[dim], target.sizes[dim], [&] {
      return fmt::format("inconsistent target size: {} for input of size: {}",
                         env.str(target.sizes[dim]), env.str(self.sizes[dim]));
    });
  }
  DimVector sizes;
  if (self.dim() == 2 && reduction_of(call) == Reduction::none) sizes.push_back(self.sizes[0]);
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
  if (call.parameter() == 1) call.yield(empty_tensor(env, target.sizes, self.dtype, self.device));
}

/// A gradient for argument `parameter`, contiguous.
void contiguous_gradient(ShapeCall& call) {
  const TensorMeta& self = call.tensor(call.parameter());
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

// --- Connectionist temporal classification

/// The batch of log_probs, of (time, batch, classes); a single one may have no dimension for it.
bool is_batched(const TensorMeta& log_probs) {
  if (log_probs.dim() != 2 && log_probs.dim() != 3)
    fail("ctc_loss expects log_probs of 2 or 3 dimensions, got {}", log_probs.dim());
  return log_probs.dim() == 3;
}

/// _ctc_loss(log_probs, targets, input_lengths, target_lengths): a loss for each sample, and the
/// probabilities of each step for each label of the target, with blanks around them.
void ctc_loss_forward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& log_probs = call.tensor(0);
  if (!is_batched(log_probs)) throw Error("_ctc_loss expects log_probs of 3 dimensions");
  const SymInt time = log_probs.sizes[0];
  const SymInt batch = log_probs.sizes[1];
  SymInt labels = 0;
  if (call.tensor_or_null(3) == nullptr) {
    const DimVector lengths = call.sym_ints(3);
    env.require_equal(static_cast<std::int64_t>(lengths.size()), batch,
                      [] { return std::string("target_lengths must be of size batch_size"); });
    for (const SymInt length : lengths) labels = env.max(labels, length);
    labels = env.add(env.mul(labels, 2), 1);
  } else {
    labels = call.unbacked_size(1, 2, Range::at_least(1));
  }
  call.yield(empty_tensor(env, DimVector{batch}, log_probs.dtype, log_probs.device));
  call.yield(empty_tensor(env, DimVector{batch, time, labels}, log_probs.dtype, log_probs.device));
}

/// ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction)
void ctc_loss(ShapeCall& call) {
  const TensorMeta& log_probs = call.tensor(0);
  DimVector sizes;
  if (is_batched(log_probs)) sizes.push_back(log_probs.sizes[1]);
  yield_reduced(call, empty_tensor(call.env(), sizes, log_probs.dtype, log_probs.device));
}

// --- Distances

/// `input1` and `input2` without the last dimension, or the one given.
DimVector without_features(ShapeEnv& env, const TensorMeta& a, const TensorMeta& b,
                           std::size_t from_end) {
  DimVector sizes = broadcast_sizes(env, a.sizes, b.sizes);
  if (!sizes.empty()) sizes.erase(sizes.size() - from_end);
  return sizes;
}

/// aten::cosine_embedding_loss(input1, input2, target): over the rows of matrices.
void cosine_embedding_loss(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& target = call.tensor(2);
  if (target.dim() > 1) fail("0D or 1D target tensor expected, got {} dims", target.dim());
  if (a.dim() != target.dim() + 1)
    fail("{}D input tensors expected, found inputs with {} dims", target.dim() + 1, a.dim());
  ElementwiseOperands operands;
  const FakeTensor similarity =
      empty_tensor(call.env(), without_features(call.env(), a, call.tensor(1), 1),
                   promoted(a.dtype, Promotion::int_to_float), a.device);
  const TensorMeta rows = similarity;
  operands.add(rows);
  operands.add_without_dtype(target);
  yield_reduced(call, operands.result(call.env(), Promotion::to_common));
}

/// aten::triplet_margin_loss(anchor, positive, negative): over the last dimension.
void triplet_margin_loss(ShapeCall& call) {
  const TensorMeta& anchor = call.tensor(0);
  TypePromotion promotion;
  for (const std::uint32_t index : {0U, 1U, 2U}) {
    if (call.tensor(index).dim() != anchor.dim())
      throw Error(
          "The anchor, positive, and negative tensors are expected to have the same number of "
          "dimensions");
    promotion.add(call.tensor(index));
  }
  DimVector sizes = without_features(call.env(), anchor, call.tensor(1), 1);
  sizes =
      broadcast_sizes(call.env(), sizes, without_features(call.env(), anchor, call.tensor(2), 1));
  yield_reduced(call,
                empty_tensor(call.env(), sizes, to_real(promotion.result(Promotion::int_to_float)),
                             anchor.device));
}

}  // namespace

std::span<const ShapeRow> loss_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__ctc_loss_default, ctc_loss_forward},
      {op::aten__ctc_loss_Tensor, ctc_loss_forward},
      {op::aten__ctc_loss_backward_default, contiguous_gradient, 1},
      {op::aten__ctc_loss_backward_Tensor, contiguous_gradient, 1},
      {op::aten_binary_cross_entropy_default, pointwise_loss, with(3)},
      {op::aten_binary_cross_entropy_backward_default, pointwise_loss_backward, with(4)},
      {op::aten_binary_cross_entropy_with_logits_default, pointwise_loss, with(4)},
      {op::aten_cosine_embedding_loss_default, cosine_embedding_loss},
      {op::aten_cross_entropy_loss_default, cross_entropy_loss},
      {op::aten_ctc_loss_IntList, ctc_loss},
      {op::aten_ctc_loss_Tensor, ctc_loss},
      {op::aten_hinge_embedding_loss_default, pointwise_loss, with(2, Promotion::int_to_float)},
      {op::aten_huber_loss_default, huber_loss, with(2)},
      {op::aten_huber_loss_backward_default, pointwise_loss_backward, led_by(1, 3)},
      {op::aten_kl_div_default, pointwise_loss, with(2)},
      {op::aten_l1_loss_default, pointwise_loss, with(2, Promotion::complex_to_float)},
      {op::aten_margin_ranking_loss_default, pointwise_loss, with(3, Promotion::int_to_float)},
      {op::aten_mse_loss_default, pointwise_loss, with(2)},
      {op::aten_mse_loss_backward_default, pointwise_loss_backward, led_by(1, 3)},
      {op::aten_multi_margin_loss_default, multi_margin_loss},
      {op::aten_multi_margin_loss_backward_default, contiguous_gradient, 1},
      {op::aten_multilabel_margin_loss_default, multilabel_margin_loss, 0},
      {op::aten_multilabel_margin_loss_backward_default, contiguous_gradient, 1},
      {op::aten_multilabel_margin_loss_forward_default, multilabel_margin_loss, 1},
      {op::aten_nll_loss_default, nll_loss, 0},
      {op::aten_nll_loss2d_default, nll_loss, 0},
      {op::aten_nll_loss2d_backward_default, nll_loss_backward},
      {op::aten_nll_loss2d_forward_default, nll_loss, 1},
      {op::aten_nll_loss_backward_default, nll_loss_backward},
      {op::aten_nll_loss_forward_default, nll_loss, 1},
      {op::aten_nll_loss_nd_default, nll_loss, 0},
      {op::aten_poisson_nll_loss_default, pointwise_loss, with(2, Promotion::int_to_float)},
      {op::aten_smooth_l1_loss_default, pointwise_loss, with(2)},
      {op::aten_smooth_l1_loss_backward_default, pointwise_loss_backward, led_by(1, 3)},
      {op::aten_soft_margin_loss_default, pointwise_loss, with(2, Promotion::int_to_float)},
      {op::aten_soft_margin_loss_backward_default, pointwise_loss_backward, led_by(2, 3)},
      {op::aten_triplet_margin_loss_default, triplet_margin_loss},
  };
  return rows;
}

}  // namespace winze
