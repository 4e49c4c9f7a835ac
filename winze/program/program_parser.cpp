// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "winze/ir/text_lexer.h"
#include "winze/ir/text_parser.h"
#include "winze/program/program_text.h"
#include "winze/program/program_text_parts.h"
#include "winze/support/integer_map.h"

namespace winze {
namespace {

class ProgramParser {
 public:
  ProgramParser(Context& context, std::string_view text, std::string_view file,
                std::vector<Diagnostic>* warnings)
      : program_(context),
        parser_(context, text, file),
        lexer_(parser_.lexer()),
        file_(file),
        warnings_(warnings) {}

  ExportedProgram parse() {
    if (lexer_.at_end()) {
      Diagnostic diagnostic;
      diagnostic.message = "there is no program: the text is empty";
      diagnostic.where.file = file_;
      diagnostic.hint = "a program is what torch.export.save wrote, or a text that has a `graph`";
      throw Error(std::move(diagnostic));
    }
    while (!lexer_.at_end()) {
      const std::size_t begin = lexer_.offset();
      const std::string_view word =
          lexer_.word("a line such as 'program', 'symbol', 'graph', 'module' or 'loc'");
      if (!(has_graph_ ? behind_graph(word) : before_graph(word))) {
        lexer_.fail_at(begin,
                       fmt::format("\"{}\" does not begin a line {} the graph", word,
                                   has_graph_ ? "behind" : "before"),
                       has_graph_
                           ? "what may follow are 'state_dict', 'constants', 'guard', "
                             "'metadata', 'named_tuple', 'module', 'unknown_members' and 'loc'"
                           : "what may stand here are 'program', 'archive', 'device', "
                             "'symbol', 'range', 'expression' and 'graph'");
      }
    }
    if (!has_graph_) lexer_.fail_expected("'graph'");
    parser_.finish();
    if (!is_complete_) fill_in_defaults(program_);
    return std::move(program_);
  }

 private:
  bool before_graph(std::string_view word) {
    if (word == "program") {
      header();
    } else if (word == "archive") {
      program_.archive.path = lexer_.string("the path of an archive in quotes");
      if (lexer_.accept_word("digest"))
        program_.archive.digest = lexer_.string("the digest of an archive in quotes");
    } else if (word == "device") {
      parser_.device_line();
    } else if (word == "symbol") {
      symbol();
    } else if (word == "range") {
      TextSymbol named;
      named.name = lexer_.name("the name of a symbol");
      lexer_.expect_word("in", "before a range");
      parser_.range(named);
      add_range(named);
    } else if (word == "expression") {
      expression();
    } else if (word == "graph") {
      begin_graph();
    } else {
      return false;
    }
    return true;
  }

  bool behind_graph(std::string_view word) {
    if (word == "state_dict") {
      parse_weights(parser_, program_, program_.state_dict, storages_);
    } else if (word == "constants") {
      parse_weights(parser_, program_, program_.constants, storages_);
    } else if (word == "guard") {
      program_.guards_code.emplace_back(lexer_.string("a guard in quotes"));
    } else if (word == "metadata") {
      std::string key(lexer_.name("a key"));
      // Neighbouring strings are one, so that key and value are told apart by '='.
      lexer_.expect('=', "after the key of a metadata line");
      program_.metadata.emplace_back(std::move(key), lexer_.string("a value in quotes"));
    } else if (word == "named_tuple") {
      NamedTupleDef definition;
      definition.type_name = lexer_.string("the name of a type in quotes");
      definition.field_names = names();
      program_.treespec_namedtuple_fields.push_back(std::move(definition));
    } else if (word == "module") {
      module();
    } else if (word == "unknown_members") {
      program_.unknown_members.push_back(parse_unknown_members(lexer_));
    } else if (word == "loc") {
      parser_.source_entry();
    } else {
      return false;
    }
    return true;
  }

  void header() {
    program_.name = lexer_.string("the name of the program in quotes");
    if (lexer_.accept_word("torch"))
      program_.torch_version = lexer_.string("the version of PyTorch in quotes");
    if (lexer_.accept_word("summary")) warn_of_summary();
    if (lexer_.accept_word("schema")) {
      schema_version();
      is_complete_ = true;
    }
    if (lexer_.accept_word("opset")) {
      do {
        std::string name(lexer_.name("the name of an opset"));
        program_.opset_version.emplace_back(std::move(name),
                                            lexer_.integer("the version of an opset"));
      } while (lexer_.accept(','));
    }
    if (lexer_.accept_word("verifiers")) {
      do {
        program_.verifiers.emplace_back(lexer_.name("the name of a verifier"));
      } while (lexer_.accept(','));
    }
    fields("unknown_fields", program_.unknown_fields);
    fields("graph_module_unknown_fields", program_.graph_module_unknown_fields);
    fields("signature_unknown_fields", program_.signature_unknown_fields);
  }

