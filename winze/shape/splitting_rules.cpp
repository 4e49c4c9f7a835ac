// SPDX-License-Identifier: Apache-2.0
// Views of the parts of a tensor along a dimension.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void yield_parts(ShapeCall& call, std::size_t dim, Sizes lengths) {
  SymInt start = 0;
  for (const SymInt length : lengths) {
    call.yield(narrow(call.env(), call.tensor(0), dim, start, length));
    start = call.env().add(start, length);
  }
}

/// Requires `count` parts of this length to have elements, but for a single one.
template <typename Why>
void require_parts(ShapeEnv& env, SymInt size, SymInt length, SymInt count, Why why) {
  const SymInt before = env.mul(length, env.sub(count, 1));
  if (!env.known_one(count)) env.require_at_least(size, env.add(before, 1), why);
}

/// Lengths of the parts where each but the last has `length`.
DimVector equal_parts(ShapeCall& call, SymInt size, SymInt length) {
  ShapeEnv& env = call.env();
  DimVector parts;
  if (env.known_zero(size) || env.known_zero(length)) {
    if (env.known_zero(length) && !env.known_zero(size))
      throw Error("split_size can only be 0 if dimension size is 0");
    return {size};
  }
  SymInt count = env.floor_div(env.sub(env.add(size, length), 1), length);
  if (!count.is_constant()) {
    // PyTorch fixes the number of parts to that of its example.
    if (call.recorded_count() == 0) call.cannot_infer("the number of parts is not known");
    count = call.recorded_count();
    // The last part has at least one element, and no more than the others.
    const auto why = [&] {
      return fmt::format("parts of size {} of a dimension of size {} have to be {}",
                         env.str(length), env.str(size), env.str(count));
    };
    env.require_at_least(env.mul(length, count), size, why);
    require_parts(env, size, length, count, why);
  }
  constexpr std::int64_t most = 1 << 16;
  if (count.constant() > most) call.cannot_infer("there are {} parts", count.constant());
  parts.resize(static_cast<std::size_t>(std::max<std::int64_t>(count.constant(), 1)), length);
  // aten/src/ATen/native/TensorShape.cpp get_split_size.
  parts[parts.size() - 1] =
      env.sub(length, env.sub(env.mul(length, static_cast<std::int64_t>(parts.size())), size));
  return parts;
}

void split(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() == 0) throw Error("split expects at least a 1-dimensional tensor");
  const std::size_t dim = call.dim(2, tensor.dim());
  const SymInt length = call.sym_int(1);
  if (call.env().known_less(length, 0))
    fail("split expects split_size be non-negative, but got split_size={}", call.env().str(length));
  yield_parts(call, dim, equal_parts(call, tensor.sizes[dim], length));
}

void split_with_sizes(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() == 0) throw Error("split expects at least a 1-dimensional tensor");
  const std::size_t dim = call.dim(2, tensor.dim());
  const DimVector lengths = call.sym_ints(1);
  SymInt sum = 0;
  for (const SymInt length : lengths) sum = call.env().add(sum, length);
  call.env().require_equal(sum, tensor.sizes[dim], [&] {
    return fmt::format(
        "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's "
        "size at dimension {}), but they sum to {}",
        call.env().str(tensor.sizes[dim]), dim, call.env().str(sum));
  });
  yield_parts(call, dim, lengths);
}

void chunk(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const ShapeEnv& env = call.env();
  if (tensor.dim() == 0) throw Error("chunk expects at least a 1-dimensional tensor");
  const SymInt chunks = call.sym_int(1);
  if (!env.known_at_least(chunks, 1))
    fail("chunk expects `chunks` to be greater than 0, got: {}", env.str(chunks));
  const std::size_t dim = call.dim(2, tensor.dim());
  const SymInt size = tensor.sizes[dim];
  if (env.known_zero(size) && chunks.is_constant() && chunks.constant() < 1 << 16) {
    yield_parts(call, dim, DimVector(static_cast<std::size_t>(chunks.constant()), 0));
    return;
  }
  const SymInt length = env.floor_div(env.sub(env.add(size, chunks), 1), chunks);
  const std::size_t recorded = call.recorded_count();
  const bool is_counted = chunks.is_constant() && chunks.constant() < 1 << 16 &&
                          (recorded == 0 || chunks == SymInt(recorded));
  if (size.is_constant() || !is_counted)
    return yield_parts(call, dim, equal_parts(call, size, length));
  // As many parts as asked for, unless the dimension is too short for it.
  const std::int64_t before = chunks.constant() - 1;
  const bool is_long = env.known_at_least(size, before * before + 1) ||
                       (env.known_multiple(size, chunks) && env.known_at_least(size, 1));
  if (!is_long) {
    require_parts(call.env(), size, length, chunks, [&] {
      return fmt::format("a dimension of size {} has to have {} chunks", env.str(size), before + 1);
    });
  }
  DimVector lengths(static_cast<std::size_t>(before), length);
  lengths.push_back(env.sub(size, env.mul(length, before)));
  yield_parts(call, dim, lengths);
}

