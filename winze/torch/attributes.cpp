// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/attributes.h"

#include <ATen/core/List.h>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

using c10::IValue;

c10::Layout to_torch(Layout layout) {
  switch (layout) {
    case Layout::sparse_coo:
      return c10::Layout::Sparse;
    case Layout::sparse_csr:
      return c10::Layout::SparseCsr;
    case Layout::sparse_csc:
      return c10::Layout::SparseCsc;
    case Layout::sparse_bsr:
      return c10::Layout::SparseBsr;
    case Layout::sparse_bsc:
      return c10::Layout::SparseBsc;
    case Layout::mkldnn:
      return c10::Layout::Mkldnn;
    default:
      return c10::Layout::Strided;
  }
}

c10::MemoryFormat to_torch(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::preserve_format:
      return c10::MemoryFormat::Preserve;
    case MemoryFormat::channels_last:
      return c10::MemoryFormat::ChannelsLast;
    case MemoryFormat::channels_last_3d:
      return c10::MemoryFormat::ChannelsLast3d;
    default:
      return c10::MemoryFormat::Contiguous;
  }
}

template <typename Element, typename Range>
IValue list_of(const Range& range) {
  c10::List<Element> list;
  list.reserve(range.size());
  for (const auto& element : range) list.push_back(static_cast<Element>(element));
  return list;
}

template <typename Range>
std::optional<IValue> number_list(const Range& range, ListKind kind) {
  switch (kind) {
    case ListKind::integers:
      return list_of<std::int64_t>(range);
    case ListKind::floats:
      return list_of<double>(range);
    case ListKind::booleans:
      return list_of<bool>(range);
    case ListKind::numbers: {
      c10::impl::GenericList list(c10::NumberType::get());
      for (const auto& element : range) list.push_back(IValue(element));
      return IValue(list);
    }
    case ListKind::tensors: {
      c10::List<at::Tensor> list;
      for (const auto& element : range) list.push_back(wrapped_number(IValue(element)));
      return IValue(list);
    }
    case ListKind::optional_tensors:
      return std::nullopt;
  }
  return std::nullopt;
}

IValue empty_list(ListKind kind) {
  if (kind == ListKind::optional_tensors) return c10::List<std::optional<at::Tensor>>();
  return *number_list(std::span<const std::int64_t>(), kind);
}

}  // namespace

at::ScalarType to_torch(ScalarType dtype) {
  if (dtype == ScalarType::unknown) return at::ScalarType::Undefined;
  return static_cast<at::ScalarType>(dtype);  // numbered alike
}

ScalarType from_torch(at::ScalarType dtype) {
  return dtype == at::ScalarType::Undefined ? ScalarType::unknown : static_cast<ScalarType>(dtype);
}

c10::Device to_torch(const Context& context, Device device) {
  try {
    return c10::Device(context.device_text(device));
  } catch (const c10::Error&) {
    throw Error(fmt::format("libtorch knows no device {}", quote(context.device_text(device))));
  }
}

std::optional<IValue> attribute_value(const Context& context, const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::none:
    case ArgumentKind::default_value:
      return IValue();
    case ArgumentKind::integer:
      return IValue(argument.integer());
    case ArgumentKind::floating:
      return IValue(argument.floating());
    case ArgumentKind::boolean:
      return IValue(argument.boolean());
    case ArgumentKind::string:
      return IValue(std::string(context.text(argument.string_id())));
    case ArgumentKind::complex: {
      const std::complex<double> value = context.complex_of(argument);
      return IValue(c10::complex<double>(value.real(), value.imag()));
    }
    case ArgumentKind::dtype:
      return IValue(static_cast<std::int64_t>(to_torch(argument.dtype())));
    case ArgumentKind::layout:
      return IValue(static_cast<std::int64_t>(to_torch(argument.layout())));
    case ArgumentKind::memory_format:
      return IValue(static_cast<std::int64_t>(to_torch(argument.memory_format())));
    case ArgumentKind::device:
      return IValue(to_torch(context, argument.device()));
    case ArgumentKind::integers:
      return list_of<std::int64_t>(context.integers_of(argument));
    case ArgumentKind::floats:
      return list_of<double>(context.floats_of(argument));
    case ArgumentKind::booleans:
      return list_of<bool>(context.booleans_of(argument));
    case ArgumentKind::strings: {
      c10::List<std::string> list;
      for (StringId id : context.strings_of(argument))
        list.push_back(std::string(context.text(id)));
      return IValue(list);
    }
    default:
      return std::nullopt;
  }
}

std::optional<IValue> attribute_list(const Context& context, const Argument& argument,
                                     ListKind kind, int list_size) {
  const std::size_t count = list_size > 0 ? static_cast<std::size_t>(list_size) : 1;
  switch (argument.kind()) {
    case ArgumentKind::integers:
      return number_list(context.integers_of(argument), kind);
    case ArgumentKind::floats:
      return number_list(context.floats_of(argument), kind);
    case ArgumentKind::booleans:
      return number_list(context.booleans_of(argument), kind);
    case ArgumentKind::strings:
      return attribute_value(context, argument);
    case ArgumentKind::list:
      return argument.count() == 0 ? std::optional(empty_list(kind)) : std::nullopt;
    case ArgumentKind::integer:
      return number_list(std::vector<std::int64_t>(count, argument.integer()), kind);
    case ArgumentKind::floating:
      return number_list(std::vector<double>(count, argument.floating()), kind);
    case ArgumentKind::boolean:
      return number_list(std::vector<std::int64_t>(count, argument.boolean() ? 1 : 0), kind);
    default:
      return std::nullopt;
  }
}

}  // namespace winze
