// SPDX-License-Identifier: Apache-2.0
// Sums of products: einsum and what is made like it, after aten/src/ATen/native/Linear.cpp and
// LinearAlgebra.cpp.
#include <algorithm>
#include <array>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// An elementwise product.
FakeTensor product(ShapeEnv& env, const TensorMeta& a, const TensorMeta& b) {
  ElementwiseOperands operands;
  operands.add(a);
  operands.add(b);
  return operands.result(env, Promotion::to_common);
}

ScalarType dtype_of_sum(ScalarType dtype) {
  return is_integral_or_bool(dtype) ? ScalarType::int64 : dtype;
}

/// The sum over a dimension, which stays with size 1.
FakeTensor summed(const ShapeEnv& env, const FakeTensor& tensor,
                  std::span<const std::size_t> dims) {
  DimVector sizes(tensor.sizes);
  for (const std::size_t dim : dims) sizes[dim] = 1;
  return empty_tensor(env, sizes, dtype_of_sum(tensor.dtype), tensor.device);
}

/// sumproduct_pair with keepdim: a batched product of matrices, whose dimensions are put back to
/// where they were.
FakeTensor sumproduct_pair(ShapeCall& call, FakeTensor a, FakeTensor b,
                           std::span<const std::size_t> sum_dims) {
  ShapeEnv& env = call.env();
  if (sum_dims.empty()) return product(env, a, b);
  std::vector<std::size_t> both;
  std::vector<std::size_t> only_a;
  std::vector<std::size_t> only_b;
  for (std::size_t dim = 0; dim < a.dim(); ++dim) {
    const bool in_a = !env.known_one(a.sizes[dim]);
    const bool in_b = !env.known_one(b.sizes[dim]);
    if (std::ranges::find(sum_dims, dim) != sum_dims.end()) {
      const std::size_t dims[] = {dim};
      if (in_a && in_b) {
        env.require_equal(a.sizes[dim], b.sizes[dim],
                          [] { return std::string("non-broadcast dimensions must match"); });
      } else if (in_a) {
        a = summed(env, a, dims);
      } else if (in_b) {
        b = summed(env, b, dims);
      }
    } else if (in_a && in_b) {
      both.push_back(dim);
    } else {
      (in_a ? only_a : only_b).push_back(dim);
    }
  }
  // So that the result is contiguous more often, PyTorch multiplies in the other order where that
  // puts the dimensions in theirs.
  if (!only_a.empty() && !only_b.empty() && only_b.back() < only_a.front()) {
    std::swap(a, b);
    std::swap(only_a, only_b);
  }
  DimVector sizes;
  std::vector<std::size_t> order;
  for (const auto* dims : {&both, &only_a}) {
    for (const std::size_t dim : *dims) sizes.push_back(a.sizes[dim]);
    order.insert(order.end(), dims->begin(), dims->end());
  }
  sizes.append(DimVector(sum_dims.size(), 1));
  order.insert(order.end(), sum_dims.begin(), sum_dims.end());
  for (const std::size_t dim : only_b) sizes.push_back(b.sizes[dim]);
  order.insert(order.end(), only_b.begin(), only_b.end());
  DimVector back(order.size(), 0);
  for (std::size_t at = 0; at < order.size(); ++at) back[order[at]] = static_cast<std::int64_t>(at);
  return permute(empty_tensor(env, sizes, a.dtype, a.device), back);
}

// --- einsum

constexpr std::size_t label_count = 52;
constexpr std::uint8_t ellipsis = label_count;

/// The subscripts of one operand as numbers; an ellipsis counts as one.
std::vector<std::uint8_t> parse_subscripts(std::string_view text) {
  std::vector<std::uint8_t> labels;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(at, 3) != "...")
        throw Error("einsum(): found '.' that is not part of any ellipsis");
      if (std::ranges::find(labels, ellipsis) != labels.end())
        throw Error("einsum(): found '.' for an operand for which an ellipsis was already found");
      labels.push_back(ellipsis);
      at += 2;
    } else if (c >= 'A' && c <= 'Z') {
      labels.push_back(static_cast<std::uint8_t>(c - 'A'));
    } else if (c >= 'a' && c <= 'z') {
      labels.push_back(static_cast<std::uint8_t>(c - 'a' + 26));
    } else {
      fail("einsum(): invalid subscript given: {}, subscripts must be in [a-zA-Z]", c);
    }
  }
  return labels;
}

