// SPDX-License-Identifier: Apache-2.0
// Views, and what gives a view where it can and a copy where it must.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void same_tensor(ShapeCall& call) {
  call.yield(call.tensor_of_any_layout(0));
}

void view_rule(ShapeCall& call) {
  call.yield(view(call.env(), call.tensor(0), call.sym_ints(1)));
}
void reshape_rule(ShapeCall& call) {
  call.yield(reshape(call.env(), call.tensor(0), call.sym_ints(1)));
}
/// view_copy copies first where there is no view.
void view_copy(ShapeCall& call) {
  FakeTensor result = reshape(call.env(), call.tensor(0), call.sym_ints(1));
  result.strides = contiguous_strides(call.env(), result.sizes);
  result.storage_offset = 0;
  call.yield(result);
}
void view_as(ShapeCall& call) {
  call.yield(view(call.env(), call.tensor(0), call.tensor(1).sizes));
}
void reshape_as(ShapeCall& call) {
  call.yield(reshape(call.env(), call.tensor(0), call.tensor(1).sizes));
}
void flatten_rule(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  call.yield(flatten(call.env(), tensor, call.dim(1, tensor.dim()), call.dim(2, tensor.dim())));
}
void ravel(ShapeCall& call) {
  const FakeTensor input =
      is_contiguous(call.env(), call.tensor(0))
          ? FakeTensor(call.tensor(0))
          : empty_like(call.env(), call.tensor(0), MemoryFormat::contiguous_format);
  call.yield(view(call.env(), input, DimVector{-1}));
}
void unflatten(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const std::size_t dim = call.dim(1, tensor.dim());
  const DimVector parts = infer_view_sizes(call.env(), call.sym_ints(2), tensor.sizes[dim]);
  DimVector sizes(tensor.sizes.first(dim));
  sizes.append(parts);
  sizes.append(tensor.sizes.subspan(dim + 1));
  call.yield(view(call.env(), tensor, sizes));
}

template <typename Why>
void require_multiple(ShapeEnv& env, SymInt value, std::int64_t of, Why why) {
  if (!env.known_multiple(value, of)) env.require_equal(env.mod(value, of), 0, why);
}

/// aten::view.dtype: the last dimension takes up the difference in element size.
void view_dtype(ShapeCall& call) {
  FakeTensor tensor(call.tensor(0));
  ShapeEnv& env = call.env();
  const ScalarType dtype = *call.dtype(1);
  const auto from = static_cast<std::int64_t>(element_size(tensor.dtype));
  const auto to = static_cast<std::int64_t>(element_size(dtype));
  if (from == 0 || to == 0) call.cannot_infer("the size of {} is not known", full_name(dtype));
  tensor.dtype = dtype;
  if (from != to) {
    if (tensor.dim() == 0)
      throw Error("self.dim() cannot be 0 to view a tensor with another element size");
    const std::size_t last = tensor.dim() - 1;
    if (!env.known_one(tensor.strides[last]))
      throw Error("self.stride(-1) must be 1 to view a tensor with another element size");
    const auto scale = [&](SymInt value, std::string_view what) {
      if (from > to) return env.mul(value, from / to);
      require_multiple(env, value, to / from, [&] {
        return fmt::format(
            "{} must be divisible by {} to view a tensor with another element size, but got {}",
            what, to / from, env.str(value));
      });
      return env.floor_div(value, to / from);
    };
    tensor.sizes[last] = scale(tensor.sizes[last], "self.size(-1)");
    for (std::size_t dim = 0; dim < last; ++dim)
      tensor.strides[dim] = scale(tensor.strides[dim], "self.stride()");
    tensor.storage_offset = scale(tensor.storage_offset, "self.storage_offset()");
  }
  call.yield(tensor);
}

void expand_rule(ShapeCall& call) {
  call.yield(expand(call.env(), call.tensor(0), call.sym_ints(1)));
}
void expand_as(ShapeCall& call) {
  call.yield(expand(call.env(), call.tensor(0), call.tensor(1).sizes));
}
void broadcast_tensors(ShapeCall& call) {
  const auto tensors = call.tensors(0);
  DimVector sizes;
  for (const TensorMeta* tensor : tensors)
    sizes = broadcast_sizes(call.env(), sizes, tensor->sizes);
  for (const TensorMeta* tensor : tensors) call.yield(expand(call.env(), *tensor, sizes));
}

