# SPDX-License-Identifier: Apache-2.0
"""What `winze.Graph` and `winze.Node` have of torch.fx's vocabulary beyond what the native graph does itself."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from winze import _native
from winze._error import Error
from winze._suggest import nearest


class Nodes:
    """The nodes of a graph in order; edits while it is stepped through are allowed."""

    def __init__(self, graph: _native.Graph) -> None:
        self._graph = graph

    def __iter__(self) -> Iterator[_native.Node]:
        return self._graph.iterate()

    def __reversed__(self) -> Iterator[_native.Node]:
        return iter(list(self._graph.iterate())[::-1])

    def __len__(self) -> int:
        return len(self._graph)


# --- Of graphs.


def create_node(
    graph: _native.Graph,
    op: str,
    target: Any,
    args: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    name: str | None = None,
    type_expr: Any = None,
) -> _native.Node:
    if op == "placeholder":
        return graph.placeholder(name or target, type_expr)
    if op == "get_attr":
        return graph.get_attr(target, type_expr)
    if op == "call_function":
        return graph.call_function(target, args, kwargs, type_expr, name)
    if op == "output":
        return graph.output(args[0] if args else None, type_expr)
    if op in ("call_method", "call_module"):
        missing_of_graph(graph, op)
    raise ValueError(f"op is {op!r}; a graph has placeholder, get_attr, call_function and output nodes")


def output(graph: _native.Graph, result: Any, type_expr: Any = None) -> NoReturn:
    raise Error(
        "a graph has one output node",
        node=graph.output_node().format_node(),
        hint="graph.output_node().args = (result,)",
    )


def graph_copy(
    graph: _native.Graph, g: _native.Graph, val_map: dict[Any, Any], return_output_node: bool = False
) -> Any:
    """Copies the nodes of `g` but its output to the insertion point; gives what `g` returns, in terms of this graph.

    `val_map` has what takes the place of g's inputs, and is given the copies.
    """

    def copied(old: Any) -> Any:
        if isinstance(old, list | tuple):
            return tuple(copied(one) for one in old)
        if isinstance(old, _native.Value):
            made = val_map[old.node]
            return made.results[old.index] if isinstance(made, _native.Node) else made[old.index]
        return val_map[old] if isinstance(old, _native.Node) else old

    for node in list(g.nodes):  # g may be the graph itself
        if node.op == "output":
            (returned,) = copied(node.args)
            single = returned[0] if len(returned) == 1 else returned
            return (single, node) if return_output_node else single
        if node not in val_map:
            val_map[node] = graph.node_copy(node, copied)
    return None


def create_size_node(graph: _native.Graph, tensor_node: Any, dim: int) -> _native.Node:
    return graph.call_function("aten.sym_size.int", (tensor_node, dim))


def create_stride_node(graph: _native.Graph, tensor_node: Any, dim: int) -> _native.Node:
    return graph.call_function("aten.sym_stride.int", (tensor_node, dim))


def create_storage_offset_node(graph: _native.Graph, tensor_node: Any) -> _native.Node:
    return graph.call_function("aten.sym_storage_offset.default", (tensor_node,))


_ARITHMETIC = {
    ast.Add: "_operator.add",
    ast.Sub: "_operator.sub",
    ast.Mult: "_operator.mul",
    ast.FloorDiv: "_operator.floordiv",
}


def materialize_symint(graph: _native.Graph, value: int | str) -> Any:
    """A node that yields a symbolic size (as metas show it): one that is there, the size of an input, or arithmetic
    over these at the insertion point.

    Raises Error where no input has a symbol of it, or it is more than sums, products and quotients.
    """
    return value if not isinstance(value, str) else _materialized(graph, ast.parse(value, mode="eval").body)


def _materialized(graph: _native.Graph, size: ast.expr) -> Any:
    if isinstance(size, ast.Constant):
        return size.value
    if isinstance(size, ast.Name):
        return _symbol(graph, size.id)
    if isinstance(size, ast.BinOp) and type(size.op) in _ARITHMETIC:
        operands = _materialized(graph, size.left), _materialized(graph, size.right)
        return graph.call_function(_ARITHMETIC[type(size.op)], operands)
    raise Error(f"the size {ast.unparse(size)} is more than sums, products and quotients of sizes")


def _symbol(graph: _native.Graph, name: str) -> _native.Node:
    placeholders = graph.find_nodes(op="placeholder")
    for node in placeholders:
        if node._kind == "sym_int" and node.meta["val"] == name:
            return node
    for node in placeholders:
        for dim, size in enumerate(node.meta["val"].shape if node._kind == "tensor" else ()):
            if size != name:
                continue
            made = graph.create_size_node(node, dim)
            calls = graph.find_nodes(op="call_function", target="aten.sym_size.int")
            same = [one for one in calls if one < made and one.args == made.args]
            if not same:
                return made
            graph.erase_node(made)
            return same[0]
    raise Error(f"no input of the graph has the size {name}")


def materialize_symints(graph: _native.Graph, values: Sequence[int | str]) -> list[Any]:
    return [materialize_symint(graph, value) for value in values]


# --- Of nodes.


def insert_arg(node: _native.Node, idx: int, arg: Any) -> None:
    if not 0 <= idx <= len(node.args):
        raise IndexError(f"{node.format_node()} has {len(node.args)} arguments; insert_arg was given {idx}")
    node.args = (*node.args[:idx], arg, *node.args[idx:])


def stack_trace(node: _native.Node) -> str | None:
    return node.meta.get("stack_trace")


def set_stack_trace(node: _native.Node, trace: str | None) -> None:
    if trace is None:
        node.meta.pop("stack_trace", None)
    else:
        node.meta["stack_trace"] = trace


# --- What there is not.

_MAKE_ANOTHER = (
    "a call keeps its operator: make another before it (graph.inserting_before, call_function), then "
    "node.replace_all_uses_with(other) and graph.erase_node(node)"
)
_NO_MODULES = "a native graph calls operators alone; winze.torch.aten_lowering_pass registers a pass over torch.fx"
_NO_CODE = "a native graph is not run as Python code"

_MISSING_OF_GRAPHS = {
    "call_module": _NO_MODULES,
    "call_method": "a native graph calls operators alone: call_function(torch.ops.aten...)",
    "python_code": _NO_CODE,
    "on_generate_code": _NO_CODE,
    "set_codegen": _NO_CODE,
    "process_inputs": _NO_CODE,
    "process_outputs": _NO_CODE,
    "graph": "it is the graph itself",
    "recompile": "a native graph needs no recompile",
}
_MISSING_OF_NODES = {
    "_rename": "node.name = name",
    "_args": "node.args",
    "_kwargs": "node.kwargs",
    "_prev": "node.prev",
    "_next": "node.next",
    "_input_nodes": "node.all_input_nodes",
    "_erased": "an erased node raises winze.Error",
}


def _missing(kind: str, owner: Any, name: str, known: dict[str, str]) -> NoReturn:
    hint = known.get(name)
    if hint is None:
        names = [one for one in dir(type(owner)) if not one.startswith("_")]
        hint = nearest(name, names) if not name.startswith("_") else ""
    raise AttributeError(f"winze.{kind} has no {name!r}" + (f": {hint}" if hint else ""), name=name, obj=None)


def missing_of_graph(graph: _native.Graph, name: str) -> NoReturn:
    _missing("Graph", graph, name, _MISSING_OF_GRAPHS)


def missing_of_node(node: _native.Node, name: str) -> NoReturn:
    _missing("Node", node, name, _MISSING_OF_NODES)


def set_target(node: _native.Node, target: Any) -> NoReturn:
    raise AttributeError(f"the target of {node.format_node()} cannot be set: {_MAKE_ANOTHER}")
