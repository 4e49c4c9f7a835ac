// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "winze/ir/text_lexer.h"
#include "winze/ir/text_types.h"
#include "winze/program/program_text.h"
#include "winze/program/program_text_parts.h"
#include "winze/support/integer_map.h"
#include "winze/support/python_repr.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

class ProgramPrinter {
 public:
  ProgramPrinter(const ExportedProgram& program, const TextPrintOptions& options)
      : program_(program),
        options_(options),
        printer_(program.context(), out_, options),
        collector_(program.context()) {}

  std::string print() {
    header();
    printer_.set_default_device(default_device_of(*program_.graph));
    printer_.device_line();
    collect_symbols();
    ranges();
    expressions();
    out_ += '\n';
    printer_.graph(*program_.graph);
    append_weights(out_, printer_, program_);
    carried();
    modules();
    for (const UnknownMembers& kept : program_.unknown_members) append_unknown_members(out_, kept);
    if (options_.sources == TextSources::table) printer_.source_table();
    return std::move(out_);
  }

 private:
  void field(std::string_view word, std::string_view text) {
    if (text.empty()) return;
    out_ += ' ';
    out_ += word;
    out_ += ' ';
    append_quoted(out_, text);
  }

  void header() {
    out_ += "program ";
    append_quoted(out_, program_.name);
    field("torch", program_.torch_version);
    out_ +=
        fmt::format(" schema {}.{}", program_.schema_version.major, program_.schema_version.minor);
    bool first = true;
    for (const auto& [name, version] : program_.opset_version) {
      out_ += first ? " opset " : ", ";
      first = false;
      append_text_name(out_, name);
      out_ += fmt::format(" {}", version);
    }
    first = true;
    for (const std::string& verifier : program_.verifiers) {
      out_ += first ? " verifiers " : ", ";
      first = false;
      append_text_name(out_, verifier);
    }
    field("unknown_fields", program_.unknown_fields);
    field("graph_module_unknown_fields", program_.graph_module_unknown_fields);
    field("signature_unknown_fields", program_.signature_unknown_fields);
    out_ += '\n';
    if (program_.archive.path.empty() && program_.archive.digest.empty()) return;
    out_ += "archive ";
    append_quoted(out_, program_.archive.path);
    field("digest", program_.archive.digest);
    out_ += '\n';
  }

  void collect_symbols() {
    collector_.add(*program_.graph);
    for (const WeightTable* table : {&program_.state_dict, &program_.constants}) {
      for (const Weight& weight : *table) collector_.add(weight.meta);
    }
    for (const auto& [expression, entry] : program_.expressions.entries())
      collector_.add(expression);
  }

  /// Symbols with a range in the order of the ranges, then the others. A range of what is no symbol
  /// of the program (export lists expressions, and symbols that are not used) stands for itself.
  void ranges() {
    const SymbolicContext& symbols = program_.context().symbols();
    const std::vector<SymExpr> used = collector_.symbols();
    IntegerSet undeclared;
    for (const SymExpr symbol : used) undeclared.insert(symbol.bits());
    for (const RangeConstraint& constraint : program_.range_constraints) {
      const auto symbol = symbols.find_symbol(constraint.symbol);
      if (symbol && undeclared.erase(symbol->bits()) != 0) {
        append_symbol(out_, symbols, *symbol);
        range(constraint);
        details(*symbol);
      } else {
        out_ += "range ";
        append_text_name(out_, constraint.symbol);
        range(constraint);
      }
      out_ += '\n';
    }
    for (const SymExpr symbol : used) {
      if (!undeclared.contains(symbol.bits())) continue;
      append_symbol(out_, symbols, symbol);
      details(symbol);
      out_ += '\n';
    }
  }

  void range(const RangeConstraint& constraint) { out_ += " in " + constraint.interval(); }

  void hint(const SymHint& hint) {
    out_ += " hint ";
    if (const auto* integer = std::get_if<std::int64_t>(&hint)) {
      out_ += fmt::format("{}", *integer);
    } else if (const auto* flag = std::get_if<bool>(&hint)) {
      out_ += *flag ? "True" : "False";
    } else if (const auto* real = std::get_if<double>(&hint)) {
      append_python_float(out_, *real);
    } else {
      out_ += "None";
    }
  }

