# SPDX-License-Identifier: Apache-2.0
"""Exported programs, in memory and in files."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from built_package import PACKAGE_DIR
from fx_programs import same, targets

import winze
import winze.torch as wt


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> Any:
        self.seen.add_(1)
        y = self.linear(x)
        return {"a": (y + x) * (y + x), "b": y.clone(), "seen": self.seen * 2}


def exported() -> torch.export.ExportedProgram:
    dim = torch.export.Dim("batch", min=2, max=64)
    return torch.export.export(Net(), (torch.randn(3, 4),), dynamic_shapes=({0: dim},))


@pytest.mark.parametrize("dialect", ["training", "core"])
def test_lower_in_memory(dialect: str, tmp_path: Path) -> None:
    program = exported()
    if dialect == "core":
        program = program.run_decompositions()
    before = str(program.graph)
    lowered = wt.lower(program, passes="default")
    # Weights are shared, and each run counts in the buffer: run a copy.
    program = copy.deepcopy(program)
    assert str(program.graph) == before
    assert (
        targets(lowered.graph_module).count("aten.add.Tensor")
        == targets(program.graph_module).count("aten.add.Tensor") - 1
    )
    lowered.validate()
    assert lowered.state_dict.keys() == program.state_dict.keys()
    assert str(lowered.range_constraints) == str(program.range_constraints)
    x = torch.randn(5, 4)
    first, second = program.module(), lowered.module()
    for _ in range(2):
        same(second(x), first(x))
    torch.export.save(lowered, tmp_path / "lowered.pt2")
    same(torch.export.load(tmp_path / "lowered.pt2").module()(x), second(x))


def test_lower_replaces_an_output() -> None:
    class Cloned(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x.sin() + 0, (x.sin() + 0).clone()

    program = torch.export.export(Cloned(), (torch.randn(3),))
    lowered = wt.lower(program, passes=["common-subexpressions", lambda gm, inputs: gm])
    x = torch.randn(3)
    same(lowered.module()(x), program.module()(x))


def test_lower_rejects_other_things() -> None:
    with pytest.raises(TypeError, match="not Linear"):
        wt.lower(torch.nn.Linear(2, 2))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "net.pt2"
    torch.export.save(exported(), path)
    return path


def test_lower_files(saved: Path, tmp_path: Path) -> None:
    report = winze.lower(saved, tmp_path / "out.pt2", passes="default")
    assert [one.name for one in report.passes] == ["remove-no-op-clones", "common-subexpressions", "dead-code"]
    assert report.edits > 0
    x = torch.randn(5, 4)
    same(torch.export.load(tmp_path / "out.pt2").module()(x), torch.export.load(saved).module()(x))


def test_lower_files_with_python_pass(saved: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    @winze.lowering_pass(name="look-at-it")
    def look(graph: winze.Graph) -> None:
        seen.append(str(len(graph)))

    report = winze.lower(saved, tmp_path / "out.wz", passes=["look-at-it", "default", look])
    assert report.passes[0].name == "look-at-it"
    assert len(seen) == 2
    assert int(seen[1]) < int(seen[0])


def test_errors_of_files(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(winze.Error, match="dead-code"):
        winze.lower(saved, tmp_path / "out.pt2", passes="dead-cod")
    (tmp_path / "bad.pt2").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(winze.Error, match=r"bad\.pt2"):
        winze.lower(tmp_path / "bad.pt2", tmp_path / "out.pt2")
    with pytest.raises(winze.Error, match=r"no/out\.pt2: error: cannot create the file") as raised:
        winze.lower(saved, tmp_path / "no" / "out.pt2")
    assert raised.value.where == str(tmp_path / "no" / "out.pt2")
    assert raised.value.message == "cannot create the file: No such file or directory"
    with pytest.raises(winze.Error, match=r"missing\.pt2"):
        winze.load(tmp_path / "missing.pt2")
    assert not (tmp_path / "out.pt2").exists()


def test_winze_alone_needs_no_torch(saved: Path, tmp_path: Path) -> None:
    script = (
        "import sys, winze\n"
        f"p = winze.load({str(saved)!r})\n"
        "print(p.lower('default').edits, [n.target for n in p.graph.nodes if n.op == 'call_function'][0])\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(PACKAGE_DIR)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "aten." in done.stdout


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.sin() + x.sin(), x.cos()


def test_preserved_signatures_of_modules_stay_true() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            a, b = self.inner(x)
            return a * b + self.inner(b)[0]

    net, x = Net(), torch.randn(4)
    program = torch.export.export(net, (x,), preserve_module_call_signature=("inner",))
    count = len(program.graph.nodes)
    lowered = winze.torch.lower(program, passes="default")
    assert len(lowered.graph.nodes) == count - 2
    assert len(lowered.graph_signature.output_specs) == 1
    # What a signature names is kept, though the second call's cosine has no user.
    unflattened = torch.export.unflatten(lowered)
    same(unflattened(x), net(x))
    same(unflattened.inner(x), net.inner(x))

    def replace(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.cos.default):
            with gm.graph.inserting_after(node):
                made = gm.graph.call_function(torch.ops.aten.neg.default, (node,))
            node.replace_all_uses_with(made, delete_user_cb=lambda user, made=made: user is not made)
        return gm

    same(torch.export.unflatten(winze.torch.lower(program, passes=[replace])).inner(x)[1], -x.cos())


def test_preserved_signature_that_cannot_stay_true() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)[0] * self.inner(x)[0]

    def merge(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        first, second = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
        second.replace_all_uses_with(first)
        return gm

    program = torch.export.export(Net(), (torch.randn(4),), preserve_module_call_signature=("inner",))
    with pytest.raises(winze.Error, match=r"module 'inner@1' has a preserved signature that names %.*took out of it"):
        winze.torch.lower(program, passes=[merge])


def test_a_program_of_new_calls_alone_unflattens() -> None:
    x = torch.randn(3)
    program = torch.export.export(torch.nn.Identity(), (x,))
    lowered = wt.lower(program, passes="repair-input-as-output")
    same(torch.export.unflatten(lowered)(x), x)
