// SPDX-License-Identifier: Apache-2.0
// Recurrent nets, as export keeps them whole (aten/src/ATen/native/RNN.cpp).
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void check_rank(const TensorMeta& tensor, std::size_t rank, std::string_view name) {
  if (tensor.dim() != rank)
    fail("Expected {} to be {}-dimensional, but got {} dims", name, rank, tensor.dim());
}

/// The result for each step: contiguous by time, and transposed where the batch comes first.
FakeTensor steps(ShapeEnv& env, const TensorMeta& input, const TensorMeta& hidden,
                 SymInt directions, bool batch_first) {
  check_rank(input, 3, "input");
  check_rank(hidden, 3, "hx");
  const SymInt batch = input.sizes[batch_first ? 0 : 1];
  env.require_equal(hidden.sizes[1], batch, [&] {
    return fmt::format("Expected hidden batch size {}, got {}", env.str(batch),
                       env.str(hidden.sizes[1]));
  });
  const FakeTensor by_time = empty_tensor(
      env, DimVector{input.sizes[batch_first ? 1 : 0], batch, env.mul(hidden.sizes[2], directions)},
      input.dtype, input.device);
  return batch_first ? transpose(by_time, 0, 1) : by_time;
}

void require_layers(ShapeEnv& env, const TensorMeta& hidden, SymInt layers, SymInt directions) {
  const SymInt count = env.mul(layers, directions);
  env.require_equal(hidden.sizes[0], count, [&] {
    return fmt::format("Expected {} hidden states, one for each layer and direction, got {}",
                       env.str(count), env.str(hidden.sizes[0]));
  });
}

/// aten::gru.input, rnn_tanh.input, rnn_relu.input, and aten::lstm.input, which has two states.
void recurrent(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const bool is_lstm = call.parameter() == 2;
  std::vector<const TensorMeta*> hidden;
  if (is_lstm) {
    hidden = call.tensors(1);
  } else {
    hidden.push_back(&call.tensor(1));
  }
  if (hidden.size() != call.parameter())
    fail("{} expects two hidden states", call.op().schema.name);
  const SymInt directions = call.boolean(7) ? 2 : 1;
  for (const TensorMeta* state : hidden) {
    if (state == nullptr) call.cannot_infer("a hidden state is None");
    if (state->dtype != input.dtype) call.cannot_infer("input and hidden state differ in dtype");
  }
  call.yield(steps(env, input, *hidden[0], directions, call.boolean(8)));
  for (const TensorMeta* state : hidden) {
    check_rank(*state, 3, "hx");
    require_layers(env, *state, call.sym_int(4), directions);
    call.yield(empty_tensor(env, state->sizes, input.dtype, input.device));
  }
}

/// gru_cell, rnn_tanh_cell, rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh), and lstm_cell, whose
/// state are two tensors. `parameter` says how many, and above these how many gates there are.
constexpr std::uint32_t gates(std::uint32_t count) {
  return count << 4;
}
void cell(ShapeCall& call) {
  const std::uint32_t states = call.parameter() & 0xF;
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  std::vector<const TensorMeta*> hidden;
  if (states == 2) {
    hidden = call.tensors(1);
  } else {
    hidden.push_back(&call.tensor(1));
  }
  if (hidden.size() != states) fail("{} expects two hidden states", call.op().schema.name);
  const TensorMeta& weight = call.tensor(2);
  check_rank(weight, 2, "w_ih");
  check_rank(input, 2, "input");
  env.require_equal(input.sizes[1], weight.sizes[1], [&] {
    return fmt::format("input has inconsistent input_size: got {} expected {}",
                       env.str(input.sizes[1]), env.str(weight.sizes[1]));
  });
  for (const TensorMeta* state : hidden) {
    if (state == nullptr) call.cannot_infer("a hidden state is None");
    check_rank(*state, 2, "hx");
    const SymInt rows = env.mul(state->sizes[1], call.parameter() >> 4);
    env.require_equal(weight.sizes[0], rows, [&] {
      return fmt::format("w_ih has {} rows, but the gates of this hidden state have {}",
                         env.str(weight.sizes[0]), env.str(rows));
    });
    env.require_equal(state->sizes[0], input.sizes[0], [&] {
      return fmt::format("Input batch size {} doesn't match hidden batch size {}",
                         env.str(input.sizes[0]), env.str(state->sizes[0]));
    });
    call.yield(empty_tensor(env, state->sizes, input.dtype, input.device));
  }
}

