# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that are parts of others: kernels of convolutions and recurrent nets, gradients, prims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch._inductor.inductor_prims  # registers prims of Inductor's
from op_samples import Sample

aten = torch.ops.aten
prims = torch.ops.prims
CPU = torch.device("cpu")


def floats(*sizes: int, **options: Any) -> torch.Tensor:
    """Some tensor."""
    return torch.ones(sizes, **options)


def longs(*sizes: int) -> torch.Tensor:
    """Indices, lengths or labels."""
    return torch.ones(sizes, dtype=torch.int64)


def last(tensor: torch.Tensor) -> torch.Tensor:
    """With the channels last."""
    return tensor.contiguous(memory_format=torch.channels_last)


def convolution_samples() -> Iterator[Sample]:
    """Kernels that are given the size of what they are given."""
    bias, weight = floats(6), floats(6, 4, 3, 3)
    ones, twos = [1, 1], [2, 2]
    for image in (floats(2, 4, 7, 7), last(floats(2, 4, 7, 7)), floats(2, 4, 7, 7).double()):
        options = {"dtype": image.dtype}
        operands = [image, weight.to(**options), [3, 3], bias.to(**options), ones, ones]
        yield aten._slow_conv2d_forward.default, operands, {}
        yield aten.thnn_conv2d.default, operands, {}
        yield aten.slow_conv_dilated2d.default, [*operands, twos], {}
        transposed = floats(4, 6, 3, 3, **options)
        yield aten.slow_conv_transpose2d.default, [image, transposed, [3, 3], bias.to(**options), twos, ones, ones], {}
        grad = floats(2, 6, 7, 7, **options)
        mask = [True, False, True]
        yield aten._slow_conv2d_backward.output_mask, [grad, image, operands[1], [3, 3], ones, ones, mask], {}
    volume, kernel = floats(2, 4, 7, 7, 7), floats(6, 4, 3, 3, 3)
    threes, ones, twos = [3] * 3, [1] * 3, [2] * 3
    for function in (aten.slow_conv3d, aten.slow_conv3d_forward):
        yield function.default, [volume, kernel, threes, bias, ones, ones], {}
    yield aten.slow_conv_dilated3d.default, [volume, kernel, threes, bias, ones, ones, twos], {}
    operands = [volume, floats(4, 6, 3, 3, 3), threes, bias, twos, ones, ones]
    yield aten.slow_conv_transpose3d.default, operands, {}
    yield aten.conv_tbc.default, [floats(7, 2, 4), floats(3, 4, 6), bias, 1], {}
    yield aten.conv_tbc_backward.default, [floats(7, 2, 6), floats(7, 2, 4), floats(3, 4, 6), bias, 1], {}


def recurrent_samples() -> Iterator[Sample]:
    """Kernels of devices, and gradients of cells."""
    weights = [floats(12, 3), floats(12, 3), floats(12), floats(12)]
    for batch_first in (False, True):
        for mode, cell in ((2, floats(2, 2, 3)), (3, None), (0, None)):
            tail: list[Any] = [batch_first, 0.0, True, True, [], None]
            states = [floats(2, 2, 3), cell, mode, 3]
            yield aten._cudnn_rnn.default, [floats(5, 2, 3), weights, 4, None, *states, 0, 1, *tail], {}
            yield aten.miopen_rnn.default, [floats(5, 2, 3), weights, 4, *states, 1, *tail], {}
    state, gates = floats(2, 3), floats(2, 12)
    for bias in (True, False):
        yield aten._thnn_fused_lstm_cell_backward.default, [state, state, state, state, gates, bias], {}
    for gate_bias in (floats(12), None):
        operands = [state, state, gates, gates, gate_bias, gate_bias, state, state]
        yield aten._thnn_differentiable_lstm_cell_backward.default, operands, {}
    for gate_bias in (floats(9), None):
        operands = [state, floats(2, 9), floats(2, 9), state, gate_bias, gate_bias]
        yield aten._thnn_differentiable_gru_cell_backward.default, operands, {}


