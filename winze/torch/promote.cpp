// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/promote.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/effects/call_arguments.h"
#include "winze/support/diagnostic.h"
#include "winze/support/integer_map.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

bool is_promoted(ScalarType dtype) {
  return (is_floating_point(dtype) && dtype != ScalarType::float64) ||
         (is_complex(dtype) && dtype != ScalarType::complex128);
}

ScalarType promoted(ScalarType dtype) {
  if (is_floating_point(dtype)) return ScalarType::float64;
  return is_complex(dtype) ? ScalarType::complex128 : dtype;
}

Bytes promoted_bytes(ScalarType dtype, const Bytes& bytes) {
  const ScalarType part = to_real(dtype);
  const std::size_t count = bytes.size() / element_size(part);
  std::string wide(count * sizeof(double), '\0');
  std::vector<double> numbers(count);
  read_numbers(part, bytes.data(), numbers);
  write_numbers(ScalarType::float64, numbers, reinterpret_cast<std::byte*>(wide.data()));
  return Bytes::own(std::move(wide));
}

class Promoter {
 public:
  explicit Promoter(ExportedProgram& program) : program_(program), context_(program.context()) {}

  void promote() {
    for (WeightTable* table : {&program_.state_dict, &program_.constants}) promote_weights(*table);
    for (Graph* graph : program_.graph->all_graphs()) promote_graph(*graph);
  }

 private:
  void promote_weights(WeightTable& table);
  void promote_graph(Graph& graph);
  void promote_arguments(Node node);
  void choose_dtype(Node node);
  [[nodiscard]] MetaId promoted_meta(MetaId id);

  ExportedProgram& program_;
  Context& context_;
  /// By old storage and dtype: tied weights and views stay tied.
  IntegerMap<StorageId> storages_;
};

MetaId Promoter::promoted_meta(MetaId id) {
  const Meta& meta = context_.meta(id);
  if (!meta.is_tensor() || !is_promoted(meta.tensor.dtype)) return id;
  TensorMeta tensor = meta.tensor;
  tensor.dtype = promoted(tensor.dtype);
  return context_.tensor_meta(tensor);
}

void Promoter::promote_weights(WeightTable& table) {
  for (const Weight& listed : table.entries()) {
    Weight& weight = *table.find(listed.fqn);
    if (weight.kind != PayloadKind::tensor || !weight.meta.valid()) continue;
    const ScalarType dtype = context_.meta(weight.meta).tensor.dtype;
    if (!is_promoted(dtype)) continue;
    const std::uint64_t key =
        std::uint64_t{weight.storage.index} << 8U | static_cast<std::uint64_t>(dtype);
    const auto [found, inserted] = storages_.emplace(key, StorageId{});
    if (inserted) {
      Storage storage;
      storage.bytes = promoted_bytes(dtype, program_.storage(weight).bytes);
      storage.size = storage.bytes.size();
      storage.has_bytes = true;
      found.value() = program_.add_storage(std::move(storage));
    }
    weight.storage = found->second;
    weight.meta = promoted_meta(weight.meta);
  }
}

void Promoter::promote_graph(Graph& graph) {
  for (const Node node : graph.nodes()) {
    if (node.is_call()) {
      promote_arguments(node);
      choose_dtype(node);
    }
    for (const Value value : node.values()) value.set_meta(promoted_meta(value.meta_id()));
  }
}

void Promoter::promote_arguments(Node node) {
  const std::string_view target = node.target();
  for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
    const Argument argument = node.argument(index);
    if (argument.kind() != ArgumentKind::dtype || !is_promoted(argument.dtype())) continue;
    if (target == "aten.view.dtype")
      fail("elements are looked at as {} without a cast", full_name(argument.dtype()));
    node.set_argument(index, Argument(promoted(argument.dtype())));
  }
}

/// `arange(5.0)` or `full([2], 1.5)` make float32 where they are not told otherwise.
void Promoter::choose_dtype(Node node) {
  if (node.value_count() != 1 || !node.value().is_tensor() ||
      !is_promoted(node.value().meta().tensor.dtype))
    return;
  bool has_real_input = false;
  for_each_input(node, [&](Value value) {
    has_real_input |=
        value.is_tensor() && promoted(value.meta().tensor.dtype) != value.meta().tensor.dtype;
    has_real_input |= value.is_tensor() && is_floating_point(value.meta().tensor.dtype);
  });
  if (has_real_input) return;
  const int found = context_.ops().get(node.op()).schema.find_argument("dtype");
  if (found < 0 || static_cast<std::uint32_t>(found) >= node.argument_count()) return;
  const auto index = static_cast<std::uint32_t>(found);
  if (node.argument_or_default(index).is_none())
    node.set_argument(index, Argument(promoted(node.value().meta().tensor.dtype)));
}

}  // namespace

ExportedProgram promote_to_float64(const ExportedProgram& program) {
  ExportedProgram precise = program.clone();
  Promoter(precise).promote();
  return precise;
}

HostValue promote_to_float64(const HostValue& value) {
  const HostTensor* tensor = value.tensor();
  if (tensor == nullptr || !is_promoted(tensor->dtype)) return value;
  HostTensor precise = *tensor;
  precise.dtype = promoted(tensor->dtype);
  precise.storage = promoted_bytes(tensor->dtype, tensor->storage);
  return precise;
}

}  // namespace winze
