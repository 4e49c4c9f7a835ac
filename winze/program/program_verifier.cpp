// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_verifier.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/ir/verifier_checks.h"
#include "winze/ir/verifier_findings.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

/// Where an output stands among the others: tokens, then what is written, then what the user gets
/// (torch/_export/verifier.py, _verify_exported_program_signature).
int output_rank(OutputKind kind) {
  switch (kind) {
    case OutputKind::token:
      return 0;
    case OutputKind::buffer_mutation:
    case OutputKind::parameter_mutation:
    case OutputKind::user_input_mutation:
      return 1;
    default:
      return 2;
  }
}

bool declares_writes(const Schema& schema) {
  return std::ranges::any_of(schema.arguments, [](const SchemaArgument& argument) {
    return argument.alias && argument.alias->is_write;
  });
}

class ProgramVerifier {
 public:
  ProgramVerifier(const ExportedProgram& program, Findings& findings)
      : program_(program),
        context_(program.context()),
        graph_(*program.graph),
        findings_(findings) {}

  void check() {
    check_inputs();
    check_outputs();
    check_nodes();
    check_weights("state_dict", program_.state_dict);
    check_weights("constants", program_.constants);
    check_ranges();
    check_modules();
  }

 private:
  void add(const Node& node, std::string message, std::string hint = {}) {
    findings_.add(graph_, node.id(), std::move(message), std::move(hint));
  }
  [[nodiscard]] std::string quoted(StringId id) const { return quote(context_.text(id)); }

  void check_inputs() {
    for (const Node placeholder : graph_.placeholders()) {
      const Argument argument = placeholder.argument(0);
      if (argument.kind() != ArgumentKind::input_spec) {
        add(placeholder, "an input of the program has no role",
            "give it one: `input`, `param \"name\"`, ...");
        continue;
      }
      check_input(placeholder, context_.input_spec_of(argument));
    }
  }

  void check_input(const Node& placeholder, const InputSpec& spec) {
    const bool named = spec.kind == InputKind::parameter || spec.kind == InputKind::buffer ||
                       spec.kind == InputKind::tensor_constant ||
                       spec.kind == InputKind::custom_obj;
    if (spec.kind == InputKind::user_input)
      user_inputs_.emplace(placeholder.value().name(), placeholder);
    if (!named) return;
    const std::string_view target = context_.text(spec.target);
    if (spec.kind == InputKind::parameter && !parameters_.emplace(target, placeholder).second) {
      add(placeholder, fmt::format("parameter {} is an input twice", quote(target)));
    }
    if (spec.kind == InputKind::buffer && !buffers_.emplace(target, placeholder).second) {
      add(placeholder, fmt::format("buffer {} is an input twice", quote(target)));
    }
    const bool in_state =
        spec.kind == InputKind::parameter || (spec.kind == InputKind::buffer && spec.persistent);
    const Weight* weight = program_.weight_of(placeholder);
    if (weight == nullptr) {
      const WeightTable& other = in_state ? program_.constants : program_.state_dict;
      const std::string_view where = in_state ? "state_dict" : "constants";
      add(placeholder, fmt::format("{} has no {}", where, quote(target)),
          other.find(target) == nullptr
              ? ""
              : fmt::format("it is in the {}", in_state ? "constants" : "state_dict"));
      return;
    }
    if (spec.kind == InputKind::parameter && !weight->is_param) {
      add(placeholder,
          fmt::format("{} is a parameter here, but no parameter in the state_dict", quote(target)));
    }
    check_weight_meta(placeholder, *weight);
  }

  void check_weight_meta(const Node& placeholder, const Weight& weight) {
    if (weight.kind != PayloadKind::tensor || !weight.meta.valid() ||
        !placeholder.value().is_tensor())
      return;
    const TensorMeta& own = placeholder.value().meta().tensor;
    const TensorMeta& stored = context_.meta(weight.meta).tensor;
    if (own.dtype == stored.dtype && std::ranges::equal(own.sizes, stored.sizes)) return;
    add(placeholder, fmt::format("{} is {} here, but {} among the weights", quote(weight.fqn),
                                 shown(placeholder.value().meta_id()), shown(weight.meta)));
  }

