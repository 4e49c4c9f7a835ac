# SPDX-License-Identifier: Apache-2.0
"""Calls of composite operators that export keeps whole, of queries and storages, and of torch/_prims."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from op_samples import Sample

aten = torch.ops.aten
prims = torch.ops.prims


def floats(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Some tensor."""
    return torch.ones(sizes, dtype=dtype)


def signal_samples() -> Iterator[Sample]:
    """Short-time Fourier transforms, windows and frequencies."""
    for signal in (floats(64), floats(3, 64), floats(64, 3).t(), floats(2, 64, dtype=torch.float64)):
        for window in (None, floats(16, dtype=signal.dtype)):
            settings = {"window": window, "return_complex": True}
            yield aten.stft.default, [signal, 16], settings
            yield aten.stft.default, [signal, 16, 5], {"window": window, "return_complex": False}
            yield aten.stft.default, [signal, 16], {**settings, "onesided": False}
            yield aten.stft.center, [signal, 16], settings
            yield aten.stft.center, [signal, 16, 4], {**settings, "pad_mode": "constant"}
            yield aten.stft.center, [signal, 16, 4], {**settings, "center": False}
            yield aten.stft.center, [signal, 32, 4, 16], settings
    yield aten.stft.default, [floats(2, 64, dtype=torch.complex64), 16], {}
    for spectrum in (floats(9, 12, dtype=torch.complex64), floats(3, 9, 12, dtype=torch.complex64)):
        for window in (None, floats(16)):
            yield aten.istft.default, [spectrum, 16], {"window": window}
            yield aten.istft.default, [spectrum, 16], {"window": window, "length": 30}
            yield aten.istft.default, [spectrum, 16], {"window": floats(16), "center": False}
    yield aten.istft.default, [floats(3, 16, 12, dtype=torch.complex64), 16], {"return_complex": True}
    for window in (aten.bartlett_window, aten.blackman_window, aten.hamming_window, aten.hann_window):
        yield window.default, [8], {}
        yield window.default, [8], {"dtype": torch.float64}
        yield window.periodic, [8, False], {}
    yield aten.hamming_window.periodic_alpha, [8, True, 0.5], {}
    yield aten.hamming_window.periodic_alpha_beta, [8, True, 0.5, 0.4], {}
    yield aten.kaiser_window.default, [8], {}
    yield aten.kaiser_window.periodic, [8, True], {}
    yield aten.kaiser_window.beta, [8, True, 10.0], {}
    for count in (7, 8):
        yield aten.fft_fftfreq.default, [count, 0.5], {}
        yield aten.fft_rfftfreq.default, [count, 0.5], {"dtype": torch.float64}


def linalg_samples() -> Iterator[Sample]:
    """What PyTorch composes of products and factorizations."""
    square = torch.eye(3)
    for matrix in (floats(4, 3), floats(2, 4, 3), floats(3, 4).t()):
        yield aten.linalg_pinv.default, [matrix, 1e-3], {}
        yield aten.linalg_pinv.atol_rtol_float, [matrix], {}
        yield aten.linalg_pinv.rcond_tensor, [matrix, torch.tensor(1e-3)], {}
        yield aten.pinverse.default, [matrix], {}
    for power in (-2, -1, 0, 1, 2, 3, 5):
        for matrix in (square, square.expand(2, 3, 3), floats(2, 3, 3).mT):
            yield aten.linalg_matrix_power.default, [matrix, power], {}
            yield aten.matrix_power.default, [matrix, power], {}
    for vector in (floats(4), floats(4, dtype=torch.int32), floats(2, 4)):
        yield aten.linalg_vander.default, [vector], {}
        yield aten.linalg_vander.default, [vector], {"N": 3}
    for vector in (floats(4), floats(4, dtype=torch.int32)):
        for increasing in (False, True):
            yield aten.vander.default, [vector, 3, increasing], {}
    yield aten.linalg_tensorinv.default, [torch.eye(24).reshape(4, 6, 8, 3)], {}
    yield aten.linalg_tensorinv.default, [torch.eye(24).reshape(24, 8, 3), 1], {}
    yield aten.linalg_tensorsolve.default, [torch.eye(24).reshape(6, 4, 2, 3, 4), floats(6, 4)], {}
    yield aten.linalg_tensorsolve.default, [torch.eye(24).reshape(4, 6, 8, 3), floats(8, 3), [0, 1]], {}
    for samples in (floats(3, 5), floats(5, 3).t(), floats(3, 5, dtype=torch.int64)):
        yield aten.cov.default, [samples], {}
        yield aten.corrcoef.default, [samples], {}
    yield aten._lu_with_info.default, [floats(2, 3, 3)], {}
    yield aten.linalg__powsum.default, [floats(2, 3), 2, [1]], {}


