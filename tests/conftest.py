# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the command, and the programs made from plain PyTorch."""

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import command_folder
import pytest
from built_command import BUILD_DIR, ROOT, Winze
from filelock import FileLock


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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):  # tests run in several processes
        if not (folder / "programs.json").exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make_programs.make_all(folder)
    models.register_custom_ops()
    return folder


@pytest.fixture
def own_program(own_programs: Path, own_name: str) -> Path:
    return own_programs / f"{own_name}.pt2"


@pytest.fixture
def folder(own_programs: Path, tmp_path: Path) -> Path:
    """The folder of `command_folder`."""
    command_folder.fill(tmp_path, own_programs)
    return tmp_path
