# SPDX-License-Identifier: Apache-2.0
"""Expected text that is made anew expects what came out, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from update_checks import check_lines, updated


def filecheck(expected: list[str], output: str, folder: Path) -> bool:
    path = folder / "expected.txt"
    path.write_text("\n".join(expected) + "\n")
    tool = Path(sys.executable).parent / "filecheck"
    return subprocess.run([tool, path], input=output.encode(), capture_output=True).returncode == 0


OUTPUT = 'program "a" from "x/a.pt2" xxh3:00ff\n\ngraph f(%x: f32[2]) {\n  [[1, 2]] {{3}}\n}\n'


def test_made_lines_match_their_output(tmp_path: Path) -> None:
    lines = check_lines(OUTPUT, "CHECK")
    assert filecheck(lines, OUTPUT, tmp_path)
    assert filecheck(lines, OUTPUT.replace("x/a.pt2", "y/b.pt2").replace("00ff", "1234"), tmp_path)
    assert not filecheck(lines, OUTPUT.replace("f32", "f64"), tmp_path)
    assert not filecheck(lines, OUTPUT.replace("  [[1", "  extra\n  [[1"), tmp_path)


def test_lines_are_replaced_where_they_stood(tmp_path: Path) -> None:
    path = tmp_path / "test.wz"
    before = "// RUN: cat %s.out | filecheck %s\n// CHECK: old\n// CHECK-NEXT: older\ninput\n"
    (tmp_path / "test.wz.out").write_text("new\nnewer\n")
    after = updated(before, path, tmp_path)
    assert after == before.replace("old\n", "new\n").replace("older", "newer")
    assert updated(after, path, tmp_path) == after


def test_each_prefix_has_lines_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "test.wz"
    before = "// RUN: echo a | filecheck %s\n// RUN: echo b | filecheck %s --check-prefix=OTHER\ninput\n"
    after = updated(before, path, tmp_path)
    assert after == before + "\n// CHECK: a\n\n// OTHER: b\n"
    assert updated(after, path, tmp_path) == after


def test_lines_by_hand_stay(tmp_path: Path) -> None:
    text = "// RUN: echo a | filecheck %s\n// CHECKS: by hand\n// CHECK: {{.}}\n"
    assert updated(text, tmp_path / "test.wz", tmp_path) == text


def test_a_command_that_fails_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="exits 1"):
        updated("// RUN: false | filecheck %s\n", tmp_path / "test.wz", tmp_path)
    assert list(tmp_path.iterdir()) == []
