# SPDX-License-Identifier: Apache-2.0
"""Winze's clean-up passes as users of torch.fx write them, and the job of running them on a file.

Each pass is a function of a graph that says whether it changed anything; one that did is followed
by dead-code elimination, lint and recompile, which is the usual practice.
"""

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

aten = torch.ops.aten


def repair_input_as_output(graph: Graph) -> bool:
    output = graph.output_node()
    returned = [n for n in output.all_input_nodes if n.op == "placeholder"]
    for placeholder in returned:
        with graph.inserting_before(output):
            copy = graph.call_function(aten.clone.default, (placeholder,))
            copy.meta = dict(placeholder.meta)
        output.replace_input_with(placeholder, copy)
    return bool(returned)


def remove_detach(graph: Graph) -> bool:
    found = graph.find_nodes(op="call_function", target=aten.detach.default)
    for node in found:
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)
    return bool(found)


def same_layout(a: Node, b: Node) -> bool:
    x, y = a.meta.get("val"), b.meta.get("val")
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return False
    return bool(x.dtype == y.dtype and x.shape == y.shape and x.stride() == y.stride())


def writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is None or bool(schema.is_mutable)


def remove_no_op_clones(graph: Graph) -> bool:
    written: set[Node] = set()
    for node in graph.nodes:
        if node.op == "call_function" and writes(node):
            written.update(node.all_input_nodes)
    returned = set(graph.output_node().all_input_nodes)
    changed = False
    for node in graph.find_nodes(op="call_function", target=aten.clone.default):
        source = node.args[0]
        if node in returned or node in written or source in written:
            continue
        if same_layout(source, node):
            node.replace_all_uses_with(source)
            graph.erase_node(node)
            changed = True
    return changed


def hashable(argument: Any) -> Hashable:
    if isinstance(argument, list | tuple):
        return tuple(map(hashable, argument))
    if isinstance(argument, dict):
        return tuple((k, hashable(v)) for k, v in argument.items())
    return type(argument), argument


def may_be_shared(node: Node) -> bool:
    if node.op != "call_function" or writes(node):
        return False
    tags = node.target.tags
    return torch.Tag.nondeterministic_seeded not in tags and bool(node.users)


def common_subexpressions(graph: Graph) -> bool:
    seen: dict[Hashable, Node] = {}
    changed = False
    for node in graph.nodes:
        if node.op == "call_function" and writes(node):
            seen.clear()
        if not may_be_shared(node):
            continue
        first = seen.setdefault((node.target, hashable(node.args), hashable(node.kwargs)), node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)
            changed = True
    return changed


def dead_code(graph: Graph) -> bool:
    return bool(graph.eliminate_dead_code())


# What `winze lower` runs when it is not told otherwise.
DEFAULT_PIPELINE: tuple[Callable[[Graph], bool], ...] = (
    remove_no_op_clones,
    common_subexpressions,
    dead_code,
)


def run_passes(module: GraphModule) -> None:
    for each in DEFAULT_PIPELINE:
        if each(module.graph):
            module.graph.eliminate_dead_code()
            module.graph.lint()
            module.recompile()


def lower(source: Path, target: Path) -> None:
    """The whole job, in Python: load, run the passes, save."""
    program = torch.export.load(source)
    run_passes(program.graph_module)
    torch.export.save(program, target)
