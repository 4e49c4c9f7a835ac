// SPDX-License-Identifier: Apache-2.0
#include "winze/program/guards.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include <fmt/format.h>

namespace winze {
namespace {

/// Where the first of these words stands outside of brackets; `npos` where none does.
std::size_t find_outside(std::string_view text, std::initializer_list<std::string_view> words,
                         std::string_view& found) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (depth != 0) continue;
    for (const std::string_view word : words) {
      if (!text.substr(at).starts_with(word)) continue;
      found = word;
      return at;
    }
  }
  return std::string_view::npos;
}

/// The parts between a word that stands outside of brackets.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view word) {
  std::vector<std::string_view> parts;
  std::string_view found;
  for (;;) {
    const std::size_t at = find_outside(text, {word}, found);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + word.size());
  }
}

/// How a guard names an input, as far as it is read: `L['xs'][1]['k']`.
struct Source {
  std::string name;      ///< as export names the placeholder: `xs_1_k`
  std::size_t end = 0;   ///< behind it in the text
  bool is_read = false;  ///< false where it goes on in a way that is not known
};

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Reads a source that begins at `at`. Keys become words of the placeholder's name as
/// torch/_export/utils.py placeholder_naming_pass makes them.
Source read_source(std::string_view text, std::size_t at) {
  Source source{.name = {}, .end = at + 1};
  while (source.end < text.size() && text[source.end] == '[') {
    const std::size_t close = text.find(']', source.end);
    if (close == std::string_view::npos) return source;
    std::string_view key = text.substr(source.end + 1, close - source.end - 1);
    if (key.size() >= 2 && key.front() == '\'' && key.back() == '\'')
      key = key.substr(1, key.size() - 2);
    if (!source.name.empty()) source.name += '_';
    for (const char letter : key) source.name += is_word(letter) || letter < 0 ? letter : '_';
    source.end = close + 1;
  }
  source.is_read = !source.name.empty() && source.end <= text.size();
  return source;
}

bool is_user_input(const Context& context, const Node& placeholder) {
  const Argument role = placeholder.argument(0);
  return role.kind() == ArgumentKind::input_spec &&
         context.input_spec_of(role).kind == InputKind::user_input;
}

}  // namespace

GuardReader::GuardReader(const ExportedProgram& program) : symbols_(program.context().symbols()) {
  for (const Node input : program.graph->placeholders()) {
    if (is_user_input(program.context(), input))
      inputs_.emplace(std::string(input.target()), &input.value().meta());
  }
}

/// The guard with sizes in place of what names them; what is not known stays as it is.
std::string GuardReader::with_symbols(std::string_view guard) const {
  constexpr std::string_view of_tensor = ".size()[";
  std::string text;
  std::size_t done = 0;
  // Behind the last bracket no source ends, and within one none begins: each byte is read once.
  const std::size_t last_bracket = guard.rfind(']');
  if (last_bracket == std::string_view::npos) return std::string(guard);
  std::size_t next = 0;
  for (std::size_t at = guard.find("L["); at < last_bracket; at = guard.find("L[", next)) {
    next = at + 1;
    if (at > 0 && is_word(guard[at - 1])) continue;
    const Source source = read_source(guard, at);
    next = source.end;
    const auto found = source.is_read ? inputs_.find(source.name) : inputs_.end();
    if (found == inputs_.end()) continue;
    const Meta& meta = *found->second;
    std::size_t end = source.end;
    SymExpr size;
    if (guard.substr(end).starts_with(of_tensor) && meta.is_tensor()) {
      const std::size_t close = guard.find(']', end);
      std::size_t axis = 0;
      const char* const first = guard.data() + end + of_tensor.size();
      const char* const last = guard.data() + std::min(close, guard.size());
      const auto [stopped, error] = std::from_chars(first, last, axis);
      if (error != std::errc() || stopped != last || axis >= meta.tensor.dim()) continue;
      size = meta.tensor.sizes[axis];
      end = close + 1;
    } else if (meta.kind == ValueKind::sym_int && meta.has_expression) {
      size = meta.expression;
    } else {
      continue;
    }
    text += guard.substr(done, at - done);
    text += fmt::format("({})", symbols_.str(size));
    done = end;
  }
  return text += guard.substr(done);
}

GuardReader::Result GuardReader::read(const std::string& guard) const {
  Result result;
  const std::string text = with_symbols(guard);
  if (text.find("L[") != std::string::npos) {
    result.is_complete = false;
    return result;
  }
  std::string_view word;
  const bool is_choice = find_outside(text, {" or "}, word) != std::string_view::npos;
  for (const std::string_view part :
       is_choice ? std::vector{std::string_view(text)} : split_outside(text, " and ")) {
    if (const std::optional<SymExpr> condition = read_condition(part, 0)) {
      result.conditions.push_back(*condition);
    } else {
      result.is_complete = false;
    }
  }
  return result;
}

std::optional<SymExpr> GuardReader::read_condition(std::string_view text, int depth) const {
  constexpr int most_nested = 8;
  constexpr std::string_view negation = "not ";
  if (depth == most_nested) return std::nullopt;
  for (const std::string_view word : {std::string_view(" or "), std::string_view(" and ")}) {
    const std::vector<std::string_view> parts = split_outside(text, word);
    if (parts.size() == 1) continue;
    std::vector<SymExpr> conditions;
    for (const std::string_view part : parts) {
      const std::optional<SymExpr> condition = read_condition(part, depth + 1);
      if (!condition) return std::nullopt;
      conditions.push_back(*condition);
    }
    return word == " or " ? symbols_.lor(conditions) : symbols_.land(conditions);
  }
  if (text.starts_with(negation)) {
    const std::optional<SymExpr> negated = read_condition(text.substr(negation.size()), depth + 1);
    return negated ? std::optional(symbols_.lnot(*negated)) : std::nullopt;
  }
  std::string_view word;
  const bool is_bracketed = text.starts_with('(') && text.ends_with(')') &&
                            find_outside(text, {"==", "!=", "<", ">"}, word) == text.npos;
  return is_bracketed ? read_condition(text.substr(1, text.size() - 2), depth + 1)
                      : read_comparison(text);
}

std::optional<SymExpr> GuardReader::read_comparison(std::string_view text) const {
  std::string_view relation;
  const std::size_t at = find_outside(text, {"==", "!=", ">=", "<=", ">", "<"}, relation);
  if (at == std::string_view::npos) return std::nullopt;
  try {
    const SymExpr left = symbols_.parse(text.substr(0, at));
    const SymExpr right = symbols_.parse(text.substr(at + relation.size()));
    if (relation == "==") return symbols_.eq(left, right);
    if (relation == "!=") return symbols_.ne(left, right);
    if (relation == ">=") return symbols_.ge(left, right);
    if (relation == "<=") return symbols_.le(left, right);
    return relation == ">" ? symbols_.gt(left, right) : symbols_.lt(left, right);
  } catch (const Error&) {
    return std::nullopt;  // written in a way that only Python reads
  }
}

}  // namespace winze
