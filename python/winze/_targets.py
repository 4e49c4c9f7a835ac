# SPDX-License-Identifier: Apache-2.0
"""What native graphs call operators and constants, as Python sees them: torch's own objects once torch is loaded,
names before that."""

import importlib
import operator
import sys
from typing import Any


def loaded_torch() -> Any:
    """torch, or None while it is not loaded."""
    return sys.modules.get("torch")


def constant(kind: str, name: str) -> Any:
    """torch's dtype, layout, memory format or device of the name; the name itself while torch is not loaded."""
    torch = loaded_torch()
    if torch is None:
        return name
    return torch.device(name) if kind == "device" else getattr(torch, name)


def describe(value: Any) -> tuple[str, str] | None:
    """Kind and name of a constant of torch; None for anything else."""
    torch = loaded_torch()
    if torch is None:
        return None
    for kind, type_ in (("dtype", torch.dtype), ("layout", torch.layout), ("memory_format", torch.memory_format)):
        if isinstance(value, type_):
            return kind, str(value).removeprefix("torch.")
    return ("device", str(value)) if isinstance(value, torch.device) else None


def resolve(name: str) -> Any:
    """The callable that a native operator's name stands for; the name itself while torch is not loaded.

    torch is asked each time: a library that is gone takes its operators with it, and another may define them anew.
    """
    torch = loaded_torch()
    if torch is None:
        return name
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
    torch = loaded_torch()
    if torch is not None:
        if isinstance(target, torch._ops.OpOverload):
            return str(target)
        if isinstance(target, torch._ops.OpOverloadPacket):
            raise TypeError(f"{target} is a packet of overloads; say which: {target}.{target.overloads()[0]}")
        if isinstance(target, torch._ops.HigherOrderOperator):
            return f"higher_order.{target.__name__}"
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    if not module or not name:
        raise TypeError(f"{target!r} is no operator: give an overload such as torch.ops.aten.add.Tensor, or its name")
    return f"{module}.{name}"


def schema_of(target: Any) -> str | None:
    """The schema of one of torch's overloads as a text; None for anything else."""
    torch = loaded_torch()
    return str(target._schema) if torch is not None and isinstance(target, torch._ops.OpOverload) else None


def packet_of(target: Any) -> str | None:
    """The name of one of torch's packets of overloads (``aten.add``); None for anything else."""
    torch = loaded_torch()
    return str(target) if torch is not None and isinstance(target, torch._ops.OpOverloadPacket) else None
