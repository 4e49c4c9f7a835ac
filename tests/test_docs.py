# SPDX-License-Identifier: Apache-2.0
"""What README and docs show of the command is what it prints; and the engine that compares them."""

import os
import sys
from pathlib import Path

import pytest
from built_command import BUILD_DIR, ROOT, Winze
from console_blocks import output_matches, page_steps, run_page

PAGES = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if p.exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page_shows_what_is_printed(winze: Winze, own_programs: Path, page: Path, tmp_path: Path) -> None:
    """Setup commands find the repository's own programs in $PROGRAMS, and its root in $ROOT."""
    tools = [str(winze.path.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        "PATH": os.pathsep.join(tools),
        "PYTHONPATH": str(BUILD_DIR / "python"),
        "PROGRAMS": str(own_programs),
        "ROOT": str(ROOT),
        "BUILD_DIR": str(BUILD_DIR),
        "COLUMNS": "100",
    }
    assert run_page(page.read_text(), tmp_path, environment) == []


def run(page: str, folder: Path) -> list[str]:
    return run_page(page, folder, {})


def test_output_is_compared(tmp_path: Path) -> None:
    assert run("```console\n$ echo one; echo two\none\ntwo\n```\n", tmp_path) == []
    (problem,) = run("```console\n$ echo one\ntwo\n```\n", tmp_path)
    assert problem == "line 2: `echo one` shows\ntwo\n--- but prints\none"


def test_missing_output_is_noticed(tmp_path: Path) -> None:
    assert run("```console\n$ echo one\n```\n", tmp_path)
    assert run("```console\n$ true\nsomething\n```\n", tmp_path)
    assert run("```console\n$ true\n```\n", tmp_path) == []


def test_failure_is_noticed_unless_its_code_is_shown(tmp_path: Path) -> None:
    assert run("```console\n$ exit 3\n```\n", tmp_path)
    assert run("```console\n$ echo bad >&2; exit 3\nbad\n$ echo $?\n3\n```\n", tmp_path) == []
    assert run("```console\n$ exit 3\n$ echo $?\n4\n```\n", tmp_path)


def test_setup_and_files_come_first(tmp_path: Path) -> None:
    page = (
        "<!-- setup: echo hidden > a.txt -->\n<!-- file: sub/b.txt -->\n```text\nshown\n```\n"
        "```console\n$ cat a.txt \\\n    sub/b.txt\nhidden\nshown\n```\n```sh\n$ exit 1\n```\n"
    )
    assert run(page, tmp_path) == []
    assert [step.line for step in page_steps(page)] == [1, 3, 7]


def test_later_blocks_see_files_of_earlier_ones(tmp_path: Path) -> None:
    page = "```console\n$ echo x > f\n```\ntext\n```console\n$ cat f\nx\n```\n"
    assert run(page, tmp_path) == []


@pytest.mark.parametrize(
    ("shown", "actual", "equal"),
    [
        (["took ... ms"], ["took 3.5 ms"], True),
        (["took ... ms"], ["took 3.5 s"], False),
        (["a", "...", "z"], ["a", "b", "c", "z"], True),
        (["a", "...", "z"], ["a", "z"], True),
        (["a", "...", "z"], ["a", "b"], False),
        (["...", "m", "..."], ["l", "m", "m"], True),
        (["..."], [], True),
        (["a"], ["a", "b"], False),
        (["f(x) [1]"], ["f(x) [1]"], True),
        (["f.x"], ["f_x"], False),
    ],
)
def test_wildcards(shown: list[str], actual: list[str], equal: bool) -> None:
    assert output_matches(shown, actual) == equal
