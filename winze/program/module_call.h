// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "winze/ir/argument.h"

namespace winze {

/// An input or output of a module whose signature was preserved: a value of the program's graph,
/// followed through edits (`Graph::observe`), or a constant.
struct ModuleCallArgument {
  std::optional<std::uint32_t> reference;  ///< for `Graph::observed`; unset for a constant
  Argument constant;  ///< a plain constant or list of constants; where there is no reference
};

/// How a preserved submodule was called (torch.export.exported_program.ModuleCallSignature). The
/// tree specs are pytree's JSON as text.
struct ModuleCallSignature {
  std::vector<ModuleCallArgument> inputs;
  std::vector<ModuleCallArgument> outputs;
  std::string in_spec;
  std::string out_spec;
  std::optional<std::vector<std::string>> forward_arg_names;
  std::string unknown_fields;  ///< JSON object of the members that this version does not know;
                               ///< empty for none
};

/// One module of the exported model. The root has the empty name and always a signature; other
/// modules have one where the export was asked to preserve it.
struct ModuleCallEntry {
  std::string fqn;
  std::optional<ModuleCallSignature> signature;
  std::string unknown_fields;
};

}  // namespace winze
