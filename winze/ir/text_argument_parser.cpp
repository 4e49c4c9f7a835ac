// SPDX-License-Identifier: Apache-2.0
// Arguments of the text form.
#include <algorithm>

#include "winze/ir/text_parser.h"
#include "winze/ir/text_types.h"
#include "winze/support/edit_distance.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

constexpr std::size_t most_arguments = 0xFFFF;

std::string_view name_of_call(const Op* op, std::string_view target) {
  return op != nullptr ? op->qualified_name : target;
}

template <typename Value, typename Read>
std::vector<Value> collect(std::span<const Argument> elements, Read read) {
  std::vector<Value> values;
  values.reserve(elements.size());
  for (const Argument& element : elements) values.push_back(read(element));
  return values;
}

}  // namespace

void TextParser::call_arguments(Scope& scope, Call& call) {
  const std::string_view name = name_of_call(call.callee->op, call.callee->target);
  if (lexer_.peek() != '(') lexer_.fail_expected(fmt::format("'(' after {}", name));
  lexer_.skip(1);
  if (call.callee->op != nullptr) {
    call.arguments.resize(call.callee->op->schema.arguments.size());
    call.given.resize(call.arguments.size());
  }
  if (lexer_.accept(')')) return;
  do {
    if (lexer_.peek() == '*') begin_keywords(call);
    call_argument(scope, call);
  } while (lexer_.accept(','));
  if (!lexer_.accept(')'))
    lexer_.fail_expected(fmt::format("')' or ',' after an argument of {}", name));
}

void TextParser::call_argument(Scope& scope, Call& call) {
  const char next = lexer_.peek();
  const std::size_t begin = lexer_.offset();
  // `name=value` and, for an opaque operator, `name: value`.
  std::string name;
  bool has_name = false;
  bool is_keyword = false;
  if (const bool quoted = next == '"'; quoted || !lexer_.peek_word().empty()) {
    const std::string_view text = lexer_.name("an argument");
    const char after = lexer_.peek();
    is_keyword = after == '=';
    has_name = is_keyword || (call.callee->is_opaque && after == ':' &&
                              !(!quoted && is_device_word(text) && lexer_.peek_raw(1) >= '0' &&
                                lexer_.peek_raw(1) <= '9'));
    if (has_name) {
      name = text;
      lexer_.skip(1);
    } else {
      lexer_.go_back(begin);
    }
  }
  const Argument value = argument(&scope, 0);
  if (call.arguments.size() + call.more.size() + call.extra_values.size() >= most_arguments) {
    lexer_.fail_at(call.offset, fmt::format("a call has more than {} arguments", most_arguments));
  }
  if (call.callee->is_opaque) {
    call.arguments.push_back(value);
    call.opaque_names.push_back(std::move(name));
    call.opaque_keywords.push_back(is_keyword);
  } else if (has_name) {
    place_keyword(call, name, value, begin);
  } else {
    place_positional(call, value, begin);
  }
}

/// `*, `: what follows is given by keyword, as in Python's signatures.
void TextParser::begin_keywords(Call& call) {
  const std::size_t begin = lexer_.offset();
  lexer_.skip(1);
  if (call.callee->is_opaque || call.positional_count != CallOptions::as_dispatched) {
    lexer_.fail_at(begin, call.callee->is_opaque ? "an operator that is not known has no '*'"
                                                 : "a second '*'");
  }
  if (!lexer_.accept(',')) lexer_.fail_expected("',' and an argument by name after '*'");
  const std::vector<SchemaArgument>& formal = call.callee->op->schema.arguments;
  call.positional_count = 0;
  for (std::uint32_t index = 0; index < formal.size(); ++index) {
    if (call.given[index] && !formal[index].kwarg_only) call.positional_count = index + 1;
  }
}

void TextParser::place_positional(Call& call, const Argument& argument, std::size_t offset) {
  const Schema& schema = call.callee->op->schema;
  if (call.positional_count != CallOptions::as_dispatched)
    lexer_.fail_at(offset, "an argument after '*' is given by name");
  std::uint32_t& position = call.next_position;
  while (position < schema.arguments.size() && schema.arguments[position].kwarg_only) ++position;
  if (position < schema.arguments.size()) {
    if (call.given[position]) {
      lexer_.fail_at(offset,
                     fmt::format("argument \"{}\" of {} is given twice",
                                 schema.arguments[position].name, call.callee->op->qualified_name));
    }
    call.given[position] = true;
    call.arguments[position++] = argument;
    return;
  }
  if (!schema.is_variadic_arguments) {
    lexer_.fail_at(offset,
                   fmt::format("{} takes at most {} by position", call.callee->op->qualified_name,
                               plural(call.callee->positional, "argument")),
                   "its schema is " + print_schema(schema));
  }
  call.more.push_back(argument);
}

