// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/text_format.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "winze/symbolic/expr_parts.h"

namespace winze {
namespace {

constexpr std::size_t most_text = std::size_t{256} << 20;

/// How tightly a text binds, as in Python.
enum class Binding : std::uint8_t {
  loosest,
  relation,
  bit_or,
  bit_and,
  sum,
  product,
  negation,
  power,
  atom,
};

std::string_view atom_name(SymOp op, SymTextStyle style) {
  const bool srepr = style == SymTextStyle::srepr;
  switch (op) {
    case SymOp::true_constant:
      return srepr ? "true" : "True";
    case SymOp::false_constant:
      return srepr ? "false" : "False";
    case SymOp::int_infinity:
      return srepr ? "IntInfinity()" : "int_oo";
    case SymOp::negative_int_infinity:
      return srepr ? "NegativeIntInfinity()" : "-int_oo";
    case SymOp::infinity:
      return "oo";
    case SymOp::negative_infinity:
      return "-oo";
    case SymOp::complex_infinity:
      return "zoo";
    default:
      return "nan";
  }
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

bool is_negative_term(const SymbolicContext& context, SymExpr term) {
  const SymExpr coefficient = factors_of(context, term)[0];
  const auto number = as_number(context.store(), coefficient);
  // The minimum of int64 has no positive counterpart to write after a minus.
  return number && number->sign() < 0 && coefficient != SymExpr(Range::minus_infinity);
}

/// The terms of a sum as one writes a polynomial: earlier symbols and higher powers first, the
/// constant last.
std::vector<SymExpr> in_reading_order(const SymbolicContext& context, SymExpr sum) {
  const ExprStore& store = context.store();
  struct Term {
    std::uint64_t key = 0;
    std::span<const SymExpr> factors;  // without the coefficient
    SymExpr whole;
  };
  std::vector<Term> terms;
  for (const SymExpr& term : context.operands(sum)) {
    const auto factors = factors_of(context, term);
    const auto symbolic = factors.subspan(is_number(context, factors[0]) ? 1 : 0);
    // The constant comes last.
    const std::uint64_t key = symbolic.empty() ? ~std::uint64_t{0} : store.sort_key(symbolic[0]);
    terms.push_back({key, symbolic, term});
  }
  std::ranges::sort(terms, [&](const Term& a, const Term& b) {
    if (a.key != b.key) return a.key < b.key;
    for (std::size_t i = 0; i < a.factors.size() && i < b.factors.size(); ++i) {
      const auto x = split_power(context, a.factors[i]);
      const auto y = split_power(context, b.factors[i]);
      if (x.base != y.base) return store.before(x.base, y.base);
      if (x.exponent != y.exponent) return x.exponent > y.exponent;
    }
    return a.factors.size() > b.factors.size();
  });
  std::vector<SymExpr> result;
  result.reserve(terms.size());
  for (const Term& term : terms) result.push_back(term.whole);
  return result;
}

class Printer {
 public:
  Printer(const SymbolicContext& context, SymTextStyle style, std::size_t most)
      : context_(context), style_(style), most_(most) {}

  std::string print(SymExpr expr) {
    push(expr);
    while (!tasks_.empty() && text_.size() <= most_) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      if (task.literal.data() != nullptr) {
        text_ += task.literal;
        continue;
      }
      // What is pushed in reading order has to be popped in that order.
      const auto mark = static_cast<std::ptrdiff_t>(tasks_.size());
      style_ == SymTextStyle::srepr ? srepr(task.expr) : plain(task);
      std::reverse(tasks_.begin() + mark, tasks_.end());
    }
    return std::move(text_);
  }

 private:
  /// A text to write, or an expression to print.
  struct Task {
    std::string_view literal;  // static
    SymExpr expr;
    Binding needed = Binding::loosest;  // looser texts are put in parentheses
    bool negated = false;               // print `-expr`, whose coefficient is negative
  };

  void push(const char* literal) { tasks_.push_back({std::string_view(literal)}); }
  void push(std::string_view literal) { tasks_.push_back({literal}); }
  void push(SymExpr expr, Binding needed = Binding::loosest, bool negated = false) {
    tasks_.push_back({{}, expr, needed, negated});
  }

  void call(std::string_view name, std::span<const SymExpr> operands) {
    push(name);
    push("(");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i > 0) push(", ");
      push(operands[i]);
    }
    push(")");
  }

