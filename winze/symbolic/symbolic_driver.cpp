// SPDX-License-Identifier: Apache-2.0
// Answers questions about expressions, one a line, for the tests in Python. See sympy_test.py.
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/symbolic/symbolic_context.h"

namespace {

using winze::Proof;
using winze::SymbolicContext;
using winze::SymExpr;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string show(const std::optional<winze::SymValue>& value) {
  if (!value) return "nothing";
  if (const auto* integer = std::get_if<std::int64_t>(&*value))
    return fmt::format("int {}", *integer);
  if (const auto* real = std::get_if<double>(&*value)) return fmt::format("float {}", *real);
  return std::get<bool>(*value) ? "bool True" : "bool False";
}

std::string show(Proof proof) {
  return proof == Proof::yes ? "yes" : proof == Proof::no ? "no" : "unknown";
}

/// `s0=3,s1=4`, or `s0=2:64` for a range.
std::vector<std::vector<std::string>> assignments(const std::string& text) {
  std::vector<std::vector<std::string>> result;
  if (text.empty()) return result;
  for (const std::string& part : split(text, ',')) result.push_back(split(part, '='));
  return result;
}

std::string evaluate(SymbolicContext& context, SymExpr expr, const std::string& text) {
  const auto values = assignments(text);
  return show(context.evaluate(expr, [&](SymExpr symbol) -> std::optional<winze::SymValue> {
    for (const auto& pair : values) {
      if (pair[0] == context.symbol_name(symbol)) return std::int64_t{std::stoll(pair[1])};
    }
    return std::nullopt;
  }));
}

void set_ranges(SymbolicContext& context, const std::string& text) {
  for (const auto& pair : assignments(text)) {
    const auto symbol = context.find_symbol(pair[0]);
    const auto ends = split(pair[1], ':');
    if (symbol) context.set_range(*symbol, {std::stoll(ends[0]), std::stoll(ends[1])});
  }
}

std::string prove(SymbolicContext& context, const std::string& what, SymExpr a, SymExpr b) {
  if (what == "eq") return show(context.prove_eq(a, b));
  if (what == "ne") return show(context.prove_ne(a, b));
  if (what == "lt") return show(context.prove_lt(a, b));
  if (what == "le") return show(context.prove_le(a, b));
  return show(context.prove_divisible(a, b));
}

/// The commands, fields separated by tabs:
///   srepr EXPR | str EXPR | kind EXPR | eval EXPR VALUES | range EXPR RANGES | same EXPR EXPR
///   roundtrip EXPR | simplify EXPR RANGES | expand EXPR | prove RELATION EXPR EXPR RANGES
///   holds EXPR RANGES
std::string answer(const std::vector<std::string>& fields) {
  SymbolicContext context;
  const std::string& command = fields.at(0);
  const auto parsed = [&](std::size_t i) { return context.parse(fields.at(i)); };
  if (command == "srepr") return context.srepr(parsed(1));
  if (command == "str") return context.str(parsed(1));
  if (command == "kind") return fmt::format("{}", static_cast<int>(context.kind(parsed(1))));
  if (command == "eval") return evaluate(context, parsed(1), fields.at(2));
  if (command == "same") return parsed(1) == parsed(2) ? "yes" : "no";
  if (command == "expand") return context.srepr(context.expand(parsed(1)));
  if (command == "roundtrip") {
    const SymExpr expr = parsed(1);
    const bool srepr = context.parse(context.srepr(expr)) == expr;
    const bool plain = context.parse(context.str(expr)) == expr;
    return srepr && plain ? "yes" : fmt::format("no: {}", context.str(expr));
  }
  if (command == "range" || command == "simplify" || command == "holds") {
    const SymExpr expr = parsed(1);
    set_ranges(context, fields.at(2));
    if (command == "holds") return show(context.prove(expr));
    if (command == "simplify") return context.srepr(context.simplify(expr));
    const winze::Range range = context.range(expr);
    return fmt::format("{} {}", range.lo, range.hi);
  }
  if (command == "prove") {
    const SymExpr a = parsed(2);
    const SymExpr b = parsed(3);
    set_ranges(context, fields.at(4));
    return prove(context, fields.at(1), a, b);
  }
  return "error: no such command";
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      std::cout << answer(split(line, '\t')) << '\n' << std::flush;
    } catch (const winze::InternalError& error) {
      std::cout << "internal error: " << error.diagnostic().message << '\n' << std::flush;
    } catch (const winze::Error& error) {
      std::cout << fmt::format("error: {}", error.diagnostic().message) << '\n' << std::flush;
    } catch (const std::exception& error) {
      std::cout << "bad command: " << error.what() << '\n' << std::flush;
    }
  }
}
