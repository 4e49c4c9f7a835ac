// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tsl/robin_map.h>

#include "winze/support/string_map.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

constexpr const char* undefined_note =
    "depends on memory that nothing initialized: its content was not compared";

bool is_exact(ScalarType dtype) {
  return !is_floating_point(dtype) && !is_complex(dtype);
}

/// Numbers as people compare them: enough digits to tell the two apart.
std::string number_text(double number) {
  return fmt::format("{:.9g}", number);
}

std::string position_text(const std::vector<std::int64_t>& index) {
  return index.empty() ? std::string() : fmt::format(" at [{}]", fmt::join(index, ", "));
}

Tolerance tolerance_for(const NamedValue& expected, ScalarType dtype, double scale,
                        const CompareOptions& options) {
  Tolerance tolerance = default_tolerance(dtype, expected.depth, scale);
  if (options.rtol) tolerance = {*options.rtol, *options.rtol * scale};
  if (options.atol) tolerance.absolute = *options.atol;
  return tolerance;
}

void compare_integers(const HostTensor& expected, const HostTensor& actual, ValueReport& report) {
  const Bytes left = contiguous_bytes(expected);
  const Bytes right = contiguous_bytes(actual);
  ErrorMeasure& error = report.error;
  error.count = static_cast<std::uint64_t>(expected.element_count());
  if (left.string_view() == right.string_view()) return;
  const std::size_t width = element_size(expected.dtype);
  std::size_t first = 0;
  for (std::size_t index = 0; index < error.count; ++index) {
    const std::int64_t a = read_integer(expected.dtype, left.data() + index * width);
    const std::int64_t b = read_integer(actual.dtype, right.data() + index * width);
    if (a == b) continue;
    if (error.outside++ == 0) first = index;
    error.max_abs =
        std::max(error.max_abs, std::abs(static_cast<double>(b) - static_cast<double>(a)));
  }
  if (error.outside == 0) return;  // a bool held as another number than 1
  std::vector<std::int64_t> place(expected.sizes.size());
  std::size_t rest = first;
  for (std::size_t axis = place.size(); axis-- > 0;) {
    place[axis] = static_cast<std::int64_t>(rest) % expected.sizes[axis];
    rest /= static_cast<std::size_t>(expected.sizes[axis]);
  }
  error.worst = place;
  report.problem = fmt::format("{} of {} elements differ; the first{}: expected {}, found {}",
                               error.outside, error.count, position_text(place),
                               read_integer(expected.dtype, left.data() + first * width),
                               read_integer(actual.dtype, right.data() + first * width));
}

void compare_elements(const NamedValue& expected, const HostTensor& left, const HostTensor& right,
                      const CompareOptions& options, ValueReport& report) {
  const double scale = typical_magnitude(left);
  report.tolerance = tolerance_for(expected, left.dtype, scale, options);
  report.error = measure_error(left, right, report.tolerance, options.signed_zeros);
  report.error.scale = scale;
  const ErrorMeasure& error = report.error;
  const std::string place = fmt::format("{}: expected {}, found {}", position_text(error.worst),
                                        number_text(error.expected), number_text(error.actual));
  if (error.misplaced != 0) {
    report.problem = fmt::format(
        "{} of {} elements are NaN, infinite or a zero of another sign on one side alone; the "
        "first{}",
        error.misplaced, error.count, place);
  } else if (error.outside != 0) {
    report.is_numeric = true;
    report.problem = fmt::format("{} of {} elements are outside the tolerance; the worst{}",
                                 error.outside, error.count, place);
  }
}

bool has_non_finite(const HostTensor& tensor) {
  const Bytes bytes = contiguous_bytes(tensor);
  const ScalarType part = to_real(tensor.dtype);
  const std::size_t width = element_size(part);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    double number = 0;
    read_numbers(part, bytes.data() + at, std::span(&number, 1));
    if (!std::isfinite(number)) return true;
  }
  return false;
}

/// What holds for every draw of random numbers.
void compare_random(const HostTensor& expected, const HostTensor& actual, ValueReport& report) {
  report.note =
      "depends on random numbers that are drawn otherwise: not compared element by element";
  if (is_exact(expected.dtype)) return;
  const bool left = has_non_finite(expected);
  const bool right = has_non_finite(actual);
  if (left != right) {
    report.problem =
        right ? "has NaN or infinities, expected none" : "has no NaN or infinity, expected some";
  }
}

