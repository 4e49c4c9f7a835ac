// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/tensor_filler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "winze/torch/element.h"

namespace winze {
namespace {

/// Integers without any bound stay this small.
constexpr std::int64_t usual_integer = 9;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Numbers for the elements of a tensor in C order.
class NumberMaker {
 public:
  NumberMaker(const HostTensor& tensor, const FillRequest& request, CountedRandom random)
      : dtype_(tensor.dtype),
        count_(static_cast<std::size_t>(tensor.element_count())),
        row_(tensor.sizes.empty() ? 1 : static_cast<std::size_t>(tensor.sizes.back())),
        request_(request),
        random_(random) {}

  std::vector<double> make() {
    std::vector<double> numbers(count_ * (is_complex(dtype_) ? 2 : 1));
    if (dtype_ == ScalarType::bool_) {
      constexpr double chances[] = {0.5, 0.85, 0.25};
      fill_truth(numbers, chances[request_.draw % 3]);
    } else if (is_integral(dtype_)) {
      fill_integers(numbers);
    } else {
      fill_reals(numbers);
    }
    return numbers;
  }

 private:
  [[nodiscard]] bool is_mask() const {
    const bool is_small = !request_.is_bounded || request_.high <= 1;
    return is_small && (request_.use.is_truth || request_.name.find("mask") != std::string::npos);
  }

  /// 0 and 1. The first of each row is 1, so that no row is masked as a whole; the last is 0 where
  /// there is more than one.
  void fill_truth(std::vector<double>& numbers, double chance) {
    for (std::size_t index = 0; index < numbers.size(); ++index)
      numbers[index] = index % row_ == 0 || random_.chance(chance) ? 1 : 0;
    if (row_ > 1) numbers.back() = 0;
  }

  void fill_integers(std::vector<double>& numbers) {
    if (request_.use.is_offsets) return fill_offsets(numbers);
    if (is_mask()) return fill_truth(numbers, 0.7);
    auto [low, high] = usual_range();
    if (request_.is_bounded) {
      low = request_.low;
      high = std::max(request_.low, request_.high);
    }
    if (request_.use.is_distinct) return fill_distinct(numbers, low, high);
    for (double& number : numbers) number = static_cast<double>(random_.integer(low, high + 1));
    if (request_.use.is_divisor)
      std::ranges::replace(numbers, 0.0, static_cast<double>(std::max<std::int64_t>(1, high)));
    if (std::ranges::all_of(numbers, [](double number) { return number == 0; }) && !numbers.empty())
      numbers.front() = static_cast<double>(high);
  }

  [[nodiscard]] std::pair<std::int64_t, std::int64_t> usual_range() const {
    if (dtype_ == ScalarType::uint8) return {0, 255};
    const bool is_unsigned = dtype_ == ScalarType::uint16 || dtype_ == ScalarType::uint32 ||
                             dtype_ == ScalarType::uint64;
    const bool is_signed_draw = request_.draw % 2 == 1 && !is_unsigned;
    return {is_signed_draw ? -usual_integer : 0, usual_integer};
  }

  /// Starts of bags: from 0, sorted, at most the end.
  void fill_offsets(std::vector<double>& numbers) {
    for (double& number : numbers)
      number = static_cast<double>(
          random_.integer(0, std::max<std::int64_t>(1, request_.offsets_end + 1)));
    if (!numbers.empty()) numbers.front() = 0;
    std::ranges::sort(numbers);
  }

  /// A random order of the whole range, again and again.
  void fill_distinct(std::vector<double>& numbers, std::int64_t low, std::int64_t high) {
    constexpr std::int64_t widest = 1 << 20;
    std::vector<std::int64_t> order(static_cast<std::size_t>(std::min(high - low + 1, widest)));
    std::iota(order.begin(), order.end(), low);
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(
          order[left - 1],
          order[static_cast<std::size_t>(random_.integer(0, static_cast<std::int64_t>(left)))]);
    for (std::size_t index = 0; index < numbers.size(); ++index)
      numbers[index] = static_cast<double>(order[index % order.size()]);
  }

  void fill_reals(std::vector<double>& numbers) {
    const InputUse& use = request_.use;
    if (request_.is_bounded) {
      for (double& number : numbers)
        number = static_cast<double>(
            random_.integer(request_.low, std::max(request_.low, request_.high) + 1));
    } else if (use.is_additive_mask || (!use.is_truth && is_mask())) {
      fill_truth(numbers, 0.75);
      for (double& number : numbers) number = number == 0 ? -largest_of(dtype_) : 0.0;
    } else if (use.is_truth) {
      fill_truth(numbers, 0.7);
    } else if (use.is_fraction) {
      for (double& number : numbers) number = 0.05 + 0.9 * random_.uniform();
    } else {
      for (double& number : numbers) number = random_.normal();
      if (use.is_positive)
        for (double& number : numbers) number = 0.1 + std::abs(number);
    }
  }

  ScalarType dtype_;
  std::size_t count_;
  std::size_t row_;
  const FillRequest& request_;
  CountedRandom random_;
};

}  // namespace

void FillRequest::narrow(const ElementBound& bound, std::int64_t bound_low,
                         std::int64_t bound_high) {
  // scale * v + shift in [bound_low, bound_high - 1].
  std::int64_t least = bound_low - bound.shift;
  std::int64_t most = bound_high - 1 - bound.shift;
  std::int64_t scale = bound.scale;
  if (scale < 0) {
    scale = -scale;
    std::swap(least, most);
    least = -least;
    most = -most;
  }
  least = -floor_divide(-least, scale);
  most = floor_divide(most, scale);
  low = is_bounded ? std::max(low, least) : least;
  high = is_bounded ? std::min(high, most) : most;
  is_bounded = true;
}

void fill_tensor(HostTensor& tensor, const FillRequest& request, CountedRandom random) {
  const std::vector<double> numbers = NumberMaker(tensor, request, random).make();
  const std::size_t parts = is_complex(tensor.dtype) ? 2 : 1;
  const std::size_t width = element_size(tensor.dtype);
  std::int64_t extent = tensor.element_count() == 0 ? 0 : 1;
  for (std::size_t axis = 0; axis < tensor.sizes.size() && extent != 0; ++axis)
    extent += (tensor.sizes[axis] - 1) * tensor.strides[axis];
  std::string bytes(static_cast<std::size_t>(extent) * width, '\0');
  std::vector<std::int64_t> index(tensor.sizes.size(), 0);
  std::int64_t at = 0;
  for (std::size_t element = 0; element < numbers.size() / parts; ++element) {
    write_numbers(
        tensor.dtype, std::span(numbers).subspan(element * parts, parts),
        reinterpret_cast<std::byte*>(bytes.data()) + static_cast<std::size_t>(at) * width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += tensor.strides[axis];
      if (++index[axis] < tensor.sizes[axis]) break;
      at -= tensor.strides[axis] * tensor.sizes[axis];
      index[axis] = 0;
    }
  }
  tensor.storage = Bytes::own(std::move(bytes));
}

}  // namespace winze
