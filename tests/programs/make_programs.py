#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports small programs of plain PyTorch, each with recorded calls.

    python make_programs.py FOLDER

writes NAME.pt2, and NAME.cases: flat inputs, flat outputs, and the buffers after the call, as
`torch.save` of plain tensors and scalars (see `cases.py`). `programs.json` lists the names.
"""

import copy
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cases
import models
import torch
from torch import nn
from torch.export import Dim

DECOMPOSE: dict[str, Callable[[Any], Any]] = {
    "": lambda program: program,
    "_functional": lambda program: program.run_decompositions({}),
    "_core": lambda program: program.run_decompositions(),
}


@dataclass
class Spec:
    """A module, its sample call, and how to export it."""

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    dynamic_shapes: Any = None
    more: Sequence[tuple[Any, ...]] = ()  # further calls, recorded only
    train: bool = False
    grad: bool = False
    preserve: tuple[str, ...] = ()
    lower: Sequence[str] = ("",)  # keys of DECOMPOSE: a program is made of each
    options: dict[str, Any] = field(default_factory=dict)


def randn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def specs() -> dict[str, Spec]:
    batch = Dim("batch", min=1, max=32)
    length = Dim("length", min=2, max=32)
    image = randn(2, 3, 8, 8)
    return {
        "mlp": Spec(models.Mlp, (randn(4, 8),), lower=("", "_core")),
        "conv_eval": Spec(models.ConvNet, (image,)),
        "conv_train": Spec(models.ConvNet, (image,), train=True, lower=("", "_functional", "_core")),
        "attention": Spec(
            models.Attention,
            (randn(2, 6, 16),),
            ({0: batch, 1: length},),
            more=[(randn(3, 11, 16, seed=1),), (randn(1, 2, 16, seed=2),)],
            lower=("", "_core"),
        ),
        "mutation": Spec(models.Mutation, (randn(3, 4), randn(3, 4, seed=1)), lower=("", "_functional", "_core")),
        "aliasing": Spec(models.Aliasing, (randn(3, 4),)),
        "cond": Spec(models.Cond, (randn(3, 4),), more=[(-randn(3, 4).abs(),)], lower=("", "_core")),
        "while_loop": Spec(models.WhileLoop, (torch.tensor(3), randn(2, 3))),
        "no_grad_region": Spec(models.NoGradRegion, (randn(2, 4),), grad=True),
        "constants": Spec(models.Constants, (randn(3),)),
        "buffers": Spec(models.Buffers, (randn(3),)),
        "shared_weights": Spec(models.SharedWeights, (torch.tensor([[1, 2, 3]]),)),
        "empty_tensors": Spec(models.EmptyTensors, (torch.zeros(0, 4), torch.tensor(2.0))),
        "unbacked": Spec(
            models.Unbacked,
            (torch.tensor([0, 3, 0, 5]), torch.tensor(2)),
            more=[(torch.tensor([1, 3, 4, 5]), torch.tensor(4))],
        ),
        "unused_outputs": Spec(models.UnusedOutputs, (randn(4, 6),)),
        "dynamic_int": Spec(
            models.DynamicInt,
            (randn(4, 6), 3),
            ({0: batch}, Dim.DYNAMIC),
            more=[(randn(7, 6, seed=1), 5)],
        ),
        "dtypes": Spec(models.Dtypes, (randn(4, 4),)),
        "custom_op": Spec(models.CustomOp, (randn(3, 3), randn(3, 3, seed=1)), lower=("", "_functional")),
        "submodules": Spec(models.Submodules, (randn(2, 4),), preserve=("first", "second")),
        "trees": Spec(models.Trees, ({"a": randn(3), "b": [randn(3, seed=1), 2]},)),
        "random": Spec(models.Random, (randn(16),), train=True),
    }


def make(name: str, spec: Spec, suffix: str, folder: Path) -> str:
    """Exports one program and records its calls, run by the eager module."""
    torch.manual_seed(0)
    module = spec.make().train(spec.train)
    with torch.set_grad_enabled(spec.grad):
        program = torch.export.export(
            module,
            cases.copy_of(spec.args),
            dynamic_shapes=spec.dynamic_shapes,
            preserve_module_call_signature=spec.preserve,
        )
        program = DECOMPOSE[suffix](program)
        recorded = [cases.record(copy.deepcopy(module), args) for args in (spec.args, *spec.more)]
    torch.export.save(program, folder / f"{name}{suffix}.pt2")
    torch.save({"grad": spec.grad, "cases": recorded}, folder / f"{name}{suffix}.cases")
    return f"{name}{suffix}"


def make_all(folder: Path) -> list[str]:
    """Makes every program in `folder` and returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    models.register_custom_ops()
    names = [make(name, spec, suffix, folder) for name, spec in specs().items() for suffix in spec.lower]
    (folder / "programs.json").write_text(json.dumps(names, indent=1))
    return names


if __name__ == "__main__":
    print(f"{len(make_all(Path(sys.argv[1])))} programs")