def normalization_samples() -> Iterator[Sample]:
    """Norms of devices, and their gradients."""
    channel = floats(3)
    for image in (floats(2, 3, 4, 5), last(floats(2, 3, 4, 5))):
        operands = [image, image, *[channel] * 5, 1e-5]
        yield aten.cudnn_batch_norm_backward.default, [*operands, torch.ones(0, dtype=torch.uint8)], {}
        yield aten.miopen_batch_norm_backward.default, operands, {}
        for training in (True, False):
            yield aten.miopen_batch_norm.default, [image, *[channel] * 4, training, 0.1, 1e-5], {}
            yield aten._batch_norm_impl_index.default, [image, *[channel] * 4, training, 0.1, 1e-5, False], {}
        yield aten.batch_norm_update_stats.default, [image, channel, channel, 0.1], {}
        yield aten._masked_scale.default, [image, image > 0, 0.5], {}
    tensor = floats(4, 3, 2)
    for sizes, dim in (((4, 1, 1), 0), ((1, 1, 2), 2)):
        operands = [tensor, tensor, floats(*sizes), floats(*sizes), dim]
        yield aten._weight_norm_interface_backward.default, operands, {}
        yield aten._weight_norm_differentiable_backward.default, operands, {}
    scores = floats(2, 3, 4, 4).transpose(2, 3)
    yield aten._masked_softmax.default, [scores, scores > 0, None, 2], {}
    yield aten._masked_softmax_backward.default, [scores, scores, scores > 0, 2], {}


def attention_samples() -> Iterator[Sample]:
    """The plain kernel of attention."""
    math = aten._scaled_dot_product_attention_math.default
    key, value = floats(2, 3, 7, 8), floats(2, 3, 7, 6)
    for query in (floats(2, 3, 5, 8), floats(2, 5, 3, 8).transpose(1, 2)):
        for mask in (None, floats(5, 7), floats(2, 1, 5, 7), floats(5, 7) > 0):
            yield math, [query, key, value, mask], {}
        yield math, [query, key, value, None, 0.5, True], {}
        yield math, [query.half(), key.half(), value.half()], {}
        yield math, [query, key[:, :1], value[:, :1], None], {"enable_gqa": True}
        yield aten._scaled_dot_product_attention_math_for_mps.default, [query, key, value], {}
        yield math, [query[0], key[0], value[0]], {}
    yield aten._transform_bias_rescale_qkv.default, [floats(2, 5, 12), floats(12), 2], {}


