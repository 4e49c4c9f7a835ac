// SPDX-License-Identifier: Apache-2.0
// The class that Python sees: a torch.fx graph in native form, passes over it, and the way back.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "python/native/bindings.h"
#include "python/native/fx_reader.h"
#include "python/native/fx_writer.h"
#include "python/native/handles.h"
#include "python/native/run_passes.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/verifier.h"

namespace winze {
namespace {

/// A torch.fx graph in native form.
class FxBridge {
 public:
  FxBridge(TorchVocabulary& torch, nb::handle graph_module)
      : torch_(&torch), holder_(std::make_shared<ProgramHolder>()) {
    holder_->program = std::make_unique<ExportedProgram>(*holder_->context);
    graphs_.push_back({.graph = holder_->program->graph.get(), .module = nb::borrow(graph_module)});
    FxReader(torch, *holder_->context, graphs_).read();
    for (const FxGraph& one : graphs_) records_.emplace_back(*one.graph);
    edits_at_start_ = holder_->program->graph->edit_count();
  }
  FxBridge(const FxBridge&) = delete;
  FxBridge& operator=(const FxBridge&) = delete;
  ~FxBridge() { holder_->closed = true; }

  std::string run(const std::string& passes) {
    holder_->check_open();
    // The program around the graph has neither weights nor calls of modules to verify.
    std::string report = run_passes(*holder_, passes, {.verify_each = VerifyEach::none});
    check_graph();
    return report;
  }

  void begin(const std::string& author) {
    holder_->check_open();
    journal().begin(author);
  }
  void commit() {
    journal().commit();
    ++holder_->epoch;
  }
  void undo() {
    journal().undo();
    ++holder_->epoch;
  }

  std::size_t apply(const nb::object& editor) {
    holder_->check_open();
    if (!is_edited()) return 0;
    check_graph();
    std::vector<FxWriter> writers;
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      if (!is_there(graphs_[i])) continue;  // the call that had it is gone
      writers.emplace_back(*torch_, graphs_, graphs_[i], records_[i],
                           i == 0 ? editor : nb::object(editor.attr("nested")(graphs_[i].module)));
    }
    for (const FxWriter& writer : writers) writer.check();
    std::size_t edits = 0;
    for (FxWriter& writer : writers) edits += writer.write();
    holder_->closed = true;
    return edits;
  }

  [[nodiscard]] bool is_edited() const {
    return holder_->program->graph->edit_count() != edits_at_start_;
  }
  [[nodiscard]] GraphHandle graph() const { return {holder_, holder_->program->graph.get()}; }
  [[nodiscard]] std::string text() const {
    holder_->check_open();
    return print_graph(*holder_->program->graph, {.sources = TextSources::none});
  }
  [[nodiscard]] std::size_t size() const { return holder_->program->graph->size(); }

 private:
  [[nodiscard]] Journal& journal() const { return holder_->program->graph->journal(); }
  [[nodiscard]] bool is_there(const FxGraph& one) const {
    const std::vector<Graph*> all = holder_->program->graph->all_graphs();
    return std::ranges::find(all, one.graph) != all.end();
  }
  void check_graph() const {
    const std::vector<Diagnostic> findings = verify(*holder_->program->graph, VerifyLevel::schema);
    if (!findings.empty()) throw Error(findings.front());
  }

  TorchVocabulary* torch_;
  SharedProgram holder_;
  std::deque<FxGraph> graphs_;  ///< the program's own first
  std::vector<GraphRecord> records_;
  std::uint64_t edits_at_start_ = 0;
};

}  // namespace

void bind_fx_bridge(nb::module_& module) {
  nb::class_<TorchVocabulary>(module, "TorchVocabulary",
                              "What of PyTorch the bridge recognizes; one for a process.")
      .def(nb::init<>());
  nb::class_<FxBridge>(module, "FxBridge", "A torch.fx graph in native form.")
      .def(nb::init<TorchVocabulary&, nb::handle>(), nb::arg("vocabulary"), nb::arg("graph_module"),
           nb::keep_alive<1, 2>())
      .def("run", &FxBridge::run, nb::arg("passes"),
           "Runs a pipeline of native passes; gives the report as JSON.")
      .def("begin", &FxBridge::begin, nb::arg("author"))
      .def("commit", &FxBridge::commit)
      .def("undo", &FxBridge::undo)
      .def("apply", &FxBridge::apply, nb::arg("editor").none(),
           "Brings the edits into the torch.fx graph and closes this one.")
      .def_prop_ro("is_edited", &FxBridge::is_edited)
      .def_prop_ro("graph", &FxBridge::graph)
      .def("text", &FxBridge::text)
      .def("__len__", &FxBridge::size);
}

}  // namespace winze
