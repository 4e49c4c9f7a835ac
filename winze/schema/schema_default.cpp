// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema_default.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace winze {
namespace {

struct NamedEnum {
  TypeKind kind;
  std::string_view name;
  std::int64_t value;
};

/// Enumerators as schema texts write them, with their numbers in c10 (ScalarType.h, Layout.h,
/// MemoryFormat.h) and, for reductions, in at::Reduction.
constexpr std::array named_enums = {
    NamedEnum{TypeKind::scalar_type, "uint8", 0},
    NamedEnum{TypeKind::scalar_type, "int8", 1},
    NamedEnum{TypeKind::scalar_type, "int16", 2},
    NamedEnum{TypeKind::scalar_type, "short", 2},
    NamedEnum{TypeKind::scalar_type, "int32", 3},
    NamedEnum{TypeKind::scalar_type, "int", 3},
    NamedEnum{TypeKind::scalar_type, "int64", 4},
    NamedEnum{TypeKind::scalar_type, "long", 4},
    NamedEnum{TypeKind::scalar_type, "float16", 5},
    NamedEnum{TypeKind::scalar_type, "half", 5},
    NamedEnum{TypeKind::scalar_type, "float32", 6},
    NamedEnum{TypeKind::scalar_type, "float", 6},
    NamedEnum{TypeKind::scalar_type, "float64", 7},
    NamedEnum{TypeKind::scalar_type, "double", 7},
    NamedEnum{TypeKind::scalar_type, "complex32", 8},
    NamedEnum{TypeKind::scalar_type, "complex64", 9},
    NamedEnum{TypeKind::scalar_type, "complex128", 10},
    NamedEnum{TypeKind::scalar_type, "bool", 11},
    NamedEnum{TypeKind::scalar_type, "bfloat16", 15},
    NamedEnum{TypeKind::layout, "strided", 0},
    NamedEnum{TypeKind::layout, "sparse_coo", 1},
    NamedEnum{TypeKind::layout, "sparse_csr", 2},
    NamedEnum{TypeKind::memory_format, "contiguous_format", 0},
    NamedEnum{TypeKind::memory_format, "preserve_format", 1},
    NamedEnum{TypeKind::memory_format, "channels_last", 2},
    NamedEnum{TypeKind::memory_format, "channels_last_3d", 3},
    NamedEnum{TypeKind::int_, "None", 0},
    NamedEnum{TypeKind::int_, "Mean", 1},
    NamedEnum{TypeKind::int_, "Sum", 2},
};

std::int64_t find_enum(SchemaLexer& lexer, TypeKind kind, std::string_view word,
                       std::size_t start) {
  for (const NamedEnum& entry : named_enums) {
    if (entry.kind == kind && entry.name == word) return entry.value;
  }
  lexer.fail_at(start, fmt::format("unknown value `{}`", word));
}

std::int64_t parse_integer(SchemaLexer& lexer) {
  std::size_t start = lexer.skip_space();
  if (lexer.at_word()) return find_enum(lexer, TypeKind::int_, lexer.word("a value"), start);
  return lexer.integer("an integer");
}

double parse_float(SchemaLexer& lexer) {
  std::size_t start = lexer.skip_space();
  std::string_view text = lexer.number();
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    lexer.fail_at(start, fmt::format("`{}` is not a number", text));
  }
  return value;
}

bool parse_bool(SchemaLexer& lexer) {
  std::size_t start = lexer.skip_space();
  std::string_view word = lexer.word("`True` or `False`");
  if (word == "True" || word == "true") return true;
  if (word == "False" || word == "false") return false;
  lexer.fail_at(start, fmt::format("expected `True` or `False`, not `{}`", word));
}

