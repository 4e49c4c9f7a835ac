// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "winze/ir/text_lexer.h"
#include "winze/ir/text_parser.h"
#include "winze/ir/text_printer.h"
#include "winze/program/program.h"
#include "winze/support/integer_map.h"

// Parts of the text form of programs, shared by its printer and its parser.
namespace winze {

/// Appends the tables of weights.
void append_weights(std::string& out, TextPrinter& printer, const ExportedProgram& program);

/// Reads the entries of `state_dict {...}` or `constants {...}` behind the word. `storages` maps
/// the numbers of the text to the program's storages.
void parse_weights(TextParser& parser, ExportedProgram& program, WeightTable& table,
                   IntegerMap<StorageId>& storages);

/// Appends `unknown_members PATH known JSON members JSON`.
void append_unknown_members(std::string& out, const UnknownMembers& members);
/// Reads what is behind the word.
[[nodiscard]] UnknownMembers parse_unknown_members(TextLexer& lexer);

/// Gives a program that was written by hand what it needs to be run and written.
void fill_in_defaults(ExportedProgram& program);

void append_base64(std::string& out, std::string_view bytes);
/// The bytes, or nothing where the text is no base64.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);

}  // namespace winze
