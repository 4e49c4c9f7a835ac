# SPDX-License-Identifier: Apache-2.0
"""The command as the build folder has it, and where things are."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_DIR = (ROOT / os.environ.get("WINZE_BUILD_DIR", "build")).resolve()
# Real programs that may lie beside the checkout; see `test_models.py`.
MODELS_DIR = ROOT.parent / "shared" / "models"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Winze:
    """The built command."""

    path: Path

    def __call__(
        self, *args: str | Path, code: int = 0, stdin: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs it; any exit code but `code` fails the test."""
        done = self.run(*args, stdin=stdin, cwd=cwd)
        assert done.returncode == code, (
            f"winze {' '.join(map(str, args))}: exit {done.returncode} instead of {code}\n"
            f"{done.stdout.decode(errors='replace')[-2000:]}{done.stderr.decode(errors='replace')}"
        )
        return done

    def run(self, *args: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([self.path, *args], input=stdin, capture_output=True, timeout=TIMEOUT_SECONDS, cwd=cwd)

    def lower(self, source: Path, target: Path, *options: str) -> Path:
        self("lower", source, "-o", target, *options)
        return target

    def convert(self, source: Path, target: Path, *options: str) -> Path:
        """Reads and writes, with no pass between."""
        return self.lower(source, target, "--passes", "", *options)
