// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/native/insertion_points.h"
#include "winze/program/program.h"
#include "winze/shape/meta_propagation.h"

namespace winze {

/// A program with the context it lives in, shared by every Python object that refers to it.
struct ProgramHolder {
  ProgramHolder() : context(std::make_unique<Context>()) {}

  /// \throws Error once the program was closed: a bridge was applied or dropped.
  void check_open() const {
    if (closed) {
      throw Error("this graph is closed: what it stood for was written back or dropped",
                  "do not keep graphs and nodes beyond the pass that was given them");
    }
  }

  /// Ends what a pass may hold: handles are stale then, and no insertion point is set.
  void begin_epoch() {
    insertion_points.leave(*program->graph);
    shown_nodes.clear();
    shown_values.clear();
    ++epoch;
  }

  /// Brings metas up to date with the edits of the open transaction.
  /// \throws Error for a call that PyTorch would refuse now.
  void infer_metas() {
    for (const PropagationProblem& problem : propagate_metas(*program->graph).problems) {
      if (problem.kind == PropagationProblem::Kind::refused) throw Error(diagnostic_of(problem));
    }
  }

  std::unique_ptr<Context> context;
  std::unique_ptr<ExportedProgram> program;  ///< declared after its context: it goes first
  InsertionPoints insertion_points;          ///< of the program's graphs, before which they go
  bool closed = false;
  /// Raised where indices of erased nodes may be given out again: handles of before are stale.
  std::uint32_t epoch = 0;
  /// What Python was shown for operators (torch's own objects) and for metas of tensors, by index:
  /// each is made once.
  std::vector<nanobind::object> shown_ops;
  std::vector<nanobind::object> shown_metas;
  /// Weak references to what Python was shown for nodes and values, by graph and index, and for
  /// graphs.
  std::unordered_map<const Graph*, std::vector<nanobind::object>> shown_nodes, shown_values;
  std::unordered_map<const Graph*, nanobind::object> shown_graphs;
  /// What passes put into metas that is no text. The sources of nodes hold the indices, so that
  /// copies of nodes share it and taking a pass back takes it back.
  std::vector<nanobind::object> meta_objects;
  /// The torch.fx node that a node's source names; not set for programs from files.
  std::function<nanobind::object(std::string_view name)> fx_node_named;
  /// What Python gave for operators, by object; a name is looked up each time.
  struct GivenOp {
    nanobind::object target;  ///< keeps the key alive
    OpId op;
  };
  std::unordered_map<const PyObject*, GivenOp> given_ops;
  /// The modules that graphs read from torch.fx belong to: what `get_attr` names.
  std::unordered_map<const Graph*, nanobind::object> modules;
};

using SharedProgram = std::shared_ptr<ProgramHolder>;

}  // namespace winze
