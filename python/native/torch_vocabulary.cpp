// SPDX-License-Identifier: Apache-2.0
#include "python/native/torch_vocabulary.h"

#include <nanobind/stl/string.h>

#include <string_view>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

nb::object import_attr(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}

/// `float32` of `torch.float32`.
std::string last_part(nb::handle object) {
  const std::string text = nb::str(object).c_str();
  const std::size_t dot = text.rfind('.');
  return dot == std::string::npos ? text : text.substr(dot + 1);
}

nb::object interned(const char* text) {
  return nb::steal(PyUnicode_InternFromString(text));
}

}  // namespace

TorchVocabulary::Names::Names()
    : op(interned("op")),
      target(interned("target")),
      args(interned("args")),
      kwargs(interned("kwargs")),
      meta(interned("meta")),
      name(interned("name")),
      val(interned("val")),
      stack_trace(interned("stack_trace")),
      dtype(interned("dtype")),
      device(interned("device")),
      fake_device(interned("fake_device")),
      layout(interned("layout")),
      requires_grad(interned("requires_grad")),
      shape(interned("shape")),
      stride(interned("stride")),
      storage_offset(interned("storage_offset")),
      node(interned("node")),
      expr(interned("expr")) {}

TorchVocabulary::TorchVocabulary()
    : torch_(nb::module_::import_("torch")),
      node_type_(import_attr("torch.fx", "Node")),
      tensor_type_(torch_.attr("Tensor")),
      fake_tensor_type_(import_attr("torch._subclasses.fake_tensor", "FakeTensor")),
      graph_module_type_(import_attr("torch.fx", "GraphModule")),
      getitem_(import_attr("_operator", "getitem")),
      sym_int_type_(torch_.attr("SymInt")),
      sym_float_type_(torch_.attr("SymFloat")),
      sym_bool_type_(torch_.attr("SymBool")),
      overload_type_(import_attr("torch._ops", "OpOverload")),
      higher_order_type_(import_attr("torch._ops", "HigherOrderOperator")),
      dtype_type_(torch_.attr("dtype")),
      layout_type_(torch_.attr("layout")),
      memory_format_type_(torch_.attr("memory_format")),
      device_type_(torch_.attr("device")),
      strided_(torch_.attr("strided")),
      srepr_(import_attr("sympy", "srepr")) {}

std::string TorchVocabulary::target_name(nb::handle target) const {
  if (is_a(target, overload_type_)) return nb::str(target).c_str();
  const auto text = [&](const char* attribute) -> std::string {
    const nb::object value = nb::getattr(target, attribute, nb::none());
    return nb::isinstance<nb::str>(value) ? nb::cast<std::string>(value) : std::string();
  };
  std::string name = text("__name__");
  if (name.empty()) name = nb::repr(target.type()).c_str();
  if (is_a(target, higher_order_type_)) return "higher_order." + name;
  const std::string module = text("__module__");
  return module.empty() ? name : module + "." + name;
}

const TorchVocabulary::Target& TorchVocabulary::target(nb::handle object) {
  const auto found = targets_.find(object.ptr());
  if (found != targets_.end()) return found->second;
  Target target{.object = nb::borrow(object),
                .name = target_name(object),
                .is_overload = is_a(object, overload_type_)};
  return targets_.emplace(object.ptr(), std::move(target)).first->second;
}

std::optional<ValueKind> TorchVocabulary::symbolic_kind(nb::handle object) const {
  if (is_exactly(object, sym_int_type_)) return ValueKind::sym_int;
  if (is_exactly(object, sym_float_type_)) return ValueKind::sym_float;
  if (is_exactly(object, sym_bool_type_)) return ValueKind::sym_bool;
  return std::nullopt;
}

std::optional<ScalarType> TorchVocabulary::scalar_type(nb::handle dtype) {
  const auto found = dtypes_.find(dtype.ptr());
  if (found != dtypes_.end()) return found->second;
  dtype.inc_ref();  // a dtype lives as long as torch
  return dtypes_.emplace(dtype.ptr(), scalar_type_from_name(last_part(dtype))).first->second;
}

Device TorchVocabulary::device(Context& context, nb::handle object) {
  const bool is_last = last_device_.is_valid() &&
                       PyObject_RichCompareBool(object.ptr(), last_device_.ptr(), Py_EQ) == 1;
  if (!is_last) {
    const nb::object index = object.attr("index");
    last_device_ = nb::borrow(object);
    last_device_type_ = nb::cast<std::string>(object.attr("type"));
    last_device_index_ =
        index.is_none() ? std::int16_t{-1} : static_cast<std::int16_t>(nb::cast<int>(index));
  }
  return {context.device_type(last_device_type_), last_device_index_};
}

std::optional<Argument> TorchVocabulary::constant(Context& context, nb::handle object) {
  if (is_exactly(object, dtype_type_)) {
    if (const auto type = scalar_type(object)) return Argument(*type);
  }
  if (is_exactly(object, device_type_)) return Argument(device(context, object));
  if (is_exactly(object, memory_format_type_)) {
    if (const auto format = memory_format_from_name(last_part(object))) return Argument(*format);
  }
  if (is_exactly(object, layout_type_)) {
    if (const auto layout = layout_from_name(last_part(object))) return Argument(*layout);
  }
  return std::nullopt;
}

void TorchVocabulary::read_tensor(Context& context, nb::handle tensor, TensorMeta& meta) {
  const nb::object dtype = tensor.attr(names.dtype);
  const std::optional<ScalarType> type = scalar_type(dtype);
  if (!type) throw Error(fmt::format("dtype {} is not known", last_part(dtype)));
  meta.dtype = *type;
  // A fake tensor answers `device` through Python's dispatch, its own attribute at once.
  const bool is_fake = is_exactly(tensor, fake_tensor_type_);
  const nb::object where = tensor.attr(is_fake ? names.fake_device : names.device);
  meta.device = where.is_none() ? Device{} : device(context, where);
  const nb::object layout = tensor.attr(names.layout);
  if (!layout.is(strided_)) {
    meta.layout = layout_from_name(last_part(layout)).value_or(Layout::unknown);
  }
  meta.requires_grad = nb::cast<bool>(tensor.attr(names.requires_grad));
}

std::string TorchVocabulary::srepr(nb::handle expression) const {
  return nb::cast<std::string>(srepr_(expression));
}

}  // namespace winze
