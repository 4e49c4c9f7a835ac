# SPDX-License-Identifier: Apache-2.0
"""End to end over real exported programs, where the folder `../shared/models` is present.

Each of its folders has an `index.json`, recorded calls, and a `check.py` that loads a folder's
programs in PyTorch and compares them with those calls.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from built_command import MODELS_DIR, Winze
from recorded_programs import ARCHIVES, RecordedProgram, folders, recorded_programs, records
from same_program import differences, load_the_same
from torch.export.pt2_archive._package import load_pt2

pytestmark = pytest.mark.skipif(not (MODELS_DIR / "index.json").exists(), reason="no folder ../shared/models")


PROGRAMS = recorded_programs()
FOLDERS = [pytest.param(folder, id=folder.name) for folder in folders()]


@pytest.fixture(scope="session", autouse=True)
def known_types() -> None:
    """torch.export.load knows the operators and container types that the programs name."""
    if (MODELS_DIR / "check.py").exists():
        sys.path.insert(0, str(MODELS_DIR))
        sys.dont_write_bytecode = True
        import check  # type: ignore[import-not-found]

        check.known_types([m for folder in folders() for m in records(folder)])


@dataclass
class Lowered:
    """Every folder's programs lowered, and the check of them all, which runs beside the tests."""

    folders: dict[Path, Path]
    failures: dict[Path, str]
    check: subprocess.Popen[bytes]
    output: Path


@pytest.fixture(scope="session")
def lowered(winze: Winze, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lowered]:
    targets = {source: tmp_path_factory.mktemp(source.name) for source in folders()}
    failures = {}
    for source, target in targets.items():
        for record in records(source):
            name = f"{record['name']}.pt2"
            done = winze.run("lower", source / name, "-o", target / name)
            if done.returncode != 0:
                failures[source / name] = done.stderr.decode(errors="replace")
        for path in (source / "index.json", *source.glob("*.npz")):
            shutil.copy(path, target)
    output = tmp_path_factory.mktemp("check") / "output.txt"
    command = [sys.executable, "-B", str(MODELS_DIR / "check.py"), *map(str, targets.values())]
    with output.open("wb") as out:
        check = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
    yield Lowered(targets, failures, check, output)
    check.kill()
    check.wait()


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("program", PROGRAMS)
def test_text_parses_back_to_the_same_bytes(winze: Winze, program: RecordedProgram, tmp_path: Path) -> None:
    source = program.path
    winze("verify", source)
    winze("print", source)
    first = winze.convert(source, tmp_path / "first.wz")
    second = winze.convert(first, tmp_path / "second.wz")
    assert first.read_bytes() == second.read_bytes()
    written = winze.convert(second, tmp_path / "through-text.pt2")
    winze("diff", source, written)


@pytest.mark.parametrize("program", PROGRAMS)
def test_reading_and_writing_keeps_the_program(winze: Winze, program: RecordedProgram, tmp_path: Path) -> None:
    source = program.path
    written = winze.convert(source, tmp_path / source.name)
    if program.record["reload"] == "ok":  # else PyTorch cannot load what it wrote itself
        assert load_the_same(source, written) == []
    again = winze.convert(written, tmp_path / "again.pt2")
    assert again.read_bytes() == written.read_bytes()


def test_every_program_is_lowered(lowered: Lowered) -> None:
    assert lowered.failures == {}


@pytest.mark.parametrize("source", FOLDERS)
def test_lowered_programs_compute_the_same(lowered: Lowered, source: Path) -> None:
    lowered.check.wait()
    target = lowered.folders[source]
    lines = [x for x in lowered.output.read_text().splitlines() if str(target) in x]
    assert lines, "check.py said nothing of this folder"
    *problems, summary = lines
    beyond_pytorch = {m["name"] for m in records(source) if m["reload"] != "ok"}
    unequal = [p for p in problems if p.removeprefix(f"{target}/").partition(":")[0] not in beyond_pytorch]
    assert unequal == []
    assert f"of {len(records(source))} files load and give the recorded outputs" in summary


def test_extra_files_survive(winze: Winze, tmp_path: Path) -> None:
    source = ARCHIVES / "extra_files.pt2"
    written = winze.convert(source, tmp_path / "written.pt2")
    expected = {"notes.txt": "", "more/config.json": ""}
    actual = dict(expected)
    first = torch.export.load(source, extra_files=expected)
    second = torch.export.load(written, extra_files=actual)
    assert differences(first, second) == []
    assert actual == expected
    assert all(expected.values())


def test_one_of_two_programs_is_chosen_by_name(winze: Winze, tmp_path: Path) -> None:
    source = ARCHIVES / "two_programs.pt2"
    message = winze("lower", source, "-o", tmp_path / "any.pt2", code=1).stderr.decode()
    assert "first" in message
    assert "second" in message
    assert "--model" in message
    contents = load_pt2(str(source))
    for name in ("first", "second"):
        written = winze.convert(source, tmp_path / f"{name}.pt2", "--model", name)
        expected = contents.exported_programs[name]
        assert differences(expected, torch.export.load(written)) == []
    winze("diff", tmp_path / "first.pt2", tmp_path / "second.pt2", code=1)


def test_an_archive_that_is_no_program(winze: Winze, tmp_path: Path) -> None:
    target = tmp_path / "out.pt2"
    message = winze("lower", ARCHIVES / "torch_save.pt2", "-o", target, code=1).stderr.decode()
    assert "torch.save" in message
    assert not target.exists()