def part_samples() -> Iterator[Sample]:
    """Sums, joins, random numbers, losses and their gradients."""
    tensor = floats(2, 3, 4)
    turned = floats(4, 3, 2).permute(2, 1, 0)
    for other in (tensor, turned, floats(4), tensor.double()):
        yield aten._add_relu.Tensor, [turned, other], {}
    yield aten._add_relu.Scalar, [turned, 2], {}
    yield aten._aminmax.default, [tensor], {}
    for keepdim in (True, False):
        yield aten._aminmax.dim, [tensor, 1, keepdim], {}
    for tensors in ([floats(4, 6), floats(3, 6)], [floats(5, 3), floats(2, 2)], [floats(4)]):
        for dim in (0, 1):
            yield aten._chunk_cat.default, [tensors, dim, 2], {}
    yield aten._euclidean_dist.default, [floats(1, 3, 4), floats(2, 5, 4)], {}
    yield aten._trilinear.default, [floats(2, 3), floats(5, 3, 4), floats(2, 4), [1, 3], [0], [1, 2], [2, 3]], {}
    yield aten.glu_jvp.default, [tensor, turned.repeat(1, 1, 2), floats(2, 3, 8), 2], {}
    for mask in ([True] * 3, [True, False, True], [False, True, False], [True, False, False]):
        yield aten.linear_backward.default, [tensor, floats(2, 3, 5), floats(5, 4), mask], {}
    log_probs, lengths = floats(7, 2, 5), longs(2)
    saved = [floats(2), floats(2, 7, 7), 0]
    yield aten._ctc_loss_backward.default, [floats(2), log_probs, longs(2, 3), [7, 7], [3, 3], *saved], {}
    yield aten._ctc_loss_backward.Tensor, [floats(2), log_probs, longs(2, 3), lengths, lengths, *saved], {}
    for repeats in (longs(3), longs(1), longs()):
        yield aten.repeat_interleave.self_Tensor, [floats(3, 3).t(), repeats, 1], {"output_size": 5}
    yield aten.repeat_interleave.Tensor, [longs(3)], {"output_size": 5}
    for index, sizes in ((0, (1,)), (1, (3,))):
        names = (
            "_fake_quantize_learnable_per_tensor_affine_backward",
            "_fake_quantize_learnable_per_channel_affine_backward",
        )
        tail = [floats(*sizes), floats(*sizes), *[1] * index, 0, 255]
        yield getattr(aten, names[index]).default, [turned, turned, *tail], {}
    yield aten._fused_dropout.default, [turned, 0.5], {}
    yield aten._logcumsumexp.default, [turned, 1], {}
    yield aten._pad_circular.default, [tensor, [1, 2]], {}
    for mode in range(4):
        yield aten._pad_enum.default, [last(floats(2, 3, 4, 5)), [1, 2, 1, 0], mode], {}
    key = torch.ones(2, dtype=torch.uint64)
    yield aten._philox_key_split.default, [key, 3], {}
    yield aten._philox_key_fold_in.default, [key, 3], {}
    yield aten._sample_dirichlet.default, [turned], {}
    yield aten._dirichlet_grad.default, [turned, turned, turned], {}
    yield aten._standard_gamma_grad.default, [turned, turned], {}
    yield aten.binomial.default, [turned, turned], {}
    yield aten._stack.default, [[tensor, turned], 1], {}
    yield aten.cummaxmin_backward.default, [turned, tensor, longs(2, 3, 4), 1], {}
    yield aten.embedding_backward.default, [tensor, longs(2, 3), 7, -1, False, False], {}
    yield aten.flatten_dense_tensors.default, [[tensor, floats(3)]], {}
    yield aten.unflatten_dense_tensors.default, [floats(27), [tensor, floats(3)]], {}
    yield aten.gather_backward.default, [tensor, floats(2, 5, 4), 1, longs(2, 3, 4), False], {}
    yield aten.histogram.bins_tensor, [floats(7), floats(4)], {}
    yield aten.infinitely_differentiable_gelu_backward.default, [tensor, turned], {}
    yield aten.resize.default, [turned, [5, 2]], {}
    yield aten.resize_as.default, [turned, floats(2, 12)], {}
    yield aten.set.source_Tensor, [tensor, floats(5)], {}
    yield aten.set.default, [tensor], {}