/// gru.data, rnn_tanh.data, rnn_relu.data and lstm.data: of sequences packed one step after the
/// other.
void recurrent_packed(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& data = call.tensor(0);
  check_rank(data, 2, "data");
  std::vector<const TensorMeta*> hidden;
  if (call.parameter() == 2) {
    hidden = call.tensors(2);
  } else {
    hidden.push_back(&call.tensor(2));
  }
  if (hidden.size() != call.parameter())
    fail("{} expects two hidden states", call.op().schema.name);
  const SymInt directions = call.boolean(8) ? 2 : 1;
  for (const TensorMeta* state : hidden) {
    if (state == nullptr) call.cannot_infer("a hidden state is None");
    if (state->dtype != data.dtype) call.cannot_infer("data and hidden state differ in dtype");
    check_rank(*state, 3, "hx");
    require_layers(env, *state, call.sym_int(5), directions);
  }
  const DimVector sizes = {data.sizes[0], env.mul(hidden[0]->sizes[2], directions)};
  call.yield(empty_tensor(env, sizes, data.dtype, data.device));
  for (const TensorMeta* state : hidden)
    call.yield(empty_tensor(env, state->sizes, data.dtype, data.device));
}

/// _thnn_fused_lstm_cell(input_gates, hidden_gates, cx): the states, and what the gradient needs.
void fused_lstm_cell(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& gates = call.tensor(0);
  const TensorMeta& state = call.tensor(2);
  check_rank(gates, 2, "input_gates");
  check_rank(state, 2, "cx");
  const SymInt expected = env.mul(state.sizes[1], 4);
  env.require_equal(gates.sizes[1], expected, [&] {
    return fmt::format("input_gates has {} columns, but the gates of the state have {}",
                       env.str(gates.sizes[1]), env.str(expected));
  });
  for (int count = 0; count < 2; ++count)
    call.yield(empty_like(env, state, MemoryFormat::contiguous_format));
  call.yield(empty_like(env, gates, MemoryFormat::contiguous_format));
}
/// _thnn_fused_lstm_cell_backward_impl(grad_hy, grad_cy, cx, cy, workspace, has_bias)
void fused_lstm_cell_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  if (call.is_none(0) && call.is_none(1)) {
    for (int count = 0; count < 3; ++count) call.yield_none();
    return;
  }
  const TensorMeta& gates = call.tensor(4);
  check_rank(gates, 2, "workspace");
  call.yield(empty_like(env, gates, MemoryFormat::contiguous_format));
  call.yield(empty_like(env, call.tensor(2), MemoryFormat::contiguous_format));
  if (!call.boolean(5)) return call.yield_none();
  call.yield(empty_tensor(env, gates.sizes.subspan(1), gates.dtype, gates.device));
}

/// _thnn_fused_lstm_cell_backward: the gradient of the gates and of the bias stand twice.
void lstm_cell_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  // Of the differentiable one the gates are an argument, of the other they are what it saved.
  const bool is_differentiable = call.parameter() == 1;
  if (call.is_none(0) && call.is_none(1)) {
    for (int count = 0; count < 5; ++count) call.yield_none();
    return;
  }
  const TensorMeta& gates = call.tensor(is_differentiable ? 2 : 4);
  check_rank(gates, 2, "workspace");
  const FakeTensor of_gates = empty_like(env, gates, MemoryFormat::contiguous_format);
  call.yield(of_gates);
  call.yield(of_gates);
  call.yield(
      empty_like(env, call.tensor(is_differentiable ? 6 : 2), MemoryFormat::contiguous_format));
  const bool has_bias = is_differentiable ? !call.is_none(4) : call.boolean(5);
  for (int count = 0; count < 2; ++count) {
    if (has_bias) {
      call.yield(empty_tensor(env, gates.sizes.subspan(1), gates.dtype, gates.device));
    } else {
      call.yield_none();
    }
  }
}
/// _thnn_differentiable_gru_cell_backward(grad_hy, input_gates, hidden_gates, hx, input_bias,
/// hidden_bias)
void gru_cell_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  for (const std::uint32_t index : {1U, 2U, 3U}) {
    check_rank(call.tensor(index), 2, "gates and hidden states");
    call.yield(empty_like(env, call.tensor(index), MemoryFormat::contiguous_format));
  }
  for (const std::uint32_t index : {1U, 2U}) {
    const TensorMeta& gates = call.tensor(index);
    if (call.is_none(4)) {
      call.yield_none();
    } else {
      call.yield(empty_tensor(env, gates.sizes.subspan(1), gates.dtype, gates.device));
    }
  }
}

/// Where the arguments of a device's recurrent kernel stand, from the initial state on.
struct DeviceRecurrent {
  std::uint32_t state;       ///< hx, which cx, the mode and the size of hidden states follow
  std::uint32_t layers;      ///< which batch_first, dropout, train and bidirectional follow
  std::uint32_t projection;  ///< size that hidden states are projected to; 0 where there is none
};

