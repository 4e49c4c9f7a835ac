// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "winze/torch/element.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

HostTensor tensor(std::vector<std::int64_t> sizes, const std::vector<double>& numbers,
                  ScalarType dtype = ScalarType::float32) {
  const std::size_t width = element_size(to_real(dtype));
  std::string bytes(numbers.size() * width, '\0');
  write_numbers(dtype, numbers, reinterpret_cast<std::byte*>(bytes.data()));
  return contiguous_tensor(dtype, std::move(sizes), std::move(bytes));
}

NamedValue output(HostValue value, std::uint32_t position = 0) {
  NamedValue named;
  named.position = position;
  named.name = "y";
  named.value = std::move(value);
  return named;
}

ValueReport report_of(HostValue expected, HostValue actual, const CompareOptions& options = {}) {
  return compare_value(output(std::move(expected)), output(std::move(actual)), options);
}

TEST(Compare, EqualTensorsAreEqual) {
  EXPECT_TRUE(report_of(tensor({2}, {1, 2}), tensor({2}, {1, 2})).is_equal());
}

TEST(Compare, NoiseOfTheDtypeIsWithinTheTolerance) {
  const ValueReport report = report_of(tensor({2}, {1, 2}), tensor({2}, {1 + 0x1p-23, 2}));
  EXPECT_TRUE(report.is_equal()) << report.problem;
  EXPECT_EQ(report.error.max_abs, 0x1p-23);
  EXPECT_EQ(report.error.max_rel, 0x1p-23);
  EXPECT_EQ(report.error.max_ulp, 1);
}

TEST(Compare, NamesTheElementThatIsFurthestOff) {
  const ValueReport report =
      report_of(tensor({2, 2}, {1, 2, 3, 4}), tensor({2, 2}, {1, 2.1, 3.5, 4}));
  EXPECT_EQ(
      report.problem,
      "2 of 4 elements are outside the tolerance; the worst at [1, 0]: expected 3, found 3.5");
  EXPECT_TRUE(report.is_numeric);
}

TEST(Compare, TheToleranceGrowsWithTheRootOfTheDepth) {
  NamedValue expected = output(tensor({1}, {1}));
  const NamedValue actual = output(tensor({1}, {1 + 20 * 0x1p-23}));
  EXPECT_FALSE(compare_value(expected, actual).is_equal());
  expected.depth = 100;  // 4 * eps * 10
  EXPECT_TRUE(compare_value(expected, actual).is_equal());
}

TEST(Compare, TolerancesThatAreGivenReplaceTheDefaults) {
  const HostTensor expected = tensor({1}, {1});
  const HostTensor actual = tensor({1}, {1.01});
  EXPECT_FALSE(report_of(expected, actual).is_equal());
  EXPECT_TRUE(report_of(expected, actual, {.rtol = 0.02}).is_equal());
  EXPECT_TRUE(report_of(expected, actual, {.atol = 0.02}).is_equal());
  EXPECT_FALSE(
      report_of(tensor({1}, {1}), tensor({1}, {1 + 0x1p-23}), {.rtol = 0, .atol = 0}).is_equal());
}

TEST(Compare, IntegersAndBoolsHaveToBeEqual) {
  const ValueReport report = report_of(tensor({3}, {1, 2, 3}, ScalarType::int64),
                                       tensor({3}, {1, 2, 4}, ScalarType::int64));
  EXPECT_EQ(report.problem, "1 of 3 elements differ; the first at [2]: expected 3, found 4");
  EXPECT_FALSE(report.is_numeric);
  EXPECT_FALSE(report_of(tensor({1}, {1}, ScalarType::bool_), tensor({1}, {0}, ScalarType::bool_))
                   .is_equal());
}

TEST(Compare, LargeIntegersAreComparedExactly) {
  HostTensor a = contiguous_tensor(ScalarType::int64, {1}, std::string(8, '\x7F'));
  std::string bytes(8, '\x7F');
  bytes[0] = '\x7E';
  EXPECT_FALSE(report_of(a, contiguous_tensor(ScalarType::int64, {1}, bytes)).is_equal());
}

TEST(Compare, NanAndInfinitiesHaveToBeInTheSamePlaces) {
  EXPECT_TRUE(report_of(tensor({2}, {nan, infinity}), tensor({2}, {nan, infinity})).is_equal());
  EXPECT_THAT(report_of(tensor({2}, {1, nan}), tensor({2}, {1, 2})).problem,
              HasSubstr("at [1]: expected nan, found 2"));
  EXPECT_FALSE(report_of(tensor({1}, {infinity}), tensor({1}, {-infinity})).is_equal());
  EXPECT_FALSE(report_of(tensor({1}, {infinity}), tensor({1}, {3e38})).is_equal());
}

