// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/executor.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include "winze/effects/alias_analysis.h"
#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"
#include "winze/torch/attributes.h"
#include "winze/torch/code.h"
#include "winze/torch/compiler.h"
#include "winze/torch/input_check.h"
#include "winze/torch/machine.h"
#include "winze/torch/native_functions.h"
#include "winze/torch/result_keys.h"
#include "winze/torch/result_store.h"
#include "winze/torch/run_plan.h"
#include "winze/torch/torch_error.h"
#include "winze/torch/vmap_functions.h"
#include "winze/torch/weight_tensors.h"

namespace winze {
namespace {

using c10::IValue;

/// Leaves the regions that a graph entered and, since a kernel failed, did not leave.
class RegionGuard {
 public:
  explicit RegionGuard(Machine& machine) : machine_(&machine), vmap_depth_(vmap_depth()) {}
  RegionGuard(const RegionGuard&) = delete;
  RegionGuard& operator=(const RegionGuard&) = delete;
  ~RegionGuard() {
    while (!machine_->autocast_states.empty()) pop_autocast(*machine_);
    leave_vmap_levels(vmap_depth_);
  }

 private:
  Machine* machine_;
  std::size_t vmap_depth_;
};

void set_seed(std::uint64_t seed) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

bool calls_uninitialized(const Code& code) {
  return std::ranges::any_of(code.instructions,
                             [](const Instruction& call) { return call.is_uninitialized; }) ||
         std::ranges::any_of(code.bodies,
                             [](const auto& body) { return calls_uninitialized(*body); });
}

}  // namespace

struct Executor::Impl {
  /// Where a placeholder's value comes from.
  struct Source {
    const Weight* weight = nullptr;  ///< null: `input`
    bool writable = false;
    std::size_t input = 0;
    std::string name;  ///< of the weight
  };
  /// A value that is written back after the run.
  struct WriteBack {
    std::size_t output;
    std::size_t placeholder;
  };

  Impl(const ExportedProgram& exported, ExecutorOptions wanted)
      : program(&exported),
        options(wanted),
        weights(exported, wanted.make_up_weights),
        machine(options.observer) {
    const AliasAnalysis aliases(exported);
    add_placeholders(aliases);
    add_outputs();
    code = compile(*exported.graph);
    machine.fill = options.fill;
    if (options.keys != nullptr) keys = options.keys->number(exported);
    if (options.threads > 0) at::set_num_threads(options.threads);
  }

  void add_placeholders(const AliasAnalysis& aliases) {
    Context& context = program->context();
    for (Node node : program->graph->placeholders()) {
      Source source;
      const bool written = aliases.is_written(node.value());
      by_name.emplace(std::string(node.value().name()), sources.size());
      if (const Weight* weight = program->weight_of(node)) {
        source.weight = weight;
        source.writable = written;
        source.name = weight->fqn;
        by_name.emplace(weight->fqn, sources.size());
      } else {
        const Argument role = node.argument(0);
        const InputSpec spec =
            role.kind() == ArgumentKind::input_spec ? context.input_spec_of(role) : InputSpec{};
        if (spec.kind != InputKind::user_input && spec.kind != InputKind::constant_input &&
            spec.kind != InputKind::token && node.value().has_uses()) {
          fail_at(node,
                  fmt::format("{} {} has no value", name_of(spec.kind),
                              quote(context.text(spec.target))),
                  "--weights FILE.pt2 takes weights from an archive");
        }
        source.input = inputs.size();
        if (spec.kind == InputKind::user_input || spec.kind == InputKind::constant_input) {
          inputs.push_back(make_input(node, spec, written));
        } else {
          source.input = no_input;
        }
      }
      sources.push_back(std::move(source));
    }
  }

  ExecutorInput make_input(Node node, const InputSpec& spec, bool written) const {
    ExecutorInput input;
    input.value = node.value();
    input.name = std::string(node.value().name());
    if (input.name.empty()) input.name = std::string(node.target());
    input.may_be_written = written;
    input.is_constant =
        node.value().meta().kind == ValueKind::constant || spec.kind == InputKind::constant_input;
    if (input.is_constant)
      input.constant = attribute_value(program->context(), spec.constant).value_or(IValue());
    return input;
  }

  void add_outputs() {
    Context& context = program->context();
    const Node output = program->graph->output_node();
    WINZE_CHECK(output.valid(), "a graph without output");
    const Argument values = output.argument(0);
    const Argument roles = output.argument(1);
    const std::uint32_t role_count = list_size(context, roles);
    for (std::uint32_t i = 0; i < list_size(context, values); ++i) {
      OutputSpec spec;
      if (i < role_count) spec = context.output_spec_of(output.element(roles, i));
      switch (spec.kind) {
        case OutputKind::buffer_mutation:
        case OutputKind::parameter_mutation:
        case OutputKind::user_input_mutation:
          add_write_back(output, i, spec);
          break;
        case OutputKind::token:
          break;
        default: {
          const Argument value = output.element(values, i);
          ExecutorOutput returned{.name = {}, .kind = spec.kind};
          if (value.is_value()) returned.name = program->graph->value_at(value.value_id()).name();
          outputs.push_back(std::move(returned));
          returned_positions.push_back(i);
        }
      }
    }
  }

