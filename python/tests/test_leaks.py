# SPDX-License-Identifier: Apache-2.0
"""Nothing stays behind of graphs that were lowered and dropped."""

import gc
import weakref
from pathlib import Path

import torch
from fx_programs import traced

import winze.torch as wt


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_thousand_graphs_leave_nothing() -> None:
    gm = traced(lambda x: [(x + i) * (x + i) for i in range(20)], torch.randn(4))
    pipeline = wt.Pipeline("default")

    def lower(count: int) -> None:
        for _ in range(count):
            pipeline(torch.fx.GraphModule(gm, torch.fx.Graph().__class__.__deepcopy__(gm.graph)))
        gc.collect()

    lower(100)
    before = resident_bytes()
    lower(900)
    # A graph of 62 nodes takes about 100 kB of Python objects; a thousand of them would be 100 MB.
    assert resident_bytes() - before < 20e6


def test_compiled_graphs_are_dropped() -> None:
    alive: list[weakref.ref[torch.fx.GraphModule]] = []

    def then(gm: torch.fx.GraphModule, inputs: object) -> torch.fx.GraphModule:
        alive.append(weakref.ref(gm))
        return gm

    for step in range(3):
        torch.compile(lambda x, step=step: x.sin() + step, backend="winze", options={"then": then})(torch.randn(3))
        torch._dynamo.reset()
    gc.collect()
    assert len(alive) == 3
    assert sum(one() is not None for one in alive) == 0
