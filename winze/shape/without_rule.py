# SPDX-License-Identifier: Apache-2.0
"""Why operators have no shape rule: a reason for each, by its name and schema, for docs/coverage.md."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The first that fits counts.
REASONS: tuple[tuple[str, str], ...] = (
    (
        r"^(prim|onnx\w*|profiler|streams|debugprims|builtins|torch\.(_C|amp|autograd|_functorch))\.|^aten\.(__\w+__|grad|"
        r"backward|_backward|format|warn|_print|save|local_value|owner|to_here|confirmed_by_owner|is_owner|wait)\b",
        "TorchScript, autograd or a tool of its own calls it; it is no call of a program",
    ),
    (
        r"sparse|_coo|_csr|_csc|_bsr|_bsc|coalesce|_nnz|_dim[IV]|_cslt|^aten\.(smm|hspmm|dense_dim|_?indices|_?values|"
        r"c?col_indices|c?row_indices|crow_indices|ccol_indices)(_copy)?\b|_spdiags|_spsolve",
        "its tensors are sparse; rules are of strided ones",
    ),
    (r"nested|jagged|to_padded_tensor", "its tensors are nested; rules are of strided ones"),
    (
        r"mkldnn|^(mkl|onednn)\.|_to_cpu",
        "its layouts are those of oneDNN, which Inductor makes behind the graph",
    ),
    (
        r"^(_?quantized|quantization|sparse)\.|quantize_per|quantized_|dequantize|fbgemm|q_scale|q_zero|q_per|qscheme|"
        r"int_repr|_qparams|_wrapped|_saturate|_rowwise_prune|_empty_(affine|per)|empty_quantized|_make_per",
        "its tensors have a quantized dtype, or weights packed into an object; export writes plain ones",
    ),
    (
        r"^(c10d|c10d_functional|symm_mem|fsdp|_dtensor|_c10d_functional)\.",
        "it works on buffers of a process group in place; functional collectives have rules",
    ),
    (
        r"^torch\._sym_|^aten\.[a-z]\w*\.Scalar$|Dict_|(\.|_)(bool|complex|float|int|str|t|any|enum|device|Scalar_Scalar|float_int|int_float|int_int|"
        r"\w*_list|hacked_twin)(_\w+)?$|\.(int|float|complex|bool|str)_\w+$|^aten\.(str|ord|chr|hex|oct|bin|is\w+|"
        r"\w*strip|\w?find|\w?index|\w?just|split\w*|join|replace|upper|lower|title|center|count|list|dict|len|keys|"
        r"\w*case|partition|rpartition|capitalize|endswith|startswith|expandtabs|zfill|hash|divmod|percentFormat)\.default$",
        "it takes Python values alone, which export computes while it traces",
    ),
    (r"mps|miopen|cudnn|cufft|vulkan|xla|nnpack|triton", "a device's own kernel, which no traced graph calls"),
    (r"^(inductor|rngprims|inductor_prims|flex_lib)\.|^prims\.inductor", "Inductor makes it behind the graph"),
    (r"^prims\.", "a prim that yields a Python value, or that no decomposition leaves in a graph"),
    (r"_test_|_foobar", "PyTorch tests itself with it"),
    (
        r"result_type|promote_types|get_autocast_dtype|\.(size|stride|sym_size|sym_stride)\.default$|_qparams",
        "what it yields is a dtype or a list of numbers, which no value of a graph is",
    ),
    (
        r"_dual|fw_primal|batch_dim|set_data|retain|is_leaf|output_nr|_version|requires_grad|_lazy|is_inference|"
        r"manual_seed|seed\.|Generator|grad_enabled|is_grad|autocast|is_pinned|record_stream|thread|_conj$|is_neg|"
        r"is_conj|_is_zerotensor|_debug|has_|get_gradients|_use_|tracing|cpu_capability",
        "it is about autograd, generators or storages, of which metas say nothing",
    ),
    (
        r"pack_padded|pad_packed|_pack_sequence|narrow\.Tensor|tensor_indices|allclose|equal|_from_tensor",
        "its sizes are read from data in a way that has no bound yet",
    ),
    (r"^higher_order\.", "what it yields is decided by a delegate, a kernel or an object outside of the program"),
)
OTHER = "nothing has called for it yet: parts of kernels, derivatives of derivatives, and what fake tensors do not run"


def reason(name: str) -> str:
    """Why this operator has no rule."""
    return next((why for pattern, why in REASONS if re.search(pattern, name)), OTHER)


def by_reason(names: Iterable[str]) -> dict[str, list[str]]:
    """The operators of each reason, the largest group first."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(reason(name), []).append(name)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))
