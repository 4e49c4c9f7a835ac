// SPDX-License-Identifier: Apache-2.0
// generate_op_table TABLE.schemas OP_IDS.h OP_TABLE.cpp
//
// Turns the text of an operator table into the ids that C++ code names operators by, and into
// constant data. Runs during the build, before anything else of Winze is compiled: it depends on
// nothing of it but a few inline functions.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "winze/schema/name_hash.h"
#include "winze/schema/table_line.h"

namespace {

struct Table {
  std::string torch_version;
  std::vector<std::string> lines;
  std::vector<std::string> names;
};

[[noreturn]] void stop(const std::string& message) {
  std::cerr << "generate_op_table: " << message << "\n";
  std::exit(1);
}

Table read_table(const char* path) {
  std::ifstream file(path);
  if (!file) stop(std::string("cannot read ") + path);
  Table table;
  std::string previous;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# torch ")) table.torch_version = line.substr(8);
    if (line.empty() || line.starts_with('#')) continue;
    winze::TableLine parts = winze::split_table_line(line);
    if (!(previous < parts.name())) stop("lines are not sorted, or double: " + line);
    previous = parts.name();
    table.names.push_back(winze::make_qualified_name(parts));
    table.lines.push_back(line);
  }
  if (table.torch_version.empty()) stop("the header `# torch VERSION` is missing");
  if (table.lines.size() > 60000) stop("more operators than 16 bits can index");
  return table;
}

std::string identifier(std::string name) {
  for (char& c : name) {
    if (c == '.') c = '_';
  }
  return name;
}

void write_ids(const Table& table, const char* path) {
  std::ofstream out(path);
  out << "// Written by generate_op_table.\n#pragma once\n\n#include \"winze/schema/op_id.h\"\n\n"
      << "// NOLINTBEGIN\nnamespace winze::op {\n\n";
  std::set<std::string> seen;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    std::string id = identifier(table.names[i]);
    if (!seen.insert(id).second) stop("two operators have the id " + id);
    out << "inline constexpr OpId " << id << "{" << i << "};\n";
  }
  out << "\n}  // namespace winze::op\n// NOLINTEND\n";
  if (!out.flush()) stop(std::string("cannot write ") + path);
}

void write_escaped(std::ostream& out, std::string_view text) {
  out << '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out << '\\';
    out << c;
  }
  out << "\"\n";
}

void write_strings(std::ostream& out, const char* name, const std::vector<std::string>& strings) {
  out << "constexpr char " << name << "[] =\n";
  for (const std::string& text : strings) write_escaped(out, text);
  out << ";\nconstexpr std::uint32_t " << name << "_starts[] = {";
  std::size_t offset = 0;
  for (const std::string& text : strings) {
    out << offset << ",";
    offset += text.size();
  }
  out << offset << "};\n";
}

std::uint32_t write_slots(std::ostream& out, const std::vector<std::string>& names) {
  std::uint32_t count = 1;
  while (count < 3 * names.size()) count *= 2;
  std::vector<std::size_t> slots(count);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t slot = winze::hash_op_name(names[i]) & (count - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (count - 1);
    slots[slot] = i + 1;
  }
  out << "constexpr std::uint16_t slots[] = {";
  for (std::size_t slot : slots) out << slot << ",";
  out << "};\n";
  return count;
}

void write_table(const Table& table, const char* path) {
  std::ofstream out(path);
  out << "// Written by generate_op_table.\n#include \"winze/schema/op_table.h\"\n\n"
      << "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n\n"
      << "namespace winze {\nnamespace {\n\n";
  write_strings(out, "lines", table.lines);
  write_strings(out, "names", table.names);
  std::uint32_t slot_count = write_slots(out, table.names);
  out << "\n}  // namespace\n\nconst OpTable built_in_op_table{\n    \"" << table.torch_version
      << "\", lines, lines_starts, names, names_starts, slots, " << slot_count << ", "
      << table.lines.size() << "};\n\n}  // namespace winze\n";
  if (!out.flush()) stop(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) stop("usage: generate_op_table TABLE.schemas OP_IDS.h OP_TABLE.cpp");
  Table table = read_table(argv[1]);
  write_ids(table, argv[2]);
  write_table(table, argv[3]);
  return 0;
}