void meshgrid(ShapeCall& call) {
  auto tensors = call.tensors(0);
  // The grids of `xy` are those of `ij` with the first two tensors swapped, and swapped back.
  const bool swaps = call.string(1) == "xy" && tensors.size() >= 2;
  if (swaps) std::swap(tensors[0], tensors[1]);
  DimVector sizes;
  for (const TensorMeta* tensor : tensors) {
    if (tensor->dim() > 1) throw Error("torch.meshgrid: Expected 0D or 1D tensor");
    sizes.push_back(tensor->dim() == 0 ? SymInt(1) : tensor->sizes[0]);
  }
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const std::size_t at = swaps && index < 2 ? 1 - index : index;
    DimVector ones(tensors.size(), 1);
    ones[at] = -1;
    call.yield(expand(call.env(), view(call.env(), *tensors[at], ones), sizes));
  }
}

void permute_rule(ShapeCall& call) {
  call.yield(permute(call.tensor(0), call.sym_ints(1)));
}
void transpose_rule(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  call.yield(transpose(tensor, call.dim(1, tensor.dim()), call.dim(2, tensor.dim())));
}
void t(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() > 2)
    fail("t() expects a tensor with <= 2 dimensions, but self is {}D", tensor.dim());
  call.yield(tensor.dim() < 2 ? FakeTensor(tensor) : transpose(tensor, 0, 1));
}
/// mT, mH, adjoint: the last two dimensions.
void swap_last_two(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() < 2 && tensor.dim() != 0)
    fail("{} is only supported on matrices or batches of matrices. Got {}-D tensor.",
         call.op().schema.name, tensor.dim());
  call.yield(tensor.dim() == 0 ? FakeTensor(tensor)
                               : transpose(tensor, tensor.dim() - 2, tensor.dim() - 1));
}
void matrix_h(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() != 0 && tensor.dim() != 2) {
    fail("tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.", tensor.dim());
  }
  swap_last_two(call);
}
void numpy_t(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  DimVector dims;
  for (std::size_t dim = tensor.dim(); dim-- > 0;) dims.push_back(dim);
  call.yield(permute(tensor, dims));
}
void movedim(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const DimVector from = call.sym_ints(1);
  const DimVector to = call.sym_ints(2);
  if (from.size() != to.size())
    throw Error("movedim: Invalid source or destination dims: they are to be as many");
  constexpr std::int64_t open = -1;
  DimVector order(tensor.dim(), open);
  DimVector is_moved(tensor.dim(), 0);
  for (std::size_t at = 0; at < from.size(); ++at) {
    const std::size_t source = wrap_dim(from[at], tensor.dim());
    const std::size_t target = wrap_dim(to[at], tensor.dim());
    if (tensor.dim() == 0) continue;
    if (order[target] != SymInt(open) || is_moved[source] != SymInt(0))
      throw Error("movedim: repeated dim in `source` or `destination`");
    order[target] = source;
    is_moved[source] = 1;
  }
  std::size_t next = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (order[at] != SymInt(open)) continue;
    while (is_moved[next] != SymInt(0)) ++next;
    order[at] = next++;
  }
  call.yield(permute(tensor, order));
}

void unsqueeze_rule(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  call.yield(unsqueeze(call.env(), tensor, call.dim(1, tensor.dim() + 1)));
}

/// squeeze, squeeze.dim, squeeze.dims: what is known to be 1 goes.
void squeeze(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const bool all = call.op().schema.arguments.size() == 1;
  DimVector wanted(tensor.dim(), all ? 1 : 0);
  if (!all) {
    for (const SymInt dim : call.sym_ints(1)) {
      const std::size_t index = wrap_dim(dim, tensor.dim());
      if (tensor.dim() > 0) wanted[index] = 1;
    }
  }
  FakeTensor result(tensor);
  result.sizes = {};
  result.strides = {};
  for (std::size_t dim = 0; dim < tensor.dim(); ++dim) {
    if (wanted[dim] == SymInt(1) && call.env().known_one(tensor.sizes[dim])) continue;
    result.sizes.push_back(tensor.sizes[dim]);
    result.strides.push_back(tensor.strides[dim]);
  }
  call.yield(result);
}

