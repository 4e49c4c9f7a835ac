// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors: from sizes, and like another tensor; random numbers.
#include <cmath>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

constexpr std::int64_t most_exact = std::int64_t{1} << 53;

/// The `dtype`, `layout` and `device` arguments of a factory.
struct Options {
  ScalarType dtype;
  Device device;

  Options(const ShapeCall& call, ScalarType otherwise, Device device_otherwise)
      : dtype(call.dtype(call.position("dtype")).value_or(otherwise)),
        device(call.device(call.position("device")).value_or(device_otherwise)) {
    call.expect_strided(call.position("layout"));
  }
};

/// What `full` makes of a Python number.
ScalarType dtype_of_number(const ShapeCall& call, std::uint32_t index) {
  const ScalarType kind = call.number_kind(index);
  if (is_complex(kind)) return to_complex(default_float);
  return is_floating_point(kind) ? default_float : kind;
}

void yield_sizes(ShapeCall& call, Sizes sizes, ScalarType otherwise) {
  for (const SymInt size : sizes) {
    if (call.env().known_less(size, 0))
      fail("Trying to create tensor with negative dimension {}", call.env().str(size));
  }
  const Options options(call, otherwise, Device{});
  const MemoryFormat format =
      call.memory_format(call.position("memory_format"), MemoryFormat::contiguous_format);
  call.yield(empty_tensor(call.env(), sizes, options.dtype, options.device, format));
}

/// zeros, empty, rand, ...: sizes are argument `parameter`.
void from_sizes(ShapeCall& call) {
  yield_sizes(call, call.sym_ints(call.parameter()), default_float);
}
void full(ShapeCall& call) {
  yield_sizes(call, call.sym_ints(0), dtype_of_number(call, 1));
}
void scalar_tensor(ShapeCall& call) {
  yield_sizes(call, {}, call.parameter() == 0 ? default_float : dtype_of_number(call, 0));
}
void eye(ShapeCall& call) {
  const SymInt rows = call.sym_int(0);
  const SymInt columns = call.parameter() == 1 ? call.sym_int(1) : rows;
  yield_sizes(call, DimVector{rows, columns}, default_float);
}
void randperm(ShapeCall& call) {
  yield_sizes(call, DimVector{call.sym_int(0)}, ScalarType::int64);
}

/// Windows and frequencies: a vector, whose length is argument 0.
void vector(ShapeCall& call) {
  yield_sizes(call, DimVector{call.sym_int(0)}, default_float);
}
/// fft_rfftfreq(n, d)
void half_vector(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  yield_sizes(call, DimVector{env.add(env.floor_div(call.sym_int(0), 2), 1)}, default_float);
}
/// _dim_arange(like, dim): as many numbers as there are elements along a dimension.
void dim_arange(ShapeCall& call) {
  const TensorMeta& like = call.tensor(0);
  const DimVector sizes = {like.sizes[wrap_dim(call.sym_int(1), like.dim(), false)]};
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, like.device));
}
/// _shape_as_tensor(self): a number for each dimension, on the CPU.
void shape_as_tensor(ShapeCall& call) {
  const DimVector sizes = {static_cast<std::int64_t>(call.tensor(0).dim())};
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, Device{}));
}

void empty_strided(ShapeCall& call) {
  const Options options(call, default_float, Device{});
  FakeTensor result;
  result.dtype = options.dtype;
  result.device = options.device;
  result.sizes = call.sym_ints(0);
  result.strides = call.sym_ints(1);
  if (result.sizes.size() != result.strides.size())
    throw Error("dimensionality of sizes and strides must match");
  call.yield(result);
}

