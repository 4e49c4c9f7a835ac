// SPDX-License-Identifier: Apache-2.0
// Types, expressions, symbols and sources of the text form.
#include <algorithm>
#include <charconv>

#include "winze/ir/text_parser.h"
#include "winze/ir/text_types.h"

namespace winze {
namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `s0`, `u12`, `zuf3`: letters, then digits, as export names symbols.
bool is_usual_symbol(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  return digits != std::string_view::npos && digits > 0 &&
         name.find_first_not_of("0123456789", digits) == std::string_view::npos && name[0] >= 'a';
}

}  // namespace

void TextParser::device_line() {
  lexer_.peek();
  default_device_ = device();
}

MetaId TextParser::type() {
  const std::string_view word = lexer_.peek_word();
  const std::size_t begin = lexer_.offset();
  if (lexer_.peek_raw(word.size()) == '[') {
    if (const auto dtype = scalar_type_from_name(word)) {
      lexer_.skip(word.size());
      return tensor_type(*dtype, begin);
    }
  }
  if (word == "int" || word == "float" || word == "bool") {
    lexer_.skip(word.size());
    return sym_type(word == "int"     ? ValueKind::sym_int
                    : word == "float" ? ValueKind::sym_float
                                      : ValueKind::sym_bool);
  }
  if (word == "object") {
    lexer_.skip(word.size());
    StringId class_name;
    if (lexer_.next_is_quote()) class_name = context_->string(lexer_.string("a class"));
    return context_->custom_object_meta(class_name);
  }
  for (const auto& [name, kind] : {std::pair<std::string_view, ValueKind>{"None", ValueKind::none},
                                   {"token", ValueKind::token},
                                   {"constant", ValueKind::constant},
                                   {"unknown", ValueKind::unknown}}) {
    if (word != name) continue;
    lexer_.skip(word.size());
    return context_->plain_meta(kind);
  }
  lexer_.fail_expected("a type such as f32[2, 3], int, None or object");
}

MetaId TextParser::tensor_type(ScalarType dtype, std::size_t begin) {
  // Types repeat: one that was read before is told by its text.
  const std::size_t end = lexer_.text().find(']', lexer_.offset());
  if (end == std::string_view::npos)
    lexer_.fail_at(begin, "the sizes of a type do not end", "close them with ']'");
  const std::string_view text = lexer_.text().substr(begin, end + 1 - begin);
  MetaId base;
  if (const auto found = tensor_types_.find(text); found != tensor_types_.end()) {
    base = found->second;
    lexer_.skip(end + 1 - lexer_.offset());
  }
  TensorMeta meta;
  std::vector<SymInt> dims;
  if (!base.valid()) {
    sizes(dims);
    meta.dtype = dtype;
    meta.device = default_device_;
    meta.sizes = dims;
    const std::vector<SymInt> strides = text_strides(context_->symbols(), dims);
    meta.strides = strides;
    base = context_->tensor_meta(meta);
    tensor_types_.emplace(lexer_.since(begin), base);
  }
  const std::string_view next = lexer_.peek_word();
  if (next != "strides" && next != "offset" && next != "device" && next != "layout" &&
      next != "requires_grad")
    return base;
  meta = context_->meta(base).tensor;
  std::vector<SymInt> strides;
  tensor_modifiers(meta, strides);
  return context_->tensor_meta(meta);
}

void TextParser::tensor_modifiers(TensorMeta& meta, std::vector<SymInt>& strides) {
  if (lexer_.accept_word("strides")) {
    sizes(strides);
    meta.strides = strides;
  }
  if (lexer_.accept_word("offset")) {
    const std::size_t begin = lexer_.offset();
    std::vector<SymInt> offset;
    sizes(offset);
    if (offset.size() != 1) lexer_.fail_at(begin, "an offset is one expression in brackets");
    meta.storage_offset = offset[0];
  }
  if (lexer_.accept_word("device")) {
    lexer_.peek();
    meta.device = device();
  }
  if (lexer_.accept_word("layout")) {
    lexer_.peek();
    const std::size_t begin = lexer_.offset();
    const std::string_view word = lexer_.word("a layout");
    const auto layout = layout_from_name(word);
    if (!layout) lexer_.fail_at(begin, fmt::format("\"{}\" is not a layout", word));
    meta.layout = *layout;
  }
  if (lexer_.accept_word("requires_grad")) meta.requires_grad = true;
}

