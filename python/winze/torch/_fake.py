# SPDX-License-Identifier: Apache-2.0
"""``meta["val"]``: kept true where passes make nodes or change what they are given."""

from __future__ import annotations

import contextlib
import heapq
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import fx
from torch._dispatch.python import enable_python_dispatcher
from torch._ops import OpOverload, OpOverloadPacket
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, statically_known_true

from winze._log import logger


def fake_mode_of(gm: fx.GraphModule) -> FakeTensorMode | None:
    """The mode of the fake tensors in the graph's metas; None where it has none."""
    for node in gm.graph.nodes:
        for value in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, FakeTensor):
                return value.fake_mode
    return None


NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool, bool, int, float)


def placeholders_typed(gm: fx.GraphModule, inputs: Iterable[Any]) -> None:
    """Sets ``node.type`` on placeholders that have none: passes select by ``issubclass(node.type, torch.Tensor)``,
    which has to work for those of symbolic sizes too."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    given = list(inputs)
    for index, node in enumerate(placeholders):
        if node.type is not None:
            continue
        value = node.meta.get("val")
        if value is None:
            value = node.meta.get("example_value", given[index] if index < len(given) else None)
        if isinstance(value, torch.Tensor):
            node.type = torch.Tensor
        elif value is not None or "val" in node.meta:
            node.type = next((number for number in NUMBERS if isinstance(value, number)), object)


def is_of_other_mode(value: Any, mode: FakeTensorMode | None) -> bool:
    """Whether there is something in a value of a meta that belongs to another mode, or to the symbols of another."""
    if mode is None:
        return False
    for leaf in torch.utils._pytree.tree_leaves(value):
        if isinstance(leaf, FakeTensor) and leaf.fake_mode is not mode:
            return True
        if isinstance(leaf, torch.SymInt | torch.SymFloat | torch.SymBool):
            return getattr(leaf.node, "shape_env", None) is not mode.shape_env
    return False


def keep_input_values(gm: fx.GraphModule, inputs: Sequence[dict[str, Any]]) -> None:
    """Gives the placeholders the values that the inputs had before the pass, by position.

    Those of calls follow from them. What traces a graph (`fx.Transformer`, `make_fx`) leaves placeholders without
    values, or with those of a mode of its own.
    """
    placeholders = gm.graph.find_nodes(op="placeholder")
    if len(placeholders) != len(inputs):
        return
    for node, before in zip(placeholders, inputs, strict=True):
        if "val" in before and node.meta.get("val") is not before["val"]:
            node.meta["val"] = before["val"]
            node.meta.pop("tensor_meta", None)


def placeholders_first(graph: fx.Graph) -> None:
    """Moves the placeholders before every call, in their order."""
    last: fx.Node | None = None
    in_front = True
    for node in list(graph.nodes):
        if node.op != "placeholder":
            in_front = False
            continue
        if not in_front:
            if last is None:
                next(iter(graph.nodes)).prepend(node)
            else:
                last.append(node)
        last = node


def value_of(gm: fx.GraphModule, node: fx.Node, mode: FakeTensorMode) -> Any:
    """What a node yields, as a fake tensor of the mode. Raises KeyError where that is not known."""
    if "val" in node.meta:
        return _in_mode(node.meta["val"], mode)
    if node.op == "get_attr":
        held = attribute(gm, str(node.target))
        return mode.from_tensor(held, static_shapes=True) if isinstance(held, torch.Tensor) else held
    raise KeyError(node.name)


def attribute(module: Any, target: str) -> Any:
    for name in target.split("."):
        module = getattr(module, name)
    return module


def _compute(gm: fx.GraphModule, node: fx.Node, mode: FakeTensorMode) -> Any:
    if node.op == "get_attr":
        value = attribute(gm, str(node.target))
        return mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) else value
    args = fx.node.map_arg(node.args, lambda one: value_of(gm, one, mode))
    kwargs = fx.node.map_arg(node.kwargs, lambda one: value_of(gm, one, mode))
    with contextlib.ExitStack() as stack:
        stack.enter_context(mode)
        stack.enter_context(enable_python_dispatcher())
        if mode.shape_env is not None:
            stack.enter_context(mode.shape_env.ignore_fresh_unbacked_symbols())
        if isinstance(node.target, OpOverloadPacket):
            name = torch._C._jit_resolve_packet(node.target._qualified_op_name, *args, **kwargs)
            node.target = getattr(node.target, name)
        assert callable(node.target)
        return node.target(*args, **kwargs)


def _in_mode(value: Any, mode: FakeTensorMode) -> Any:
    """A value whose fake tensors are all of the mode: `make_fx` over real tensors gives each a mode of its own."""

    if isinstance(value, FakeTensor) and value.fake_mode is mode:
        return value

    def adopted(leaf: Any) -> Any:
        if not isinstance(leaf, FakeTensor) or leaf.fake_mode is mode or leaf.layout != torch.strided:
            return leaf
        if not all(isinstance(size, int) for size in (*leaf.shape, *leaf.stride())):
            return leaf
        with mode:
            return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device)

    return torch.utils._pytree.tree_map(adopted, value)


def same_value(a: Any, b: Any) -> bool:
    """Whether two values of metas say the same: dtype, sizes, strides and device, or the same expression."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if (a.dtype, a.device, a.layout, a.dim()) != (b.dtype, b.device, b.layout, b.dim()):
            return False
        if a.layout != torch.strided:
            return False
        pairs = [*zip(a.shape, b.shape, strict=True), *zip(a.stride(), b.stride(), strict=True)]
        return all(statically_known_true(x == y) for x, y in pairs)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.SymInt | torch.SymFloat | torch.SymBool):
        return bool(a.node.expr == b.node.expr)
    return bool(a == b)