void select_rule(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  if (tensor.dim() == 0) throw Error("select() cannot be applied to a 0-dim tensor.");
  const std::size_t dim = call.dim(1, tensor.dim());
  const SymInt index = call.sym_int(2);
  if (!call.env().known_at_least(index, 0) && !call.env().known_less(index, 0))
    call.cannot_infer("whether the index {} of select counts from the end depends on data",
                      call.env().str(index));
  call.yield(select(call.env(), tensor, dim, index));
}

/// torch/_subclasses/fake_impls.py _compute_slice_index; nothing where the sign depends on data.
std::optional<SymInt> slice_index(const ShapeEnv& env, SymInt size, SymInt index) {
  const SymInt minus_size = env.sub(0, size);
  const bool not_negative = env.known_at_least(index, 0);
  const bool negative = env.known_less(index, 0);
  if (not_negative && env.known_at_least(size, index)) return index;
  if (negative && env.known_at_least(index, minus_size)) return env.add(index, size);
  if (env.known_less(index, minus_size)) return SymInt(0);
  if (env.known_less(size, index)) return size;
  if (not_negative) return env.min(index, size);
  if (negative) return env.max(env.add(index, size), 0);
  return std::nullopt;
}

void slice(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const ShapeEnv& env = call.env();
  if (tensor.dim() == 0) throw Error("slice() cannot be applied to a 0-dim tensor.");
  const std::size_t dim = call.dim(1, tensor.dim());
  const SymInt size = tensor.sizes[dim];
  const SymInt step = call.sym_int(4);
  if (step.is_constant() && step.constant() <= 0) throw Error("slice step must be positive");
  const auto given_start = call.optional_sym_int(2);
  const auto given_end = call.optional_sym_int(3);
  constexpr std::int64_t to_the_end = 0x7FFFFFFFFFFFFFFF;
  const auto is_unbacked = [&](const std::optional<SymInt>& index) {
    return index && env.is_unbacked(*index);
  };
  const bool keeps_offset = is_unbacked(given_start) && call.has_own_offset(0);
  const bool keeps_size =
      (is_unbacked(given_start) || is_unbacked(given_end)) && call.has_own_size(0, dim);
  const auto found = [&](const std::optional<SymInt>& given, SymInt otherwise,
                         bool is_kept) -> std::optional<SymInt> {
    if (is_kept) return std::nullopt;
    const SymInt index = given.value_or(to_the_end);
    if (index == SymInt(to_the_end)) return otherwise;
    return slice_index(env, size, index);
  };
  const auto start = found(given_start.value_or(0), 0, keeps_offset);
  const auto end = found(given_end, size, keeps_size);
  FakeTensor result = narrow(env, tensor, dim, start.value_or(0), size);
  if (!start) result.storage_offset = call.unbacked_offset(0);
  if (!start || !end) {
    result.sizes[dim] = call.unbacked_size(0, dim, Range::at_least(0));
  } else {
    SymInt length = env.sub(*end, *start);
    if (env.known_at_least(*start, *end)) {
      length = 0;
    } else if (!env.known_at_least(*end, *start)) {
      length = env.max(length, 0);
    }
    const bool by_one = step == SymInt(1);
    result.sizes[dim] = by_one || length == SymInt(0)
                            ? length
                            : env.floor_div(env.sub(env.add(length, step), 1), step);
  }
  result.strides[dim] = env.mul(tensor.strides[dim], step);
  call.yield(result);
}

