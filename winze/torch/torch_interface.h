// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winze {

struct ExportedProgram;
class Pipeline;
struct PassManagerOptions;
struct CheckOptions;
struct CheckOutcome;

/// What `winze run` asks for.
struct RunRequest {
  std::string inputs;    ///< file with input tensors; empty: those of the program, else generated
  std::string output;    ///< file for the outputs (.npz); empty: none
  bool profile = false;  ///< list time and memory by operator
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< values of symbols
  int threads = 0;                                            ///< 0: as libtorch chooses
  std::vector<std::string> libraries;  ///< shared libraries with operators, loaded first
};

/// What `winze compare` asks for.
struct CompareRequest {
  std::string inputs;       ///< file with input tensors; empty: stored ones, then generated ones
  std::uint32_t draws = 0;  ///< of generated inputs; 0: each choice of sizes, at least three
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< values of symbols
  std::optional<double> rtol;
  std::optional<double> atol;
  bool strides = false;
  bool signed_zeros = false;
  bool aliasing = true;
  bool reference = true;  ///< judge departures by a run in float64
  bool verbose = false;   ///< a line for each value
  int threads = 0;
  std::vector<std::string> libraries;
};

struct CompareOutcome {
  bool is_equal = false;
  std::string text;  ///< what was compared, and the verdict
};

/// What commands ask of the part that links libtorch. A plain table, so that the library can be
/// loaded when it is needed (`load_torch_library`). Every function may throw Error.
struct TorchInterface {
  /// PyTorch's version that the library runs with, such as `2.13.0`.
  const char* torch_version = nullptr;
  /// Runs a program; `say` is given whole lines for people. What is returned is for standard
  /// output.
  std::string (*run)(const ExportedProgram& program, const RunRequest& request,
                     const std::function<void(std::string_view)>& say) = nullptr;
  /// Runs both on the same inputs and compares what they give.
  CompareOutcome (*compare)(const ExportedProgram& a, const ExportedProgram& b,
                            const CompareRequest& request) = nullptr;
  /// `run_checked` of check.h.
  CheckOutcome (*check)(const Pipeline& pipeline, const PassManagerOptions& manager,
                        ExportedProgram& program, const CheckOptions& options) = nullptr;
};

}  // namespace winze
