// SPDX-License-Identifier: Apache-2.0
// Upsampling, padding and sampling on a grid, after torch/_meta_registrations.py, torch/_refs and
// aten/src/ATen/native/{UpSample,PadNd,GridSampler}.cpp.
#include <array>
#include <cmath>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The format that CPU kernels keep; other devices decide by the number of channels.
MemoryFormat kept_format(const ShapeCall& call, const TensorMeta& input) {
  const MemoryFormat format = suggest_memory_format(call.env(), input);
  if (format != MemoryFormat::contiguous_format && input.device.type != Device{}.type)
    call.cannot_infer("the memory format that is kept depends on the device");
  return format;
}

// --- Upsampling

/// What the row of an upsampling operator says.
constexpr std::uint32_t dims_mask = 3;    ///< how many dimensions are resized
constexpr std::uint32_t has_corners = 4;  ///< `align_corners` stands before the scales
constexpr std::uint32_t is_contiguous_result = 8;

/// Sizes, or scales of the input's: whole ones exactly, others truncated
/// (torch/_decomp/decompositions.py upsample_compute_output_size).
DimVector scaled_sizes(const ShapeCall& call, const TensorMeta& input, std::size_t count) {
  const bool by_size = !call.is_none(1);
  const std::uint32_t at_scales = (call.parameter() & has_corners) != 0 ? 3 : 2;
  if (by_size != call.is_none(at_scales))
    throw Error("Must specify exactly one of output_size and scale_factors");
  if (by_size) return call.sym_ints(1);
  const Argument scales = call.argument(at_scales);
  if (scales.kind() != ArgumentKind::floats) call.cannot_infer("the scale factors are not known");
  DimVector sizes;
  for (const double scale : call.context().floats_of(scales)) {
    if (sizes.size() == count) throw Error("there are more scale factors than dimensions");
    const SymInt size = input.sizes[sizes.size() + 2];
    if (!(std::abs(scale) < 1e6)) call.cannot_infer("the scale factor {} is too large", scale);
    if (scale == std::trunc(scale)) {
      sizes.push_back(call.env().mul(size, static_cast<std::int64_t>(scale)));
      continue;
    }
    if (!size.is_constant()) call.cannot_infer("a symbolic size is scaled by a fraction");
    const double scaled = static_cast<double>(size.constant()) * scale;
    if (!(std::abs(scaled) < 1e15)) call.cannot_infer("the scaled size is too large");
    sizes.push_back(static_cast<std::int64_t>(scaled));
  }
  return sizes;
}

void yield_resized(ShapeCall& call, const DimVector& output) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const std::size_t count = call.parameter() & dims_mask;
  if (output.size() != count)
    fail("It is expected output_size equals to {}, but got size {}", count, output.size());
  for (std::size_t dim = 1; dim < input.dim(); ++dim) {
    env.require_at_least(input.sizes[dim], 1, [] {
      return std::string("Non-empty data tensor expected for upsampling");
    });
  }
  DimVector sizes(input.sizes.first(2));
  for (const SymInt size : output) {
    env.require_at_least(
        size, 1, [] { return std::string("Input and output sizes should be greater than 0"); });
    sizes.push_back(size);
  }
  call.yield(empty_tensor(env, sizes, input.dtype, input.device, kept_format(call, input)));
}

void check_rank(const ShapeCall& call, const TensorMeta& input) {
  const std::size_t count = call.parameter() & dims_mask;
  if (input.dim() == count + 2) return;
  fail("It is expected input_size equals to {}, but got size {}", count + 2, input.dim());
}

/// aten::upsample_nearest2d and the like, to given sizes.
void upsample(ShapeCall& call) {
  check_rank(call, call.tensor(0));
  yield_resized(call, call.sym_ints(1));
}

/// The same by sizes or by scales: aten::upsample_nearest2d.vec.
void upsample_vec(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  check_rank(call, input);
  yield_resized(call, scaled_sizes(call, input, call.parameter() & dims_mask));
}

/// Gradients: the sizes of the input, the format of the gradient.
void upsample_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  check_rank(call, grad);
  MemoryFormat format = kept_format(call, grad);
  if (format == MemoryFormat::channels_last_3d)
    call.cannot_infer("the memory format of this gradient differs between kernels");
  if ((call.parameter() & is_contiguous_result) != 0) format = MemoryFormat::contiguous_format;
  call.yield(empty_tensor(call.env(), call.sym_ints(2), grad.dtype, grad.device, format));
}

