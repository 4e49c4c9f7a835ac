// SPDX-License-Identifier: Apache-2.0
// Histograms, numeric gradients, and what is counted of data, after
// aten/src/ATen/native/{Histogram,ReduceOps,SegmentReduce}.cpp.
#include <algorithm>
#include <vector>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void yield_vector(ShapeCall& call, SymInt count, ScalarType dtype) {
  call.yield(empty_tensor(call.env(), DimVector{count}, dtype, call.tensor(0).device));
}

// --- Histograms over several dimensions

/// The bins of each dimension, the last of the input.
DimVector bins_of(const ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  if (self.dim() < 2)
    throw Error("torch.histogramdd: input tensor should have at least 2 dimensions");
  if (!is_floating_point(self.dtype))
    fail("{} only supports floating-point dtypes, got: {}", call.op().schema.name,
         full_name(self.dtype));
  const SymInt dims = self.sizes.back();
  const Type type = call.op().schema.arguments[1].type;
  DimVector bins;
  if (type.base_kind() == TypeKind::tensor) {
    for (const TensorMeta* edges : call.tensors(1)) {
      if (edges == nullptr || edges->dim() != 1)
        throw Error("torch.histogramdd: bins tensor should have one dimension");
      bins.push_back(env.sub(edges->sizes[0], 1));
    }
  } else if (type.is_list()) {
    bins = call.sym_ints(1);
  } else {
    if (!dims.is_constant())
      call.cannot_infer("the number of dimensions of a histogram is symbolic");
    constexpr std::int64_t most = 64;
    if (dims.constant() > most) call.cannot_infer("a histogram has too many dimensions");
    bins = DimVector(static_cast<std::size_t>(dims.constant()), call.sym_int(1));
  }
  call.env().require_equal(dims, static_cast<std::int64_t>(bins.size()), [&] {
    return fmt::format(
        "torch.histogramdd: expected {} sequences of bin edges for a {}-dimensional "
        "histogram but got {}",
        env.str(dims), env.str(dims), bins.size());
  });
  return bins;
}

/// histogramdd: the counts and the edges; `parameter` says which of both.
enum Part : std::uint32_t { counts = 1, edges = 2 };
void histogramdd(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const DimVector bins = bins_of(call);
  if ((call.parameter() & counts) != 0)
    call.yield(empty_tensor(call.env(), bins, self.dtype, self.device));
  if ((call.parameter() & edges) == 0) return;
  for (const SymInt count : bins) yield_vector(call, call.env().add(count, 1), self.dtype);
}

// --- Gradients of samples

/// The dimensions that gradient is asked for, all without.
std::vector<std::size_t> gradient_dims(const ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const std::uint32_t at = call.position("dim");
  std::vector<std::size_t> dims;
  if (call.is_none(at)) {
    for (std::size_t dim = 0; dim < self.dim(); ++dim) dims.push_back(dim);
    return dims;
  }
  const bool is_list = call.op().schema.arguments[at].type.is_list();
  for (const SymInt given : is_list ? call.sym_ints(at) : DimVector{call.sym_int(at)}) {
    const std::size_t dim = wrap_dim(given, self.dim());
    if (std::ranges::find(dims, dim) != dims.end())
      fail("dim {} appears multiple times in the list of dims", dim);
    dims.push_back(dim);
  }
  return dims;
}

/// Spacings that are a list: one for each dimension.
void check_spacing(const ShapeCall& call, std::size_t dims) {
  const std::uint32_t at = call.position("spacing");
  if (call.is_none(at) || !call.op().schema.arguments[at].type.is_list()) return;
  const Argument spacing = call.argument(at);
  std::size_t count = spacing.count();
  if (spacing.kind() == ArgumentKind::floats) count = call.context().floats_of(spacing).size();
  if (spacing.kind() == ArgumentKind::integers) count = call.context().integers_of(spacing).size();
  if (count != dims)
    fail(
        "torch.gradient expected spacing to be unspecified, a scalar or a list of length {}, but "
        "got a list of length {}",
        dims, count);
  if (call.op().schema.arguments[at].type.base_kind() != TypeKind::tensor) return;
  for (const TensorMeta* tensor : call.tensors(at)) {
    if (tensor != nullptr && !(tensor->device == call.tensor(0).device))
      throw Error("torch.gradient expected each tensor to be on the same device");
  }
}

/// gradient: a tensor for each dimension.
void gradient(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const std::vector<std::size_t> dims = gradient_dims(call);
  check_spacing(call, dims.size());
  const SymInt edge_order = call.sym_int(call.position("edge_order"));
  if (edge_order != SymInt(1) && edge_order != SymInt(2))
    throw Error("torch.gradient only supports edge_order=1 and edge_order=2.");
  for (const std::size_t dim : dims) {
    if (dim >= self.dim()) throw Error("torch.gradient expects a tensor with dimensions");
    call.env().require_at_least(self.sizes[dim], edge_order.constant() + 1, [] {
      return std::string("torch.gradient expected each dimension size to be at least edge_order+1");
    });
    call.yield(empty_tensor(call.env(), self.sizes, promoted(self.dtype, Promotion::int_to_float),
                            self.device));
  }
}

