# SPDX-License-Identifier: Apache-2.0
"""Running the list of passes over a module by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import fx

from winze.torch._pipeline import Pipeline, current_pipeline
from winze.torch._run import run_pipeline


def apply_lowering_passes(
    gm: fx.GraphModule, sample_inputs: Sequence[Any] = (), *, passes: Any = None
) -> fx.GraphModule:
    """Runs the list in force, or `passes`, over a module of ATen operators and gives back the lowered module.

    The module is edited in place where no pass returns another. `sample_inputs` are handed to the passes. Raises
    winze.Error that names the pass which failed; the module is then as it was before that pass.
    """
    entries = (current_pipeline() if passes is None else Pipeline(passes)).entries
    return run_pipeline(gm, sample_inputs, entries)
