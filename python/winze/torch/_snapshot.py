# SPDX-License-Identifier: Apache-2.0
"""A torch.fx graph as it was: to take back what a failed pass did, and to tell what a pass changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import fx


class _NodeState(NamedTuple):
    node: fx.Node
    op: str
    name: str
    args: Any
    kwargs: Any
    target: Any
    type: Any
    meta: dict[str, Any]


class _ModuleState(NamedTuple):
    parameters: dict[str, Any]
    buffers: dict[str, Any]
    modules: dict[str, Any]


class Snapshot:
    """The graph of a module and of the graph modules in it. Costs about a microsecond a node."""

    def __init__(self, gm: fx.GraphModule) -> None:
        self.gm = gm
        self._graph = gm.graph
        self._nodes = [
            _NodeState(node, node.op, node.name, node.args, node.kwargs, node.target, node.type, dict(node.meta))
            for node in gm.graph.nodes
        ]
        self._state = _ModuleState(dict(gm._parameters), dict(gm._buffers), dict(gm._modules))
        self._nested = [
            Snapshot(child) for child in gm._modules.values() if isinstance(child, fx.GraphModule) and child is not gm
        ]

    def inputs(self) -> list[dict[str, Any]]:
        """The metas of the placeholders of then, in order."""
        return [state.meta for state in self._nodes if state.op == "placeholder"]

    def changes(self, gm: fx.GraphModule) -> Iterator[tuple[fx.GraphModule, list[fx.Node]]]:
        """The graph modules in this one, or in one made from it, and after them itself, each with its nodes that are
        new, have other arguments than then, or other values in their metas, in order."""
        known = {nested.gm: nested for nested in self._nested}
        for child in gm._modules.values():
            if isinstance(child, fx.GraphModule) and child is not gm:
                if child in known:
                    yield from known[child].changes(child)
                else:
                    yield child, list(child.graph.nodes)
        yield gm, self._touched(gm.graph)

    def _touched(self, graph: fx.Graph) -> list[fx.Node]:
        states = {state.node: state for state in self._nodes}
        found = []
        for node in graph.nodes:
            state = states.get(node)
            if (
                state is None
                or not (node.args is state.args and node.kwargs is state.kwargs and node.target is state.target)
                or state.meta.get("val") is not node.meta.get("val")
            ):
                found.append(node)
        return found

    def restore(self) -> None:
        """Gives the module the graph of then. Its nodes are new objects with the names and metas of then."""
        for nested in self._nested:
            nested.restore()
        gm = self.gm
        for kept, name in zip(self._state, ("_parameters", "_buffers", "_modules"), strict=True):
            held = getattr(gm, name)
            held.clear()
            held.update(kept)
        graph = fx.Graph(owning_module=gm, tracer_cls=getattr(self._graph, "_tracer_cls", None))
        graph._codegen = self._graph._codegen
        made: dict[fx.Node, fx.Node] = {}
        for state in self._nodes:
            args = fx.node.map_arg(state.args, made.__getitem__)
            kwargs = fx.node.map_arg(state.kwargs, made.__getitem__)
            node = graph.create_node(state.op, state.target, args, kwargs, state.name, state.type)
            node.meta = dict(state.meta)
            made[state.node] = node
        gm.graph = graph


def copy_of(gm: fx.GraphModule) -> fx.GraphModule:
    """A module with a copy of the graph that shares parameters, buffers and nested modules."""
    graph = fx.Graph(tracer_cls=getattr(gm.graph, "_tracer_cls", None))
    values: dict[fx.Node, fx.Node] = {}
    output = graph.graph_copy(gm.graph, values)
    if output is not None or gm.graph.find_nodes(op="output"):
        made = graph.output(output)
        made.meta = dict(next(iter(gm.graph.find_nodes(op="output"))).meta)
    return fx.GraphModule(gm, graph)


# What a node yields that has no value in its meta.
UNKNOWN = object()


class Signature(NamedTuple):
    """What a graph takes and returns: the number of inputs, and each leaf that it returns, `UNKNOWN` where it is."""

    inputs: int
    outputs: list[Any]

    @property
    def counts(self) -> tuple[int, int]:
        return self.inputs, len(self.outputs)


def signature_of(gm: fx.GraphModule) -> Signature:
    outputs = list(gm.graph.find_nodes(op="output"))
    leaves = torch.utils._pytree.tree_leaves(outputs[0].args[0]) if outputs else []
    values = [leaf.meta.get("val", UNKNOWN) if isinstance(leaf, fx.Node) else leaf for leaf in leaves]
    return Signature(len(gm.graph.find_nodes(op="placeholder")), values)