void compare_tensors(const NamedValue& expected, const NamedValue& actual, const HostTensor& left,
                     const HostTensor& right, const CompareOptions& options, ValueReport& report) {
  if (left.dtype != right.dtype || left.sizes != right.sizes) {
    report.problem = fmt::format("expected {}, found {}", left.type_text(), right.type_text());
    return;
  }
  if (expected.is_undefined) {
    report.note = undefined_note;
  } else if (expected.is_random || actual.is_random) {
    compare_random(left, right, report);
  } else if (is_exact(left.dtype)) {
    compare_integers(left, right, report);
  } else {
    compare_elements(expected, left, right, options, report);
  }
  if (report.problem.empty() && options.strides && left.element_count() != 0 &&
      left.strides != right.strides) {
    report.problem = fmt::format("expected strides [{}], found [{}]", fmt::join(left.strides, ", "),
                                 fmt::join(right.strides, ", "));
  }
}

/// A number that a program returns comes out of a tensor or of arithmetic on sizes; export does not
/// say which, so it gets the tolerance of float32.
HostTensor as_tensor(double number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return contiguous_tensor(ScalarType::float64, {}, std::move(bytes));
}

std::string scalar_text(const HostValue& value) {
  struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool held) const { return held ? "True" : "False"; }
    std::string operator()(std::int64_t held) const { return fmt::format("{}", held); }
    std::string operator()(double held) const { return number_text(held); }
    std::string operator()(std::complex<double> held) const {
      return fmt::format("({}+{}j)", number_text(held.real()), number_text(held.imag()));
    }
    std::string operator()(const std::string& held) const { return fmt::format("'{}'", held); }
    std::string operator()(const HostTensor& held) const { return held.type_text(); }
    std::string operator()(const HostSequence&) const { return "a container"; }
  };
  return std::visit(Text(), value.content);
}

void compare_floats(const NamedValue& expected, double left, double right,
                    const CompareOptions& options, ValueReport& report) {
  const double scale = std::isfinite(left) ? std::abs(left) : 0;
  report.tolerance = tolerance_for(expected, ScalarType::float32, scale, options);
  report.error =
      measure_error(as_tensor(left), as_tensor(right), report.tolerance, options.signed_zeros);
  if (report.error.misplaced != 0 || report.error.outside != 0)
    report.problem = fmt::format("expected {}, found {}", number_text(left), number_text(right));
}

void compare_scalars(const NamedValue& expected, const NamedValue& actual,
                     const CompareOptions& options, ValueReport& report) {
  const HostValue& left = expected.value;
  const HostValue& right = actual.value;
  if (left.content.index() != right.content.index()) {
    report.problem = fmt::format("expected {}, found {}", left.type_text(), right.type_text());
    return;
  }
  if (expected.is_undefined) {
    report.note = undefined_note;
  } else if (expected.is_random || actual.is_random) {
    report.note = "depends on random numbers that are drawn otherwise: not compared";
  } else if (const double* number = std::get_if<double>(&left.content)) {
    compare_floats(expected, *number, std::get<double>(right.content), options, report);
  } else {
    const std::string wanted = scalar_text(left);
    const std::string found = scalar_text(right);
    if (wanted != found) report.problem = fmt::format("expected {}, found {}", wanted, found);
  }
}

/// Which of the things with storage share it: of inputs and then values the first one with the
/// same storage.
class StorageGroups {
 public:
  explicit StorageGroups(const RunValues& run) {
    for (std::size_t index = 0; index < run.inputs.size(); ++index)
      add(run.inputs[index], fmt::format("i{}", index), fmt::format("input {}", index));
    inputs_ = members_.size();
    for (const NamedValue& value : run.values) add(value.value, value.place(), value.text());
  }
  struct Member {
    std::string place;  ///< `NamedValue::place`, the same in both runs
    std::string text;
    std::size_t first = 0;  ///< in the group
  };
  /// The first of those before it that share storage with a value, or null.
  [[nodiscard]] const Member* shared_by(std::size_t value) const {
    const std::size_t index = inputs_ + value;
    const std::size_t first = members_[index].first;
    return first == index ? nullptr : &members_[first];
  }
  /// Whether a value and what stands at a place share storage.
  [[nodiscard]] bool share(std::size_t value, const std::string& place) const {
    const auto other = by_place_.find(place);
    return other != by_place_.end() &&
           members_[other->second].first == members_[inputs_ + value].first;
  }

