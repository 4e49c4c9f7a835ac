// SPDX-License-Identifier: Apache-2.0
// Arguments and metas: what torch.fx nodes hold, as the native graph wants it.
#include <nanobind/stl/string.h>

#include <limits>

#include "python/native/fx_reader.h"

namespace winze {
namespace {

/// Lists nest no deeper than this in arguments that have a native form.
constexpr int max_depth = 8;

bool is_sequence(nb::handle object) {
  return PyTuple_Check(object.ptr()) != 0 || PyList_Check(object.ptr()) != 0;
}

std::optional<std::int64_t> small_integer(nb::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

/// A bound of a range of PyTorch's; `infinite` for its infinities and what leaves int64.
std::int64_t bound(const nb::object& value, std::int64_t infinite) {
  if (!nb::cast<bool>(nb::bool_(nb::getattr(value, "is_Integer", nb::bool_(false))))) {
    return infinite;
  }
  return small_integer(nb::int_(value)).value_or(infinite);
}

}  // namespace

std::span<const Argument> FxReader::keep(std::vector<Argument> arguments) {
  return lists_.emplace_back(std::move(arguments));
}

std::optional<Argument> FxReader::argument(nb::handle object, int depth) {
  if (object.is_none()) return Argument::none();
  if (torch_.is_node(object)) {
    const auto found = nodes_.values.find(object.ptr());
    if (found == nodes_.values.end()) return std::nullopt;
    if (!found->second.first.valid()) return nested_graph(object);
    const FxNodes::Values& values = found->second;
    if (!values.is_list) return Argument::of_value(values.first, graph_.serial());
    std::vector<Argument> elements;
    elements.reserve(values.count);
    for (std::uint32_t i = 0; i < values.count; ++i) {
      elements.push_back(Argument::of_value(ValueId{values.first.index + i}, graph_.serial()));
    }
    return Argument(keep(std::move(elements)));
  }
  if (PyBool_Check(object.ptr()) != 0) return Argument(object.ptr() == Py_True);
  if (PyLong_Check(object.ptr()) != 0) {
    const auto value = small_integer(object);
    return value ? std::optional<Argument>(Argument(*value)) : std::nullopt;
  }
  if (PyFloat_Check(object.ptr()) != 0) return Argument(PyFloat_AsDouble(object.ptr()));
  if (PyUnicode_Check(object.ptr()) != 0) {
    return context_.string_argument(nb::cast<std::string>(object));
  }
  if (is_sequence(object)) return sequence(object, depth);
  if (PyComplex_Check(object.ptr()) != 0) {
    return context_.complex(PyComplex_RealAsDouble(object.ptr()),
                            PyComplex_ImagAsDouble(object.ptr()));
  }
  if (torch_.is_operator(object)) {
    const OpId op = find_op(torch_.target(object));
    return op.is_valid() ? std::optional<Argument>(Argument::of_op(op)) : std::nullopt;
  }
  return torch_.constant(context_, object);
}

std::optional<Argument> FxReader::sequence(nb::handle object, int depth) {
  if (depth >= max_depth) return std::nullopt;
  std::vector<Argument> elements;
  for (const nb::handle element : object) {
    const std::optional<Argument> read = argument(element, depth + 1);
    if (!read) return std::nullopt;
    elements.push_back(*read);
  }
  if (elements.empty()) return Argument::empty_list();
  return Argument(keep(std::move(elements)));
}

void visit_leaves(const TorchVocabulary& torch, nb::handle object,
                  const std::function<void(nb::handle node)>& visit, int depth) {
  if (depth > 64) throw Error("the arguments of a node nest more than 64 deep");
  if (torch.is_node(object)) {
    visit(object);
  } else if (is_sequence(object)) {
    for (const nb::handle element : object) visit_leaves(torch, element, visit, depth + 1);
  } else if (PyDict_Check(object.ptr()) != 0) {
    for (const auto& [key, value] : nb::borrow<nb::dict>(object)) {
      visit_leaves(torch, value, visit, depth + 1);
    }
  } else if (PySlice_Check(object.ptr())) {
    for (const char* part : {"start", "stop", "step"}) {
      visit_leaves(torch, object.attr(part), visit, depth + 1);
    }
  }
}

std::vector<Argument> FxReader::input_values(nb::handle node) {
  std::vector<Argument> inputs;
  const auto add = [&](nb::handle input) {
    const auto found = nodes_.values.find(input.ptr());
    if (found == nodes_.values.end() || !found->second.first.valid()) return;
    for (std::uint32_t i = 0; i < found->second.count; ++i) {
      inputs.push_back(Argument::of_value(ValueId{found->second.first.index + i}, graph_.serial()));
    }
  };
  visit_leaves(torch_, node.attr(torch_.names.args), add);
  visit_leaves(torch_, node.attr(torch_.names.kwargs), add);
  return inputs;
}

SymExpr FxReader::expression(nb::handle symbolic) {
  const nb::object node = symbolic.attr(torch_.names.node);
  const nb::object expr = node.attr(torch_.names.expr);
  if (PyObject* known = PyDict_GetItemWithError(expressions_.ptr(), expr.ptr())) {
    return SymExpr::from_bits(nb::cast<std::uint64_t>(nb::handle(known)));
  }
  const SymExpr parsed = context_.symbols().parse(torch_.srepr(expr));
  expressions_[expr] = nb::cast(parsed.bits());
  read_ranges(node, expr);
  return parsed;
}

/// Hands on what the ShapeEnv knows of each symbol: marked or automatic bounds of sizes, and what
/// `torch._check` said of data-dependent numbers. (Its size-oblivious reasoning is none: there `u0`
/// counts as 2 or more where it may be 0.)
void FxReader::read_ranges(nb::handle sym_node, nb::handle expr) {
  const nb::object env = nb::getattr(sym_node, "shape_env", nb::none());
  const nb::object ranges = nb::getattr(env, "var_to_range", nb::none());
  if (PyDict_Check(ranges.ptr()) == 0) return;
  for (const nb::handle symbol : nb::object(expr.attr("free_symbols"))) {
    PyObject* known = PyDict_GetItemWithError(ranges.ptr(), symbol.ptr());
    const std::optional<SymExpr> native = context_.symbols().find_symbol(text_of(symbol));
    if (known == nullptr || !native || context_.symbols().kind(*native) != SymKind::int_kind) {
      continue;
    }
    const Range range{bound(nb::handle(known).attr("lower"), Range::minus_infinity),
                      bound(nb::handle(known).attr("upper"), Range::infinity)};
    if (!intersection(range, context_.symbols().range(*native)).empty()) {
      context_.symbols().set_range(*native, range);
    }
  }
}

void FxReader::read_sizes(nb::handle sizes, std::vector<SymInt>& to) {
  to.clear();
  for (const nb::handle size : sizes) {
    if (PyLong_Check(size.ptr()) != 0) {
      to.emplace_back(nb::cast<std::int64_t>(size));
    } else {
      to.push_back(expression(size));
    }
  }
}

MetaId FxReader::tensor_meta(nb::handle tensor) {
  TensorMeta meta;
  torch_.read_tensor(context_, tensor, meta);
  read_sizes(tensor.attr(torch_.names.shape), sizes_);
  strides_.clear();
  if (meta.layout == Layout::strided) {
    read_sizes(tensor.attr(torch_.names.stride)(), strides_);
    const nb::object offset = tensor.attr(torch_.names.storage_offset)();
    meta.storage_offset = PyLong_Check(offset.ptr()) != 0 ? SymExpr(nb::cast<std::int64_t>(offset))
                                                          : expression(offset);
  }
  meta.sizes = sizes_;
  meta.strides = strides_;
  return context_.tensor_meta(meta);
}

/// Nothing where it is of a kind that has no native meta, or holds an expression that is not known.
std::optional<MetaId> FxReader::meta_of(nb::handle value) {
  try {
    if (value.is_none()) return context_.plain_meta(ValueKind::none);
    if (torch_.is_tensor(value)) return tensor_meta(value);
    if (const auto kind = torch_.symbolic_kind(value)) {
      return context_.sym_meta(*kind, expression(value));
    }
    if (PyBool_Check(value.ptr()) != 0) {
      return context_.sym_meta(ValueKind::sym_bool,
                               context_.symbols().bool_constant(value.ptr() == Py_True));
    }
    if (PyLong_Check(value.ptr()) != 0) {
      if (const auto integer = small_integer(value); integer && SymExpr::fits(*integer)) {
        return context_.sym_meta(ValueKind::sym_int, SymExpr(*integer));
      }
    }
    if (PyFloat_Check(value.ptr()) != 0) {
      return context_.sym_meta(ValueKind::sym_float,
                               context_.symbols().float_constant(PyFloat_AsDouble(value.ptr())));
    }
  } catch (const Error&) {
    return std::nullopt;
  } catch (const nb::python_error&) {  // tensors without strides or storage: sparse, nested
    return std::nullopt;
  }
  return std::nullopt;
}

FxReader::Results FxReader::results_of(nb::handle node) {
  Results results;
  const nb::object meta = node.attr(torch_.names.meta);
  PyObject* value = PyDict_GetItemWithError(meta.ptr(), torch_.names.val.ptr());
  if (value == nullptr) value = PyDict_GetItemString(meta.ptr(), "example_value");
  const auto add = [&](nb::handle of) {
    const std::optional<MetaId> read = meta_of(of);
    results.is_known = results.is_known && read.has_value();
    results.metas.push_back(read ? *read : context_.plain_meta(ValueKind::unknown));
  };
  if (value != nullptr && is_sequence(value)) {
    results.is_list = true;
    for (const nb::handle element : nb::handle(value)) add(element);
  } else if (value != nullptr) {
    add(value);
  } else {
    results.is_known = false;
    results.metas.push_back(context_.plain_meta(ValueKind::unknown));
  }
  return results;
}

}  // namespace winze
