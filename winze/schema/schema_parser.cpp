// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema_parser.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "winze/schema/schema_default.h"
#include "winze/schema/schema_lexer.h"
#include "winze/schema/type_names.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

/// Types in types (`Dict(str, (int, t)[])`) go at most so deep.
constexpr int max_type_depth = 16;
/// Alias sets are bits of a word.
constexpr std::size_t max_alias_sets = 64;

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : lexer_(text) {}

  Schema parse() {
    parse_name();
    parse_arguments();
    lexer_.expect("->");
    parse_returns();
    if (!lexer_.at_end()) lexer_.fail_here("unexpected text after the results");
    return std::move(schema_);
  }

  Type parse_whole_type() {
    std::optional<AliasInfo> alias;
    Type type = parse_type_and_alias(alias, 0);
    if (alias) lexer_.fail_at(0, "alias annotation where only a type may stand");
    if (!lexer_.at_end()) lexer_.fail_here("unexpected text after the type");
    return type;
  }

 private:
  void parse_name() {
    schema_.ns = lexer_.dotted_word("a namespace");
    lexer_.expect("::");
    schema_.name = lexer_.word("an operator name");
    if (lexer_.accept(".")) schema_.overload = lexer_.word("an overload name");
  }

  void parse_arguments() {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    schema_.arguments.reserve(lexer_.count_before_end(',') + 1);
    bool kwarg_only = false;
    do {
      if (schema_.is_variadic_arguments) lexer_.fail_here("`...` must be the last argument");
      if (lexer_.accept("...")) {
        schema_.is_variadic_arguments = true;
      } else if (lexer_.accept("*")) {
        if (kwarg_only) lexer_.fail_here("second `*` among the arguments");
        kwarg_only = true;
      } else {
        parse_argument(kwarg_only);
      }
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }

  void parse_argument(bool kwarg_only) {
    std::size_t start = lexer_.position();
    SchemaArgument& argument = schema_.arguments.emplace_back();
    argument.kwarg_only = kwarg_only;
    argument.type = parse_type_and_alias(argument.alias, 0);
    if (lexer_.at_word()) {
      argument.name = lexer_.word("an argument name");
      check_unique(argument.name, start);
    }
    if (lexer_.accept("=")) {
      std::size_t first = lexer_.skip_space();
      argument.default_value = parse_default(lexer_, argument.type);
      argument.default_text = lexer_.text().substr(first, lexer_.position() - first);
    }
  }

  void check_unique(std::string_view name, std::size_t start) const {
    for (std::size_t i = 0; i + 1 < schema_.arguments.size(); ++i) {
      if (schema_.arguments[i].name == name) {
        lexer_.fail_at(start, fmt::format("second argument with the name `{}`", name));
      }
    }
  }

  void parse_returns() {
    if (lexer_.accept("...")) {
      schema_.is_variadic_returns = true;
      return;
    }
    if (!lexer_.accept("(")) {
      parse_return();
      return;
    }
    if (lexer_.accept(")")) return;
    do {
      if (schema_.is_variadic_returns) lexer_.fail_here("`...` must be the last result");
      if (lexer_.accept("...")) {
        schema_.is_variadic_returns = true;
      } else {
        parse_return();
      }
    } while (lexer_.accept(","));
    lexer_.expect(")");
    schema_.is_tuple_return = schema_.returns.size() == 1 && !schema_.is_variadic_returns;
  }

  void parse_return() {
    SchemaReturn& result = schema_.returns.emplace_back();
    result.type = parse_type_and_alias(result.alias, 0);
    if (lexer_.at_word()) result.name = lexer_.word("a result name");
  }

  Type parse_type_and_alias(std::optional<AliasInfo>& alias, int depth) {
    if (depth > max_type_depth) lexer_.fail_here("type is nested too deeply");
    Type type = parse_base_type(depth);
    while (true) {
      if (lexer_.accept("?")) {
        require_room(type);
        type = type.optional();
      } else if (lexer_.accept("[")) {
        require_room(type);
        type = parse_list(type);
      } else if (!alias && lexer_.accept("(")) {
        alias = parse_alias();
        alias->position = static_cast<std::uint8_t>(type.modifier_count());
      } else {
        return type;
      }
    }
  }

  void require_room(const Type& type) {
    if (type.modifier_count() == Type::max_modifiers)
      lexer_.fail_at(lexer_.position() - 1, "type has too many `?` and `[]`");
  }

  Type parse_list(const Type& element) {
    if (lexer_.accept("]")) return element.list();
    std::size_t start = lexer_.position();
    std::int64_t size = lexer_.integer("a list size");
    if (size < 1 || size > Type::max_list_size) {
      lexer_.fail_at(
          start, fmt::format("list size {} is out of range: 1 to {}", size, Type::max_list_size));
    }
    lexer_.expect("]");
    return element.list(static_cast<int>(size));
  }

  Type parse_base_type(int depth) {
    if (lexer_.accept("(")) return Type(TypeKind::tuple, parse_elements(depth));
    std::size_t start = lexer_.skip_space();
    std::string_view word = lexer_.dotted_word("a type");
    std::optional<TypeKind> kind = find_type_kind(word);
    if (!kind) return parse_named_type(word, start);
    switch (*kind) {
      case TypeKind::dict:
      case TypeKind::future:
      case TypeKind::rref:
      case TypeKind::await: {
        lexer_.expect("(");
        std::vector<Type> elements = parse_elements(depth);
        std::size_t wanted = *kind == TypeKind::dict ? 2 : 1;
        if (elements.size() != wanted) {
          lexer_.fail_at(start, fmt::format("`{}` takes {}", word, plural(wanted, "type")));
        }
        return Type(*kind, std::move(elements));
      }
      default:
        return Type(*kind);
    }
  }

  /// A class, or a type variable: `t` followed by anything, as TorchScript has them.
  Type parse_named_type(std::string_view word, std::size_t start) {
    if (word.starts_with("__torch__.")) return Type(TypeKind::custom_class, std::string(word));
    if (word.starts_with('t') && word.find('.') == std::string_view::npos) {
      return Type(TypeKind::type_variable, std::string(word));
    }
    lexer_.fail_at(start, fmt::format("unknown type `{}`", word));
  }

  std::vector<Type> parse_elements(int depth) {
    std::vector<Type> elements;
    if (lexer_.accept(")")) return elements;
    do {
      std::size_t start = lexer_.skip_space();
      std::optional<AliasInfo> alias;
      elements.push_back(parse_type_and_alias(alias, depth + 1));
      if (alias) lexer_.fail_at(start, "alias annotation inside a tuple or dictionary");
    } while (lexer_.accept(","));
    lexer_.expect(")");
    return elements;
  }

  /// After the opening parenthesis.
  AliasInfo parse_alias() {
    AliasInfo alias;
    parse_alias_sets(alias.before, alias.before_any);
    alias.is_write = lexer_.accept("!");
    alias.has_arrow = lexer_.accept("->");
    if (alias.has_arrow) {
      parse_alias_sets(alias.after, alias.after_any);
    } else {
      alias.after = alias.before;
      alias.after_any = alias.before_any;
    }
    lexer_.expect(")");
    return alias;
  }

  void parse_alias_sets(std::uint64_t& sets, bool& any) {
    do {
      if (lexer_.accept("*")) {
        any = true;
      } else {
        std::size_t start = lexer_.skip_space();
        sets |= std::uint64_t{1} << alias_set_bit(lexer_.word("an alias set"), start);
      }
    } while (lexer_.accept("|"));
  }

  std::size_t alias_set_bit(std::string_view name, std::size_t start) {
    std::vector<std::string_view>& sets = schema_.alias_sets;
    auto found = std::find(sets.begin(), sets.end(), name);
    if (found != sets.end()) return static_cast<std::size_t>(found - sets.begin());
    if (sets.size() == max_alias_sets) {
      lexer_.fail_at(start, fmt::format("more than {} alias sets", max_alias_sets));
    }
    sets.push_back(name);
    return sets.size() - 1;
  }

  SchemaLexer lexer_;
  Schema schema_;
};

}  // namespace

Schema parse_schema_in_place(std::string_view text) {
  return SchemaParser(text).parse();
}

Schema parse_schema(std::string_view text) {
  std::shared_ptr<char[]> copy(new char[text.size()]);
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  Schema schema = parse_schema_in_place(std::string_view(copy.get(), text.size()));
  schema.text = std::move(copy);
  return schema;
}

Type parse_type(std::string_view text) {
  return SchemaParser(text).parse_whole_type();
}

}  // namespace winze
