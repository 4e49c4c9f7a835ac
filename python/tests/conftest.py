# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: the package as the build folder has it, and a fresh list of passes."""

import os
from collections.abc import Iterator

import built_package  # noqa: F401  (makes winze importable)
import pytest

# Inductor compiles a program for each instruction set, to see whether it can, unless told that it can.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")


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
