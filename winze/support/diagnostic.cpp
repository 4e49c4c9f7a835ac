// SPDX-License-Identifier: Apache-2.0
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

constexpr std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

std::string place(const Where& where) {
  std::string text = where.file;
  if (!where.record.empty()) text += (text.empty() ? "" : ": ") + where.record;
  if (where.line > 0)
    text += fmt::format("{}{}:{}", text.empty() ? "line " : ":", where.line, where.column);
  if (!where.path.empty()) text += (text.empty() ? "at " : ": at ") + where.path;
  return text;
}

}  // namespace

std::string Diagnostic::str() const {
  std::string text;
  if (std::string at = place(where); !at.empty()) text += at + ": ";
  text += fmt::format("{}: {}", severity_name(severity), message);
  if (!where.source_text.empty()) {
    text += "\n    " + where.source_text;
    if (where.column > 0) {
      text += "\n    " + std::string(static_cast<std::size_t>(where.column - 1), ' ') + "^";
    }
  }
  if (!node.empty()) text += "\n  node: " + node;
  if (!source.empty()) text += "\n  from: " + source;
  for (const std::string& line : notes) text += "\n  note: " + line;
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

DiagnosticError::DiagnosticError(Diagnostic diagnostic)
    : diagnostic_(std::move(diagnostic)), text_(diagnostic_.str()) {}

DiagnosticError::DiagnosticError(std::string message, std::string hint) {
  diagnostic_.message = std::move(message);
  diagnostic_.hint = std::move(hint);
  text_ = diagnostic_.str();
}

namespace detail {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(
      fmt::format("broken invariant: {} ({} at {}:{})", message, condition, file, line),
      "this is a fault in Winze or in a pass; please report it with the input");
}

}  // namespace detail
}  // namespace winze
