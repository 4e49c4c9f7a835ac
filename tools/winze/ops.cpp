// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/inputs.h"
#include "winze/schema/op_suggestions.h"
#include "winze/shape/shape_rules.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr const char* ops_footer =
    "Examples:\n"
    "  winze ops aten.add.Tensor             schema, tags, effects and shape rule of one overload\n"
    "  winze ops aten.add                    of every overload\n"
    "  winze ops --tag core                  the names of the core operators\n"
    "  winze ops --tag core aten.add         of the overloads of one those that are core\n"
    "  winze ops --without-shape-rule        operators whose results cannot be inferred\n"
    "  winze ops --stats --tag core          how many core operators can be, and cannot\n"
    "  winze ops --ops mylib.schemas mylib.scale\n"
    "\n"
    "Exit codes: 0 done; 1 there is no operator of that name, or a FILE is wrong; 2 wrong usage.";

struct OpsOptions {
  std::vector<std::string> names;
  std::string tag;
  bool without_shape_rule = false;
  bool stats = false;
  InputOptions inputs;
};

std::string argument_name(const Op& op, std::size_t index) {
  const std::string_view name = op.schema.arguments[index].name;
  return name.empty() ? fmt::format("argument {}", index) : std::string(name);
}

std::string condition_text(const Op& op, const EffectCondition& condition) {
  switch (condition.test) {
    case EffectCondition::Test::always:
      return "";
    case EffectCondition::Test::is_true:
      return fmt::format(" where {} is true", argument_name(op, condition.argument));
    case EffectCondition::Test::is_not_false:
      return fmt::format(" unless {} is false", argument_name(op, condition.argument));
  }
  return "";
}

std::string alias_text(const Op& op, const ResultAlias& alias) {
  const std::string argument = argument_name(op, alias.argument);
  const std::string result =
      op.schema.returns.size() == 1 ? "the result" : fmt::format("result {}", alias.result);
  switch (alias.kind) {
    case ResultAlias::Kind::view:
      return fmt::format("{} is a view of {}", result, argument);
    case ResultAlias::Kind::self:
      return fmt::format("{} is {} itself", result, argument);
    case ResultAlias::Kind::maybe:
      return fmt::format("{} may share storage with {}", result, argument);
  }
  return "";
}

std::string ordering_text(Ordering ordering) {
  switch (ordering) {
    case Ordering::none:
    case Ordering::unknown:
      return "";
    case Ordering::assertion:
      return "stops the program when something does not hold";
    case Ordering::output:
      return "prints or logs";
    case Ordering::collective:
      return "communicates, in order with the other calls of its process group";
    case Ordering::global_state:
      return "reads or changes state outside the graph";
  }
  return "";
}

/// One sentence for each thing that a call does beyond computing its results.
std::vector<std::string> effect_texts(const Op& op) {
  const OpEffects& effects = op.effects;
  std::vector<std::string> texts;
  const auto add_where = [&](bool holds, std::string text) {
    if (holds && !text.empty()) texts.push_back(std::move(text));
  };
  for (const ArgumentWrite& write : effects.writes) {
    texts.push_back("writes " + argument_name(op, write.argument) + condition_text(op, write.when));
  }
  for (const ResultAlias& alias : effects.aliases) texts.push_back(alias_text(op, alias));
  add_where(effects.is_random, "draws random numbers" + condition_text(op, effects.random_when));
  add_where(true, ordering_text(effects.ordering));
  add_where(effects.changes_metadata, "changes sizes or strides of its first argument in place");
  add_where(effects.is_data_dependent, "yields numbers that depend on the contents of tensors");
  add_where(effects.has_dynamic_shape, "yields shapes that depend on the contents of tensors");
  add_where(effects.is_uninitialized, "yields contents that are not defined");
  add_where(effects.runs_graphs, "does what the graphs do that it is given");
  add_where(effects.is_unknown, "may do anything: nothing is known of it");
  return texts;
}

std::string describe(const Op& op, bool has_rule) {
  std::string text = fmt::format("{}\n  schema   {}\n", op.qualified_name, print_schema(op.schema));
  text += fmt::format("  tags     {}\n", op.tag_text.empty() ? "none" : op.tag_text);
  std::string_view heading = "effects";
  const auto line = [&](std::string_view sentence) {
    text += fmt::format("  {:<7}  {}\n", heading, sentence);
    heading = "";
  };
  for (const std::string& sentence : effect_texts(op)) line(sentence);
  if (op.is_pure()) {
    line("none beyond its results: unused it may be dropped, equal calls may be merged");
  }
  text += fmt::format("  results  {}\n",
                      has_rule ? "inferred by a shape rule" : "not inferred: it has no shape rule");
  return text;
}

