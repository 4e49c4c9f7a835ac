// SPDX-License-Identifier: Apache-2.0
#include "winze/program/graph_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/program/module_stacks.h"
#include "winze/program/node_reader.h"
#include "winze/program/schema_fields.h"
#include "winze/schema/op.h"
#include "winze/support/json_reader.h"

namespace winze {
namespace {

constexpr std::int64_t positional_kind = 1;
constexpr std::int64_t keyword_kind = 2;

bool is_in_table(ValueKind value, ValueKind table) {
  if (value == table) return true;
  return table == ValueKind::tensor && value == ValueKind::token;
}

/// torch.export.load wants an argument with the name of a keyword of Python in any case, and by
/// position (`deserialize_inputs`); of such names operators have one.
std::uint32_t needed_by_position(const Op& op) {
  const int from = op.kind == OpKind::overload ? op.schema.find_argument("from") : -1;
  return static_cast<std::uint32_t>(from + 1);
}

}  // namespace

void WriteSession::warn(std::string message) const {
  if (warnings == nullptr) return;
  Diagnostic diagnostic;
  diagnostic.severity = Severity::warning;
  diagnostic.message = std::move(message);
  warnings->push_back(std::move(diagnostic));
}

void WriteSession::write_unknown_fields(JsonWriter& writer, std::string_view json) const {
  if (json.empty() || !keeps_unknown_fields) return;
  const JsonDocument document(Bytes::borrow(json));
  for (const JsonField field : document.root().object()) {
    writer.key(field.key);
    writer.raw(field.value.raw_json());
  }
}

std::string WriteSession::put_back(std::string json,
                                   const std::vector<UnknownMembers>& kept) const {
  if (!keeps_unknown_fields) return json;
  return with_unknown_members(std::move(json), kept, [this](const UnknownMembers& lost) {
    warn(fmt::format(
        "{} of {} is dropped, which this version does not know: that record is gone, or another",
        lost.members, lost.path));
  });
}

GraphWriter::GraphWriter(WriteSession& session, const Graph& graph, JsonWriter& writer)
    : session_(session),
      graph_(graph),
      writer_(writer),
      names_(graph),
      arguments_(graph, names_, session.metas, writer, session.schema_minor,
                 [this](const Graph& nested) { write_subgraph(nested); }) {}

void GraphWriter::write() {
  const Node output = graph_.output_node();
  if (!output) fail("graph \"{}\" has no output, which a .pt2 file needs", graph_.name());
  writer_.begin_object();
  writer_.plain_key("inputs");
  writer_.begin_array();
  for (const Node placeholder : graph_.placeholders()) write_input(placeholder);
  writer_.end_array();
  writer_.plain_key("outputs");
  writer_.begin_array();
  const Argument values = output.argument(0);
  for (std::uint32_t index = 0; index < values.count(); ++index) {
    arguments_.write(output, output.element(values, index), nullptr);
  }
  writer_.end_array();
  writer_.plain_key("nodes");
  writer_.begin_array();
  for (const Node node : graph_.nodes()) {
    if (node.is_call()) write_node(node);
    if (node.kind() == NodeKind::get_attr) {
      fail("{} reads an attribute of the module, which a .pt2 file cannot hold", node.str());
    }
  }
  writer_.end_array();
  write_tables();
  session_.write_unknown_fields(writer_, graph_.unknown_fields());
  writer_.end_object();
}

void GraphWriter::write_input(Node placeholder) {
  if (placeholder.value().meta().kind != ValueKind::constant) {
    return arguments_.write_value(placeholder.value());
  }
  const Argument role = placeholder.argument(0);
  if (role.kind() != ArgumentKind::input_spec)
    fail("input {} is a constant of no value", placeholder.str());
  arguments_.write(placeholder, graph_.context().input_spec_of(role).constant, nullptr);
}

void GraphWriter::write_node(Node node) {
  const Op& op = graph_.context().ops().get(node.op());
  const ResultStructure structure = result_structure_of(node);
  writer_.begin_object();
  writer_.plain_key("target");
  writer_.string(op.target());
  writer_.plain_key("inputs");
  writer_.begin_array();
  write_inputs(node);
  writer_.end_array();
  writer_.plain_key("outputs");
  writer_.begin_array();
  write_results(node, structure);
  writer_.end_array();
  writer_.plain_key("metadata");
  write_metadata(node);
  writer_.plain_key("is_hop_single_tensor_return");
  if (structure.is_single_tensor_return) {
    writer_.boolean(*structure.is_single_tensor_return);
  } else {
    writer_.null();
  }
  if (since_minor(SchemaField::node_name) <= session_.schema_minor) {
    writer_.plain_key("name");
    writer_.string(names_.of(node));
  }
  if (node.source().valid()) {
    const StringId unknown = graph_.context().source_info(node.source()).unknown_fields;
    session_.write_unknown_fields(writer_, graph_.context().text(unknown));
  }
  writer_.end_object();
}

/// Arguments equal to the default are left out, but for those before a later argument that is given
/// by position: torch.export.load puts positional arguments one after the other.
void GraphWriter::write_inputs(Node node) {
  const Op& op = graph_.context().ops().get(node.op());
  const std::vector<SchemaArgument>& formal = op.schema.arguments;
  const bool has_names = names_arguments(op);
  const GivenArguments given =
      node.given_arguments(std::max(node.positional_count(), needed_by_position(op)));
  for (const std::uint32_t index : given.args) {
    const bool is_formal = index < formal.size();
    write_input_argument(node, index, is_formal && has_names ? formal[index].name : "", false,
                         is_formal ? &formal[index].type : nullptr);
  }
  for (const std::uint32_t index : given.kwargs)
    write_input_argument(node, index, formal[index].name, true, &formal[index].type);
}

void GraphWriter::write_input_argument(Node node, std::uint32_t index, std::string_view name,
                                       bool is_keyword, const Type* type) {
  writer_.begin_object();
  writer_.plain_key("name");
  writer_.string(name);
  writer_.plain_key("arg");
  arguments_.write(node, node.argument_or_default(index), type);
  writer_.plain_key("kind");
  writer_.integer(is_keyword ? keyword_kind : positional_kind);
  writer_.end_object();
}

void GraphWriter::write_results(Node node, const ResultStructure& structure) {
  const auto write_none = [this] {
    writer_.begin_object();
    writer_.plain_key("as_none");
    writer_.boolean(true);
    writer_.end_object();
  };
  if (node.value_count() == 0 && returns_none(graph_.context().ops().get(node.op())))
    return write_none();
  std::uint32_t next = 0;
  for (const std::int32_t group : structure.groups) {
    if (group != ResultStructure::single) {
      write_result_list(node, next, static_cast<std::uint32_t>(group));
      next += static_cast<std::uint32_t>(group);
      continue;
    }
    const Value value = node.value(next++);
    if (value.meta().kind != ValueKind::none) {
      arguments_.write_value(value);
    } else {
      write_none();
    }
  }
}

void GraphWriter::write_result_list(Node node, std::uint32_t first, std::uint32_t count) {
  const auto kind_of = [&](std::uint32_t index) { return node.value(first + index).meta().kind; };
  ArgumentArm arm = ArgumentArm::as_tensors;
  if (count > 0 && kind_of(0) == ValueKind::sym_int) arm = ArgumentArm::as_sym_ints;
  if (count > 0 && kind_of(0) == ValueKind::sym_float) arm = ArgumentArm::as_sym_floats;
  if (count > 0 && kind_of(0) == ValueKind::sym_bool) arm = ArgumentArm::as_sym_bools;
  for (std::uint32_t index = 0; index < count; ++index) {
    if (arm == ArgumentArm::as_tensors && kind_of(index) == ValueKind::none)
      arm = ArgumentArm::as_optional_tensors;
  }
  writer_.begin_object();
  writer_.plain_key(name_of(arm));
  writer_.begin_array();
  for (std::uint32_t index = 0; index < count; ++index) {
    const Value value = node.value(first + index);
    if (arm == ArgumentArm::as_optional_tensors && value.meta().kind != ValueKind::none) {
      arguments_.write_value(value);
      continue;
    }
    writer_.begin_object();
    if (value.meta().kind == ValueKind::none) {
      writer_.plain_key("as_none");
      writer_.boolean(true);
    } else {
      writer_.plain_key(arm == ArgumentArm::as_tensors ? "name" : "as_name");
      writer_.string(names_.of(value));
    }
    writer_.end_object();
  }
  writer_.end_array();
  writer_.end_object();
}

void GraphWriter::write_metadata(Node node) {
  constexpr std::size_t long_text = 64;
  const Context& context = graph_.context();
  writer_.begin_object();
  if (node.source().valid()) {
    for (const SourceInfo::Entry& entry : context.source_info(node.source()).entries) {
      const std::string_view key = context.text(entry.key);
      writer_.key(key);
      const std::string_view text = context.text(entry.value);
      if (key != "stack_trace" || text.size() < long_text) {
        writer_.string(text);
        continue;
      }
      std::string& escaped = session_.escaped_texts[entry.value.index];
      if (escaped.empty()) append_json_string(escaped, text);
      writer_.raw(escaped);
    }
  } else if (const std::string_view stack = module_stack_around(node); !stack.empty()) {
    writer_.plain_key("nn_module_stack");
    writer_.string(stack);
  }
  writer_.end_object();
}

/// For a node that a pass made of nothing: the calls of modules that both its neighbours are in.
/// torch.export.unflatten wants it of each node, and makes one module of neighbours that agree.
std::string_view GraphWriter::module_stack_around(Node node) {
  if (!knows_module_stacks_) find_module_stacks();
  const auto found = module_stacks_.find(node.id().index);
  return found == module_stacks_.end() ? std::string_view() : found->second;
}

void GraphWriter::find_module_stacks() {
  knows_module_stacks_ = true;
  constexpr std::string_view root = ",,torch.nn.modules.module.Module";
  std::string_view before;
  std::vector<std::uint32_t> open;
  bool is_all_new = graph_.parent() == nullptr;
  const auto close = [&](std::string_view after) {
    const std::string_view stack = before.empty() ? after : before;
    for (const std::uint32_t index : open)
      module_stacks_.emplace(index, common_module_stack(stack, after));
    open.clear();
  };
  for (const Node node : graph_.nodes()) {
    if (!node.is_call()) continue;
    is_all_new = is_all_new && !node.source().valid();
    if (!node.source().valid()) {
      open.push_back(node.id().index);
    } else if (const std::string_view own = module_stack_text(node); !own.empty()) {
      // The first nodes of a graph are the root's.
      close(before.empty() ? own.substr(0, own.find(';')) : own);
      before = own;
    }
  }
  if (is_all_new) before = root;
  close(before.substr(0, before.find(';')));
}

void GraphWriter::write_tables() {
  write_table("tensor_values", ValueKind::tensor);
  write_table("sym_int_values", ValueKind::sym_int);
  write_table("sym_bool_values", ValueKind::sym_bool);
  writer_.plain_key("is_single_tensor_return");
  writer_.boolean(graph_.is_single_tensor_return());
  write_table("custom_obj_values", ValueKind::custom_object);
  write_table("sym_float_values", ValueKind::sym_float);
}

void GraphWriter::write_table(std::string_view key, ValueKind kind) {
  writer_.plain_key(key);
  writer_.begin_object();
  for (const Node node : graph_.nodes()) {
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      const Value value = node.value(index);
      const Meta& meta = value.meta();
      if (meta.kind == ValueKind::unknown)
        fail("nothing is known of what {} yields, which a .pt2 file needs", node.str());
      if (!is_in_table(meta.kind, kind)) continue;
      const std::string_view name = names_.of(value);
      writer_.key(name);
      if (kind == ValueKind::tensor) {
        writer_.raw(session_.metas.tensor_meta(value.meta_id()));
      } else if (kind == ValueKind::custom_object) {
        writer_.begin_object();
        writer_.plain_key("name");
        writer_.string(name);
        writer_.plain_key("class_fqn");
        writer_.string(graph_.context().text(meta.class_name));
        writer_.end_object();
      } else {
        writer_.raw(session_.metas.sym_value(value.meta_id()));
      }
    }
  }
  writer_.end_object();
}

