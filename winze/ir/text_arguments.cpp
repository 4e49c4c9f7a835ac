// SPDX-License-Identifier: Apache-2.0
// Arguments in the text form.
#include <charconv>
#include <cmath>
#include <complex>

#include "winze/ir/text_lexer.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/support/python_repr.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// A part of a complex number as Python's repr has it: without `.0`.
void append_complex_part(std::string& out, double value) {
  std::string text = python_float(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  out += text;
}

/// Python's repr: `2j`, `(1+2j)`, `(-0-infj)`.
void append_complex(std::string& out, std::complex<double> value) {
  const bool plain = value.real() == 0 && !std::signbit(value.real());
  if (!plain) {
    out += '(';
    append_complex_part(out, value.real());
    if (!std::signbit(value.imag()) || std::isnan(value.imag())) out += '+';
  }
  append_complex_part(out, value.imag());
  out += plain ? "j" : "j)";
}

}  // namespace

bool is_list_kind(ArgumentKind kind) {
  return kind == ArgumentKind::list || kind == ArgumentKind::integers ||
         kind == ArgumentKind::floats || kind == ArgumentKind::booleans ||
         kind == ArgumentKind::strings;
}

std::uint32_t list_size(const Context& context, const Argument& list) {
  switch (list.kind()) {
    case ArgumentKind::list:
      return list.count();
    case ArgumentKind::integers:
      return static_cast<std::uint32_t>(context.integers_of(list).size());
    case ArgumentKind::floats:
      return static_cast<std::uint32_t>(context.floats_of(list).size());
    case ArgumentKind::booleans:
      return static_cast<std::uint32_t>(context.booleans_of(list).size());
    case ArgumentKind::strings:
      return static_cast<std::uint32_t>(context.strings_of(list).size());
    default:
      return 0;
  }
}

Argument list_element(const Node& node, const Argument& list, std::uint32_t index) {
  const Context& context = node.graph().context();
  switch (list.kind()) {
    case ArgumentKind::integers:
      return Argument(context.integers_of(list)[index]);
    case ArgumentKind::floats:
      return Argument(context.floats_of(list)[index]);
    case ArgumentKind::booleans:
      return Argument(context.booleans_of(list)[index]);
    case ArgumentKind::strings:
      return Argument::string(context.strings_of(list)[index]);
    default:
      return node.element(list, index);
  }
}

void TextPrinter::integer(std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out_->append(digits, end);
}

void TextPrinter::argument(const Node& node, const Argument& argument, const ValueNames& names) {
  this->argument(Scope{&node.graph(), &names, -1}, node, argument, 0);
}

void TextPrinter::argument(const Scope& scope, const Node& node, const Argument& argument,
                           int depth) {
  switch (argument.kind()) {
    case ArgumentKind::value:
      return value(scope, argument.value_id());
    case ArgumentKind::list:
      return list(scope, node, argument, depth);
    case ArgumentKind::graph:
      return nested_graph(scope, scope.graph->subgraph(argument.graph_id()));
    default:
      return scalar(argument);
  }
}

void TextPrinter::list(const Scope& scope, const Node& node, const Argument& list, int depth) {
  if (depth >= text_max_depth)
    fail("a node cannot be printed: its lists nest deeper than {}", text_max_depth);
  *out_ += '[';
  for (std::uint32_t index = 0; index < list.count(); ++index) {
    if (index > 0) *out_ += ", ";
    argument(scope, node, node.element(list, index), depth + 1);
  }
  *out_ += ']';
}

void TextPrinter::constant(const Argument& argument) {
  if (!argument.is_list()) return scalar(argument);
  *out_ += '[';
  bool first = true;
  if (argument.is_external()) {
    for (const Argument& element : argument.external_elements()) {
      separate(first);
      constant(element);
    }
  }
  *out_ += ']';
}

void TextPrinter::scalar(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::default_value:
      *out_ += "default";
      return;
    case ArgumentKind::none:
      *out_ += "None";
      return;
    case ArgumentKind::integer:
      return integer(argument.integer());
    case ArgumentKind::floating:
      return append_python_float(*out_, argument.floating());
    case ArgumentKind::boolean:
      *out_ += argument.boolean() ? "True" : "False";
      return;
    case ArgumentKind::string:
      return append_quoted(*out_, context_->text(argument.string_id()));
    case ArgumentKind::complex:
      return append_complex(*out_, context_->complex_of(argument));
    case ArgumentKind::dtype:
      *out_ += short_name(argument.dtype());
      if (argument.dtype() == ScalarType::unknown) *out_ += "_dtype";
      return;
    case ArgumentKind::layout:
      *out_ += name_of(argument.layout());
      if (argument.layout() == Layout::unknown) *out_ += "_layout";
      return;
    case ArgumentKind::memory_format:
      *out_ += name_of(argument.memory_format());
      if (argument.memory_format() == MemoryFormat::unknown) *out_ += "_memory_format";
      return;
    case ArgumentKind::device:
      return append_device(*out_, *context_, argument.device());
    case ArgumentKind::op: {
      const Op& op = context_->ops().get(argument.op());
      if (op.is_opaque()) *out_ += "op ";
      return operator_name(op);
    }
    case ArgumentKind::custom_object: {
      const Context::CustomObject object = context_->custom_object_of(argument);
      *out_ += "object(";
      append_quoted(*out_, context_->text(object.name));
      *out_ += ", ";
      append_quoted(*out_, context_->text(object.class_name));
      *out_ += ')';
      return;
    }
    case ArgumentKind::integers:
    case ArgumentKind::floats:
    case ArgumentKind::booleans:
    case ArgumentKind::strings:
      return constant_list(argument);
    default:
      *out_ += "<not an argument>";
      return;
  }
}

void TextPrinter::constant_list(const Argument& argument) {
  *out_ += '[';
  bool first = true;
  const auto each = [&](const auto& values, const auto& write) {
    for (const auto value : values) {
      separate(first);
      write(value);
    }
  };
  switch (argument.kind()) {
    case ArgumentKind::integers:
      each(context_->integers_of(argument), [&](std::int64_t value) { integer(value); });
      break;
    case ArgumentKind::floats:
      each(context_->floats_of(argument), [&](double value) { append_python_float(*out_, value); });
      break;
    case ArgumentKind::booleans:
      each(context_->booleans_of(argument), [&](bool value) { *out_ += value ? "True" : "False"; });
      break;
    default:
      each(context_->strings_of(argument),
           [&](StringId value) { append_quoted(*out_, context_->text(value)); });
      break;
  }
  *out_ += ']';
}

}  // namespace winze
