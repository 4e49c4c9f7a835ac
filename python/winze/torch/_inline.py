# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions in a graph, replaced by the operators that they call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._dispatch.python import enable_python_dispatcher
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from winze._error import Error
from winze._log import logger
from winze._metas import INHERITED
from winze.torch import _fake


def inline_python_calls(gm: fx.GraphModule, nodes: Sequence[fx.Node], *, only_operators: bool) -> None:
    """Traces those of the nodes that call PyTorch's functions or methods on tensors (``torch.clone``, ``operator.add``,
    ``"relu"``), and puts the operators in their place.

    An exported program holds `only_operators`: any other Python function is traced too. Raises Error for calls that
    cannot be traced, and for calls of modules. Elsewhere such calls stay as they are.
    """
    mode: FakeTensorMode | None = None
    for node in nodes:
        if node.op == "call_module" and only_operators:
            raise Error(
                f"call_module of {node.target!r} has no place in an exported program",
                node=node.format_node() or "",
                hint="call the operators that the module calls",
            )
        if not _is_python_call(node) or not (only_operators or _is_of_torch(node)):
            continue
        mode = mode or _fake.fake_mode_of(gm)
        if mode is None:
            continue
        try:
            traced = _traced(gm, node, mode, pre_dispatch=only_operators)
            _check_users(node, traced)
        except Exception as error:
            if not only_operators:
                logger.debug("%s is left as it is: %s", node.format_node(), error)
                continue
            raise Error(
                f"{_name_of(node.target)} has no place in an exported program, and cannot be traced: {error}",
                node=node.format_node() or "",
                hint="call operators: torch.ops.aten and others",
            ) from error
        _put_in_place(gm, node, traced)


def decompose_calls(gm: fx.GraphModule, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
    """Puts what they decompose into in the place of calls of these operators."""
    mode: FakeTensorMode | None = None
    for node in list(gm.graph.nodes):
        if node.op != "call_function" or node.target not in decompositions:
            continue
        mode = mode or _fake.fake_mode_of(gm)
        if mode is not None:
            _put_in_place(gm, node, _traced(gm, node, mode, decompositions=decompositions))


def _is_of_torch(node: fx.Node) -> bool:
    """Whether it calls one of PyTorch's functions or Python's operators: what these do is known."""
    if node.op == "call_method" or getattr(node.target, "__module__", None) == "_operator":
        return True
    return callable(node.target) and torch.overrides.resolve_name(node.target) is not None


def _is_python_call(node: fx.Node) -> bool:
    if node.op == "call_method":
        return True
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    if isinstance(node.target, OpOverload | HigherOrderOperator):
        return False
    # Arithmetic of sizes is Python's in exported programs too; so are switches of modes, which yield nothing.
    values = torch.utils._pytree.tree_leaves([node.meta.get("val"), [one.meta.get("val") for one in _inputs(node)]])
    return any(isinstance(value, torch.Tensor) for value in values)


def _name_of(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "__qualname__", target))


def _inputs(node: fx.Node) -> list[fx.Node]:
    return list(node.all_input_nodes)


def _traced(
    gm: fx.GraphModule,
    node: fx.Node,
    mode: FakeTensorMode,
    *,
    pre_dispatch: bool = False,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
) -> fx.GraphModule:
    inputs = _inputs(node)

    def call(*values: Any) -> Any:
        given = dict(zip(inputs, values, strict=True))
        args = fx.node.map_arg(node.args, given.__getitem__)
        kwargs = fx.node.map_arg(node.kwargs, given.__getitem__)
        if node.op == "call_method":
            assert isinstance(node.target, str)
            return getattr(args[0], node.target)(*args[1:], **kwargs)
        assert callable(node.target)
        return node.target(*args, **kwargs)

    values = [_fake.value_of(gm, one, mode) for one in inputs]
    with mode, enable_python_dispatcher():
        traced: fx.GraphModule = make_fx(call, decompositions, pre_dispatch=pre_dispatch)(*values)
    return traced


def _check_users(node: fx.Node, traced: fx.GraphModule) -> None:
    """Several values are taken apart by getitem alone. Raises TypeError where they are not."""
    returned = traced.graph.output_node().args[0]
    if isinstance(returned, fx.Node):
        return
    if not isinstance(returned, list | tuple) or any(user.target is not operator.getitem for user in node.users):
        raise TypeError(f"it yields {returned!r:.60}")


def _put_in_place(gm: fx.GraphModule, node: fx.Node, traced: fx.GraphModule) -> None:
    for one in traced.graph.find_nodes(op="get_attr"):
        held = _fake.attribute(traced, str(one.target))
        name = next(free for at in range(len(gm.graph.nodes) + 1) if not hasattr(gm, free := f"_traced_{at}"))
        setattr(gm, name, held)
        one.target = name
    values = dict(zip(traced.graph.find_nodes(op="placeholder"), _inputs(node), strict=True))
    with gm.graph.inserting_before(node):
        result = gm.graph.graph_copy(traced.graph, values)
    for made in values.values():
        if made not in node.all_input_nodes:
            made.meta.update({key: node.meta[key] for key in INHERITED if key in node.meta})
    if isinstance(result, fx.Node):
        node.replace_all_uses_with(result)
    else:
        _replace_parts(node, result)
    gm.graph.erase_node(node)
    for made in reversed(values.values()):
        if made.target is operator.getitem and not made.users:
            gm.graph.erase_node(made)


def _replace_parts(node: fx.Node, results: Any) -> None:
    """The getitems of a node that yielded several values."""
    for user in list(node.users):
        user.replace_all_uses_with(results[user.args[1]])
        user.graph.erase_node(user)