def has_other_sizes(a: Any, b: Any) -> bool:
    """Whether two values are tensors that surely differ in dtype or sizes."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False
    if a.dtype != b.dtype or a.dim() != b.dim():
        return True
    return any(statically_known_true(x != y) for x, y in zip(a.shape, b.shape, strict=True))


def described(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"


# What operators raise that cannot tell without data what they yield, or have no kernel for fake tensors.
CANNOT_TELL = (
    NotImplementedError,
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError)


def _is_refused(gm: fx.GraphModule, node: fx.Node, mode: FakeTensorMode, error: Exception) -> bool:
    """Whether an operator says that a call with such arguments cannot run: its schema, or where it is one of PyTorch's
    its fake implementation. Those of custom operators may raise for reasons of their own.
    """
    if not isinstance(error, REFUSALS) or isinstance(error, CANNOT_TELL):
        return False
    if isinstance(node.target, OpOverload):
        namespace = node.target.namespace
    elif isinstance(node.target, OpOverloadPacket):
        namespace = node.target._qualified_op_name.split("::")[0]
    else:
        return False
    if namespace not in ("aten", "prims"):
        return _is_refused_by_schema(gm, node, mode)
    try:
        with torch.no_grad():  # where parameters may be written to
            _compute(gm, node, mode)
    except REFUSALS:
        return True
    return False


def _is_refused_by_schema(gm: fx.GraphModule, node: fx.Node, mode: FakeTensorMode) -> bool:
    args = fx.node.map_arg(node.args, lambda one: value_of(gm, one, mode))
    kwargs = fx.node.map_arg(node.kwargs, lambda one: value_of(gm, one, mode))
    try:
        if isinstance(node.target, OpOverload):
            torch._C._check_schema_allow_fake_script_object(node.target._schema, *args, **kwargs)
        elif isinstance(node.target, OpOverloadPacket):
            torch._C._jit_resolve_packet(node.target._qualified_op_name, *args, **kwargs)
    except REFUSALS:
        return True
    return False


def update_values(
    gm: fx.GraphModule,
    touched: Iterable[fx.Node],
    mode: FakeTensorMode | None,
    refused: Callable[[fx.Node, Exception], None] | None = None,
) -> None:
    """Computes ``val`` of these nodes anew, and of their users as far as it changes.

    Calls of a packet of overloads become calls of the overload that the arguments choose. Nodes whose values cannot be
    computed keep what they have; it is logged. `refused` is told of calls whose operators refuse their arguments.
    """
    if mode is None:
        return
    todo = {node for node in touched if node.op in ("call_function", "get_attr")}
    waiting = list(todo)
    heapq.heapify(waiting)  # nodes compare by their place in the graph
    while waiting:
        node = heapq.heappop(waiting)
        if (
            "val" not in node.meta
            and node.op == "get_attr"
            and isinstance(attribute(gm, str(node.target)), fx.GraphModule)
        ):
            continue
        try:
            value = _compute(gm, node, mode)
        except Exception as error:
            logger.debug("the value of %s is not known: %s", node.format_node(), error)
            if refused is not None and _is_refused(gm, node, mode, error):
                refused(node, error)
            continue
        if "val" in node.meta and same_value(node.meta["val"], value) and not is_of_other_mode(node.meta["val"], mode):
            continue
        node.meta["val"] = value
        node.meta.pop("tensor_meta", None)
        for user in node.users:
            if user.op == "call_function" and user not in todo:
                todo.add(user)
                heapq.heappush(waiting, user)
    for output in gm.graph.find_nodes(op="output"):
        if "val" in output.meta:  # of `FakeTensorProp`
            output.meta["val"] = fx.node.map_arg(output.args[0], lambda one: one.meta.get("val"))


def value_of_new(gm: fx.GraphModule, node: fx.Node, mode: FakeTensorMode | None) -> None:
    """Gives a node that was just made its ``val``, where its inputs have theirs."""
    if mode is None:
        return
    if node.target is operator.getitem and isinstance(node.args[0], fx.Node):
        whole = node.args[0].meta.get("val")
        if isinstance(whole, list | tuple):
            node.meta["val"] = whole[node.args[1]]
            return
    try:
        node.meta["val"] = _compute(gm, node, mode)
    except Exception as error:
        logger.debug("the value of %s is not known: %s", node.format_node(), error)
