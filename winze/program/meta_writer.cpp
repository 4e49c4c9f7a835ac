// SPDX-License-Identifier: Apache-2.0
#include "winze/program/meta_writer.h"

#include <type_traits>
#include <variant>

#include "winze/program/schema_fields.h"

namespace winze {
namespace {

void write_hint(JsonWriter& writer, const SymHint& hint) {
  std::visit(
      [&](auto value) {
        using T = decltype(value);
        if constexpr (std::is_same_v<T, std::monostate>) {
          writer.null();
        } else {
          writer.begin_object();
          if constexpr (std::is_same_v<T, std::int64_t>) {
            writer.plain_key("as_int");
            writer.integer(value);
          } else if constexpr (std::is_same_v<T, bool>) {
            writer.plain_key("as_bool");
            writer.boolean(value);
          } else {
            writer.plain_key("as_float");
            writer.real(value);
          }
          writer.end_object();
        }
      },
      hint);
}

}  // namespace

std::string& MetaWriter::cached(MetaId meta) {
  if (meta.index >= texts_.size()) texts_.resize(meta.index + std::size_t{1} + meta.index / 2);
  return texts_[meta.index];
}

std::string_view MetaWriter::tensor_meta(MetaId meta) {
  std::string& text = cached(meta);
  if (!text.empty()) return text;
  const Meta& content = program_.context().meta(meta);
  JsonWriter writer(text);
  const SymInt no_elements[] = {0};
  const SymInt one[] = {1};
  TensorMeta empty;
  empty.sizes = no_elements;
  empty.strides = one;
  write_tensor(writer, content.kind == ValueKind::token ? empty : content.tensor);
  return text;
}

std::string_view MetaWriter::sym_value(MetaId meta) {
  std::string& text = cached(meta);
  if (!text.empty()) return text;
  const Meta& content = program_.context().meta(meta);
  if (!content.has_expression) fail("a symbolic value has no expression, which a .pt2 file needs");
  JsonWriter writer(text);
  const SymExpr expression = content.expression;
  const std::optional<SymValue> constant = program_.context().symbols().constant_value(expression);
  if (constant && content.kind == ValueKind::sym_int &&
      std::holds_alternative<std::int64_t>(*constant)) {
    write_sym_int(writer, expression);
    return text;
  }
  writer.begin_object();
  if (constant && content.kind == ValueKind::sym_float &&
      std::holds_alternative<double>(*constant)) {
    writer.plain_key("as_float");
    writer.real(std::get<double>(*constant));
  } else if (constant && content.kind == ValueKind::sym_bool &&
             std::holds_alternative<bool>(*constant)) {
    writer.plain_key("as_bool");
    writer.boolean(std::get<bool>(*constant));
  } else {
    writer.plain_key("as_expr");
    write_expression(writer, expression, content.kind != ValueKind::sym_bool);
  }
  writer.end_object();
  return text;
}

void MetaWriter::write_tensor(JsonWriter& writer, const TensorMeta& meta) const {
  writer.begin_object();
  writer.plain_key("dtype");
  writer.integer(dtype_number(meta.dtype));
  writer.plain_key("sizes");
  writer.begin_array();
  for (const SymInt size : meta.sizes) write_sym_int(writer, size);
  writer.end_array();
  writer.plain_key("requires_grad");
  writer.boolean(meta.requires_grad);
  writer.plain_key("device");
  write_device(writer, meta.device);
  writer.plain_key("strides");
  writer.begin_array();
  for (const SymInt stride : meta.strides) write_sym_int(writer, stride);
  writer.end_array();
  writer.plain_key("storage_offset");
  write_sym_int(writer, meta.storage_offset);
  writer.plain_key("layout");
  writer.integer(schema_number(meta.layout));
  writer.end_object();
}

void MetaWriter::write_sym_int(JsonWriter& writer, SymInt size) const {
  writer.begin_object();
  if (size.is_constant()) {
    writer.plain_key("as_int");
    writer.integer(size.constant());
  } else {
    writer.plain_key("as_expr");
    write_expression(writer, size, true);
  }
  writer.end_object();
}

void MetaWriter::write_expression(JsonWriter& writer, SymExpr expression, bool with_hint) const {
  const Context& context = program_.context();
  const ExpressionTable::Entry* entry = program_.expressions.find(expression);
  writer.begin_object();
  writer.plain_key("expr_str");
  if (entry != nullptr && entry->text.valid()) {
    writer.string(context.text(entry->text));
  } else {
    writer.string(context.symbols().srepr(expression));
  }
  writer.plain_key("hint");
  if (with_hint || entry != nullptr) {
    write_hint(writer, program_.expressions.hint(context.symbols(), expression));
  } else {
    writer.null();
  }
  writer.end_object();
}

void MetaWriter::write_device(JsonWriter& writer, Device device) const {
  writer.begin_object();
  writer.plain_key("type");
  writer.string(program_.context().device_type_name(device));
  writer.plain_key("index");
  if (device.index < 0) {
    writer.null();
  } else {
    writer.integer(device.index);
  }
  writer.end_object();
}

std::int64_t MetaWriter::dtype_number(ScalarType type) const {
  if (type == ScalarType::unknown) fail("a tensor has no dtype, which a .pt2 file needs");
  if (since_minor(type) > minor_) {
    throw Error(
        fmt::format(
            "dtype {} is not known to the PyTorch release that is written for (schema {}.{})",
            full_name(type), schema_major, minor_),
        "write for a later release");
  }
  return schema_number(type);
}

}  // namespace winze
