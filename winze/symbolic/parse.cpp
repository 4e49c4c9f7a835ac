// SPDX-License-Identifier: Apache-2.0
// Expressions from text: one grammar, Python's, covers srepr and the plain form.
#include <algorithm>
#include <optional>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/symbolic_context.h"
#include "winze/symbolic/text_functions.h"
#include "winze/symbolic/text_reader.h"

namespace winze {
namespace {

/// What waits on the stack for its last operand, or for its closing parenthesis.
enum class Pending : std::uint8_t {
  parenthesis,
  call,
  relation,
  bit_or,
  bit_and,
  shift,
  sum,
  product,
  binary_product,
  unary,
  power,
};

/// How tightly it binds, as in Python; brackets hold everything.
int binding(Pending kind) {
  switch (kind) {
    case Pending::parenthesis:
    case Pending::call:
      return 0;
    case Pending::relation:
      return 1;
    case Pending::bit_or:
      return 2;
    case Pending::bit_and:
      return 3;
    case Pending::shift:
      return 4;
    case Pending::sum:
      return 5;
    case Pending::product:
    case Pending::binary_product:
      return 6;
    case Pending::unary:
      return 7;
    case Pending::power:
      return 8;
  }
  return 0;
}

/// An operator of the plain form; longer tokens come before their beginnings.
struct Operator {
  std::string_view token;
  Pending kind;
};
constexpr Operator operators[] = {
    {"**", Pending::power},
    {"//", Pending::binary_product},
    {"<<", Pending::shift},
    {">>", Pending::shift},
    {"<=", Pending::relation},
    {">=", Pending::relation},
    {"==", Pending::relation},
    {"!=", Pending::relation},
    {"<", Pending::relation},
    {">", Pending::relation},
    {"+", Pending::sum},
    {"-", Pending::sum},
    {"*", Pending::product},
    {"/", Pending::product},
    {"%", Pending::binary_product},
    {"&", Pending::bit_and},
    {"|", Pending::bit_or},
};

/// A call by name: an operation, another function, or a pair of Piecewise.
struct Callee {
  std::optional<SymOp> op;
  const TextFunction* function = nullptr;
  bool is_pair = false;
};

/// Not so Mul: an inner product of a number and a sum is a sum.
bool is_associative(std::optional<SymOp> op) {
  return op == SymOp::add || op == SymOp::max || op == SymOp::min || op == SymOp::land ||
         op == SymOp::lor;
}

class Parser {
 public:
  Parser(SymbolicContext& context, std::string_view text, const SymParseOptions& options)
      : context_(context),
        options_(options),
        reader_(text),
        most_work_(context.store().work() + (std::uint64_t{1} << 22) + 16 * text.size()) {}

  SymExpr parse() {
    while (true) {
      operand();
      // After an operand: closing parentheses, then an operator, a comma or the end.
      while (reader_.take(")")) close();
      if (reader_.peek() == '\0' && at_end()) break;
      if (!reader_.take(",")) {
        infix();
      } else {
        comma();
      }
    }
    reduce(1);
    if (!stack_.empty()) {
      reader_.fail_at(stack_.back().position, "this parenthesis is not closed", "add a `)`");
    }
    return values_.back();
  }

 private:
  struct Entry {
    Pending kind = Pending::parenthesis;
    bool inverted = false;     // the last operand of a sum is subtracted, of a product divides
    std::size_t position = 0;  // in the text
    std::size_t first_value = 0;
    std::string_view token;  // the operator
    Callee callee;
  };

  bool at_end() {
    // A NUL in the text is not its end.
    return reader_.found_at(reader_.position()) == "the end";
  }

  // --- Operands ---

  void operand() {
    while (true) {
      reader_.peek();
      const std::size_t start = reader_.position();
      if (reader_.take("(")) {
        push(Pending::parenthesis, start);
      } else if (reader_.take("+")) {
        push(Pending::unary, start, "+");
      } else if (reader_.take("~")) {
        push(Pending::unary, start, "~");
      } else if (reader_.take("-")) {
        if (negative_number(start)) return;
        push(Pending::unary, start, "-");
      } else if (reader_.at_number()) {
        return push_number(reader_.take_number(false), start);
      } else if (const std::string_view name = reader_.take_name(); !name.empty()) {
        if (!reader_.take("(")) return push_name(name, start);
        if (leaf_call(name, start)) return;
        push_call(name, start);
        if (reader_.take(")")) return close();
      } else {
        reader_.fail_at(
            start, fmt::format("expected an expression, but found {}", reader_.found_at(start)));
      }
    }
  }

  /// After a minus: `-5` is one number, so that the minimum of int64 can be written, but
  /// `-5**2` is the negative of a power.
  bool negative_number(std::size_t start) {
    if (!reader_.at_number()) return false;
    const TextReader before = reader_;
    const auto number = reader_.take_number(true);
    if (reader_.at("**")) {
      reader_ = before;
      return false;
    }
    push_number(number, start);
    return true;
  }

