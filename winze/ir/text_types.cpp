// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_types.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "winze/ir/text_lexer.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

// c10/core/DeviceType.h, DeviceTypeName in lower case; `mkldnn` is read as the layout of that name.
constexpr std::array<std::string_view, 20> device_words = {
    "cpu",  "cuda", "meta", "mps", "xpu",    "xla",   "hpu", "hip",  "mtia",  "privateuseone",
    "lazy", "ipu",  "fpga", "ve",  "vulkan", "metal", "ort", "maia", "ideep", "opengl"};

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

/// True for the text of an expression whose end can be found: no blank outside of brackets, no
/// other characters than the plain form needs.
bool has_plain_characters(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_ ()*+-/,.<>=%&|!~^").find(c) != std::string_view::npos;
  });
}

bool is_bare(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && (c == ' ' || c == ',')) return false;
  }
  return true;
}

void append_sym_type(std::string& out, const Context& context, std::string_view word,
                     const Meta& meta) {
  out += word;
  if (!meta.has_expression) return;
  out += " = ";
  std::string text;
  append_expression(text, context.symbols(), meta.expression);
  const bool bare = text.starts_with('"') || is_bare(text);
  if (!bare) out += '(';
  out += text;
  if (!bare) out += ')';
}

void append_tensor_type(std::string& out, Context& context, const TensorMeta& tensor,
                        Device default_device) {
  SymbolicContext& symbols = context.symbols();
  out += short_name(tensor.dtype);
  append_sizes(out, symbols, tensor.sizes);
  if (!std::ranges::equal(tensor.strides, text_strides(symbols, tensor.sizes))) {
    out += " strides ";
    append_sizes(out, symbols, tensor.strides);
  }
  if (tensor.storage_offset != SymInt(0)) {
    out += " offset [";
    append_expression(out, symbols, tensor.storage_offset);
    out += ']';
  }
  if (tensor.device != default_device) {
    out += " device ";
    append_device(out, context, tensor.device);
  }
  if (tensor.layout != Layout::strided) {
    out += " layout ";
    out += name_of(tensor.layout);
  }
  if (tensor.requires_grad) out += " requires_grad";
}

/// What a dimension contributes to the strides before it.
SymInt stride_step(SymbolicContext& symbols, SymInt size) {
  if (size.is_constant()) return std::max<std::int64_t>(size.constant(), 1);
  const std::vector<SymExpr> free = symbols.free_symbols(size);
  const bool positive = std::ranges::all_of(free, [&](SymExpr symbol) {
    return symbols.symbol_assumptions(symbol).is(Assumption::positive);
  });
  return positive ? size : symbols.max(size, 1);
}

}  // namespace

std::vector<SymInt> text_strides(SymbolicContext& symbols, std::span<const SymInt> sizes) {
  std::vector<SymInt> strides(sizes.size());
  SymInt stride = 1;
  for (std::size_t index = sizes.size(); index-- > 0;) {
    strides[index] = stride;
    if (index == 0) break;
    const SymInt step = stride_step(symbols, sizes[index]);
    stride = stride == SymInt(1) ? step : symbols.mul(stride, step);
  }
  return strides;
}

bool is_device_word(std::string_view name) {
  return std::ranges::find(device_words, name) != device_words.end();
}

void append_device(std::string& out, const Context& context, Device device) {
  const std::string_view type = context.device_type_name(device);
  const bool plain = is_device_word(type) && device.index >= -1;
  if (plain) {
    out += type;
    if (device.index < 0) return;
    out += ':';
    append_integer(out, device.index);
    return;
  }
  out += "device(";
  append_quoted(out, type);
  out += ", ";
  append_integer(out, device.index);
  out += ')';
}

SymbolAssumptions default_assumptions(std::string_view symbol_name) {
  const bool unbacked = symbol_name.size() > 1 && symbol_name[0] == 'u' &&
                        symbol_name.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return unbacked ? SymbolAssumptions::any_integer() : SymbolAssumptions::positive_integer();
}

