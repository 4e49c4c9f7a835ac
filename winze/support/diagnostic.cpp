// SPDX-License-Identifier: Apache-2.0
#include "winze/support/diagnostic.h"

#include <algorithm>

#include "winze/support/utf8.h"

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

/// The offending line with a caret below the place: what a terminal can show of it, and of a long
/// line what is near the place.
std::string excerpt(const Where& where) {
  constexpr std::size_t longest = 500;
  constexpr std::size_t before_place = 100;
  std::string_view line = where.source_text;
  std::size_t column = where.column > 0 ? static_cast<std::size_t>(where.column) : 0;
  std::string text = "\n    ";
  std::string caret = text;
  if (line.size() > longest && column > before_place) {
    const std::size_t left_out = std::min(column - before_place, line.size());
    line.remove_prefix(left_out);
    column -= left_out;
    text += "...";
    caret += "   ";
  }
  const bool is_cut = line.size() > longest;
  line = line.substr(0, longest);
  for (std::size_t at = 0; at < line.size();) {
    const Utf8Char character = decode_utf8(line.substr(at));
    const std::size_t size = std::max<std::size_t>(character.size, 1);
    const bool is_shown = character.size > 0 && character.code >= ' ' && character.code != 0x7f;
    text += is_shown ? line.substr(at, size) : std::string_view(character.size > 0 ? " " : "?");
    at += size;
    if (at < column) caret += ' ';
  }
  if (is_cut) text += "...";
  if (column == 0) return text;
  if (column > line.size() + 1) caret.append(column - line.size() - 1, ' ');
  return text + caret + "^";
}

}  // namespace

std::string Diagnostic::str() const {
  std::string text;
  if (std::string at = place(where); !at.empty()) text += at + ": ";
  text += fmt::format("{}: {}", severity_name(severity), message);
  if (!where.source_text.empty()) text += excerpt(where);
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

Error::Error(Diagnostic diagnostic) : DiagnosticError(std::move(diagnostic)) {}

Error::Error(std::string message, std::string hint)
    : DiagnosticError(std::move(message), std::move(hint)) {}

InternalError::InternalError(std::string message, std::string hint)
    : DiagnosticError(std::move(message), std::move(hint)) {}

namespace detail {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(
      fmt::format("broken invariant: {} ({} at {}:{})", message, condition, file, line),
      "this is a fault in Winze or in a pass; please report it with the input");
}

}  // namespace detail
}  // namespace winze
