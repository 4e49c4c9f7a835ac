// SPDX-License-Identifier: Apache-2.0
// Graphs and statements of the text form.
#include "winze/ir/text_parser.h"

#include <algorithm>

#include "winze/ir/text_names.h"
#include "winze/ir/text_types.h"
#include "winze/schema/op_suggestions.h"
#include "winze/support/edit_distance.h"

namespace winze {
namespace {

constexpr std::size_t most_values = 0xFFFF;

std::optional<std::size_t> find_word(std::span<const std::string_view> words,
                                     std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

std::uint32_t value_number(std::string_view digits) {
  std::uint32_t number = 0;  // value_name allows nine digits
  for (const char c : digits) number = number * 10 + static_cast<std::uint32_t>(c - '0');
  return number;
}

}  // namespace

std::unique_ptr<Graph> parse_graph(Context& context, std::string_view text, std::string_view file) {
  TextParser parser(context, text, file);
  TextLexer& lexer = parser.lexer();
  auto graph = std::make_unique<Graph>(context);
  bool has_graph = false;
  while (!lexer.at_end()) {
    const std::size_t begin = lexer.offset();
    const std::string_view word = lexer.word("'graph', 'symbol', 'device' or 'loc'");
    if (word == "device" && !has_graph) {
      parser.device_line();
    } else if (word == "symbol" && !has_graph) {
      const TextSymbol symbol = parser.symbol_line();
      if (!symbol.has_range) continue;
      try {
        context.symbols().set_range(symbol.symbol, {symbol.min.value_or(Range::minus_infinity),
                                                    symbol.max.value_or(Range::infinity)});
      } catch (const Error& error) {
        lexer.rethrow_at(begin, error);
      }
    } else if (word == "graph" && !has_graph) {
      parser.graph(*graph);
      has_graph = true;
    } else if (word == "loc" && has_graph) {
      parser.source_entry();
    } else {
      lexer.fail_at(
          begin,
          fmt::format("expected {}, found \"{}\"",
                      has_graph ? "'loc' or the end" : "'graph', 'symbol' or 'device'", word));
    }
  }
  if (!has_graph) lexer.fail_expected("'graph'");
  parser.finish();
  return graph;
}

TextParser::TextParser(Context& context, std::string_view text, std::string_view file)
    : context_(&context), lexer_(text, file) {}

TextParser::~TextParser() = default;

ValueId TextParser::Scope::find(StringId name) const {
  if (depth == 0) return name.index < outer_names.size() ? outer_names[name.index] : ValueId{};
  const auto found = nested_names.find(name.index);
  return found == nested_names.end() ? ValueId{} : found->second;
}

bool TextParser::Scope::define(StringId name, ValueId value) {
  if (depth > 0) return nested_names.emplace(name.index, value).second;
  if (name.index >= outer_names.size()) outer_names.resize(name.index + name.index / 2 + 64);
  if (outer_names[name.index].valid()) return false;
  outer_names[name.index] = value;
  return true;
}

void TextParser::Call::clear() {
  names.clear();
  groups.clear();
  metas.clear();
  arguments.clear();
  given.clear();
  more.clear();
  opaque_names.clear();
  opaque_keywords.clear();
  extra_names.clear();
  extra_values.clear();
  next_position = 0;
  positional_count = CallOptions::as_dispatched;
  structure.groups.clear();
  structure.is_single_tensor_return.reset();
}

void TextParser::graph(Graph& graph) {
  graph.set_name(lexer_.name("the name of the graph"));
  last_scope_ = std::make_unique<Scope>(graph, 0);
  // A statement is a line, and no shorter than this; what is reserved stays near the size of the
  // text.
  constexpr std::size_t least_bytes = 40;
  const std::string_view rest = lexer_.text().substr(lexer_.offset());
  const std::size_t lines = static_cast<std::size_t>(std::ranges::count(rest, '\n'));
  const std::size_t nodes = std::min(lines, rest.size() / least_bytes);
  graph.reserve(nodes, nodes, 2 * nodes);
  body(*last_scope_);
}

void TextParser::body(Scope& scope) {
  placeholders(scope);
  if (lexer_.accept_arrow()) {
    lexer_.expect_word("Tensor", "after '->'");
    scope.graph->set_is_single_tensor_return(true);
  }
  if (lexer_.accept_word("unknown_fields")) {
    scope.graph->set_unknown_fields(std::string(lexer_.string("the fields as a string")));
  }
  lexer_.expect('{', "before the statements of the graph");
  while (!lexer_.accept('}')) {
    if (scope.graph->output_node()) lexer_.fail_expected("'}' after the return of the graph");
    statement(scope);
  }
}

void TextParser::placeholders(Scope& scope) {
  lexer_.expect('(', "after the name of the graph");
  if (lexer_.accept(')')) return;
  do {
    placeholder(scope);
  } while (lexer_.accept(','));
  lexer_.expect(')', "or ',' after an input of the graph");
}

void TextParser::placeholder(Scope& scope) {
  const ResultName name = result_name();
  lexer_.expect(':', "after the name of an input");
  InputSpec spec;
  bool has_spec = false;
  // A role is told from a type by what follows: `token` and `constant` and `object` are both.
  if (const auto role = find_word(input_role_words, lexer_.peek_word())) {
    const std::size_t begin = lexer_.offset();
    lexer_.skip(input_role_words[*role].size());
    const char next = lexer_.peek();
    const std::string_view word = lexer_.peek_word();
    const bool is_type = role == static_cast<std::size_t>(InputKind::token) ||
                         role == static_cast<std::size_t>(InputKind::tensor_constant) ||
                         role == static_cast<std::size_t>(InputKind::custom_obj);
    if (is_type && (next == ',' || next == ')' || next == '=' || word == "loc" || word == "name")) {
      lexer_.go_back(begin);
    } else if (role == static_cast<std::size_t>(InputKind::custom_obj) && next == '"') {
      // `object "class"` is a type, `object "name" object "class"` a role and a type.
      lexer_.string("a name");
      const char after = lexer_.peek();
      const std::string_view word_after = lexer_.peek_word();
      has_spec = after != ',' && after != ')' && after != '=' && word_after != "loc" &&
                 word_after != "name";
      lexer_.go_back(begin + (has_spec ? input_role_words[*role].size() : 0));
    } else {
      has_spec = true;
    }
    spec.kind = static_cast<InputKind>(*role);
  }
  if (has_spec) {
    if (lexer_.next_is_quote()) spec.target = context_->string(lexer_.string("a name"));
    if (lexer_.accept_word("named")) spec.name = context_->string(lexer_.string("a name"));
    if (lexer_.accept_word("non_persistent")) spec.persistent = false;
  }
  const MetaId meta = type();
  if (lexer_.accept('=')) {
    if (!has_spec)
      lexer_.fail_at(name.offset, "only an input with a role can be a constant",
                     "write `input constant = ...`");
    spec.constant = constant();
  }
  Node node =
      scope.graph->placeholder({}, meta, has_spec ? context_->input_spec(spec) : Argument::none());
  define(scope, name, node.value());
  suffix(node);
}

void TextParser::statement(Scope& scope) {
  const auto depth = static_cast<std::size_t>(scope.depth);
  if (depth >= calls_.size()) calls_.resize(depth + 1);
  Call& current = calls_[depth];
  current.clear();
  const char next = lexer_.peek();
  if (next == '%' || next == '[') {
    result_names(current);
    lexer_.expect('=', "after the results of a call");
  }
  if (current.names.size() == 1 && lexer_.accept_word("get_attr")) {
    const StringId target = context_->string(lexer_.string("the name of an attribute in quotes"));
    lexer_.expect(':', "before the type of the attribute");
    const Node node = scope.graph->get_attr(context_->text(target), type());
    define(scope, current.names[0], node.value());
    suffix(node);
  } else if (current.groups.empty() && lexer_.accept_word("return")) {
    return_values(scope);
  } else {
    call(scope, current);
  }
}

void TextParser::result_names(Call& call) {
  std::vector<ResultName>& names = call.names;
  do {
    if (lexer_.accept('[')) {
      const std::size_t before = names.size();
      while (!lexer_.accept(']')) {
        if (names.size() > before) lexer_.expect(',', "or ']' after a result in a list");
        names.push_back(result_name());
      }
      call.groups.push_back(static_cast<std::int32_t>(names.size() - before));
    } else {
      names.push_back(result_name());
      call.groups.push_back(ResultStructure::single);
    }
  } while (lexer_.accept(','));
  if (names.size() > most_values)
    lexer_.fail_at(names[0].offset, fmt::format("a call has more than {} results", most_values));
}

TextParser::ResultName TextParser::result_name() {
  lexer_.peek();
  ResultName result;
  result.offset = lexer_.offset();
  const bool is_quoted = lexer_.peek_raw(1) == '"';
  bool is_number = false;
  const std::string_view text = lexer_.value_name(is_number);
  if (is_number) {
    result.number = value_number(text);
    return result;
  }
  if (text.empty()) lexer_.fail_at(result.offset, "the name of a value is empty");
  result.name = context_->string(text);
  if (!is_quoted) result.shown = text;
  return result;
}

TextParser::Recent& TextParser::recent(std::string_view name) {
  // The last characters differ most: names are numbered.
  std::size_t key = name.size();
  for (std::size_t at = name.size() - std::min<std::size_t>(name.size(), 6); at < name.size(); ++at)
    key = key * 31 + static_cast<unsigned char>(name[at]);
  return recent_[key % recent_.size()];
}

void TextParser::define(Scope& scope, const ResultName& name, Value value) {
  const bool is_named = name.name.valid();
  const bool is_new = is_named ? scope.define(name.name, value.id())
                               : scope.numbered.emplace(name.number, value.id()).second;
  if (!is_new) {
    std::string shown = fmt::format("%{}", name.number);
    if (is_named) {
      shown.clear();
      append_value_name(shown, context_->text(name.name));
    }
    lexer_.fail_at(name.offset, fmt::format("{} is defined twice", shown),
                   "give one of them another name");
  }
  if (!is_named) return;
  value.set_name(context_->text(name.name));
  if (!name.shown.empty()) recent(name.shown) = {&scope, name.shown, value.id()};
}

Value TextParser::use(Scope& scope) {
  const std::size_t begin = lexer_.offset();
  bool is_number = false;
  const std::string_view text = lexer_.value_name(is_number);
  if (is_number) {
    const auto found = scope.numbered.find(value_number(text));
    if (found != scope.numbered.end()) return scope.graph->value_at(found->second);
  } else {
    const Recent& last = recent(text);
    if (last.scope == &scope && last.name == text) return scope.graph->value_at(last.value);
    const ValueId found = scope.find(context_->string(text));
    if (found.valid()) return scope.graph->value_at(found);
  }
  fail_undefined(scope, begin, text);
}

void TextParser::fail_undefined(Scope& scope, std::size_t offset, std::string_view name) {
  std::string shown;
  append_value_name(shown, name);
  NearestName nearest(name);
  for (const Node node : scope.graph->nodes()) {
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      nearest.offer(node.value(index).name());
  }
  std::string hint = "values are seen only behind their definition, and only in their own graph";
  if (!nearest.best().empty()) {
    hint = "did you mean ";
    append_value_name(hint, nearest.best());
    hint += '?';
  }
  lexer_.fail_at(offset, fmt::format("{} is not defined here", shown), hint);
}

Value TextParser::value_in(Graph& graph) {
  if (last_scope_ == nullptr || last_scope_->graph != &graph)
    lexer_.fail_expected("a graph before what names its values");
  lexer_.peek();
  return use(*last_scope_);
}

const TextParser::Operator& TextParser::operator_name() {
  lexer_.peek();
  const std::size_t begin = lexer_.offset();
  if (lexer_.next_is_quote()) return quoted_operator(lexer_.string("an operator"));
  return find_operator(lexer_.word("a statement: results, an operator, or 'return'"), begin);
}

const TextParser::Operator& TextParser::quoted_operator(std::string_view target) {
  const auto [entry, is_new] = quoted_operators_.try_emplace(std::string(target), nullptr);
  if (is_new) {
    Operator& opaque = operators_.emplace_back();
    opaque.is_opaque = true;
    opaque.target = target;
    entry.value() = &opaque;
  }
  return *entry->second;
}

const TextParser::Operator& TextParser::find_operator(std::string_view name, std::size_t offset) {
  const auto found = operator_words_.find(name);
  if (found != operator_words_.end()) return *found->second;
  OpRegistry& ops = context_->ops();
  Operator entry;
  entry.id = ops.find(name);
  if (entry.id.is_valid()) {
    entry.op = &ops.get(entry.id);
    entry.positional = static_cast<std::uint32_t>(entry.op->schema.positional_count());
  } else if (is_known_namespace(name) || name.find('.') == std::string_view::npos) {
    lexer_.fail_at(offset, fmt::format("operator \"{}\" is not known", name),
                   suggest_ops(ops, name));
  } else {
    // An operator of a namespace that nobody declared: taken as it is.
    entry.is_opaque = true;
    entry.target = "torch.ops." + std::string(name);
    if (std::ranges::count(name, '.') == 1) entry.target += ".default";
  }
  operators_.push_back(std::move(entry));
  operator_words_.emplace(name, &operators_.back());
  return operators_.back();
}

bool TextParser::is_known_namespace(std::string_view name) {
  if (namespaces_.empty()) {
    context_->ops().for_each([&](OpId, std::string_view known) {
      const std::string_view space = known.substr(0, known.find('.'));
      if (!namespaces_.contains(std::string(space))) namespaces_.emplace(space, true);
    });
  }
  return namespaces_.contains(std::string(name.substr(0, name.find('.'))));
}

void TextParser::call(Scope& scope, Call& call) {
  lexer_.peek();
  call.offset = lexer_.offset();
  call.callee = &operator_name();
  const std::size_t first_list = lists_.size();
  call_arguments(scope, call);
  if (lexer_.accept_arrow()) {
    const bool single = lexer_.accept_word("Tensor");
    if (!single) lexer_.expect_word("tuple", "or 'Tensor' after '->'");
    call.structure.is_single_tensor_return = single;
  }
  result_types(call);
  const Node node = make_call(scope, call);
  lists_.resize(first_list);
  for (std::size_t index = 0; index < call.names.size(); ++index) {
    define(scope, call.names[index], node.value(static_cast<std::uint32_t>(index)));
  }
  suffix(node);
}

void TextParser::result_types(Call& call) {
  const std::size_t count = call.names.size();
  if (count > 0) lexer_.expect(':', "before the types of the results");
  for (std::size_t index = 0; index < count; ++index) {
    if (index > 0 && !lexer_.accept(',')) {
      lexer_.fail_expected(fmt::format("',' after the type of result {} of {}", index, count));
    }
    call.metas.push_back(type());
  }
}

Node TextParser::make_call(Scope& scope, Call& call) {
  try {
    const OpId id = complete_call(call);
    const Op& op = context_->ops().get(id);
    const auto is_single = [](std::int32_t group) { return group == ResultStructure::single; };
    const bool is_default = returns_one_list(op)
                                ? call.groups.size() == 1 && !is_single(call.groups[0])
                                : std::ranges::all_of(call.groups, is_single);
    CallOptions options{.positional_count = call.positional_count};
    if (!is_default || call.structure.is_single_tensor_return) {
      call.structure.groups = call.groups;
      options.structure = &call.structure;
    }
    return scope.graph->call_function(id, call.arguments, call.metas, options);
  } catch (const Error& error) {
    lexer_.rethrow_at(call.offset, error);
  }
}

void TextParser::suffix(const Node& node) {
  std::string_view word = lexer_.peek_word();
  if (word == "name") {
    lexer_.skip(word.size());
    Node(node).set_name(lexer_.string("the name of the node in quotes"));
    word = lexer_.peek_word();
  }
  if (word != "loc") return;
  lexer_.skip(word.size());
  const std::size_t begin = lexer_.offset();
  const std::uint64_t number = lexer_.unsigned_integer("the number of a source");
  if (number >= 0xFFFFFFFF) lexer_.fail_at(begin, "the number of a source does not fit 32 bits");
  pending_sources_.push_back({node, static_cast<std::uint32_t>(number), begin});
}

Argument TextParser::output_role() {
  const auto role = find_word(output_role_words, lexer_.peek_word());
  if (!role) return Argument::none();
  lexer_.skip(output_role_words[*role].size());
  OutputSpec spec;
  spec.kind = static_cast<OutputKind>(*role);
  // A string that is returned is no target: it stands at the end.
  if (lexer_.next_is_quote()) {
    const std::size_t begin = lexer_.offset();
    const StringId target = context_->string(lexer_.string("a name"));
    const char next = lexer_.peek();
    if (next == ',' || next == '}' || lexer_.peek_word() == "loc" || lexer_.peek_word() == "name") {
      lexer_.go_back(begin);
    } else {
      spec.target = target;
    }
  }
  return context_->output_spec(spec);
}

void TextParser::return_values(Scope& scope) {
  const std::size_t begin = lexer_.offset();
  const std::size_t first_list = lists_.size();
  std::vector<Argument> values;
  std::vector<Argument> roles;
  const std::string_view word = lexer_.peek_word();
  if (lexer_.peek() != '}' && word != "loc" && word != "name") {
    do {
      const Argument role = output_role();
      if (!role.is_none() && roles.size() < values.size())
        roles.resize(values.size(), Argument::none());
      values.push_back(argument(&scope, 0));
      if (!role.is_none()) roles.push_back(role);
    } while (lexer_.accept(','));
    if (!roles.empty()) roles.resize(values.size(), Argument::none());
  }
  Node node;
  try {
    node = scope.graph->output(values, roles);
  } catch (const Error& error) {
    lexer_.rethrow_at(begin, error);
  }
  lists_.resize(first_list);
  suffix(node);
}

void TextParser::finish() {
  for (PendingSource& pending : pending_sources_) {
    if (pending.number >= sources_.size() || !sources_[pending.number].valid()) {
      lexer_.fail_at(
          pending.offset, fmt::format("source {} is not in the text", pending.number),
          fmt::format("add `loc {} {{...}}` at the end, or leave the loc out", pending.number));
    }
    pending.node.set_source(sources_[pending.number]);
  }
  pending_sources_.clear();
}

}  // namespace winze
