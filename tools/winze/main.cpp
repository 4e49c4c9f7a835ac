// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>

#include <unistd.h>

#include "tools/winze/command.h"

namespace {

// A mapped file that another process shortens makes the next access to it a signal, not an error.
void report_shortened_file(int) {
  constexpr char message[] =
      "error: an input file became shorter, or its disk failed, while it was read\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message, sizeof message - 1);
  _exit(winze::exit_failed);
}

}  // namespace

int main(int argc, char** argv) {
  // Who reads the output may stop reading (`winze print a.pt2 | head`); whoever started this
  // command may have asked for that to be ignored, and then it would look like a failing disk.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGBUS, report_shortened_file);
  return winze::run_command(argc, argv);
}