void tensor_split_sections(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const std::size_t dim = call.dim(2, tensor.dim());
  const SymInt sections = call.sym_int(1);
  const SymInt size = tensor.sizes[dim];
  if (!sections.is_constant() || !size.is_constant() || sections.constant() > 1 << 16)
    call.cannot_infer("the number or length of parts is not known");
  if (sections.constant() <= 0)
    fail("number of sections must be larger than 0, got {}", sections.constant());
  DimVector lengths;
  for (std::int64_t at = 0; at < sections.constant(); ++at) {
    lengths.push_back(size.constant() / sections.constant() +
                      (at < size.constant() % sections.constant() ? 1 : 0));
  }
  yield_parts(call, dim, lengths);
}

void unbind(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() == 0) throw Error("Dimension specified as 0 but tensor has no dimensions");
  const std::size_t dim = call.dim(1, tensor.dim());
  SymInt size = tensor.sizes[dim];
  // A program that was traced has fixed the size.
  if (!size.is_constant() && call.recorded_count() > 0) {
    const auto count = static_cast<std::int64_t>(call.recorded_count());
    call.env().require_equal(size, count, [&] {
      return fmt::format("a dimension of size {} is unbound into {} tensors", call.env().str(size),
                         count);
    });
    size = count;
  }
  if (!size.is_constant() || size.constant() > 1 << 16)
    call.cannot_infer("the number of parts is {}", call.env().str(size));
  for (std::int64_t index = 0; index < size.constant(); ++index)
    call.yield(select(call.env(), tensor, dim, index));
}

// --- hsplit, vsplit, dsplit

/// Along dimension `parameter`; hsplit along the only one of a vector. The `int` overloads ask for
/// parts of one length, which has to divide the dimension.
std::size_t named_dim(const ShapeCall& call, const TensorMeta& tensor) {
  const std::size_t dim = call.parameter();
  constexpr std::size_t least_ranks[] = {2, 1, 3};  // vsplit, hsplit, dsplit
  const std::size_t least = least_ranks[dim];
  if (tensor.dim() < least) {
    fail(
        "torch.{} requires a tensor with at least {} dimensions, but got a tensor with {} "
        "dimensions!",
        call.op().schema.name, least, tensor.dim());
  }
  return dim == 1 && tensor.dim() == 1 ? 0 : dim;
}
void split_named(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const std::size_t dim = named_dim(call, tensor);
  const SymInt sections = call.sym_int(1);
  ShapeEnv& env = call.env();
  if (!sections.is_constant()) call.cannot_infer("the number of parts is not known");
  if (sections.constant() <= 0 || sections.constant() > 1 << 16)
    fail("number of sections must be larger than 0, got {}", sections.constant());
  const SymInt size = tensor.sizes[dim];
  if (!env.known_multiple(size, sections)) {
    env.require_equal(env.mod(size, sections), 0, [&] {
      return fmt::format(
          "torch.{} attempted to split along dimension {}, but the size of the "
          "dimension {} is not divisible by the split_size {}!",
          call.op().schema.name, dim, env.str(size), env.str(sections));
    });
  }
  const SymInt length = env.floor_div(size, sections);
  yield_parts(call, dim, DimVector(static_cast<std::size_t>(sections.constant()), length));
}

/// Parts that end at these indices, the last at the end.
void yield_between(ShapeCall& call, std::size_t dim, const DimVector& indices) {
  const ShapeEnv& env = call.env();
  const TensorMeta& tensor = call.tensor(0);
  const SymInt size = tensor.sizes[dim];
  const auto clamped = [&](SymInt index) {
    if (env.known_less(index, 0)) index = env.add(index, size);
    return env.max(env.min(index, size), 0);
  };
  SymInt start = 0;
  for (std::size_t at = 0; at <= indices.size(); ++at) {
    const SymInt end = at == indices.size() ? size : clamped(indices[at]);
    call.yield(narrow(env, tensor, dim, start, env.max(env.sub(end, start), 0)));
    start = end;
  }
}
void split_named_at(ShapeCall& call) {
  yield_between(call, named_dim(call, call.tensor(0)), call.sym_ints(1));
}
void tensor_split_indices(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() == 0)
    throw Error(
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 "
        "dims");
  yield_between(call, call.dim(2, tensor.dim()), call.sym_ints(1));
}

}  // namespace

std::span<const ShapeRow> splitting_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_chunk_default, chunk},
      {op::aten_dsplit_array, split_named_at, 2},
      {op::aten_dsplit_int, split_named, 2},
      {op::aten_hsplit_array, split_named_at, 1},
      {op::aten_hsplit_int, split_named, 1},
      {op::aten_split_Tensor, split},
      {op::aten_split_sizes, split_with_sizes},
      {op::aten_split_with_sizes_default, split_with_sizes},
      {op::aten_tensor_split_indices, tensor_split_indices},
      {op::aten_tensor_split_sections, tensor_split_sections},
      {op::aten_unbind_int, unbind},
      {op::aten_unsafe_chunk_default, chunk},
      {op::aten_unsafe_split_Tensor, split},
      {op::aten_unsafe_split_with_sizes_default, split_with_sizes},
      {op::aten_vsplit_array, split_named_at, 0},
      {op::aten_vsplit_int, split_named, 0},
  };
  return rows;
}

}  // namespace winze
