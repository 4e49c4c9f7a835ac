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

constexpr ShapeRow rows[] = {
    {op::aten_gru_input, recurrent, 1},
    {op::aten_gru_cell_default, cell, 1 + gates(3)},
    {op::aten_lstm_input, recurrent, 2},
    {op::aten_lstm_cell_default, cell, 2 + gates(4)},
    {op::aten_rnn_relu_cell_default, cell, 1 + gates(1)},
    {op::aten_rnn_relu_input, recurrent, 1},
    {op::aten_rnn_tanh_cell_default, cell, 1 + gates(1)},
    {op::aten_rnn_tanh_input, recurrent, 1},
};

}  // namespace

std::span<const ShapeRow> recurrent_rows() {
  return rows;
}

}  // namespace winze
