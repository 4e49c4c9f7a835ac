# SPDX-License-Identifier: Apache-2.0
"""What native graphs call operators and constants, as Python sees them: torch's own objects once torch is loaded,
names before that."""

import importlib
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from winze import _native


@dataclass(frozen=True)
class TensorMeta:
    """What is known of a tensor. Sizes and strides are in elements; a symbolic one is its expression as a text."""

    dtype_name: str
    shape: tuple[int | str, ...]
    strides: tuple[int | str, ...]
    device: str
    requires_grad: bool = False

    @property
    def dtype(self) -> Any:
        return constant("dtype", self.dtype_name)

    def stride(self) -> tuple[int | str, ...]:
        return self.strides

    def dim(self) -> int:
        return len(self.shape)


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


def _torch() -> Any:
    return sys.modules.get("torch")


def constant(kind: str, name: str) -> Any:
    """torch's dtype, layout, memory format or device of the name; the name itself while torch is not loaded."""
    torch = _torch()
    if torch is None:
        return name
    return torch.device(name) if kind == "device" else getattr(torch, name)


def describe(value: Any) -> tuple[str, str] | None:
    """Kind and name of a constant of torch; None for anything else."""
    torch = _torch()
    if torch is None:
        return None
    for kind, type_ in (("dtype", torch.dtype), ("layout", torch.layout), ("memory_format", torch.memory_format)):
        if isinstance(value, type_):
            return kind, str(value).removeprefix("torch.")
    return ("device", str(value)) if isinstance(value, torch.device) else None


_resolved: dict[str, Any] = {}


def resolve(name: str) -> Any:
    """The callable that a native operator's name stands for; the name itself while torch is not loaded."""
    torch = _torch()
    if torch is None:
        return name
    if name not in _resolved:
        _resolved[name] = _look_up(torch, name)
    return _resolved[name]


def _look_up(torch: Any, name: str) -> Any:
    parts = name.split(".")
    if parts[0] == "higher_order" and len(parts) == 2:
        return getattr(torch.ops.higher_order, parts[1], name)
    namespace = getattr(torch.ops, parts[0], None) if len(parts) == 3 and parts[0] != "torch" else None
    packet = getattr(namespace, parts[1], None)
    if packet is not None:
        return getattr(packet, parts[2], name)
    try:
        return getattr(importlib.import_module(".".join(parts[:-1])), parts[-1], name)
    except ImportError:
        return name


def name_of(target: Any) -> str:
    """What native graphs call a target: a name as it is, torch's operators by their qualified names."""
    if isinstance(target, str):
        return target
    if target is operator.getitem:
        raise TypeError("a native graph has no getitem: node.results[index] is a result of a node")
    torch = _torch()
    if torch is not None:
        if isinstance(target, torch._ops.OpOverload):
            return str(target)
        if isinstance(target, torch._ops.OpOverloadPacket):
            raise TypeError(
                f"{target} is a packet of overloads; say which, for instance {target}.{target.overloads()[0]}"
            )
        if isinstance(target, torch._ops.HigherOrderOperator):
            return f"higher_order.{target.__name__}"
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    if not module or not name:
        raise TypeError(f"{target!r} is no operator: give an overload such as torch.ops.aten.add.Tensor, or its name")
    return f"{module}.{name}"


Described = tuple[str, tuple[int, ...], tuple[int, ...], str]


def _described(tensor: Any, device: str) -> Described:
    """Dtype, sizes, strides and device of a tensor."""
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tuple(tensor.stride()), device


def attribute(module: Any, name: str) -> list[Described]:
    """Dtype, sizes, strides and device of the tensor that the module has under a dotted name."""
    held = module
    for part in name.split("."):
        if not hasattr(held, part):
            raise AttributeError(f"the module has no attribute {name!r}; register it before get_attr names it")
        held = getattr(held, part)
    if not isinstance(held, _torch().Tensor):
        raise TypeError(f"attribute {name!r} is no tensor: {held!r:.60}")
    return [_described(held, str(held.device))]


def infer(target: Any, args: Any, kwargs: Any) -> list[Described]:
    """What a call of an operator without a shape rule yields, by running it over tensors without data."""
    torch = _torch()
    if torch is None:
        raise RuntimeError(
            "what the new call yields is not known without torch; name a node that yields the same: like=node"
        )
    device = "cpu"

    def without_data(value: Any) -> Any:
        nonlocal device
        if isinstance(value, list | tuple):
            return [without_data(one) for one in value]
        meta = value.meta["val"] if isinstance(value, _native.Node) else None
        if not isinstance(meta, TensorMeta):
            return value
        if not all(isinstance(size, int) for size in (*meta.shape, *meta.strides)):
            raise ValueError(f"the sizes of {value} are symbolic: give call_function a node like= the result")
        device = meta.device
        return torch.empty_strided(meta.shape, meta.strides, dtype=meta.dtype, device="meta")

    called = resolve(name_of(target))
    result = called(*[without_data(one) for one in args], **{key: without_data(one) for key, one in kwargs.items()})
    results = result if isinstance(result, tuple | list) else [result]
    return [_described(one, device) for one in results]