/// _cudnn_rnn and miopen_rnn (torch/_meta_registrations.py): results for each step, hidden and cell
/// state, what is kept for the gradient, and the weights as one tensor. Of the batch that comes
/// first fake tensors take the second dimension for the states, as the kernel does not.
void device_recurrent(ShapeCall& call, const DeviceRecurrent& at) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& state = call.tensor(at.state);
  const TensorMeta* const cell = call.optional_tensor(at.state + 1);
  const SymInt hidden = call.sym_int(at.state + 3);
  const bool batch_first = call.boolean(at.layers + 1);
  const SymInt directions = call.boolean(at.layers + 4) ? 2 : 1;
  const SymInt projected = at.projection == 0 ? SymInt(0) : call.sym_int(at.projection);
  if (!env.known_zero(projected) && !env.known_at_least(projected, 1))
    call.cannot_infer("whether hidden states are projected is not known");
  const SymInt features = env.known_zero(projected) ? hidden : projected;
  const SymInt width = env.mul(features, directions);
  const DimVector packed = call.sym_ints(at.layers + 5);
  check_rank(input, packed.empty() ? 3 : 2, "input");
  const SymInt batch = packed.empty() ? input.sizes[batch_first ? 0 : 1] : packed[0];
  DimVector steps(input.sizes);
  steps[steps.size() - 1] = width;
  call.yield(empty_tensor(env, steps, input.dtype, input.device));
  const SymInt layers = env.mul(call.sym_int(at.layers), directions);
  call.yield(empty_tensor(env, DimVector{layers, batch, features}, state.dtype, state.device));
  if (cell == nullptr) {
    call.yield(empty_tensor(env, DimVector{0}, default_float, input.device));
  } else {
    call.yield(empty_tensor(env, DimVector{layers, batch, hidden}, cell->dtype, cell->device));
  }
  call.yield(empty_tensor(env, DimVector{0}, ScalarType::uint8, input.device));
}
void cudnn_rnn(ShapeCall& call) {
  device_recurrent(call, {.state = 4, .layers = 9, .projection = 8});
  if (const TensorMeta* const weights = call.optional_tensor(3)) {
    call.yield(*weights);
  } else {
    call.yield_none();
  }
}
void miopen_rnn(ShapeCall& call) {
  device_recurrent(call, {.state = 3, .layers = 7, .projection = 0});
  const ShapeEnv& env = call.env();
  SymInt count = 0;
  for (const TensorMeta* weight : call.tensors(1)) {
    if (weight == nullptr) call.cannot_infer("a weight is None");
    count = env.add(count, numel(env, weight->sizes));
  }
  call.yield(empty_tensor(env, DimVector{count}, call.tensor(0).dtype, call.tensor(0).device));
}

/// pad_sequence(sequences, batch_first): as long as the longest.
void pad_sequence(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto sequences = call.tensors(0);
  if (sequences.empty() || sequences[0] == nullptr)
    throw Error("received an empty list of sequences");
  const TensorMeta& first = *sequences[0];
  SymInt longest = 0;
  for (const TensorMeta* sequence : sequences) {
    if (sequence == nullptr) call.cannot_infer("{} is given None", call.op().qualified_name);
    if (sequence->dim() == 0 || sequence->dim() != first.dim())
      throw Error("pad_sequence expects sequences of one rank, with at least one dimension");
    for (std::size_t dim = 1; dim < first.dim(); ++dim) {
      env.require_equal(sequence->sizes[dim], first.sizes[dim], [] {
        return std::string("pad_sequence expects sequences of one size behind the first");
      });
    }
    longest = env.max(longest, sequence->sizes[0]);
  }
  DimVector sizes = {longest, static_cast<std::int64_t>(sequences.size())};
  if (call.boolean(1)) std::swap(sizes[0], sizes[1]);
  sizes.append(first.sizes.subspan(1));
  call.yield(empty_tensor(env, sizes, first.dtype, first.device));
}

}  // namespace

std::span<const ShapeRow> recurrent_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__cudnn_rnn_default, cudnn_rnn},
      {op::aten_miopen_rnn_default, miopen_rnn},
      {op::aten__thnn_differentiable_gru_cell_backward_default, gru_cell_backward},
      {op::aten__thnn_differentiable_lstm_cell_backward_default, lstm_cell_backward, 1},
      {op::aten__thnn_fused_lstm_cell_backward_default, lstm_cell_backward, 0},
      {op::aten__thnn_fused_lstm_cell_default, fused_lstm_cell},
      {op::aten__thnn_fused_lstm_cell_backward_impl_default, fused_lstm_cell_backward},
      {op::aten_gru_data, recurrent_packed, 1},
      {op::aten_lstm_data, recurrent_packed, 2},
      {op::aten_pad_sequence_default, pad_sequence},
      {op::aten_rnn_relu_data, recurrent_packed, 1},
      {op::aten_rnn_tanh_data, recurrent_packed, 1},
      {op::aten_gru_input, recurrent, 1},
      {op::aten_gru_cell_default, cell, 1 + gates(3)},
      {op::aten_lstm_input, recurrent, 2},
      {op::aten_lstm_cell_default, cell, 2 + gates(4)},
      {op::aten_rnn_relu_cell_default, cell, 1 + gates(1)},
      {op::aten_rnn_relu_input, recurrent, 1},
      {op::aten_rnn_tanh_cell_default, cell, 1 + gates(1)},
      {op::aten_rnn_tanh_input, recurrent, 1},
  };
  return rows;
}

}  // namespace winze