MetaId TextParser::sym_type(ValueKind kind) {
  if (!lexer_.accept('=')) return context_->plain_meta(kind);
  lexer_.peek();
  const std::size_t begin = lexer_.offset();
  const SymExpr value = expression(false);
  const SymKind wanted = kind == ValueKind::sym_int     ? SymKind::int_kind
                         : kind == ValueKind::sym_float ? SymKind::float_kind
                                                        : SymKind::bool_kind;
  if (context_->symbols().kind(value) == SymKind::bool_kind && wanted != SymKind::bool_kind) {
    lexer_.fail_at(begin, "a truth value stands where a number is wanted");
  }
  return context_->sym_meta(kind, value);
}

void TextParser::sizes(std::vector<SymInt>& out) {
  lexer_.expect('[', "before sizes");
  while (!lexer_.accept(']')) {
    if (!out.empty()) lexer_.expect(',', "or ']' after a size");
    out.push_back(expression(true));
  }
}

SymExpr TextParser::expression(bool in_brackets) {
  const char first = lexer_.peek();
  const std::size_t begin = lexer_.offset();
  if (first == '"') {
    const std::string srepr(lexer_.string("an expression"));
    try {
      return context_->symbols().parse(srepr);
    } catch (const Error& error) {
      fail_expression(error, begin, {});
    }
  }
  const std::string_view text = lexer_.text();
  std::size_t end = begin;
  std::int64_t depth = 0;
  for (; end < text.size() && text[end] != '\n'; ++end) {
    const char c = text[end];
    if (c == '(') ++depth;
    if (c == ')' && --depth < 0) break;
    if (depth == 0 && (c == ',' || c == ']' || (!in_brackets && (c == ' ' || c == '{')))) break;
  }
  std::string_view slice = text.substr(begin, end - begin);
  while (slice.ends_with(' ')) slice.remove_suffix(1);
  if (slice.empty()) lexer_.fail_expected("an expression such as 2*s0 + 1");
  lexer_.skip(slice.size());
  return parse_expression(slice, begin);
}

SymExpr TextParser::parse_expression(std::string_view text, std::size_t offset) {
  if (std::int64_t value = 0; text.size() < 19) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && rest == text.data() + text.size()) return SymExpr(value);
  }
  const auto found = expressions_.find(text);
  if (found != expressions_.end()) return found->second;
  try {
    declare_symbols(text, offset);
    const SymExpr expression = context_->symbols().parse(text);
    expressions_.emplace(text, expression);
    return expression;
  } catch (const Error& error) {
    fail_expression(error, offset, text);
  }
}

void TextParser::fail_expression(const Error& error, std::size_t offset,
                                 std::string_view text) const {
  Diagnostic diagnostic = error.diagnostic();
  if (diagnostic.where.file.empty() || diagnostic.where.source_text == text) {
    // The column in the expression becomes one in the line.
    const int inner = diagnostic.where.column;
    diagnostic.where = lexer_.where(offset);
    if (inner > 1 && !text.empty()) diagnostic.where.column += inner - 1;
  }
  throw Error(std::move(diagnostic));
}

