// SPDX-License-Identifier: Apache-2.0
// Any bytes are either read as a program, which prints to a text that reads back to the same bytes
// and to a program without a difference, or give an Error.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/unless_refused.h"
#include "winze/program/program_diff.h"
#include "winze/program/program_text.h"
#include "winze/program/program_verifier.h"

namespace {

using winze::Context;
using winze::ExportedProgram;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ExportedProgram& program) {
  const std::string text = winze::print_program(program);
  Context context;
  const ExportedProgram again = winze::parse_program(context, text, "printed");
  require(winze::print_program(again) == text);
  require(winze::diff_programs(program, again).empty());
  for (const winze::Diagnostic& finding : winze::verify(program, winze::VerifyLevel::semantics)) {
    require(!finding.str().empty());
  }
  // What the parser makes is always sound; only its meaning may be wrong.
  require(winze::verify(*program.graph, winze::VerifyLevel::schema).empty() ||
          winze::verify(*program.graph, winze::VerifyLevel::structure).empty());
  for (const winze::TextSources sources :
       {winze::TextSources::comments, winze::TextSources::none}) {
    Context other;
    static_cast<void>(winze::parse_program(
        other, winze::print_program(program, {.sources = sources}), "without sources"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Context context;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program =
      winze::unless_refused([&] { return winze::parse_program(context, text, "fuzz"); });
  if (program) check(*program);
  return 0;
}
