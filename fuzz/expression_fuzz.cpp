// SPDX-License-Identifier: Apache-2.0
// Expression texts: whatever can be read is printed, read back, evaluated, bounded and proved, and
// the answers must agree.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/unless_refused.h"
#include "winze/symbolic/symbolic_context.h"

namespace {

using winze::Proof;
using winze::SymbolicContext;
using winze::SymExpr;
using winze::SymKind;

void require(bool condition) {
  if (!condition) std::abort();
}

std::optional<winze::SymValue> small_value(SymExpr symbol) {
  return static_cast<std::int64_t>(symbol.index() % 7 + 1);
}

/// Both forms read back to the same expression.
void check_text(SymbolicContext& context, SymExpr expr) {
  require(context.parse(context.srepr(expr)) == expr);
  require(context.parse(context.str(expr)) == expr);
}

/// The value lies in the range, and a simplified form has the same one.
void check_value(SymbolicContext& context, SymExpr expr) {
  const auto value = context.evaluate_int(expr, small_value);
  const SymExpr simple = context.simplify(expr);
  if (!value) return;
  require(context.range(expr).contains(*value));
  if (const auto other = context.evaluate_int(simple, small_value)) require(*other == *value);
  if (context.kind(expr) != SymKind::int_kind || !SymExpr::fits(*value)) return;
  require(context.prove_eq(expr, *value) != Proof::no);
  require(context.prove_le(expr, *value) != Proof::no);
  require(context.prove_lt(expr, *value) != Proof::yes);
  require(context.prove_lt(*value, expr) != Proof::yes);
  if (*value % 3 != 0) require(context.prove_divisible(expr, 3) != Proof::yes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  SymbolicContext context;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expr = winze::unless_refused([&] {
    return context.parse(text, {.declare_as = winze::SymbolAssumptions::positive_integer()});
  });
  if (!expr) return 0;
  check_text(context, *expr);
  check_value(context, *expr);
  if (context.kind(*expr) == SymKind::bool_kind) context.prove(*expr);
  return 0;
}