  void spelling(SymExpr expression, StringId text) {
    if (!text.valid()) return;
    const std::string_view spelled = program_.context().text(text);
    if (spelled != program_.context().symbols().srepr(expression)) field("text", spelled);
  }

  void details(SymExpr symbol) {
    const ExpressionTable::Entry* entry = program_.expressions.find(symbol);
    if (entry == nullptr) return;
    symbol_hints_.add(symbol, *entry);
    if (!std::holds_alternative<std::monostate>(entry->hint)) hint(entry->hint);
    spelling(symbol, entry->text);
  }

  /// What the symbols do not tell of the other expressions.
  void expressions() {
    const SymbolicContext& symbols = program_.context().symbols();
    std::vector<std::pair<std::string, SymExpr>> sorted;
    for (const auto& [expression, entry] : program_.expressions.entries()) {
      if (symbols.is_symbol(expression)) continue;
      const bool same_hint = entry.hint == symbol_hints_.hint(symbols, expression);
      const bool same_text =
          !entry.text.valid() || program_.context().text(entry.text) == symbols.srepr(expression);
      if (same_hint && same_text) continue;
      std::string text;
      append_expression(text, symbols, expression);
      sorted.emplace_back(std::move(text), expression);
    }
    std::ranges::sort(sorted, {}, &std::pair<std::string, SymExpr>::first);
    for (const auto& [text, expression] : sorted) {
      const ExpressionTable::Entry& entry = *program_.expressions.find(expression);
      out_ += "expression [" + text + "]";
      hint(entry.hint);
      spelling(expression, entry.text);
      out_ += '\n';
    }
  }

  void carried() {
    for (const std::string& guard : program_.guards_code) {
      out_ += "guard ";
      append_quoted(out_, guard);
      out_ += '\n';
    }
    for (const auto& [key, value] : program_.metadata) {
      out_ += "metadata ";
      append_quoted(out_, key);
      out_ += " = ";
      append_quoted(out_, value);
      out_ += '\n';
    }
    for (const NamedTupleDef& definition : program_.treespec_namedtuple_fields) {
      out_ += "named_tuple ";
      append_quoted(out_, definition.type_name);
      names(definition.field_names);
      out_ += '\n';
    }
  }

  void names(const std::vector<std::string>& list) {
    out_ += " [";
    for (std::size_t index = 0; index < list.size(); ++index) {
      if (index > 0) out_ += ", ";
      append_quoted(out_, list[index]);
    }
    out_ += ']';
  }

  void modules() {
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      out_ += "module ";
      append_quoted(out_, entry.fqn);
      field("unknown_fields", entry.unknown_fields);
      if (entry.signature) {
        out_ += " {\n";
        module_signature(*entry.signature);
        out_ += '}';
      }
      out_ += '\n';
    }
  }

  void module_signature(const ModuleCallSignature& signature) {
    arguments("inputs", signature.inputs);
    arguments("outputs", signature.outputs);
    line("in_spec", signature.in_spec);
    line("out_spec", signature.out_spec);
    if (signature.forward_arg_names) {
      out_ += "  forward_arg_names";
      names(*signature.forward_arg_names);
      out_ += '\n';
    }
    line("unknown_fields", signature.unknown_fields);
  }

  void line(std::string_view word, std::string_view text) {
    if (text.empty()) return;
    out_ += ' ';
    field(word, text);
    out_ += '\n';
  }

  void arguments(std::string_view word, const std::vector<ModuleCallArgument>& list) {
    if (list.empty()) return;
    out_ += "  ";
    out_ += word;
    bool first = true;
    for (const ModuleCallArgument& argument : list) {
      out_ += first ? " " : ", ";
      first = false;
      if (!argument.reference) {
        printer_.constant(argument.constant);
      } else if (const Value value = program_.graph->observed(*argument.reference)) {
        if (names_ == nullptr) names_ = std::make_unique<ValueNames>(*program_.graph);
        names_->append(out_, value.id());
      } else {
        out_ += "erased";
      }
    }
    out_ += '\n';
  }

  const ExportedProgram& program_;
  TextPrintOptions options_;
  std::string out_;
  TextPrinter printer_;
  SymbolCollector collector_;
  ExpressionTable symbol_hints_;
  std::unique_ptr<ValueNames> names_;
};

}  // namespace

std::string print_program(const ExportedProgram& program, const TextPrintOptions& options) {
  return ProgramPrinter(program, options).print();
}

}  // namespace winze