  [[nodiscard]] std::string shown(MetaId meta) const {
    std::string text;
    append_type(text, context_, meta, Device{});
    return text;
  }

  void check_outputs() {
    const Node output = graph_.output_node();
    if (!output) {
      findings_.add("the program's graph has no output", "end it with `return`");
      return;
    }
    const Argument values = output.argument(0);
    const Argument roles = output.argument(1);
    const std::uint32_t count = list_size(context_, values);
    if (list_size(context_, roles) != count) {
      add(output,
          fmt::format("{} values are returned, with {} roles", count, list_size(context_, roles)));
      return;
    }
    int rank = 0;
    for (std::uint32_t index = 0; index < count; ++index) {
      const Argument role = list_element(output, roles, index);
      if (role.kind() != ArgumentKind::output_spec) {
        add(output, fmt::format("returned value {} has no role", index));
        continue;
      }
      const OutputSpec& spec = context_.output_spec_of(role);
      const int own_rank = output_rank(spec.kind);
      if (own_rank < rank) {
        add(output,
            fmt::format("returned value {} ({}) is out of order", index, name_of(spec.kind)),
            "tokens come first, then what is written to buffers, parameters and inputs, then the "
            "user's outputs");
      }
      rank = std::max(rank, own_rank);
      check_output(output, index, list_element(output, values, index), spec);
    }
  }

  void check_output(const Node& output, std::uint32_t index, const Argument& value,
                    const OutputSpec& spec) {
    const auto& [targets, what] = targets_of(spec.kind);
    if (targets == nullptr) return;
    const auto found = targets->find(context_.text(spec.target));
    if (found == targets->end()) {
      add(output, fmt::format("returned value {} is written to {}, which is no {} of the program",
                              index, quoted(spec.target), what));
      return;
    }
    const bool is_gradient = spec.kind == OutputKind::gradient_to_parameter ||
                             spec.kind == OutputKind::gradient_to_user_input;
    if (!value.is_value()) {
      if (!(is_gradient && value.is_none()))
        add(output, fmt::format("returned value {} is written to {}, but is no tensor", index,
                                quoted(spec.target)));
      return;
    }
    const Meta& written = graph_.value_at(value.value_id()).meta();
    const Meta& target = found->second.value().meta();
    const bool agree =
        written.kind == target.kind &&
        (!written.is_tensor() || (written.tensor.dtype == target.tensor.dtype &&
                                  std::ranges::equal(written.tensor.sizes, target.tensor.sizes)));
    if (agree) return;
    add(output, fmt::format("returned value {} is {}, but is written to {}, which is {}", index,
                            shown(graph_.value_at(value.value_id()).meta_id()), quoted(spec.target),
                            shown(found->second.value().meta_id())));
  }

  using NodesByName = StringViewMap<Node>;
  [[nodiscard]] std::pair<const NodesByName*, std::string_view> targets_of(OutputKind kind) const {
    switch (kind) {
      case OutputKind::buffer_mutation:
        return {&buffers_, "buffer"};
      case OutputKind::parameter_mutation:
      case OutputKind::gradient_to_parameter:
        return {&parameters_, "parameter"};
      case OutputKind::user_input_mutation:
      case OutputKind::gradient_to_user_input:
        return {&user_inputs_, "input"};
      default:
        return {nullptr, {}};
    }
  }

  void check_nodes() {
    const bool is_aten = std::ranges::find(program_.verifiers, "ATEN") != program_.verifiers.end();
    for (const Graph* graph : graph_.all_graphs()) {
      for (const Node node : graph->nodes()) {
        if (node.kind() == NodeKind::get_attr) check_attribute(*graph, node);
        if (is_aten && node.is_call()) check_functional(*graph, node);
      }
    }
  }