void append_symbol(std::string& out, const SymbolicContext& symbols, SymExpr symbol) {
  const std::string& name = symbols.symbol_name(symbol);
  const SymbolAssumptions assumptions = symbols.symbol_assumptions(symbol);
  out += "symbol ";
  append_text_name(out, name);
  if (assumptions != default_assumptions(name)) out += " (" + assumptions.str() + ")";
}

bool returns_one_list(const Op& op) {
  return op.schema.returns.size() == 1 && !op.schema.is_variadic_returns &&
         op.schema.returns[0].type.is_list();
}

void append_long_text(std::string& out, std::string_view text, std::string_view line_break) {
  const bool several = text.find('\n') < text.size() - 1 && !text.empty();
  do {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    out += several ? line_break : std::string_view(" ");
    append_quoted(out, text.substr(0, size));
    text.remove_prefix(size);
  } while (!text.empty());
}

void append_expression(std::string& out, const SymbolicContext& symbols, SymExpr expression) {
  if (expression.is_constant()) {
    append_integer(out, expression.constant());
    return;
  }
  const std::string text = symbols.str(expression);
  if (has_plain_characters(text)) {
    out += text;
  } else {
    append_quoted(out, symbols.srepr(expression));
  }
}

void append_sizes(std::string& out, const SymbolicContext& symbols, std::span<const SymInt> sizes) {
  out += '[';
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    if (index > 0) out += ", ";
    append_expression(out, symbols, sizes[index]);
  }
  out += ']';
}

void append_type(std::string& out, Context& context, MetaId meta, Device default_device) {
  if (!meta.valid()) {
    out += "unknown";
    return;
  }
  append_type(out, context, context.meta(meta), default_device);
}

void append_type(std::string& out, Context& context, const Meta& meta, Device default_device) {
  switch (meta.kind) {
    case ValueKind::tensor:
      return append_tensor_type(out, context, meta.tensor, default_device);
    case ValueKind::sym_int:
      return append_sym_type(out, context, "int", meta);
    case ValueKind::sym_float:
      return append_sym_type(out, context, "float", meta);
    case ValueKind::sym_bool:
      return append_sym_type(out, context, "bool", meta);
    case ValueKind::none:
      out += "None";
      return;
    case ValueKind::token:
      out += "token";
      return;
    case ValueKind::custom_object:
      out += "object";
      if (meta.class_name.valid()) {
        out += ' ';
        append_quoted(out, context.text(meta.class_name));
      }
      return;
    case ValueKind::constant:
      out += "constant";
      return;
    case ValueKind::unknown:
      out += "unknown";
      return;
  }
}

void SymbolCollector::add(SymExpr expression) {
  if (expression.is_constant() || !seen_expressions_.emplace(expression, true).second) return;
  for (const SymExpr symbol : context_->symbols().free_symbols(expression))
    found_.emplace(symbol, true);
}

void SymbolCollector::add(MetaId id) {
  if (!id.valid()) return;
  if (id.index >= seen_metas_.size()) seen_metas_.resize(id.index + id.index / 2 + 64);
  if (seen_metas_[id.index]) return;
  seen_metas_[id.index] = true;
  for_each_expression(context_->meta(id), [this](SymExpr expression) { add(expression); });
}

void SymbolCollector::add(const Graph& graph) {
  for (const Graph* each : graph.all_graphs()) {
    for (const Node node : each->nodes()) {
      for (std::uint32_t index = 0; index < node.value_count(); ++index)
        add(node.value(index).meta_id());
    }
  }
}

std::vector<SymExpr> SymbolCollector::symbols() const {
  std::vector<SymExpr> found;
  for (const SymExpr symbol : context_->symbols().symbols()) {
    if (found_.contains(symbol)) found.push_back(symbol);
  }
  return found;
}

std::vector<SymExpr> symbols_of(const Graph& graph) {
  SymbolCollector collector(graph.context());
  collector.add(graph);
  return collector.symbols();
}

}  // namespace winze
