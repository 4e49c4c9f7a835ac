// SPDX-License-Identifier: Apache-2.0
// What a program that was written by hand leaves out.
#include <fmt/format.h>

#include "winze/ir/text_printer.h"
#include "winze/program/program_text_parts.h"

namespace winze {
namespace {

constexpr std::string_view leaf_spec = R"({"type": null, "context": null, "children_spec": []})";

/// pytree's text of a tuple of so many leaves.
std::string tuple_spec(std::size_t leaves) {
  std::string text = R"({"type": "builtins.tuple", "context": "null", "children_spec": [)";
  for (std::size_t index = 0; index < leaves; ++index) {
    if (index > 0) text += ", ";
    text += leaf_spec;
  }
  return text + "]}";
}

class Defaults {
 public:
  explicit Defaults(ExportedProgram& program)
      : program_(program), context_(program.context()), graph_(*program.graph) {}

  void fill() {
    if (program_.torch_version.empty()) program_.torch_version = context_.ops().torch_version();
    if (program_.opset_version.empty()) program_.opset_version.emplace_back("aten", 10);
    if (program_.verifiers.empty()) program_.verifiers.emplace_back("TRAINING");
    input_roles();
    output_roles();
    for (const Node placeholder : graph_.placeholders()) weight(placeholder);
    if (program_.module_call_graph.empty()) root_module();
  }

 private:
  void input_roles() {
    const Argument input = context_.input_spec({.kind = InputKind::user_input});
    for (const Node placeholder : graph_.placeholders()) {
      if (placeholder.argument(0).is_none()) placeholder.set_argument(0, input);
    }
  }

  void output_roles() {
    if (!graph_.output_node()) graph_.output({});
    const Node output = graph_.output_node();
    const Argument values = output.argument(0);
    const Argument roles = output.argument(1);
    const Argument user_output = context_.output_spec({.kind = OutputKind::user_output});
    std::vector<Argument> filled;
    for (std::uint32_t index = 0; index < list_size(context_, values); ++index) {
      const bool given = index < roles.count() && !output.element(roles, index).is_none();
      filled.push_back(given ? output.element(roles, index) : user_output);
    }
    if (!filled.empty()) output.set_argument(1, Argument(std::span<const Argument>(filled)));
  }

  /// A weight without bytes for a role that names one.
  void weight(Node placeholder) {
    const InputSpec& spec = context_.input_spec_of(placeholder.argument(0));
    const bool is_weight = spec.kind == InputKind::parameter || spec.kind == InputKind::buffer ||
                           spec.kind == InputKind::tensor_constant;
    if (!is_weight || !placeholder.value().is_tensor() ||
        program_.weight_of(placeholder) != nullptr)
      return;
    const bool in_state =
        spec.kind == InputKind::parameter || (spec.kind == InputKind::buffer && spec.persistent);
    WeightTable& table = in_state ? program_.state_dict : program_.constants;
    const TensorMeta& meta = placeholder.value().meta().tensor;
    Weight weight;
    weight.fqn = context_.text(spec.target);
    weight.meta = placeholder.value().meta_id();
    weight.is_param = spec.kind == InputKind::parameter;
    Storage storage;
    storage.size = meta.is_static() ? storage_size_needed(meta) : 0;
    weight.storage = program_.add_storage(std::move(storage));
    table.add(std::move(weight));
  }

  void root_module() {
    std::size_t inputs = 0;
    std::vector<std::string> names;
    for (const Node placeholder : graph_.placeholders()) {
      const InputKind kind = context_.input_spec_of(placeholder.argument(0)).kind;
      if (kind != InputKind::user_input && kind != InputKind::constant_input) continue;
      const std::string_view name = placeholder.value().name();
      names.push_back(name.empty() ? fmt::format("input_{}", inputs) : std::string(name));
      ++inputs;
    }
    std::size_t outputs = 0;
    const Argument roles = graph_.output_node().argument(1);
    for (std::uint32_t index = 0; index < roles.count(); ++index) {
      const Argument role = graph_.output_node().element(roles, index);
      const OutputKind kind = context_.output_spec_of(role).kind;
      outputs += kind == OutputKind::user_output || kind == OutputKind::loss_output ? 1 : 0;
    }
    ModuleCallEntry& root = program_.module_call_graph.emplace_back();
    ModuleCallSignature& signature = root.signature.emplace();
    signature.in_spec = fmt::format(
        R"([1, {{"type": "builtins.tuple", "context": "null", "children_spec": [{}, {{"type": "builtins.dict", "context": "[]", "children_spec": []}}]}}])",
        tuple_spec(inputs));
    signature.out_spec =
        fmt::format("[1, {}]", outputs == 1 ? std::string(leaf_spec) : tuple_spec(outputs));
    signature.forward_arg_names = std::move(names);
  }

  ExportedProgram& program_;
  Context& context_;
  Graph& graph_;
};

}  // namespace

void fill_in_defaults(ExportedProgram& program) {
  Defaults(program).fill();
}

}  // namespace winze