  void push_number(const TextReader::NumberToken& number, std::size_t start) {
    build(start, [&] {
      return number.is_float ? context_.float_constant(number.real) : SymExpr(number.integer);
    });
  }

  void push_name(std::string_view name, std::size_t start) {
    if (const auto constant = find_text_constant(name)) return values_.push_back(*constant);
    if (const auto symbol = context_.find_symbol(name)) return values_.push_back(*symbol);
    if (options_.declare_as) {
      return build(start, [&] { return context_.symbol(name, *options_.declare_as); });
    }
    reader_.fail_at(start, fmt::format("the symbol `{}` is not declared", name.substr(0, 80)),
                    fmt::format("declare it (symbol {0}), or write it as Symbol('{0}', "
                                "positive=True, integer=True)",
                                name.substr(0, 80)));
  }

  /// Calls that hold no expressions.
  bool leaf_call(std::string_view name, std::size_t start) {
    if (name == "Integer") {
      const std::int64_t value = reader_.take_integer();
      reader_.expect(")");
      build(start, [&] { return SymExpr(value); });
    } else if (name == "Symbol") {
      const auto symbol = reader_.take_symbol_call();
      build(start, [&] { return context_.symbol(symbol.name, symbol.assumptions); });
    } else if (name == "Float") {
      const double value = reader_.take_float_call();
      build(start, [&] { return context_.float_constant(value); });
    } else if (name == "Rational") {
      const std::int64_t numerator = reader_.take_integer();
      reader_.expect(",");
      const std::int64_t denominator = reader_.take_integer();
      reader_.expect(")");
      build(start, [&] { return context_.rational(numerator, denominator); });
    } else {
      return false;
    }
    return true;
  }

  void push_call(std::string_view name, std::size_t start) {
    Callee callee;
    callee.op = find_sym_op(name);
    callee.function = find_text_function(name);
    callee.is_pair = name == "ExprCondPair" || name == "Tuple";
    if (!callee.op && callee.function == nullptr && !callee.is_pair) {
      reader_.fail_at(start, fmt::format("the function `{}` is not known", name.substr(0, 80)));
    }
    push(Pending::call, start, name);
    stack_.back().callee = callee;
  }

  // --- Operators ---

  void infix() {
    const std::size_t start = reader_.position();
    for (const Operator& op : operators) {
      if (!reader_.take(op.token)) continue;
      switch (op.kind) {
        case Pending::sum:
        case Pending::bit_or:
        case Pending::bit_and:
        case Pending::product:
          return extend(op, start);
        case Pending::power:  // binds to the right
          break;
        case Pending::relation:
          reduce(binding(op.kind) + 1);
          if (!stack_.empty() && stack_.back().kind == Pending::relation) {
            reader_.fail_at(start, "comparisons cannot be chained", "join them with `&`");
          }
          break;
        default:
          reduce(binding(op.kind));
      }
      push(op.kind, start, op.token);
      stack_.back().first_value = values_.size() - 1;
      return;
    }
    reader_.fail_at(start,
                    fmt::format("expected an operator, but found {}", reader_.found_at(start)));
  }

  /// An operator of any number of operands, which are kept until the last is known.
  void extend(const Operator& op, std::size_t start) {
    reduce(binding(op.kind) + 1);
    if (!stack_.empty() && stack_.back().kind == Pending::binary_product &&
        op.kind == Pending::product) {
      reduce(binding(op.kind));
    }
    if (stack_.empty() || stack_.back().kind != op.kind) {
      push(op.kind, start, op.token);
      stack_.back().first_value = values_.size() - 1;
    } else {
      invert_last(stack_.back());
    }
    stack_.back().inverted = op.token == "-" || op.token == "/";
    stack_.back().position = start;
  }

  void invert_last(Entry& entry) {
    if (!entry.inverted) return;
    entry.inverted = false;
    const SymExpr last = values_.back();
    values_.pop_back();
    build(entry.position, [&] {
      if (entry.kind == Pending::sum) return context_.neg(last);
      if (last == SymExpr(0)) fail("division by zero");
      return context_.pow(last, -1);
    });
  }

  void comma() {
    reduce(1);
    if (!stack_.empty()) return;
    reader_.fail_at(reader_.position() - 1, "unexpected `,` outside of parentheses");
  }

