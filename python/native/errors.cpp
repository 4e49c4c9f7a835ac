// SPDX-License-Identifier: Apache-2.0
#include "python/native/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "winze/support/diagnostic.h"

namespace nb = nanobind;

namespace winze {
namespace {

std::string place(const Where& where) {
  std::string text = where.file;
  if (!where.record.empty()) text += (text.empty() ? "" : ": ") + where.record;
  if (!where.path.empty()) text += (text.empty() ? "" : ": ") + where.path;
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  return text;
}

void raise(const DiagnosticError& error) {
  const Diagnostic& diagnostic = error.diagnostic();
  const bool internal = dynamic_cast<const InternalError*>(&error) != nullptr;
  nb::object type = nb::module_::import_("winze._error").attr(internal ? "InternalError" : "Error");
  nb::object value = type(diagnostic.message, nb::arg("text") = std::string(error.what()),
                          nb::arg("node") = diagnostic.node, nb::arg("source") = diagnostic.source,
                          nb::arg("where") = place(diagnostic.where),
                          nb::arg("notes") = diagnostic.notes, nb::arg("hint") = diagnostic.hint);
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const DiagnosticError& error) {
      raise(error);
    }
  });
}

}  // namespace winze
