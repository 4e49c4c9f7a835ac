// SPDX-License-Identifier: Apache-2.0
// Short-time Fourier transforms, as export keeps them whole, after torch/_refs stft and istft.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/fft.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The arguments that both transforms have.
struct Frames {
  SymInt n_fft;
  SymInt hop_length;
  SymInt win_length;
  const TensorMeta* window;
};

Frames frames_of(const ShapeCall& call) {
  const ShapeEnv& env = call.env();
  Frames frames{call.sym_int(1), 0, 0, call.optional_tensor(4)};
  frames.hop_length = call.optional_sym_int(2).value_or(env.floor_div(frames.n_fft, 4));
  frames.win_length = call.optional_sym_int(3).value_or(frames.n_fft);
  return frames;
}

void check_frames(ShapeCall& call, const Frames& frames) {
  ShapeEnv& env = call.env();
  const std::string_view name = call.op().schema.name;
  env.require_at_least(frames.hop_length, 1, [&] {
    return fmt::format("{} expected hop_length > 0 but got hop_length={}", name,
                       env.str(frames.hop_length));
  });
  const auto bad_length = [&] {
    return fmt::format("{} expected 0 < win_length <= n_fft but got win_length={}", name,
                       env.str(frames.win_length));
  };
  env.require_at_least(frames.win_length, 1, bad_length);
  env.require_at_least(frames.n_fft, frames.win_length, bad_length);
  if (frames.window == nullptr) return;
  if (frames.window->dim() != 1)
    fail("{}: expected a 1D window tensor, but got one of {} dimensions", name,
         frames.window->dim());
  env.require_equal(frames.window->sizes[0], frames.win_length, [&] {
    return fmt::format(
        "{}: expected a 1D window tensor of size equal to win_length={}, but got window with size "
        "{}",
        name, env.str(frames.win_length), env.str(frames.window->sizes[0]));
  });
}

/// Half of `n_fft` more at both ends.
FakeTensor centered(const ShapeCall& call, const TensorMeta& input, SymInt n_fft) {
  ShapeEnv& env = call.env();
  const SymInt amount = env.floor_div(n_fft, 2);
  if (call.string(call.position("pad_mode")) == "reflect") {
    env.require_at_least(input.sizes[1], env.add(amount, 1), [&] {
      return fmt::format(
          "Argument #4: Padding size should be less than the corresponding input dimension, but "
          "got: "
          "padding ({}) at dimension of size {}",
          env.str(amount), env.str(input.sizes[1]));
    });
  }
  const DimVector sizes = {input.sizes[0], env.add(input.sizes[1], env.mul(amount, 2))};
  return empty_tensor(env, sizes, input.dtype, input.device);
}

/// Frames of `n_fft` elements: a view of (batch, frame, element).
FakeTensor unfolded(const ShapeCall& call, const TensorMeta& input, const Frames& frames) {
  ShapeEnv& env = call.env();
  const SymInt length = input.sizes[1];
  env.require_at_least(length, frames.n_fft, [&] {
    return fmt::format("stft expected 0 < n_fft <= {}, but got n_fft={}", env.str(length),
                       env.str(frames.n_fft));
  });
  const SymInt count = env.add(env.floor_div(env.sub(length, frames.n_fft), frames.hop_length), 1);
  FakeTensor result(input);
  result.sizes = {input.sizes[0], count, frames.n_fft};
  result.strides = {input.strides[0], env.mul(frames.hop_length, input.strides[1]),
                    input.strides[1]};
  return result;
}

/// While it lives, what `unfolded` requires is known: that a signal is not shorter than a frame.
class LongerThanFrames {
 public:
  LongerThanFrames(ShapeEnv& env, SymInt length, SymInt n_fft)
      : env_(env), kept_(env.assumption_count()) {
    env.assume(env.symbols().ge(length, n_fft));
  }
  ~LongerThanFrames() { env_.forget_assumptions(kept_); }
  LongerThanFrames(const LongerThanFrames&) = delete;
  LongerThanFrames& operator=(const LongerThanFrames&) = delete;

 private:
  ShapeEnv& env_;
  std::size_t kept_;
};

/// Each frame times the window.
FakeTensor windowed(ShapeCall& call, const TensorMeta& framed, const Frames& frames) {
  ShapeEnv& env = call.env();
  const bool is_padded = !env.known_equal(frames.win_length, frames.n_fft);
  if (frames.window == nullptr && !is_padded) return FakeTensor(framed);
  FakeTensor window = empty_tensor(env, DimVector{frames.n_fft}, framed.dtype, framed.device);
  if (frames.window != nullptr) window.dtype = frames.window->dtype;
  const TensorMeta factor = window;
  ElementwiseOperands operands;
  operands.add(framed);
  operands.add(factor);
  return operands.result(env, Promotion::to_common);
}

