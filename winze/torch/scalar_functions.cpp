// SPDX-License-Identifier: Apache-2.0
// Functions of Python numbers that export leaves in a graph, with Python's semantics.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

#include <c10/util/Exception.h>

#include "winze/symbolic/scalar_functions.h"
#include "winze/torch/native_functions.h"

namespace winze {
namespace {

using c10::IValue;
using Numbers = std::span<const IValue>;
using ScalarFunction = IValue (*)(Numbers);

bool is_float(const IValue& value) {
  return value.isDouble();
}

/// An int or a bool, as Python counts with it; a tensor of one element stands for its number.
std::int64_t int_of(const IValue& value) {
  if (value.isBool()) return value.toBool() ? 1 : 0;
  TORCH_CHECK(value.isInt(), "an int is wanted, and a ", value.tagKind(), " is there");
  return value.toInt();
}

double float_of(const IValue& value) {
  return is_float(value) ? value.toDouble() : static_cast<double>(int_of(value));
}

bool any_float(Numbers numbers) {
  return std::any_of(numbers.begin(), numbers.end(), is_float);
}

template <typename Exact>
IValue exactly(const char* name, std::int64_t a, std::int64_t b, Exact exact) {
  std::int64_t result = 0;
  TORCH_CHECK(!exact(a, b, &result), a, " ", name, " ", b, " does not fit into 64 bits");
  return result;
}

IValue add(Numbers n) {
  if (any_float(n)) return float_of(n[0]) + float_of(n[1]);
  return exactly("+", int_of(n[0]), int_of(n[1]),
                 [](auto a, auto b, auto* r) { return __builtin_add_overflow(a, b, r); });
}
IValue sub(Numbers n) {
  if (any_float(n)) return float_of(n[0]) - float_of(n[1]);
  return exactly("-", int_of(n[0]), int_of(n[1]),
                 [](auto a, auto b, auto* r) { return __builtin_sub_overflow(a, b, r); });
}
IValue mul(Numbers n) {
  if (any_float(n)) return float_of(n[0]) * float_of(n[1]);
  return exactly("*", int_of(n[0]), int_of(n[1]),
                 [](auto a, auto b, auto* r) { return __builtin_mul_overflow(a, b, r); });
}

std::int64_t floor_division(std::int64_t a, std::int64_t b) {
  TORCH_CHECK(b != 0, "integer division by zero");
  TORCH_CHECK(b != -1 || a != std::numeric_limits<std::int64_t>::min(),
              "the quotient does not fit into 64 bits");
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

double float_modulo(double a, double b) {
  TORCH_CHECK(b != 0, "float modulo by zero");
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  return remainder == 0 ? std::copysign(0.0, b) : remainder;
}

IValue floordiv(Numbers n) {
  if (!any_float(n)) return floor_division(int_of(n[0]), int_of(n[1]));
  const double a = float_of(n[0]);
  const double b = float_of(n[1]);
  return std::round((a - float_modulo(a, b)) / b);
}
IValue mod(Numbers n) {
  if (any_float(n)) return float_modulo(float_of(n[0]), float_of(n[1]));
  const std::int64_t b = int_of(n[1]);
  return b == -1 ? 0 : int_of(n[0]) - floor_division(int_of(n[0]), b) * b;
}
IValue truediv(Numbers n) {
  TORCH_CHECK(float_of(n[1]) != 0, "division by zero");
  return float_of(n[0]) / float_of(n[1]);
}

IValue pow(Numbers n) {
  if (any_float(n) || int_of(n[1]) < 0) {
    const std::optional<double> result = python_float_pow(float_of(n[0]), float_of(n[1]));
    TORCH_CHECK(result, float_of(n[0]), " ** ", float_of(n[1]), " has no real value");
    return *result;
  }
  std::int64_t base = int_of(n[0]);
  std::int64_t result = 1;
  for (std::int64_t exponent = int_of(n[1]); exponent != 0; exponent >>= 1) {
    bool overflow = (exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result);
    if (exponent > 1) overflow = __builtin_mul_overflow(base, base, &base) || overflow;
    TORCH_CHECK(!overflow, "a power does not fit into 64 bits");
  }
  return result;
}

/// Keeps bool where Python does: `True & False` is a bool.
template <typename Function>
IValue bitwise(Numbers n, Function function) {
  const std::int64_t result = function(int_of(n[0]), int_of(n[1]));
  if (n[0].isBool() && n[1].isBool()) return result != 0;
  return result;
}
IValue bitwise_and(Numbers n) {
  return bitwise(n, std::bit_and<>());
}
IValue bitwise_or(Numbers n) {
  return bitwise(n, std::bit_or<>());
}
IValue bitwise_xor(Numbers n) {
  return bitwise(n, std::bit_xor<>());
}
IValue lshift(Numbers n) {
  TORCH_CHECK(int_of(n[1]) >= 0 && int_of(n[1]) < 63, "a shift by ", int_of(n[1]), " is too far");
  return exactly("<<", int_of(n[0]), std::int64_t{1} << int_of(n[1]),
                 [](auto a, auto b, auto* r) { return __builtin_mul_overflow(a, b, r); });
}
IValue rshift(Numbers n) {
  TORCH_CHECK(int_of(n[1]) >= 0, "negative shift count");
  return int_of(n[0]) >> std::min<std::int64_t>(int_of(n[1]), 63);
}

template <typename Function>
bool compare(Numbers n, Function function) {
  return any_float(n) ? function(float_of(n[0]), float_of(n[1]))
                      : function(int_of(n[0]), int_of(n[1]));
}
IValue eq(Numbers n) {
  return compare(n, std::equal_to<>());
}
IValue ne(Numbers n) {
  return compare(n, std::not_equal_to<>());
}
IValue lt(Numbers n) {
  return compare(n, std::less<>());
}
IValue le(Numbers n) {
  return compare(n, std::less_equal<>());
}
IValue gt(Numbers n) {
  return compare(n, std::greater<>());
}
IValue ge(Numbers n) {
  return compare(n, std::greater_equal<>());
}

IValue neg(Numbers n) {
  return is_float(n[0]) ? IValue(-float_of(n[0])) : IValue(-int_of(n[0]));
}
IValue pos(Numbers n) {
  return is_float(n[0]) ? n[0] : IValue(int_of(n[0]));
}
IValue abs(Numbers n) {
  return is_float(n[0]) ? IValue(std::fabs(float_of(n[0]))) : IValue(std::abs(int_of(n[0])));
}
IValue max(Numbers n) {
  return compare(n, std::less<>()) ? n[1] : n[0];
}
IValue min(Numbers n) {
  return compare(n, std::greater<>()) ? n[1] : n[0];
}
IValue ite(Numbers n) {
  return n[0].toBool() ? n[1] : n[2];
}
IValue logical_not(Numbers n) {
  return !(n[0].isBool() ? n[0].toBool() : int_of(n[0]) != 0);
}
IValue to_float(Numbers n) {
  return float_of(n[0]);
}

std::int64_t rounded(double value) {
  TORCH_CHECK(std::fabs(value) < 9.2e18, "cannot make an int of ", value);
  return static_cast<std::int64_t>(value);
}
IValue to_int(Numbers n) {
  return is_float(n[0]) ? rounded(std::trunc(float_of(n[0]))) : int_of(n[0]);
}
IValue ceil(Numbers n) {
  return is_float(n[0]) ? rounded(std::ceil(float_of(n[0]))) : int_of(n[0]);
}
IValue floor(Numbers n) {
  return is_float(n[0]) ? rounded(std::floor(float_of(n[0]))) : int_of(n[0]);
}

IValue sum(Numbers n) {
  IValue total(std::int64_t{0});
  for (const IValue& element : n) {
    if (element.isList()) {
      for (const IValue& inner : element.toListRef()) total = add(std::array{total, inner});
    } else {
      total = add(std::array{total, element});
    }
  }
  return total;
}

template <double (*function)(double)>
IValue real_function(Numbers n) {
  const double result = function(float_of(n[0]));
  TORCH_CHECK(!std::isnan(result) || std::isnan(float_of(n[0])), "math domain error");
  return result;
}

template <ScalarFunction function>
void call(Machine& /*machine*/, const Instruction& instruction, Stack& stack) {
  const std::size_t count = instruction.operand_count;
  IValue result = function(Numbers(stack).last(count));
  stack.resize(stack.size() - count);
  stack.push_back(std::move(result));
}

constexpr NamedFunction scalar_functions[] = {
    {"_operator.abs", call<abs>},
    {"_operator.add", call<add>},
    {"_operator.and_", call<bitwise_and>},
    {"_operator.eq", call<eq>},
    {"_operator.floordiv", call<floordiv>},
    {"_operator.ge", call<ge>},
    {"_operator.gt", call<gt>},
    {"_operator.le", call<le>},
    {"_operator.lshift", call<lshift>},
    {"_operator.lt", call<lt>},
    {"_operator.mod", call<mod>},
    {"_operator.mul", call<mul>},
    {"_operator.ne", call<ne>},
    {"_operator.neg", call<neg>},
    {"_operator.or_", call<bitwise_or>},
    {"_operator.pos", call<pos>},
    {"_operator.pow", call<pow>},
    {"_operator.rshift", call<rshift>},
    {"_operator.sub", call<sub>},
    {"_operator.truediv", call<truediv>},
    {"_operator.xor", call<bitwise_xor>},
    {"math.ceil", call<ceil>},
    {"math.floor", call<floor>},
    {"math.trunc", call<to_int>},
    {"torch.fx.experimental.symbolic_shapes.cast_symbool_to_symint_guardless", call<to_int>},
    {"torch._sym_acos", call<real_function<std::acos>>},
    {"torch._sym_asin", call<real_function<std::asin>>},
    {"torch._sym_atan", call<real_function<std::atan>>},
    {"torch._sym_cos", call<real_function<std::cos>>},
    {"torch._sym_cosh", call<real_function<std::cosh>>},
    {"torch._sym_log2", call<real_function<std::log2>>},
    {"torch._sym_sin", call<real_function<std::sin>>},
    {"torch._sym_sinh", call<real_function<std::sinh>>},
    {"torch._sym_sqrt", call<real_function<std::sqrt>>},
    {"torch._sym_tan", call<real_function<std::tan>>},
    {"torch._sym_tanh", call<real_function<std::tanh>>},
    {"torch.sym_float", call<to_float>},
    {"torch.sym_int", call<to_int>},
    {"torch.sym_ite", call<ite>},
    {"torch.sym_max", call<max>},
    {"torch.sym_min", call<min>},
    {"torch.sym_not", call<logical_not>},
    {"torch.sym_sum", call<sum>},
};

}  // namespace

NativeFunction find_scalar_function(std::string_view name) {
  return find_function(scalar_functions, name);
}

}  // namespace winze
