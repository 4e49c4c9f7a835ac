// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_substitution.h"

#include <algorithm>

#include "winze/shape/dim_vector.h"

namespace winze {

MetaSubstitution::MetaSubstitution(Context& context, SymMap replacements)
    : context_(context), replacements_(std::move(replacements)) {}

SymExpr MetaSubstitution::operator()(SymExpr expression) {
  return expression.is_constant() ? expression
                                  : context_.symbols().substitute(expression, replacements_);
}

MetaId MetaSubstitution::operator()(MetaId meta) {
  if (meta.index >= metas_.size()) metas_.resize(meta.index + meta.index / 2 + 64);
  if (!metas_[meta.index].valid()) {
    const MetaId found = replaced(meta);
    metas_[meta.index] = found;
  }
  return metas_[meta.index];
}

MetaId MetaSubstitution::replaced(MetaId id) {
  const Meta meta = context_.meta(id);
  if (meta.has_expression) return context_.sym_meta(meta.kind, (*this)(meta.expression));
  if (!meta.is_tensor()) return id;
  TensorMeta tensor = meta.tensor;
  DimVector sizes(tensor.sizes);
  DimVector strides(tensor.strides);
  std::ranges::transform(sizes, sizes.begin(), std::ref(*this));
  std::ranges::transform(strides, strides.begin(), std::ref(*this));
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.storage_offset = (*this)(tensor.storage_offset);
  return context_.tensor_meta(tensor);
}

void MetaSubstitution::apply(Graph& root) {
  for (const Graph* graph : root.all_graphs()) {
    for (const Node node : graph->nodes()) {
      for (std::uint32_t index = 0; index < node.value_count(); ++index) {
        const Value value = node.value(index);
        value.set_meta((*this)(value.meta_id()));
      }
    }
  }
}

}  // namespace winze