void narrow_rule(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  ShapeEnv& env = call.env();
  if (tensor.dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  const std::size_t dim = call.dim(1, tensor.dim());
  const SymInt size = tensor.sizes[dim];
  SymInt start = call.sym_int(2);
  const SymInt length = call.sym_int(3);
  if (env.known_less(length, 0)) throw Error("narrow(): length must be non-negative.");
  if (env.known_less(start, 0)) start = env.add(start, size);
  if (env.known_less(start, 0))
    fail("start out of range (expected to be in range of [-{}, {}], but got {})", env.str(size),
         env.str(size), env.str(env.sub(start, size)));
  env.require_at_least(size, env.add(start, length), [&] {
    return fmt::format("start ({}) + length ({}) exceeds dimension size ({}).", env.str(start),
                       env.str(length), env.str(size));
  });
  call.yield(narrow(env, tensor, dim, start, length));
}

void as_strided(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  result.sizes = call.sym_ints(1);
  result.strides = call.sym_ints(2);
  if (result.sizes.size() != result.strides.size())
    throw Error("mismatch in length of strides and shape");
  if (const auto offset = call.optional_sym_int(3)) result.storage_offset = *offset;
  call.yield(result);
}

void diagonal(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  const ShapeEnv& env = call.env();
  const std::size_t first = call.dim(2, tensor.dim());
  const std::size_t second = call.dim(3, tensor.dim());
  if (tensor.dim() < 2 || first == second) throw Error("diagonal dimensions cannot be identical");
  const SymInt offset = call.sym_int(1);
  const bool is_below = env.known_less(offset, 0);
  const SymInt rows = is_below ? env.add(tensor.sizes[first], offset) : tensor.sizes[first];
  const SymInt columns = is_below ? tensor.sizes[second] : env.sub(tensor.sizes[second], offset);
  const SymInt length = env.max(env.min(rows, columns), 0);
  FakeTensor result =
      without_dim(without_dim(tensor, std::max(first, second)), std::min(first, second));
  result.sizes.push_back(length);
  result.strides.push_back(env.add(tensor.strides[first], tensor.strides[second]));
  if (!env.known_zero(length)) {
    const SymInt step = is_below ? tensor.strides[first] : tensor.strides[second];
    result.storage_offset =
        env.add(result.storage_offset, env.mul(is_below ? env.sub(0, offset) : offset, step));
  }
  call.yield(result);
}

void unfold(ShapeCall& call) {
  const TensorMeta& tensor = call.tensor(0);
  ShapeEnv& env = call.env();
  const std::size_t dim = call.dim(1, tensor.dim());
  const SymInt size = call.sym_int(2);
  const SymInt step = call.sym_int(3);
  if (env.known_less(step, 1)) throw Error("step is not greater than 0");
  FakeTensor result(tensor);
  if (tensor.dim() == 0) {
    result.sizes = {size};
    result.strides = {1};
  } else {
    env.require_at_least(tensor.sizes[dim], size, [&] {
      return fmt::format("maximum size for tensor at dimension {} is {} but size is {}", dim,
                         env.str(tensor.sizes[dim]), env.str(size));
    });
    result.sizes[dim] = env.add(env.floor_div(env.sub(tensor.sizes[dim], size), step), 1);
    result.strides[dim] = env.mul(step, tensor.strides[dim]);
    result.sizes.push_back(size);
    result.strides.push_back(tensor.strides[dim]);
  }
  call.yield(result);
}

void view_as_real(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  const ShapeEnv& env = call.env();
  if (!is_complex(result.dtype)) throw Error("view_as_real is only supported for complex tensors");
  result.dtype = to_real(result.dtype);
  for (SymInt& stride : result.strides) stride = env.mul(stride, 2);
  result.storage_offset = env.mul(result.storage_offset, 2);
  result.sizes.push_back(2);
  result.strides.push_back(1);
  call.yield(result);
}

void view_as_complex(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  ShapeEnv& env = call.env();
  if (!is_floating_point(result.dtype) || result.dtype == ScalarType::bfloat16)
    fail(
        "view_as_complex is only supported for half, float and double tensors, but got a tensor "
        "of scalar type: {}",
        full_name(result.dtype));
  const auto why = [] { return std::string("Tensor must have a last dimension of size 2"); };
  if (result.dim() == 0) throw Error(why());
  env.require_equal(result.sizes.back(), 2, why);
  if (!env.known_one(result.strides.back()))
    throw Error("Tensor must have a last dimension with stride 1");
  result.dtype = to_complex(result.dtype);
  result.sizes.erase(result.dim() - 1);
  result.strides.erase(result.strides.size() - 1);
  for (SymInt& stride : result.strides) {
    require_multiple(env, stride, 2, [] {
      return std::string("Tensor must have a stride divisible by 2 for all but last dimension");
    });
    stride = env.floor_div(stride, 2);
  }
  require_multiple(env, result.storage_offset, 2,
                   [] { return std::string("Tensor must have a storage_offset divisible by 2"); });
  result.storage_offset = env.floor_div(result.storage_offset, 2);
  call.yield(result);
}

/// aten::real and aten::imag of complex tensors: every second element.
void real_part(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  const ShapeEnv& env = call.env();
  const bool is_imag = call.parameter() == 1;
  if (!is_complex(result.dtype)) {
    if (is_imag) throw Error("imag is not implemented for tensors with non-complex dtypes.");
  } else {
    result.dtype = to_real(result.dtype);
    for (SymInt& stride : result.strides) stride = env.mul(stride, 2);
    result.storage_offset = env.add(env.mul(result.storage_offset, 2), is_imag ? 1 : 0);
  }
  call.yield(result);
}

}  // namespace