/// Calls that share a body in the file have bodies of their own here, under one name. Where they
/// are still equal they get one name again, since PyTorch keeps one module of a name.
std::string_view GraphWriter::name_shared_body(const Graph& graph, std::string& body) {
  JsonWriter writer(body);
  GraphWriter(session_, graph, writer).write();
  const auto [known, is_new] =
      shared_bodies_[std::string(graph.name())].try_emplace(body, std::string_view());
  if (is_new) known.value() = names_.add_attribute(graph.name());
  return known->second;
}

void GraphWriter::count_subgraph_names() {
  for (const Graph* nested : graph_.subgraphs()) ++subgraph_names_[std::string(nested->name())];
}

void GraphWriter::write_subgraph(const Graph& graph) {
  if (subgraph_names_.empty()) count_subgraph_names();
  const bool is_shared = subgraph_names_[std::string(graph.name())] > 1;
  std::string body;
  const std::string_view name =
      is_shared ? name_shared_body(graph, body) : names_.add_attribute(graph.name());
  writer_.begin_object();
  writer_.plain_key("name");
  writer_.string(name);
  writer_.plain_key("graph");
  if (is_shared) {
    writer_.raw(body);
  } else {
    GraphWriter(session_, graph, writer_).write();
  }
  writer_.end_object();
}

}  // namespace winze