  void warn_of_summary() {
    if (warnings_ == nullptr) return;
    Diagnostic& warning = warnings_->emplace_back();
    warning.severity = Severity::warning;
    warning.message =
        "this is a summary, as `winze print` writes it; what it leaves out is lost: guards, ranges "
        "of expressions, hints, tree specs, calls of modules, metadata, source lines, and where "
        "weights, example inputs and extra files are";
    warning.where.file = file_;
    warning.hint = "`winze lower IN.pt2 -o OUT.wz --passes \"\"` writes the whole program as text";
  }

  void fields(std::string_view word, std::string& out) {
    if (lexer_.accept_word(word)) out = lexer_.string("the fields as a string");
  }

  /// `8.20` is no float: the two parts are integers.
  void schema_version() {
    const auto part = [&](std::string_view what) {
      lexer_.peek();
      const std::size_t begin = lexer_.offset();
      const std::uint64_t value = lexer_.unsigned_integer(what);
      if (value > 1'000'000) lexer_.fail_at(begin, fmt::format("{} is too large", what));
      return static_cast<std::int64_t>(value);
    };
    program_.schema_version.major = part("the major version of the schema");
    if (lexer_.peek_raw(0) != '.')
      lexer_.fail_expected("'.' after the major version of the schema");
    lexer_.skip(1);
    program_.schema_version.minor = part("the minor version of the schema");
  }

  void symbol() {
    const TextSymbol named = parser_.symbol_line();
    if (named.has_range) add_range(named);
    entry(named.symbol);
  }

  void add_range(const TextSymbol& named) {
    program_.range_constraints.push_back({named.name, named.min, named.max});
  }

  void expression() {
    lexer_.expect('[', "before an expression");
    const SymExpr value = parser_.expression(true);
    lexer_.expect(']', "after an expression");
    entry(value);
  }

  void entry(SymExpr expression) {
    ExpressionTable::Entry entry;
    bool given = false;
    if (lexer_.accept_word("hint")) {
      entry.hint = hint();
      given = true;
    }
    if (lexer_.accept_word("text")) {
      entry.text = program_.context().string(lexer_.string("the text of an expression in quotes"));
      given = true;
    }
    if (given) program_.expressions.add(expression, entry);
  }

  SymHint hint() {
    if (lexer_.accept_word("None")) return {};
    if (lexer_.accept_word("True")) return true;
    if (lexer_.accept_word("False")) return false;
    const TextNumber number = lexer_.number();
    if (number.is_float) return number.floating;
    return number.integer;
  }

  void begin_graph() {
    const std::size_t begin = lexer_.offset();
    try {
      program_.apply_range_constraints();
    } catch (const Error& error) {
      lexer_.rethrow_at(begin, error);
    }
    parser_.graph(*program_.graph);
    program_.look_for_offsets();
    has_graph_ = true;
  }

  std::vector<std::string> names() {
    std::vector<std::string> list;
    lexer_.expect('[', "before a list of names");
    while (!lexer_.accept(']')) {
      if (!list.empty()) lexer_.expect(',', "or ']' after a name");
      list.emplace_back(lexer_.string("a name in quotes"));
    }
    return list;
  }

  void module() {
    ModuleCallEntry& entry = program_.module_call_graph.emplace_back();
    entry.fqn = lexer_.string("the name of a module in quotes");
    fields("unknown_fields", entry.unknown_fields);
    if (!lexer_.accept('{')) return;
    ModuleCallSignature& signature = entry.signature.emplace();
    if (lexer_.accept_word("inputs")) signature.inputs = arguments();
    if (lexer_.accept_word("outputs")) signature.outputs = arguments();
    if (lexer_.accept_word("in_spec")) signature.in_spec = lexer_.string("a tree spec in quotes");
    if (lexer_.accept_word("out_spec")) signature.out_spec = lexer_.string("a tree spec in quotes");
    if (lexer_.accept_word("forward_arg_names")) signature.forward_arg_names = names();
    fields("unknown_fields", signature.unknown_fields);
    lexer_.expect('}', "at the end of a module");
  }

  std::vector<ModuleCallArgument> arguments() {
    std::vector<ModuleCallArgument> list;
    do {
      ModuleCallArgument& argument = list.emplace_back();
      if (lexer_.accept_word("erased")) {
        argument.reference = program_.graph->observe(Value());
      } else if (lexer_.peek() == '%') {
        argument.reference = program_.graph->observe(parser_.value_in(*program_.graph));
      } else {
        argument.constant = parser_.constant();
      }
    } while (lexer_.accept(','));
    return list;
  }

  ExportedProgram program_;
  TextParser parser_;
  TextLexer& lexer_;
  std::string file_;
  std::vector<Diagnostic>* warnings_;
  IntegerMap<StorageId> storages_;
  bool has_graph_ = false;
  bool is_complete_ = false;
};

}  // namespace

ExportedProgram parse_program(Context& context, std::string_view text, std::string_view file,
                              std::vector<Diagnostic>* warnings) {
  return ProgramParser(context, text, file, warnings).parse();
}

}  // namespace winze