/// The operators that a name of the command line means: one overload, or all of a packet.
std::vector<OpId> named_ops(const OpRegistry& registry, const std::string& name) {
  const OpId found = registry.find(name);
  if (found.is_valid() && registry.qualified_name(found) == name) return {found};
  std::vector<OpId> overloads = registry.overloads(name);
  if (!overloads.empty()) return overloads;
  if (found.is_valid()) return {found};
  std::string hint = suggest_ops(registry, name);
  if (hint.empty()) hint = "--ops FILE gives the schema of an operator that is not PyTorch's";
  throw Error(fmt::format("there is no operator {}", quote(name)), hint);
}

/// Whether the options let an operator through.
class Filter {
 public:
  Filter(Context& context, const OpsOptions& options, std::optional<Tag> tag)
      : context_(context), rules_(ShapeRules::of(context)), options_(options), tag_(tag) {}
  [[nodiscard]] bool accepts_tag(OpId id) const {
    return !tag_ || context_.ops().get(id).tags.has(*tag_);
  }
  [[nodiscard]] bool has_rule(OpId id) { return rules_.has_rule(id); }
  [[nodiscard]] bool accepts(OpId id) {
    return accepts_tag(id) && !(options_.without_shape_rule && has_rule(id));
  }

 private:
  Context& context_;
  ShapeRules& rules_;
  const OpsOptions& options_;
  std::optional<Tag> tag_;
};

std::string list_names(const OpRegistry& registry, Filter& filter) {
  std::string text;
  registry.for_each([&](OpId id, std::string_view name) {
    if (filter.accepts(id)) text += fmt::format("{}\n", name);
  });
  return text;
}

std::string count_rules(const OpRegistry& registry, Filter& filter) {
  std::size_t all = 0;
  std::size_t with_rule = 0;
  registry.for_each([&](OpId id, std::string_view) {
    if (!filter.accepts_tag(id)) return;
    ++all;
    if (filter.has_rule(id)) ++with_rule;
  });
  return fmt::format("{} operators, {} with a shape rule, {} without\n", all, with_rule,
                     all - with_rule);
}

int run_ops(const OpsOptions& options) {
  const std::optional<Tag> tag = find_tag(options.tag);
  if (!tag && !options.tag.empty()) {
    throw UsageError(
        fmt::format("there is no tag {}", quote(options.tag)),
        "tags are PyTorch's: core, pointwise, reduction, nondeterministic_seeded, ...");
  }
  const std::unique_ptr<Context> context = make_context(options.inputs);
  const OpRegistry& registry = context->ops();
  Filter filter(*context, options, tag);
  if (options.stats) {
    if (!options.names.empty())
      throw UsageError("--stats counts all operators; it takes no names", "leave the names out");
    write_output(count_rules(registry, filter));
    return exit_done;
  }
  if (options.names.empty()) {
    write_output(list_names(registry, filter));
    return exit_done;
  }
  std::string text;
  for (const std::string& name : options.names) {
    for (const OpId id : named_ops(registry, name)) {
      if (filter.accepts(id)) text += describe(registry.get(id), filter.has_rule(id));
    }
  }
  if (text.empty() && tag) {
    throw Error(fmt::format("none of the operators {} has the tag {}",
                            fmt::join(options.names, ", "), quote(options.tag)));
  }
  write_output(text);
  return exit_done;
}

}  // namespace

void add_ops_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App& command = *app.add_subcommand(
      "ops", "Shows schema, tags, effects and shape rule of operators, or lists all.");
  command.footer(ops_footer);
  command.add_option("NAME", options->names,
                     "Operators to show: aten.add.Tensor, or aten.add for each overload");
  command.add_option("--tag", options->tag, "Show or list only operators with this tag")
      ->option_text("TAG");
  command.add_flag("--without-shape-rule", options->without_shape_rule,
                   "Show or list only operators whose results no shape rule infers");
  command.add_flag("--stats", options->stats, "Count operators with and without a shape rule");
  add_operator_options(command, options->inputs);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->inputs);
      return run_ops(*options);
    };
  });
}

}  // namespace winze
