# SPDX-License-Identifier: Apache-2.0
"""The rules that `make lint` checks of every source are ones that can fail."""

from pathlib import Path

import pytest
from check_sources import MAX_LINES, IncludedTypes, check_file

HEADER = "// SPDX-License-Identifier: Apache-2.0\n"


def problems(path: str, text: str) -> str:
    return "\n".join(check_file(Path(path), text))


@pytest.mark.parametrize(
    ("path", "include", "complaint"),
    [
        ("winze/ir/graph.cpp", '"winze/ir/graph.h"', ""),
        ("winze/ir/graph.cpp", '"winze/support/quote.h"', ""),
        ("winze/ir/graph.cpp", '"winze/program/program.h"', "is above"),
        ("winze/support/a_test.cpp", '"winze/pass/pipeline.h"', "is above"),
        ("winze/ir/graph.cpp", '"winze/nowhere/a.h"', "no known component"),
        ("winze/nowhere/a.cpp", "<vector>", "not a component"),
        ("winze/ir/graph.cpp", "<torch/torch.h>", "belongs to PyTorch"),
        ("winze/torch/run.cpp", "<ATen/ATen.h>", ""),
        ("winze/ir/graph.cpp", "<nanobind/nanobind.h>", "belongs to Python"),
        ("tools/winze/main.cpp", '"winze/passes/cleanup/passes.h"', ""),
    ],
)
def test_includes_go_only_downwards(path: str, include: str, complaint: str) -> None:
    found = problems(path, f"{HEADER}#include {include}\n")
    assert complaint in found
    assert bool(found) == bool(complaint)


def test_license_line_is_required() -> None:
    assert "the first line is to be" in problems("a.cpp", "int x;\n")
    assert problems("a.py", "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n") == ""
    assert problems("notes.md", "no license line here\n") == ""


def test_long_files_are_refused() -> None:
    assert problems("a.cpp", HEADER + "\n" * (MAX_LINES - 1)) == ""
    assert "split it" in problems("a.cpp", HEADER + "\n" * MAX_LINES)


def test_headers_are_included_once() -> None:
    assert "#pragma once" in problems("winze/ir/a.h", HEADER)


def test_machine_paths_are_refused() -> None:
    path = "/".join(["", "tmp", "x"])
    assert "line 1 names a path" in problems("notes.md", f"see {path}\n")
    assert problems("notes.md", "see build/tmp/x and a/work/b\n") == ""


def test_what_is_named_is_included() -> None:
    """Through our own headers too, but not through those of the standard library."""
    ours = {
        "winze/a.h": "#include <string>\nclass Amount {\n  std::string unit;\n};\nclass Named;\n",
        "winze/b.h": '#include "winze/a.h"\nstruct Basket {\n  struct Item {};\n  Amount amount;\n};\n',
        "winze/c.h": "struct Named {\n  int x;\n};\nstruct Item {\n  int y;\n};\n",
    }

    def check(source: str) -> list[str]:
        texts = {Path(path): text for path, text in {**ours, "winze/d.cpp": source}.items()}
        return list(IncludedTypes(texts).check(Path("winze/d.cpp")))

    assert check('#include "winze/b.h"\nAmount a; std::string s; Named* n;  // Basket') == []
    assert check("Amount a;") == ["names Amount and does not include 'winze/a.h'"]
    assert check("#include <memory>\nstd::string s;") == ["names std::string and does not include <string>"]
    assert check("class Amount;\nother::Basket b; Item two_things_are_called_so; TEST(Named, Works)") == []