// --- Padding

/// Sizes with `pad` added, the last dimension first.
DimVector padded_sizes(const ShapeCall& call, const TensorMeta& input, const DimVector& pad,
                       SymInt least) {
  ShapeEnv& env = call.env();
  if (pad.size() % 2 != 0) fail("Length of pad must be even but instead it equals {}", pad.size());
  if (pad.size() / 2 > input.dim()) {
    fail(
        "Length of pad should be no more than twice the number of dimensions of the input. Pad "
        "length is {} while the input has {} dimensions.",
        pad.size(), input.dim());
  }
  DimVector sizes(input.sizes);
  for (std::size_t at = 0; at < pad.size(); at += 2) {
    SymInt& size = sizes[sizes.size() - 1 - at / 2];
    // What is cut off has to be there.
    for (const SymInt amount : {pad[at], pad[at + 1]}) {
      if (!env.known_less(amount, 0)) continue;
      env.require_at_least(size, env.sub(0, amount), [&] {
        return fmt::format("a pad of {} cuts off more than there is: {}", env.str(amount),
                           env.str(size));
      });
    }
    size = env.add(env.add(size, pad[at]), pad[at + 1]);
    env.require_at_least(size, least, [&] {
      return fmt::format("padding leaves a {} size {}",
                         least == SymInt(0) ? "negative" : "too small", env.str(size));
    });
  }
  return sizes;
}

/// aten::constant_pad_nd (torch/_refs): only where all pads are negative the layout is that of a
/// part of the input.
void constant_pad(ShapeCall& call, const TensorMeta& input, const DimVector& pad) {
  const ShapeEnv& env = call.env();
  const DimVector sizes = padded_sizes(call, input, pad, 0);
  bool all_zero = true;
  bool all_cut = true;
  for (const SymInt amount : pad) {
    if (!amount.is_constant() && !env.known_at_least(amount, 1))
      call.cannot_infer("the sign of a pad is not known");
    all_zero = all_zero && env.known_zero(amount);
    all_cut = all_cut && env.known_less(amount, 1);
  }
  // Kernel and reference differ here: one copies as it is, the other in the memory format.
  if (all_zero || all_cut) {
    const FakeTensor copied = empty_like(env, input);
    const DimVector plain = strides_for(env, input.sizes, suggest_memory_format(env, input));
    if (!all_zero || !(copied.strides == plain))
      call.cannot_infer("the layout of an input that is only cut is not known");
  }
  call.yield(
      empty_tensor(env, sizes, input.dtype, input.device, suggest_memory_format(env, input)));
}

void constant_pad_nd(ShapeCall& call) {
  constant_pad(call, call.tensor(0), call.sym_ints(1));
}

/// reflection_pad and replication_pad over `pad.size() / 2` dimensions.
void border_pad(ShapeCall& call, const TensorMeta& input, const DimVector& pad, bool reflects) {
  ShapeEnv& env = call.env();
  const std::size_t count = pad.size() / 2;
  if (input.dim() != count + 1 && input.dim() != count + 2) {
    fail(
        "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero "
        "dimensions for input, but got {}D",
        count + 1, count + 2, input.dim());
  }
  if (!reflects && input.dtype == ScalarType::bool_)
    fail("\"{}\" not implemented for 'Bool'", call.op().schema.name);
  for (std::size_t dim = input.dim() == count + 2 ? 1 : 0; dim < input.dim(); ++dim) {
    env.require_at_least(input.sizes[dim], 1, [] {
      return std::string("padding expects dimensions other than the batch to be non-zero");
    });
  }
  for (std::size_t at = 0; reflects && at < pad.size(); ++at) {
    const SymInt size = input.sizes[input.dim() - 1 - at / 2];
    env.require_at_least(env.sub(size, 1), pad[at], [&] {
      return fmt::format(
          "Padding size should be less than the corresponding input dimension, but got {} for a "
          "size of {}",
          env.str(pad[at]), env.str(size));
    });
  }
  const DimVector sizes = padded_sizes(call, input, pad, 1);
  const MemoryFormat format = kept_format(call, input);
  if (format == MemoryFormat::channels_last_3d)
    call.cannot_infer("the memory format of padding over three dimensions differs between kernels");
  call.yield(empty_tensor(env, sizes, input.dtype, input.device, format));
}