  void pieces(std::span<const SymExpr> operands, const char* pair) {
    push("Piecewise(");
    for (std::size_t i = 0; i < operands.size(); i += 2) {
      if (i > 0) push(", ");
      push(pair);
      push(operands[i]);
      push(", ");
      push(operands[i + 1]);
      push(")");
    }
    push(")");
  }

  /// Writes `b > a` rather than `a < b` when `a` is the constant.
  bool reads_better_swapped(std::span<const SymExpr> operands) const {
    return !context_.has_symbol(operands[0]) && context_.has_symbol(operands[1]);
  }

  void full_symbol(SymExpr expr) {
    const std::string assumptions = context_.symbol_assumptions(expr).str();
    text_ += fmt::format("Symbol({}{}{})", quoted(context_.symbol_name(expr)),
                         assumptions.empty() ? "" : ", ", assumptions);
  }

  void srepr(SymExpr expr);
  void srepr_atom(SymOp op, SymExpr expr);
  void plain(const Task& task);
  void plain_operation(SymOp op, SymExpr expr);
  void plain_atom(SymOp op, const Task& task);
  void number(std::string digits, const Task& task);
  void sum(SymExpr expr);
  void product(SymExpr expr, bool negated);
  void relation(SymOp op, std::span<const SymExpr> operands);
  void joined(std::span<const SymExpr> operands, const char* separator, Binding needed);

  const SymbolicContext& context_;
  SymTextStyle style_;
  std::size_t most_;
  std::string text_;
  std::vector<Task> tasks_;
};

void Printer::srepr(SymExpr expr) {
  const SymOp op = context_.op(expr);
  if (op < SymOp::add) return srepr_atom(op, expr);
  const auto operands = context_.operands(expr);
  if (op == SymOp::add) return call("Add", in_reading_order(context_, expr));
  if (op == SymOp::piecewise) return pieces(operands, "ExprCondPair(");
  if ((op == SymOp::lt || op == SymOp::le) && reads_better_swapped(operands)) {
    const SymExpr swapped[] = {operands[1], operands[0]};
    return call(op == SymOp::lt ? "StrictGreaterThan" : "GreaterThan", swapped);
  }
  call(sym_op_info(op).name, operands);
}

void Printer::srepr_atom(SymOp op, SymExpr expr) {
  const ExprStore& store = context_.store();
  switch (op) {
    case SymOp::integer:
      text_ += fmt::format("Integer({})", expr.constant());
      return;
    case SymOp::symbol:
      return full_symbol(expr);
    case SymOp::rational:
      text_ += fmt::format("Rational({}, {})", store.numerator(expr), store.denominator(expr));
      return;
    case SymOp::float_constant:
      text_ += fmt::format("Float('{}', precision=53)", float_text(store.float_value(expr)));
      return;
    default:
      text_ += atom_name(op, style_);
  }
}

/// The binding of the text of an operation in plain form.
Binding binding(SymOp op) {
  switch (op) {
    case SymOp::add:
      return Binding::sum;
    case SymOp::mul:
    case SymOp::floor_div:
      return Binding::product;
    case SymOp::pow:
      return Binding::power;
    case SymOp::lt:
    case SymOp::le:
      return Binding::relation;
    case SymOp::land:
      return Binding::bit_and;
    case SymOp::lor:
      return Binding::bit_or;
    case SymOp::lnot:
      return Binding::negation;
    default:
      return Binding::atom;
  }
}

void Printer::plain(const Task& task) {
  const SymOp op = context_.op(task.expr);
  if (op < SymOp::add) return plain_atom(op, task);
  const bool parentheses = binding(op) < task.needed;
  if (parentheses) push("(");
  if (op == SymOp::mul) {
    product(task.expr, task.negated);
  } else {
    plain_operation(op, task.expr);
  }
  if (parentheses) push(")");
}

void Printer::plain_operation(SymOp op, SymExpr expr) {
  const auto operands = context_.operands(expr);
  switch (op) {
    case SymOp::add:
      return sum(expr);
    case SymOp::floor_div:
      push(operands[0], Binding::product);
      push("//");
      return push(operands[1], Binding::negation);
    case SymOp::pow:
      push(operands[0], Binding::atom);
      push("**");
      return push(operands[1], Binding::atom);
    case SymOp::lt:
    case SymOp::le:
      return relation(op, operands);
    case SymOp::eq:
      return call("Eq", operands);
    case SymOp::ne:
      return call("Ne", operands);
    case SymOp::land:
      return joined(operands, " & ", Binding::sum);
    case SymOp::lor:
      return joined(operands, " | ", Binding::bit_and);
    case SymOp::lnot:
      push("~");
      return push(operands[0], Binding::atom);
    case SymOp::piecewise:
      return pieces(operands, "(");
    default:
      call(sym_op_info(op).name, operands);
  }
}