void TextParser::place_keyword(Call& call, std::string_view name, const Argument& argument,
                               std::size_t offset) {
  const Schema& schema = call.callee->op->schema;
  const int index = schema.find_argument(name);
  if (index >= 0) {
    const auto at = static_cast<std::size_t>(index);
    if (call.given[at]) {
      lexer_.fail_at(offset, fmt::format("argument \"{}\" of {} is given twice", name,
                                         call.callee->op->qualified_name));
    }
    call.given[at] = true;
    call.arguments[at] = argument;
    return;
  }
  if (!schema.is_variadic_arguments) {
    std::vector<std::string_view> known;
    known.reserve(schema.arguments.size());
    for (const SchemaArgument& formal : schema.arguments) known.push_back(formal.name);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "its schema is " + print_schema(schema);
    lexer_.fail_at(offset,
                   fmt::format("{} has no argument \"{}\"", call.callee->op->qualified_name, name),
                   hint);
  }
  call.extra_names.emplace_back(name);
  call.extra_values.push_back(argument);
}

OpId TextParser::complete_call(Call& call) {
  OpRegistry& ops = context_->ops();
  if (call.callee->is_opaque) {
    std::vector<OpaqueArgument> names(call.arguments.size());
    for (std::size_t index = 0; index < names.size(); ++index) {
      names[index] = {call.opaque_names[index], call.opaque_keywords[index]};
    }
    return ops.opaque(call.callee->target, names);
  }
  OpId id = call.callee->id;
  if (!call.extra_names.empty()) {
    id = ops.with_keywords(id, call.extra_names);
    const Schema& schema = ops.get(id).schema;
    call.arguments.resize(schema.arguments.size());
    for (std::size_t index = 0; index < call.extra_names.size(); ++index) {
      call.arguments[static_cast<std::size_t>(schema.find_argument(call.extra_names[index]))] =
          call.extra_values[index];
    }
  }
  call.arguments.insert(call.arguments.end(), call.more.begin(), call.more.end());
  return id;
}

Argument TextParser::argument(Scope* scope, int depth) {
  const char next = lexer_.peek();
  switch (next) {
    case '%':
      if (scope == nullptr) lexer_.fail_expected("a constant");
      return use(*scope);
    case '[':
      return list(scope, depth);
    case '"':
      return context_->string_argument(lexer_.string("a string"));
    case '(':
      return number_or_complex();
    default:
      break;
  }
  if (lexer_.next_is_number()) return number_or_complex();
  return word_argument(scope);
}

Argument TextParser::constant() {
  const std::size_t begin = lexer_.offset();
  const Argument value = argument(nullptr, 0);
  if (value.is_list() && value.count() > 0) {
    lexer_.fail_at(begin, "a constant list holds elements of more than one kind");
  }
  return value;
}

std::optional<Argument> TextParser::constant_list(std::span<const Argument> elements) {
  const ArgumentKind kind = elements[0].kind();
  if (!std::ranges::all_of(elements,
                           [kind](const Argument& element) { return element.kind() == kind; }))
    return std::nullopt;
  switch (kind) {
    case ArgumentKind::integer:
      return context_->integers(
          collect<std::int64_t>(elements, [](const Argument& a) { return a.integer(); }));
    case ArgumentKind::floating:
      return context_->floats(
          collect<double>(elements, [](const Argument& a) { return a.floating(); }));
    case ArgumentKind::string:
      return context_->strings(
          collect<StringId>(elements, [](const Argument& a) { return a.string_id(); }));
    case ArgumentKind::boolean: {
      const std::unique_ptr<bool[]> values(new bool[elements.size()]);
      for (std::size_t index = 0; index < elements.size(); ++index)
        values[index] = elements[index].boolean();
      return context_->booleans({values.get(), elements.size()});
    }
    default:
      return std::nullopt;
  }
}

Argument TextParser::list(Scope* scope, int depth) {
  if (depth >= text_max_depth)
    lexer_.fail_at(lexer_.offset(), fmt::format("lists nest deeper than {}", text_max_depth));
  lexer_.expect('[', "before a list");
  const std::size_t first = elements_.size();
  while (!lexer_.accept(']')) {
    if (elements_.size() > first) lexer_.expect(',', "or ']' after an element of a list");
    elements_.push_back(argument(scope, depth + 1));
  }
  const std::span<const Argument> elements = std::span(elements_).subspan(first);
  Argument result = Argument::empty_list();
  if (!elements.empty()) {
    if (const auto interned = constant_list(elements)) {
      result = *interned;
    } else {
      lists_.emplace_back(elements.begin(), elements.end());
      result = Argument(std::span<const Argument>(lists_.back()));
    }
  }
  elements_.resize(first);
  return result;
}

