#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the Python package over the Llama of the whole-job benchmark, and prints a Markdown table.

    PYTHONPATH=build/python python bench/python_bridge.py [--layers 32] [--repeats 3] [--skip-compile]

Times are of the process's own CPU, so that other work on the machine disturbs them little; the shortest of several
runs. Everything runs on one thread.
"""

import argparse
import copy
import gc
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


def fx_clean_up(gm: torch.fx.GraphModule) -> None:
    graph = gm.graph
    for work in (fx_passes.remove_no_op_clones, fx_passes.common_subexpressions):
        if work(graph):
            graph.eliminate_dead_code()
            graph.lint()
            gm.recompile()
    graph.eliminate_dead_code()


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


def graph_rows(gm: torch.fx.GraphModule, repeats: int) -> list[tuple[str, str, float]]:
    nodes = len(gm.graph.nodes)
    bridge = winze._native.FxBridge(vocabulary(), gm)
    return [
        (
            f"bridge in and out, nothing changed ({nodes} nodes)",
            "us a node",
            seconds(lambda: unchanged(gm), repeats) / nodes * 1e6,
        ),
        ("clean-up (clones, CSE, dead code) as torch.fx code", "ms", consume(fx_clean_up, gm, repeats) * 1e3),
        ("the same natively, bridge included", "ms", consume(winze.torch.Pipeline("default"), gm, repeats) * 1e3),
        ("the same natively, over the native graph", "ms", seconds(lambda: bridge.run("default"), 1) * 1e3),
        ("replace each sigmoid, torch.fx", "ms", consume(lambda one: swap_sigmoid(one.graph), gm, repeats) * 1e3),
        (
            "replace each sigmoid, native graph from Python",
            "ms",
            seconds(lambda: swap_sigmoid_natively(bridge.graph), 1) * 1e3,
        ),
    ]


def compile_seconds(backend: str, model: torch.nn.Module) -> float:
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend)
    tokens = llama.sample_tokens()
    begin = time.process_time()
    with torch.no_grad():
        compiled(tokens)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-compile", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    llama.LAYERS = options.layers
    model = llama.Llama()
    with torch.no_grad():
        program = torch.export.export(model, (llama.sample_tokens(),)).run_decompositions()
    print("| what | unit | |\n|---|---|---:|", flush=True)
    for what, unit, value in graph_rows(program.graph_module, options.repeats):
        print(f"| {what} | {unit} | {value:.1f} |", flush=True)
    if options.skip_compile:
        return
    backends = ("aot_eager", "winze")
    for backend in backends:  # what is loaded and cached once in a process
        torch.compile(torch.sin, backend=backend)(torch.rand(2))
    best = dict.fromkeys(backends, float("inf"))
    for _ in range(options.repeats):
        for backend in backends:
            best[backend] = min(best[backend], compile_seconds(backend, model))
    for backend in backends:
        print(
            f"| compile the Llama of {options.layers} layers, backend {backend} | s | {best[backend]:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
