# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that `op_db` does not have: lists of tensors, quantization, cells, embedding bags, losses."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from composite_samples import composite_samples
from fused_samples import fused_samples
from kernel_samples import kernel_samples
from op_samples import Sample

aten = torch.ops.aten
quantized = torch.ops.quantized_decomposed


def floats(*sizes: int) -> torch.Tensor:
    """Some tensor."""
    return torch.ones(sizes)


def foreach_samples() -> Iterator[Sample]:
    """Each `_foreach_` operator on two tensors of different layout and dtype."""
    tensors = [floats(3, 2).t(), floats(4).double()]
    integers = [torch.ones(2, 3, dtype=torch.int64), torch.ones(2, dtype=torch.bool)]
    qualified = (name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names())
    for name in sorted({name.removeprefix("aten::") for name in qualified if name.startswith("aten::_foreach_")}):
        packet = getattr(aten, name)
        for overload in packet.overloads():
            function = getattr(packet, overload)
            schema = function._schema.arguments
            # A tensor of scalars is read, which fake tensors cannot.
            if any(a.is_out or (a.name == "scalars" and str(a.type) == "Tensor") for a in schema):
                continue
            for given in (tensors, integers):
                clones = [tensor.clone() for tensor in given]
                required = (a for a in schema if not a.has_default_value())
                yield function, [foreach_argument(argument, clones) for argument in required], {}


def foreach_argument(argument: torch.Argument, tensors: list[torch.Tensor]) -> object:
    """Something of the type that is asked for."""
    kind = str(argument.type)
    if kind == "List[Tensor]":
        return [tensor.clone() for tensor in tensors]
    if kind.startswith("List["):
        return [2.0, 3.0]
    return torch.tensor(2.0) if kind == "Tensor" else 2


def quantization_samples() -> Iterator[Sample]:
    """Numbers in ordinary tensors."""
    values, bytes_, scale = floats(2, 3, 4), torch.ones(2, 3, 4, dtype=torch.int8), torch.tensor([0.5])
    zero = torch.tensor([0])
    limits = (-128, 127)
    int8 = torch.int8
    per_channel = (torch.ones(3), torch.zeros(3, dtype=torch.int64), 1)
    for tensor in (values, values.transpose(0, 2)):
        yield quantized.quantize_per_tensor.default, [tensor, 0.5, 0, *limits, int8], {}
        yield quantized.quantize_per_tensor.tensor, [tensor, scale, zero, *limits, int8], {}
        yield quantized.quantize_per_channel.default, [tensor, *per_channel, *limits, int8], {}
        yield quantized.choose_qparams.tensor, [tensor, *limits, 1e-5, int8], {}
        yield quantized.choose_qparams_symmetric.tensor, [tensor, *limits, 1e-5, int8], {}
        yield quantized.choose_qparams_per_token.default, [tensor, int8], {}
        yield quantized.choose_qparams_per_token_asymmetric.default, [tensor, int8], {}
        yield aten.fake_quantize_per_tensor_affine.default, [tensor, 0.5, 0, 0, 255], {}
        yield aten.fake_quantize_per_tensor_affine_cachemask.default, [tensor, 0.5, 0, 0, 255], {}
    for tensor in (bytes_, bytes_.transpose(0, 2)):
        yield quantized.dequantize_per_tensor.default, [tensor, 0.5, 0, *limits, int8], {}
        yield quantized.dequantize_per_tensor.default, [tensor, 0.5, 0, *limits, int8], {"out_dtype": torch.bfloat16}
        yield quantized.dequantize_per_tensor.tensor, [tensor, scale, zero, *limits, int8], {}
        yield quantized.dequantize_per_channel.default, [tensor, *per_channel, *limits, int8], {}
    for left in (torch.ones(3, 8, dtype=int8), torch.ones(8, 3, dtype=torch.uint8).t()):
        for right in (torch.ones(8, 4, dtype=int8), torch.ones(4, 8, dtype=int8).t(), torch.ones(4, 8, dtype=int8)):
            yield aten._int_mm.default, [left, right], {}
    yield quantized.dequantize_per_tensor.default, [bytes_, 0.5, 0, 0, 255, torch.uint8], {}
    yield quantized.quantize_per_tensor.default, [values.double(), 0.5, 0, *limits, int8], {}
    yield quantized.quantize_per_token.default, [values, floats(2, 3, 1), torch.zeros(2, 3, 1), *limits, int8], {}
    channels = (torch.ones(3), torch.zeros(3, dtype=torch.int32))
    yield aten.fake_quantize_per_channel_affine.default, [values, *channels, 1, 0, 255], {}
    yield aten.fake_quantize_per_channel_affine_cachemask.default, [values, *channels, 1, 0, 255], {}