constexpr std::uint32_t reflects = 4;

void border_pad_rule(ShapeCall& call) {
  const DimVector pad = call.sym_ints(1);
  const std::size_t dims = call.parameter() & dims_mask;
  if (pad.size() != 2 * dims)
    fail("padding size is expected to be {}, but got: {}", 2 * dims, pad.size());
  border_pad(call, call.tensor(0), pad, (call.parameter() & reflects) != 0);
}

/// aten::pad (PadNd.cpp), in a mode that has a name.
void pad_in_mode(ShapeCall& call, std::string_view mode) {
  const TensorMeta& input = call.tensor(0);
  const DimVector pad = call.sym_ints(1);
  if (mode == "constant") return constant_pad(call, input, pad);
  if (mode == "circular") {
    const DimVector sizes = padded_sizes(call, input, pad, 1);
    for (std::size_t at = 0; at < pad.size(); ++at) {
      call.env().require_at_least(input.sizes[input.dim() - 1 - at / 2], pad[at], [] {
        return std::string("Padding value causes wrapping around more than once.");
      });
    }
    return call.yield(empty_tensor(call.env(), sizes, input.dtype, input.device));
  }
  if (mode != "reflect" && mode != "replicate") fail("Unrecognised padding mode {}", mode);
  if (pad.size() != 2 && pad.size() != 4 && pad.size() != 6)
    throw Error("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  border_pad(call, input, pad, mode == "reflect");
}

void pad_rule(ShapeCall& call) {
  pad_in_mode(call, call.string(2));
}
/// aten::_pad_enum(self, pad, mode, value) (PadNd.h padding_mode)
void pad_enum(ShapeCall& call) {
  constexpr std::array modes = {"reflect", "replicate", "circular", "constant"};
  const SymInt mode = call.sym_int(2);
  if (!mode.is_constant() || mode.constant() < 0 || mode.constant() > 3)
    fail("Unrecognised padding mode {}", call.env().str(mode));
  if (mode.constant() != 3 && !call.is_none(3))
    fail("Padding mode \"{}\" doesn't take in value argument", modes[mode.constant()]);
  pad_in_mode(call, modes[mode.constant()]);
}
void pad_circular(ShapeCall& call) {
  pad_in_mode(call, "circular");
}

/// Gradients of padding: contiguous, of the sizes of the input.
void border_pad_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(1);
  call.yield(empty_tensor(call.env(), input.sizes, input.dtype, input.device));
}

// --- Sampling on a grid

/// aten::grid_sampler, grid_sampler_2d, grid_sampler_3d: contiguous.
void grid_sampler(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& grid = call.tensor(1);
  if ((input.dim() != 4 && input.dim() != 5) || input.dim() != grid.dim()) {
    fail(
        "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got "
        "{} and {}",
        input.dim(), grid.dim());
  }
  if (call.parameter() != 0 && input.dim() != call.parameter() + 2)
    fail("{}: expected {}D input", call.op().schema.name, call.parameter() + 2);
  env.require_equal(input.sizes[0], grid.sizes[0], [] {
    return std::string("grid_sampler(): expected grid and input to have same batch size");
  });
  env.require_equal(grid.sizes[grid.dim() - 1], input.dim() - 2, [] {
    return std::string("grid_sampler(): expected grid to have one coordinate for each dimension");
  });
  for (std::size_t dim = 2; dim < input.dim(); ++dim) {
    env.require_at_least(input.sizes[dim], 1, [] {
      return std::string("grid_sampler(): expected input to have non-empty spatial dimensions");
    });
  }
  DimVector sizes(input.sizes.first(2));
  sizes.append(grid.sizes.subspan(1, grid.dim() - 2));
  call.yield(empty_tensor(env, sizes, input.dtype, input.device));
}

}  // namespace

