// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_diff.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/ir/text_types.h"
#include "winze/program/graph_diff.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

std::string range_text(const RangeConstraint& constraint) {
  return fmt::format("{} in {}", constraint.symbol, constraint.interval());
}

class ProgramComparer {
 public:
  ProgramComparer(const ExportedProgram& a, const ExportedProgram& b)
      : program_a_(a), program_b_(b), a_(a, shared_), b_(b, shared_) {}

  std::vector<Difference> compare() {
    compare_graphs(a_, *program_a_.graph, b_, *program_b_.graph, differences_);
    compare_ranges();
    compare_weights("state_dict", program_a_.state_dict, program_b_.state_dict);
    compare_weights("constants", program_a_.constants, program_b_.constants);
    compare_rest();
    return std::move(differences_);
  }

 private:
  void add(DifferenceKind kind, std::string_view where, std::string a, std::string b,
           std::vector<std::string> details = {}) {
    differences_.push_back(
        {kind, std::string(where), std::move(a), std::move(b), std::move(details)});
  }

  void compare_ranges() {
    StringMap<const RangeConstraint*> in_b;
    for (const RangeConstraint& constraint : program_b_.range_constraints)
      in_b.emplace(b_.renamed(constraint.symbol), &constraint);
    for (const RangeConstraint& constraint : program_a_.range_constraints) {
      const auto found = in_b.find(a_.renamed(constraint.symbol));
      if (found == in_b.end()) {
        add(DifferenceKind::range, "ranges", range_text(constraint), {});
        continue;
      }
      const RangeConstraint& other = *found->second;
      if (constraint.min_val != other.min_val || constraint.max_val != other.max_val) {
        add(DifferenceKind::range, "ranges", range_text(constraint), range_text(other));
      }
      in_b.erase(found);
    }
    for (const RangeConstraint& constraint : program_b_.range_constraints) {
      if (in_b.contains(b_.renamed(constraint.symbol)))
        add(DifferenceKind::range, "ranges", {}, range_text(constraint));
    }
  }

  void compare_weights(std::string_view table, const WeightTable& a, const WeightTable& b) {
    for (const Weight& weight : a) {
      const Weight* other = b.find(weight.fqn);
      if (other == nullptr) {
        add(DifferenceKind::weight, table, weight_text(program_a_, weight), {});
      } else {
        compare_weight(table, weight, *other);
      }
    }
    for (const Weight& weight : b) {
      if (a.find(weight.fqn) == nullptr)
        add(DifferenceKind::weight, table, {}, weight_text(program_b_, weight));
    }
  }

  static std::string weight_text(const ExportedProgram& program, const Weight& weight) {
    std::string text = quote(weight.fqn);
    if (weight.meta.valid()) {
      text += ' ';
      append_type(text, program.context(), weight.meta, Device{});
    }
    return text;
  }

  void compare_weight(std::string_view table, const Weight& a, const Weight& b) {
    std::vector<std::string> details;
    if (a_.meta(a.meta) != b_.meta(b.meta)) details.emplace_back("type");
    if (a.kind != b.kind || a.is_param != b.is_param || a.use_pickle != b.use_pickle)
      details.emplace_back("kind");
    if (a.storage.valid() && b.storage.valid()) {
      compare_storage(program_a_.storage(a), program_b_.storage(b), details);
      if (first_of(program_a_, first_a_, a) != first_of(program_b_, first_b_, b))
        details.emplace_back("which weights share its storage");
    } else if (a.storage.valid() != b.storage.valid()) {
      details.emplace_back("storage");
    }
    if (details.empty()) return;
    add(DifferenceKind::weight, table, weight_text(program_a_, a), weight_text(program_b_, b),
        std::move(details));
  }

  static void compare_storage(const Storage& a, const Storage& b,
                              std::vector<std::string>& details) {
    if (a.size != b.size) {
      details.push_back(fmt::format("bytes of storage: {} -> {}", a.size, b.size));
    } else if (a.crc32 && b.crc32) {
      if (*a.crc32 != *b.crc32) details.emplace_back("content");
    } else if (a.has_bytes && b.has_bytes) {
      if (a.bytes.data() != b.bytes.data() && a.bytes.string_view() != b.bytes.string_view())
        details.emplace_back("content");
    }
  }