  void close() {
    reduce(1);
    const std::size_t at = reader_.position() - 1;
    if (stack_.empty()) reader_.fail_at(at, "unexpected `)`: nothing is open here");
    const Entry entry = stack_.back();
    stack_.pop_back();
    const std::size_t count = values_.size() - entry.first_value;
    const bool is_call = entry.kind == Pending::call;
    if (!is_call && count == 1) return;
    // Whether it is all of an operand of the call around it.
    const char next = reader_.peek();
    const bool alone = next == ',' || next == ')';
    if (!is_call || entry.callee.is_pair) {
      const bool in_piecewise = !stack_.empty() && stack_.back().callee.op == SymOp::piecewise;
      if (count == 2 && in_piecewise && alone) return;  // its operands
      reader_.fail_at(entry.position, "a pair stands only in Piecewise, and has two parts");
    }
    // The operands of Add in Add become operands of the outer one, without building the inner.
    const bool inside = !stack_.empty() && stack_.back().callee.op == entry.callee.op;
    if (inside && alone && count > 0 && is_associative(entry.callee.op)) return;
    call(entry);
  }

  void call(const Entry& entry) {
    const std::vector<SymExpr> operands = take_values(entry.first_value);
    build(entry.position, [&] {
      if (entry.callee.op) return context_.make(*entry.callee.op, operands);
      const TextFunction& function = *entry.callee.function;
      const auto count = static_cast<std::ptrdiff_t>(operands.size());
      if (count < function.min_operands || count > function.max_operands) {
        fail("{} takes {} operands, but has {}", function.name, function.min_operands, count);
      }
      return function.build(context_, operands);
    });
  }

  // --- Stacks ---

  void push(Pending kind, std::size_t position, std::string_view token = {}) {
    Entry entry;
    entry.kind = kind;
    entry.position = position;
    entry.first_value = values_.size();
    entry.token = token;
    stack_.push_back(entry);
  }

  /// Completes what binds at least as tightly as `least`, back to the innermost parenthesis.
  void reduce(int least) {
    while (!stack_.empty() && binding(stack_.back().kind) >= std::max(least, 1)) {
      invert_last(stack_.back());
      const Entry entry = stack_.back();
      stack_.pop_back();
      const std::vector<SymExpr> operands = take_values(entry.first_value);
      build(entry.position, [&] { return combine(entry, operands); });
    }
  }

  SymExpr combine(const Entry& entry, std::span<const SymExpr> o) {
    const std::string_view token = entry.token;
    switch (entry.kind) {
      case Pending::sum:
        return context_.add(o);
      case Pending::product:
        return product(o);
      case Pending::bit_or:
        return context_.lor(o);
      case Pending::bit_and:
        return context_.land(o);
      case Pending::power:
        return context_.pow(o[0], o[1]);
      case Pending::shift:
        return token == "<<" ? context_.lshift(o[0], o[1]) : context_.rshift(o[0], o[1]);
      case Pending::binary_product:
        return token == "//" ? context_.floor_div(o[0], o[1]) : context_.python_mod(o[0], o[1]);
      case Pending::unary:
        if (token == "~") return context_.lnot(o[0]);
        return token == "-" ? context_.neg(o[0]) : o[0];
      default:
        break;
    }
    if (token == "==") return context_.eq(o[0], o[1]);
    if (token == "!=") return context_.ne(o[0], o[1]);
    if (token == "<") return context_.lt(o[0], o[1]);
    if (token == "<=") return context_.le(o[0], o[1]);
    return token == ">" ? context_.gt(o[0], o[1]) : context_.ge(o[0], o[1]);
  }

  /// From the left as in Python, where a number times a sum is a sum before the next factor comes;
  /// all at once as soon as the order does not matter.
  SymExpr product(std::span<const SymExpr> factors) {
    SymExpr result = factors[0];
    std::size_t next = 1;
    while (next < factors.size() &&
           (is_number(context_, result) || context_.op(result) == SymOp::add)) {
      result = context_.mul(result, factors[next++]);
    }
    std::vector<SymExpr> rest = {result};
    rest.insert(rest.end(), factors.begin() + static_cast<std::ptrdiff_t>(next), factors.end());
    return context_.mul(rest);
  }

  std::vector<SymExpr> take_values(std::size_t first) {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<SymExpr> taken(begin, values_.end());
    values_.erase(begin, values_.end());
    return taken;
  }

  /// Pushes what `make` builds; its errors point at `position`.
  template <typename Make>
  void build(std::size_t position, Make make) {
    try {
      values_.push_back(make());
    } catch (const Error& error) {
      reader_.fail_at(position, error);
    }
    if (context_.store().work() > most_work_) {
      reader_.fail_at(position, "the expression grows too large when it is simplified",
                      "write it without sums nested in sums");
    }
  }

  SymbolicContext& context_;
  const SymParseOptions& options_;
  TextReader reader_;
  std::uint64_t most_work_;
  std::vector<Entry> stack_;
  std::vector<SymExpr> values_;
};

}  // namespace

SymExpr SymbolicContext::parse(std::string_view text, const SymParseOptions& options) {
  return Parser(*this, text, options).parse();
}

}  // namespace winze
