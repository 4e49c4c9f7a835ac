// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/ivalue.h>

#include "winze/ir/graph.h"
#include "winze/program/program.h"

namespace winze {

/// Told of each call of a run, those of nested graphs included. Must not keep `results` without
/// copying: they are moved on after the call.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;
  /// Before the call; `arguments` are in schema position.
  virtual void before_call(Node node, std::span<const c10::IValue> arguments) {
    static_cast<void>(node);
    static_cast<void>(arguments);
  }
  /// After it; one result for each value of the node.
  virtual void after_call(Node node, std::span<const c10::IValue> results) = 0;
};

class ResultKeys;
class ResultStore;

/// What is put where operators such as `empty` leave memory as it was: one of two numbers of which
/// neither is the other (0 and 1 for integers), so that runs can be repeated, and so that two runs
/// tell what depends on such memory.
enum class UninitializedFill : std::uint8_t { none, first, second };

struct ExecutorOptions {
  int threads = 0;             ///< for kernels, of the whole process; 0: leave as it is
  bool inference_mode = true;  ///< run in c10::InferenceMode; else without gradients
  /// What the random generators are set to before each run; unset: leave them.
  std::optional<std::uint64_t> seed;
  /// Check shapes, dtypes and devices of inputs and the ranges of symbols before each run.
  bool check_inputs = true;
  /// Make numbers up for weights whose bytes are not at hand, the same in each run.
  bool make_up_weights = false;
  UninitializedFill fill = UninitializedFill::none;
  /// Lets runs take results of earlier runs, of this program or others, from a store; must outlive
  /// the executor.
  ResultKeys* keys = nullptr;
  /// Told of each call; must outlive the executor. Null: nobody, which costs nothing.
  RunObserver* observer = nullptr;
};

/// One input that a run takes, in the order of the signature.
struct ExecutorInput {
  std::string name;             ///< of the placeholder
  Value value;                  ///< its placeholder, whose meta says what is wanted
  bool is_constant = false;     ///< export fixed it: `run` takes that value alone
  c10::IValue constant;         ///< the fixed value: None, an int, float, bool or string
  bool may_be_written = false;  ///< the program may write to it
};

/// One value that a run returns, in the order of the signature.
struct ExecutorOutput {
  std::string name;  ///< of the returned value; empty for constants
  OutputKind kind = OutputKind::user_output;
};

/// A parameter, buffer or constant by its name in the module.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// What a run gave.
struct ExecutorResult {
  /// What the program returns: user outputs, losses and gradients, in order. Tensors, numbers,
  /// strings, None.
  std::vector<c10::IValue> outputs;
  /// The inputs as they are after the run, in order: those given, written to where the program
  /// writes to them.
  std::vector<c10::IValue> inputs;
  /// Parameters, buffers and constants that the program may write to, as they are after the run.
  std::vector<NamedTensor> state;
};

/// Loads a shared library that registers operators. \throws Error where it cannot be loaded.
void load_operator_library(const std::string& path);

/// A program made ready to run over libtorch's dispatcher: a flat list of boxed calls whose
/// operands are registers and constants, each value freed after its last use.
///
/// Weights are the program's bytes themselves, in the mapped file, unless the program writes to
/// them: those are copied for each run, so that every run starts from the program's own state. The
/// program must outlive the executor and stay as it is.
///
/// For one thread at a time.
class Executor {
 public:
  /// \throws Error that names the node where this libtorch has no such operator, or none that takes
  /// these arguments; where the bytes of a weight are not at hand.
  explicit Executor(const ExportedProgram& program, ExecutorOptions options = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  [[nodiscard]] const ExportedProgram& program() const;
  [[nodiscard]] const std::vector<ExecutorInput>& inputs() const;
  [[nodiscard]] const std::vector<ExecutorOutput>& outputs() const;

  /// Runs the program on flat inputs in the order of `inputs()`. They are written to where the
  /// program does so, as PyTorch's would be.
  ///
  /// \throws Error: wrong number, shape, dtype or device of inputs, a size outside a symbol's
  /// range, or an exception in a kernel, with the node and the user's source line.
  [[nodiscard]] ExecutorResult run(std::vector<c10::IValue> inputs);
  /// The same, but calls whose results the store has are not made (`ExecutorOptions::keys`).
  /// `inputs_number` tells the inputs from others that the store knows. An observer is not told.
  [[nodiscard]] ExecutorResult run(std::vector<c10::IValue> inputs, ResultStore& store,
                                   std::size_t inputs_number);

  /// Whether the program calls operators that leave memory as it was, such as `empty`.
  [[nodiscard]] bool has_uninitialized() const;
  /// The fill of further runs.
  void set_fill(UninitializedFill fill);
  /// Calls of the program's own graph, and how many of them the last run did not make.
  [[nodiscard]] std::size_t call_count() const;
  [[nodiscard]] std::size_t calls_left_out() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace winze
