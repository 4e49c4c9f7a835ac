# SPDX-License-Identifier: Apache-2.0
"""End to end: `winze run` and `winze lower --check` over real programs and over the text tests."""

import io
import json
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from built_command import BUILD_DIR, ROOT, Winze
from recorded_programs import ARCHIVES, RecordedProgram, recorded_programs
from torch.export.pt2_archive._package import load_pt2
from torch.utils._pytree import tree_leaves

OPERATORS = BUILD_DIR / "lib" / "winze_test_operators.so"
LOAD = ("--load", str(OPERATORS))

pytestmark = pytest.mark.skipif(not (BUILD_DIR / "lib" / "libwinze_torch.so").exists(), reason="built without libtorch")


PROGRAMS = recorded_programs()
# Text tests whose programs are not run, each for a reason that its file tells; and options for others.
NOT_RUN = re.compile(r"^// NUMBERS: none, (.+)$", re.MULTILINE)
OPTIONS = re.compile(r"^// NUMBERS: (--.+)$", re.MULTILINE)
LOWER = re.compile(r"^// RUN: winze lower %s (.*?)--passes[ =](\"[^\"]*\"|\S+)(.*)$", re.MULTILINE)


def text_tests() -> list[Any]:
    found = []
    for path in sorted((ROOT / "winze" / "passes").rglob("*.wz")):
        match = LOWER.search(path.read_text())
        if match:
            passes = match.group(2).strip('"')
            found.append(pytest.param(path, passes, id=str(path.relative_to(ROOT / "winze" / "passes"))))
    return found


class Calls:
    """The recorded calls of an archive, or those that `winze run -o` wrote."""

    def __init__(self, path: Path) -> None:
        self.archive = zipfile.ZipFile(path)
        self.cases = json.loads(self.archive.read("manifest.json"))["cases"]

    def array(self, value: dict[str, Any]) -> np.ndarray:
        array = np.lib.format.read_array(io.BytesIO(self.archive.read(value["npy"])), allow_pickle=False)
        if value["dtype"] == "bfloat16":  # the upper half of a float32
            array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return array.reshape(value["shape"])


def difference(expected: Calls, wanted: dict[str, Any], actual: Calls, given: dict[str, Any], model: Any) -> str:
    """How one value departs from the recorded one; empty where it does not."""
    for key in ("kind", "dtype", "shape"):
        if wanted.get(key) != given.get(key):
            return f"{key} {given.get(key)} instead of {wanted.get(key)}"
    if model["random"]:
        return ""
    if wanted["kind"] == "float":
        return "" if np.isclose(float(wanted["value"]), float(given["value"]), equal_nan=True) else "another float"
    if wanted["kind"] != "tensor":
        return "" if wanted["value"] == given["value"] else f"{given['value']} instead of {wanted['value']}"
    left, right = expected.array(wanted), actual.array(given)
    if left.dtype.kind in "fc":
        close = np.allclose(left.astype(complex), right.astype(complex), model["rtol"], model["atol"], equal_nan=True)
        return "" if close else f"off by {np.nanmax(np.abs(left.astype(complex) - right.astype(complex)))}"
    return "" if np.array_equal(left, right) else "other elements"


@pytest.mark.parametrize("program", PROGRAMS)
def test_runs_a_real_program_as_pytorch_does(winze: Winze, program: RecordedProgram, tmp_path: Path) -> None:
    written = tmp_path / "run.npz"
    winze("run", program.path, "--inputs", program.calls, "-o", written, *LOAD)
    expected, actual = Calls(program.calls), Calls(written)
    assert len(expected.cases) == len(actual.cases)
    for want, give in zip(expected.cases, actual.cases, strict=True):
        pairs = [(f"output {i}", w, g) for i, (w, g) in enumerate(zip(want["outputs"], give["outputs"], strict=True))]
        for kind in ("inputs_after", "buffers_after"):
            pairs += [(f"{kind} {key}", w, give[kind][key]) for key, w in want[kind].items()]
        departures = {what: difference(expected, w, actual, g, program.record) for what, w, g in pairs}
        assert not {what: text for what, text in departures.items() if text}


def assert_is_checked(winze: Winze, source: Path, target: Path, *options: str) -> None:
    done = winze("lower", source, "-o", target, "--check=each", *options, *LOAD)
    assert b"checked on numbers" in done.stderr
    assert b"nothing was compared" not in done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_default_pipeline_keeps_the_numbers_of_a_real_program(
    winze: Winze, program: RecordedProgram, tmp_path: Path
) -> None:
    assert_is_checked(winze, program.path, tmp_path / "lowered.pt2")


