// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/op_signature.h"

#include <string>
#include <type_traits>
#include <variant>

namespace winze {
namespace {

using Kind = ArgumentKind;

constexpr KindSet everything = {
    Kind::none,   Kind::value,    Kind::integer, Kind::floating,     Kind::boolean,
    Kind::string, Kind::complex,  Kind::dtype,   Kind::layout,       Kind::memory_format,
    Kind::device, Kind::integers, Kind::floats,  Kind::booleans,     Kind::strings,
    Kind::list,   Kind::graph,    Kind::op,      Kind::custom_object};

KindSet kinds_of_plain(TypeKind kind) {
  switch (kind) {
    case TypeKind::tensor:
      return {Kind::value, Kind::integer, Kind::floating, Kind::boolean, Kind::complex};
    case TypeKind::int_:
    case TypeKind::sym_int:
      return {Kind::value, Kind::integer, Kind::boolean};
    case TypeKind::float_:
    case TypeKind::sym_float:
      return {Kind::value, Kind::floating, Kind::integer, Kind::boolean};
    case TypeKind::bool_:
    case TypeKind::sym_bool:
      return {Kind::value, Kind::boolean, Kind::integer};
    case TypeKind::complex:
    case TypeKind::scalar:
      return {Kind::value, Kind::integer, Kind::floating, Kind::boolean, Kind::complex};
    case TypeKind::str:
    case TypeKind::dimname:
      return {Kind::string};
    case TypeKind::scalar_type:
      return {Kind::dtype, Kind::integer};
    case TypeKind::layout:
      return {Kind::layout, Kind::integer};
    case TypeKind::memory_format:
      return {Kind::memory_format, Kind::integer};
    case TypeKind::qscheme:
      return {Kind::integer, Kind::string};
    case TypeKind::device:
      return {Kind::device, Kind::string};
    case TypeKind::generator:
    case TypeKind::storage:
    case TypeKind::stream:
      return {Kind::value, Kind::custom_object};
    case TypeKind::none:
      return {Kind::none};
    case TypeKind::graph:
      return {Kind::graph};
    case TypeKind::op:
      return {Kind::op};
    case TypeKind::token:
      return {Kind::value};
    default:
      return everything;
  }
}

KindSet kinds_of_list(TypeKind element) {
  switch (element) {
    case TypeKind::int_:
    case TypeKind::sym_int:
      return {Kind::list, Kind::integers, Kind::booleans};
    case TypeKind::float_:
    case TypeKind::sym_float:
      return {Kind::list, Kind::floats, Kind::integers};
    case TypeKind::bool_:
    case TypeKind::sym_bool:
      return {Kind::list, Kind::booleans, Kind::integers};
    case TypeKind::str:
    case TypeKind::dimname:
      return {Kind::list, Kind::strings};
    case TypeKind::tensor:
    case TypeKind::token:
      return {Kind::list};
    default:
      return {Kind::list, Kind::integers, Kind::floats, Kind::booleans, Kind::strings};
  }
}

Argument enum_default(const EnumValue& value) {
  switch (value.kind) {
    case TypeKind::scalar_type:
      return Argument(static_cast<ScalarType>(value.value));
    case TypeKind::layout:
      // c10::Layout numbers Strided 0, Sparse 1, SparseCsr 2, Mkldnn 3.
      return Argument(value.value == 0   ? Layout::strided
                      : value.value == 1 ? Layout::sparse_coo
                                         : Layout::mkldnn);
    case TypeKind::memory_format: {
      // c10::MemoryFormat numbers Contiguous 0, Preserve 1, ChannelsLast 2, ChannelsLast3d 3.
      return Argument(static_cast<MemoryFormat>(value.value + 1));
    }
    default:
      return Argument(value.value);
  }
}

Argument device_default(Context& context, std::string_view text) {
  Device device;
  const std::size_t colon = text.find(':');
  device.type = context.device_type(text.substr(0, colon));
  if (colon != std::string_view::npos) {
    device.index = static_cast<std::int16_t>(std::stoi(std::string(text.substr(colon + 1))));
  }
  return Argument(device);
}

/// The default as an Argument; a single value for `int[2]` stands for so many of it.
Argument to_argument(Context& context, const DefaultValue& value, const Type& type) {
  const std::size_t expand = type.is_list() ? static_cast<std::size_t>(type.list_size()) : 0;
  return std::visit(
      [&](const auto& content) -> Argument {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, NoneValue>) {
          return Argument::none();
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          if (expand > 0) return context.integers(std::vector<std::int64_t>(expand, content));
          return Argument(content);
        } else if constexpr (std::is_same_v<T, double>) {
          if (expand > 0) return context.floats(std::vector<double>(expand, content));
          return Argument(content);
        } else if constexpr (std::is_same_v<T, bool>) {
          return Argument(content);
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return context.complex(content.real(), content.imag());
        } else if constexpr (std::is_same_v<T, std::string>) {
          return context.string_argument(content);
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return context.integers(content);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return context.floats(content);
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          const std::unique_ptr<bool[]> flags(new bool[content.size()]);
          for (std::size_t index = 0; index < content.size(); ++index)
            flags[index] = content[index];
          return context.booleans({flags.get(), content.size()});
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          std::vector<StringId> ids;
          ids.reserve(content.size());
          for (const std::string& text : content) ids.push_back(context.string(text));
          return context.strings(ids);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return enum_default(content);
        } else {
          return device_default(context, content.text);
        }
      },
      value);
}

/// Gradients are computed with undefined tensors, which PyTorch's argument parser makes of None,
/// for what the forward did not yield.
bool takes_undefined_tensors(const Schema& schema) {
  return schema.name.find("backward") != std::string_view::npos;
}

}  // namespace

