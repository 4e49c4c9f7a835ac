# SPDX-License-Identifier: Apache-2.0
"""What PyTorch itself is asked of a new call: the overload that its arguments choose, and what it yields."""

from collections.abc import Callable
from typing import Any

from winze import _native
from winze._error import Error
from winze._metas import TensorMeta
from winze._targets import loaded_torch, name_of, packet_of, resolve

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
    if not isinstance(held, loaded_torch().Tensor):
        raise TypeError(f"attribute {name!r} is no tensor: {held!r:.60}")
    return [_described(held, str(held.device))]


def _without_data(value: Any, tensor: Callable[[TensorMeta], Any]) -> Any:
    """An argument with something that torch takes in place of each node."""
    if isinstance(value, list | tuple):
        return [_without_data(one, tensor) for one in value]
    if not isinstance(value, _native.Node | _native.Value):
        return value
    meta = value.meta["val"]
    if isinstance(meta, TensorMeta):
        return tensor(meta)
    return {"sym_int": 2, "sym_float": 2.0, "sym_bool": True}.get(value._kind, meta)


def overload_for(target: Any, args: Any, kwargs: Any) -> Any:
    """The overload of a packet that PyTorch chooses for these arguments; any other target as it is."""
    if packet_of(target) is None:
        return target
    torch = loaded_torch()

    def of_any_size(meta: TensorMeta) -> Any:
        return torch.empty((1,) * meta.dim(), dtype=meta.dtype, device="meta")

    try:
        name = torch._C._jit_resolve_packet(
            target._qualified_op_name,
            *[_without_data(one, of_any_size) for one in args],
            **{key: _without_data(one, of_any_size) for key, one in kwargs.items()},
        )
    except RuntimeError:
        overloads = [str(getattr(target, one)._schema) for one in target.overloads()]
        raise Error(f"no overload of {target} takes these arguments", notes=overloads) from None
    return getattr(target, name)


def infer(target: Any, args: Any, kwargs: Any) -> list[Described]:
    """What a call of an operator without a shape rule yields, by running it over tensors without data."""
    torch = loaded_torch()
    if torch is None:
        raise RuntimeError(
            "what the new call yields is not known without torch; name a node that yields the same: like=node"
        )
    device = "cpu"

    def of_its_size(meta: TensorMeta) -> Any:
        nonlocal device
        if not all(isinstance(size, int) for size in (*meta.shape, *meta.strides)):
            raise ValueError(f"the sizes of {meta} are symbolic: give call_function a node like= the result")
        device = meta.device_name
        return torch.empty_strided(meta.shape, meta.strides, dtype=meta.dtype, device="meta")

    called = resolve(name_of(target))
    result = called(
        *[_without_data(one, of_its_size) for one in args],
        **{key: _without_data(one, of_its_size) for key, one in kwargs.items()},
    )
    results = result if isinstance(result, tuple | list) else [result]
    for one in results:
        if not isinstance(one, torch.Tensor):
            raise TypeError(f"{called} yields {one!r:.60}, no tensor: give call_function a node like= the result")
    return [_described(one, device) for one in results]
