// SPDX-License-Identifier: Apache-2.0
#include "winze/program/guards.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace winze {
namespace {

/// Where a comparison stands outside of parentheses.
std::size_t find_relation(std::string_view text, std::string_view& relation) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (depth != 0) continue;
    for (const std::string_view known : {"==", "!=", ">=", "<=", ">", "<"}) {
      if (!text.substr(at).starts_with(known)) continue;
      relation = known;
      return at;
    }
  }
  return std::string_view::npos;
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

Proof prove(SymbolicContext& symbols, const GuardRelation& guard) {
  if (guard.relation == "==") return symbols.prove_eq(guard.left, guard.right);
  if (guard.relation == "!=") return symbols.prove_ne(guard.left, guard.right);
  if (guard.relation == ">=") return symbols.prove_ge(guard.left, guard.right);
  if (guard.relation == "<=") return symbols.prove_le(guard.left, guard.right);
  if (guard.relation == ">") return symbols.prove_gt(guard.left, guard.right);
  return symbols.prove_lt(guard.left, guard.right);
}

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
  if (text.find("L[") != std::string::npos || text.find(" or ") != std::string::npos) {
    result.is_complete = false;
    return result;
  }
  constexpr std::string_view conjunction = " and ";
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find(conjunction);
    read_comparison(rest.substr(0, end), result);
    rest =
        end == std::string_view::npos ? std::string_view() : rest.substr(end + conjunction.size());
  }
  return result;
}

void GuardReader::read_comparison(std::string_view text, Result& result) const {
  std::string_view relation;
  const std::size_t at = find_relation(text, relation);
  if (at == std::string_view::npos) {
    result.is_complete = false;
    return;
  }
  try {
    const SymExpr left = symbols_.parse(text.substr(0, at));
    const SymExpr right = symbols_.parse(text.substr(at + relation.size()));
    result.relations.push_back({left, right, std::string(relation)});
  } catch (const Error&) {
    result.is_complete = false;  // written in a way that only Python reads
  }
}

}  // namespace winze
