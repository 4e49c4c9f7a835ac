// SPDX-License-Identifier: Apache-2.0
// Programs, pipelines and reports, as `winze` shows them.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/native/bindings.h"
#include "python/native/handles.h"
#include "python/native/python_shape_rules.h"
#include "python/native/run_passes.h"
#include "tools/winze/inputs.h"
#include "tools/winze/lower_file.h"
#include "winze/pass/plugin.h"
#include "winze/passes/registration.h"
#include "winze/program/program_text.h"
#include "winze/program/program_verifier.h"
#include "winze/program/pt2_writer.h"
#include "winze/shape/meta_check.h"
#include "winze/support/atomic_file.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

using Names = std::vector<std::string>;

VerifyEach verify_each_from_name(const std::string& name) {
  if (name == "none") return VerifyEach::none;
  if (name == "changed") return VerifyEach::changed;
  if (name == "whole") return VerifyEach::whole;
  throw Error(fmt::format("verify_each is {}", quote(name)), "it is none, changed or whole");
}

Names texts_of(const std::vector<Diagnostic>& diagnostics) {
  Names texts;
  for (const Diagnostic& diagnostic : diagnostics) texts.push_back(diagnostic.str());
  return texts;
}

/// A program with the warnings of reading it.
struct PyProgram {
  PyProgram() : holder(std::make_shared<ProgramHolder>()) {}
  PyProgram(PyProgram&&) = default;
  PyProgram& operator=(PyProgram&&) = default;
  PyProgram(const PyProgram&) = delete;
  PyProgram& operator=(const PyProgram&) = delete;
  /// What a pass noted may refer to handles, which refer to the holder.
  ~PyProgram() {
    if (holder) holder->meta_objects.clear();
  }

  SharedProgram holder;
  Names warnings;

  [[nodiscard]] ExportedProgram& program() const { return *holder->program; }
};

PyProgram load(const std::string& path, const Names& op_files, const Names& plugins) {
  std::vector<Diagnostic> warnings;
  PyProgram result;
  {
    const nb::gil_scoped_release release;
    Input input = read_input(path,
                             {.op_files = op_files,
                              .need_weights = true,
                              .need_records = true,
                              .context_setups = passes_with(plugins).context_setups()},
                             warnings);
    result.holder->program = std::make_unique<ExportedProgram>(std::move(input.program));
    // The old context has no graph now; the program lives in the one that it was read into.
    result.holder->context = std::move(input.context);
  }
  result.warnings = texts_of(warnings);
  return result;
}

/// A file keeps the texts of metas alone.
void drop_meta_objects(const PyProgram& self) {
  std::vector<nb::object>& objects = self.holder->meta_objects;
  if (objects.empty()) return;
  Context& context = *self.holder->context;
  for (Graph* graph : self.program().graph->all_graphs()) {
    for (const Node node : graph->nodes()) {
      if (!node.source().valid()) continue;
      SourceInfo info = context.source_info(node.source());
      const std::size_t dropped = std::erase_if(info.entries, [&](const SourceInfo::Entry& entry) {
        return context.text(entry.key).starts_with(meta_object_prefix);
      });
      if (dropped == 0) continue;
      const bool is_empty = info.entries.empty() && !info.unknown_fields.valid();
      node.set_source(is_empty ? SourceId{} : context.source(info));
    }
  }
  objects.clear();
}

Names save(const PyProgram& self, const std::string& path, const std::string& torch_version) {
  drop_meta_objects(self);
  std::vector<Diagnostic> warnings;
  AtomicFile file(path);
  if (is_text_output(path)) {
    file.write(print_program(self.program()));
  } else {
    require_weights(self.program());
    warnings = write_pt2(self.program(), file, {.torch_version = torch_version});
  }
  file.commit();
  return texts_of(warnings);
}

std::string print_readable(const PyProgram& self) {
  const ExportedProgram& program = self.program();
  return fmt::format("program {} torch {}\n{}", quote(program.name), quote(program.torch_version),
                     print_graph(*program.graph, {.sources = TextSources::comments}));
}

std::string lower_path(const std::string& path, const std::string& output,
                       const std::string& passes, const std::string& torch_version,
                       const std::string& verify_each, const Names& plugins, const Names& op_files,
                       const nb::object& say) {
  const PassRegistry registry = passes_with(plugins);
  LowerSettings settings{.pipeline = Pipeline::parse(passes, registry)};
  settings.manager.verify_each = verify_each_from_name(verify_each);
  settings.inputs = {
      .op_files = op_files, .need_weights = true, .context_setups = registry.context_setups()};
  settings.torch_version = torch_version;
  settings.show_passes = true;
  LowerOutcome outcome;
  {
    const nb::gil_scoped_release release;
    outcome = lower_file(settings, {.input = path, .output = output}, [&](std::string_view text) {
      const nb::gil_scoped_acquire acquire;
      say(std::string(text));
    });
  }
  return outcome.report;
}