 private:
  void add(const HostValue& value, std::string place, std::string text) {
    const std::size_t here = members_.size();
    std::size_t first = here;
    if (const HostTensor* tensor = value.tensor();
        tensor != nullptr && tensor->element_count() != 0)
      first = by_storage_.emplace(tensor->storage.data(), here).first->second;
    by_place_.emplace(place, here);
    members_.push_back({std::move(place), std::move(text), first});
  }

  tsl::robin_map<const std::byte*, std::size_t> by_storage_;
  StringMap<std::size_t> by_place_;
  std::vector<Member> members_;
  std::size_t inputs_ = 0;
};

/// A value of each run, by index, that stand in the same place.
struct Pair {
  std::size_t expected;
  std::size_t actual;
};

void compare_aliasing(const StorageGroups& expected_groups, const StorageGroups& actual_groups,
                      Pair pair, bool may_unshare, ValueReport& report) {
  if (!report.problem.empty()) return;
  const StorageGroups::Member* expected = expected_groups.shared_by(pair.expected);
  const StorageGroups::Member* actual = actual_groups.shared_by(pair.actual);
  const bool is_same = expected != nullptr && actual != nullptr
                           ? expected->place == actual->place
                           : expected == nullptr && actual == nullptr;
  if (is_same) return;
  if (may_unshare && (actual == nullptr || expected_groups.share(pair.expected, actual->place)))
    return;
  if (expected == nullptr) {
    report.problem =
        fmt::format("shares storage with {}, expected storage of its own", actual->text);
  } else if (actual == nullptr) {
    report.problem =
        fmt::format("has storage of its own, expected to share that of {}", expected->text);
  } else {
    report.problem = fmt::format("shares storage with {}, expected to share that of {}",
                                 actual->text, expected->text);
  }
}

/// Finds the value of one run that stands where a value of the other does.
class ValueIndex {
 public:
  explicit ValueIndex(const RunValues& run) : run_(run) {
    for (std::size_t index = 0; index < run.values.size(); ++index)
      by_place_.emplace(run.values[index].place(), index);
  }
  /// Null where the run has no such value.
  [[nodiscard]] const NamedValue* find(const NamedValue& value) const {
    const auto found = by_place_.find(value.place());
    return found == by_place_.end() ? nullptr : &run_.values[found->second];
  }

 private:
  const RunValues& run_;
  StringMap<std::size_t> by_place_;
};

std::size_t count_outputs(const RunValues& run) {
  return static_cast<std::size_t>(std::ranges::count_if(
      run.values, [](const NamedValue& value) { return value.role == NamedValue::Role::output; }));
}

bool is_as_near(const ErrorMeasure& actual, const ErrorMeasure& expected, double floor) {
  return actual.misplaced == expected.misplaced &&
         actual.rms <= reference_slack * expected.rms + floor &&
         actual.max_abs <= reference_slack * expected.max_abs + floor;
}

/// An input that only one side says it may write to: the other's is as it was given. What a buffer
/// of the other side holds is not told here (`complete_state`).
void compare_unlisted(const NamedValue& value, const RunValues& other_side, bool is_actual,
                      const CompareOptions& options, CompareReport& report) {
  if (value.role != NamedValue::Role::input || value.position >= other_side.inputs.size()) return;
  NamedValue other = value;
  other.value = other_side.inputs[value.position];
  report.values.push_back(is_actual ? compare_value(other, value, options)
                                    : compare_value(value, other, options));
}

}  // namespace

std::string NamedValue::text() const {
  const std::string named = name.empty() ? std::string() : fmt::format(" ({})", name);
  switch (role) {
    case Role::output:
      return fmt::format("output {}{}", position, named);
    case Role::input:
      return fmt::format("input {}{} after the run", position, named);
    case Role::buffer:
      return fmt::format("buffer {} after the run", name);
  }
  return name;
}

std::string NamedValue::place() const {
  if (role == Role::buffer) return "b" + name;
  return fmt::format("{}{}", role == Role::input ? 'i' : 'o', position);
}

ValueReport compare_value(const NamedValue& expected, const NamedValue& actual,
                          const CompareOptions& options) {
  ValueReport report;
  report.what = expected.text();
  report.type = expected.value.type_text();
  const HostTensor* left = expected.value.tensor();
  const HostTensor* right = actual.value.tensor();
  if (left != nullptr && right != nullptr) {
    compare_tensors(expected, actual, *left, *right, options, report);
  } else {
    compare_scalars(expected, actual, options, report);
  }
  return report;
}

