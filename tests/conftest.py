# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the command, the programs made from plain PyTorch, real ones."""

import hashlib
import os
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

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


@pytest.fixture(scope="session")
def winze() -> Winze:
    path = BUILD_DIR / "bin" / "winze"
    if not path.exists():
        pytest.fail(f"there is no {path}; run `make build`, or set WINZE_BUILD_DIR", pytrace=False)
    return Winze(path)


def own_program_names() -> Sequence[str]:
    """The names of the programs that `make_programs.py` makes, known before they are made."""
    import make_programs

    return [name + suffix for name, spec in make_programs.specs().items() for suffix in spec.lower]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `own_name` runs once for each program of the repository's own."""
    if "own_name" in metafunc.fixturenames:
        metafunc.parametrize("own_name", own_program_names())


@pytest.fixture(scope="session")
def own_programs() -> Path:
    """The folder of the repository's own programs, made again only when their sources changed."""
    import make_programs
    import models
    import torch

    state = hashlib.sha256(torch.__version__.encode())
    for source in sorted((ROOT / "tests" / "programs").glob("*.py")):
        state.update(source.read_bytes())
    folder = BUILD_DIR / "tests" / f"programs-{state.hexdigest()[:12]}"
    if not (folder / "programs.json").exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_programs.make_all(folder)
    models.register_custom_ops()
    return folder


@pytest.fixture
def own_program(own_programs: Path, own_name: str) -> Path:
    return own_programs / f"{own_name}.pt2"