void TextParser::declare_symbols(std::string_view text, std::size_t offset) {
  SymbolicContext& symbols = context_->symbols();
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_start(text[at])) {
      // The letters of a number such as 1e5 are no name.
      const bool number = is_digit(text[at]);
      ++at;
      while (number && at < text.size() &&
             (is_digit(text[at]) || is_name_start(text[at]) || text[at] == '.'))
        ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && (is_name_start(text[at]) || is_digit(text[at]) || text[at] == '.'))
      ++at;
    const std::string_view name = text.substr(begin, at - begin);
    if (!is_usual_symbol(name) || symbols.find_symbol(name) ||
        (at < text.size() && text[at] == '('))
      continue;
    try {
      symbols.symbol(name, default_assumptions(name));
    } catch (const Error& error) {
      lexer_.rethrow_at(offset + begin, error);
    }
  }
}

TextSymbol TextParser::symbol_line() {
  TextSymbol symbol;
  lexer_.peek();
  const std::size_t begin = lexer_.offset();
  symbol.name = lexer_.name("the name of a symbol");
  const SymbolAssumptions declared = assumptions(symbol.name);
  try {
    symbol.symbol = context_->symbols().symbol(symbol.name, declared);
  } catch (const Error& error) {
    lexer_.rethrow_at(begin, error);
  }
  if (lexer_.accept_word("in")) range(symbol);
  return symbol;
}

SymbolAssumptions TextParser::assumptions(std::string_view name) {
  if (!lexer_.accept('(')) return default_assumptions(name);
  SymbolAssumptions declared;
  while (!lexer_.accept(')')) {
    if (!declared.empty()) lexer_.expect(',', "or ')' after an assumption");
    lexer_.peek();
    const std::size_t begin = lexer_.offset();
    const std::string_view word = lexer_.word("an assumption such as integer=True");
    const auto assumption = find_assumption(word);
    if (!assumption)
      lexer_.fail_at(begin, fmt::format("\"{}\" is not an assumption of sympy", word));
    lexer_.expect('=', "after an assumption");
    const bool value = lexer_.accept_word("True");
    if (!value) lexer_.expect_word("False", "or 'True' after an assumption");
    declared = declared.with(*assumption, value);
  }
  return declared;
}

void TextParser::range(TextSymbol& symbol) {
  lexer_.expect('[', "before a range");
  const std::size_t begin = lexer_.offset();
  symbol.min = range_end();
  lexer_.expect(',', "between the ends of a range");
  symbol.max = range_end();
  lexer_.expect(']', "after a range");
  if (symbol.min && symbol.max && *symbol.min > *symbol.max)
    lexer_.fail_at(begin, "the range is empty");
  symbol.has_range = true;
}

std::optional<std::int64_t> TextParser::range_end() {
  if (lexer_.next_is_number()) return lexer_.integer("an end of a range");
  if (lexer_.peek() == '-') lexer_.skip(1);
  lexer_.expect_word("int_oo", "or an integer as an end of a range");
  return std::nullopt;
}

void TextParser::source_entry() {
  lexer_.peek();
  const std::size_t begin = lexer_.offset();
  const std::uint64_t number = lexer_.unsigned_integer("the number of a source");
  // A hole costs a word, so that the numbers are bounded by the text.
  if (number > lexer_.text().size())
    lexer_.fail_at(begin, fmt::format("source {} is out of order", number));
  if (number >= sources_.size()) sources_.resize(number + 1);
  if (sources_[number].valid())
    lexer_.fail_at(begin, fmt::format("source {} is in the text twice", number));
  SourceInfo info;
  lexer_.expect('{', "after the number of a source");
  while (!lexer_.accept('}')) {
    lexer_.peek();
    std::string_view word = lexer_.word("a key, or '}' at the end of a source");
    if (word == "key" && lexer_.next_is_quote()) word = lexer_.string("a key");
    const StringId key = context_->string(word);
    if (lexer_.accept(':')) {
      info.entries.push_back({key, context_->string(lexer_.long_string("a string"))});
    } else if (context_->text(key) == "unknown_fields") {
      lexer_.expect('=', "after 'unknown_fields'");
      info.unknown_fields = context_->string(lexer_.string("a string"));
    } else {
      lexer_.fail_expected(fmt::format("':' after {}", context_->text(key)));
    }
  }
  sources_[number] = context_->source(info);
}

}  // namespace winze
