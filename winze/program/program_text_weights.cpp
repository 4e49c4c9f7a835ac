// SPDX-License-Identifier: Apache-2.0
// Tables of weights, and unknown members of records, in the text form.
#include <fmt/format.h>

#include "winze/ir/text_lexer.h"
#include "winze/program/program_text_parts.h"
#include "winze/support/integer_map.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

class WeightPrinter {
 public:
  WeightPrinter(std::string& out, TextPrinter& printer, const ExportedProgram& program)
      : out_(out), printer_(printer), program_(program) {}

  void table(std::string_view word, const WeightTable& table) {
    if (table.empty() && table.unknown_members().empty()) return;
    out_ += word;
    out_ += " {\n";
    for (const Weight& entry : table) weight(entry);
    for (const UnknownMembers& kept : table.unknown_members()) {
      out_ += "  ";
      append_unknown_members(out_, kept);
    }
    out_ += "}\n";
  }

 private:
  void weight(const Weight& weight) {
    out_ += weight.kind == PayloadKind::opaque ? "  opaque "
            : weight.is_param                  ? "  param "
                                               : "  tensor ";
    append_quoted(out_, weight.fqn);
    if (weight.meta.valid()) {
      out_ += ' ';
      printer_.type(weight.meta);
    }
    if (weight.kind == PayloadKind::opaque && weight.is_param) out_ += " is_param";
    if (weight.use_pickle) out_ += " use_pickle";
    if (weight.storage.valid()) storage(weight.storage);
    if (!weight.unknown_fields.empty()) {
      out_ += " unknown_fields ";
      append_quoted(out_, weight.unknown_fields);
    }
    out_ += '\n';
  }

  /// The number of the storage, and where it occurs first what is known of it.
  void storage(StorageId id) {
    const auto [entry, is_new] =
        numbers_.try_emplace(id.index, static_cast<std::uint32_t>(numbers_.size()));
    out_ += fmt::format(" storage {}", entry->second);
    if (!is_new) return;
    const Storage& storage = program_.storages[id.index];
    if (!storage.record.empty()) {
      out_ += " record ";
      append_quoted(out_, storage.record);
    }
    out_ += fmt::format(" size {}", storage.size);
    if (storage.crc32) out_ += fmt::format(" crc {}", *storage.crc32);
    if (storage.has_bytes && storage.record.empty()) {
      out_ += " data \"";
      append_base64(out_, storage.bytes.string_view());
      out_ += '"';
    }
  }

  std::string& out_;
  TextPrinter& printer_;
  const ExportedProgram& program_;
  tsl::robin_map<std::uint32_t, std::uint32_t> numbers_;
};

void parse_storage(TextParser& parser, Storage& storage) {
  TextLexer& lexer = parser.lexer();
  if (lexer.accept_word("record")) storage.record = lexer.string("the name of a record in quotes");
  lexer.expect_word("size", "at the first mention of a storage");
  storage.size = lexer.unsigned_integer("the size of a storage in bytes");
  if (lexer.accept_word("crc")) {
    const std::size_t begin = lexer.offset();
    const std::uint64_t crc = lexer.unsigned_integer("the CRC of a storage");
    if (crc > 0xFFFFFFFF) lexer.fail_at(begin, "a CRC does not fit 32 bits");
    storage.crc32 = static_cast<std::uint32_t>(crc);
  }
  if (!lexer.accept_word("data")) return;
  lexer.peek();
  const std::size_t begin = lexer.offset();
  std::optional<std::string> bytes = parse_base64(lexer.string("the bytes of a storage in base64"));
  if (!bytes) lexer.fail_at(begin, "the bytes of a storage are not in base64");
  if (bytes->size() != storage.size) {
    lexer.fail_at(begin,
                  fmt::format("a storage of {} bytes is given {}", storage.size, bytes->size()));
  }
  storage.bytes = Bytes::own(std::move(*bytes));
  storage.has_bytes = true;
}