/// torch/_refs arange: ints exactly, floats by `ceil`.
SymInt arange_length(const ShapeCall& call, std::uint32_t start_at, std::uint32_t end_at,
                     std::uint32_t step_at, bool is_float) {
  const ShapeEnv& env = call.env();
  const bool has_start = start_at != end_at;
  const bool has_step = step_at != end_at;
  if (!is_float) {
    const SymInt start = has_start ? call.sym_int(start_at) : SymInt(0);
    const SymInt end = call.sym_int(end_at);
    const SymInt step = has_step ? call.sym_int(step_at) : SymInt(1);
    const bool down = env.known_less(step, 0);
    if (env.known_zero(step)) throw Error("step must be nonzero");
    if (!down && !env.known_less(0, step)) call.cannot_infer("the sign of the step is not known");
    const SymInt span = env.sub(end, start);
    if (down ? env.known_less(0, span) : env.known_less(span, 0))
      throw Error("upper bound and lower bound inconsistent with step sign");
    const SymInt length =
        env.floor_div(env.sub(env.add(span, step), down ? SymInt(-1) : SymInt(1)), step);
    return length;
  }
  const auto start = has_start ? call.constant_number(start_at) : 0.0;
  const auto end = call.constant_number(end_at);
  const auto step = has_step ? call.constant_number(step_at) : 1.0;
  if (!start || !end || !step) call.cannot_infer("the bounds of arange are not known");
  if (*step == 0) throw Error("step must be nonzero");
  if ((*step > 0) != (*end >= *start) && *end != *start)
    throw Error("upper bound and lower bound inconsistent with step sign");
  const double length = std::ceil((*end - *start) / *step);
  if (!(length >= 0 && length < static_cast<double>(most_exact)))
    call.cannot_infer("arange has no length that can be counted");
  return static_cast<std::int64_t>(length);
}

void arange(ShapeCall& call) {
  const std::uint32_t bounds = call.parameter();  // how many of start, end, step there are
  const std::uint32_t end_at = bounds == 1 ? 0 : 1;
  const std::uint32_t step_at = bounds == 3 ? 2 : end_at;
  bool is_float = false;
  for (std::uint32_t index = 0; index < bounds; ++index)
    is_float = is_float || is_floating_point(call.number_kind(index));
  const SymInt length = arange_length(call, 0, end_at, step_at, is_float);
  yield_sizes(call, DimVector{length}, is_float ? default_float : ScalarType::int64);
}

/// range(start, end, step): both ends included, always floats.
void range(ShapeCall& call) {
  const auto start = call.constant_number(0);
  const auto end = call.constant_number(1);
  const auto step = call.op().schema.arguments.size() > 6 ? call.constant_number(2) : 1;
  if (!start || !end || !step) call.cannot_infer("the ends of range are not known");
  if (*step == 0) throw Error("step must be nonzero");
  const double steps = std::floor((*end - *start) / *step);
  if (!(steps >= 0) || steps > static_cast<double>(most_exact))
    throw Error("upper bound and lower bound inconsistent with step sign");
  yield_sizes(call, DimVector{static_cast<std::int64_t>(steps) + 1}, default_float);
}

void linspace(ShapeCall& call) {
  ScalarType dtype = default_float;
  for (const std::uint32_t index : {0U, 1U}) {
    const TensorMeta* const bound = call.tensor_or_null(index);
    if (bound != nullptr && bound->dim() != 0)
      fail("{} only supports 0-dimensional start and end tensors, but got one of {} dimensions",
           call.op().schema.name, bound->dim());
    if (is_complex(bound != nullptr ? bound->dtype : call.number_kind(index)))
      dtype = to_complex(default_float);
  }
  yield_sizes(call, DimVector{call.sym_int(2)}, dtype);
}

/// zeros_like and the like, preserving the layout unless told otherwise. With `parameter`
/// keeps_strides those of a dense tensor stay as they are, of sizes below 2 too.
constexpr std::uint32_t keeps_strides = 1;
void like(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const Options options(call, self.dtype, self.device);
  const MemoryFormat format =
      call.memory_format(call.position("memory_format"), MemoryFormat::preserve_format);
  FakeTensor result = empty_like(call.env(), self, format);
  // torch/_refs empty_like: as an elementwise operator lays it out.
  const TensorMeta* const operand = &self;
  if (format == MemoryFormat::preserve_format && call.parameter() == 0)
    result.strides = elementwise_strides(call.env(), self.sizes, {&operand, 1});
  result.dtype = options.dtype;
  result.device = options.device;
  call.yield(result);
}

