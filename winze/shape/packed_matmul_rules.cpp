// SPDX-License-Identifier: Apache-2.0
// Products of quantized, packed, scaled and grouped matrices, after torch/_meta_registrations.py.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void require_dims(const ShapeCall& call, const TensorMeta& tensor, std::size_t dims) {
  if (tensor.dim() != dims)
    fail("{}: expected a tensor of {} dimensions, but got one of {}", call.op().schema.name, dims,
         tensor.dim());
}

void require_dtype(const ShapeCall& call, const TensorMeta& tensor,
                   std::initializer_list<ScalarType> dtypes) {
  if (std::ranges::find(dtypes, tensor.dtype) != dtypes.end()) return;
  std::string wanted;
  for (const ScalarType dtype : dtypes) {
    if (!wanted.empty()) wanted += " or ";
    wanted += full_name(dtype);
  }
  fail("{}: expected {}, got {}", call.op().schema.name, wanted, full_name(tensor.dtype));
}

void require_same(ShapeCall& call, SymInt a, SymInt b, std::string_view what) {
  ShapeEnv& env = call.env();
  env.require_equal(a, b, [&] {
    return fmt::format("{}: {} have to match, got {} and {}", call.op().schema.name, what,
                       env.str(a), env.str(b));
  });
}

void yield_product(ShapeCall& call, const TensorMeta& a, SymInt columns, ScalarType dtype) {
  call.yield(empty_tensor(call.env(), DimVector{a.sizes[0], columns}, dtype, a.device));
}

// --- Weights of 4 and 8 bits

/// aten::_convert_weight_to_int4pack(self, innerKTiles)
void pack_int4(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& weight = call.tensor(0);
  require_dims(call, weight, 2);
  require_dtype(call, weight, {ScalarType::uint8});
  const SymInt tiles = call.sym_int(1);
  if (!tiles.is_constant() || tiles.constant() < 1)
    fail("innerKTiles has to be a positive number, got {}", env.str(tiles));
  const DimVector sizes = {env.floor_div(weight.sizes[0], 8),
                           env.floor_div(env.mul(weight.sizes[1], 2), tiles.constant() * 16), 32,
                           tiles.constant() / 2};
  call.yield(empty_tensor(env, sizes, ScalarType::int32, weight.device));
}
/// aten::_convert_weight_to_int4pack_for_cpu
void pack_int4_for_cpu(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& weight = call.tensor(0);
  require_dims(call, weight, 2);
  require_dtype(call, weight, {ScalarType::int32});
  const DimVector sizes = {weight.sizes[0], env.floor_div(weight.sizes[1], 2)};
  call.yield(empty_tensor(env, sizes, ScalarType::uint8, weight.device));
}

/// aten::_weight_int4pack_mm, whose weight lies in tiles; with `parameter` 1 in rows of bytes, with
/// 2 in rows of ints.
enum class Int4Weight : std::uint32_t { tiles, bytes, rows };
void int4_mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  const auto layout = static_cast<Int4Weight>(call.parameter());
  // XPU kernels read rows of ints by this name too.
  const bool is_tiled =
      layout == Int4Weight::tiles && call.context().device_type_name(weight.device) != "xpu";
  require_dims(call, a, 2);
  require_dims(call, weight, is_tiled ? 4 : 2);
  require_dtype(call, a, {ScalarType::float32, ScalarType::float16, ScalarType::bfloat16});
  require_dtype(call, weight,
                {layout == Int4Weight::bytes ? ScalarType::uint8 : ScalarType::int32});
  const SymInt rows = weight.sizes[0];
  yield_product(call, a, is_tiled ? call.env().mul(rows, 8) : rows, a.dtype);
}