std::span<const ShapeRow> view_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__conj_default, same_tensor},
      {op::aten__neg_view_default, same_tensor},
      {op::aten__unsafe_view_default, view_rule},
      {op::aten_adjoint_default, swap_last_two},
      {op::aten_alias_default, same_tensor},
      {op::aten_as_strided_default, as_strided},
      {op::aten_broadcast_tensors_default, broadcast_tensors},
      {op::aten_broadcast_to_default, expand_rule},
      {op::aten_conj_default, same_tensor},
      {op::aten_detach_default, same_tensor},
      {op::aten_diagonal_default, diagonal},
      {op::aten_expand_default, expand_rule},
      {op::aten_expand_as_default, expand_as},
      {op::aten_flatten_using_ints, flatten_rule},
      {op::aten_imag_default, real_part, 1},
      {op::aten_lift_default, same_tensor},
      {op::aten_lift_fresh_default, same_tensor},
      {op::aten_mH_default, swap_last_two},
      {op::aten_mT_default, swap_last_two},
      {op::aten_linalg_diagonal_default, diagonal},
      {op::aten_matrix_H_default, matrix_h},
      {op::aten_meshgrid_default, meshgrid},
      {op::aten_meshgrid_indexing, meshgrid},
      {op::aten_moveaxis_int, movedim},
      {op::aten_moveaxis_intlist, movedim},
      {op::aten_movedim_int, movedim},
      {op::aten_movedim_intlist, movedim},
      {op::aten_narrow_default, narrow_rule},
      {op::aten_numpy_T_default, numpy_t},
      {op::aten_permute_default, permute_rule},
      {op::aten_positive_default, same_tensor},
      {op::aten_ravel_default, ravel},
      {op::aten_real_default, real_part, 0},
      {op::aten_reshape_default, reshape_rule},
      {op::aten_reshape_as_default, reshape_as},
      {op::aten_resolve_conj_default, same_tensor},
      {op::aten_resolve_neg_default, same_tensor},
      {op::aten_select_int, select_rule},
      {op::aten_slice_Tensor, slice},
      {op::aten_squeeze_default, squeeze},
      {op::aten_squeeze_dim, squeeze},
      {op::aten_squeeze_dims, squeeze},
      {op::aten_swapaxes_default, transpose_rule},
      {op::aten_swapdims_default, transpose_rule},
      {op::aten_t_default, t},
      {op::aten_transpose_int, transpose_rule},
      {op::aten_unflatten_int, unflatten},
      {op::aten_unfold_default, unfold},
      {op::aten_unsqueeze_default, unsqueeze_rule},
      {op::aten_view_default, view_rule},
      {op::aten_view_copy_default, view_copy},
      {op::aten_view_dtype, view_dtype},
      {op::aten_view_as_default, view_as},
      {op::aten_view_as_complex_default, view_as_complex},
      {op::aten_view_as_real_default, view_as_real},
      {op::prims_as_strided_default, as_strided},
      {op::prims_transpose_default, permute_rule},
      {op::prims_view_of_default, same_tensor},
      {op::prims_view_of_dtype_default, view_dtype},
  };
  return rows;
}

}  // namespace winze
