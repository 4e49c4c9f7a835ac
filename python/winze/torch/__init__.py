# SPDX-License-Identifier: Apache-2.0
"""Lowering in one process with PyTorch: passes over `torch.fx`, `torch.compile`, exported programs.

import torch, winze.torch
from winze.torch import aten_lowering_pass

@aten_lowering_pass
def my_pass(gm, sample_inputs):
    ...
    return gm

fast = torch.compile(model, backend="winze")
"""

from winze.torch._apply import apply_lowering_passes
from winze.torch._backend import LoweringWarning, register, winze_backend
from winze.torch._export import lower
from winze.torch._pipeline import (
    Pipeline,
    aten_lowering_pass,
    dump_lowering_passes,
    lowering_passes,
    remove_lowering_pass,
    reset_lowering_passes,
)
from winze.torch._shape_rules import use_fake_implementation

# The original's spellings.
_aten_lowering_pass = aten_lowering_pass
_remove_lowering_pass = remove_lowering_pass

__all__ = [
    "LoweringWarning",
    "Pipeline",
    "_aten_lowering_pass",
    "_remove_lowering_pass",
    "apply_lowering_passes",
    "aten_lowering_pass",
    "dump_lowering_passes",
    "lower",
    "lowering_passes",
    "remove_lowering_pass",
    "reset_lowering_passes",
    "use_fake_implementation",
    "winze_backend",
]

register()
