// SPDX-License-Identifier: Apache-2.0
// Symbolic scalars: sizes of tensors as values, arithmetic on them, assertions.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// An int, float or bool as an expression.
SymExpr operand(const ShapeCall& call, std::uint32_t index) {
  const Argument given = call.argument(index);
  SymbolicContext& symbols = call.env().symbols();
  switch (given.kind()) {
    case ArgumentKind::integer:
      return given.integer();
    case ArgumentKind::boolean:
      return symbols.bool_constant(given.boolean());
    case ArgumentKind::floating:
      return symbols.float_constant(given.floating());
    default:
      break;
  }
  const Value value = call.value(index);
  if (!value.valid() || !value.meta().has_expression)
    call.cannot_infer("{} is given a number whose value is not known", call.op().qualified_name);
  return value.meta().expression;
}

void yield_expression(ShapeCall& call, SymExpr expression) {
  switch (call.env().symbols().kind(expression)) {
    case SymKind::int_kind:
      return call.yield_sym(ValueKind::sym_int, expression);
    case SymKind::float_kind:
      return call.yield_sym(ValueKind::sym_float, expression);
    case SymKind::bool_kind:
      return call.yield_sym(ValueKind::sym_bool, expression);
  }
}

bool is_float(const ShapeCall& call, SymExpr value) {
  return call.env().symbols().kind(value) == SymKind::float_kind;
}

void require_ints(const ShapeCall& call, SymExpr a, SymExpr b) {
  const SymbolicContext& symbols = call.env().symbols();
  if (symbols.kind(a) != SymKind::int_kind || symbols.kind(b) != SymKind::int_kind)
    call.cannot_infer("{} is given numbers that are no ints", call.op().qualified_name);
}

/// Two numbers, both floats where one is (torch/fx/experimental/sym_node.py promote).
struct Operands {
  SymExpr a;
  SymExpr b;
  bool are_floats;
};
Operands operands(const ShapeCall& call) {
  SymbolicContext& symbols = call.env().symbols();
  Operands given = {operand(call, 0), operand(call, 1), false};
  given.are_floats = is_float(call, given.a) || is_float(call, given.b);
  if (given.are_floats) {
    for (SymExpr* const value : {&given.a, &given.b})
      if (!is_float(call, *value)) *value = symbols.to_float(*value);
  } else {
    require_ints(call, given.a, given.b);
  }
  return given;
}

/// Binary operators on ints and floats; `parameter` is the SymOp.
void arithmetic(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  SymbolicContext& symbols = env.symbols();
  const Operands given = operands(call);
  const SymExpr a = given.a;
  const SymExpr b = given.b;
  switch (static_cast<SymOp>(call.parameter())) {
    case SymOp::add:
      return yield_expression(call, symbols.add(a, b));
    case SymOp::mul:
      return yield_expression(call, symbols.mul(a, b));
    case SymOp::max:
      return yield_expression(call, symbols.max(a, b));
    case SymOp::min:
      return yield_expression(call, symbols.min(a, b));
    default:
      break;
  }
  require_ints(call, a, b);
  switch (static_cast<SymOp>(call.parameter())) {
    case SymOp::floor_div:
      return yield_expression(call, env.floor_div(a, b));
    case SymOp::python_mod:
      return yield_expression(call, env.mod(a, b));
    default:
      call.cannot_infer("{} has no rule for these operands", call.op().qualified_name);
  }
}
void sub(ShapeCall& call) {
  const Operands given = operands(call);
  yield_expression(call, call.env().symbols().sub(given.a, given.b));
}
void truediv(ShapeCall& call) {
  const Operands given = operands(call);
  SymbolicContext& symbols = call.env().symbols();
  yield_expression(call, given.are_floats ? symbols.float_true_div(given.a, given.b)
                                          : symbols.int_true_div(given.a, given.b));
}
/// A power of ints is an int where the exponent is known not to be negative.
void pow(ShapeCall& call) {
  const Operands given = operands(call);
  SymbolicContext& symbols = call.env().symbols();
  if (given.are_floats) return yield_expression(call, symbols.float_pow(given.a, given.b));
  if (call.env().known_at_least(given.b, 0))
    return yield_expression(call, symbols.pow_by_natural(given.a, given.b));
  if (!call.env().known_less(given.b, 0))
    call.cannot_infer("whether the exponent of {} is negative is not known",
                      call.op().qualified_name);
  yield_expression(call, symbols.float_pow(symbols.to_float(given.a), symbols.to_float(given.b)));
}
/// `and`, `or` of bools or, bit by bit, of ints.
void logic(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  SymbolicContext& symbols = call.env().symbols();
  const bool is_and = static_cast<SymOp>(call.parameter()) == SymOp::bitwise_and;
  if (symbols.kind(a) == SymKind::bool_kind && symbols.kind(b) == SymKind::bool_kind)
    return yield_expression(call, is_and ? symbols.land(a, b) : symbols.lor(a, b));
  require_ints(call, a, b);
  yield_expression(call, is_and ? symbols.bitwise_and(a, b) : symbols.bitwise_or(a, b));
}
void bitwise_xor(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  require_ints(call, a, b);
  yield_expression(call, call.env().symbols().bitwise_xor(a, b));
}
/// `parameter` 0 shifts to the left, 1 to the right.
void shift(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  require_ints(call, a, b);
  SymbolicContext& symbols = call.env().symbols();
  yield_expression(call, call.parameter() == 0 ? symbols.lshift(a, b) : symbols.rshift(a, b));
}
void neg(ShapeCall& call) {
  yield_expression(call, call.env().symbols().neg(operand(call, 0)));
}
void pos(ShapeCall& call) {
  yield_expression(call, operand(call, 0));
}
void sym_abs(ShapeCall& call) {
  yield_expression(call, call.env().symbols().abs(operand(call, 0)));
}