/// A number for an argument of type Scalar keeps the kind that its spelling has.
DefaultValue parse_scalar(SchemaLexer& lexer) {
  char next = lexer.peek();
  if (next == 'T' || next == 'F' || next == 't' || next == 'f') return parse_bool(lexer);
  std::size_t start = lexer.skip_space();
  SchemaLexer ahead = lexer;
  std::string_view text = ahead.number();
  if (text.ends_with('j')) {
    double imaginary = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, imaginary);
    if (error != std::errc() || end != text.data() + text.size() - 1) {
      lexer.fail_at(start, fmt::format("`{}` is not a number", text));
    }
    lexer = ahead;
    return std::complex<double>(0, imaginary);
  }
  if (text.find_first_not_of("+-0123456789") == std::string_view::npos)
    return lexer.integer("a number");
  return parse_float(lexer);
}

DefaultValue parse_enum(SchemaLexer& lexer, TypeKind kind) {
  std::size_t start = lexer.skip_space();
  if (lexer.at_word()) return EnumValue{kind, find_enum(lexer, kind, lexer.word("a value"), start)};
  return EnumValue{kind, lexer.integer("a value")};
}

DefaultValue parse_device(SchemaLexer& lexer) {
  char next = lexer.peek();
  if (next == '"' || next == '\'') return DeviceValue{lexer.quoted()};
  std::string text(lexer.word("a device"));
  if (lexer.accept(":")) text += fmt::format(":{}", lexer.integer("a device index"));
  return DeviceValue{std::move(text)};
}

template <typename T, typename Parse>
std::vector<T> parse_elements(SchemaLexer& lexer, int list_size, Parse parse) {
  if (list_size > 0 && lexer.peek() != '[') {  // one value for all of `T[N]`
    return std::vector<T>(static_cast<std::size_t>(list_size), parse(lexer));
  }
  lexer.expect("[");
  std::vector<T> values;
  if (lexer.accept("]")) return values;
  do {
    values.push_back(parse(lexer));
  } while (lexer.accept(","));
  lexer.expect("]");
  return values;
}

DefaultValue parse_list(SchemaLexer& lexer, const Type& type) {
  int size = type.list_size();
  switch (type.element().without_optional().base_kind()) {
    case TypeKind::float_:
      return parse_elements<double>(lexer, size, parse_float);
    case TypeKind::bool_:
      return parse_elements<bool>(lexer, size, parse_bool);
    case TypeKind::str:
      return parse_elements<std::string>(lexer, size,
                                         [](SchemaLexer& inner) { return inner.quoted(); });
    case TypeKind::int_:
    case TypeKind::sym_int:
      return parse_elements<std::int64_t>(lexer, size, parse_integer);
    default:  // lists of tensors and the like have no default but the empty one
      lexer.expect("[");
      lexer.expect("]");
      return std::vector<std::int64_t>();
  }
}

bool accept_none(SchemaLexer& lexer) {
  SchemaLexer ahead = lexer;
  if (!ahead.at_word() || ahead.word("a value") != "None") return false;
  lexer = ahead;
  return true;
}

}  // namespace

DefaultValue parse_default(SchemaLexer& lexer, const Type& type) {
  // Outside optionals, `None` may be a default of Any and of Tensor (undefined); for an int it is a
  // reduction.
  if (type.base_kind() != TypeKind::int_ || type.is_optional()) {
    if (accept_none(lexer)) return NoneValue{};
  }
  Type inner = type.without_optional();
  if (inner.is_list()) return parse_list(lexer, inner);
  switch (inner.base_kind()) {
    case TypeKind::int_:
    case TypeKind::sym_int:
      return parse_integer(lexer);
    case TypeKind::float_:
    case TypeKind::sym_float:
      return parse_float(lexer);
    case TypeKind::bool_:
    case TypeKind::sym_bool:
      return parse_bool(lexer);
    case TypeKind::str:
      return lexer.quoted();
    case TypeKind::scalar_type:
    case TypeKind::layout:
    case TypeKind::memory_format:
    case TypeKind::qscheme:
      return parse_enum(lexer, inner.base_kind());
    case TypeKind::device:
      return parse_device(lexer);
    case TypeKind::scalar:
    case TypeKind::complex:
    case TypeKind::any:
      return parse_scalar(lexer);
    default:
      lexer.fail_here(
          fmt::format("an argument of type `{}` can have no default but `None`", type.str()));
  }
}

}  // namespace winze