Argument TextParser::number_or_complex() {
  if (!lexer_.accept('(')) {
    const TextNumber number = lexer_.number();
    if (number.is_imaginary) return context_->complex(0.0, number.floating);
    return number.is_float ? Argument(number.floating) : Argument(number.integer);
  }
  const auto as_double = [](const TextNumber& number) {
    return number.is_float ? number.floating : static_cast<double>(number.integer);
  };
  const std::size_t begin = lexer_.offset();
  TextNumber real = lexer_.number();
  // `-0` is an integer without a sign, but the real part keeps it.
  double real_part = as_double(real);
  if (!real.is_float && real.integer == 0 && lexer_.text()[begin] == '-') real_part = -0.0;
  if (lexer_.peek() == '+') lexer_.skip(1);
  const TextNumber imaginary = lexer_.number();
  if (!imaginary.is_imaginary || real.is_imaginary)
    lexer_.fail_at(begin, "expected a complex number such as (1+2j)");
  lexer_.expect(')', "after a complex number");
  return context_->complex(real_part, imaginary.floating);
}

Argument TextParser::word_argument(Scope* scope) {
  const std::size_t begin = lexer_.offset();
  const std::string_view word = lexer_.peek_word();
  if (word.empty()) lexer_.fail_expected("an argument");
  if (word == "device" || is_device_word(word)) return Argument(device());
  lexer_.skip(word.size());
  if (word == "None") return Argument::none();
  if (word == "True" || word == "False") return Argument(word == "True");
  if (word == "default") return Argument::default_value();
  if (word == "graph" && scope != nullptr) return nested_graph(*scope);
  if (word == "object") return custom_object();
  if (word == "op") {
    const std::string target(lexer_.string("the target of an operator in quotes"));
    return Argument::of_op(context_->ops().opaque(target, {}));
  }
  if (word == "unknown_dtype") return Argument(ScalarType::unknown);
  if (word == "unknown_layout") return Argument(Layout::unknown);
  if (word == "unknown_memory_format") return Argument(MemoryFormat::unknown);
  if (word != "unknown") {
    std::string_view plain = word;
    if (plain.starts_with("torch.") && plain.find('.', 6) == std::string_view::npos)
      plain.remove_prefix(6);
    if (const auto dtype = scalar_type_from_name(plain)) return Argument(*dtype);
    if (const auto layout = layout_from_name(plain)) return Argument(*layout);
    if (const auto format = memory_format_from_name(plain)) return Argument(*format);
  }
  if (word.find('.') != std::string_view::npos) {
    const Operator& found = find_operator(word, begin);
    if (!found.is_opaque) return Argument::of_op(found.id);
    return Argument::of_op(context_->ops().opaque(found.target, {}));
  }
  lexer_.fail_at(begin, fmt::format("\"{}\" is not an argument", word),
                 "values begin with '%', strings are in quotes; words are None, True, False, "
                 "dtypes (f32), layouts "
                 "(strided), memory formats (channels_last), devices (cuda:0) and operators "
                 "(aten.add.Tensor)");
}

Argument TextParser::nested_graph(Scope& scope) {
  if (scope.depth + 1 >= text_max_depth) {
    lexer_.fail_at(lexer_.offset(), fmt::format("graphs nest deeper than {}", text_max_depth));
  }
  const StringId name = context_->string(lexer_.name("the name of a graph"));
  const GraphId id = scope.graph->add_subgraph(context_->text(name));
  Scope nested(scope.graph->subgraph(id), scope.depth + 1);
  body(nested);
  // Another scope may come to stand where this one stood.
  for (Recent& entry : recent_) {
    if (entry.scope == &nested) entry.scope = nullptr;
  }
  return Argument::graph(id);
}

Argument TextParser::custom_object() {
  lexer_.expect('(', "after 'object'");
  const StringId name = context_->string(lexer_.string("the name of an object in quotes"));
  lexer_.expect(',', "after the name of an object");
  const StringId class_name = context_->string(lexer_.string("the class of an object in quotes"));
  lexer_.expect(')', "after the class of an object");
  return context_->custom_object(name, class_name);
}

Device TextParser::device() {
  const std::size_t begin = lexer_.offset();
  const auto index_of = [&](std::int64_t index) {
    if (index < -32768 || index > 32767)
      lexer_.fail_at(begin, fmt::format("the index {} of a device is out of range", index));
    return static_cast<std::int16_t>(index);
  };
  Device device;
  if (lexer_.accept_word("device")) {
    lexer_.expect('(', "after 'device'");
    try {
      device.type = context_->device_type(lexer_.string("the type of a device in quotes"));
    } catch (const Error& error) {
      lexer_.rethrow_at(begin, error);
    }
    lexer_.expect(',', "after the type of a device");
    device.index = index_of(lexer_.integer("the index of a device"));
    lexer_.expect(')', "after the index of a device");
    return device;
  }
  const std::string_view word = lexer_.word("a device such as cpu or cuda:0");
  if (!is_device_word(word)) {
    lexer_.fail_at(begin, fmt::format("\"{}\" is not a device that PyTorch knows", word),
                   fmt::format("write device(\"{}\", 0) for one of another name", word));
  }
  device.type = context_->device_type(word);
  if (lexer_.peek_raw(0) == ':' && lexer_.peek_raw(1) >= '0' && lexer_.peek_raw(1) <= '9') {
    lexer_.skip(1);
    device.index = index_of(lexer_.integer("the index of a device"));
  }
  return device;
}

}  // namespace winze
