// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/inputs.h"

#include <algorithm>
#include <new>
#include <numeric>

#include <fmt/format.h>

#include "winze/support/plural.h"
#include "winze/support/quote.h"
#include "winze/torch/input_file.h"
#include "winze/torch/input_use.h"
#include "winze/torch/tensor_filler.h"

namespace winze {
namespace {

/// Of one generated tensor, or places in it where strides leave gaps.
constexpr std::int64_t max_elements = std::int64_t{1} << 32U;

}  // namespace

struct InputGenerator::Parts {
  Parts(const ExportedProgram& of_program, GenerateOptions given)
      : program(of_program),
        options(std::move(given)),
        choices(of_program, options.symbols, options.max_bytes),
        inputs(user_inputs(of_program)) {
    for (const Node input : inputs) uses.push_back(find_input_use(input.value()));
  }

  const ExportedProgram& program;
  GenerateOptions options;
  SymbolChoices choices;
  std::vector<Node> inputs;
  std::vector<InputUse> uses;  ///< of `inputs`

  [[nodiscard]] HostValue make(std::size_t index, std::uint32_t draw,
                               const SymbolChoice& choice) const;
  [[nodiscard]] HostTensor make_tensor(std::size_t index, std::uint32_t draw,
                                       const SymbolChoice& choice) const;
  void require_possible(Node input, const HostTensor& tensor) const;
  [[nodiscard]] Error cannot_make(Node input, std::string_view why) const {
    return Error(
        fmt::format("no value can be generated for the input {}: {}", quote(input.target()), why),
        "give inputs in a file (--inputs)");
  }
};

HostValue InputGenerator::Parts::make(std::size_t index, std::uint32_t draw,
                                      const SymbolChoice& choice) const {
  const Node input = inputs[index];
  if (auto fixed = fixed_value(input)) return std::move(*fixed);
  const Meta& meta = input.value().meta();
  CountedRandom random(options.seed, std::uint64_t{draw} << 32U | index);
  switch (meta.kind) {
    case ValueKind::tensor:
      return make_tensor(index, draw, choice);
    case ValueKind::sym_int:
      if (meta.has_expression) {
        if (const auto value = choice.evaluate(meta.expression)) return *value;
      }
      return random.integer(1, 9);
    case ValueKind::sym_float:
      return random.normal();
    case ValueKind::sym_bool:
      return draw % 2 == 0;
    case ValueKind::none:
      return {};
    default:
      throw cannot_make(input, "it is no tensor and no number");
  }
}

HostTensor InputGenerator::Parts::make_tensor(std::size_t index, std::uint32_t draw,
                                              const SymbolChoice& choice) const {
  const Node input = inputs[index];
  const TensorMeta& meta = input.value().meta().tensor;
  if (meta.layout != Layout::strided) throw cannot_make(input, "it is a sparse tensor");
  if (element_size(meta.dtype) == 0) throw cannot_make(input, "its dtype is not known");
  HostTensor tensor;
  tensor.dtype = meta.dtype;
  for (const SymInt size : meta.sizes) {
    const auto value = choice.evaluate(size);
    if (!value || *value < 0) throw cannot_make(input, "a size of it has no value");
    tensor.sizes.push_back(*value);
  }
  const std::vector<std::int64_t> contiguous = contiguous_strides(tensor.sizes);
  for (std::size_t axis = 0; axis < meta.strides.size(); ++axis)
    tensor.strides.push_back(choice.evaluate(meta.strides[axis]).value_or(contiguous[axis]));
  if (tensor.strides.size() != tensor.sizes.size()) tensor.strides = contiguous;
  require_possible(input, tensor);
  FillRequest request{.name = std::string(input.target()), .use = uses[index], .draw = draw};
  for (const ElementBound& bound : request.use.bounds) {
    const std::int64_t low = choice.evaluate(bound.low).value_or(0);
    const std::int64_t high = choice.evaluate(bound.high).value_or(1);
    request.narrow(bound, low, high);
  }
  request.offsets_end = choice.evaluate(request.use.offsets_end).value_or(0);
  try {
    fill_tensor(tensor, request, CountedRandom(options.seed, std::uint64_t{draw} << 32U | index));
  } catch (const std::bad_alloc&) {
    throw cannot_make(input, fmt::format("{} does not fit into memory", tensor.type_text()));
  }
  return tensor;
}

/// Sizes and strides that a tensor can have whose elements are made one by one.
void InputGenerator::Parts::require_possible(Node input, const HostTensor& tensor) const {
  if (std::ranges::count(tensor.sizes, 0) != 0) return;
  std::int64_t elements = 1;
  std::int64_t reach = 1;  // with the gaps that strides leave
  for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
    const std::int64_t stride = tensor.strides[axis];
    if (stride < 0) throw cannot_make(input, "it has a negative stride");
    std::int64_t steps = 0;
    if (__builtin_mul_overflow(elements, tensor.sizes[axis], &elements) ||
        __builtin_mul_overflow(tensor.sizes[axis] - 1, stride, &steps) ||
        __builtin_add_overflow(reach, steps, &reach) || std::max(elements, reach) > max_elements) {
      throw cannot_make(
          input, fmt::format("{} has more than {} elements", tensor.type_text(), max_elements));
    }
  }
}

InputGenerator::InputGenerator(const ExportedProgram& program, GenerateOptions options)
    : parts_(std::make_unique<Parts>(program, std::move(options))) {}
InputGenerator::~InputGenerator() = default;

std::uint32_t InputGenerator::size_count() const {
  return parts_->choices.count();
}

GeneratedInputs InputGenerator::generate(std::uint32_t draw) const {
  const SymbolChoice& choice = parts_->choices[draw % parts_->choices.count()];
  GeneratedInputs generated;
  generated.symbols = parts_->choices.named(choice);
  generated.notes = parts_->choices.notes();
  for (std::size_t index = 0; index < parts_->inputs.size(); ++index)
    generated.values.push_back(parts_->make(index, draw, choice));
  std::vector<std::string> sizes;
  for (const auto& [name, value] : generated.symbols)
    sizes.push_back(fmt::format("{}={}", name, value));
  generated.description = fmt::format("generated with seed {}, draw {}{}{}", parts_->options.seed,
                                      draw, sizes.empty() ? "" : ", ", first_few(sizes));
  return generated;
}

}  // namespace winze