// --- As data has it

/// bincount(self, weights, minlength)
void bincount(ShapeCall& call) {
  const TensorMeta* const weights = call.optional_tensor(1);
  const SymInt least = call.sym_int(2);
  ScalarType dtype = ScalarType::int64;
  if (weights != nullptr)
    dtype = weights->dtype == ScalarType::float32 ? ScalarType::float32 : ScalarType::float64;
  const std::int64_t low = least.is_constant() ? least.constant() : 0;
  yield_vector(call, call.unbacked_size(0, 0, Range::at_least(low)), dtype);
}

/// combinations(self, r): each choice of `r` elements, counted as export does, by a mask.
void combinations(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != 1) fail("Expect a 1D vector, but got shape of {} dimensions", self.dim());
  const SymInt taken = call.sym_int(1);
  if (!taken.is_constant()) call.cannot_infer("how many elements are combined is symbolic");
  if (taken.constant() < 0) fail("Expect a non-negative number, but got {}", taken.constant());
  if (taken.constant() == 0) return yield_vector(call, 0, self.dtype);
  const SymInt count = call.unbacked_size(0, 0, Range::at_least(0));
  call.yield(empty_tensor(call.env(), DimVector{count, taken}, self.dtype, self.device));
}

// --- Reductions of segments

/// segment_reduce(data, reduce, lengths, indices, offsets, axis)
void segment_reduce(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& data = call.tensor(0);
  if (!call.is_none(call.position("indices")))
    call.cannot_infer("segment_reduce by indices is not known");
  const TensorMeta* const lengths = call.optional_tensor(call.position("lengths"));
  const TensorMeta* const offsets = call.optional_tensor(call.position("offsets"));
  const TensorMeta* const segments = lengths == nullptr ? offsets : lengths;
  if (segments == nullptr)
    throw Error("segment_reduce(): Either lengths or offsets must be defined.");
  const SymInt axis = call.sym_int(call.position("axis"));
  DimVector sizes(data.sizes);
  const std::size_t dim = wrap_dim(axis, data.dim());
  const SymInt count = segments->sizes[wrap_dim(axis, segments->dim())];
  if (sizes.empty() || segments->dim() == 0)
    throw Error("segment_reduce expects data and segments with dimensions");
  sizes[dim] = lengths == nullptr ? env.sub(count, 1) : count;
  call.yield(empty_tensor(env, sizes, data.dtype, data.device));
}
/// _segment_reduce_backward(grad, output, data)
void segment_reduce_backward(ShapeCall& call) {
  const TensorMeta& data = call.tensor(2);
  call.yield(empty_tensor(call.env(), data.sizes, call.tensor(0).dtype, data.device));
}

/// norm_except_dim(v, pow, dim): of each slice along one dimension, or of all for -1.
void norm_except_dim(ShapeCall& call) {
  const TensorMeta& v = call.tensor(0);
  const SymInt dim = call.sym_int(2);
  DimVector sizes;
  if (dim != SymInt(-1)) {
    const std::size_t kept = wrap_dim(dim, v.dim());
    if (v.dim() == 0) throw Error("norm_except_dim expects a tensor with dimensions");
    if (kept != 0 && kept != v.dim() - 1)
      call.cannot_infer("the layout of norm_except_dim over an inner dimension is not known");
    sizes = DimVector(v.dim(), 1);
    sizes[kept] = v.sizes[kept];
  }
  call.yield(empty_tensor(call.env(), sizes, v.dtype, v.device));
}

}  // namespace

std::span<const ShapeRow> histogram_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__histogramdd_bin_edges_default, histogramdd, edges},
      {op::aten__histogramdd_from_bin_cts_default, histogramdd, counts},
      {op::aten__histogramdd_from_bin_tensors_default, histogramdd, counts},
      {op::aten__segment_reduce_backward_default, segment_reduce_backward},
      {op::aten_bincount_default, bincount},
      {op::aten_combinations_default, combinations},
      {op::aten_gradient_array, gradient},
      {op::aten_gradient_scalararray, gradient},
      {op::aten_gradient_scalarint, gradient},
      {op::aten_gradient_scalarrayarray, gradient},
      {op::aten_gradient_scalarrayint, gradient},
      {op::aten_gradient_tensorarray, gradient},
      {op::aten_gradient_tensorarrayint, gradient},
      {op::aten_histogramdd_default, histogramdd, counts | edges},
      {op::aten_histogramdd_TensorList_bins, histogramdd, counts | edges},
      {op::aten_histogramdd_int_bins, histogramdd, counts | edges},
      {op::aten_norm_except_dim_default, norm_except_dim},
      {op::aten_segment_reduce_default, segment_reduce},
  };
  return rows;
}

}  // namespace winze
