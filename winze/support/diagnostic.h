// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace winze {

enum class Severity : std::uint8_t { note, warning, error };

/// Where something is wrong. Every field is optional; empty or zero means unknown.
struct Where {
  std::string file;    ///< path as the user gave it
  std::string record;  ///< record inside an archive, such as `models/model.json`
  std::string path;  ///< JSON path inside the record, such as `graph_module.graph.nodes[3].target`
  int line = 0;      ///< 1-based line of a text
  int column = 0;    ///< 1-based column, in bytes
  std::string source_text;  ///< the offending line of the text; printed with a caret under `column`
};

/// One finding: what is wrong, where, and what to do about it.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string message;  ///< begins with what is wrong, quotes the offending text
  Where where;
  std::string node;    ///< the node in text form
  std::string source;  ///< the user's own source line, `file.py:12, in forward: y = x + 1`
  std::vector<std::string> notes;  ///< further facts, one a line
  std::string hint;                ///< what to do

  /// The whole diagnostic as text: several lines, no newline at the end.
  [[nodiscard]] std::string str() const;
};

/// Carries a Diagnostic across the API. What is thrown is one of the two below.
class DiagnosticError : public std::exception {
 public:
  [[nodiscard]] const Diagnostic& diagnostic() const { return diagnostic_; }
  [[nodiscard]] Diagnostic& diagnostic() { return diagnostic_; }
  /// The text of the diagnostic as it was when the error was made.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 protected:
  explicit DiagnosticError(Diagnostic diagnostic);
  explicit DiagnosticError(std::string message, std::string hint = {});

 private:
  Diagnostic diagnostic_;
  std::string text_;
};

/// A failure that its reader can do something about.
class Error : public DiagnosticError {
 public:
  // Not inline: where an error is thrown is much of what is compiled.
  explicit Error(Diagnostic diagnostic);
  explicit Error(std::string message, std::string hint = {});
};

/// A broken invariant of Winze itself: never the user's fault. No Error, so that whoever handles
/// errors lets it through.
class InternalError : public DiagnosticError {
 public:
  explicit InternalError(std::string message, std::string hint = {});
};

/// Throws Error with the formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);
}  // namespace detail

/// Stops with InternalError when an invariant does not hold; the message names what broke it.
#define WINZE_CHECK(condition, ...)                                                             \
  (static_cast<bool>(condition) ? static_cast<void>(0)                                          \
                                : ::winze::detail::check_failed(#condition, __FILE__, __LINE__, \
                                                                ::fmt::format(__VA_ARGS__)))

}  // namespace winze
