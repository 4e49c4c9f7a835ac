// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "winze/schema/type.h"

namespace winze {

/// An alias annotation: `(a)`, `(a!)`, `(a|b)`, `(a -> *)`, `(*)`.
///
/// Sets are bits; bit i is the set named `Schema::alias_sets[i]`. Two places whose sets meet may
/// share storage.
struct AliasInfo {
  std::uint64_t before = 0;   ///< sets when the call starts
  std::uint64_t after = 0;    ///< sets when it is done; equal to `before` without `->`
  bool before_any = false;    ///< `*`: may alias anything
  bool after_any = false;     ///< `*` after `->`: stored somewhere
  bool is_write = false;      ///< `!`: the storage is written
  bool has_arrow = false;     ///< `->` was written
  std::uint8_t position = 0;  ///< how many `?` and `[]` of the type stand before it: 0 in
                              ///< `Tensor(a!)[]`, 1 in `t[](a!)`

  friend bool operator==(const AliasInfo&, const AliasInfo&) = default;
};

/// A default that is `None`.
struct NoneValue {
  friend bool operator==(NoneValue, NoneValue) = default;
};

/// A default of type ScalarType, Layout, MemoryFormat or QScheme, in the numbering of the c10
/// enumerations.
struct EnumValue {
  TypeKind kind = TypeKind::scalar_type;
  std::int64_t value = 0;
  friend bool operator==(const EnumValue&, const EnumValue&) = default;
};

/// A default of type Device: `cpu`, `cuda:0`.
struct DeviceValue {
  std::string text;
  friend bool operator==(const DeviceValue&, const DeviceValue&) = default;
};

/// A default value with the type that the argument's type gives it: `1` is a float for `float x=1`.
using DefaultValue =
    std::variant<NoneValue, std::int64_t, double, bool, std::complex<double>, std::string,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<bool>,
                 std::vector<std::string>, EnumValue, DeviceValue>;

struct SchemaArgument {
  std::string_view name;  ///< empty where the schema gives none
  Type type;
  std::optional<DefaultValue> default_value;
  std::string_view default_text;  ///< as the schema spells it
  std::optional<AliasInfo> alias;
  bool kwarg_only = false;
};

struct SchemaReturn {
  std::string_view name;  ///< mostly empty
  Type type;
  std::optional<AliasInfo> alias;
};

/// The signature of an operator, in PyTorch's schema language with the additions that
/// schemas/README.md tells.
///
/// Names are views into the text the schema was parsed from, which the schema keeps alive where
/// needed.
struct Schema {
  std::string_view ns;        ///< `aten`
  std::string_view name;      ///< `add`
  std::string_view overload;  ///< `Tensor`; empty for the default overload
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;
  std::vector<std::string_view> alias_sets;  ///< names of the alias sets, by bit
  bool is_variadic_arguments = false;        ///< `...` after the arguments
  bool is_variadic_returns = false;          ///< `...` as or after the results
  bool is_tuple_return = false;              ///< `-> (Tensor)`: one result, yet in parentheses
  std::shared_ptr<const char[]>
      text;  ///< what the views point into; null for text of static storage

  /// Index of the argument of that name, or -1. Linear in the number of arguments.
  [[nodiscard]] int find_argument(std::string_view argument_name) const;
  /// Index of the argument that is `position` among those given by position: those of `...` follow
  /// keyword-only ones.
  [[nodiscard]] std::uint32_t index_of_position(std::uint32_t position) const;
  /// Where a call that is given the arguments of another operator, from position `first` on or by
  /// keyword, has its argument `position`, which is named so.
  [[nodiscard]] std::uint32_t index_for(std::string_view argument_name, std::uint32_t first,
                                        std::uint32_t position) const;
  /// How many arguments may be given by position.
  [[nodiscard]] int positional_count() const;
};

/// The text of a schema; for every schema that parse_schema read from canonical text it is that
/// text.
[[nodiscard]] std::string print_schema(const Schema& schema);

}  // namespace winze
