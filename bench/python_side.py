#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's own Python at the work that Winze's benchmarks time, and prints JSON.

    python python_side.py --llama FILE.pt2 [--nodes 10000 100000]

The rows have the names of the C++ side; see `report.py` for the format.
"""

import argparse
import copy
import gc
import json
import logging
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fx_passes
import llama
import torch
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

aten = torch.ops.aten
Row = dict[str, Any]


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of several runs, without the garbage collector."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
        gc.enable()
    return best


def append_calls(graph: Graph, nodes: int, value: torch.Tensor) -> None:
    """The mix of a decomposed transformer: half pointwise, a quarter mm, a quarter views."""
    x, weight = list(graph.nodes)[:2]
    last = x
    for index in range(nodes):
        match index % 4:
            case 0:
                last = graph.call_function(aten.mm.default, (last, weight))
            case 1:
                last = graph.call_function(aten.t.default, (last,))
            case 2:
                last = graph.call_function(aten.add.Tensor, (last, x))
            case _:
                last = graph.call_function(aten.relu.default, (last,))
        last.meta["val"] = value
    graph.output((last,))


def empty_graph(value: torch.Tensor) -> Graph:
    graph = Graph()
    for name in ("x", "weight"):
        graph.placeholder(name).meta["val"] = value
    return graph


def sample_graph(nodes: int, value: torch.Tensor) -> Graph:
    graph = empty_graph(value)
    append_calls(graph, nodes, value)
    return graph


def create_time(nodes: int, value: torch.Tensor) -> float:
    graphs = [empty_graph(value) for _ in range(2)]
    return seconds(lambda: append_calls(graphs.pop(), nodes, value), repeats=2)


def build_time(nodes: int, value: torch.Tensor) -> float:
    """Each call is made and run over fake tensors for its `val`, as passes of torch.fx do it."""
    graph = empty_graph(value)

    def call(target: Any, *args: Any) -> Node:
        node = graph.call_function(target, args)
        node.meta["val"] = target(*(a.meta["val"] if isinstance(a, Node) else a for a in args))
        return node

    def build() -> None:
        x, weight = list(graph.nodes)[:2]
        last = before = x
        for index in range(nodes):
            match index % 4:
                case 0:
                    made = call(aten.mm.default, last, weight)
                case 1:
                    made = call(aten.add.Tensor, last, before)
                case 2:
                    made = call(aten.view.default, last, [8, 8])
                case _:
                    made = call(aten.mul.Tensor, last, before)
            before, last = last, made

    return seconds(build, repeats=1)


def propagate_time(module: GraphModule) -> float:
    """FakeTensorProp over a graph whose placeholders have a `val`."""
    values = [n.meta["val"] for n in module.graph.nodes if n.op == "placeholder"]
    mode = next(v.fake_mode for v in values if isinstance(v, FakeTensor))
    return seconds(lambda: FakeTensorProp(module, mode).propagate_dont_convert_inputs(*values), repeats=2)


def erase_time(nodes: int, value: torch.Tensor) -> float:
    graph = sample_graph(nodes, value)
    graph.erase_node(graph.output_node())
    calls = [n for n in graph.nodes if n.op == "call_function"]

    def erase() -> None:
        for node in reversed(calls):
            graph.erase_node(node)

    return seconds(erase, repeats=1)


def replace_time(uses: int, value: torch.Tensor) -> float:
    graph = empty_graph(value)
    x, y = list(graph.nodes)
    for _ in range(uses):
        graph.call_function(aten.relu.default, (x,))
    pair: list[Node] = [x, y]

    def replace() -> None:
        pair[0].replace_all_uses_with(pair[1])
        pair.reverse()

    return seconds(replace)


def walk_time(graph: Graph) -> float:
    def walk() -> None:
        total = 0
        for node in graph.nodes:
            total += len(node.args)

    return seconds(walk)


def bytes_per_node(nodes: int, value: torch.Tensor) -> float:
    graph = empty_graph(value)
    gc.collect()
    tracemalloc.start()
    append_calls(graph, nodes, value)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / nodes


def graph_rows(nodes: int) -> list[Row]:
    with FakeTensorMode() as mode:
        value = mode.from_tensor(torch.empty(8, 8))
    graph = sample_graph(nodes, value)
    module = GraphModule(torch.nn.Module(), graph)
    timed = {
        "create_node": create_time(nodes, value),
        "build_node": build_time(min(nodes, 10_000), value) * nodes / min(nodes, 10_000),
        "erase_node": erase_time(nodes, value),
        "replace_use": replace_time(nodes, value),
        "walk": walk_time(module.graph),
        "verify": seconds(module.graph.lint),
        "dead_code": seconds(module.graph.eliminate_dead_code),
        "clone_graph": seconds(lambda: copy.deepcopy(module), repeats=1),
        "print_text": seconds(lambda: str(module.graph)),
        "common_subexpressions": seconds(lambda: fx_passes.common_subexpressions(module.graph)),
    }
    rows = [
        {"name": name, "unit": "ns/node", "nodes": nodes, "value": total / nodes * 1e9} for name, total in timed.items()
    ]
    rows.append(infer_row("infer_graph", GraphModule(torch.nn.Module(), sample_graph(10_000, value))))
    memory = bytes_per_node(min(nodes, 10_000), value)
    return [*rows, {"name": "memory", "unit": "B/node", "nodes": nodes, "value": memory}]


def infer_row(name: str, module: GraphModule) -> Row:
    nodes = len(module.graph.nodes)
    return {"name": name, "unit": "ns/node", "nodes": nodes, "value": propagate_time(module) / nodes * 1e9}


def llama_rows(path: Path) -> list[Row]:
    program = torch.export.load(path)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.pt2"
        timed = {
            "read_llama": seconds(lambda: torch.export.load(path), repeats=2),
            "write_llama": seconds(lambda: torch.export.save(program, target), repeats=2),
            "passes_llama": seconds(lambda: fx_passes.run_passes(program.graph_module), repeats=1),
            "lower_llama": seconds(lambda: fx_passes.lower(path, target), repeats=2),
        }
        torch.export.load(target)
    nodes = len(program.graph.nodes)
    return [{"name": name, "unit": "ms", "nodes": nodes, "value": total * 1e3} for name, total in timed.items()]


def peak_megabytes(work: Callable[[], Any]) -> float:
    """The most memory of tensors that is held at one time beside what is there before."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        work()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak / 1e6


