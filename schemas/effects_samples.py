# SPDX-License-Identifier: Apache-2.0
"""Calls of single operators for `effects_test.py`, beside PyTorch's own samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def randn(*shape: int) -> torch.Tensor:
    """A random tensor."""
    return torch.randn(shape)


aten = torch.ops.aten

# Calls whose schema or tags alone would mislead: each is right by the table, and wrong without its row.
MISLEADING: dict[str, Callable[[], Call]] = {
    "batch_norm": lambda: (
        aten.batch_norm.default,
        (randn(4, 3, 5), None, None, randn(3), randn(3).abs(), True, 0.1, 1e-5, False),
        {},
    ),
    "native_batch_norm": lambda: (
        aten.native_batch_norm.default,
        (randn(4, 3, 5), None, None, randn(3), randn(3).abs(), True, 0.1, 1e-5),
        {},
    ),
    "instance_norm": lambda: (
        aten.instance_norm.default,
        (randn(4, 3, 5), None, None, randn(3), randn(3).abs(), True, 0.1, 1e-5, False),
        {},
    ),
    "batch_norm_update_stats": lambda: (
        aten.batch_norm_update_stats.default,
        (randn(4, 3, 5), randn(3), randn(3).abs(), 0.1),
        {},
    ),
    "reshape": lambda: (aten.reshape.default, (randn(2, 3).t(), [6]), {}),
    "contiguous": lambda: (aten.contiguous.default, (randn(2, 3).t(),), {}),
    "to.dtype": lambda: (aten.to.dtype, (randn(2), torch.float64), {}),
    "flatten": lambda: (aten.flatten.using_ints, (randn(2, 3).t(),), {}),
    "ravel": lambda: (aten.ravel.default, (randn(2, 3).t(),), {}),
    "type_as": lambda: (aten.type_as.default, (randn(2), randn(2)), {}),
    "_cast_Float": lambda: (aten._cast_Float.default, (randn(2),), {}),
    "sum_to_size": lambda: (aten.sum_to_size.default, (randn(2), [2]), {}),
    "meshgrid": lambda: (aten.meshgrid.indexing, ([randn(2), randn(3)],), {"indexing": "ij"}),
    "broadcast_tensors": lambda: (aten.broadcast_tensors.default, ([randn(2, 1), randn(3)],), {}),
    "einsum": lambda: (aten.einsum.default, ("ij->ji", [randn(2, 3)]), {}),
    "to_dense": lambda: (aten.to_dense.default, (randn(2),), {}),
    "_to_cpu": lambda: (aten._to_cpu.default, ([randn(2)],), {}),
    "_unsafe_view": lambda: (aten._unsafe_view.default, (randn(6), [2, 3]), {}),
    "unsafe_split": lambda: (aten.unsafe_split.Tensor, (randn(6), 2), {}),
    "unsafe_split_with_sizes": lambda: (aten.unsafe_split_with_sizes.default, (randn(6), [2, 4]), {}),
    "lift": lambda: (aten.lift.default, (randn(2),), {}),
    "nonzero_numpy": lambda: (aten.nonzero_numpy.default, (randn(2, 3),), {}),
    "where": lambda: (aten.where.default, (randn(2, 3) > 0,), {}),
    "is_nonzero": lambda: (aten.is_nonzero.default, (torch.ones(()),), {}),
    "repeat_interleave": lambda: (aten.repeat_interleave.self_Tensor, (randn(2), torch.tensor([1, 2])), {}),
    "tensor_split": lambda: (
        aten.tensor_split.tensor_indices_or_sections,
        (randn(6), torch.tensor([1, 2])),
        {},
    ),
    "set_.source_Tensor": lambda: (aten.set_.source_Tensor, (randn(2), randn(3)), {}),
    "resize_": lambda: (aten.resize_.default, (torch.empty(0), [4]), {}),
}

# Calls on both sides of a condition, and others that samples do not reach.
FURTHER: dict[str, Callable[[], Call]] = {
    "batch_norm eval": lambda: (
        aten.batch_norm.default,
        (randn(4, 3, 5), None, None, randn(3), randn(3).abs(), False, 0.1, 1e-5, False),
        {},
    ),
    "_native_batch_norm_legit eval": lambda: (
        aten._native_batch_norm_legit.default,
        (randn(4, 3, 5), None, None, randn(3), randn(3).abs(), False, 0.1, 1e-5),
        {},
    ),
    "dropout eval": lambda: (aten.dropout.default, (randn(64), 0.5, False), {}),
    "dropout train": lambda: (aten.dropout.default, (randn(64), 0.5, True), {}),
    "native_dropout": lambda: (aten.native_dropout.default, (randn(64), 0.5, None), {}),
    "native_dropout eval": lambda: (aten.native_dropout.default, (randn(64), 0.5, False), {}),
    "rrelu eval": lambda: (aten.rrelu.default, (randn(64),), {}),
    "rrelu train": lambda: (aten.rrelu.default, (randn(64),), {"training": True}),
    "rrelu_with_noise eval": lambda: (aten.rrelu_with_noise.default, (randn(64), randn(64), 0.1, 0.3, False), {}),
    "attention": lambda: (
        aten.scaled_dot_product_attention.default,
        (randn(1, 2, 4, 8), randn(1, 2, 4, 8), randn(1, 2, 4, 8)),
        {},
    ),
    "attention dropout": lambda: (
        aten.scaled_dot_product_attention.default,
        (randn(1, 2, 4, 8), randn(1, 2, 4, 8), randn(1, 2, 4, 8), None, 0.5),
        {},
    ),
    "lstm eval": lambda: (
        aten.lstm.input,
        (
            randn(5, 2, 3),
            [randn(2, 2, 4), randn(2, 2, 4)],
            [randn(16, 3), randn(16, 4), randn(16, 4), randn(16, 4)],
            False,
            2,
            0.5,
            False,
            False,
            False,
        ),
        {},
    ),
    "gru eval": lambda: (
        aten.gru.input,
        (randn(5, 2, 3), randn(1, 2, 4), [randn(12, 3), randn(12, 4)], False, 1, 0.0, False, False, False),
        {},
    ),
    "conj of real": lambda: (aten.conj.default, (randn(2),), {}),
    "t_": lambda: (aten.t_.default, (randn(2, 3),), {}),
    "multi_head_attention": lambda: (
        aten._native_multi_head_attention.default,
        (randn(1, 4, 8), randn(1, 4, 8), randn(1, 4, 8), 8, 2, randn(24, 8), randn(24), randn(8, 8), randn(8)),
        {},
    ),
    "pixel_shuffle by 1": lambda: (aten.pixel_shuffle.default, (randn(1, 4, 2, 2), 1), {}),
    "channel_shuffle": lambda: (aten.channel_shuffle.default, (randn(1, 4, 2, 2), 2), {}),
    "constant_pad_nd by nothing": lambda: (aten.constant_pad_nd.default, (randn(2), [0, 0]), {}),
    "_to_copy of the same": lambda: (aten._to_copy.default, (randn(2),), {}),
    "cat of one": lambda: (aten.cat.default, ([randn(2)],), {}),
    "expand to the same": lambda: (aten.expand.default, (randn(2), [2]), {}),
    "repeat once": lambda: (aten.repeat.default, (randn(2), [1]), {}),
    "upsample to the same": lambda: (aten.upsample_nearest2d.vec, (randn(1, 1, 2, 2), [2, 2], None), {}),
    "adaptive pool to the same": lambda: (aten.adaptive_avg_pool2d.default, (randn(1, 1, 2, 2), [2, 2]), {}),
    "roll by nothing": lambda: (aten.roll.default, (randn(2), [0], [0]), {}),
    "fft of no dimension": lambda: (aten.fft_fftn.default, (randn(2).to(torch.complex64), None, []), {}),
    "sum of no dimension": lambda: (aten.sum.dim_IntList, (randn(), []), {}),
    "diff zero times": lambda: (aten.diff.default, (randn(4), 0), {}),
    "matrix_power 1": lambda: (aten.matrix_power.default, (randn(2, 2), 1), {}),
    "quantized_decomposed": lambda: (
        torch.ops.quantized_decomposed.quantize_per_tensor.default,
        (randn(8), 0.1, 0, -128, 127, torch.int8),
        {},
    ),
}
