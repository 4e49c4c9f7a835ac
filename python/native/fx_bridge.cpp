// SPDX-License-Identifier: Apache-2.0
// The class that Python sees: a torch.fx graph in native form, passes over it, and the way back.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_set>
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
      : holder_(std::make_shared<ProgramHolder>()) {
    holder_->program = std::make_unique<ExportedProgram>(*holder_->context);
    Graph* const graph = holder_->program->graph.get();
    graphs_.push_back(
        {.graph = graph, .serial = graph->serial(), .module = nb::borrow(graph_module)});
    FxReader(torch, *holder_->context, graphs_).read();
    for (const FxGraph& one : graphs_) holder_->modules.emplace(one.graph, one.module);
    holder_->fx_node_named = [this](std::string_view name) {
      return winze::fx_node_named(graphs_, name);
    };
    note_ranges();
    journal().watch();
  }
  FxBridge(const FxBridge&) = delete;
  FxBridge& operator=(const FxBridge&) = delete;
  ~FxBridge() {
    holder_->closed = true;
    holder_->meta_objects.clear();  // which may refer to handles, which refer to the holder
  }

  std::string run(const std::string& passes, const std::vector<std::string>& plugins) {
    holder_->check_open();
    // The program around the graph has neither weights nor calls of modules to verify.
    // What was edited is verified when it is brought back.
    return run_passes(*holder_, passes, passes_with(plugins), {.verify_each = VerifyEach::none});
  }

  void begin(const std::string& author) {
    holder_->check_open();
    journal().begin(author);
  }
  void commit() {
    holder_->begin_epoch();
    journal().commit();
  }
  void undo() {
    holder_->begin_epoch();
    journal().undo();
  }

  std::size_t apply(const nb::object& editor) {
    holder_->check_open();
    const std::vector<Journal::Change> changes = journal().changes();
    if (changes.empty()) return 0;
    std::unordered_set<std::uint32_t> serials;
    for (const Graph* graph : holder_->program->graph->all_graphs()) {
      serials.insert(graph->serial());
    }
    std::vector<FxWriter> writers;
    for (const FxGraph& one : graphs_) {
      const auto own =
          std::ranges::equal_range(changes, one.serial, {}, &Journal::Change::graph_serial);
      if (own.empty() || !serials.contains(one.serial)) continue;  // the call that had it is gone
      const bool is_first = &one == &graphs_.front();
      writers.emplace_back(*holder_, graphs_, one,
                           std::vector<Journal::Change>(own.begin(), own.end()),
                           is_first ? editor : nb::object(editor.attr("nested")(one.module)));
    }
    for (const FxWriter& writer : writers) writer.check();
    std::size_t edits = 0;
    for (FxWriter& writer : writers) edits += writer.write();
    holder_->closed = true;
    return edits;
  }

  /// Names and notes count too.
  [[nodiscard]] bool is_edited() const { return !journal().changes().empty(); }
  [[nodiscard]] GraphHandle graph() const { return {holder_, holder_->program->graph.get()}; }
  [[nodiscard]] std::string text() const {
    holder_->check_open();
    return print_graph(*holder_->program->graph, {.sources = TextSources::none});
  }
  [[nodiscard]] std::size_t size() const { return holder_->program->graph->size(); }

 private:
  [[nodiscard]] Journal& journal() const { return holder_->program->graph->journal(); }
  /// The program says of its symbols what the reader learnt, as a program from a file does.
  void note_ranges() {
    const SymbolicContext& symbols = holder_->context->symbols();
    for (const SymExpr symbol : symbols.symbols()) {
      const Range range = symbols.range(symbol);
      if (range == symbols.symbol_assumptions(symbol).range()) continue;
      RangeConstraint constraint{.symbol = symbols.symbol_name(symbol)};
      if (range.lo != Range::minus_infinity) constraint.min_val = range.lo;
      if (range.hi != Range::infinity) constraint.max_val = range.hi;
      holder_->program->range_constraints.push_back(std::move(constraint));
    }
  }

  SharedProgram holder_;
  std::deque<FxGraph> graphs_;  ///< the program's own first
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
           nb::arg("plugins") = std::vector<std::string>(),
           "Runs a pipeline of native passes; gives the report as JSON.")
      .def("begin", &FxBridge::begin, nb::arg("author"))
      .def("infer_metas", [](const FxBridge& self) { self.graph().holder->infer_metas(); })
      .def("commit", &FxBridge::commit)
      .def("undo", &FxBridge::undo)
      .def("apply", &FxBridge::apply, nb::arg("editor").none(),
           "Brings the edits into the torch.fx graph and closes this one.")
      .def_prop_ro("is_edited", &FxBridge::is_edited)
      .def_prop_ro("graph", [](const FxBridge& self) { return graph_to_python(self.graph()); })
      .def("text", &FxBridge::text)
      .def("__len__", &FxBridge::size);
}

}  // namespace winze