def statistics_samples() -> Iterator[Sample]:
    """Histograms, gradients of samples, segments."""
    points = floats(5, 2)
    yield aten.histogramdd.default, [points, [3, 4]], {}
    yield aten.histogramdd.int_bins, [points, 3], {}
    yield aten.histogramdd.TensorList_bins, [points, [floats(3), floats(4)]], {}
    yield aten._histogramdd_bin_edges.default, [points, [3, 4]], {}
    yield aten._histogramdd_from_bin_cts.default, [points, [3, 4]], {}
    for samples in (floats(4, 5), floats(5, 4).t(), floats(4, 5, dtype=torch.int64)):
        yield aten.gradient.scalarint, [samples], {}
        yield aten.gradient.scalarint, [samples], {"spacing": 2.0, "dim": 1}
        yield aten.gradient.scalararray, [samples], {"spacing": 2.0, "dim": [0]}
        yield aten.gradient.array, [samples], {"dim": [0, 1]}
        yield aten.gradient.scalarrayint, [samples], {"spacing": [2.0], "dim": 1}
        yield aten.gradient.scalarrayarray, [samples], {"spacing": [2.0, 1.0], "dim": [0, 1]}
    samples = floats(4, 5)
    yield aten.gradient.tensorarrayint, [samples], {"spacing": [floats(5)], "dim": 1}
    yield aten.gradient.tensorarray, [samples], {"spacing": [floats(4), floats(5)], "dim": [0, 1]}
    lengths, offsets = torch.tensor([2, 3]), torch.tensor([0, 2, 5])
    yield aten.segment_reduce.default, [floats(5, 3), "sum"], {"lengths": lengths, "unsafe": True}
    yield aten.segment_reduce.default, [floats(5, 3), "sum"], {"offsets": offsets, "unsafe": True}
    yield aten._segment_reduce_backward.default, [floats(2, 3), floats(2, 3), floats(5, 3), "sum"], {"lengths": lengths}
    for dim in (-1, 0, 1):
        yield aten.norm_except_dim.default, [floats(4, 3), 2, dim], {}
    yield aten.hash_tensor.default, [floats(4, 3), [1]], {}


