// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/text_functions.h"

namespace winze {
namespace {

using Operands = std::span<const SymExpr>;

constexpr TextFunction functions[] = {
    {"GreaterThan", 2, 2, [](SymbolicContext& c, Operands o) { return c.ge(o[0], o[1]); }},
    {"StrictGreaterThan", 2, 2, [](SymbolicContext& c, Operands o) { return c.gt(o[0], o[1]); }},
    {"Ge", 2, 2, [](SymbolicContext& c, Operands o) { return c.ge(o[0], o[1]); }},
    {"Gt", 2, 2, [](SymbolicContext& c, Operands o) { return c.gt(o[0], o[1]); }},
    {"CeilDiv", 2, 2, [](SymbolicContext& c, Operands o) { return c.ceil_div(o[0], o[1]); }},
    {"LShift", 2, 2, [](SymbolicContext& c, Operands o) { return c.lshift(o[0], o[1]); }},
    {"RShift", 2, 2, [](SymbolicContext& c, Operands o) { return c.rshift(o[0], o[1]); }},
    {"sqrt", 1, 1, [](SymbolicContext& c, Operands o) { return c.pow(o[0], c.rational(1, 2)); }},
    {"IntInfinity", 0, 0, [](SymbolicContext&, Operands) { return SymbolicContext::int_oo(); }},
    {"NegativeIntInfinity", 0, 0,
     [](SymbolicContext&, Operands) { return SymbolicContext::negative_int_oo(); }},
};

struct TextConstant {
  std::string_view name;
  SymOp op;
};
constexpr TextConstant constants[] = {
    {"true", SymOp::true_constant},   {"True", SymOp::true_constant},
    {"false", SymOp::false_constant}, {"False", SymOp::false_constant},
    {"oo", SymOp::infinity},          {"int_oo", SymOp::int_infinity},
    {"zoo", SymOp::complex_infinity}, {"nan", SymOp::nan},
};

}  // namespace

const TextFunction* find_text_function(std::string_view name) {
  for (const TextFunction& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::optional<SymExpr> find_text_constant(std::string_view name) {
  for (const TextConstant& constant : constants) {
    if (constant.name == name) return ExprStore::atom(constant.op);
  }
  return std::nullopt;
}

}  // namespace winze
