# SPDX-License-Identifier: Apache-2.0
"""Calls of fused operators: attention kernels, products of packed, scaled and grouped matrices, optimizers."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from op_samples import Sample

aten = torch.ops.aten


def floats(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Some tensor."""
    return torch.ones(sizes, dtype=dtype)


def optimizer_samples() -> Iterator[Sample]:
    """Fused optimizers, copies over lists, and gradient scaling."""

    def tensors() -> list[torch.Tensor]:
        return [floats(3, 2).t(), floats(4)]

    def steps() -> list[torch.Tensor]:
        return [floats(), floats()]

    rates: dict[str, object] = {"weight_decay": 0.0, "eps": 1e-8, "maximize": False}
    adam = {**rates, "beta1": 0.9, "beta2": 0.99, "amsgrad": True}
    sgd = {"weight_decay": 0.0, "momentum": 0.9, "dampening": 0.0, "nesterov": False, "maximize": False}
    for name in ("_fused_adam", "_fused_adam_", "_fused_adamw", "_fused_adamw_"):
        lists = [tensors(), tensors(), tensors(), tensors(), tensors(), steps()]
        yield getattr(aten, name).default, lists, {"lr": 0.1, **adam}
        yield getattr(aten, name).tensor_lr, lists, {"lr": torch.tensor(0.1), **adam}
    for name in ("_fused_adagrad", "_fused_adagrad_"):
        lists = [tensors(), tensors(), tensors(), steps()]
        yield getattr(aten, name).default, lists, {"lr": 0.1, "lr_decay": 0.0, **rates}
        yield getattr(aten, name).tensor_lr, lists, {"lr": torch.tensor(0.1), "lr_decay": 0.0, **rates}
    for name in ("_fused_sgd", "_fused_sgd_"):
        lists = [tensors(), tensors(), tensors()]
        yield getattr(aten, name).default, lists, {"lr": 0.1, "is_first_step": False, **sgd}
        yield getattr(aten, name).tensor_lr, lists, {"lr": torch.tensor(0.1), "is_first_step": False, **sgd}
    for check in (aten._amp_foreach_non_finite_check_and_unscale, aten._amp_foreach_non_finite_check_and_unscale_):
        yield check.default, [tensors(), floats(1), floats(1)], {}
    for update in (aten._amp_update_scale, aten._amp_update_scale_):
        yield update.default, [floats(1), torch.zeros(1, dtype=torch.int32), floats(1), 2.0, 0.5, 10], {}


def attention_samples() -> Iterator[Sample]:
    """The kernels of all devices; only their layouts are computed."""
    seeds = [floats(2).long(), floats().long()]
    for query in (floats(2, 3, 5, 16), floats(2, 5, 3, 16).transpose(1, 2), floats(2, 16, 3, 5).permute(0, 2, 3, 1)):
        key, value = floats(2, 3, 7, 16), floats(2, 3, 7, 16)
        wide = floats(2, 3, 7, 24)
        bias = floats(2, 3, 5, 7)
        sums = floats(2, 3, 5)
        for mask in (False, True):
            yield aten._scaled_dot_product_flash_attention.default, [query, key, value, 0.0, False, mask], {}
        yield aten._scaled_dot_product_flash_attention.quantized, [query, key, value, None, None, None], {}
        yield aten._scaled_dot_product_cudnn_attention.default, [query, key, wide, None, True], {}
        yield aten._scaled_dot_product_cudnn_attention.default, [query, key, value, None, True], {}
        yield aten._scaled_dot_product_fused_attention_overrideable.default, [query, key, wide], {}
        yield aten._scaled_dot_product_fused_attention_overrideable.default, [query[0], key[0], value[0]], {}
        for wants_sums in (False, True):
            yield aten._scaled_dot_product_efficient_attention.default, [query, key, wide, None, wants_sums], {}
        operands = [query, query, key, value]
        tail = [query, sums, None, None, 5, 7, 0.0, False, *seeds]
        yield aten._scaled_dot_product_flash_attention_backward.default, [*operands, *tail], {}
        tail = [query, sums, *seeds, bias, None, None, 5, 7, 0.0, False]
        yield aten._scaled_dot_product_cudnn_attention_backward.default, [*operands, *tail], {}
        tail = [bias, [True] * 4, query, sums, None, None, 5, 7, 0.0, False, *seeds]
        yield aten._scaled_dot_product_fused_attention_overrideable_backward.default, [*operands, *tail], {}
        for wanted in (True, False):
            tail = [bias, query, sums, *seeds, 0.0, [True, True, True, wanted]]
            yield aten._scaled_dot_product_efficient_attention_backward.default, [query, query, key, wide, *tail], {}
    yield from sequence_attention_samples()