/// at::einsum: operands get a dimension for each label, those of the result first, then they are
/// multiplied from the left to the right.
class Einsum {
 public:
  Einsum(ShapeCall& call, std::string_view equation, std::span<const TensorMeta* const> tensors)
      : call_(call), tensors_(tensors) {
    const std::size_t arrow = equation.find("->");
    std::string_view left = equation.substr(0, arrow);
    while (true) {
      const std::size_t comma = left.find(',');
      operands_.push_back(parse_subscripts(left.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      left.remove_prefix(comma + 1);
    }
    if (operands_.size() != tensors.size()) {
      fail("einsum(): {} operands were provided than specified in the equation",
           operands_.size() < tensors.size() ? "more" : "fewer");
    }
    count_labels();
    if (arrow == std::string_view::npos) {
      implicit_output();
    } else {
      output_ = parse_subscripts(equation.substr(arrow + 2));
    }
    place_labels();
  }

  FakeTensor result() {
    std::vector<FakeTensor> operands;
    for (std::size_t index = 0; index < tensors_.size(); ++index) operands.push_back(placed(index));
    std::vector<std::size_t> uses(rank_, 0);
    for (std::size_t dim = out_rank_; dim < rank_; ++dim) {
      for (const FakeTensor& operand : operands)
        uses[dim] += call_.env().known_one(operand.sizes[dim]) ? 0 : 1;
    }
    FakeTensor result = operands[0];
    for (std::size_t index = 1; index < operands.size(); ++index)
      result = multiplied(std::move(result), std::move(operands[index]), uses);
    return without_sums(result, operands.size() > 1);
  }

 private:
  void count_labels() {
    for (std::size_t index = 0; index < operands_.size(); ++index) {
      const auto& labels = operands_[index];
      const std::size_t rank = tensors_[index]->dim();
      const bool has_ellipsis = std::ranges::find(labels, ellipsis) != labels.end();
      const std::size_t named = labels.size() - (has_ellipsis ? 1 : 0);
      if (has_ellipsis ? named > rank : named != rank) {
        fail(
            "einsum(): the number of subscripts in the equation ({}) does not match the number of "
            "dimensions ({}) for operand {}",
            named, rank, index);
      }
      if (has_ellipsis) ellipsis_rank_ = std::max(ellipsis_rank_, rank - named);
      for (const std::uint8_t label : labels) ++count_[label];
    }
  }
  /// All labels that occur once, in alphabetical order, after the ellipsis.
  void implicit_output() {
    if (ellipsis_rank_ > 0) output_.push_back(ellipsis);
    for (std::uint8_t label = 0; label < label_count; ++label)
      if (count_[label] == 1) output_.push_back(label);
  }
  void place_labels() {
    place_.fill(none);
    for (const std::uint8_t label : output_) {
      if (label != ellipsis && count_[label] == 0)
        throw Error("einsum(): an output subscript does not appear in the equation for any input");
      if (place_[label] != none)
        throw Error("einsum(): an output subscript appears more than once in the output");
      place_[label] = rank_;
      rank_ += label == ellipsis ? ellipsis_rank_ : 1;
    }
    out_rank_ = rank_;
    // An ellipsis that the output has not is summed.
    if (place_[ellipsis] == none) {
      place_[ellipsis] = rank_;
      rank_ += ellipsis_rank_;
    }
    for (std::uint8_t label = 0; label < label_count; ++label)
      if (count_[label] > 0 && place_[label] == none) place_[label] = rank_++;
    if (rank_ > 64) throw Error("einsum(): too many subscripts");
  }

  /// The operand with a dimension for each label; a label that repeats takes the diagonal.
  FakeTensor placed(std::size_t index) const {
    ShapeEnv& env = call_.env();
    const TensorMeta& tensor = *tensors_[index];
    FakeTensor result(tensor);
    result.sizes = DimVector(rank_, 1);
    result.strides = DimVector(rank_, 1);  // as unsqueeze gives the last dimension
    std::vector<bool> seen(rank_, false);
    std::size_t from = 0;
    const auto put = [&](std::size_t place) {
      if (seen[place]) {
        env.require_equal(result.sizes[place], tensor.sizes[from], [&] {
          return fmt::format(
              "einsum(): a subscript is repeated for operand {} but the sizes don't match, {} != "
              "{}",
              index, env.str(tensor.sizes[from]), env.str(result.sizes[place]));
        });
        result.strides[place] = env.add(result.strides[place], tensor.strides[from]);
      } else {
        result.sizes[place] = tensor.sizes[from];
        result.strides[place] = tensor.strides[from];
      }
      seen[place] = true;
      ++from;
    };
    for (const std::uint8_t label : operands_[index]) {
      if (label != ellipsis) {
        put(place_[label]);
        continue;
      }
      const std::size_t covered = tensor.dim() - (operands_[index].size() - 1);
      for (std::size_t at = ellipsis_rank_ - covered; at < ellipsis_rank_; ++at)
        put(place_[ellipsis] + at);
    }
    return result;
  }

  FakeTensor multiplied(FakeTensor a, FakeTensor b, std::vector<std::size_t>& uses) {
    ShapeEnv& env = call_.env();
    std::vector<std::size_t> sums;
    std::vector<std::size_t> sums_of_a;
    std::vector<std::size_t> sums_of_b;
    for (std::size_t dim = out_rank_; dim < rank_; ++dim) {
      const bool in_a = !env.known_one(a.sizes[dim]);
      const bool in_b = !env.known_one(b.sizes[dim]);
      if (in_a && in_b) {
        if (--uses[dim] != 1) continue;
        sums.push_back(dim);
        uses[dim] = 0;
      } else if (uses[dim] == 1 && (in_a || in_b)) {
        (in_a ? sums_of_a : sums_of_b).push_back(dim);
        uses[dim] = 0;
      }
    }
    if (!sums_of_a.empty()) a = summed(env, a, sums_of_a);
    if (!sums_of_b.empty()) b = summed(env, b, sums_of_b);
    return sumproduct_pair(call_, std::move(a), std::move(b), sums);
  }

  FakeTensor without_sums(const FakeTensor& tensor, bool was_multiplied) const {
    if (out_rank_ == rank_) return tensor;
    const DimVector sizes(Sizes(tensor.sizes).first(out_rank_));
    if (was_multiplied) return view(call_.env(), tensor, sizes);
    return empty_tensor(call_.env(), sizes, dtype_of_sum(tensor.dtype), tensor.device);
  }

  static constexpr std::size_t none = ~std::size_t{0};
  ShapeCall& call_;
  std::span<const TensorMeta* const> tensors_;
  std::vector<std::vector<std::uint8_t>> operands_;
  std::vector<std::uint8_t> output_;
  std::array<std::size_t, label_count + 1> count_{};
  std::array<std::size_t, label_count + 1> place_{};
  std::size_t ellipsis_rank_ = 0;
  std::size_t out_rank_ = 0;
  std::size_t rank_ = 0;
};

void einsum(ShapeCall& call) {
  const auto tensors = call.tensors(1);
  if (tensors.empty()) throw Error("einsum(): must provide at least one operand");
  for (const TensorMeta* tensor : tensors)
    if (tensor == nullptr) call.cannot_infer("an operand of einsum is None");
  if (!call.is_none(2) && tensors.size() > 2)
    call.cannot_infer("einsum in a given order is not known");
  call.yield(Einsum(call, call.string(0), tensors).result());
}

// --- Contractions of two tensors

/// aten::tensordot(self, other, dims_self, dims_other)
void tensordot(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  const DimVector dims_a = call.sym_ints(2);
  const DimVector dims_b = call.sym_ints(3);
  if (dims_a.size() != dims_b.size()) throw Error("both dimension lists should have same length");
  if (a.dtype != b.dtype)
    fail("both inputs should have same dtype, got {} and {}", full_name(a.dtype),
         full_name(b.dtype));
  std::vector<bool> contracted_a(64, false);
  std::vector<bool> contracted_b(64, false);
  for (std::size_t at = 0; at < dims_a.size(); ++at) {
    const std::size_t i = wrap_dim(dims_a[at], a.dim());
    const std::size_t j = wrap_dim(dims_b[at], b.dim());
    contracted_a[i] = true;
    contracted_b[j] = true;
    if (a.dim() == 0 || b.dim() == 0) continue;
    if (env.known_one(a.sizes[i]) || env.known_one(b.sizes[j])) continue;
    env.require_equal(a.sizes[i], b.sizes[j], [&] {
      return fmt::format(
          "contracted dimensions need to match, but first has size {} and second "
          "has size {}",
          env.str(a.sizes[i]), env.str(b.sizes[j]));
    });
  }
  DimVector sizes;
  for (std::size_t dim = 0; dim < a.dim(); ++dim)
    if (!contracted_a[dim]) sizes.push_back(a.sizes[dim]);
  for (std::size_t dim = 0; dim < b.dim(); ++dim)
    if (!contracted_b[dim]) sizes.push_back(b.sizes[dim]);
  call.yield(empty_tensor(env, sizes, a.dtype, a.device));
}

/// aten::inner: over the last dimension of both.
void inner(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  if (a.dim() == 0 || b.dim() == 0) return call.yield(product(env, a, b));
  if (a.dtype != b.dtype) call.cannot_infer("the operands of inner differ in dtype");
  const SymInt x = a.sizes[a.dim() - 1];
  const SymInt y = b.sizes[b.dim() - 1];
  env.require_equal(x, y, [&] {
    return fmt::format(
        "inner() the last dimension must match on both input tensors but got {} and "
        "{}",
        env.str(x), env.str(y));
  });
  DimVector sizes(a.sizes.first(a.dim() - 1));
  sizes.append(b.sizes.first(b.dim() - 1));
  call.yield(empty_tensor(env, sizes, a.dtype, a.device));
}

/// aten::kron: each element of one times all of the other.
void kron(ShapeCall& call) {
  ShapeEnv& env = call.env();
  FakeTensor a(call.tensor(0));
  FakeTensor b(call.tensor(1));
  while (a.dim() < b.dim()) a = unsqueeze(env, a, 0);
  while (b.dim() < a.dim()) b = unsqueeze(env, b, 0);
  DimVector sizes;
  FakeTensor wide_a(a);
  FakeTensor wide_b(b);
  for (std::size_t dim = 0; dim < a.dim(); ++dim) {
    sizes.push_back(env.mul(a.sizes[dim], b.sizes[dim]));
    wide_a = unsqueeze(env, wide_a, 2 * dim + 1);
    wide_b = unsqueeze(env, wide_b, 2 * dim);
  }
  call.yield(view(env, product(env, wide_a, wide_b), sizes));
}

/// aten::_trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim): the product of three tensors,
/// each given dimensions of size 1, summed over `sumdim`.
void trilinear(ShapeCall& call) {
  ShapeEnv& env = call.env();
  DimVector sizes;
  for (const std::uint32_t index : {0U, 1U, 2U}) {
    FakeTensor factor(call.tensor(index));
    const DimVector expanded = call.sym_ints(index + 3);
    const std::size_t rank = factor.dim() + expanded.size();
    for (std::size_t dim = 0; dim < rank; ++dim) {
      const SymInt here = static_cast<std::int64_t>(dim);
      if (std::find(expanded.begin(), expanded.end(), here) != expanded.end())
        factor.sizes.insert(std::min(dim, factor.sizes.size()), 1);
    }
    if (index > 0 && factor.sizes.size() != sizes.size())
      throw Error("_trilinear: the tensors differ in their number of dimensions");
    sizes = index == 0 ? factor.sizes : broadcast_sizes(env, sizes, factor.sizes);
  }
  const DimVector summed = call.sym_ints(6);
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    const SymInt here = static_cast<std::int64_t>(dim);
    if (std::find(summed.begin(), summed.end(), here) != summed.end()) sizes.erase(dim);
  }
  call.yield(empty_tensor(env, sizes, call.tensor(0).dtype, call.tensor(0).device));
}

/// aten::bilinear(input1, input2, weight, bias)
void bilinear(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& a = call.tensor(0);
  const TensorMeta& b = call.tensor(1);
  const TensorMeta& weight = call.tensor(2);
  if (a.dim() != b.dim() || a.dim() == 0) {
    fail("bilinear(): input dimensions do not match: got {} and {}", a.dim(), b.dim());
  }
  if (weight.dim() != 3) fail("bilinear(): weight has {} dimensions instead of 3", weight.dim());
  for (std::size_t dim = 0; dim + 1 < a.dim(); ++dim) {
    env.require_equal(a.sizes[dim], b.sizes[dim], [&] {
      return fmt::format("bilinear(): input batch dimensions do not match at dim {}: got {} and {}",
                         dim, env.str(a.sizes[dim]), env.str(b.sizes[dim]));
    });
  }
  const TensorMeta* const inputs[] = {&a, &b};
  for (std::size_t at = 0; at < 2; ++at) {
    const SymInt size = inputs[at]->sizes[a.dim() - 1];
    env.require_at_least(size, 1,
                         [] { return std::string("bilinear(): inputs have to have features"); });
    env.require_equal(size, weight.sizes[at + 1], [&] {
      return fmt::format(
          "bilinear(): input{} size does not match weight size: got {} but expected "
          "{}",
          at + 1, env.str(size), env.str(weight.sizes[at + 1]));
    });
  }
  DimVector sizes(a.sizes.first(a.dim() - 1));
  sizes.push_back(weight.sizes[0]);
  call.yield(empty_tensor(env, sizes, a.dtype, a.device));
}

/// aten::linalg_multi_dot and chain_matmul: a product of matrices, with vectors at the ends.
void multi_dot(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto tensors = call.tensors(0);
  if (tensors.size() < 2) throw Error("multi_dot(): expected at least 2 tensors");
  DimVector sizes;
  SymInt inner = 0;
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    const TensorMeta& tensor = *tensors[at];
    const bool at_end = at == 0 || at + 1 == tensors.size();
    if (tensor.dim() != 2 && !(at_end && tensor.dim() == 1))
      fail("multi_dot(): tensor {} must be 2D but got {}D", at, tensor.dim());
    if (tensor.dtype != tensors[0]->dtype)
      fail(
          "multi_dot(): all tensors must have be the same dtype but tensor 0 is {} and tensor {} "
          "{}",
          full_name(tensors[0]->dtype), at, full_name(tensor.dtype));
    if (at == 0) {
      if (tensor.dim() == 2) sizes.push_back(tensor.sizes[0]);
    } else {
      env.require_equal(inner, tensor.sizes[0], [&] {
        return fmt::format("multi_dot(): tensors {} and {} cannot be multiplied", at - 1, at);
      });
    }
    inner = tensor.sizes[tensor.dim() - 1];
    if (at + 1 == tensors.size() && tensor.dim() == 2) sizes.push_back(inner);
  }
  call.yield(empty_tensor(env, sizes, tensors[0]->dtype, tensors[0]->device));
}

}  // namespace

std::span<const ShapeRow> contraction_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__trilinear_default, trilinear},
      {op::aten_bilinear_default, bilinear},
      {op::aten_chain_matmul_default, multi_dot},
      {op::aten_einsum_default, einsum},
      {op::aten_inner_default, inner},
      {op::aten_kron_default, kron},
      {op::aten_linalg_multi_dot_default, multi_dot},
      {op::aten_tensordot_default, tensordot},
  };
  return rows;
}

}  // namespace winze
