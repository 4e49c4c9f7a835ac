// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "winze/ir/context.h"

namespace winze {

namespace nb = nanobind;

/// `str(object)`.
[[nodiscard]] inline std::string text_of(nb::handle object) {
  return nb::str(object).c_str();
}

/// What of PyTorch's Python side the bridge has to recognize, looked up once. It keeps the objects
/// it knows alive. Serves one thread at a time: its users hold Python's lock.
class TorchVocabulary {
 public:
  /// Imports torch.
  TorchVocabulary();

  /// Names of attributes that are read of every node, as Python objects.
  struct Names {
    nb::object op, target, args, kwargs, meta, name, val, stack_trace;
    nb::object dtype, device, fake_device, layout, requires_grad, shape, stride, storage_offset;
    nb::object node, expr;
    Names();
  };
  const Names names;  // NOLINT(misc-non-private-member-variables-in-classes): constant

  /// The name of a call's target as an operator registry knows it (`aten.add.Tensor`,
  /// `higher_order.cond`, `_operator.mul`), or another name for what is no operator.
  struct Target {
    nb::object object;
    std::string name;
    bool is_overload = false;
  };
  const Target& target(nb::handle object);

  [[nodiscard]] bool is_node(nb::handle object) const { return is_exactly(object, node_type_); }
  [[nodiscard]] bool is_tensor(nb::handle object) const { return is_a(object, tensor_type_); }
  [[nodiscard]] bool is_graph_module(nb::handle object) const {
    return is_a(object, graph_module_type_);
  }
  /// True for the module that checks an exported program's guards, which `ExportedProgram.module()`
  /// calls first.
  [[nodiscard]] bool is_guards_module(nb::handle object) const {
    return target_name(object.type()) == "torch.export._unlift.GuardsFn";
  }
  /// True for an OpOverload or a higher-order operator.
  [[nodiscard]] bool is_operator(nb::handle object) const {
    return is_a(object, overload_type_) || is_a(object, higher_order_type_);
  }
  [[nodiscard]] bool is_getitem(nb::handle object) const { return object.is(getitem_); }
  /// `sym_int`, `sym_float` or `sym_bool` for torch's symbolic numbers.
  [[nodiscard]] std::optional<ValueKind> symbolic_kind(nb::handle object) const;
  /// The argument that a dtype, layout, memory format or device stands for.
  std::optional<Argument> constant(Context& context, nb::handle object);

  /// What is known of a tensor but its sizes, strides and offset.
  void read_tensor(Context& context, nb::handle tensor, TensorMeta& meta);
  /// sympy's srepr of an expression.
  [[nodiscard]] std::string srepr(nb::handle expression) const;

 private:
  static bool is_exactly(nb::handle object, nb::handle type) { return object.type().is(type); }
  static bool is_a(nb::handle object, nb::handle type) {
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object.type().ptr()),
                            reinterpret_cast<PyTypeObject*>(type.ptr())) != 0;
  }
  [[nodiscard]] std::string target_name(nb::handle target) const;
  /// Nothing for those of quantized tensors.
  std::optional<ScalarType> scalar_type(nb::handle dtype);
  Device device(Context& context, nb::handle object);

  nb::object torch_, node_type_, tensor_type_, fake_tensor_type_, graph_module_type_, getitem_;
  nb::object sym_int_type_, sym_float_type_, sym_bool_type_, overload_type_, higher_order_type_;
  nb::object dtype_type_, layout_type_, memory_format_type_, device_type_, strided_, srepr_;
  std::unordered_map<PyObject*, Target> targets_;
  std::unordered_map<PyObject*, std::optional<ScalarType>> dtypes_;
  nb::object last_device_;  ///< mostly that of the next tensor too
  std::string last_device_type_;
  std::int16_t last_device_index_ = -1;
};

}  // namespace winze