TEST(Compare, SignedZerosDifferOnRequest) {
  const HostTensor zero = tensor({1}, {0});
  const HostTensor negative = tensor({1}, {-0.0});
  EXPECT_TRUE(report_of(zero, negative).is_equal());
  EXPECT_FALSE(report_of(zero, negative, {.signed_zeros = true}).is_equal());
}

TEST(Compare, DtypeAndShapeHaveToBeEqual) {
  EXPECT_EQ(report_of(tensor({2}, {1, 2}), tensor({2}, {1, 2}, ScalarType::float64)).problem,
            "expected f32[2], found f64[2]");
  EXPECT_EQ(report_of(tensor({2}, {1, 2}), tensor({1, 2}, {1, 2})).problem,
            "expected f32[2], found f32[1, 2]");
  EXPECT_EQ(report_of(tensor({}, {1}), HostValue()).problem, "expected tensor f32[], found None");
}

TEST(Compare, StridesAreComparedOnRequest) {
  const HostTensor rows = tensor({2, 2}, {1, 2, 3, 4});
  HostTensor columns = tensor({2, 2}, {1, 3, 2, 4});
  columns.strides = {1, 2};
  EXPECT_TRUE(report_of(rows, columns).is_equal());
  EXPECT_EQ(report_of(rows, columns, {.strides = true}).problem,
            "expected strides [2, 1], found [1, 2]");
}

TEST(Compare, ComplexNumbersAreMeasuredByTheirMagnitude) {
  const HostTensor expected = tensor({1}, {1, 1e-9}, ScalarType::complex64);
  EXPECT_TRUE(report_of(expected, tensor({1}, {1, 2e-9}, ScalarType::complex64)).is_equal());
  EXPECT_FALSE(report_of(expected, tensor({1}, {1, 1e-3}, ScalarType::complex64)).is_equal());
}

TEST(Compare, FillValuesDoNotWidenTheTolerance) {
  const double lowest = -largest_of(ScalarType::float32);
  EXPECT_FALSE(
      report_of(tensor({3}, {lowest, lowest, 1}), tensor({3}, {lowest, lowest, 1.01})).is_equal());
}

TEST(Compare, ScalarsAreComparedByKindAndValue) {
  EXPECT_TRUE(report_of(std::int64_t{3}, std::int64_t{3}).is_equal());
  EXPECT_EQ(report_of(std::int64_t{3}, std::int64_t{4}).problem, "expected 3, found 4");
  EXPECT_EQ(report_of(true, std::int64_t{1}).problem, "expected bool, found int");
  EXPECT_TRUE(report_of(1.0, 1.0 + 1e-8).is_equal());
  EXPECT_FALSE(report_of(1.0, 1.01).is_equal());
  EXPECT_TRUE(report_of(HostValue(), HostValue()).is_equal());
}

TEST(Compare, EmptyTensorsAreEqual) {
  EXPECT_TRUE(report_of(tensor({0, 3}, {}), tensor({0, 3}, {})).is_equal());
  EXPECT_FALSE(report_of(tensor({0, 3}, {}), tensor({0, 4}, {})).is_equal());
}

RunValues run_of(std::vector<NamedValue> values, std::vector<HostValue> inputs = {}) {
  return {std::move(values), std::move(inputs)};
}

TEST(Compare, TheNumberOfOutputsHasToBeEqual) {
  const CompareReport report = compare(run_of({output(tensor({1}, {1}))}),
                                       run_of({output(tensor({1}, {1})), output({}, 1)}));
  EXPECT_EQ(report.problem, "2 outputs, expected 1");
  EXPECT_FALSE(report.is_equal());
}

TEST(Compare, TellsWhichOutputsShareStorage) {
  const HostTensor x = tensor({2}, {1, 2});
  const RunValues view = run_of({output(x)}, {x});
  const RunValues copy = run_of({output(tensor({2}, {1, 2}))}, {x});
  EXPECT_EQ(compare(view, copy).first_departure()->problem,
            "has storage of its own, expected to share that of input 0");
  EXPECT_EQ(compare(copy, view).first_departure()->problem,
            "shares storage with input 0, expected storage of its own");
  EXPECT_TRUE(compare(view, view).is_equal());
  EXPECT_TRUE(compare(view, copy, {.aliasing = false}).is_equal());
}

TEST(Compare, TellsSharingApartByPlaceAndNotByName) {
  const HostTensor y = tensor({2}, {1, 2});
  NamedValue renamed = output(y);
  renamed.name = "addmm_3";
  const RunValues before = run_of({output(y), output(y, 1)}, {});
  const RunValues after = run_of({renamed, output(y, 1)}, {});
  EXPECT_TRUE(compare(before, after).is_equal());
}

