// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/sym_op.h"

#include <algorithm>
#include <array>

namespace winze {
namespace {

constexpr auto of_operands = std::optional<SymKind>();
constexpr std::int8_t any_number = -1;

using enum SymKind;

constexpr std::array<SymOpInfo, static_cast<std::size_t>(SymOp::count)> table = {{
    {SymOp::integer, "", 0, 0, int_kind},
    {SymOp::symbol, "", 0, 0, of_operands},
    {SymOp::rational, "", 0, 0, float_kind},
    {SymOp::float_constant, "", 0, 0, float_kind},
    {SymOp::true_constant, "", 0, 0, bool_kind},
    {SymOp::false_constant, "", 0, 0, bool_kind},
    {SymOp::int_infinity, "", 0, 0, int_kind},
    {SymOp::negative_int_infinity, "", 0, 0, int_kind},
    {SymOp::infinity, "", 0, 0, float_kind},
    {SymOp::negative_infinity, "", 0, 0, float_kind},
    {SymOp::complex_infinity, "", 0, 0, float_kind},
    {SymOp::nan, "", 0, 0, float_kind},
    {SymOp::add, "Add", 0, any_number, of_operands},
    {SymOp::mul, "Mul", 0, any_number, of_operands},
    {SymOp::max, "Max", 1, any_number, of_operands},
    {SymOp::min, "Min", 1, any_number, of_operands},
    {SymOp::pow, "Pow", 2, 2, of_operands},
    {SymOp::floor_div, "FloorDiv", 2, 2, of_operands},
    {SymOp::clean_div, "CleanDiv", 2, 2, of_operands},
    {SymOp::mod, "Mod", 2, 2, of_operands},
    {SymOp::python_mod, "PythonMod", 2, 2, of_operands},
    {SymOp::modular_indexing, "ModularIndexing", 3, 3, int_kind},
    {SymOp::pow_by_natural, "PowByNatural", 2, 2, int_kind},
    {SymOp::float_pow, "FloatPow", 2, 2, float_kind},
    {SymOp::int_true_div, "IntTrueDiv", 2, 2, float_kind},
    {SymOp::float_true_div, "FloatTrueDiv", 2, 2, float_kind},
    {SymOp::ceil_to_int, "CeilToInt", 1, 1, int_kind},
    {SymOp::floor_to_int, "FloorToInt", 1, 1, int_kind},
    {SymOp::trunc_to_int, "TruncToInt", 1, 1, int_kind},
    {SymOp::trunc_to_float, "TruncToFloat", 1, 1, float_kind},
    {SymOp::round_to_int, "RoundToInt", 1, 1, int_kind},
    {SymOp::round_decimal, "RoundDecimal", 2, 2, float_kind},
    {SymOp::to_float, "ToFloat", 1, 1, float_kind},
    {SymOp::abs, "Abs", 1, 1, of_operands},
    {SymOp::floor, "floor", 1, 1, int_kind},
    {SymOp::ceiling, "ceiling", 1, 1, int_kind},
    {SymOp::bitwise_and, "BitwiseFn_bitwise_and", 2, 2, of_operands},
    {SymOp::bitwise_or, "BitwiseFn_bitwise_or", 2, 2, of_operands},
    {SymOp::bitwise_xor, "BitwiseFn_bitwise_xor", 2, 2, of_operands},
    {SymOp::where, "Where", 3, 3, of_operands},
    {SymOp::piecewise, "Piecewise", 2, any_number, of_operands},
    {SymOp::identity, "Identity", 1, 1, of_operands},
    {SymOp::is_non_overlapping_and_dense_indicator, "IsNonOverlappingAndDenseIndicator", 0,
     any_number, int_kind},
    {SymOp::eq, "Equality", 2, 2, bool_kind},
    {SymOp::ne, "Unequality", 2, 2, bool_kind},
    {SymOp::lt, "StrictLessThan", 2, 2, bool_kind},
    {SymOp::le, "LessThan", 2, 2, bool_kind},
    {SymOp::land, "And", 0, any_number, bool_kind},
    {SymOp::lor, "Or", 0, any_number, bool_kind},
    {SymOp::lnot, "Not", 1, 1, bool_kind},
    {SymOp::opaque_sqrt, "OpaqueUnaryFn_sqrt", 1, 1, float_kind},
    {SymOp::opaque_cos, "OpaqueUnaryFn_cos", 1, 1, float_kind},
    {SymOp::opaque_cosh, "OpaqueUnaryFn_cosh", 1, 1, float_kind},
    {SymOp::opaque_sin, "OpaqueUnaryFn_sin", 1, 1, float_kind},
    {SymOp::opaque_sinh, "OpaqueUnaryFn_sinh", 1, 1, float_kind},
    {SymOp::opaque_tan, "OpaqueUnaryFn_tan", 1, 1, float_kind},
    {SymOp::opaque_tanh, "OpaqueUnaryFn_tanh", 1, 1, float_kind},
    {SymOp::opaque_asin, "OpaqueUnaryFn_asin", 1, 1, float_kind},
    {SymOp::opaque_acos, "OpaqueUnaryFn_acos", 1, 1, float_kind},
    {SymOp::opaque_atan, "OpaqueUnaryFn_atan", 1, 1, float_kind},
    {SymOp::opaque_exp, "OpaqueUnaryFn_exp", 1, 1, float_kind},
    {SymOp::opaque_log, "OpaqueUnaryFn_log", 1, 1, float_kind},
    {SymOp::opaque_asinh, "OpaqueUnaryFn_asinh", 1, 1, float_kind},
    {SymOp::opaque_log2, "OpaqueUnaryFn_log2", 1, 1, float_kind},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].op) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

/// Other spellings of the same functions.
struct Spelling {
  std::string_view name;
  SymOp op;
};
constexpr Spelling spellings[] = {
    {"Eq", SymOp::eq},
    {"Ne", SymOp::ne},
    {"Lt", SymOp::lt},
    {"Le", SymOp::le},
    // What PyTorch's functions become where Python's overflow: sympy's own, of the same value.
    {"cos", SymOp::opaque_cos},
    {"cosh", SymOp::opaque_cosh},
    {"sin", SymOp::opaque_sin},
    {"sinh", SymOp::opaque_sinh},
    {"tan", SymOp::opaque_tan},
    {"tanh", SymOp::opaque_tanh},
    {"asin", SymOp::opaque_asin},
    {"acos", SymOp::opaque_acos},
    {"atan", SymOp::opaque_atan},
    {"exp", SymOp::opaque_exp},
    {"log", SymOp::opaque_log},
    {"asinh", SymOp::opaque_asinh},
};

}  // namespace

const SymOpInfo& sym_op_info(SymOp op) {
  return table[static_cast<std::size_t>(op)];
}

std::optional<SymOp> find_sym_op(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto* row = std::ranges::find(table, name, &SymOpInfo::name);
  if (row != table.end()) return row->op;
  for (const Spelling& spelling : spellings) {
    if (spelling.name == name) return spelling.op;
  }
  return std::nullopt;
}

}  // namespace winze