@pytest.mark.skipif(not ARCHIVES.is_dir(), reason="no folder ../shared/models/archives")
@pytest.mark.parametrize(
    ("file", "model"), [("extra_files", ""), ("two_programs", "first"), ("two_programs", "second")]
)
def test_a_program_of_an_archive_of_several_things_runs(winze: Winze, file: str, model: str, tmp_path: Path) -> None:
    source, written = ARCHIVES / f"{file}.pt2", tmp_path / "run.npz"
    options = ("--model", model) if model else ()
    winze("run", source, "-o", written, *options)
    program = load_pt2(str(source)).exported_programs[model or "model"]
    args, kwargs = program.example_inputs
    with torch.no_grad():
        expected = tree_leaves(program.module()(*args, **kwargs))
    (case,) = (calls := Calls(written)).cases
    for want, given in zip(expected, case["outputs"], strict=True):
        torch.testing.assert_close(torch.from_numpy(calls.array(given)), want)
    assert_is_checked(winze, source, tmp_path / "lowered.pt2", *options)


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


# Export sets attributes on the inputs that some of these describe, which their pickle then has.
@pytest.mark.parametrize("dim", [torch.export.Dim("batch"), torch.export.Dim.DYNAMIC, torch.export.Dim.AUTO])
@pytest.mark.parametrize("kind", [torch.Tensor, torch.nn.Parameter])
def test_runs_on_the_inputs_that_the_program_was_exported_with(
    winze: Winze, dim: Any, kind: type[torch.Tensor], tmp_path: Path
) -> None:
    x = torch.rand(3, 4)
    program = torch.export.export(Doubled(), (kind(x),), dynamic_shapes=({0: dim},))
    torch.export.save(program, tmp_path / "model.pt2")
    winze("run", tmp_path / "model.pt2", "-o", tmp_path / "run.npz")
    (case,) = (calls := Calls(tmp_path / "run.npz")).cases
    assert np.array_equal(calls.array(case["outputs"][0]), (x * 2).numpy())


# Comparing every program takes minutes; `WINZE_ALL_MODELS=1` does.
COMPARED = PROGRAMS if os.environ.get("WINZE_ALL_MODELS") else PROGRAMS[::9]


@pytest.mark.parametrize("program", COMPARED)
def test_a_real_program_is_equal_to_its_lowered_self(winze: Winze, program: RecordedProgram, tmp_path: Path) -> None:
    lowered = winze.lower(program.path, tmp_path / "lowered.pt2")
    said = winze("compare", program.path, lowered, *LOAD).stdout.decode()
    assert said.splitlines()[-1].startswith("equal in ")


def test_the_default_pipeline_keeps_the_numbers(winze: Winze, own_program: Path, tmp_path: Path) -> None:
    done = winze("lower", own_program, "-o", tmp_path / "lowered.pt2", "--check=each", *LOAD)
    assert b"nothing was compared" not in done.stderr


def test_a_file_that_holds_no_tensors_is_an_error(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    program = next(iter(sorted(own_programs.glob("*.pt2"))))
    (tmp_path / "inputs.npz").write_text("these are no tensors")
    done = winze("run", program, "--inputs", tmp_path / "inputs.npz", "-o", tmp_path / "out.npz", code=1)
    assert done.stderr.count(b"error:") == 1
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("command", ["run IN", "compare IN IN", "lower IN -o OUT --check"])
def test_without_its_library_the_command_says_what_is_missing(
    winze: Winze, own_programs: Path, command: str, tmp_path: Path
) -> None:
    alone = Winze(Path(shutil.copy(winze.path, tmp_path / "winze")))
    files = {"IN": own_programs / "mlp.pt2", "OUT": tmp_path / "out.pt2"}
    done = alone(*(files.get(word, word) for word in command.split()), code=1)
    assert b"running programs needs libwinze_torch.so" in done.stderr
    assert b"hint: build Winze anew" in done.stderr
    assert not (tmp_path / "out.pt2").exists()


@pytest.mark.parametrize(("path", "passes"), text_tests())
def test_a_text_test_of_a_pass_keeps_the_numbers(winze: Winze, path: Path, passes: str, tmp_path: Path) -> None:
    text = path.read_text()
    if reason := NOT_RUN.search(text):
        pytest.skip(reason.group(1))
    options = found.group(1).split() if (found := OPTIONS.search(text)) else []
    done = winze("lower", path, "-o", tmp_path / "lowered.wz", "--passes", passes, "--check=each", *options)
    assert b"nothing was compared" not in done.stderr
