// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/winze/inputs.h"
#include "tools/winze/targets.h"
#include "winze/pass/pass_manager.h"
#include "winze/pass/pipeline.h"
#include "winze/torch/check.h"

namespace winze {

/// What a command line of `winze lower` asks for each of its programs.
struct LowerSettings {
  Pipeline pipeline;
  PassManagerOptions manager;
  InputOptions inputs;
  std::string torch_version;          ///< release to write for; empty for the program's own
  std::optional<CheckOptions> check;  ///< on numbers
  bool show_passes = false;           ///< say what each pass did
  bool show_time = false;             ///< and how long it took
};

struct LowerOutcome {
  bool ok = false;
  std::string report;  ///< a JSON object, with an `error` where it failed
};

/// Reads, lowers and writes one program. `say` is given whole lines for people: warnings, what the
/// passes did, and the error where it fails. The output file appears whole, or stays as it was.
/// Throws no Error. For several threads, each with its own target.
[[nodiscard]] LowerOutcome lower_file(const LowerSettings& settings, const Target& target,
                                      const std::function<void(std::string_view)>& say);

}  // namespace winze
