// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winze {
namespace {

/// In alphabetical order, so that the text does not depend on which set was named first.
void print_alias_sets(std::string& out, const Schema& schema, std::uint64_t sets, bool any) {
  std::vector<std::string_view> names;
  for (std::size_t bit = 0; bit < schema.alias_sets.size(); ++bit) {
    if (((sets >> bit) & 1U) != 0) names.push_back(schema.alias_sets[bit]);
  }
  std::sort(names.begin(), names.end());
  if (any) names.emplace_back("*");
  out += fmt::format("{}", fmt::join(names, "|"));
}

void print_type(std::string& out, const Schema& schema, const Type& type,
                const std::optional<AliasInfo>& alias) {
  if (!alias) {
    type.append_to(out, 0, type.modifier_count(), true);
    return;
  }
  type.append_to(out, 0, alias->position, true);
  out += '(';
  print_alias_sets(out, schema, alias->before, alias->before_any);
  if (alias->is_write) out += '!';
  if (alias->has_arrow) {
    out += " -> ";
    print_alias_sets(out, schema, alias->after, alias->after_any);
  }
  out += ')';
  type.append_to(out, alias->position, type.modifier_count(), false);
}

void print_argument(std::string& out, const Schema& schema, const SchemaArgument& argument) {
  print_type(out, schema, argument.type, argument.alias);
  if (!argument.name.empty()) {
    out += ' ';
    out += argument.name;
  }
  if (argument.default_value) {
    out += '=';
    out += argument.default_text;
  }
}

void print_arguments(std::string& out, const Schema& schema) {
  const char* separator = "";
  bool seen_kwarg_only = false;
  for (const SchemaArgument& argument : schema.arguments) {
    out += separator;
    if (argument.kwarg_only && !seen_kwarg_only) {
      out += "*, ";
      seen_kwarg_only = true;
    }
    print_argument(out, schema, argument);
    separator = ", ";
  }
  if (schema.is_variadic_arguments) {
    out += separator;
    out += "...";
  }
}

void print_return(std::string& out, const Schema& schema, const SchemaReturn& result) {
  print_type(out, schema, result.type, result.alias);
  if (!result.name.empty()) {
    out += ' ';
    out += result.name;
  }
}

void print_returns(std::string& out, const Schema& schema) {
  if (schema.returns.empty() && schema.is_variadic_returns) {
    out += "...";
    return;
  }
  bool parenthesized =
      schema.returns.size() != 1 || schema.is_tuple_return || schema.is_variadic_returns;
  if (parenthesized) out += '(';
  const char* separator = "";
  for (const SchemaReturn& result : schema.returns) {
    out += separator;
    print_return(out, schema, result);
    separator = ", ";
  }
  if (schema.is_variadic_returns) out += ", ...";
  if (parenthesized) out += ')';
}

}  // namespace

int Schema::find_argument(std::string_view argument_name) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument_name) return static_cast<int>(i);
  }
  return -1;
}

std::uint32_t Schema::index_of_position(std::uint32_t position) const {
  std::uint32_t index = position;
  for (std::uint32_t at = 0; at < arguments.size() && at <= index; ++at)
    index += arguments[at].kwarg_only ? 1 : 0;
  return index;
}

std::uint32_t Schema::index_for(std::string_view argument_name, std::uint32_t first,
                                std::uint32_t position) const {
  const int named = find_argument(argument_name);
  return named >= static_cast<int>(first) ? static_cast<std::uint32_t>(named)
                                          : index_of_position(first + position);
}

int Schema::positional_count() const {
  int count = 0;
  for (const SchemaArgument& argument : arguments) count += argument.kwarg_only ? 0 : 1;
  return count;
}

std::string print_schema(const Schema& schema) {
  std::string out;
  out.reserve(128);
  out += schema.ns;
  out += "::";
  out += schema.name;
  if (!schema.overload.empty()) {
    out += '.';
    out += schema.overload;
  }
  out += '(';
  print_arguments(out, schema);
  out += ") -> ";
  print_returns(out, schema);
  return out;
}

}  // namespace winze
