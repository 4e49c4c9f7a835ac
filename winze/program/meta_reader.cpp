// SPDX-License-Identifier: Apache-2.0
#include "winze/program/meta_reader.h"

#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "winze/program/schema_fields.h"

namespace winze {
namespace {

constexpr std::size_t max_dimensions = 1024;

SymHint read_hint(JsonValue value) {
  if (value.is_null()) return {};
  const JsonField hint = union_member(value);
  if (hint.key == "as_int") return hint.value.int64();
  if (hint.key == "as_bool") return hint.value.boolean();
  if (hint.key == "as_float") return hint.value.real();
  throw hint.value.error(fmt::format("a hint of unknown kind {}", shown_name(hint.key)));
}

/// Export gives an expression the same hint each time: an ExpressionTable has one for each.
void check_hint(ReadSession& session, SymExpr expression, const std::optional<JsonValue>& hint,
                JsonValue where) {
  const SymHint own = hint ? read_hint(*hint) : SymHint();
  const ExpressionTable::Entry* kept = session.program.expressions.find(expression);
  if (kept != nullptr && kept->hint == own) return;
  session.other_hint(where);
}

SymExpr read_expression(ReadSession& session, JsonValue value) {
  std::optional<JsonValue> text;
  std::optional<JsonValue> hint;
  for (const JsonField field : value.object()) {
    if (field.key == "expr_str") {
      text = field.value;
    } else if (field.key == "hint") {
      hint = field.value;
    } else {
      session.unknown_field(value, field);
    }
  }
  const JsonValue source = required(text, value, "expr_str");
  const std::string_view spelled = source.string();
  const std::string_view raw_hint = hint ? hint->raw_json() : std::string_view();
  const auto known = session.expressions.find(spelled);
  if (known != session.expressions.end()) {
    if (raw_hint != known->second.hint) check_hint(session, known->second.value, hint, value);
    return known->second.value;
  }
  SymExpr expression;
  try {
    // Bare names occur only in files older than srepr; any assumptions do, as long as all are
    // spelled alike.
    expression =
        session.context.symbols().parse(spelled, {.declare_as = SymbolAssumptions::any_integer()});
  } catch (Error& error) {
    rethrow_at(error, source);
  }
  ExpressionTable::Entry entry;
  if (hint) entry.hint = read_hint(*hint);
  entry.text = session.context.string(spelled);
  session.program.expressions.add(expression, entry);
  session.expressions.emplace(spelled, ReadSession::ReadExpression{expression, raw_hint});
  return expression;
}

SymExpr integer_expression(JsonValue value) {
  const std::int64_t integer = value.int64();
  if (!SymExpr::fits(integer)) throw value.wanted("an integer away from the smallest of 64 bits");
  return SymExpr(integer);
}

std::string_view kind_text(SymKind kind) {
  switch (kind) {
    case SymKind::int_kind:
      return "an integer";
    case SymKind::float_kind:
      return "a float";
    default:
      return "a boolean";
  }
}

void check_kind(ReadSession& session, SymExpr expression, SymKind wanted, JsonValue value) {
  const SymKind kind = session.context.symbols().kind(expression);
  if (kind == wanted || (wanted == SymKind::float_kind && kind == SymKind::int_kind)) return;
  throw value.error(
      fmt::format("the expression is {}, where {} is wanted", kind_text(kind), kind_text(wanted)));
}

SymInt read_size(ReadSession& session, JsonValue value, std::string_view what) {
  const SymInt size = read_sym_int(session, value);
  if (size.is_constant() && size.constant() < 0) {
    throw value.error(fmt::format("a {} is negative: {}", what, size.constant()));
  }
  return size;
}

std::vector<SymInt> read_sizes(ReadSession& session, JsonValue value, std::string_view what) {
  std::vector<SymInt> sizes;
  for (const JsonValue size : value.array()) {
    if (sizes.size() == max_dimensions)
      throw value.error(fmt::format("more than {} dimensions", max_dimensions));
    sizes.push_back(read_size(session, size, what));
  }
  return sizes;
}

void check_element_count(const std::vector<SymInt>& sizes, JsonValue value) {
  std::int64_t count = 1;
  for (const SymInt size : sizes) {
    if (size.is_constant() && size.constant() == 0) return;
  }
  for (const SymInt size : sizes) {
    if (size.is_constant() && __builtin_mul_overflow(count, size.constant(), &count)) {
      throw value.error("the number of elements is larger than 64 bits hold");
    }
  }
}

}  // namespace

SymExpr read_sym_int(ReadSession& session, JsonValue value) {
  const JsonField member = union_member(value);
  if (member.key == "as_int") return integer_expression(member.value);
  if (member.key != "as_expr")
    throw value.error(fmt::format("a SymInt of unknown kind {}", shown_name(member.key)));
  const SymExpr expression = read_expression(session, member.value);
  check_kind(session, expression, SymKind::int_kind, member.value);
  return expression;
}

MetaId read_tensor_meta(ReadSession& session, JsonValue value) {
  std::optional<JsonValue> dtype, sizes, requires_grad, device, strides, storage_offset, layout;
  for (const JsonField field : value.object()) {
    if (field.key == "dtype") {
      dtype = field.value;
    } else if (field.key == "sizes") {
      sizes = field.value;
    } else if (field.key == "requires_grad") {
      requires_grad = field.value;
    } else if (field.key == "device") {
      device = field.value;
    } else if (field.key == "strides") {
      strides = field.value;
    } else if (field.key == "storage_offset") {
      storage_offset = field.value;
    } else if (field.key == "layout") {
      layout = field.value;
    } else {
      session.unknown_field(value, field);
    }
  }
  TensorMeta meta;
  meta.dtype = read_scalar_type(required(dtype, value, "dtype"));
  meta.requires_grad = required(requires_grad, value, "requires_grad").boolean();
  meta.device = read_device(session, required(device, value, "device"));
  meta.layout = read_layout(required(layout, value, "layout"));
  meta.storage_offset =
      read_size(session, required(storage_offset, value, "storage_offset"), "storage offset");
  const std::vector<SymInt> read = read_sizes(session, required(sizes, value, "sizes"), "size");
  const std::vector<SymInt> steps =
      read_sizes(session, required(strides, value, "strides"), "stride");
  check_element_count(read, *sizes);
  if (meta.layout == Layout::strided && read.size() != steps.size()) {
    throw value.error(fmt::format("{} sizes, but {} strides", read.size(), steps.size()));
  }
  meta.sizes = read;
  meta.strides = steps;
  return session.context.tensor_meta(meta);
}

MetaId read_sym_meta(ReadSession& session, ValueKind kind, JsonValue value) {
  const JsonField member = union_member(value);
  SymbolicContext& symbols = session.context.symbols();
  SymExpr expression;
  SymKind wanted = SymKind::int_kind;
  if (kind == ValueKind::sym_float) wanted = SymKind::float_kind;
  if (kind == ValueKind::sym_bool) wanted = SymKind::bool_kind;
  if (member.key == "as_expr") {
    expression = read_expression(session, member.value);
    check_kind(session, expression, wanted, member.value);
  } else if (kind == ValueKind::sym_int && member.key == "as_int") {
    expression = integer_expression(member.value);
  } else if (kind == ValueKind::sym_float && member.key == "as_float") {
    expression = symbols.float_constant(member.value.real());
  } else if (kind == ValueKind::sym_bool && member.key == "as_bool") {
    expression = symbols.bool_constant(member.value.boolean());
  } else {
    throw value.error(fmt::format("a symbolic value of unknown kind {}", shown_name(member.key)));
  }
  return session.context.sym_meta(kind, expression);
}

Device read_device(ReadSession& session, JsonValue value) {
  std::optional<JsonValue> type, index;
  for (const JsonField field : value.object()) {
    if (field.key == "type") {
      type = field.value;
    } else if (field.key == "index") {
      index = field.value;
    } else {
      session.unknown_field(value, field);
    }
  }
  Device device;
  const JsonValue name = required(type, value, "type");
  try {
    device.type = session.context.device_type(name.string());
  } catch (Error& error) {
    rethrow_at(error, name);
  }
  if (index && !index->is_null()) {
    const std::int64_t number = index->int64();
    if (number < 0 || number > std::numeric_limits<std::int16_t>::max())
      throw index->wanted("a device index");
    device.index = static_cast<std::int16_t>(number);
  }
  return device;
}

ScalarType read_scalar_type(JsonValue value) {
  const std::optional<ScalarType> type = scalar_type_from_schema(value.int64());
  if (!type || *type == ScalarType::unknown)
    throw value.wanted("the number of a dtype in the export schema");
  return *type;
}

Layout read_layout(JsonValue value) {
  const std::optional<Layout> layout = layout_from_schema(value.int64());
  if (!layout) throw value.wanted("the number of a layout in the export schema");
  return *layout;
}

MemoryFormat read_memory_format(JsonValue value) {
  const std::optional<MemoryFormat> format = memory_format_from_schema(value.int64());
  if (!format) throw value.wanted("the number of a memory format in the export schema");
  return *format;
}

}  // namespace winze