/// Floats to ints; `parameter` says how. Ints stay.
void to_int(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  if (!is_float(call, a)) return yield_expression(call, a);
  SymbolicContext& symbols = call.env().symbols();
  switch (static_cast<SymOp>(call.parameter())) {
    case SymOp::ceil_to_int:
      return yield_expression(call, symbols.ceil_to_int(a));
    case SymOp::floor_to_int:
      return yield_expression(call, symbols.floor_to_int(a));
    default:
      return yield_expression(call, symbols.trunc_to_int(a));
  }
}

/// The second number where the first argument is true, else the third: a Piecewise, as in
/// torch/fx/experimental/sym_node.py `_sympy_ite`.
void sym_ite(ShapeCall& call) {
  SymbolicContext& symbols = call.env().symbols();
  const SymExpr pieces[] = {operand(call, 1), operand(call, 0), operand(call, 2),
                            symbols.bool_constant(true)};
  yield_expression(call, symbols.piecewise(pieces));
}
/// torch.sym_sum of a list.
void sym_sum(ShapeCall& call) {
  SymExpr sum = 0;
  for (const SymInt value : call.sym_ints(0)) sum = call.env().symbols().add(sum, value);
  yield_expression(call, sum);
}

/// Comparisons; `parameter` says which.
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
void compare(ShapeCall& call) {
  const auto [a, b, are_floats] = operands(call);
  SymbolicContext& symbols = call.env().symbols();
  switch (static_cast<Comparison>(call.parameter())) {
    case Comparison::eq:
      return yield_expression(call, symbols.eq(a, b));
    case Comparison::ne:
      return yield_expression(call, symbols.ne(a, b));
    case Comparison::lt:
      return yield_expression(call, symbols.lt(a, b));
    case Comparison::le:
      return yield_expression(call, symbols.le(a, b));
    case Comparison::gt:
      return yield_expression(call, symbols.gt(a, b));
    case Comparison::ge:
      return yield_expression(call, symbols.ge(a, b));
  }
}

void sym_not(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  if (call.env().symbols().kind(a) != SymKind::bool_kind)
    call.cannot_infer("sym_not is given what is no bool");
  yield_expression(call, call.env().symbols().lnot(a));
}

void sym_float(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  yield_expression(call, is_float(call, a) ? a : call.env().symbols().to_float(a));
}