/// Name and options of each pass that a pipeline in text form stands for.
std::vector<std::string> expand_pipeline(const std::string& text, const Names& plugins) {
  const PassRegistry registry = passes_with(plugins);
  Names entries;
  const Pipeline pipeline = Pipeline::parse(text, registry);
  for (const PipelineEntry& entry : pipeline.entries()) entries.push_back(entry.str());
  return entries;
}

nb::list list_passes(const Names& plugins) {
  const PassRegistry registry = passes_with(plugins);
  nb::list passes;
  for (const PassInfo* info : registry.passes()) {
    passes.append(nb::make_tuple(std::string(info->name), std::string(info->summary)));
  }
  for (const NamedPipeline& pipeline : registry.pipelines()) {
    passes.append(nb::make_tuple(pipeline.name, pipeline.summary));
  }
  return passes;
}

/// Plugins look for Winze's functions among the symbols that every library may use, and Python
/// keeps those of an extension module to itself.
void show_own_symbols() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&show_own_symbols), &self) != 0) {
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }
}

}  // namespace

PassRegistry passes_with(const std::vector<std::string>& plugins) {
  PassRegistry registry = all_passes();
  if (!plugins.empty()) show_own_symbols();
  for (const std::string& plugin : plugins) load_pass_plugin(plugin, registry);
  return registry;
}

std::string run_passes(ProgramHolder& holder, const std::string& pipeline,
                       const PassRegistry& registry, const PassManagerOptions& options) {
  const PassManager manager(Pipeline::parse(pipeline, registry), options);
  holder.insertion_points.leave(*holder.program->graph);
  const Report report = manager.run(*holder.program);
  if (report.edits != 0 || !report.ok()) holder.begin_epoch();
  report.throw_if_failed();
  return report.to_json();
}

void bind_programs(nb::module_& module) {
  nb::class_<PyProgram>(module, "Program")
      .def_static("load", &load, nb::arg("path"), nb::arg("op_files") = Names(),
                  nb::arg("plugins") = Names())
      .def("save", &save, nb::arg("path"), nb::arg("torch_version") = "")
      .def(
          "run",
          [](const PyProgram& self, const std::string& passes, const std::string& verify_each,
             const Names& plugins) {
            return run_passes(*self.holder, passes, passes_with(plugins),
                              {.verify_each = verify_each_from_name(verify_each)});
          },
          nb::arg("passes"), nb::arg("verify_each") = "changed", nb::arg("plugins") = Names())
      .def(
          "add_shape_rule",
          [](const PyProgram& self, const std::string& op, nb::object function) {
            add_python_shape_rule(*self.holder->context, op, std::move(function));
          },
          nb::arg("op"), nb::arg("function"))
      .def("print_readable", &print_readable)
      .def("text",
           [](const PyProgram& self) {
             drop_meta_objects(self);
             return print_program(self.program());
           })
      .def("verify",
           [](const PyProgram& self) {
             std::vector<Diagnostic> findings = verify(self.program(), VerifyLevel::semantics);
             if (findings.empty()) findings = verify_metas(self.program());
             return texts_of(findings);
           })
      .def("begin",
           [](const PyProgram& self, const std::string& author) {
             self.holder->insertion_points.leave(*self.program().graph);
             self.program().graph->journal().begin(author);
           })
      .def("infer_metas", [](const PyProgram& self) { self.holder->infer_metas(); })
      .def("commit",
           [](const PyProgram& self) {
             self.holder->begin_epoch();
             self.program().graph->journal().commit();
           })
      .def("undo",
           [](const PyProgram& self) {
             self.holder->begin_epoch();
             self.program().graph->journal().undo();
           })
      .def_prop_ro("edit_count",
                   [](const PyProgram& self) { return self.program().graph->edit_count(); })
      .def_prop_ro("graph",
                   [](const PyProgram& self) {
                     return graph_to_python({self.holder, self.program().graph.get()});
                   })
      .def_prop_ro("name", [](const PyProgram& self) { return self.program().name; })
      .def_prop_ro("torch_version",
                   [](const PyProgram& self) { return self.program().torch_version; })
      .def_ro("warnings", &PyProgram::warnings);
  module.def("lower_file", &lower_path, nb::arg("path"), nb::arg("output"), nb::arg("passes"),
             nb::arg("torch_version"), nb::arg("verify_each"), nb::arg("plugins"),
             nb::arg("op_files"), nb::arg("say"));
  module.def("expand_pipeline", &expand_pipeline, nb::arg("text"), nb::arg("plugins") = Names());
  module.def("list_passes", &list_passes, nb::arg("plugins") = Names());
}

}  // namespace winze