def network_samples() -> Iterator[Sample]:
    """Cells, embedding bags, weight norm, and shuffled channels."""
    for batch in ((), (5,)):
        state = floats(*batch, 4)
        inputs = floats(*batch, 3)
        for gates, cell in ((3, aten.gru_cell), (1, aten.rnn_tanh_cell), (1, aten.rnn_relu_cell)):
            yield cell.default, [inputs, state, floats(gates * 4, 3), floats(gates * 4, 4)], {}
        yield aten.lstm_cell.default, [inputs, [state, state], floats(16, 3), floats(16, 4)], {}
    table, indices, offsets = floats(6, 3), torch.tensor([0, 1, 2, 3]), torch.tensor([0, 2])
    for mode in range(3):
        for last in (False, True):
            yield aten._embedding_bag.default, [table, indices, offsets, False, mode, False, None, last], {}
            yield aten.embedding_bag.padding_idx, [table, indices, offsets, False, mode, False, None, last, 1], {}
    weights = floats(4)
    yield aten._embedding_bag.default, [table, indices, offsets, False, 0, False, weights], {}
    yield aten._embedding_bag.default, [table, indices, offsets, False, 1, False, weights], {}
    yield aten._weight_norm.default, [floats(4, 3, 2), floats(4, 1, 1)], {}
    yield aten._weight_norm_interface.default, [floats(4, 3, 2), floats(4, 1, 1)], {}
    yield aten.channel_shuffle.default, [floats(2, 6, 3, 3).contiguous(memory_format=torch.channels_last), 3], {}
    for layout in (torch.contiguous_format, torch.channels_last):
        yield aten.native_channel_shuffle.default, [floats(2, 6, 3, 3).contiguous(memory_format=layout), 3], {}
    yield aten.affine_grid_generator.default, [floats(2, 2, 3), [2, 3, 4, 5], False], {}
    yield aten.affine_grid_generator.default, [floats(2, 3, 4), [2, 3, 4, 5, 6], False], {}


def export_samples() -> Iterator[Sample]:
    """Operators that export keeps whole and that functions of torch do not call as such."""
    matrix, square, batch = floats(3, 4), torch.eye(3), torch.eye(3).expand(2, 3, 3).clone()
    for equation, operands in (
        ("ij,jk->ik", [matrix, floats(4, 5)]),
        ("bij,bkj->bik", [floats(2, 3, 4), floats(2, 5, 4)]),
        ("...ij,...jk->...ik", [floats(2, 3, 4), floats(4, 5)]),
        ("ii->i", [square]),
        ("ij->ji", [matrix]),
        ("ij->", [matrix]),
        ("i,j->ij", [floats(3), floats(4)]),
        ("bhid,bhjd->bhij", [floats(2, 3, 4, 5), floats(2, 3, 6, 5)]),
        ("ab,bc,cd->ad", [matrix, floats(4, 5), floats(5, 6)]),
        ("ij,ij->i", [matrix, matrix]),
        ("ij,jk->ki", [matrix, floats(4, 5)]),
        ("ijl,jk->ikl", [floats(3, 4, 6), floats(4, 5)]),
        ("bclhn,bclhp->bchpn", [floats(2, 3, 5, 4, 8), floats(2, 4, 6, 3, 5).permute(0, 3, 4, 1, 2)]),
        ("bclhn,bclhp->bchpn", [floats(2, 1, 5, 4, 8), floats(2, 1, 5, 4, 6)]),
        ("ab,ac->cab", [floats(4, 3).t(), floats(3, 1)]),
    ):
        yield aten.einsum.default, [equation, operands], {}
    for function in (aten.linalg_norm, aten.linalg_cond, aten.linalg_matrix_rank, aten.matrix_exp, aten.logdet):
        for tensor in (square, batch):
            yield function.default, [tensor], {}
    yield aten.linalg_norm.default, [batch, 2, [0], True], {}
    yield aten.linalg_matrix_norm.default, [batch, 1], {}
    yield aten.nuclear_norm.default, [matrix], {}
    yield aten.frobenius_norm.dim, [matrix, [1]], {}
    yield aten.norm.ScalarOpt_dtype, [matrix, 2], {"dtype": torch.float64}
    yield aten.norm.ScalarOpt_dim_dtype, [matrix, 2, [1], True], {"dtype": torch.float64}
    for function in (
        aten.special_digamma,
        aten.special_psi,
        aten.special_erf,
        aten.special_expit,
        aten.special_gammaln,
    ):
        yield function.default, [matrix.t()], {}
    for function in (aten.special_exp2, aten.special_i0, aten.special_log1p, aten.special_sinc, aten.special_round):
        yield function.default, [torch.ones(2, 3, dtype=torch.float64)], {}
    yield aten.special_logsumexp.default, [matrix, [1]], {}
    yield aten.special_xlogy.default, [matrix, matrix], {}
    yield aten.special_gammainc.default, [matrix, matrix], {}
    for function in (aten.nll_loss, aten.cross_entropy_loss):
        for reduction in range(3):
            yield function.default, [matrix, torch.tensor([0, 1, 2]), None, reduction], {}
    yield aten.cross_entropy_loss.default, [matrix, matrix], {}
    yield aten.tensor_split.indices, [floats(5, 3), [1, 4]], {}
    for split in (aten.hsplit, aten.vsplit):
        yield split.array, [floats(4, 6), [1, 3]], {}
    for function in (aten.row_stack, aten.vstack, aten.hstack, aten.dstack, aten.column_stack):
        yield function.default, [[floats(3), floats(3)]], {}
    for arguments in ([1, True], [0], [], [None, True]):
        yield aten.quantile.default, [matrix, torch.tensor([0.2, 0.5]), *arguments], {}
    labels = torch.tensor([[0, 1, 2], [2, 1, 0]])
    for tensor in (labels, labels.t()):
        yield aten.one_hot.default, [tensor, 4], {}
    for tensor in (matrix > 0, torch.tensor(True)):
        yield aten._is_all_true.default, [tensor], {}
        yield aten.where.default, [tensor], {}
    yield aten.trapezoid.dx, [matrix], {}
    yield aten.cumulative_trapezoid.dx, [matrix], {}


def extra_samples() -> Iterator[Sample]:
    """All of them."""
    yield from foreach_samples()
    yield from quantization_samples()
    yield from network_samples()
    yield from export_samples()
    yield from fused_samples()
    yield from composite_samples()
    yield from kernel_samples()