  void add_write_back(Node output, std::uint32_t position, const OutputSpec& spec) {
    const std::string target(program->context().text(spec.target));
    const auto found = by_name.find(target);
    if (found == by_name.end()) {
      fail_at(output,
              fmt::format("{} {} is no input of the program", name_of(spec.kind), quote(target)));
    }
    Source& source = sources[found->second];
    if (source.weight != nullptr) {
      source.writable = true;
    } else if (source.input != no_input) {
      inputs[source.input].may_be_written = true;
    }
    write_backs.push_back({position, found->second});
  }

  ExecutorResult run(std::vector<IValue> given, ResultStore* store, std::size_t inputs_number) {
    if (options.check_inputs) {
      check_inputs(*program, inputs, given);
    } else if (given.size() != inputs.size()) {
      fail("the program takes {} inputs, and {} were given", inputs.size(), given.size());
    }
    if (options.seed) set_seed(*options.seed);
    weights.renew();
    plan.reset();
    if (store != nullptr && !keys.empty()) {
      store->begin_run(inputs_number, keys);
      plan = plan_run(*code, keys, *store);
    }
    if (options.inference_mode) {
      const c10::InferenceMode mode;
      return run_guarded(std::move(given));
    }
    const at::AutoGradMode mode(false);
    return run_guarded(std::move(given));
  }

  ExecutorResult run_guarded(std::vector<IValue> given) {
    const RegionGuard regions(machine);
    std::vector<IValue> arguments;
    arguments.reserve(sources.size());
    ExecutorResult result;
    for (const Source& source : sources) {
      if (source.weight != nullptr) {
        arguments.emplace_back(weights.tensor(*source.weight, source.writable));
        if (source.writable) result.state.push_back({source.name, arguments.back().toTensor()});
      } else {
        arguments.push_back(source.input == no_input ? IValue() : given[source.input]);
      }
    }
    std::vector<at::Tensor> targets;
    targets.reserve(write_backs.size());
    for (const WriteBack& write : write_backs)
      targets.push_back(arguments[write.placeholder].toTensor());
    result.inputs = std::move(given);
    std::vector<IValue> returned =
        machine.run(*code, std::move(arguments), plan ? &*plan : nullptr);
    with_torch_errors([&] {
      for (std::size_t i = 0; i < write_backs.size(); ++i)
        targets[i].copy_(returned[write_backs[i].output].toTensor());
    });
    result.outputs.reserve(returned_positions.size());
    for (std::size_t position : returned_positions)
      result.outputs.push_back(std::move(returned[position]));
    return result;
  }

  static constexpr std::size_t no_input = static_cast<std::size_t>(-1);

  const ExportedProgram* program;
  ExecutorOptions options;
  WeightTensors weights;
  Machine machine;
  std::unique_ptr<Code> code;
  std::vector<ResultKey> keys;  ///< by node, where the options have them
  std::optional<RunPlan> plan;  ///< of the last run with a store
  std::vector<Source> sources;  ///< by placeholder
  std::vector<ExecutorInput> inputs;
  std::vector<ExecutorOutput> outputs;
  std::vector<std::size_t> returned_positions;
  std::vector<WriteBack> write_backs;
  StringMap<std::size_t> by_name;  ///< placeholder by its name or its weight's
};

Executor::Executor(const ExportedProgram& program, ExecutorOptions options)
    : impl_(std::make_unique<Impl>(program, options)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

const ExportedProgram& Executor::program() const {
  return *impl_->program;
}
const std::vector<ExecutorInput>& Executor::inputs() const {
  return impl_->inputs;
}
const std::vector<ExecutorOutput>& Executor::outputs() const {
  return impl_->outputs;
}
ExecutorResult Executor::run(std::vector<c10::IValue> inputs) {
  return impl_->run(std::move(inputs), nullptr, 0);
}
ExecutorResult Executor::run(std::vector<c10::IValue> inputs, ResultStore& store,
                             std::size_t inputs_number) {
  return impl_->run(std::move(inputs), &store, inputs_number);
}
bool Executor::has_uninitialized() const {
  return calls_uninitialized(*impl_->code);
}
void Executor::set_fill(UninitializedFill fill) {
  impl_->machine.fill = fill;
}
std::size_t Executor::call_count() const {
  return impl_->code->instructions.size();
}
std::size_t Executor::calls_left_out() const {
  return impl_->plan ? impl_->plan->left_out : 0;
}

void load_operator_library(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail("there is no library {}", quote(path));
  // A name without a slash would be looked for in the system's folders.
  if (dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    fail("cannot load {}: {}", quote(path), reason == nullptr ? "unknown reason" : reason);
  }
}

}  // namespace winze
