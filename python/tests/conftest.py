# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: the package as the build folder has it, and a fresh list of passes."""

from collections.abc import Iterator

import built_package  # noqa: F401  (makes winze importable)
import pytest


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