bool wants_complex(const ShapeCall& call, const TensorMeta& input, const Frames& frames) {
  const std::uint32_t at = call.position("return_complex");
  if (!call.is_none(at)) return call.boolean(at);
  if (!is_complex(input.dtype) && !(frames.window != nullptr && is_complex(frames.window->dtype))) {
    throw Error(
        "stft requires the return_complex parameter be given for real inputs, and will further "
        "require that return_complex=True in a future PyTorch release.");
  }
  return true;
}

/// aten::stft(self, n_fft, hop_length, win_length, window) and stft.center.
void stft(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const Frames frames = frames_of(call);
  const std::uint32_t center_at = call.position("center");
  const bool center = !call.is_none(center_at) && call.boolean(center_at);
  const std::uint32_t aligned_at = call.position("align_to_window");
  if (center && !call.is_none(aligned_at))
    throw Error("stft only supports align_to_window for center = False.");
  if (!call.is_none(aligned_at) && call.boolean(aligned_at))
    call.cannot_infer("stft that aligns to the window is not known");
  const bool as_complex = wants_complex(call, self, frames);
  if (!is_floating_point(self.dtype) && !is_complex(self.dtype))
    throw Error("stft expected a tensor of floating point or complex values");
  if (self.dim() != 1 && self.dim() != 2) throw Error("stft expected a 1D or 2D tensor");
  FakeTensor input(self);
  if (self.dim() == 1) input = unsqueeze(env, self, 0);
  if (center) input = centered(call, input, frames.n_fft);
  check_frames(call, frames);
  const FakeTensor framed = unfolded(call, input, frames);
  const LongerThanFrames longer(env, input.sizes[1], frames.n_fft);
  const FakeTensor weighted = windowed(call, framed, frames);
  const bool is_complex_input = is_complex(weighted.dtype);
  const std::uint32_t onesided_at = call.position("onesided");
  const bool onesided = call.is_none(onesided_at) ? !is_complex_input : call.boolean(onesided_at);
  if (onesided && is_complex_input)
    throw Error("Cannot have onesided output if window or input is complex");
  const FakeTensor spectrum =
      is_complex_input ? fft_c2c(call, weighted, {2}) : fft_r2c(call, weighted, {2}, onesided);
  FakeTensor result = transpose(spectrum, 1, 2);
  if (self.dim() == 1) result = without_dim(result, 0);
  if (!as_complex) {
    result.dtype = to_real(result.dtype);
    for (SymInt& stride : result.strides) stride = env.mul(stride, 2);
    result.sizes.push_back(2);
    result.strides.push_back(1);
  }
  call.yield(result);
}

/// aten::istft(self, n_fft, hop_length, win_length, window, ...): the signal, without what `center`
/// has padded, cut or padded to `length`.
void istft(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  if (!is_complex(self.dtype)) throw Error("istft requires a complex-valued input tensor");
  if (self.dim() != 2 && self.dim() != 3)
    fail("istft expected a tensor with 2 or 3 dimensions, but got {}", self.dim());
  const Frames frames = frames_of(call);
  check_frames(call, frames);
  const SymInt bins = self.sizes[self.dim() - 2];
  const SymInt count = self.sizes[self.dim() - 1];
  const std::uint32_t onesided_at = call.position("onesided");
  const SymInt half = env.add(env.floor_div(frames.n_fft, 2), 1);
  const bool onesided =
      call.is_none(onesided_at) ? !env.known_equal(bins, frames.n_fft) : call.boolean(onesided_at);
  env.require_equal(bins, onesided ? half : frames.n_fft, [&] {
    return fmt::format(
        "istft expected the frequency dimension (3rd to the last) of the input tensor to match "
        "n_fft{} when onesided={}, but got {}",
        onesided ? " / 2 + 1" : "", onesided ? "True" : "False", env.str(bins));
  });
  env.require_at_least(count, 1, [] { return std::string("istft input tensor cannot be empty"); });
  const bool as_complex = call.boolean(call.position("return_complex"));
  if (as_complex && onesided)
    throw Error("cannot have onesided output if window or input is complex");
  const bool center = call.boolean(call.position("center"));
  const SymInt whole = env.add(frames.n_fft, env.mul(frames.hop_length, env.sub(count, 1)));
  const SymInt edge = center ? env.floor_div(frames.n_fft, 2) : SymInt(0);
  const SymInt length =
      call.optional_sym_int(call.position("length")).value_or(env.sub(whole, env.mul(edge, 2)));
  DimVector sizes;
  if (self.dim() == 3) sizes.push_back(self.sizes[0]);
  sizes.push_back(length);
  ScalarType dtype = as_complex ? self.dtype : to_real(self.dtype);
  if (frames.window != nullptr) dtype = promote_types(dtype, frames.window->dtype).value_or(dtype);
  call.yield(empty_tensor(env, sizes, dtype, self.device));
}

}  // namespace

std::span<const ShapeRow> spectral_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_istft_default, istft},
      {op::aten_stft_center, stft},
      {op::aten_stft_default, stft},
  };
  return rows;
}

}  // namespace winze