  using FirstWeights = tsl::robin_map<std::uint32_t, std::string_view>;
  /// The first weight with the same storage: tells which weights are tied.
  static std::string_view first_of(const ExportedProgram& program, FirstWeights& first,
                                   const Weight& weight) {
    if (first.empty()) {
      for (const WeightTable* table : {&program.state_dict, &program.constants}) {
        for (const Weight& entry : *table) first.emplace(entry.storage.index, entry.fqn);
      }
    }
    return first.at(weight.storage.index);
  }

  void compare_rest() {
    line("verifiers", fmt::format("{}", fmt::join(program_a_.verifiers, ", ")),
         fmt::format("{}", fmt::join(program_b_.verifiers, ", ")));
    line("opset", opset(program_a_), opset(program_b_));
    list("guards", program_a_.guards_code, program_b_.guards_code);
    list("modules", modules(program_a_), modules(program_b_));
    list("metadata", metadata(program_a_), metadata(program_b_));
  }

  static std::string opset(const ExportedProgram& program) {
    std::string text;
    for (const auto& [name, version] : program.opset_version)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version);
    return text;
  }

  static std::vector<std::string> modules(const ExportedProgram& program) {
    std::vector<std::string> lines;
    for (const ModuleCallEntry& entry : program.module_call_graph) {
      std::string text = "module " + quote(entry.fqn);
      if (entry.signature) {
        text += fmt::format(" with {} inputs, {} outputs, in_spec {}, out_spec {}",
                            entry.signature->inputs.size(), entry.signature->outputs.size(),
                            entry.signature->in_spec, entry.signature->out_spec);
      }
      lines.push_back(std::move(text));
    }
    return lines;
  }

  static std::vector<std::string> metadata(const ExportedProgram& program) {
    std::vector<std::string> lines;
    lines.reserve(program.metadata.size());
    for (const auto& [key, value] : program.metadata)
      lines.push_back(fmt::format("{} = {}", quote(key), quote(value)));
    return lines;
  }

  void line(std::string_view where, std::string a, std::string b) {
    if (a != b) add(DifferenceKind::program, where, std::move(a), std::move(b));
  }

  /// Lines that only one of the two has; the order is not looked at.
  void list(std::string_view where, std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<std::string> only_a;
    std::vector<std::string> only_b;
    std::ranges::set_difference(a, b, std::back_inserter(only_a));
    std::ranges::set_difference(b, a, std::back_inserter(only_b));
    for (std::string& text : only_a) add(DifferenceKind::program, where, std::move(text), {});
    for (std::string& text : only_b) add(DifferenceKind::program, where, {}, std::move(text));
  }

  const ExportedProgram& program_a_;
  const ExportedProgram& program_b_;
  CanonicalContext shared_;
  CanonicalSide a_;
  CanonicalSide b_;
  FirstWeights first_a_;
  FirstWeights first_b_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> compare_programs(const ExportedProgram& a, const ExportedProgram& b) {
  return ProgramComparer(a, b).compare();
}

std::string print_differences(const std::vector<Difference>& differences) {
  std::string out;
  std::string_view where;
  bool first = true;
  for (const Difference& difference : differences) {
    const bool is_graph = difference.kind == DifferenceKind::node;
    if (first || difference.where != where) {
      if (!first) out += '\n';
      where = difference.where;
      first = false;
      out += is_graph ? (where.empty() ? std::string("graph") : fmt::format("graph {}", where))
                      : std::string(where);
      out += ":\n";
    }
    if (!difference.a.empty()) out += "- " + difference.a + '\n';
    if (!difference.b.empty()) out += "+ " + difference.b + '\n';
    for (const std::string& detail : difference.details) out += "    " + detail + '\n';
  }
  return out;
}

std::string diff_programs(const ExportedProgram& a, const ExportedProgram& b) {
  return print_differences(compare_programs(a, b));
}

}  // namespace winze
