// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "winze/torch/host_value.h"
#include "winze/torch/tolerance.h"

namespace winze {

/// What is compared, and how strictly.
struct CompareOptions {
  std::optional<double> rtol;  ///< relative tolerance of floating-point values
  std::optional<double> atol;  ///< absolute tolerance; unset, with `rtol` set: `rtol * scale`
  bool strides = false;        ///< strides have to be equal too
  bool signed_zeros = false;   ///< -0.0 and 0.0 differ
  bool aliasing = true;        ///< which values share storage has to be equal
  bool may_unshare = false;    ///< but values that shared it may have storage of their own
};

/// A value that a run gave back or changed.
struct NamedValue {
  enum class Role : std::uint8_t { output, input, buffer };
  Role role = Role::output;
  std::uint32_t position = 0;  ///< among the outputs or inputs; buffers are told apart by name
  std::string name;            ///< in the graph, or of the buffer
  HostValue value;
  double depth = 1;  ///< roundings on the way to it (`RoundingDepths`)
  /// Depends on random numbers that the other side does not draw in the same order: only facts that
  /// hold for every draw are compared.
  bool is_random = false;
  /// Of the expected side: depends on memory that nothing wrote, as `empty` gives it. Only kind,
  /// dtype, shape and strides are compared.
  bool is_undefined = false;

  /// `output 0 (add_3)`, `input 1 (x) after the run`, `buffer bn.running_mean after the run`.
  [[nodiscard]] std::string text() const;
  /// What tells it from the other values of a run and is the same in another program: `o0`, `i1`,
  /// `bbn.running_mean`.
  [[nodiscard]] std::string place() const;
};

/// What one run left behind.
struct RunValues {
  /// Outputs in order, then the inputs and buffers that the program may write to.
  std::vector<NamedValue> values;
  /// All inputs as they are after the run, to tell which values share storage with them.
  std::vector<HostValue> inputs;
};

/// How two tensors differ, over the elements that are finite in both.
struct ErrorMeasure {
  double max_abs = 0;
  double max_rel = 0;         ///< over elements where the expected one is not 0
  double max_ulp = 0;         ///< in units in the last place of the expected element
  double rms = 0;             ///< root of the mean square of the difference
  double scale = 0;           ///< typical magnitude of the expected elements (`typical_magnitude`)
  std::uint64_t count = 0;    ///< elements compared
  std::uint64_t outside = 0;  ///< elements outside the tolerance
  std::uint64_t misplaced =
      0;  ///< elements that are NaN or infinite, or 0 of one sign, on one side alone
  std::vector<std::int64_t>
      worst;            ///< index of the first misplaced element, else of the one furthest off
  double expected = 0;  ///< that element
  double actual = 0;
};

/// The verdict on one value.
struct ValueReport {
  std::string what;     ///< `NamedValue::text`
  std::string type;     ///< `tensor f32[2, 3]`
  std::string problem;  ///< why the two differ; empty where they are the same
  /// The problem is that finite elements are further apart than the tolerance.
  bool is_numeric = false;
  Tolerance tolerance;  ///< that was applied; zero for exact comparisons
  ErrorMeasure error;   ///< of tensors and floats of equal shape and dtype
  std::string note;     ///< how it was judged, where not element by element

  [[nodiscard]] bool is_equal() const { return problem.empty(); }
  /// One line: what, type, verdict, errors and tolerance.
  [[nodiscard]] std::string str() const;
};

/// The verdict on one pair of runs.
struct CompareReport {
  std::vector<ValueReport> values;  ///< outputs first, then inputs and buffers
  std::string problem;              ///< of the runs as wholes: another number of outputs
  std::vector<std::string> notes;   ///< what was not compared, and why

  [[nodiscard]] bool is_equal() const { return problem.empty() && first_departure() == nullptr; }
  /// True where all that differs is finite numbers: a run in float64 can judge that.
  [[nodiscard]] bool is_only_numeric() const;
  /// The first value that differs, or null.
  [[nodiscard]] const ValueReport* first_departure() const;
  /// The first departure in one line, or that there is none.
  [[nodiscard]] std::string summary() const;
  /// All values, one a line, and the notes.
  [[nodiscard]] std::string str() const;
};

/// Compares what two runs on the same inputs left behind, value by value: number and kind of the
/// values, dtype, shape, elements within the tolerances, NaN and infinities in the same places,
/// which values share storage with inputs and with each other. Integers and bools have to be equal
/// bit for bit. An input that only one side may write to is compared with the other side's; such a
/// buffer only after `complete_state` has added it there. O(elements).
[[nodiscard]] CompareReport compare(const RunValues& expected, const RunValues& actual,
                                    const CompareOptions& options = {});

/// Compares two values alone, without aliasing.
[[nodiscard]] ValueReport compare_value(const NamedValue& expected, const NamedValue& actual,
                                        const CompareOptions& options = {});

/// A value may be so many times as far from the float64 run as the original is.
inline constexpr double reference_slack = 4;

/// Judges values whose direct comparison failed on numbers by a run of the original in float64: a
/// value passes where neither the largest error nor the root mean square of the error of `actual`
/// against `reference` is more than `reference_slack` times that of `expected`, plus the tolerance.
/// Says so in the value's note.
void judge_by_reference(CompareReport& report, const RunValues& expected, const RunValues& actual,
                        const RunValues& reference);

/// The median magnitude of the elements that are finite, not 0, and no fill value (below 1/16 of
/// the largest number of the dtype); 0 where there are none. Looks at no more than 65,536 elements,
/// evenly spread.
[[nodiscard]] double typical_magnitude(const HostTensor& tensor);

/// The error of `actual` against `expected`, of equal shape and of floating-point or complex dtypes
/// that need not be equal, with the tolerance applied; ulp are those of `actual`'s dtype.
[[nodiscard]] ErrorMeasure measure_error(const HostTensor& expected, const HostTensor& actual,
                                         const Tolerance& tolerance, bool signed_zeros);

}  // namespace winze
