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
    """What a node yields (``val``), and texts about where it comes from. What is written here goes to the node.

    `val` is inferred: writing it changes nothing. Other values are texts, which a program's file keeps; raises
    TypeError for any other.
    """

    __slots__ = ("_node",)

    def __init__(self, node: "_native.Node", entries: dict[str, Any]) -> None:
        super().__init__(entries)
        self._node = node

    def _texts(self) -> dict[str, str]:
        return {key: value for key, value in self.items() if key not in INFERRED}

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def update(self, *args: Any, **kwargs: Any) -> None:
        given = dict(*args, **kwargs)
        self._node._set_texts(self._texts() | checked_texts(given))
        super().update({key: value for key, value in given.items() if key not in INFERRED})

    def __ior__(self, other: Any) -> "NodeMeta":  # type: ignore[override,misc]  # dict declares overloads, of which this is all
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self.get(key, default)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._node._set_texts(self._texts())

    def pop(self, key: str, *default: Any) -> Any:
        value = super().pop(key, *default)
        self._node._set_texts(self._texts())
        return value

    def clear(self) -> None:
        super().clear()
        self._node._set_texts({})


def checked_texts(entries: dict[str, Any]) -> dict[str, str]:
    """The entries that are not inferred. Raises TypeError for one that is no text."""
    texts = {key: value for key, value in entries.items() if key not in INFERRED}
    for key, value in texts.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                f"meta[{key!r}] is {value!r:.80}; the meta of a native node holds texts: keep other things in a "
                "dictionary of the pass's own, by node"
            )
    return texts


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
