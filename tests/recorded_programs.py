# SPDX-License-Identifier: Apache-2.0
"""The real programs that may lie beside the checkout, in `../shared/models`, with what PyTorch computed.

The folder, and each of those in its `releases/`, has programs, an `index.json` with facts of them, and recorded calls.
Its `archives/` are files that are not one plain program.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from built_command import MODELS_DIR

ARCHIVES = MODELS_DIR / "archives"


@dataclass(frozen=True)
class RecordedProgram:
    """A program of a folder, and what its index says of it."""

    folder: Path
    record: dict[str, Any]

    @property
    def path(self) -> Path:
        return self.folder / f"{self.record['name']}.pt2"

    @property
    def calls(self) -> Path:
        return self.path.with_suffix(".npz")


def folders() -> list[Path]:
    releases = MODELS_DIR / "releases"
    return [MODELS_DIR, *(sorted(releases.iterdir()) if releases.is_dir() else ())]


@cache
def records(folder: Path) -> list[dict[str, Any]]:
    """What the index says of each program that has a file."""
    index = folder / "index.json"
    if not index.exists():
        return []
    return [m for m in json.loads(index.read_text())["models"] if "error" not in m]


def recorded_programs() -> list[Any]:
    """All of them, as parameters of a test."""
    return [
        pytest.param(RecordedProgram(folder, record), id=f"{folder.name}/{record['name']}")
        for folder in folders()
        for record in records(folder)
    ]
