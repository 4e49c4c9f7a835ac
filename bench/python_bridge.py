#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the Python package over the Llama of the whole-job benchmark, and prints JSON.

    PYTHONPATH=build/python python bench/python_bridge.py [--layers 32] [--repeats 3] [--rounds 2] [--skip-compile]

The members `winze` and `python` have rows of the same names; see `report.py` for the format. Times are of the
process's own CPU, so that other work on the machine disturbs them little; the shortest of several runs, or for
compilations the median. Everything runs on one thread.
"""

import argparse
import copy
import gc
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import fx_passes
import llama
import torch

import winze
import winze.torch
from winze.torch._run import vocabulary

aten = torch.ops.aten
Rows = dict[str, float]
BACKENDS = ("winze", "aot_eager")
KINDS = ("inference", "training")


def seconds(work: Callable[[], Any], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
        gc.enable()
    return best


def fresh(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    return copy.deepcopy(gm)


def consume(work: Callable[[torch.fx.GraphModule], Any], gm: torch.fx.GraphModule, repeats: int) -> float:
    """Time of work that edits: each run has a copy of its own."""
    copies = [fresh(gm) for _ in range(repeats)]
    return seconds(lambda: work(copies.pop()), repeats)


def unchanged(gm: torch.fx.GraphModule) -> None:
    winze._native.FxBridge(vocabulary(), gm).apply(None)


TEN_NATIVE = ", ".join(each.__name__.replace("_", "-") for each in fx_passes.TEN_PASSES)


def ten_over_view(graph: winze.Graph) -> None:
    for each in fx_passes.TEN_PASSES:
        each(graph)


def ten_rows(gm: torch.fx.GraphModule, repeats: int) -> tuple[Rows, Rows]:
    """The ten clean-up passes as C++, as Python over the native graph, and as Python over torch.fx."""
    left: list[int] = []

    def native() -> float:
        bridge = winze._native.FxBridge(vocabulary(), gm)
        spent = seconds(lambda: bridge.run(TEN_NATIVE), 1)
        left.append(len(bridge))
        return spent

    def view() -> float:
        bridge = winze._native.FxBridge(vocabulary(), gm)
        spent = seconds(lambda: ten_over_view(bridge.graph), 1)
        left.append(len(bridge))
        return spent

    def in_fx(one: torch.fx.GraphModule) -> None:
        fx_passes.run_passes(one, fx_passes.TEN_PASSES)
        left.append(len(one.graph.nodes))

    def through_bridge(one: torch.fx.GraphModule) -> None:
        winze.torch.Pipeline(TEN_NATIVE)(one)
        left.append(len(one.graph.nodes))

    theirs = consume(in_fx, gm, repeats) * 1e3
    ours = {
        "ten_native": min(native() for _ in range(repeats)) * 1e3,
        "ten_view": min(view() for _ in range(repeats)) * 1e3,
        "ten_bridge": consume(through_bridge, gm, repeats) * 1e3,
    }
    if len(set(left)) != 1:
        raise AssertionError(f"the passes leave graphs of different sizes: {left}")
    return ours, dict.fromkeys(ours, theirs)


def swap_sigmoid(graph: Any) -> None:
    """The same body over both kinds of graph."""
    for node in graph.find_nodes(op="call_function", target=aten.sigmoid.default):
        with graph.inserting_before(node):
            made = graph.call_function(aten.tanh.default, (node.args[0],))
        node.replace_all_uses_with(made)
        graph.erase_node(node)


@winze.lowering_pass(name="swap-sigmoid")
def swap_sigmoid_natively(graph: winze.Graph) -> None:
    for node in graph.find_nodes(op="call_function", target=aten.sigmoid.default):
        with graph.inserting_before(node):
            made = graph.call_function(aten.tanh.default, (node.args[0],), like=node)
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def graph_rows(gm: torch.fx.GraphModule, repeats: int) -> tuple[Rows, Rows]:
    """Winze's rows, and PyTorch's of the same names."""
    bridge = winze._native.FxBridge(vocabulary(), gm)
    winze_rows = {
        "bridge_unchanged": seconds(lambda: unchanged(gm), repeats) / len(gm.graph.nodes) * 1e6,
        "swap_calls": seconds(lambda: swap_sigmoid_natively(bridge.graph), 1) * 1e3,
    }
    python_rows = {
        "swap_calls": consume(lambda one: swap_sigmoid(one.graph), gm, repeats) * 1e3,
    }
    return winze_rows, python_rows


def compile_once(model: torch.nn.Module, tokens: torch.Tensor, backend: str, kind: str) -> float:
    """Seconds of the process to compile the Llama and run it once, forward or forward and backward."""
    torch._dynamo.reset()
    model.zero_grad()
    gc.collect()
    compiled = torch.compile(model, backend=backend)
    begin = time.process_time()
    if kind == "inference":
        with torch.no_grad():
            compiled(tokens)
    else:
        compiled(tokens).sum().backward()
    return time.process_time() - begin


def compile_rows(rounds: int) -> tuple[Rows, Rows]:
    """The median of several compilations in one process. The backends take turns in the order A B B A, so that what
    drifts (caches that fill, other work on the machine) weighs on both alike."""
    model, tokens = llama.Llama(), llama.sample_tokens()
    x = torch.rand(2, requires_grad=True)
    for backend in BACKENDS:  # what is loaded and cached once in a process
        torch._dynamo.reset()
        torch.compile(torch.sin, backend=backend)(x).sum().backward()
    rows: dict[str, Rows] = {backend: {} for backend in BACKENDS}
    for kind in KINDS:
        times: dict[str, list[float]] = {backend: [] for backend in BACKENDS}
        for _ in range(rounds):
            for backend in (*BACKENDS, *BACKENDS[::-1]):
                times[backend].append(compile_once(model, tokens, backend, kind))
        for backend, each in times.items():
            rows[backend][f"compile_{kind}"] = statistics.median(each)
            text = ", ".join(f"{one:.2f}" for one in each)
            print(f"compile for {kind}, {backend}: {text} s", file=sys.stderr, flush=True)
    return rows[BACKENDS[0]], rows[BACKENDS[1]]


def document(rows: Rows) -> dict[str, Any]:
    return {"rows": [{"name": name, "value": value} for name, value in rows.items()]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-compile", action="store_true")
    parser.add_argument("--rounds", type=int, default=2, help="of compilations, each twice with either backend")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    llama.LAYERS = options.layers
    with torch.no_grad():
        program = torch.export.export(llama.Llama(), (llama.sample_tokens(),))
    ours, theirs = ten_rows(program.graph_module, options.repeats)
    decomposed = graph_rows(program.run_decompositions().graph_module, options.repeats)
    ours, theirs = ours | decomposed[0], theirs | decomposed[1]
    if not options.skip_compile:
        compiled = compile_rows(options.rounds)
        ours, theirs = ours | compiled[0], theirs | compiled[1]
    print(json.dumps({"winze": document(ours), "python": document(theirs)}, indent=1))


if __name__ == "__main__":
    main()
