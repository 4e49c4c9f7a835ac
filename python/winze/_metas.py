# SPDX-License-Identifier: Apache-2.0
"""``node.meta`` of native graphs."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from winze._targets import constant, loaded_torch

if TYPE_CHECKING:
    from winze import _native

Size = int | str

# What a node yields is inferred, and stays true whatever a pass writes there.
INFERRED = frozenset({"val", "tensor_meta", "example_value"})


# What a node that takes another's place inherits: where it comes from, not what it yields.
INHERITED = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node", "custom", "seq_nr")


class TensorMeta:
    """What is known of a tensor. Sizes and strides are in elements; a symbolic one is its expression as a text.

    It has the attributes of a tensor that passes read, and is an instance of ``torch.Tensor`` once torch is loaded, so
    that what passes ask of a fake tensor may be asked of it.
    """

    __slots__ = ("device_name", "dtype_name", "requires_grad", "shape", "strides")

    def __init__(
        self,
        dtype_name: str,
        shape: tuple[Size, ...],
        strides: tuple[Size, ...],
        device_name: str,
        requires_grad: bool = False,
    ) -> None:
        self.dtype_name = dtype_name
        self.shape = shape
        self.strides = strides
        self.device_name = device_name
        self.requires_grad = requires_grad

    @property  # type: ignore[misc]  # mypy takes __class__ for no property
    def __class__(self) -> type:
        torch = loaded_torch()
        return TensorMeta if torch is None else torch.Tensor

    @property
    def dtype(self) -> Any:
        return constant("dtype", self.dtype_name)

    @property
    def device(self) -> Any:
        return constant("device", self.device_name)

    @property
    def is_cuda(self) -> bool:
        return self.device_name.startswith("cuda")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        return self.strides if dim is None else self.strides[dim]

    def numel(self) -> int:
        """Raises ValueError where a size is symbolic."""
        sizes = [size for size in self.shape if isinstance(size, int)]
        if len(sizes) != len(self.shape):
            raise ValueError(f"the number of elements of {self} is symbolic")
        return math.prod(sizes)

    def is_floating_point(self) -> bool:
        return self.dtype_name.startswith(("float", "bfloat"))

    def is_complex(self) -> bool:
        return self.dtype_name.startswith("complex")

    def _key(self) -> tuple[Any, ...]:
        return self.dtype_name, self.shape, self.strides, self.device_name, self.requires_grad

    def __eq__(self, other: object) -> bool:
        return type(other) is TensorMeta and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TensorMeta({self.dtype_name}{list(self.shape)}, strides={list(self.strides)}, {self.device_name})"


class NodeMeta(dict[str, Any]):
    """What a node yields (``val``), and notes about it. What is written here goes to the node.

    Over a torch.fx graph the notes are those of its nodes, and what a pass writes ends up there. A program's file keeps
    texts alone, such as ``stack_trace``. ``val`` is inferred: writing it changes nothing.
    """

    __slots__ = ("_node", "_origin")

    def __init__(self, node: "_native.Node", entries: dict[str, Any], origin: Any, is_origin: bool) -> None:
        self._node = node
        self._origin: dict[str, Any] = {} if origin is None else origin.meta
        if is_origin:
            super().__init__(self._origin)
            for key in INFERRED:
                if key in self:
                    super().__delitem__(key)
        elif origin is not None:
            super().__init__({key: self._origin[key] for key in INHERITED if key in self._origin})
        super().update(entries)

    def _own(self) -> dict[str, Any]:
        """What the node itself says, beside what the torch.fx node does."""
        return {
            key: value
            for key, value in not_inferred(self).items()
            if isinstance(value, str) or value is not self._origin.get(key, self)
        }

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def update(self, *args: Any, **kwargs: Any) -> None:
        given = not_inferred(dict(*args, **kwargs))
        self._node._set_entries(self._own() | given)
        super().update(given)

    def __ior__(self, other: Any) -> "NodeMeta":  # type: ignore[override,misc]  # dict declares overloads, of which this is all
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self.get(key, default)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._node._set_entries(self._own())

    def pop(self, key: str, *default: Any) -> Any:
        value = super().pop(key, *default)
        self._node._set_entries(self._own())
        return value

    def clear(self) -> None:
        super().clear()
        self._node._set_entries({})


def not_inferred(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries of a meta that a pass may set. Raises TypeError for a key that is no text."""
    for key in entries:
        if not isinstance(key, str):
            raise TypeError(f"meta has the key {key!r}; keys are texts")
    return {key: value for key, value in entries.items() if key not in INFERRED}


class ArgsKwargsPair(NamedTuple):
    """Arguments by position and by keyword."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def type_of(kind: str) -> type | None:
    """The type of a placeholder of this kind; None for kinds that are no values of torch."""
    torch = loaded_torch()
    if torch is None:
        return TensorMeta if kind == "tensor" else None
    known: dict[str, type] = {
        "tensor": torch.Tensor,
        "sym_int": torch.SymInt,
        "sym_float": torch.SymFloat,
        "sym_bool": torch.SymBool,
    }
    return known.get(kind, object)
