// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/program_snapshot.h"

#include <utility>

namespace winze {
namespace {

void copy_all_but_graph(const ExportedProgram& from, ExportedProgram& to) {
  to.name = from.name;
  to.torch_version = from.torch_version;
  to.schema_version = from.schema_version;
  to.opset_version = from.opset_version;
  to.verifiers = from.verifiers;
  to.range_constraints = from.range_constraints;
  to.expressions = from.expressions;
  to.guards_code = from.guards_code;
  to.module_call_graph = from.module_call_graph;
  to.treespec_namedtuple_fields = from.treespec_namedtuple_fields;
  to.metadata = from.metadata;
  to.unknown_fields = from.unknown_fields;
  to.graph_module_unknown_fields = from.graph_module_unknown_fields;
  to.signature_unknown_fields = from.signature_unknown_fields;
  to.unknown_members = from.unknown_members;
  to.storages = from.storages;
  to.state_dict = from.state_dict;
  to.constants = from.constants;
  to.example_inputs = from.example_inputs;
  to.records = from.records;
  to.archive = from.archive;
}

}  // namespace

ProgramSnapshot::ProgramSnapshot(const ExportedProgram& program) : copy_(program.context()) {
  copy_all_but_graph(program, copy_);
}

void ProgramSnapshot::restore(ExportedProgram& program) && {
  std::unique_ptr<Graph> graph = std::move(program.graph);
  program = std::move(copy_);
  program.graph = std::move(graph);
  program.apply_range_constraints();
}

}  // namespace winze
