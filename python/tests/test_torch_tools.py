# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tools for backends, pointed at this one by name."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo.testing
from fx_programs import same

import winze.torch as wt


def test_graphs_are_counted_as_of_any_backend() -> None:
    counter = torch._dynamo.testing.CompileCounterWithBackend("winze")
    run = torch.compile(lambda x: x.sin() + x.sin(), backend=counter)
    for size in (3, 4, 5):
        run(torch.randn(size))
    assert counter.frame_count == 2  # the second is of any size


def test_subclass_of_two_tensors() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    x = torch.randn(3)
    both = TwoTensor(x.clone(), x + 1).requires_grad_()
    result = torch.compile(lambda t: (t.sin() + t.sin()) * 2, backend="winze", options={"check": True})(both)
    same([result.a, result.b], [x.sin() * 4, (x + 1).sin() * 4])
    result.sum().backward()
    same([both.grad.a, both.grad.b], [x.cos() * 4, (x + 1).cos() * 4])


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