void Printer::plain_atom(SymOp op, const Task& task) {
  const ExprStore& store = context_.store();
  switch (op) {
    case SymOp::integer:
      return number(fmt::format("{}", task.expr.constant()), task);
    case SymOp::rational:
      return number(fmt::format("{}/{}", store.numerator(task.expr), store.denominator(task.expr)),
                    task);
    case SymOp::float_constant:
      return number(float_text(store.float_value(task.expr)), task);
    case SymOp::symbol:
      if (!is_plain_name(context_.symbol_name(task.expr))) return full_symbol(task.expr);
      text_ += context_.symbol_name(task.expr);
      return;
    default:
      number(std::string(atom_name(op, style_)), task);
  }
}

void Printer::number(std::string digits, const Task& task) {
  if (task.negated) digits.erase(0, 1);
  const bool loose = (digits[0] == '-' && task.needed > Binding::negation) ||
                     (digits.find('/') != std::string::npos && task.needed > Binding::product);
  text_ += loose ? fmt::format("({})", digits) : digits;
}

void Printer::sum(SymExpr expr) {
  bool first = true;
  for (const SymExpr term : in_reading_order(context_, expr)) {
    const bool negated = !first && is_negative_term(context_, term);
    if (!first) push(negated ? " - " : " + ");
    push(term, Binding::product, negated);
    first = false;
  }
}

void Printer::product(SymExpr expr, bool negated) {
  auto factors = context_.operands(expr);
  bool coefficient = is_number(context_, factors[0]);
  if (coefficient) {
    if (factors[0] != SymExpr(-1)) {
      push(factors[0], Binding::product, negated);
      push("*");
    } else if (negated) {
      coefficient = false;
    } else {
      push("-");
    }
    factors = factors.subspan(1);
  }
  // Sums come last, for Python multiplies from the left, and a number times a sum is another sum.
  const auto is_sum = [this](SymExpr factor) { return context_.op(factor) == SymOp::add; };
  std::vector<SymExpr> ordered;
  std::ranges::copy_if(factors, std::back_inserter(ordered), std::not_fn(is_sum));
  std::ranges::copy_if(factors, std::back_inserter(ordered), is_sum);
  const bool together = coefficient && ordered.size() > 1 && is_sum(ordered[0]);
  if (together) push("(");
  joined(ordered, "*", Binding::negation);
  if (together) push(")");
}

void Printer::relation(SymOp op, std::span<const SymExpr> operands) {
  const bool swapped = reads_better_swapped(operands);
  push(operands[swapped ? 1 : 0], Binding::sum);
  if (op == SymOp::lt) {
    push(swapped ? " > " : " < ");
  } else {
    push(swapped ? " >= " : " <= ");
  }
  push(operands[swapped ? 0 : 1], Binding::sum);
}

void Printer::joined(std::span<const SymExpr> operands, const char* separator, Binding needed) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) push(separator);
    push(operands[i], needed);
  }
}

std::string whole_text(const SymbolicContext& context, SymExpr expr, SymTextStyle style) {
  std::string text = print_expression(context, expr, style, most_text);
  if (text.size() > most_text) {
    fail("the text of the expression `{}…` would be longer than {} MiB", text.substr(0, 60),
         most_text >> 20);
  }
  return text;
}

}  // namespace

std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !is_letter(name[0])) return false;
  if (!std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); })) {
    return false;
  }
  for (const std::string_view reserved :
       {"True", "False", "true", "false", "oo", "int_oo", "zoo", "nan"}) {
    if (name == reserved) return false;
  }
  return true;
}

std::string print_expression(const SymbolicContext& context, SymExpr expr, SymTextStyle style,
                             std::size_t most) {
  return Printer(context, style, most).print(expr);
}

std::string SymbolicContext::srepr(SymExpr expr) const {
  return whole_text(*this, expr, SymTextStyle::srepr);
}

std::string SymbolicContext::str(SymExpr expr) const {
  return whole_text(*this, expr, SymTextStyle::plain);
}

}  // namespace winze
