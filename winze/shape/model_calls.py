# SPDX-License-Identifier: Apache-2.0
"""Infers every call of the real programs beside the checkout."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from recorded_calls import ROOT, driver

MODELS = ROOT.parent / "shared" / "models"


def model_files() -> list[Path]:
    """All programs, those of other releases included."""
    return sorted([*MODELS.glob("*.pt2"), *MODELS.glob("releases/*/*.pt2")])


def states_of_model(path: Path) -> Iterator[tuple[str, str]]:
    """State and line of each call of a program."""
    done = subprocess.run([driver(), path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        yield line.split("\t")[1], line