def run_rows(path: Path) -> list[Row]:
    """One run of the Llama: of the exported module, and for memory of the model itself."""
    module = torch.export.load(path).module()
    model, tokens = llama.Llama(), llama.sample_tokens()
    with torch.inference_mode():
        call = seconds(lambda: module(tokens), repeats=10)
        model(tokens)
        memory = peak_megabytes(lambda: model(tokens))
    return [
        {"name": "call_llama", "unit": "ms", "value": call * 1e3},
        {"name": "run_memory_llama", "unit": "MB", "value": memory},
    ]


def chain_rows(nodes: int) -> list[Row]:
    """A chain of adds of one element, in the two ways in which torch.fx runs a graph."""
    graph = Graph()
    x = graph.placeholder("x")
    last = x
    for _ in range(nodes):
        last = graph.call_function(aten.add.Tensor, (last, x))
    graph.output(last)
    module = GraphModule(torch.nn.Module(), graph)
    interpreter = torch.fx.Interpreter(module)
    one = torch.ones(1)
    with torch.inference_mode():
        timed = {
            "run_chain": seconds(lambda: module.forward(one)),
            "run_chain_interpreter": seconds(lambda: interpreter.run(one)),
        }
    return [
        {"name": name, "unit": "ns/node", "nodes": nodes, "value": total / nodes * 1e9} for name, total in timed.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llama", type=Path, help="the file that llama.py made")
    parser.add_argument("--llama-core", type=Path, help="the same, decomposed")
    parser.add_argument("--llama-dynamic", type=Path, help="the same, decomposed and with dynamic sizes")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    rows = [row for nodes in options.nodes for row in graph_rows(nodes)]
    rows += chain_rows(10_000)
    if options.llama:
        rows += llama_rows(options.llama)
        rows += run_rows(options.llama)
    for name, path in (("infer_llama", options.llama_core), ("infer_llama_dynamic", options.llama_dynamic)):
        if path:
            rows.append(infer_row(name, torch.export.load(path).graph_module))
    print(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
