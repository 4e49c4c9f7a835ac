// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/input_check.h"

#include <algorithm>
#include <string>

#include <fmt/ranges.h>
#include <tsl/robin_map.h>

#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"
#include "winze/support/plural.h"
#include "winze/support/quote.h"
#include "winze/symbolic/range.h"
#include "winze/torch/attributes.h"
#include "winze/torch/compiler.h"

namespace winze {
namespace {

using c10::IValue;

std::string kind_of(const IValue& value) {
  if (value.isTensor()) return "a tensor";
  if (value.isNone()) return "None";
  if (value.isInt()) return "an int";
  if (value.isDouble()) return "a float";
  if (value.isBool()) return "a bool";
  if (value.isString()) return "a string";
  return value.tagKind();
}

std::string shape_text(c10::IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

/// Shows the input's declaration beside what is wrong with the value that was given for it.
template <typename... Args>
[[noreturn]] void refuse(const ExecutorInput& input, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail_at(input.value.node(), fmt::format(format, std::forward<Args>(args)...));
}

class InputCheck {
 public:
  explicit InputCheck(const ExportedProgram& program)
      : context_(&program.context()), symbols_(&program.context().symbols()) {}

  void bind_and_check(const std::vector<ExecutorInput>& wanted, const std::vector<IValue>& given) {
    for (std::size_t i = 0; i < wanted.size(); ++i) check_kind(wanted[i], given[i]);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      each_size(wanted[i], given[i], &InputCheck::bind);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      each_size(wanted[i], given[i], &InputCheck::check_size);
  }

 private:
  /// What stands where in an input: `size 1 of input "x"`.
  struct Place {
    const ExecutorInput* input;
    std::int64_t dimension;  ///< -1 for a number
    std::string text() const {
      return dimension < 0 ? fmt::format("input {}", quote(input->name))
                           : fmt::format("dimension {} of input {}", dimension, quote(input->name));
    }
  };
  using Visit = void (InputCheck::*)(SymInt, std::int64_t, const Place&);

  void check_kind(const ExecutorInput& input, const IValue& value) const {
    if (input.is_constant) {
      if (value.tagKind() == input.constant.tagKind() &&
          (value.isNone() || IValue(value == input.constant).toBool()))
        return;
      refuse(input, "input {} was fixed by export and takes that value alone", quote(input.name));
    }
    const Meta& meta = input.value.meta();
    if (!meta.is_tensor()) return check_number(input, meta.kind, value);
    const TensorMeta& tensor = meta.tensor;
    if (!value.isTensor())
      refuse(input, "input {} has to be a tensor, and {} was given", quote(input.name),
             kind_of(value));
    const at::Tensor& given = value.toTensor();
    if (given.scalar_type() != to_torch(tensor.dtype)) {
      refuse(input, "input {} has to be {}, and a tensor of {} was given", quote(input.name),
             full_name(tensor.dtype), full_name(from_torch(given.scalar_type())));
    }
    const std::string device = context_->device_text(tensor.device);
    if (given.device().type() != to_torch(*context_, tensor.device).type()) {
      fail_at(input.value.node(),
              fmt::format("input {} has to be on {}, and a tensor on {} was given",
                          quote(input.name), device, given.device().str()),
              "torch.export.passes.move_to_device_pass moves a program to another device; inputs "
              "that are read from files or generated are on the CPU");
    }
    if (given.dim() != static_cast<std::int64_t>(tensor.dim())) {
      refuse(input, "input {} has to have {} dimensions, and one of shape {} was given",
             quote(input.name), tensor.dim(), shape_text(given.sizes()));
    }
  }

  static void check_number(const ExecutorInput& input, ValueKind kind, const IValue& value) {
    const bool fits = (kind == ValueKind::sym_int && value.isInt()) ||
                      (kind == ValueKind::sym_float && (value.isDouble() || value.isInt())) ||
                      (kind == ValueKind::sym_bool && value.isBool()) || kind == ValueKind::token ||
                      kind == ValueKind::custom_object || kind == ValueKind::unknown ||
                      kind == ValueKind::none;
    if (fits) return;
    const std::string_view name = kind == ValueKind::sym_int     ? "an int"
                                  : kind == ValueKind::sym_float ? "a float"
                                                                 : "a bool";
    refuse(input, "input {} has to be {}, and {} was given", quote(input.name), name,
           kind_of(value));
  }

  void each_size(const ExecutorInput& input, const IValue& value, Visit visit) {
    if (input.is_constant) return;
    const Meta& meta = input.value.meta();
    if (meta.kind == ValueKind::sym_int && meta.has_expression) {
      (this->*visit)(meta.expression, value.toInt(), {&input, -1});
    }
    if (!meta.is_tensor()) return;
    const auto sizes = value.toTensor().sizes();
    for (std::size_t i = 0; i < meta.tensor.dim(); ++i)
      (this->*visit)(meta.tensor.sizes[i], sizes[i], {&input, static_cast<std::int64_t>(i)});
  }

  /// The first place where a symbol stands alone gives it its value.
  void bind(SymInt expression, std::int64_t value, const Place& place) {
    if (expression.is_constant() || !symbols_->is_symbol(expression)) return;
    if (!values_.emplace(expression, value).second) return;
    const Range range = symbols_->range(expression);
    if (range.contains(value)) return;
    refuse(*place.input, "{} is {}, and {} has to lie in {}", place.text(), value,
           symbols_->str(expression), range.str());
  }

  void check_size(SymInt expression, std::int64_t value, const Place& place) {
    const auto wanted =
        symbols_->evaluate_int(expression, [&](SymExpr symbol) -> std::optional<SymValue> {
          const auto found = values_.find(symbol);
          if (found == values_.end()) return std::nullopt;
          return SymValue(found->second);
        });
    if (!wanted || *wanted == value) return;  // one that only the run will know
    if (expression.is_constant())
      refuse(*place.input, "{} is {}, and has to be {}", place.text(), value, *wanted);
    refuse(*place.input, "{} is {}, and has to be {} = {}", place.text(), value,
           symbols_->str(expression), *wanted);
  }

  const Context* context_;
  const SymbolicContext* symbols_;
  tsl::robin_map<SymExpr, std::int64_t, std::hash<SymExpr>> values_;
};

}  // namespace

void check_inputs(const ExportedProgram& program, const std::vector<ExecutorInput>& wanted,
                  const std::vector<IValue>& given) {
  if (given.size() != wanted.size()) {
    std::string names;
    for (const ExecutorInput& input : wanted) names += (names.empty() ? "" : ", ") + input.name;
    throw Error(fmt::format("the program takes {}, and was given {}",
                            plural(wanted.size(), "input"), given.size()),
                fmt::format("in order: {}", names));
  }
  InputCheck(program).bind_and_check(wanted, given);
}

}  // namespace winze