void sym_size(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield_sym(ValueKind::sym_int, self.sizes[wrap_dim(call.sym_int(1), self.dim(), false)]);
}
void sym_stride(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield_sym(ValueKind::sym_int, self.strides[wrap_dim(call.sym_int(1), self.dim(), false)]);
}
void sym_numel(ShapeCall& call) {
  call.yield_sym(ValueKind::sym_int, numel(call.env(), call.tensor(0).sizes));
}
/// A size that may be either leaves the answer open.
void sym_is_contiguous(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const ShapeEnv& env = call.env();
  const MemoryFormat format = call.memory_format(1, MemoryFormat::contiguous_format);
  const bool is_so = format == MemoryFormat::contiguous_format ? is_contiguous(env, self)
                                                               : is_channels_last(env, self);
  const auto is_constant = [](SymInt value) { return value.is_constant(); };
  if (!is_so && !(std::ranges::all_of(self.sizes, is_constant) &&
                  std::ranges::all_of(self.strides, is_constant)))
    call.cannot_infer("whether the tensor is contiguous depends on symbols");
  yield_expression(call, env.symbols().bool_constant(is_so));
}
void sym_storage_offset(ShapeCall& call) {
  call.yield_sym(ValueKind::sym_int, call.tensor(0).storage_offset);
}

/// Assertions and the like yield nothing.
void nothing(ShapeCall& call) {
  static_cast<void>(call);
}

/// Functional assertions: argument `parameter` is a tensor that keeps them in order.
void dep_token(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(call.parameter())));
}

constexpr std::uint32_t with(SymOp op) {
  return static_cast<std::uint32_t>(op);
}
constexpr std::uint32_t with(Comparison comparison) {
  return static_cast<std::uint32_t>(comparison);
}

}  // namespace

std::span<const ShapeRow> symbolic_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__assert_async_default, nothing},
      {op::aten__functional_assert_async_msg, dep_token, 2},
      {op::aten__functional_assert_scalar_default, dep_token, 2},
      {op::aten__functional_sym_constrain_range_default, dep_token, 3},
      {op::aten__functional_sym_constrain_range_for_size_default, dep_token, 3},
      {op::aten__linalg_check_errors_default, nothing},
      {op::aten__print_default, nothing},
      {op::_operator_abs, sym_abs},
      {op::_operator_add, arithmetic, with(SymOp::add)},
      {op::_operator_and_, logic, with(SymOp::bitwise_and)},
      {op::_operator_eq, compare, with(Comparison::eq)},
      {op::_operator_floordiv, arithmetic, with(SymOp::floor_div)},
      {op::_operator_ge, compare, with(Comparison::ge)},
      {op::_operator_gt, compare, with(Comparison::gt)},
      {op::_operator_le, compare, with(Comparison::le)},
      {op::_operator_lshift, shift, 0},
      {op::_operator_lt, compare, with(Comparison::lt)},
      {op::_operator_mod, arithmetic, with(SymOp::python_mod)},
      {op::_operator_mul, arithmetic, with(SymOp::mul)},
      {op::_operator_ne, compare, with(Comparison::ne)},
      {op::_operator_neg, neg},
      {op::_operator_or_, logic, with(SymOp::bitwise_or)},
      {op::_operator_pos, pos},
      {op::_operator_pow, pow},
      {op::_operator_rshift, shift, 1},
      {op::_operator_sub, sub},
      {op::_operator_truediv, truediv},
      {op::_operator_xor, bitwise_xor},
      {op::aten__assert_async_msg, nothing},
      {op::aten__assert_scalar_default, nothing},
      {op::aten__assert_tensor_metadata_default, nothing},
      {op::aten_sym_constrain_range_default, nothing},
      {op::aten_sym_constrain_range_for_size_default, nothing},
      {op::aten_sym_is_contiguous_default, sym_is_contiguous},
      {op::aten_sym_numel_default, sym_numel},
      {op::aten_sym_size_int, sym_size},
      {op::aten_sym_storage_offset_default, sym_storage_offset},
      {op::aten_sym_stride_int, sym_stride},
      {op::math_ceil, to_int, with(SymOp::ceil_to_int)},
      {op::math_floor, to_int, with(SymOp::floor_to_int)},
      {op::math_trunc, to_int, with(SymOp::trunc_to_int)},
      {op::torch_sym_float, sym_float},
      {op::torch_sym_int, to_int, with(SymOp::trunc_to_int)},
      {op::torch_sym_ite, sym_ite},
      {op::torch_sym_max, arithmetic, with(SymOp::max)},
      {op::torch_sym_min, arithmetic, with(SymOp::min)},
      {op::torch_sym_not, sym_not},
      {op::torch_sym_sum, sym_sum},
  };
  return rows;
}

}  // namespace winze