/// randn_like: of floats.
void randn_like(ShapeCall& call) {
  const ScalarType dtype = call.dtype(call.position("dtype")).value_or(call.tensor(0).dtype);
  if (is_integral_or_bool(dtype))
    fail("expected a floating-point or complex dtype, but got dtype={}", full_name(dtype));
  like(call);
}

/// A clone of a tensor that is not strided has its layout.
void clone(ShapeCall& call) {
  const TensorMeta& self = call.tensor_of_any_layout(0);
  if (self.layout != Layout::strided && call.is_none(1)) {
    call.yield(self);
  } else {
    like(call);
  }
}

/// new_zeros and the like: sizes given, dtype and device of the tensor.
void new_tensor(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const Options options(call, self.dtype, self.device);
  call.yield(empty_tensor(call.env(), call.sym_ints(1), options.dtype, options.device));
}
void new_empty_strided(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const Options options(call, self.dtype, self.device);
  FakeTensor result;
  result.dtype = options.dtype;
  result.device = options.device;
  result.sizes = call.sym_ints(1);
  result.strides = call.sym_ints(2);
  if (result.sizes.size() != result.strides.size())
    throw Error("dimensionality of sizes and strides must match");
  call.yield(result);
}

/// How many elements lie on and below the diagonal `offset` of a matrix
/// (aten/src/ATen/native/TensorFactories.h get_tril_size).
std::int64_t tril_size(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (rows == 0 || columns == 0) return 0;
  const std::int64_t first =
      offset > 0 ? std::min<std::int64_t>(columns, 1 + offset) : (rows + offset > 0 ? 1 : 0);
  const std::int64_t last =
      std::max<std::int64_t>(0, std::min<std::int64_t>(columns, rows + offset));
  const std::int64_t all = std::max<std::int64_t>(0, std::min<std::int64_t>(rows, rows + offset));
  const std::int64_t trapezoid = last - first + 1;
  const std::int64_t below = std::max<std::int64_t>(0, all - trapezoid);
  return (first + last) * trapezoid / 2 + below * columns;
}
/// tril_indices(row, col, offset) and, with `parameter` 1, triu_indices: two rows of indices.
void triangle_indices(ShapeCall& call) {
  const SymInt rows = call.sym_int(0);
  const SymInt columns = call.sym_int(1);
  const SymInt offset = call.sym_int(2);
  if (!rows.is_constant() || !columns.is_constant() || !offset.is_constant())
    call.cannot_infer("the size of a triangle is symbolic");
  if (rows.constant() < 0) fail("row must be non-negative, got {}", rows.constant());
  if (columns.constant() < 0) fail("col must be non-negative, got {}", columns.constant());
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (rows.constant() > most || columns.constant() > most || std::abs(offset.constant()) > most)
    call.cannot_infer("a triangle is too large");
  const bool is_upper = call.parameter() == 1;
  const std::int64_t below =
      tril_size(rows.constant(), columns.constant(), offset.constant() - (is_upper ? 1 : 0));
  const std::int64_t count = is_upper ? rows.constant() * columns.constant() - below : below;
  yield_sizes(call, DimVector{2, count}, ScalarType::int64);
}

/// empty_permuted(size, physical_layout): the dimensions from the outermost to the innermost.
void empty_permuted(ShapeCall& call) {
  const DimVector sizes = call.sym_ints(0);
  const DimVector layout = call.sym_ints(1);
  if (layout.size() != sizes.size()) {
    fail(
        "Number of dimensions in size does not match the length of the physical_layout; i.e. "
        "len(size) = {} is not equal to len(physical_layout) = {}",
        sizes.size(), layout.size());
  }
  const Options options(call, default_float, Device{});
  FakeTensor result = empty_tensor(call.env(), sizes, options.dtype, options.device);
  SymInt stride = 1;
  std::vector<bool> seen(sizes.size(), false);
  for (std::size_t at = layout.size(); at-- > 0;) {
    const std::size_t dim = wrap_dim(layout[at], sizes.size());
    if (seen[dim]) fail("Duplicate dim not allowed: {}", dim);
    seen[dim] = true;
    result.strides[dim] = stride;
    stride = call.env().mul(stride, call.env().at_least_one(sizes[dim]));
  }
  call.yield(result);
}

}  // namespace