/// aten::_weight_int8pack_mm(self, mat2, scales)
void int8_mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  const TensorMeta& scales = call.tensor(2);
  require_dims(call, a, 2);
  require_dims(call, weight, 2);
  require_dims(call, scales, 1);
  require_dtype(call, a, {ScalarType::float32, ScalarType::float16, ScalarType::bfloat16});
  require_dtype(call, weight, {ScalarType::int8});
  require_same(call, weight.sizes[1], a.sizes[1], "inner sizes");
  require_same(call, scales.sizes[0], weight.sizes[0], "scales and rows of the weight");
  yield_product(call, a, weight.sizes[0], a.dtype);
}

/// aten::_dyn_quant_pack_4bit_weight(weights, scales_zeros, bias): one after the other, where
/// PyTorch is built without KleidiAI.
void pack_dynamic_4bit(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& weights = call.tensor(0);
  require_dtype(call, weights, {ScalarType::uint8});
  SymInt count = env.add(numel(env, weights.sizes), numel(env, call.tensor(1).sizes));
  if (const TensorMeta* const bias = call.optional_tensor(2))
    count = env.add(count, numel(env, bias->sizes));
  call.yield(empty_tensor(env, DimVector{count}, ScalarType::float32, weights.device));
}
/// aten::_dyn_quant_matmul_4bit(inp, packed_weights, block_size, in_features, out_features)
void dynamic_4bit_mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  require_dims(call, a, 2);
  if (a.dtype != ScalarType::bfloat16 || !call.env().known_equal(call.sym_int(2), call.sym_int(3)))
    require_dtype(call, a, {ScalarType::float32});
  yield_product(call, a, call.sym_int(4), a.dtype);
}

// --- Floats of 8 bits, and groups

void require_small_floats(const ShapeCall& call, const TensorMeta& tensor) {
  require_dtype(call, tensor,
                {ScalarType::float8_e4m3fn, ScalarType::float8_e5m2, ScalarType::float8_e4m3fnuz,
                 ScalarType::float8_e5m2fnuz});
}

/// aten::_scaled_mm and _scaled_mm_v2. Which scales fit, kernels check.
void scaled_mm(ShapeCall& call) {
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  for (const TensorMeta* tensor : {&a, &b}) {
    require_dims(call, *tensor, 2);
    require_small_floats(call, *tensor);
  }
  require_same(call, a.sizes[1], b.sizes[0], "inner sizes");
  yield_product(call, a, b.sizes[1], call.dtype(call.position("out_dtype")).value_or(a.dtype));
}

/// Rows or columns of what is multiplied have to begin at multiples of 16 bytes. Strides that may
/// be either are not asked.
void check_grouped_strides(ShapeCall& call, const TensorMeta& tensor) {
  ShapeEnv& env = call.env();
  const std::size_t last = tensor.dim() - 1;
  const std::int64_t alignment = 16 / static_cast<std::int64_t>(element_size(tensor.dtype));
  for (const auto& [inner, outer] : {std::pair(last - 1, last), std::pair(last, last - 1)}) {
    const SymInt stride = tensor.strides[outer];
    if (!env.known_one(tensor.strides[inner]) ||
        !env.known_at_least(stride, env.at_least_one(tensor.sizes[inner])))
      continue;
    if (env.known_multiple(stride, alignment)) return;
    return env.require_equal(env.mod(stride, alignment), 0, [&] {
      return fmt::format("Expected the stride along {} dim to be multiple of 16 bytes, got {}.",
                         outer, env.str(stride));
    });
  }
}

/// Rows of a grouped product begin at multiples of 16 bytes on devices.
DimVector grouped_strides(const ShapeEnv& env, Sizes sizes, ScalarType dtype, Device device) {
  DimVector strides = contiguous_strides(env, sizes);
  if (device.type == Device{}.type) return strides;
  const auto alignment = static_cast<std::int64_t>(16 / element_size(dtype));
  const SymInt blocks = env.floor_div(env.add(sizes.back(), alignment - 1), alignment);
  const SymInt row = env.mul(blocks, alignment);
  const std::size_t rank = sizes.size();
  strides[rank - 2] = row;
  if (rank == 3) strides[0] = env.mul(sizes[1], row);
  return strides;
}