  void check_attribute(const Graph& graph, const Node& node) {
    if (program_.constants.find(node.target()) != nullptr ||
        program_.state_dict.find(node.target()) != nullptr)
      return;
    findings_.add(graph, node.id(),
                  fmt::format("no weight or constant is named {}", quote(node.target())));
  }

  /// As torch/_export/verifier.py has it, the schema counts: what an operator writes without saying
  /// so, as instance_norm does, functionalization leaves in place.
  void check_functional(const Graph& graph, const Node& node) {
    const Op& op = context_.ops().get(node.op());
    if (op.is_higher_order() || !declares_writes(op.schema)) return;
    findings_.add(
        graph, node.id(),
        fmt::format(
            "{} writes to its arguments, but the program says that it is of the dialect ATEN",
            op.qualified_name),
        "run the pass `functionalize`, or let `verifiers` say TRAINING");
  }

  void check_weights(std::string_view table_name, const WeightTable& table) {
    for (const Weight& weight : table) {
      const std::string name = fmt::format("{} in {}", quote(weight.fqn), table_name);
      if (weight.storage.index >= program_.storages.size()) {
        findings_.add(fmt::format("weight {} has no storage", name));
        continue;
      }
      const Storage& storage = program_.storage(weight);
      if (storage.has_bytes && storage.bytes.size() != storage.size) {
        findings_.add(fmt::format("the storage of weight {} has {} bytes of {}", name,
                                  storage.bytes.size(), storage.size));
      }
      if (weight.kind == PayloadKind::tensor && weight.meta.valid())
        check_extent(name, weight, storage);
    }
  }

  void check_extent(const std::string& name, const Weight& weight, const Storage& storage) {
    const Meta& meta = context_.meta(weight.meta);
    if (!meta.is_tensor() || weight.use_pickle || context_.is_meta(meta.tensor.device)) return;
    try {
      const std::uint64_t needed = storage_size_needed(meta.tensor);
      if (needed > storage.size) {
        findings_.add(fmt::format("weight {} is {} and needs {} bytes, but its storage has {}",
                                  name, shown(weight.meta), needed, storage.size));
      }
    } catch (const Error& error) {
      findings_.add(fmt::format("weight {}: {}", name, error.diagnostic().message));
    }
  }

  void check_ranges() {
    StringViewSet seen;
    for (const RangeConstraint& constraint : program_.range_constraints) {
      if (!seen.insert(constraint.symbol).second) {
        findings_.add(fmt::format("symbol {} has two ranges", quote(constraint.symbol)));
      }
      if (constraint.min_val && constraint.max_val && *constraint.min_val > *constraint.max_val) {
        findings_.add(fmt::format("the range {} of symbol {} is empty", constraint.interval(),
                                  quote(constraint.symbol)));
      }
    }
  }

  void check_modules() {
    bool has_root = false;
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      if (entry.fqn.empty() && entry.signature) has_root = true;
      if (!entry.signature) continue;
      const auto erased = [&](const ModuleCallArgument& argument) {
        return argument.reference && !graph_.observed(*argument.reference);
      };
      if (std::ranges::any_of(entry.signature->inputs, erased) ||
          std::ranges::any_of(entry.signature->outputs, erased)) {
        findings_.add(
            fmt::format("the preserved signature of module {} names a value that was erased",
                        quote(entry.fqn)),
            "drop the module's signature, or keep the value");
      }
    }
    if (!has_root)
      findings_.add("the module call graph has no signature of the root module",
                    "without it PyTorch cannot call the program");
  }

  const ExportedProgram& program_;
  Context& context_;
  const Graph& graph_;
  Findings& findings_;
  NodesByName parameters_;
  NodesByName buffers_;
  NodesByName user_inputs_;
};

}  // namespace

std::vector<Diagnostic> verify(const ExportedProgram& program, VerifyLevel level) {
  Findings findings;
  const bool sound = check_graph(*program.graph, level, findings);
  if (sound && level >= VerifyLevel::semantics) ProgramVerifier(program, findings).check();
  return findings.take();
}

}  // namespace winze
