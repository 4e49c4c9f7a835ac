// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "python/native/program_holder.h"
#include "python/native/torch_vocabulary.h"

namespace winze {

/// Which torch.fx node stands for which native node and value.
struct FxNodes {
  /// What a torch.fx node stands for: consecutive values, or nothing (`first` invalid).
  struct Values {
    ValueId first;
    std::uint32_t count = 0;
    bool is_list = false;  ///< a tuple or list of these, taken apart by getitem
  };
  std::unordered_map<PyObject*, Values> values;
  std::vector<nb::object> node_of;   ///< by native node; null for none
  std::vector<nb::object> value_of;  ///< by native value: the node or a getitem; null for none
  std::vector<bool> is_flat;         ///< by native node: arguments are the input nodes in order
};

/// A torch.fx graph and its native form: that of a program, or one nested in it.
struct FxGraph {
  Graph* graph = nullptr;
  std::uint32_t serial = 0;  ///< of the graph, which passes may drop
  nb::object module;         ///< the GraphModule
  nb::object attribute;      ///< nested: the get_attr node that names it in the graph around
  FxNodes nodes;
};

/// The torch.fx node of that name (`fx_node_name`); None where it is of no graph.
[[nodiscard]] nb::object fx_node_named(const std::deque<FxGraph>& graphs, std::string_view name);

/// Reads a torch.fx graph of ATen operators into a native graph. Attributes of Python objects are
/// all it looks at: nothing is run, and libtorch is not needed.
///
/// Graphs that higher-order operators run are read too. What has no native form (an argument that
/// is a dictionary, a target that is no operator, a nested graph with several users) becomes a call
/// to an opaque operator whose arguments are the values it depends on; it counts as having every
/// effect. So does the call of the module that checks an exported program's guards.
class FxReader {
 public:
  /// Reads `graphs.back()`, and appends the graphs nested in it.
  FxReader(TorchVocabulary& torch, Context& context, std::deque<FxGraph>& graphs);

  /// \throws Error that names the node where there is another call_module, or a call_method.
  void read();

 private:
  struct Results {
    std::vector<MetaId> metas;
    bool is_list = false;
    bool is_known = true;  ///< false: of a kind that only opaque operators may yield
  };

  void read_node(nb::handle node);
  void read_placeholder(nb::handle node);
  void read_get_attr(nb::handle node);
  void read_call(nb::handle node);
  void read_output(nb::handle node);
  bool read_getitem(nb::handle node);
  bool try_call(nb::handle node, const TorchVocabulary::Target& target, const Results& results);
  void opaque_call(nb::handle node, const TorchVocabulary::Target& target, const Results& results);
  void finish_call(nb::handle node, Node made, const Results& results, bool is_flat);

  OpId find_op(const TorchVocabulary::Target& target);
  OpId with_extra_keywords(OpId op, std::span<const NamedArgument> keywords);
  std::optional<Argument> argument(nb::handle object, int depth);
  std::optional<Argument> nested_graph(nb::handle node);
  [[nodiscard]] nb::object attribute(const std::string& target) const;
  std::optional<Argument> sequence(nb::handle object, int depth);
  std::vector<Argument> input_values(nb::handle node);

  Results results_of(nb::handle node);
  std::optional<MetaId> meta_of(nb::handle value);
  MetaId tensor_meta(nb::handle tensor);
  void read_sizes(nb::handle sizes, std::vector<SymInt>& to);
  SymExpr expression(nb::handle symbolic);
  void read_ranges(nb::handle sym_node, nb::handle expr);
  /// `index` is that of the native node.
  SourceId source_of(nb::handle node, std::uint32_t index);
  void remember(nb::handle node, Node made, bool is_list, bool is_flat);
  std::span<const Argument> keep(std::vector<Argument> arguments);

  TorchVocabulary& torch_;
  Context& context_;
  std::deque<FxGraph>& graphs_;
  Graph& graph_;
  FxNodes& nodes_;
  nb::object module_;
  nb::dict expressions_;  ///< sympy expression to the bits of its SymExpr
  std::unordered_map<PyObject*, OpId> ops_;
  std::unordered_map<PyObject*, StringId> stack_traces_;
  std::deque<std::vector<Argument>> lists_;  ///< those of the call being read
  std::vector<SymInt> sizes_, strides_;
  StringId stack_trace_key_, node_key_;
};

/// The values that the leaves of a structure of tuples, lists, dictionaries and slices stand for.
void visit_leaves(const TorchVocabulary& torch, nb::handle object,
                  const std::function<void(nb::handle node)>& visit, int depth = 0);

}  // namespace winze
