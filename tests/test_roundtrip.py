# SPDX-License-Identifier: Apache-2.0
"""End to end over programs exported from plain PyTorch: nothing is lost, and numbers stay."""

from pathlib import Path

import cases
import pytest
import torch
from built_command import Winze
from same_program import differences, load_the_same
from torch.export.pt2_archive._package import load_pt2, package_pt2

RELEASES = ("2.9.1", "2.11.0", "2.12.1", "2.13.0", "2.14.1")


def test_verifies_and_prints(winze: Winze, own_program: Path) -> None:
    winze("verify", own_program)
    printed = winze("print", own_program).stdout.decode()
    assert printed.startswith("program ")
    assert winze("print", "--stats", own_program).stdout


def test_text_parses_back_to_the_same_bytes(winze: Winze, own_program: Path, tmp_path: Path) -> None:
    first = winze.convert(own_program, tmp_path / "first.wz")
    second = winze.convert(first, tmp_path / "second.wz")
    assert first.read_bytes() == second.read_bytes()


def test_reading_and_writing_keeps_the_program(winze: Winze, own_program: Path, tmp_path: Path) -> None:
    written = winze.convert(own_program, tmp_path / "written.pt2")
    assert load_the_same(own_program, written) == []
    again = winze.convert(written, tmp_path / "again.pt2")
    assert again.read_bytes() == written.read_bytes()
    winze("diff", own_program, written)


def test_the_way_through_text_keeps_the_program(winze: Winze, own_program: Path, tmp_path: Path) -> None:
    text = winze.convert(own_program, tmp_path / "program.wz")
    written = winze.convert(text, tmp_path / "written.pt2")
    assert load_the_same(own_program, written) == []


def test_default_pipeline_computes_the_same(winze: Winze, own_program: Path, tmp_path: Path) -> None:
    lowered = winze.lower(own_program, tmp_path / "lowered.pt2", "--verify-each")
    winze("verify", lowered)
    assert cases.check(lowered, own_program.with_suffix(".cases")) == []


def test_unlowered_program_computes_the_same(own_program: Path) -> None:
    """What the other tests compare with holds for the program as PyTorch wrote it."""
    assert cases.check(own_program, own_program.with_suffix(".cases")) == []


@pytest.mark.parametrize("release", RELEASES)
def test_writes_for_other_releases(winze: Winze, own_programs: Path, release: str, tmp_path: Path) -> None:
    source = own_programs / "attention.pt2"
    written = winze.convert(source, tmp_path / "written.pt2", "--torch-version", release)
    winze("verify", written)
    winze("diff", source, written)


def test_standard_input_and_text_by_content(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    source = own_programs / "mlp.pt2"
    winze("lower", "-", "--passes", "", "-o", tmp_path / "a.pt2", stdin=source.read_bytes())
    text = winze.convert(source, tmp_path / "text.wz").read_bytes()
    misnamed = tmp_path / "text.pt2"
    misnamed.write_bytes(text)
    winze("verify", misnamed)
    winze("diff", source, tmp_path / "a.pt2")


def test_many_inputs_into_a_folder(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    names = ["mlp.pt2", "cond.pt2", "trees.pt2", "unbacked.pt2"]
    folder = tmp_path / "lowered"
    folder.mkdir()
    winze("lower", *(own_programs / n for n in names), "-o", f"{folder}/", "-j", "2")
    assert sorted(p.name for p in folder.iterdir()) == sorted(names)
    for name in names:
        alone = winze.lower(own_programs / name, tmp_path / name)
        assert (folder / name).read_bytes() == alone.read_bytes()


def test_a_program_beside_one_of_the_usual_name_keeps_its_own(winze: Winze, tmp_path: Path) -> None:
    x = torch.rand(2, 3)
    programs = {name: torch.export.export(torch.nn.Linear(3, k), (x,)) for name, k in (("model", 4), ("second", 5))}
    package_pt2(str(tmp_path / "both.pt2"), exported_programs=programs)
    lowered = winze.lower(tmp_path / "both.pt2", tmp_path / "lowered.pt2", "--model", "second")
    before, loaded = (load_pt2(str(path)).exported_programs for path in (tmp_path / "both.pt2", lowered))
    assert differences(before["model"], loaded["model"]) == []
    torch.testing.assert_close(loaded["second"].module()(x), programs["second"].module()(x))
    winze("verify", lowered, "--model", "second")