def network_samples() -> Iterator[Sample]:
    """Fused cells and layers, batch norms, embedding bags."""
    cell = [floats(4, 20), floats(4, 20), floats(4, 5), floats(20), floats(20)]
    yield aten._thnn_fused_lstm_cell.default, cell, {}
    for has_bias in (False, True):
        tail = [floats(4, 5), floats(4, 5), floats(4, 20), has_bias]
        yield aten._thnn_fused_lstm_cell_backward_impl.default, [floats(4, 5), None, *tail], {}
    for batch_first in (False, True):
        yield aten.pad_sequence.default, [[floats(3, 2), floats(5, 2)], batch_first], {}
    query, weight, bias = floats(2, 5, 8), floats(24, 8), floats(24)
    attention = [query, query, query, 8, 2, weight, bias, floats(8, 8), floats(8)]
    for average in (False, True):
        yield aten._native_multi_head_attention.default, [*attention, None, True, average], {}
    norms = [floats(8), floats(8), floats(8), floats(8)]
    ffn = [floats(16, 8), floats(16), floats(8, 16), floats(8)]
    encoder = [query, 8, 2, weight, bias, floats(8, 8), floats(8), True, False, 1e-5, *norms, *ffn]
    yield aten._transformer_encoder_layer_fwd.default, encoder, {}
    for images in (floats(2, 3, 4, 5), floats(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)):
        norm = [images, floats(3), floats(3), floats(3), floats(3)]
        yield aten._batch_norm_with_update.default, [*norm, 0.1, 1e-5], {}
        yield aten._batch_norm_with_update_functional.default, [*norm, 0.1, 1e-5], {}
        yield aten._batch_norm_no_update.default, [*norm, 0.1, 1e-5], {}
        for training in (False, True):
            yield aten.cudnn_batch_norm.default, [*norm, training, 0.1, 1e-5], {}
            tail = [floats(3), floats(3), floats(3), floats(3), floats(3), training, 1e-5, [True] * 3]
            yield aten.batch_norm_backward.default, [images, images, *tail, floats(0)], {}
    indices, grad = torch.tensor([0, 1, 2, 3]), floats(2, 3)
    bags = [indices, indices, torch.tensor([2, 2]), torch.tensor([0, 0])]
    yield aten._embedding_bag_dense_backward.default, [grad, *bags, 6, False, 0, None], {}
    bags = [indices, torch.tensor([0, 2]), indices, torch.tensor([2, 2]), torch.tensor([0, 0])]
    yield aten._embedding_bag_backward.default, [grad, *bags, 6, False, 0, False, None], {}
    tail = [indices, torch.tensor([0, 2]), indices, 0]
    yield aten._embedding_bag_per_sample_weights_backward.default, [grad, floats(6, 3), *tail], {}
    yield aten._convolution_mode.default, [floats(2, 3, 9), floats(4, 3, 3), None, [1], "same", [1], 1], {}
    yield aten._convolution_mode.default, [floats(2, 3, 9, 9), floats(4, 3, 3, 3), None, [2], "valid", [1], 1], {}
    for image in (floats(2, 3, 8, 8), floats(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)):
        yield aten._upsample_lanczos2d_aa.default, [image, [4, 4], False], {}
        yield aten._upsample_lanczos2d_aa.vec, [image, None, False, [0.5, 0.5]], {}
        for backward in (aten._upsample_lanczos2d_aa_backward, aten._upsample_bicubic2d_aa_backward):
            yield backward.default, [image, [8, 8], [2, 3, 16, 16], False], {}
    yield aten._upsample_nearest_exact3d_backward.default, [floats(1, 2, 4, 4, 4), [4, 4, 4], [1, 2, 2, 2, 2]], {}
    observed = [floats(2, 3), floats(1).long(), floats(1).long(), floats(1), floats(1), floats(1), floats(1).int()]
    for name in ("_fused_moving_avg_obs_fq_helper", "_fused_moving_avg_obs_fq_helper_functional"):
        yield getattr(aten, name).default, [*observed, 0.1, 0, 255, 0], {}
    yield aten.fused_moving_avg_obs_fake_quant.default, [*observed, 0.1, 0, 255, 0], {}


