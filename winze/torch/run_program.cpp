// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/run_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "winze/support/atomic_file.h"
#include "winze/support/hash.h"
#include "winze/support/quote.h"
#include "winze/torch/calls_writer.h"
#include "winze/torch/element.h"
#include "winze/torch/executor.h"
#include "winze/torch/host_conversion.h"
#include "winze/torch/input_file.h"
#include "winze/torch/inputs.h"
#include "winze/torch/run_profile.h"

namespace winze {
namespace {

using Clock = std::chrono::steady_clock;

/// The inputs of one call, and where they are from.
struct Call {
  std::string title;
  std::vector<HostValue> values;
};

std::vector<Call> calls_of(const ExportedProgram& program, const RunRequest& request,
                           const std::function<void(std::string_view)>& say) {
  std::vector<Call> calls;
  if (!request.inputs.empty()) {
    for (InputCase& one : read_input_file(map_file(request.inputs), request.inputs, program))
      calls.push_back({std::move(one.name), std::move(one.values)});
    return calls;
  }
  if (request.symbols.empty()) {
    try {
      if (std::optional<InputCase> stored = stored_inputs(program)) {
        say("inputs: those stored in the program\n");
        calls.push_back({"", std::move(stored->values)});
        return calls;
      }
    } catch (const Error& error) {
      say(fmt::format("the inputs stored in the program are left out: {}\n",
                      error.diagnostic().message));
    }
  }
  const InputGenerator generator(program, {.seed = request.seed, .symbols = request.symbols});
  GeneratedInputs generated = generator.generate(0);
  say(generated.description + "\n");
  for (const std::string& note : generated.notes) say(note + "\n");
  calls.push_back({"", std::move(generated.values)});
  return calls;
}

RecordedCall record(const Executor& executor, const std::vector<HostValue>& inputs,
                    const RunValues& values) {
  RecordedCall call;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    call.inputs.emplace_back(executor.inputs()[i].name, inputs[i]);
  for (const NamedValue& value : values.values) {
    switch (value.role) {
      case NamedValue::Role::output:
        call.outputs.emplace_back(value.name, value.value);
        break;
      case NamedValue::Role::input:
        call.inputs_after.emplace_back(value.position, value.value);
        break;
      case NamedValue::Role::buffer:
        call.buffers_after.emplace_back(value.name, value.value);
        break;
    }
  }
  return call;
}

/// Smallest, largest and mean of what is finite.
struct Spread {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::uint64_t finite = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;

  void add(double value) {
    if (std::isnan(value)) {
      ++nans;
    } else if (std::isinf(value)) {
      ++infinities;
    } else {
      ++finite;
      sum += value;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
  }
};

Spread spread_of(ScalarType dtype, std::string_view bytes) {
  Spread spread;
  const std::size_t size = element_size(to_real(dtype));
  const std::size_t count = bytes.size() / size;
  std::vector<double> numbers(std::min<std::size_t>(count, 4096));
  for (std::size_t done = 0; done < count; done += numbers.size()) {
    numbers.resize(std::min(numbers.size(), count - done));
    const auto* from = reinterpret_cast<const std::byte*>(bytes.data()) + done * size;
    // Of complex dtypes the parts are read, two for an element.
    read_numbers(to_real(dtype), from, numbers);
    for (double number : numbers) spread.add(number);
  }
  return spread;
}

std::string tensor_summary(const HostTensor& tensor) {
  const Bytes bytes = contiguous_bytes(tensor);
  const Spread spread = spread_of(tensor.dtype, bytes.string_view());
  std::string text = tensor.type_text();
  if (spread.finite != 0) {
    text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", spread.least, spread.greatest,
                        spread.sum / static_cast<double>(spread.finite));
  }
  if (spread.nans != 0) text += fmt::format("  NaN {}", spread.nans);
  if (spread.infinities != 0) text += fmt::format("  infinite {}", spread.infinities);
  return text + fmt::format("  checksum {:016x}", hash_bytes(bytes.string_view()));
}

std::string call_text(const Call& call, const RunValues& values, double seconds) {
  std::string text;
  if (!call.title.empty()) text += call.title + ":\n";
  for (const NamedValue& value : values.values)
    text += fmt::format("{}: {}\n", value.text(), value_summary(value.value));
  if (values.values.empty()) text += "no outputs\n";
  return text + fmt::format("ran in {:.3f} ms\n", seconds * 1e3);
}

}  // namespace

std::string value_summary(const HostValue& value) {
  if (const HostTensor* tensor = value.tensor()) return tensor_summary(*tensor);
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool held) const { return held ? "True" : "False"; }
    std::string operator()(std::int64_t held) const { return fmt::format("{}", held); }
    std::string operator()(double held) const { return fmt::format("{}", held); }
    std::string operator()(const std::complex<double>& held) const {
      return fmt::format("({}+{}j)", held.real(), held.imag());
    }
    std::string operator()(const std::string& held) const { return quote(held); }
    std::string operator()(const HostTensor& held) const { return held.type_text(); }
    std::string operator()(const HostSequence& held) const { return HostValue(held).type_text(); }
  };
  return std::visit(Visitor{}, value.content);
}

std::string run_program(const ExportedProgram& program, const RunRequest& request,
                        const std::function<void(std::string_view)>& say) {
  for (const std::string& library : request.libraries) load_operator_library(library);
  const std::vector<Call> calls = calls_of(program, request, say);
  RunProfile profile;
  Executor executor(program, {.threads = request.threads,
                              .seed = request.seed,
                              .observer = request.profile ? &profile : nullptr});
  std::string text;
  std::vector<RecordedCall> recorded;
  for (const Call& call : calls) {
    std::vector<c10::IValue> inputs = to_ivalues(call.values);
    const auto memory = request.profile ? profile.count_memory() : nullptr;
    const Clock::time_point begin = Clock::now();
    const ExecutorResult result = executor.run(std::move(inputs));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const RunValues values = to_run_values(executor, result);
    text += call_text(call, values, seconds);
    if (!request.output.empty()) recorded.push_back(record(executor, call.values, values));
  }
  if (request.profile) text += profile.text();
  if (!request.output.empty()) {
    AtomicFile file(request.output);
    write_calls(recorded, file);
    file.commit();
  }
  return text;
}

}  // namespace winze
