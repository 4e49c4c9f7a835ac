// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "winze/pass/pass_manager.h"

namespace winze {

/// Shows a program around passes, as the options of a PassManager ask.
class PassPrinter {
 public:
  PassPrinter(const PassManagerOptions& options, const ExportedProgram& program)
      : options_(options), program_(program) {}

  void before(const PipelineEntry& entry, std::size_t index);
  /// `changed`: whether the pass edited anything.
  void after(const PipelineEntry& entry, std::size_t index, bool changed);
  void on_failure(const PipelineEntry& entry, std::size_t index);

 private:
  void show(std::string_view when, const PipelineEntry& entry, std::size_t index,
            std::string_view text) const;

  const PassManagerOptions& options_;
  const ExportedProgram& program_;
  std::string text_before_;  ///< kept for print_on_change
};

}  // namespace winze