def sequence_attention_samples() -> Iterator[Sample]:
    """Those that take the sequence before the heads, and sequences one after the other."""
    seeds = [floats(2).long(), floats().long()]
    query, key = floats(2, 5, 3, 16), floats(2, 7, 3, 16)
    offsets = torch.tensor([0, 4, 9], dtype=torch.int32)
    packed = floats(9, 3, 16)
    flash = aten._flash_attention_forward
    for mask in (False, True):
        yield flash.default, [query, key, key, None, None, 5, 7, 0.0, False, mask], {}
        yield flash.default, [packed, packed, packed, offsets, offsets, 5, 5, 0.0, True, mask], {}
    yield flash.quantized, [query, key, key, None, None, 5, 7, 0.0, False, False, None, None, None], {}
    into = aten._flash_attention_forward_no_dropout_inplace.default
    yield into, [query.clone(), query, key, key, None, None, 5, 7, 0.0, False, False], {}
    yield into, [packed.clone(), packed, packed, packed, offsets, offsets, 5, 5, 0.0, False, False], {}
    tail = [query, floats(2, 3, 5), None, None, 5, 7, 0.0, False, *seeds]
    yield aten._flash_attention_backward.default, [query, query, key, key, *tail], {}
    for wants_sums in (False, True):
        tail = [None, None, None, None, None, 0.0, 0, wants_sums]
        yield aten._efficient_attention_forward.default, [query, key, floats(2, 7, 3, 24), *tail], {}
        sequences = [packed[None], packed[None], packed[None], None, offsets, offsets, 5, 5, 0.0, 0, wants_sums]
        yield aten._efficient_attention_forward.default, sequences, {}
    for bias in (None, floats(2, 3, 5, 7)):
        tail = [bias, query, None, None, 5, 7, floats(2, 3, 32), 0.0, *seeds, 0, False]
        yield aten._efficient_attention_backward.default, [query, query, key, key, *tail], {}


def product_samples() -> Iterator[Sample]:
    """Products with a dtype of their own, of packed, scaled and grouped matrices."""
    half = torch.bfloat16
    a, b = floats(4, 16, dtype=half), floats(16, 8, dtype=half)
    wide = torch.float32
    for out_dtype in (wide, half):
        yield aten.mm.dtype, [a, b, out_dtype], {}
        yield aten.bmm.dtype, [a[None], b[None], out_dtype], {}
        yield aten.addmm.dtype, [floats(8, dtype=half), a, b, out_dtype], {}
    yield aten.linalg_matmul.default, [a, b], {}
    yield aten._addmm_activation.default, [floats(8), floats(4, 16), floats(16, 8)], {}
    yield aten._convert_weight_to_int4pack.default, [torch.ones(16, 32, dtype=torch.uint8), 2], {}
    yield aten._convert_weight_to_int4pack_for_cpu.default, [torch.ones(16, 64, dtype=torch.int32), 2], {}
    packed = torch.ones(2, 2, 32, 1, dtype=torch.int32)
    activation = floats(4, 64, dtype=half)
    scales = floats(2, 16, 2, dtype=half)
    yield aten._weight_int4pack_mm.default, [activation, packed, 32, scales], {}
    yield aten._weight_int4pack_mm_for_cpu.default, [activation, torch.ones(16, 32, dtype=torch.uint8), 32, scales], {}
    rows = [torch.ones(16, 8, dtype=torch.int32), 32, floats(2, 16, dtype=half), torch.ones(2, 16, dtype=torch.int8)]
    yield aten._weight_int4pack_mm_with_scales_and_zeros.default, [activation, *rows], {}
    bytes_ = torch.ones(16, 64, dtype=torch.int8)
    yield aten._weight_int8pack_mm.default, [activation, bytes_, floats(16, dtype=half)], {}
    nibbles = torch.ones(16, 32, dtype=torch.uint8)
    yield aten._dyn_quant_pack_4bit_weight.default, [nibbles, floats(16, 1), floats(16), 64, 64, 16], {}
    yield aten._dyn_quant_pack_4bit_weight.default, [nibbles, floats(16, 2), None, 32, 64, 16], {}
    yield aten._dyn_quant_matmul_4bit.default, [floats(4, 64), floats(528), 64, 64, 16], {}
    yield from scaled_samples()
    for out_dtype in (None, half):
        groups = torch.tensor([2, 4], dtype=torch.int32)
        stacked = floats(2, 16, 8, dtype=half)
        yield aten._grouped_mm.default, [a, stacked, groups, None, out_dtype], {}
        yield aten._grouped_mm.default, [floats(2, 4, 16, dtype=half), stacked, None, None, out_dtype], {}
        by_columns = floats(16, 8, dtype=half)
        yield aten._grouped_mm.default, [floats(2, 8, 16, dtype=half), by_columns, groups, None, out_dtype], {}
        yield aten._grouped_mm.default, [floats(8, 16, dtype=half), by_columns, groups, None, out_dtype], {}


def scaled_samples() -> Iterator[Sample]:
    """Products of 8-bit floats with their scales."""
    a = floats(32, 64).to(torch.float8_e4m3fn)
    b = floats(48, 64).to(torch.float8_e4m3fn).t()
    one = floats(1)
    for out_dtype in (None, torch.bfloat16, torch.float32):
        yield aten._scaled_mm.default, [a, b, one, one, None, None, out_dtype], {}
        yield aten._scaled_mm.default, [a, b, floats(32, 1), floats(1, 48), None, None, out_dtype], {}
        recipe = [[one], [0], [0], [one], [0], [0], None, out_dtype]
        yield aten._scaled_mm_v2.default, [a, b, *recipe], {}
    groups = torch.tensor([16, 32], dtype=torch.int32)
    stacked = floats(2, 48, 64).to(torch.float8_e4m3fn).mT
    yield aten._scaled_grouped_mm.default, [a, stacked, floats(32), floats(2, 48), groups], {}


def fused_samples() -> Iterator[Sample]:
    """All of them."""
    yield from optimizer_samples()
    yield from attention_samples()
    yield from product_samples()
