// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "winze/schema/type.h"

namespace winze {

/// A kind of type with its name in the schema language.
struct TypeName {
  TypeKind kind;
  std::string_view name;
};

/// Every kind that one word names; for tuple the word is empty. In order of TypeKind.
inline constexpr std::array type_names = {
    TypeName{TypeKind::tensor, "Tensor"},
    TypeName{TypeKind::int_, "int"},
    TypeName{TypeKind::sym_int, "SymInt"},
    TypeName{TypeKind::float_, "float"},
    TypeName{TypeKind::sym_float, "SymFloat"},
    TypeName{TypeKind::bool_, "bool"},
    TypeName{TypeKind::sym_bool, "SymBool"},
    TypeName{TypeKind::complex, "complex"},
    TypeName{TypeKind::scalar, "Scalar"},
    TypeName{TypeKind::str, "str"},
    TypeName{TypeKind::scalar_type, "ScalarType"},
    TypeName{TypeKind::layout, "Layout"},
    TypeName{TypeKind::memory_format, "MemoryFormat"},
    TypeName{TypeKind::qscheme, "QScheme"},
    TypeName{TypeKind::device, "Device"},
    TypeName{TypeKind::generator, "Generator"},
    TypeName{TypeKind::storage, "Storage"},
    TypeName{TypeKind::stream, "Stream"},
    TypeName{TypeKind::dimname, "Dimname"},
    TypeName{TypeKind::any, "Any"},
    TypeName{TypeKind::none, "NoneType"},
    TypeName{TypeKind::any_enum, "AnyEnumType"},
    TypeName{TypeKind::any_class, "AnyClassType"},
    TypeName{TypeKind::token, "Token"},
    TypeName{TypeKind::graph, "Graph"},
    TypeName{TypeKind::op, "Op"},
    TypeName{TypeKind::py_object, "PyObject"},
    TypeName{TypeKind::type_variable, "type variable"},
    TypeName{TypeKind::tuple, ""},
    TypeName{TypeKind::dict, "Dict"},
    TypeName{TypeKind::future, "Future"},
    TypeName{TypeKind::rref, "RRef"},
    TypeName{TypeKind::await, "Await"},
    TypeName{TypeKind::custom_class, "custom class"},
};

/// The word for a kind.
[[nodiscard]] constexpr std::string_view type_kind_name(TypeKind kind) {
  return type_names[static_cast<std::size_t>(kind)].name;
}

/// The kind that a word of the schema language stands for; none for type variables and classes.
[[nodiscard]] constexpr std::optional<TypeKind> find_type_kind(std::string_view word) {
  for (const TypeName& entry : type_names) {
    if (entry.name == word && !word.empty()) return entry.kind;
  }
  return std::nullopt;
}

}  // namespace winze
