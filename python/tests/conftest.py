# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: the package as the build folder has it, and a fresh list of passes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE_DIR = (ROOT / os.environ.get("WINZE_BUILD_DIR", "build") / "python").resolve()
if (PACKAGE_DIR / "winze").is_dir():
    sys.path.insert(0, str(PACKAGE_DIR))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test begins with the passes that a process begins with, and nothing compiled."""
    import torch
    import winze.torch

    torch._dynamo.reset()
    torch.manual_seed(0)
    winze.torch.reset_lowering_passes()
    yield
    winze.torch.reset_lowering_passes()
