# SPDX-License-Identifier: Apache-2.0
"""The overloads that builders choose are those that PyTorch's Python functions choose: each call of
overload_driver.cpp is traced by PyTorch too."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.fx.experimental.proxy_tensor import make_fx

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("WINZE_BUILD_DIR", "build")
INPUTS: dict[str, torch.Tensor] = {
    "x": torch.rand(4, 4),
    "y": torch.rand(4, 4),
    "i": torch.zeros(4, 4, dtype=torch.int64),
    "m": torch.ones(4, 4, dtype=torch.bool),
    "z": torch.tensor(0.5),
    "image": torch.rand(2, 3, 8, 8),
    "kernel": torch.rand(5, 3, 2, 2),
}


def chosen_by_builders() -> list[tuple[str, str]]:
    driver = BUILD / "bin" / "winze_overload_driver"
    if not driver.exists():
        return []
    output = subprocess.run([driver], check=True, capture_output=True, text=True).stdout
    return [(line.split("\t")[0], line.split("\t")[1]) for line in output.splitlines()]


def chosen_by_torch(expression: str) -> str:
    """The overload of the last operator that a call reaches, before autograd takes it apart. Sizes
    are symbolic, so that `n`, one of them, is a SymInt."""

    def call(**inputs: torch.Tensor) -> Any:
        return eval(expression, {"torch": torch, "n": inputs["x"].size(0)}, inputs)

    names = list(INPUTS)
    traced = make_fx(
        lambda *tensors: call(**dict(zip(names, tensors, strict=True))), pre_dispatch=True, tracing_mode="symbolic"
    )(*INPUTS.values())
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    return str([target for target in targets if isinstance(target, torch._ops.OpOverload)][-1])


@pytest.mark.parametrize(("expression", "overload"), chosen_by_builders())
@pytest.mark.filterwarnings("ignore")
def test_builders_choose_the_overload_that_pytorch_chooses(expression: str, overload: str) -> None:
    assert overload == chosen_by_torch(expression)