def tensor_samples() -> Iterator[Sample]:
    """Queries, storages, indexing, random numbers, and factories that write to a given tensor."""
    for tensor in (floats(2, 3), floats(3, 2).t(), floats(2, 3, dtype=torch.int8), floats(2, dtype=torch.complex64)):
        for query in (aten.is_floating_point, aten.is_complex, aten.is_signed, aten.is_distributed, aten.dim):
            yield query.default, [tensor], {}
        for query in (aten.numel, aten.element_size, aten.storage_offset, aten.get_device):
            yield query.default, [tensor], {}
        yield aten.size.int, [tensor, -1], {}
        yield aten.stride.int, [tensor, 0], {}
        yield aten.is_same_size.default, [tensor, floats(2, 3)], {}
        yield aten._dim_arange.default, [tensor, 0], {}
        for cast in (aten._cast_Float, aten._cast_Double, aten._cast_Half, aten._cast_Int, aten._cast_Long):
            yield cast.default, [tensor], {}
        for cast in (aten._cast_Byte, aten._cast_Char, aten._cast_Short):
            yield cast.default, [tensor], {}
        yield aten._lazy_clone.default, [tensor], {}
        yield aten.data.default, [tensor], {}
        yield aten.poisson.default, [tensor.abs().float()], {}
        for like in (aten.rand_like, aten.randn_like):
            yield like.generator, [tensor.float()], {"generator": None}
        yield aten._reshape_copy.default, [tensor, [-1]], {}
    yield aten.can_cast.default, [torch.float32, torch.int64], {}
    yield aten.can_cast.default, [torch.int64, torch.float32], {}
    matrix = floats(4, 3)
    for sizes in ([4, 3], [1, 3], [3], [4, 1], []):
        yield aten.sum_to_size.default, [matrix, sizes], {}
        yield aten.sum_to_size.default, [matrix.long(), sizes], {}
    yield aten._grad_sum_to_size.default, [matrix, [1, 3]], {}
    yield aten._reshape_alias.default, [matrix, [3, 4], [1, 3]], {}
    yield aten.fill_diagonal_.default, [floats(3, 3), 1.0], {}
    yield aten.set_.source_Tensor, [floats(2), floats(3, 4).t()], {}
    yield aten.set_.source_Tensor_storage_offset, [floats(2), floats(12), 2, [2, 3]], {}
    yield aten.set_.source_Tensor_storage_offset, [floats(2), floats(12), 2, [2, 3], [1, 2]], {}
    yield aten.set_.default, [floats(2)], {}
    rows = torch.tensor([0, 2])
    yield aten.index.Tensor_hacked_twin, [matrix, [rows]], {}
    yield aten._unsafe_index.Tensor_hacked_twin, [matrix, [rows]], {}
    yield aten.index_put.hacked_twin, [matrix, [rows], floats(2, 3)], {}
    yield aten.index_put_.hacked_twin, [matrix, [rows], floats(2, 3)], {}
    yield aten._index_put_impl.default, [matrix, [rows], floats(2, 3)], {}
    yield aten._is_any_true.default, [matrix > 0], {}
    for fill in (aten.cauchy, aten.exponential, aten.log_normal):
        yield fill.default, [matrix.t()], {}
    yield aten.geometric.default, [matrix.t(), 0.5], {}
    yield aten.bernoulli.Tensor, [matrix.t(), matrix.t()], {}
    yield aten._standard_gamma.default, [matrix.t()], {}
    yield aten.rrelu_with_noise_functional.default, [matrix.t(), matrix], {}
    for size in (aten.randint.generator, aten.randint.low_generator):
        low = [0] if size is aten.randint.low_generator else []
        yield size, [*low, 5, [2, 3]], {"generator": None}
    yield aten.randint_like.generator, [matrix.t(), 5], {"generator": None}
    yield aten.randint_like.low_generator_dtype, [matrix.t(), 0, 5], {"generator": None}
    yield aten.randperm.generator, [5], {"generator": None}
    yield aten.range.step, [0, 5, 2], {}
    yield aten.range.default, [1.0, 4.5], {}
    yield aten._efficientzerotensor.default, [[2, 3]], {}
    yield aten._make_dep_token.default, [], {}
    token = floats()
    yield aten._functional_assert_async.msg, [torch.tensor(True), "why", token], {}
    yield aten._functional_sym_constrain_range.default, [5, 0, 10, token], {}
    yield aten._functional_sym_constrain_range_for_size.default, [5, 0, 10, token], {}
    yield from out_samples()


def out_samples() -> Iterator[Sample]:
    """Factories and copies of views that write to a given tensor."""
    matrix, longs = floats(2, 3), floats(2, 3, dtype=torch.int64)
    for out in (matrix, longs):
        yield aten.full.out, [[2, 3], 1.0], {"out": out}
        yield aten.zeros.out, [[2, 3]], {"out": out}
    yield aten.arange.start_out, [0, 6], {"out": floats(6)}
    yield aten.linspace.out, [0, 1, 5], {"out": floats(5)}
    yield aten.eye.m_out, [2, 3], {"out": matrix}
    yield aten.t_copy.out, [floats(3, 2)], {"out": matrix}
    yield aten.permute_copy.out, [floats(3, 2), [1, 0]], {"out": matrix}
    yield aten.unbind_copy.int_out, [matrix], {"out": [floats(3), floats(3)]}


def prims_samples() -> Iterator[Sample]:
    """The elementwise operators of torch/_prims."""
    tensor, other = floats(3, 2).t(), floats(3, 2).t()
    for name in ("abs", "cos", "exp", "neg", "isfinite", "sqrt", "signbit", "erfcx"):
        yield getattr(prims, name).default, [tensor], {}
    for name in ("add", "mul", "eq", "lt", "maximum", "atan2"):
        yield getattr(prims, name).default, [tensor, other], {}
        yield getattr(prims, name).default, [tensor, floats(2, 3)], {}
    for given in (tensor, floats(2, 6)[:, ::2], floats(1, 3).expand(2, 3)):
        yield prims.convert_element_type.default, [given, torch.float64], {}
    tail = {"start": 0, "step": 1, "dtype": torch.int64, "device": torch.device("cpu"), "requires_grad": False}
    yield prims.iota.default, [5], tail


def composite_samples() -> Iterator[Sample]:
    """All of them."""
    yield from signal_samples()
    yield from linalg_samples()
    yield from statistics_samples()
    yield from network_samples()
    yield from tensor_samples()
    yield from prims_samples()