CompareReport compare(const RunValues& expected, const RunValues& actual,
                      const CompareOptions& options) {
  CompareReport report;
  const std::size_t wanted = count_outputs(expected);
  const std::size_t found = count_outputs(actual);
  if (wanted != found) {
    report.problem = fmt::format("{} outputs, expected {}", found, wanted);
    return report;
  }
  const ValueIndex others(actual);
  const StorageGroups expected_groups(expected);
  const StorageGroups actual_groups(actual);
  for (std::size_t index = 0; index < expected.values.size(); ++index) {
    const NamedValue& value = expected.values[index];
    const NamedValue* other = others.find(value);
    if (other == nullptr) {
      compare_unlisted(value, actual, false, options, report);
      continue;
    }
    ValueReport& verdict = report.values.emplace_back(compare_value(value, *other, options));
    if (options.aliasing) {
      const auto place = static_cast<std::size_t>(other - actual.values.data());
      compare_aliasing(expected_groups, actual_groups, {index, place}, options.may_unshare,
                       verdict);
    }
  }
  const ValueIndex originals(expected);
  for (const NamedValue& value : actual.values) {
    if (originals.find(value) == nullptr) compare_unlisted(value, expected, true, options, report);
  }
  return report;
}

void judge_by_reference(CompareReport& report, const RunValues& expected, const RunValues& actual,
                        const RunValues& reference) {
  const ValueIndex others(actual);
  const ValueIndex references(reference);
  StringMap<std::size_t> originals;
  for (std::size_t index = 0; index < expected.values.size(); ++index)
    originals.emplace(expected.values[index].text(), index);
  for (ValueReport& verdict : report.values) {
    if (!verdict.is_numeric) continue;
    const auto place = originals.find(verdict.what);
    if (place == originals.end()) continue;
    const NamedValue* original = &expected.values[place->second];
    const NamedValue* found = others.find(*original);
    const NamedValue* exact = references.find(*original);
    if (found == nullptr || exact == nullptr || exact->value.tensor() == nullptr) continue;
    const HostTensor& precise = *exact->value.tensor();
    const HostTensor* of_original = original->value.tensor();
    const HostTensor* of_other = found->value.tensor();
    if (of_original == nullptr || of_other == nullptr || precise.sizes != of_original->sizes ||
        is_exact(precise.dtype))
      continue;
    const ErrorMeasure before = measure_error(precise, *of_original, {}, false);
    const ErrorMeasure after = measure_error(precise, *of_other, {}, false);
    verdict.note = fmt::format(
        "against a run of the original in float64 the original is off by {:.2g} at most ({:.2g} "
        "rms), "
        "the other by {:.2g} ({:.2g} rms)",
        before.max_abs, before.rms, after.max_abs, after.rms);
    if (is_as_near(after, before, verdict.tolerance.absolute)) {
      verdict.problem.clear();
      verdict.is_numeric = false;
    }
  }
}

std::string ValueReport::str() const {
  std::string text = fmt::format("{}: {}: ", what, type);
  if (!problem.empty()) {
    text += problem;
  } else if (error.count != 0 && error.max_abs == 0 && note.empty()) {
    text += "equal in every bit that counts";
  } else {
    text += note.empty() && error.count == 0 ? "equal" : "equal within the tolerance";
  }
  if (error.max_abs != 0) {
    text += fmt::format("; largest error {:.3g} absolute, {:.3g} relative", error.max_abs,
                        error.max_rel);
    if (error.max_ulp != 0) text += fmt::format(", {:.3g} units in the last place", error.max_ulp);
  }
  if (tolerance.relative != 0 || tolerance.absolute != 0) {
    text += fmt::format("; tolerance {:.3g} relative + {:.3g} absolute", tolerance.relative,
                        tolerance.absolute);
  }
  if (!note.empty()) text += "; " + note;
  return text;
}

bool CompareReport::is_only_numeric() const {
  return problem.empty() && std::ranges::all_of(values, [](const ValueReport& value) {
           return value.is_equal() || value.is_numeric;
         });
}

const ValueReport* CompareReport::first_departure() const {
  const auto found =
      std::ranges::find_if(values, [](const ValueReport& value) { return !value.is_equal(); });
  return found == values.end() ? nullptr : &*found;
}

std::string CompareReport::summary() const {
  if (!problem.empty()) return problem;
  const ValueReport* departure = first_departure();
  return departure == nullptr ? fmt::format("{} values are equal", values.size())
                              : departure->str();
}

std::string CompareReport::str() const {
  std::string text;
  if (!problem.empty()) text += problem + "\n";
  for (const ValueReport& value : values) text += value.str() + "\n";
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace winze