std::span<const ShapeRow> factory_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__dim_arange_default, dim_arange},
      {op::aten__efficientzerotensor_default, from_sizes, 0},
      {op::aten__lazy_clone_default, clone, keeps_strides},
      {op::aten__make_dep_token_default, scalar_tensor, 0},
      {op::aten__shape_as_tensor_default, shape_as_tensor},
      {op::aten_arange_default, arange, 1},
      {op::aten_arange_start, arange, 2},
      {op::aten_arange_start_step, arange, 3},
      {op::aten_bartlett_window_default, vector},
      {op::aten_bartlett_window_periodic, vector},
      {op::aten_blackman_window_default, vector},
      {op::aten_blackman_window_periodic, vector},
      {op::aten_clone_default, clone, keeps_strides},
      {op::aten_empty_like_default, like},
      {op::aten_empty_memory_format, from_sizes, 0},
      {op::aten_empty_permuted_default, empty_permuted},
      {op::aten_empty_strided_default, empty_strided},
      {op::aten_eye_default, eye, 0},
      {op::aten_eye_m, eye, 1},
      {op::aten_fft_fftfreq_default, vector},
      {op::aten_fft_rfftfreq_default, half_vector},
      {op::aten_full_default, full},
      {op::aten_full_like_default, like},
      {op::aten_hamming_window_default, vector},
      {op::aten_hamming_window_periodic, vector},
      {op::aten_hamming_window_periodic_alpha, vector},
      {op::aten_hamming_window_periodic_alpha_beta, vector},
      {op::aten_hann_window_default, vector},
      {op::aten_hann_window_periodic, vector},
      {op::aten_kaiser_window_beta, vector},
      {op::aten_kaiser_window_default, vector},
      {op::aten_kaiser_window_periodic, vector},
      {op::aten_linspace_default, linspace},
      {op::aten_linspace_Scalar_Tensor, linspace},
      {op::aten_linspace_Tensor_Scalar, linspace},
      {op::aten_linspace_Tensor_Tensor, linspace},
      {op::aten_logspace_default, linspace},
      {op::aten_logspace_Scalar_Tensor, linspace},
      {op::aten_logspace_Tensor_Scalar, linspace},
      {op::aten_logspace_Tensor_Tensor, linspace},
      {op::aten_new_empty_default, new_tensor},
      {op::aten_new_empty_strided_default, new_empty_strided},
      {op::aten_new_full_default, new_tensor},
      {op::aten_new_ones_default, new_tensor},
      {op::aten_new_zeros_default, new_tensor},
      {op::aten_ones_default, from_sizes, 0},
      {op::aten_ones_like_default, like},
      {op::aten_rand_default, from_sizes, 0},
      {op::aten_rand_generator, from_sizes, 0},
      {op::aten_rand_like_default, like},
      {op::aten_rand_like_generator, like},
      {op::aten_randint_default, from_sizes, 1},
      {op::aten_randint_generator, from_sizes, 1},
      {op::aten_randint_like_default, like},
      {op::aten_randint_like_generator, like},
      {op::aten_randint_like_low_dtype, like},
      {op::aten_randint_like_low_generator_dtype, like},
      {op::aten_randint_like_Tensor, like},
      {op::aten_randint_like_Tensor_generator, like},
      {op::aten_randint_low, from_sizes, 2},
      {op::aten_randint_low_generator, from_sizes, 2},
      {op::aten_randn_default, from_sizes, 0},
      {op::aten_randn_generator, from_sizes, 0},
      {op::aten_randn_like_default, randn_like},
      {op::aten_randn_like_generator, randn_like},
      {op::aten_randperm_default, randperm},
      {op::aten_randperm_generator, randperm},
      {op::aten_range_default, range},
      {op::aten_range_step, range},
      {op::aten_scalar_tensor_default, scalar_tensor, 0},
      {op::aten_tril_indices_default, triangle_indices, 0},
      {op::aten_triu_indices_default, triangle_indices, 1},
      {op::aten_zeros_default, from_sizes, 0},
      {op::aten_zeros_like_default, like},
  };
  return rows;
}

}  // namespace winze
