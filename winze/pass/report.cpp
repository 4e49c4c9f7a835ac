// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/report.h"

#include <fmt/format.h>

#include "winze/support/json_writer.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.plain_key(key);
  json.begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void write_diagnostic(JsonWriter& json, const Diagnostic& diagnostic) {
  json.begin_object();
  json.plain_key("message");
  json.string(diagnostic.message);
  json.plain_key("node");
  json.string(diagnostic.node);
  json.plain_key("source");
  json.string(diagnostic.source);
  write_strings(json, "notes", diagnostic.notes);
  json.plain_key("hint");
  json.string(diagnostic.hint);
  json.plain_key("file");
  json.string(diagnostic.where.file);
  json.plain_key("text");  // as the command shows it
  json.string(diagnostic.str());
  json.end_object();
}

template <typename Map>
void write_numbers(JsonWriter& json, std::string_view key, const Map& numbers) {
  json.plain_key(key);
  json.begin_object();
  for (const auto& [name, number] : numbers) {
    json.key(name);
    json.integer(static_cast<std::int64_t>(number));
  }
  json.end_object();
}

void write_size(JsonWriter& json, std::string_view key, std::uint64_t size) {
  json.plain_key(key);
  json.unsigned_integer(size);
}

void write_op_changes(JsonWriter& json, const std::vector<OpCountChange>& changes) {
  json.plain_key("op_changes");
  json.begin_array();
  for (const OpCountChange& change : changes) {
    json.begin_object();
    json.plain_key("op");
    json.string(change.op);
    write_size(json, "before", change.before);
    write_size(json, "after", change.after);
    json.end_object();
  }
  json.end_array();
}

void write_pass(JsonWriter& json, const PassReport& pass) {
  json.begin_object();
  json.plain_key("name");
  json.string(pass.name);
  json.plain_key("options");
  json.string(pass.options);
  json.plain_key("status");
  json.string(name_of(pass.status));
  json.plain_key("reason");
  json.string(pass.reason);
  write_size(json, "edits", pass.edits);
  json.plain_key("seconds");
  json.real(pass.seconds);
  json.plain_key("verify_seconds");
  json.real(pass.verify_seconds);
  json.plain_key("peak_memory_bytes");
  json.integer(pass.peak_memory_bytes);
  write_size(json, "nodes_before", pass.nodes_before);
  write_size(json, "nodes_after", pass.nodes_after);
  write_op_changes(json, pass.op_changes);
  write_numbers(json, "edits_by_rule", pass.edits_by_rule);
  write_numbers(json, "statistics", pass.statistics);
  write_strings(json, "notes", pass.notes);
  write_strings(json, "warnings", pass.warnings);
  write_size(json, "dropped_notes", pass.dropped_notes);
  write_size(json, "dropped_warnings", pass.dropped_warnings);
  json.end_object();
}

std::string outcome(const PassReport& pass) {
  if (pass.status == PassStatus::skipped) return fmt::format("skipped: {}", pass.reason);
  if (pass.status == PassStatus::not_reached) return "not reached";
  std::string text = pass.edits == 0 ? "nothing to do" : plural(pass.edits, "edit");
  if (pass.nodes_before != pass.nodes_after)
    text += fmt::format(", {} -> {} nodes", pass.nodes_before, pass.nodes_after);
  if (pass.status == PassStatus::failed) text = "FAILED, edits taken back";
  if (pass.status == PassStatus::stopped) text += fmt::format(", stopped: {}", pass.reason);
  return text;
}

void append_details(std::string& text, const PassReport& pass) {
  constexpr std::string_view indent = "      ";
  for (const OpCountChange& change : pass.op_changes)
    text += fmt::format("{}{}: {} -> {}\n", indent, change.op, change.before, change.after);
  for (const auto& [rule, edits] : pass.edits_by_rule)
    text += fmt::format("{}rule {}: {}\n", indent, rule, plural(edits, "edit"));
  for (const auto& [name, number] : pass.statistics)
    text += fmt::format("{}{}: {}\n", indent, name, number);
  for (const std::string& note : pass.notes) text += fmt::format("{}note: {}\n", indent, note);
  if (pass.dropped_notes > 0)
    text += fmt::format("{}... and {}\n", indent, plural(pass.dropped_notes, "more note"));
  for (const std::string& warning : pass.warnings)
    text += fmt::format("{}warning: {}\n", indent, warning);
  if (pass.dropped_warnings > 0)
    text += fmt::format("{}... and {}\n", indent, plural(pass.dropped_warnings, "more warning"));
}

}  // namespace

std::string_view name_of(PassStatus status) {
  switch (status) {
    case PassStatus::ran:
      return "ran";
    case PassStatus::skipped:
      return "skipped";
    case PassStatus::stopped:
      return "stopped";
    case PassStatus::failed:
      return "failed";
    case PassStatus::not_reached:
      return "not_reached";
  }
  return "not_reached";
}

void Report::throw_if_failed() const {
  if (error) throw Error(*error);
}

std::string Report::to_json() const {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.plain_key("program");
  json.string(program);
  json.plain_key("pipeline");
  json.string(pipeline);
  write_size(json, "edits", edits);
  json.plain_key("seconds");
  json.real(seconds);
  write_size(json, "nodes_before", nodes_before);
  write_size(json, "nodes_after", nodes_after);
  json.plain_key("stopped_by_edit_limit");
  json.boolean(stopped_by_edit_limit);
  json.plain_key("error");
  if (error) {
    write_diagnostic(json, *error);
  } else {
    json.null();
  }
  json.plain_key("reproducer");
  json.string(reproducer);
  json.plain_key("passes");
  json.begin_array();
  for (const PassReport& pass : passes) write_pass(json, pass);
  json.end_array();
  json.end_object();
  return text;
}

std::string Report::to_text(bool with_time) const {
  std::string text;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const PassReport& pass = passes[i];
    text += fmt::format("{:>3}  ", i);
    if (with_time) text += fmt::format("{:>10.3f} ms  ", pass.seconds * 1e3);
    text += fmt::format("{:<28}  {}\n", pass.name + pass.options, outcome(pass));
    append_details(text, pass);
  }
  text += "     ";
  if (with_time) text += fmt::format("{:>10.3f} ms  ", seconds * 1e3);
  text += fmt::format("{:<28}  {}, {} -> {} nodes\n", "all", plural(edits, "edit"), nodes_before,
                      nodes_after);
  return text;
}

}  // namespace winze
