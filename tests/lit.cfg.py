# SPDX-License-Identifier: Apache-2.0
# Text tests: every *.wz file with a RUN line, beside the code that it tests or in tests/text.
#
#     .venv/bin/lit --param build_dir=build tests
#
# Commands are found by name: `winze` in the build folder, `filecheck` beside lit.
import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parent.parent
build_dir = (root / lit_config.params.get("build_dir", "build")).resolve()

config.name = "winze"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".wz"]
config.test_source_root = str(root)
config.test_exec_root = str(build_dir / "text-tests")
config.excludes = {"inputs"} | {
    path.name for path in root.iterdir() if path.is_dir() and path.name not in ("winze", "tests", "examples")
}

if not (build_dir / "bin" / "winze").exists():
    lit_config.fatal(f"there is no {build_dir}/bin/winze; run `make build`, or set build_dir")

tools = [str(build_dir / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(tools)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%build_dir", str(build_dir)))
