# SPDX-License-Identifier: Apache-2.0
"""Comparing a lowered graph with the graph it was made from, on the inputs of a real call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch._guards import detect_fake_mode
from torch._prims_common import clone_preserve_strides
from torch.utils._pytree import tree_leaves

from winze._error import Error
from winze._log import logger
from winze.torch._snapshot import copy_of


@dataclass
class Stages:
    """A graph before the passes and after each of them."""

    original: fx.GraphModule
    after: list[tuple[str, fx.GraphModule]] = field(default_factory=list)

    def add(self, name: str, gm: fx.GraphModule) -> None:
        self.after.append((name, copy_of(gm)))


def have_data(args: Sequence[Any]) -> bool:
    """Whether a call with these arguments computes numbers: in a FakeTensorMode none does."""
    return detect_fake_mode(args) is None


def check_stages(stages: Stages, args: Sequence[Any]) -> None:
    """Runs the graph before the passes and the one after all of them on copies of the arguments.

    Where they differ, raises Error that names the first pass that departs. Random draws are the same for both, and
    none is taken from the caller's generators.
    """
    if not stages.after:
        return
    expected = _run(stages.original, args)
    if _difference(expected, _run(stages.after[-1][1], args)) is None:
        logger.debug("check: %d passes change no result", len(stages.after))
        return
    for name, gm in stages.after:
        difference = _difference(expected, _run(gm, args))
        if difference is not None:
            raise Error(
                f"pass {name} changes what the graph computes: {difference}",
                hint="run without it (winze.torch.remove_lowering_pass), or without the option 'check'",
                pass_name=name,
            )


def _run(gm: fx.GraphModule, args: Sequence[Any]) -> list[Any]:
    """What a graph returns for copies of the arguments, followed by what it leaves in these."""
    with torch.random.fork_rng(), torch.no_grad():
        copies = [clone_preserve_strides(one) if isinstance(one, torch.Tensor) else one for one in args]
        results = fx.Interpreter(gm).run(*copies)
        return [*tree_leaves(results), *copies]


def _difference(expected: Sequence[Any], actual: Sequence[Any]) -> str | None:
    if len(expected) != len(actual):
        return f"{len(actual)} results instead of {len(expected)}"
    for index, (old, new) in enumerate(zip(expected, actual, strict=True)):
        if isinstance(old, torch.Tensor) != isinstance(new, torch.Tensor):
            return f"result {index} is {new!r:.60} instead of {old!r:.60}"
        if isinstance(old, torch.Tensor):
            try:
                torch.testing.assert_close(new, old, equal_nan=True)
            except AssertionError as error:
                return f"result {index}: {' '.join(str(error).split())}"
        elif old is not new and old != new:
            return f"result {index} is {new!r:.60} instead of {old!r:.60}"
    return None
