// SPDX-License-Identifier: Apache-2.0
// The part of compare.h that looks at elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "winze/torch/compare.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

constexpr std::size_t chunk_size = 1024;
constexpr std::size_t max_sample = 65536;
/// Masks fill with the lowest number of a dtype, or near it: no magnitude of what is computed.
constexpr double fill_fraction = 1.0 / 16;

std::vector<std::int64_t> index_of(const std::vector<std::int64_t>& sizes, std::size_t element) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    index[axis] = static_cast<std::int64_t>(element) % sizes[axis];
    element /= static_cast<std::size_t>(sizes[axis]);
  }
  return index;
}

/// Gathers the error of numbers that come in order.
class ErrorGatherer {
 public:
  ErrorGatherer(ScalarType dtype, const Tolerance& tolerance, bool signed_zeros, bool is_complex)
      : dtype_(to_real(dtype)),
        tolerance_(tolerance),
        signed_zeros_(signed_zeros),
        parts_(is_complex ? 2 : 1) {}

  void add(std::span<const double> expected, std::span<const double> actual) {
    for (std::size_t index = 0; index < expected.size(); index += parts_) {
      double magnitude = std::abs(expected[index]);
      if (parts_ == 2) magnitude = std::hypot(expected[index], expected[index + 1]);
      bool is_outside = false;
      for (std::size_t part = index; part < index + parts_; ++part)
        is_outside |= add_part(expected[part], actual[part], magnitude);
      if (is_outside) ++measure_.outside;
      ++measure_.count;
    }
  }

  ErrorMeasure finish(const std::vector<std::int64_t>& sizes) {
    if (finite_ != 0) measure_.rms = std::sqrt(square_sum_ / static_cast<double>(finite_));
    if (has_worst_) measure_.worst = index_of(sizes, worst_);
    return measure_;
  }

 private:
  /// Returns whether the two are further apart than the tolerance.
  bool add_part(double expected, double actual, double magnitude) {
    if (!std::isfinite(expected) || !std::isfinite(actual)) {
      const bool is_same = std::isnan(expected) ? std::isnan(actual) : expected == actual;
      if (!is_same) misplace(expected, actual);
      return false;
    }
    if (signed_zeros_ && expected == 0 && actual == 0 &&
        std::signbit(expected) != std::signbit(actual))
      misplace(expected, actual);
    ++finite_;
    const double difference = std::abs(actual - expected);
    if (difference == 0) return false;
    square_sum_ += difference * difference;
    measure_.max_abs = std::max(measure_.max_abs, difference);
    if (expected != 0)
      measure_.max_rel = std::max(measure_.max_rel, difference / std::abs(expected));
    measure_.max_ulp = std::max(measure_.max_ulp, difference / ulp_of(dtype_, expected));
    const double allowed = tolerance_.absolute + tolerance_.relative * magnitude;
    const double excess = difference - allowed;
    if (measure_.misplaced == 0 && (!has_worst_ || excess > worst_excess_)) {
      worst_excess_ = excess;
      set_worst(expected, actual);
    }
    return excess > 0;
  }

  void misplace(double expected, double actual) {
    if (measure_.misplaced++ == 0) set_worst(expected, actual);
  }

  void set_worst(double expected, double actual) {
    has_worst_ = true;
    worst_ = measure_.count;
    measure_.expected = expected;
    measure_.actual = actual;
  }

  ScalarType dtype_;
  Tolerance tolerance_;
  bool signed_zeros_;
  std::size_t parts_;
  ErrorMeasure measure_;
  double square_sum_ = 0;
  std::uint64_t finite_ = 0;
  bool has_worst_ = false;
  double worst_excess_ = 0;
  std::size_t worst_ = 0;
};

}  // namespace

double typical_magnitude(const HostTensor& tensor) {
  const Bytes bytes = contiguous_bytes(tensor);
  const ScalarType part = to_real(tensor.dtype);
  const std::size_t width = element_size(part);
  const std::size_t count = bytes.size() / width;
  const std::size_t step = std::max<std::size_t>(1, count / max_sample);
  const double largest = largest_of(part) * fill_fraction;
  std::vector<double> magnitudes;
  magnitudes.reserve(count / step + 1);
  for (std::size_t index = 0; index < count; index += step) {
    double number = 0;
    read_numbers(part, bytes.data() + index * width, std::span(&number, 1));
    number = std::abs(number);
    if (number > 0 && number <= largest) magnitudes.push_back(number);
  }
  if (magnitudes.empty()) return 0;
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::nth_element(magnitudes.begin(), middle, magnitudes.end());
  return *middle;
}

ErrorMeasure measure_error(const HostTensor& expected, const HostTensor& actual,
                           const Tolerance& tolerance, bool signed_zeros) {
  const Bytes expected_bytes = contiguous_bytes(expected);
  const Bytes actual_bytes = contiguous_bytes(actual);
  ErrorGatherer gatherer(actual.dtype, tolerance, signed_zeros, is_complex(expected.dtype));
  if (expected.dtype == actual.dtype &&
      expected_bytes.string_view() == actual_bytes.string_view()) {
    ErrorMeasure same = gatherer.finish(expected.sizes);
    same.count = static_cast<std::uint64_t>(expected.element_count());
    return same;
  }
  const std::size_t expected_width = element_size(to_real(expected.dtype));
  const std::size_t actual_width = element_size(to_real(actual.dtype));
  const std::size_t count = expected_bytes.size() / expected_width;
  std::array<double, chunk_size> expected_chunk;
  std::array<double, chunk_size> actual_chunk;
  for (std::size_t start = 0; start < count; start += chunk_size) {
    const std::size_t size = std::min(chunk_size, count - start);
    const std::span<double> left(expected_chunk.data(), size);
    const std::span<double> right(actual_chunk.data(), size);
    read_numbers(expected.dtype, expected_bytes.data() + start * expected_width, left);
    read_numbers(actual.dtype, actual_bytes.data() + start * actual_width, right);
    gatherer.add(left, right);
  }
  return gatherer.finish(expected.sizes);
}

}  // namespace winze