def prims_samples() -> Iterator[Sample]:
    """The operators of torch/_prims that are not elementwise, on tensors of several layouts."""
    tensor = floats(2, 3, 4)
    gaps, expanded = floats(2, 3, 8)[..., ::2], floats(2, 1, 4).expand(2, 3, 4)
    options: dict[str, Any] = {"dtype": torch.bfloat16, "device": CPU, "requires_grad": False}
    for given in (
        tensor,
        floats(4, 3, 2).permute(2, 1, 0),
        gaps,
        expanded,
        floats(2, 1, 4),
        floats(),
        floats(3, 4)[1:],
    ):
        for function in (prims.clone, prims.view_of, prims.frexp, prims.inductor_cvt_e8m0_rceil):
            yield function.default, [given], {}
        yield prims.view_of_dtype.default, [given, torch.int32], {}
        yield prims.fill.default, [given, 1.0], {}
        yield prims.full_like.default, [given, 1.0], options
        yield prims.where.default, [given > 0, given, given], {}
        yield prims.where.default, [tensor > 0, given, tensor], {}
        yield prims.add.default, [given, tensor], {}
        yield prims.copy_to.default, [given.clone(), given], {}
        for dims in ([0], [0, 1]):
            for function in (prims.sum, prims.prod, prims.amax, prims.amin, prims.xor_sum):
                yield function.default, [given, dims], {}
            yield prims.var.default, [given, dims, 1], {}
            yield prims.rev.default, [given, dims], {}
        for start, end in ((0, 1), (1, 2), (0, 2), (1, 1), (2, 1)):
            yield prims.collapse.default, [given, start, end], {}
            yield prims.collapse_view.default, [given, start, end], {}
        for sizes in ([24], [4, 3, 2]):
            yield prims.reshape.default, [given, sizes], {}
        yield prims.squeeze.default, [given, [1]], {}
        yield prims.transpose.default, [given, [2, 0, 1]], {}
        for dim, outer in ((0, 2), (1, 3), (2, 3)):
            yield prims.split_dim.default, [given, dim, outer], {}
        yield prims.broadcast_in_dim.default, [given, [5, 2, 3, 4], [1, 2, 3]], {}
        yield prims.broadcast_in_dim.default, [given, [2, 1, 3, 1, 4], [0, 2, 4]], {}
        yield prims.copy_strided.default, [given, [1, 2, 6]], {}
        yield prims.as_strided_scatter.default, [given, floats(2, 2), [2, 2], [1, 1], 0], {}
        yield prims.cat.default, [[given, tensor], 0], {}
        complexes = given.to(torch.complex64)
        for dims in ([0], [-1]):
            yield prims.fft_c2c.default, [complexes], {"dim": dims, "forward": True}
            yield prims.fft_r2c.default, [given], {"dim": dims, "onesided": True}
            yield prims.fft_c2r.default, [complexes], {"dim": dims, "last_dim_size": 5}
        for function in (prims.conj, prims.conj_physical, prims.real, prims.imag):
            yield function.default, [complexes], {}
            yield function.default, [given], {}
    yield from prims_factory_samples(options)


def prims_factory_samples(options: dict[str, Any]) -> Iterator[Sample]:
    """Those that make tensors."""
    yield prims.full.default, [[2, 3], 1.0], options
    yield prims.normal.default, [[2, 3]], {**options, "mean": 0.0, "std": 1.0}
    yield prims.empty.default, [[0, 3]], options
    yield prims.empty_strided.default, [[2, 3], [5, 1]], options
    yield prims.empty_permuted.default, [[2, 0, 4], [2, 0, 1]], options
    random = {"dtype": torch.float32, "device": CPU}
    yield prims.uniform.default, [[2, 3]], {"low": 0.0, "high": 1.0, "stride": [1, 2], **random}
    yield prims.scalar_tensor.default, [1.5], {"dtype": torch.float16, "device": CPU}
    yield prims._make_token.default, [], {}
    yield prims.inductor_seed.default, [CPU], {}
    yield prims.inductor_seeds.default, [3, CPU], {}
    yield prims.inductor_lookup_seed.default, [longs(3), 1], {}
    yield prims.inductor_random.default, [[2, 3], longs(), "rand"], {}
    yield prims.inductor_randint.default, [0, 5, [2, 3], longs()], {}
    window = [[2, 2], [2, 2], [0, 0], [1, 1]]
    for image in (floats(2, 3, 8, 8), last(floats(2, 3, 8, 8)), floats(3, 8, 8)):
        yield prims._low_memory_max_pool_with_offsets.default, [image, *window, False], {}
        arguments = [image.to(torch.int8), window[0], [16, 16], *window[1:]]
        yield prims._low_memory_max_pool_offsets_to_indices.default, arguments, {}
        yield prims.prepare_softmax_online.default, [image, 1], {}


def kernel_samples() -> Iterator[Sample]:
    """All of them."""
    yield from convolution_samples()
    yield from recurrent_samples()
    yield from normalization_samples()
    yield from attention_samples()
    yield from part_samples()
    yield from prims_samples()
