# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tools for backends, pointed at this one by name."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo.testing

import winze.torch as wt


def test_graphs_are_counted_as_of_any_backend() -> None:
    counter = torch._dynamo.testing.CompileCounterWithBackend("winze")
    run = torch.compile(lambda x: x.sin() + x.sin(), backend=counter)
    for size in (3, 4, 5):
        run(torch.randn(size))
    assert counter.frame_count == 2  # the second is of any size


def test_the_minifier_writes_a_script_that_names_the_backend(tmp_path: Path) -> None:
    def refuse_sines(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        if gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
            raise ValueError("no sines here")
        return gm

    wt.aten_lowering_pass(refuse_sines)
    with (
        torch._dynamo.config.patch(repro_after="dynamo", debug_dir_root=str(tmp_path)),
        pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="no sines here"),
    ):
        torch.compile(lambda x: (x.cos().sin() + 1).exp(), backend="winze")(torch.randn(3))
    (script,) = tmp_path.rglob("minifier_launcher.py")
    text = script.read_text()
    assert "sin = cos.sin()" in text
    assert "backend='winze'" in text
