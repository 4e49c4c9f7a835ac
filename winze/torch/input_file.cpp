// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/input_file.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/support/json_reader.h"
#include "winze/support/plural.h"
#include "winze/support/quote.h"
#include "winze/support/zip_reader.h"
#include "winze/torch/npy_reader.h"
#include "winze/torch/recorded_calls.h"
#include "winze/torch/torch_value_reader.h"

namespace winze {
namespace {

constexpr std::string_view array_prefix = "arr_";
constexpr std::string_view npy_suffix = ".npy";

std::string_view name_of(Node placeholder) {
  return placeholder.target();
}

InputSpec spec_of(Node placeholder) {
  const Argument role = placeholder.argument(0U);
  if (role.kind() != ArgumentKind::input_spec) return {};
  return placeholder.graph().context().input_spec_of(role);
}

std::string names_of(const std::vector<Node>& inputs) {
  std::vector<std::string_view> names;
  for (const Node input : inputs) {
    if (!fixed_value(input)) names.push_back(name_of(input));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Values given by name of input; constants may be left out.
using NamedValues = std::vector<std::pair<std::string, HostValue>>;

std::vector<HostValue> in_order(NamedValues named, const std::string& file,
                                const std::vector<Node>& inputs) {
  std::vector<HostValue> values;
  std::size_t used = 0;
  for (const Node input : inputs) {
    const auto found = std::ranges::find_if(
        named, [&](const auto& entry) { return entry.first == name_of(input); });
    if (found != named.end()) {
      values.push_back(std::move(found->second));
      ++used;
    } else if (auto fixed = fixed_value(input)) {
      values.push_back(std::move(*fixed));
    } else {
      throw Error(
          fmt::format("{} has no value for the input {}", quote(file), quote(name_of(input))),
          fmt::format("the program's inputs are {}", names_of(inputs)));
    }
  }
  if (used == named.size()) return values;
  for (const auto& [name, value] : named) {
    const bool is_known =
        std::ranges::any_of(inputs, [&](Node input) { return name_of(input) == name; });
    if (!is_known) {
      throw Error(fmt::format("{} has a value for {}, which is no input of the program",
                              quote(file), quote(name)),
                  fmt::format("the program's inputs are {}", names_of(inputs)));
    }
  }
  fail("{} has two values for one input", quote(file));
}

/// Flat values as a file lists them; constants may be left out.
std::vector<HostValue> fill_constants(std::vector<HostValue> given, const std::string& file,
                                      const std::vector<Node>& inputs) {
  if (given.size() == inputs.size()) return given;
  const auto varying = static_cast<std::size_t>(
      std::ranges::count_if(inputs, [](Node input) { return !fixed_value(input); }));
  if (given.size() != varying) {
    throw Error(fmt::format("{} holds {}, but the program has {}", quote(file),
                            plural(given.size(), "value"), plural(inputs.size(), "input")),
                inputs.empty() ? "" : fmt::format("they are {}", names_of(inputs)));
  }
  std::vector<HostValue> values;
  auto next = given.begin();
  for (const Node input : inputs) {
    if (auto fixed = fixed_value(input)) {
      values.push_back(std::move(*fixed));
    } else {
      values.push_back(std::move(*next++));
    }
  }
  return values;
}

/// Names of the keyword arguments in the order in which the program takes them, from the tree spec
/// of the call: pytree's `[1, {"type": "builtins.tuple", "children_spec": [ARGS, KWARGS]}]`.
std::vector<std::string> keyword_order(const ExportedProgram& program) {
  std::vector<std::string> names;
  if (program.module_call_graph.empty() || !program.module_call_graph.front().signature)
    return names;
  const std::string& spec = program.module_call_graph.front().signature->in_spec;
  try {
    const JsonDocument document(Bytes::borrow(spec));
    std::vector<JsonValue> parts;
    for (const JsonValue part : document.root().array()) parts.push_back(part);
    if (parts.size() != 2) return names;
    std::vector<JsonValue> children;
    for (const JsonValue child : parts[1].get("children_spec").array()) children.push_back(child);
    if (children.size() != 2) return names;
    const JsonDocument context(Bytes::copy(children[1].get("context").string()));
    for (const JsonValue name : context.root().array()) names.emplace_back(name.string());
  } catch (const Error&) {
    names.clear();  // an older or newer form of tree specs: the file's own order is all there is
  }
  return names;
}

const std::string* text_key(const HostValue& key) {
  return std::get_if<std::string>(&key.content);
}

/// `(args, kwargs)`: puts the keyword arguments into the program's order.
void order_keywords(HostSequence& root, const ExportedProgram& program) {
  if (root.kind == HostSequence::Kind::dictionary || root.items.size() != 2) return;
  auto* keywords = std::get_if<HostSequence>(&root.items[1].content);
  if (keywords == nullptr || keywords->kind != HostSequence::Kind::dictionary) return;
  const std::vector<std::string> order = keyword_order(program);
  if (order.size() != keywords->keys.size()) return;
  HostSequence sorted = *keywords;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto found = std::ranges::find_if(keywords->keys, [&](const HostValue& key) {
      return text_key(key) != nullptr && *text_key(key) == order[place];
    });
    if (found == keywords->keys.end()) return;
    const auto index = static_cast<std::size_t>(found - keywords->keys.begin());
    sorted.keys[place] = keywords->keys[index];
    sorted.items[place] = keywords->items[index];
  }
  *keywords = std::move(sorted);
}

bool is_by_name(const HostSequence& root, const std::vector<Node>& inputs) {
  return root.kind == HostSequence::Kind::dictionary && !root.keys.empty() &&
         std::ranges::any_of(root.keys, [&](const HostValue& key) {
           return text_key(key) != nullptr && std::ranges::any_of(inputs, [&](Node input) {
                    return name_of(input) == *text_key(key);
                  });
         });
}

std::vector<HostValue> read_torch_inputs(const Bytes& content, const Where& where,
                                         const ExportedProgram& program) {
  HostValue root = read_torch_value(content, where);
  const std::vector<Node> inputs = user_inputs(program);
  const std::string file = where.record.empty() ? where.file : where.record;
  if (auto* sequence = std::get_if<HostSequence>(&root.content)) {
    if (is_by_name(*sequence, inputs)) {
      NamedValues named;
      for (std::size_t index = 0; index < sequence->keys.size(); ++index) {
        const std::string* key = text_key(sequence->keys[index]);
        named.emplace_back(key == nullptr ? "" : *key, std::move(sequence->items[index]));
      }
      return in_order(std::move(named), file, inputs);
    }
    order_keywords(*sequence, program);
  }
  std::vector<HostValue> leaves;
  flatten(root, leaves);
  return fill_constants(std::move(leaves), file, inputs);
}

std::optional<std::size_t> array_number(std::string_view name) {
  std::size_t number = 0;
  if (!name.starts_with(array_prefix)) return std::nullopt;
  const char* end = name.data() + name.size();
  const auto [parsed, problem] = std::from_chars(name.data() + array_prefix.size(), end, number);
  return problem == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

std::vector<HostValue> read_npz(const ZipReader& zip, const ExportedProgram& program) {
  const std::vector<Node> inputs = user_inputs(program);
  NamedValues named;
  for (const ZipEntry& entry : zip.entries()) {
    std::string_view name = entry.name;
    name.remove_suffix(npy_suffix.size());
    named.emplace_back(name,
                       read_npy(zip.read(entry), zip.file_name() + ":" + std::string(entry.name)));
  }
  const bool is_numbered = std::ranges::all_of(
      named, [](const auto& entry) { return array_number(entry.first).has_value(); });
  if (!is_numbered) return in_order(std::move(named), zip.file_name(), inputs);
  std::ranges::sort(named, {}, [](const auto& entry) { return *array_number(entry.first); });
  std::vector<HostValue> values;
  for (auto& [name, value] : named) values.push_back(std::move(value));
  return fill_constants(std::move(values), zip.file_name(), inputs);
}

}  // namespace

std::vector<Node> user_inputs(const ExportedProgram& program) {
  std::vector<Node> inputs;
  for (const Node placeholder : program.graph->placeholders()) {
    const InputKind kind = spec_of(placeholder).kind;
    if (kind == InputKind::user_input || kind == InputKind::constant_input)
      inputs.push_back(placeholder);
  }
  return inputs;
}

std::optional<HostValue> fixed_value(Node placeholder) {
  const Context& context = placeholder.graph().context();
  const InputSpec spec = spec_of(placeholder);
  if (placeholder.value().meta().kind != ValueKind::constant &&
      spec.kind != InputKind::constant_input)
    return std::nullopt;
  const Argument& constant = spec.constant;
  switch (constant.kind()) {
    case ArgumentKind::integer:
      return HostValue(constant.integer());
    case ArgumentKind::floating:
      return HostValue(constant.floating());
    case ArgumentKind::boolean:
      return HostValue(constant.boolean());
    case ArgumentKind::string:
      return HostValue(std::string(context.text(constant.string_id())));
    case ArgumentKind::complex:
      return HostValue(context.complex_of(constant));
    default:
      return HostValue();
  }
}

std::vector<InputCase> read_input_file(const Bytes& content, const std::string& name,
                                       const ExportedProgram& program) {
  const std::string_view bytes = content.string_view();
  if (looks_like_npy(bytes)) {
    return {{{}, fill_constants({HostValue(read_npy(content, name))}, name, user_inputs(program))}};
  }
  if (!ZipReader::looks_like_zip(bytes)) {
    throw Error(fmt::format("{} is no file of inputs: neither a .npy or .npz file of numpy nor one "
                            "that torch.save wrote",
                            quote(name)),
                "write the inputs with `torch.save((args, kwargs), FILE)` or `numpy.savez`");
  }
  const ZipReader zip(content, name);
  if (zip.find(recorded_calls_manifest) != nullptr) {
    std::vector<InputCase> cases = read_recorded_calls(zip);
    for (InputCase& read : cases)
      read.values =
          fill_constants(std::move(read.values), name + ":" + read.name, user_inputs(program));
    return cases;
  }
  const bool is_npz =
      !zip.entries().empty() && std::ranges::all_of(zip.entries(), [](const ZipEntry& entry) {
        return entry.name.ends_with(npy_suffix);
      });
  if (is_npz) return {{{}, read_npz(zip, program)}};
  return {{{}, read_torch_inputs(content, {.file = name}, program)}};
}

std::optional<InputCase> stored_inputs(const ExportedProgram& program) {
  if (!program.example_inputs || program.example_inputs->bytes.empty()) return std::nullopt;
  const Where where{.file = program.archive.path, .record = program.example_inputs->name};
  return InputCase{{}, read_torch_inputs(program.example_inputs->bytes, where, program)};
}

}  // namespace winze
