# SPDX-License-Identifier: Apache-2.0
"""Calls of PyTorch's own operator samples (`op_db`), in many layouts and dtypes, for `fake_tensor_test.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16, torch.float64, torch.uint8)

Sample = tuple[Callable[..., Any], list[Any], dict[str, Any]]


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    """The same contents with the last two dimensions swapped in memory."""
    return tensor.mT.contiguous().mT if tensor.dim() >= 2 else tensor


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """In channels_last or channels_last_3d, where the rank allows it."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if tensor.dim() in formats:
        return tensor.contiguous(memory_format=formats[tensor.dim()])
    return tensor


def shifted(tensor: torch.Tensor) -> torch.Tensor:
    """Every second element of the last dimension, not from the start of the storage."""
    if tensor.dim() == 0:
        return torch.stack([tensor, tensor])[1]
    wide = tensor.new_zeros((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1))
    view = wide[..., 1::2]
    view.copy_(tensor)
    return view


def expanded(tensor: torch.Tensor) -> torch.Tensor:
    """The first dimension broadcast: its stride is 0."""
    if tensor.dim() < 2 or tensor.shape[0] < 2:
        return tensor
    return tensor[:1].expand(tensor.shape)


LAYOUTS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda tensor: tensor,
    transposed,
    channels_last,
    shifted,
    expanded,
)


def strided_only(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Leaves tensors alone that are not strided."""
    return lambda tensor: function(tensor) if tensor.layout == torch.strided and not tensor.is_quantized else tensor


def some_of(items: list[Any], count: int) -> list[Any]:
    """`count` of them, spread over the list."""
    if count >= len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


def sample_inputs_of(info: Any, dtype: torch.dtype) -> list[Any]:
    """PyTorch's samples of one entry of `op_db`; empty where they need what this build lacks.

    `info.sample_inputs` would tell the test class that it is called from about each sample, for which it walks the
    call stack: that took more than half the time of the tests.
    """
    torch.manual_seed(0)
    try:
        return list(info.sample_inputs_func(info, "cpu", dtype, False))
    except Exception:  # samples may need what this build lacks
        return []


def differentiable_samples_of(info: Any, count: int) -> Iterator[Sample]:
    """Up to `count` calls of one entry of `op_db` that have gradients."""
    if not info.supports_autograd or torch.float32 not in info.supported_dtypes("cpu"):
        return
    for sample in some_of(sample_inputs_of(info, torch.float32), count):
        yield info.op, [sample.input, *sample.args], sample.kwargs


def error_samples_of(info: Any) -> Iterator[Sample]:
    """Calls of one entry of `op_db` that PyTorch refuses."""
    if info.error_inputs_func is None:
        return
    try:
        errors = list(info.error_inputs_func(info, "cpu"))
    except Exception:  # as for samples
        return
    for error in errors:
        sample = error.sample_input
        yield info.op, [sample.input, *sample.args], sample.kwargs


def samples_of(info: Any, count: int) -> Iterator[Sample]:
    """Calls of one entry of `op_db`: up to `count` samples of the first dtype, each as it is and in one of the other
    layouts in turn, and one sample of each further dtype for every four of these."""
    dtypes = [dtype for dtype in DTYPES if dtype in info.supported_dtypes("cpu")]
    for position, dtype in enumerate(dtypes):
        wanted = count if position == 0 else max(1, count // 4)
        for number, sample in enumerate(some_of(sample_inputs_of(info, dtype), wanted)):
            layouts = LAYOUTS[:1] if position else (LAYOUTS[0], LAYOUTS[1 + number % (len(LAYOUTS) - 1)])
            for layout in layouts:
                args, kwargs = tree_map_only(
                    torch.Tensor, strided_only(layout), ([sample.input, *sample.args], sample.kwargs)
                )
                yield info.op, args, kwargs
                if info.inplace_variant is not None and layout is not expanded:
                    yield info.inplace_variant, args, kwargs
