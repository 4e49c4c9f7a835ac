// SPDX-License-Identifier: Apache-2.0
// Symbolic scalars: sizes of tensors as values, arithmetic on them, assertions.
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

void require_ints(const ShapeCall& call, SymExpr a, SymExpr b) {
  const SymbolicContext& symbols = call.env().symbols();
  if (symbols.kind(a) != SymKind::int_kind || symbols.kind(b) != SymKind::int_kind)
    call.cannot_infer("{} is given numbers that are no ints", call.op().qualified_name);
}

/// Binary operators on ints; `parameter` is the SymOp.
void int_arithmetic(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  require_ints(call, a, b);
  const ShapeEnv& env = call.env();
  switch (static_cast<SymOp>(call.parameter())) {
    case SymOp::add:
      return yield_expression(call, env.add(a, b));
    case SymOp::mul:
      return yield_expression(call, env.mul(a, b));
    case SymOp::floor_div:
      return yield_expression(call, env.floor_div(a, b));
    case SymOp::max:
      return yield_expression(call, env.symbols().max(a, b));
    case SymOp::min:
      return yield_expression(call, env.symbols().min(a, b));
    default:
      call.cannot_infer("{} has no rule for these operands", call.op().qualified_name);
  }
}
void sub(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  require_ints(call, a, b);
  yield_expression(call, call.env().sub(a, b));
}
void neg(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  require_ints(call, a, a);
  yield_expression(call, call.env().symbols().neg(a));
}

/// Comparisons; `parameter` says which.
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
void compare(ShapeCall& call) {
  const SymExpr a = operand(call, 0);
  const SymExpr b = operand(call, 1);
  require_ints(call, a, b);
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
  yield_expression(call, call.env().symbols().to_float(operand(call, 0)));
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
void sym_storage_offset(ShapeCall& call) {
  call.yield_sym(ValueKind::sym_int, call.tensor(0).storage_offset);
}

/// Assertions and the like yield nothing.
void nothing(ShapeCall& call) {
  static_cast<void>(call);
}

constexpr std::uint32_t with(SymOp op) {
  return static_cast<std::uint32_t>(op);
}
constexpr std::uint32_t with(Comparison comparison) {
  return static_cast<std::uint32_t>(comparison);
}

constexpr ShapeRow rows[] = {
    {op::_operator_add, int_arithmetic, with(SymOp::add)},
    {op::_operator_eq, compare, with(Comparison::eq)},
    {op::_operator_floordiv, int_arithmetic, with(SymOp::floor_div)},
    {op::_operator_ge, compare, with(Comparison::ge)},
    {op::_operator_gt, compare, with(Comparison::gt)},
    {op::_operator_le, compare, with(Comparison::le)},
    {op::_operator_lt, compare, with(Comparison::lt)},
    {op::_operator_mul, int_arithmetic, with(SymOp::mul)},
    {op::_operator_ne, compare, with(Comparison::ne)},
    {op::_operator_neg, neg},
    {op::_operator_sub, sub},
    {op::aten__assert_async_msg, nothing},
    {op::aten__assert_scalar_default, nothing},
    {op::aten__assert_tensor_metadata_default, nothing},
    {op::aten_sym_constrain_range_default, nothing},
    {op::aten_sym_constrain_range_for_size_default, nothing},
    {op::aten_sym_numel_default, sym_numel},
    {op::aten_sym_size_int, sym_size},
    {op::aten_sym_storage_offset_default, sym_storage_offset},
    {op::aten_sym_stride_int, sym_stride},
    {op::torch_sym_float, sym_float},
    {op::torch_sym_max, int_arithmetic, with(SymOp::max)},
    {op::torch_sym_min, int_arithmetic, with(SymOp::min)},
    {op::torch_sym_not, sym_not},
};

}  // namespace

std::span<const ShapeRow> symbolic_rows() {
  return rows;
}

}  // namespace winze
