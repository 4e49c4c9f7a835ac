// SPDX-License-Identifier: Apache-2.0
// Lowers a file in a program of one's own: lower_file IN.pt2 OUT.pt2
#include <cstdio>

#include "winze/pass/pass_manager.h"
#include "winze/pass/pipeline.h"
#include "winze/passes/registration.h"
#include "winze/program/pt2_reader.h"
#include "winze/program/pt2_writer.h"
#include "winze/support/atomic_file.h"
#include "winze/support/bytes.h"

using namespace winze;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    Context context;
    ExportedProgram program = read_pt2(context, map_file(argv[1]), {.file_name = argv[1]});

    const PassManager manager(Pipeline::parse("inference", all_passes()), {});
    const Report report = manager.run(program);
    report.throw_if_failed();
    std::printf("%s", report.to_text(false).c_str());

    AtomicFile file(argv[2]);
    for (const Diagnostic& warning : write_pt2(program, file))
      std::fprintf(stderr, "%s\n", warning.str().c_str());
    file.commit();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