void parse_weight(TextParser& parser, ExportedProgram& program, WeightTable& table,
                  IntegerMap<StorageId>& storages) {
  TextLexer& lexer = parser.lexer();
  Weight weight;
  lexer.peek();
  std::size_t begin = lexer.offset();
  const std::string_view kind = lexer.word("'param', 'tensor' or 'opaque'");
  if (kind == "opaque") {
    weight.kind = PayloadKind::opaque;
  } else if (kind == "param") {
    weight.is_param = true;
  } else if (kind != "tensor") {
    lexer.fail_at(begin, fmt::format("expected 'param', 'tensor' or 'opaque', found \"{}\"", kind));
  }
  lexer.peek();
  begin = lexer.offset();
  weight.fqn = lexer.string("the name of a weight in quotes");
  const std::string_view next = lexer.peek_word();
  if (next != "is_param" && next != "use_pickle" && next != "storage" && next != "unknown_fields" &&
      !next.empty() && lexer.peek_raw(next.size()) == '[') {
    weight.meta = parser.type();
  }
  if (lexer.accept_word("is_param")) weight.is_param = true;
  weight.use_pickle = lexer.accept_word("use_pickle");
  lexer.expect_word("storage", "after the type of a weight");
  const std::uint64_t number = lexer.unsigned_integer("the number of a storage");
  if (const auto found = storages.find(number); found != storages.end()) {
    weight.storage = found->second;
  } else {
    Storage storage;
    parse_storage(parser, storage);
    weight.storage = program.add_storage(std::move(storage));
    storages.emplace(number, weight.storage);
  }
  if (lexer.accept_word("unknown_fields"))
    weight.unknown_fields = lexer.string("the fields as a string");
  try {
    table.add(std::move(weight));
  } catch (const Error& error) {
    lexer.rethrow_at(begin, error);
  }
}

}  // namespace

void append_weights(std::string& out, TextPrinter& printer, const ExportedProgram& program) {
  WeightPrinter weights(out, printer, program);
  weights.table("state_dict", program.state_dict);
  weights.table("constants", program.constants);
}

void parse_weights(TextParser& parser, ExportedProgram& program, WeightTable& table,
                   IntegerMap<StorageId>& storages) {
  TextLexer& lexer = parser.lexer();
  lexer.expect('{', "before a table of weights");
  std::vector<UnknownMembers> unknown;
  while (!lexer.accept('}')) {
    if (lexer.accept_word("unknown_members")) {
      unknown.push_back(parse_unknown_members(lexer));
    } else {
      parse_weight(parser, program, table, storages);
    }
  }
  table.set_unknown_members(std::move(unknown));
}

void append_unknown_members(std::string& out, const UnknownMembers& members) {
  out += "unknown_members ";
  append_quoted(out, members.path);
  out += " known ";
  append_quoted(out, members.known);
  out += " members ";
  append_quoted(out, members.members);
  out += '\n';
}

UnknownMembers parse_unknown_members(TextLexer& lexer) {
  UnknownMembers members;
  members.path = lexer.string("the path of a record in quotes");
  lexer.expect_word("known", "behind the path of a record");
  members.known = lexer.string("the known fields as a string");
  lexer.expect_word("members", "behind the known fields of a record");
  members.members = lexer.string("the unknown fields as a string");
  return members;
}

void append_base64(std::string& out, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t index = 0; index < 3; ++index) {
      group = group << 8U | (index < count ? static_cast<unsigned char>(bytes[at + index]) : 0U);
    }
    for (std::size_t index = 0; index < 4; ++index) {
      out += index <= count ? base64_digits[group >> (18 - 6 * index) & 63U] : '=';
    }
  }
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    std::size_t digits = 0;
    for (std::size_t index = 0; index < 4; ++index) {
      const char c = text[at + index];
      const std::size_t digit = base64_digits.find(c);
      if (digit == std::string_view::npos) {
        // Padding ends the text.
        if (c != '=' || at + 4 != text.size() || digits < 2) return std::nullopt;
        group <<= 6U;
        continue;
      }
      if (digits != index) return std::nullopt;
      ++digits;
      group = group << 6U | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t index = 0; index + 1 < digits; ++index) {
      bytes += static_cast<char>(group >> (16 - 8 * index) & 0xFFU);
    }
  }
  return bytes;
}

}  // namespace winze
