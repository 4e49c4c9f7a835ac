// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/backward_slice.h"

#include "winze/effects/call_arguments.h"
#include "winze/schema/op.h"

namespace winze {
BackwardSlice::BackwardSlice(Graph& root, const AliasAnalysis& aliases)
    : aliases_(aliases), graphs_(root.all_graphs()) {
  members_.resize(graphs_.size());
  holders_.resize(graphs_.size());
  for (std::uint32_t i = 0; i < graphs_.size(); ++i) {
    ordinals_.emplace(graphs_[i], i);
    members_[i].resize(graphs_[i]->node_capacity());
  }
  for (std::size_t i = 0; graphs_.size() > 1 && i < graphs_.size(); ++i) {
    for (const Node node : graphs_[i]->nodes())
      for_each_body(node, [&](Graph& body) { holders_[ordinals_.at(&body)] = node; });
  }
  if (!aliases_.has_writes()) return;
  aliases_.for_each_write([&](const StorageWrite& write, std::uint32_t storage_class) {
    writers_[storage_class].push_back(write.node);
  });
  followed_classes_.resize(aliases_.class_capacity());
}

void BackwardSlice::add(Node node) {
  if (!node) return;
  std::vector<bool>& members = members_[ordinals_.at(&node.graph())];
  if (members[node.id().index]) return;
  members[node.id().index] = true;
  pending_.push_back(node);
}

void BackwardSlice::add_writes_to_inputs() {
  for (const auto& [storage_class, writers] : writers_) {
    if (aliases_.is_program_input_class(storage_class)) add_writes_to(storage_class);
  }
}

void BackwardSlice::add_writes_to(std::uint32_t storage_class) {
  if (storage_class == AliasAnalysis::no_class || followed_classes_[storage_class]) return;
  followed_classes_[storage_class] = true;
  const auto found = writers_.find(storage_class);
  if (found == writers_.end()) return;
  for (const Node writer : found->second) add(writer);
}

void BackwardSlice::close() {
  while (!pending_.empty()) {
    const Node node = pending_.back();
    pending_.pop_back();
    follow(node);
  }
}

void BackwardSlice::follow(Node node) {
  const bool has_writes = !writers_.empty();
  for_each_input(node, [&](Value value) {
    add(value.node());
    if (has_writes) add_writes_to(aliases_.class_of(value));
  });
  for (std::uint32_t i = 0; has_writes && i < node.value_count(); ++i)
    add_writes_to(aliases_.class_of(node.value(i)));
  add(holder(node.graph()));
  if (!node.is_call()) return;
  if (node.graph().context().ops().get(node.op()).effects.runs_graphs)
    for_each_body(node, [&](Graph& body) { add(body.output_node()); });
}

}  // namespace winze
