// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "winze/torch/host_value.h"
#include "winze/torch/tolerance.h"

namespace winze {

/// What is compared, and how strictly.
struct CompareOptions {
  std::optional<double> rtol;  ///< relative tolerance of floating-point values; unset: `tolerance`
  std::optional<double> atol;  ///< absolute tolerance; unset: `tolerance`
  bool strides = false;        ///< strides have to be equal too
  bool signed_zeros = false;   ///< -0.0 and 0.0 differ
  bool aliasing = true;        ///< which values share storage has to be equal
};

/// A value that a run gave back or changed.
struct NamedValue {
  enum class Role : std::uint8_t { output, input, buffer };
  Role role = Role::output;
  std::uint32_t position = 0;  ///< among the outputs or inputs; buffers are told apart by name
  std::string name;            ///< in the graph, or of the buffer
  HostValue value;
  /// How many roundings a value on the way to this one may have seen (`RoundingDepths`).
  double depth = 1;
  /// Depends on random numbers that the other side does not draw in the same order: only facts that
  /// hold for every draw are compared.
  bool is_random = false;

  /// `output 0 (add_3)`, `input 1 (x) after the run`, `buffer bn.running_mean`.
  [[nodiscard]] std::string text() const;
};

/// What one run left behind: outputs, then the inputs and buffers that the signature or the other
/// side's signature says are written.
struct RunValues {
  std::vector<NamedValue> values;
  /// All inputs as they were given, to tell which values alias them. Matched by position.
  std::vector<HostValue> inputs;
};

/// How two tensors differ, over the elements that are finite in both.
struct ErrorMeasure {
  double max_abs = 0;
  double max_rel = 0;               ///< over elements where the expected one is not 0
  double max_ulp = 0;               ///< in units in the last place of the expected element
  double rms = 0;                   ///< root of the mean square of the difference
  std::uint64_t outside = 0;        ///< elements outside the tolerance, misplaced NaN among them
  std::uint64_t count = 0;          ///< elements compared
  std::vector<std::int64_t> worst;  ///< index of the element that is furthest outside, or off
  std::string expected;             ///< that element
  std::string actual;
};

/// The verdict on one value.
struct ValueReport {
  std::string what;         ///< `NamedValue::text`
  std::string problem;      ///< why the two differ; empty where they are the same
  bool is_numeric = false;  ///< the problem is one of element values, not of kind, shape or dtype
  Tolerance tolerance;      ///< that was applied; zero for exact comparisons
  ErrorMeasure error;
  std::string note;  ///< how it was judged, where not directly

  [[nodiscard]] bool is_equal() const { return problem.empty(); }
};

/// The verdict on one pair of runs.
struct CompareReport {
  std::vector<ValueReport> values;  ///< outputs first, then inputs and buffers
  std::vector<std::string> notes;   ///< what was not compared, and why

  [[nodiscard]] bool is_equal() const { return first_departure() == nullptr; }
  /// The first value that differs, or null.
  [[nodiscard]] const ValueReport* first_departure() const;
  /// Largest error among the values, in units of their tolerance.
  [[nodiscard]] std::string str() const;
};

/// Compares what two runs on the same inputs left behind, value by value: number and kind of the
/// values, dtype, shape, elements within the tolerances, NaN and infinities in the same places,
/// which values share storage with inputs and with each other. Integers and bools have to be equal
/// bit for bit. Throws nothing. O(elements).
[[nodiscard]] CompareReport compare(const RunValues& expected, const RunValues& actual,
                                    const CompareOptions& options = {});

/// Compares two values alone, without aliasing.
[[nodiscard]] ValueReport compare_value(const NamedValue& expected, const NamedValue& actual,
                                        const CompareOptions& options = {});

/// Judges values whose direct comparison failed on numbers by a run of the original in float64,
/// `reference`: a value passes where the actual one is no further from the reference than a few
/// times as far as the expected one is (`reference_slack`). Says so in the notes.
void judge_by_reference(CompareReport& report, const RunValues& expected, const RunValues& actual,
                        const RunValues& reference);

}  // namespace winze
