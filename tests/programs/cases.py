# SPDX-License-Identifier: Apache-2.0
"""Recorded calls: making them from the eager module, and comparing a program with them."""

from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn

Case = dict[str, Any]


def copy_of(tree: Any) -> Any:
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, tree)


def plain(values: list[Any]) -> list[Any]:
    """Each tensor with elements of its own, without history."""
    return [x.detach().clone() if isinstance(x, torch.Tensor) else x for x in values]


def record(module: nn.Module, args: tuple[Any, ...]) -> Case:
    """Calls the module on copies: flat inputs, flat outputs, inputs and buffers after the call."""
    given = copy_of(args)
    outputs = plain(pytree.tree_leaves(module(*given)))
    return {
        "inputs": plain(pytree.tree_leaves(args)),
        "inputs_after": plain(pytree.tree_leaves(given)),
        "outputs": outputs,
        "buffers_after": {k: v.detach().clone() for k, v in module.named_buffers()},
    }


def differs(expected: Any, actual: Any, tolerance: float = 1e-5) -> str | None:
    """None where the two are equal within the tolerance, else what differs."""
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return None if expected == actual else f"{actual!r} instead of {expected!r}"
    if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
        return f"{actual.dtype}{list(actual.shape)} instead of {expected.dtype}{list(expected.shape)}"
    wide = torch.complex128 if expected.is_complex() else torch.float64
    a, b = actual.detach().to(wide), expected.detach().to(wide)
    if torch.allclose(a, b, rtol=10 * tolerance, atol=tolerance, equal_nan=True):
        return None
    return f"differs by {(a - b).abs().max().item():.3g}"


def compare_lists(what: str, expected: list[Any], actual: list[Any]) -> list[str]:
    if len(expected) != len(actual):
        return [f"{len(actual)} {what}s instead of {len(expected)}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [f"{what} {i}: {d}" for i, (e, a) in pairs if (d := differs(e, a))]


def check(program: Path, cases: Path) -> list[str]:
    """Loads the program, calls it as recorded, and returns what differs."""
    recorded = torch.load(cases, weights_only=True)
    problems = []
    for number, case in enumerate(recorded["cases"]):
        loaded = torch.export.load(program)
        module = loaded.module()
        flat = plain(case["inputs"])
        args, kwargs = pytree.tree_unflatten(flat, loaded.call_spec.in_spec)
        with torch.set_grad_enabled(recorded["grad"]):
            outputs = pytree.tree_leaves(module(*args, **kwargs))
        found = compare_lists("output", case["outputs"], outputs)
        found += compare_lists("input after the call", case["inputs_after"], flat)
        buffers = dict(module.named_buffers(remove_duplicate=False))
        for name, value in case["buffers_after"].items():
            if difference := differs(value, buffers.get(name)):
                found.append(f"buffer {name} after the call: {difference}")
        problems += [f"case {number}: {p}" for p in found]
    return problems