KindSet kinds_of_type(const Type& type) {
  KindSet kinds;
  if (type.is_optional()) {
    kinds = kinds_of_type(type.without_optional()) | KindSet{Kind::none};
  } else if (type.is_list()) {
    kinds = type.list_depth() > 1 ? KindSet{Kind::list} : kinds_of_list(type.base_kind());
    // `int[2]` takes a single value too.
    if (type.list_size() > 0) kinds = kinds | kinds_of_type(type.element());
  } else {
    kinds = kinds_of_plain(type.base_kind());
  }
  return kinds;
}

OpSignature make_op_signature(Context& context, const Op& op) {
  OpSignature signature;
  signature.op = &op;
  signature.variadic = op.schema.is_variadic_arguments;
  for (const SchemaArgument& argument : op.schema.arguments) {
    ArgumentSignature& out = signature.arguments.emplace_back();
    out.kinds = kinds_of_type(argument.type);
    if (takes_undefined_tensors(op.schema) && !argument.type.is_list() &&
        argument.type.base_kind() == TypeKind::tensor)
      out.kinds = out.kinds | KindSet{Kind::none};
    out.element_kinds =
        argument.type.is_list() ? kinds_of_type(argument.type.element()) : everything;
    out.kwarg_only = argument.kwarg_only;
    out.has_default = argument.default_value.has_value();
    if (out.has_default)
      out.default_value = to_argument(context, *argument.default_value, argument.type);
  }
  signature.value_count = static_cast<std::uint32_t>(op.schema.returns.size());
  signature.fixed_values = !op.schema.is_variadic_returns;
  for (const SchemaReturn& result : op.schema.returns) {
    if (result.type.is_list() || result.type.base_kind() == TypeKind::any)
      signature.fixed_values = false;
  }
  return signature;
}

bool same_attribute(const Argument& a, const Argument& b) {
  if (a.is_list() || b.is_list())
    return a.is_list() && b.is_list() && a.count() == 0 && b.count() == 0;
  return a == b;
}

}  // namespace winze