/// aten::_grouped_mm and, with `parameter` 1, _scaled_grouped_mm: of a matrix that groups lie one
/// after the other in, and of one for each group.
void grouped_mm(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  const bool is_scaled = call.parameter() == 1;
  for (const TensorMeta* tensor : {&a, &b}) {
    require_dtype(call, *tensor, {is_scaled ? ScalarType::float8_e4m3fn : ScalarType::bfloat16});
    if (tensor->dim() != 2 && tensor->dim() != 3)
      fail("Multiplicands must be 2D or 3D but got mat_a.dim()={} and mat_b.dim()={}", a.dim(),
           b.dim());
    check_grouped_strides(call, *tensor);
  }
  const bool a_is_matrix = a.dim() == 2;
  const bool b_is_matrix = b.dim() == 2;
  if (!a_is_matrix || !b_is_matrix)
    require_same(call, a.sizes.back(), b.sizes[b.dim() - 2], "inner sizes");
  const TensorMeta* const offsets = call.optional_tensor(call.position("offs"));
  const bool needs_offsets = a_is_matrix || b_is_matrix;
  if (needs_offsets != (offsets != nullptr)) {
    fail("Offsets tensor {} for {}D/{}D multiplicand layouts.",
         needs_offsets ? "not provided, but is needed" : "provided, but is not needed", a.dim(),
         b.dim());
  }
  SymInt groups;
  if (offsets != nullptr) {
    require_dims(call, *offsets, 1);
    require_dtype(call, *offsets, {ScalarType::int32});
    groups = offsets->sizes[0];
  }
  DimVector sizes;
  if (a_is_matrix && b_is_matrix) {
    sizes = {groups, a.sizes[0], b.sizes[1]};
  } else if (a_is_matrix) {
    require_same(call, groups, b.sizes[0], "matrix batch sizes");
    sizes = {a.sizes[0], b.sizes[2]};
  } else if (b_is_matrix) {
    require_same(call, groups, a.sizes[0], "matrix batch sizes");
    sizes = {a.sizes[1], b.sizes[1]};
  } else {
    require_same(call, a.sizes[0], b.sizes[0], "matrix batch sizes");
    sizes = {a.sizes[0], a.sizes[1], b.sizes[2]};
  }
  const ScalarType dtype = call.dtype(call.position("out_dtype")).value_or(ScalarType::bfloat16);
  if (dtype != ScalarType::bfloat16)
    throw Error("If output dtype provided, it must be torch.bfloat16.");
  FakeTensor result = empty_tensor(env, sizes, dtype, a.device);
  result.strides = grouped_strides(env, sizes, dtype, a.device);
  call.yield(result);
}

constexpr std::uint32_t with(Int4Weight layout) {
  return static_cast<std::uint32_t>(layout);
}

}  // namespace

std::span<const ShapeRow> packed_matmul_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__convert_weight_to_int4pack_default, pack_int4},
      {op::aten__convert_weight_to_int4pack_for_cpu_default, pack_int4_for_cpu},
      {op::aten__dyn_quant_matmul_4bit_default, dynamic_4bit_mm},
      {op::aten__dyn_quant_pack_4bit_weight_default, pack_dynamic_4bit},
      {op::aten__grouped_mm_default, grouped_mm, 0},
      {op::aten__scaled_grouped_mm_default, grouped_mm, 1},
      {op::aten__scaled_mm_default, scaled_mm},
      {op::aten__scaled_mm_v2_default, scaled_mm},
      {op::aten__weight_int4pack_mm_default, int4_mm, with(Int4Weight::tiles)},
      {op::aten__weight_int4pack_mm_for_cpu_default, int4_mm, with(Int4Weight::bytes)},
      {op::aten__weight_int4pack_mm_with_scales_and_zeros_default, int4_mm, with(Int4Weight::rows)},
      {op::aten__weight_int8pack_mm_default, int8_mm},
  };
  return rows;
}

}  // namespace winze
