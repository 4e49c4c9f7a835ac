// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/sym_expr.h"

namespace winze {

void SymExpr::reserved(std::uint64_t bits) {
  fail("the integer {} cannot be held: values this near to the minimum of int64 are reserved",
       static_cast<std::int64_t>(bits));
}

void SymExpr::too_large(std::uint64_t value) {
  fail("the integer {} is out of the range of int64", value);
}

void SymExpr::not_constant() {
  throw InternalError("constant() was asked of a symbolic expression", "ask is_constant() first");
}

}  // namespace winze
