// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "winze/ir/argument.h"
#include "winze/ir/context.h"
#include "winze/schema/op.h"

namespace winze {

/// A set of argument kinds.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<ArgumentKind> kinds) {
    for (ArgumentKind kind : kinds) bits_ |= bit(kind);
  }
  [[nodiscard]] constexpr bool contains(ArgumentKind kind) const {
    return (bits_ & bit(kind)) != 0;
  }
  constexpr KindSet operator|(KindSet other) const {
    KindSet result;
    result.bits_ = bits_ | other.bits_;
    return result;
  }

 private:
  static constexpr std::uint32_t bit(ArgumentKind kind) {
    return 1u << static_cast<unsigned>(kind);
  }
  std::uint32_t bits_ = 0;
};

/// One argument of an operator, ready for checking and for filling in.
struct ArgumentSignature {
  KindSet kinds;          ///< what a call may pass
  KindSet element_kinds;  ///< what the elements of a `list` may be
  bool has_default = false;
  bool kwarg_only = false;
  Argument default_value;  ///< valid where has_default
};

/// An operator's arguments as a graph needs them. One for each operator and context.
struct OpSignature {
  const Op* op = nullptr;
  std::vector<ArgumentSignature> arguments;
  bool variadic = false;          ///< further positional arguments of any kind may follow
  bool fixed_values = true;       ///< the schema alone says how many values a call yields
  std::uint32_t value_count = 0;  ///< with fixed_values
};

/// Derives the signature from the schema; defaults are interned in `context`.
[[nodiscard]] OpSignature make_op_signature(Context& context, const Op& op);

/// What a call may pass for a type of the schema language. Where the schema says Tensor, export
/// also leaves Python numbers (`aten.add.Tensor(x, 1)`).
[[nodiscard]] KindSet kinds_of_type(const Type& type);

/// An argument kind in words, for messages: `a list of ints`.
[[nodiscard]] std::string_view describe(ArgumentKind kind);

/// Equal in kind and content. Only for attributes: lists in slots are never equal.
[[nodiscard]] bool same_attribute(const Argument& a, const Argument& b);

}  // namespace winze