std::span<const ShapeRow> resizing_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__upsample_bicubic2d_aa_backward_default, upsample_backward,
       2 | is_contiguous_result},
      {op::aten__upsample_lanczos2d_aa_default, upsample, 2},
      {op::aten__upsample_lanczos2d_aa_backward_default, upsample_backward, 2},
      {op::aten__upsample_lanczos2d_aa_vec, upsample_vec, 2 | has_corners},
      {op::aten__upsample_nearest_exact3d_backward_default, upsample_backward, 3},
      {op::aten__upsample_bicubic2d_aa_default, upsample, 2},
      {op::aten__upsample_bicubic2d_aa_vec, upsample_vec, 2 | has_corners},
      {op::aten__upsample_bilinear2d_aa_backward_default, upsample_backward, 2},
      {op::aten__upsample_bilinear2d_aa_default, upsample, 2},
      {op::aten__upsample_bilinear2d_aa_vec, upsample_vec, 2 | has_corners},
      {op::aten__upsample_nearest_exact1d_default, upsample, 1},
      {op::aten__upsample_nearest_exact1d_vec, upsample_vec, 1},
      {op::aten__upsample_nearest_exact2d_default, upsample, 2},
      {op::aten__upsample_nearest_exact2d_vec, upsample_vec, 2},
      {op::aten__upsample_nearest_exact3d_default, upsample, 3},
      {op::aten__upsample_nearest_exact3d_vec, upsample_vec, 3},
      {op::aten_constant_pad_nd_default, constant_pad_nd},
      {op::aten_grid_sampler_2d_default, grid_sampler, 2},
      {op::aten_grid_sampler_3d_default, grid_sampler, 3},
      {op::aten_grid_sampler_default, grid_sampler},
      {op::aten__pad_circular_default, pad_circular},
      {op::aten__pad_enum_default, pad_enum},
      {op::aten_pad_default, pad_rule},
      {op::aten_reflection_pad1d_backward_default, border_pad_backward},
      {op::aten_reflection_pad1d_default, border_pad_rule, 1 | reflects},
      {op::aten_reflection_pad2d_backward_default, border_pad_backward},
      {op::aten_reflection_pad2d_default, border_pad_rule, 2 | reflects},
      {op::aten_reflection_pad3d_backward_default, border_pad_backward},
      {op::aten_reflection_pad3d_default, border_pad_rule, 3 | reflects},
      {op::aten_replication_pad1d_backward_default, border_pad_backward},
      {op::aten_replication_pad1d_default, border_pad_rule, 1},
      {op::aten_replication_pad2d_backward_default, border_pad_backward},
      {op::aten_replication_pad2d_default, border_pad_rule, 2},
      {op::aten_replication_pad3d_backward_default, border_pad_backward},
      {op::aten_replication_pad3d_default, border_pad_rule, 3},
      {op::aten_upsample_bicubic2d_backward_default, upsample_backward, 2 | is_contiguous_result},
      {op::aten_upsample_bicubic2d_default, upsample, 2},
      {op::aten_upsample_bicubic2d_vec, upsample_vec, 2 | has_corners},
      {op::aten_upsample_bilinear2d_backward_default, upsample_backward, 2},
      {op::aten_upsample_bilinear2d_default, upsample, 2},
      {op::aten_upsample_bilinear2d_vec, upsample_vec, 2 | has_corners},
      {op::aten_upsample_linear1d_backward_default, upsample_backward, 1},
      {op::aten_upsample_linear1d_default, upsample, 1},
      {op::aten_upsample_linear1d_vec, upsample_vec, 1 | has_corners},
      {op::aten__upsample_nearest_exact1d_backward_default, upsample_backward, 1},
      {op::aten__upsample_nearest_exact2d_backward_default, upsample_backward, 2},
      {op::aten_upsample_nearest1d_backward_default, upsample_backward, 1},
      {op::aten_upsample_nearest1d_default, upsample, 1},
      {op::aten_upsample_nearest1d_vec, upsample_vec, 1},
      {op::aten_upsample_nearest2d_backward_default, upsample_backward, 2},
      {op::aten_upsample_nearest2d_default, upsample, 2},
      {op::aten_upsample_nearest2d_vec, upsample_vec, 2},
      {op::aten_upsample_nearest3d_backward_default, upsample_backward, 3},
      {op::aten_upsample_nearest3d_default, upsample, 3},
      {op::aten_upsample_nearest3d_vec, upsample_vec, 3},
      {op::aten_upsample_trilinear3d_backward_default, upsample_backward, 3},
      {op::aten_upsample_trilinear3d_default, upsample, 3},
      {op::aten_upsample_trilinear3d_vec, upsample_vec, 3 | has_corners},
  };
  return rows;
}

}  // namespace winze
