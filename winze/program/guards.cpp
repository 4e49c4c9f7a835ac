// SPDX-License-Identifier: Apache-2.0
#include "winze/program/guards.h"

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

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by), at += by.size();
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
    if (!is_user_input(program.context(), input)) continue;
    const Meta& meta = input.value().meta();
    const std::string name = fmt::format("L['{}']", input.target());
    if (meta.kind == ValueKind::sym_int && meta.has_expression)
      names_.emplace_back(name, fmt::format("({})", symbols_.str(meta.expression)));
    if (!meta.is_tensor()) continue;
    for (std::size_t axis = 0; axis < meta.tensor.dim(); ++axis) {
      names_.emplace_back(fmt::format("{}.size()[{}]", name, axis),
                          fmt::format("({})", symbols_.str(meta.tensor.sizes[axis])));
    }
  }
}

GuardReader::Result GuardReader::read(const std::string& guard) const {
  Result result;
  std::string text = guard;
  for (const auto& [name, expression] : names_) replace_all(text, name, expression);
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
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    result.is_complete = false;  // written in a way that only Python reads
  }
}

}  // namespace winze