TEST(Compare, MayAllowValuesToStopSharing) {
  const HostTensor x = tensor({2}, {1, 2});
  const HostTensor copy = tensor({2}, {1, 2});
  const CompareOptions options{.may_unshare = true};
  const RunValues views = run_of({output(x), output(x, 1)}, {x});
  EXPECT_TRUE(compare(views, run_of({output(copy), output(copy, 1)}, {x}), options).is_equal());
  EXPECT_TRUE(compare(views, run_of({output(x), output(copy, 1)}, {x}), options).is_equal());
  EXPECT_FALSE(compare(run_of({output(copy), output(x, 1)}, {x}), views, options).is_equal());
}

TEST(Compare, ContentThatNothingInitializedIsNotCompared) {
  NamedValue undefined = output(tensor({2}, {1, nan}));
  undefined.is_undefined = true;
  EXPECT_TRUE(compare_value(undefined, output(tensor({2}, {3, 4})), {}).is_equal());
  EXPECT_FALSE(compare_value(undefined, output(tensor({3}, {3, 4, 5})), {}).is_equal());
  EXPECT_FALSE(compare_value(output(tensor({2}, {3, 4})), undefined, {}).is_equal());
}

TEST(Compare, AnInputThatOnlyOneSideWritesIsCompared) {
  NamedValue written = output(tensor({1}, {2}));
  written.role = NamedValue::Role::input;
  const RunValues writes = run_of({written}, {tensor({1}, {2})});
  const RunValues leaves = run_of({}, {tensor({1}, {1})});
  EXPECT_FALSE(compare(writes, leaves).is_equal());
  EXPECT_FALSE(compare(leaves, writes).is_equal());
  EXPECT_THAT(compare(writes, leaves).summary(), HasSubstr("input 0 (y) after the run"));
}

TEST(Compare, NamesTheFirstDeparture) {
  const CompareReport report =
      compare(run_of({output(tensor({1}, {1}), 0), output(tensor({1}, {1}), 1),
                      output(tensor({1}, {1}), 2)}),
              run_of({output(tensor({1}, {1}), 0), output(tensor({1}, {5}), 1),
                      output(tensor({1}, {6}), 2)}));
  EXPECT_THAT(report.summary(), HasSubstr("output 1 (y): tensor f32[1]: 1 of 1 elements"));
}

TEST(Compare, RandomValuesAreComparedByWhatHoldsForEveryDraw) {
  NamedValue expected = output(tensor({2}, {1, 2}));
  NamedValue actual = output(tensor({2}, {5, 6}));
  expected.is_random = actual.is_random = true;
  EXPECT_TRUE(compare_value(expected, actual).is_equal());
  EXPECT_THAT(compare_value(expected, actual).note, HasSubstr("random"));
  actual.value = tensor({2}, {5, nan});
  EXPECT_EQ(compare_value(expected, actual).problem, "has NaN or infinities, expected none");
  actual.value = tensor({3}, {5, 6, 7});
  EXPECT_FALSE(compare_value(expected, actual).is_equal());
}

TEST(Compare, AReferenceInDoublePrecisionJudgesNumbers) {
  // The original is off by 0.05 itself: being off by 0.06 the other way is its noise.
  const RunValues original = run_of({output(tensor({2}, {1.05, 2.05}, ScalarType::bfloat16))});
  const RunValues lowered = run_of({output(tensor({2}, {0.94, 1.95}, ScalarType::bfloat16))});
  const RunValues wrong = run_of({output(tensor({2}, {1.6, 2.6}, ScalarType::bfloat16))});
  const RunValues reference = run_of({output(tensor({2}, {1, 2}, ScalarType::float64))});
  CompareReport report = compare(original, lowered);
  ASSERT_FALSE(report.is_equal());
  judge_by_reference(report, original, lowered, reference);
  EXPECT_TRUE(report.is_equal()) << report.str();
  EXPECT_THAT(report.str(), HasSubstr("in float64"));
  report = compare(original, wrong);
  judge_by_reference(report, original, wrong, reference);
  EXPECT_FALSE(report.is_equal());
}

TEST(TypicalMagnitude, IsTheMedianOfWhatIsNoFillAndNotZero) {
  EXPECT_EQ(typical_magnitude(tensor({5}, {0, 0, -3, 4, 5})), 4);
  EXPECT_EQ(typical_magnitude(tensor({3}, {0, nan, infinity})), 0);
}

TEST(DefaultTolerance, IsOfTheDtypesPrecisionAndTheDepth) {
  EXPECT_EQ(default_tolerance(ScalarType::float32, 1, 1).relative, 4 * 0x1p-23);
  EXPECT_EQ(default_tolerance(ScalarType::float32, 100, 2).absolute, 80 * 0x1p-23);
  EXPECT_EQ(default_tolerance(ScalarType::bfloat16, 1000, 1).relative, 1.0 / 32);
  EXPECT_EQ(default_tolerance(ScalarType::float8_e4m3fn, 1000, 1).relative, 0.25);
  EXPECT_EQ(default_tolerance(ScalarType::int64, 1000, 1).relative, 0);
}

}  // namespace
}  // namespace winze
