# SPDX-License-Identifier: Apache-2.0
"""End to end: programs made for other sizes by the pass infer-shapes, against eager at these sizes."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from built_command import BUILD_DIR, MODELS_DIR, Winze
from test_models import known_types  # noqa: F401 - a fixture: torch.export.load has to know them
from torch import nn
from torch.export import Dim

pytestmark = pytest.mark.skipif(not (BUILD_DIR / "lib" / "libwinze_torch.so").exists(), reason="built without libtorch")


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(torch.relu(self.up(x))).flatten(1).softmax(-1)


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.head(x.mean((2, 3)))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4).unbind(0)
        positions = torch.arange(length)
        scores = q @ k.transpose(-1, -2) + (positions[:, None] >= positions)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)


class TwoInputs(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.cat([x, y], 1).sum(0), (x @ y.t()).tril()


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda t: t.relu() + 1, lambda t: t.sin() - t, (x,))


def export(module: nn.Module, args: tuple[Any, ...], path: Path, dynamic_shapes: Any = None) -> Path:
    with torch.no_grad():
        torch.export.save(torch.export.export(module, args, dynamic_shapes=dynamic_shapes), path)
    return path


def outputs_of(path: Path) -> list[np.ndarray]:
    """What `winze run -o` wrote."""
    with zipfile.ZipFile(path) as archive:
        outputs = json.loads(archive.read("manifest.json"))["cases"][0]["outputs"]
        return [
            np.lib.format.read_array(io.BytesIO(archive.read(value["npy"])), allow_pickle=False)
            if value["kind"] == "tensor"
            else np.asarray(value["value"])
            for value in outputs
        ]


def check(winze: Winze, program: Path, args: tuple[torch.Tensor, ...], eager: Callable[..., Any]) -> None:
    """PyTorch and `winze run` compute with the program what the module computes."""
    with torch.no_grad():
        expected = torch.utils._pytree.tree_leaves(eager(*args))
        loaded = torch.utils._pytree.tree_leaves(torch.export.load(program).module()(*args))
    torch.testing.assert_close(loaded, expected)
    inputs = program.with_suffix(".inputs.npz")
    np.savez(inputs, **{f"arr_{i}": arg.numpy() for i, arg in enumerate(args)})
    written = program.with_suffix(".outputs.npz")
    winze("run", program, "--inputs", inputs, "-o", written)
    for want, give in zip(expected, outputs_of(written), strict=True):
        np.testing.assert_allclose(give, want.numpy(), rtol=1e-4, atol=1e-5)
    winze("verify", program, "--level", "semantics")


STATIC = [
    pytest.param(Mlp, (randn(4, 3, 8),), ["x=f32[s0, 3, 8]"], [(7, 3, 8), (2, 3, 8)], id="mlp"),
    pytest.param(ConvNet, (randn(2, 3, 8, 8),), ["x=f32[s0, 3, 8, 8]"], [(5, 3, 8, 8)], id="batch of images"),
    pytest.param(ConvNet, (randn(2, 3, 8, 8),), ["x=f32[2, 3, s0, s0]"], [(2, 3, 12, 12)], id="size of images"),
    pytest.param(ConvNet, (randn(2, 3, 8, 8),), ["x=f32[2, 3, 16, 12]"], [(2, 3, 16, 12)], id="other images"),
    pytest.param(TwoInputs, (randn(2, 3), randn(2, 3)), ["x=f32[s0, 3]", "y=f32[s0, 3]"], [(6, 3), (6, 3)], id="two"),
    pytest.param(Branches, (randn(3, 4),), ["x=f32[s0, 4]"], [(7, 4)], id="branches"),
]


@pytest.mark.parametrize(("make", "example", "inputs", "shapes"), STATIC)
def test_a_static_size_is_made_another(
    winze: Winze, make: Callable[[], nn.Module], example: Any, inputs: list[str], shapes: Any, tmp_path: Path
) -> None:
    module = make().eval()
    source = export(module, example, tmp_path / "static.pt2")
    options = [word for text in inputs for word in ("--input", text)]
    options += ["--sym", "s0=[2,64]" if "s0, s0" not in inputs[0] else "s0=[8,64]"] if "s0" in inputs[0] else []
    lowered = winze.lower(source, tmp_path / "other.pt2", "--passes", "infer-shapes,default", *options)
    calls = [shapes] if len(example) > 1 else [(shape,) for shape in shapes]
    for call in calls:
        check(winze, lowered, tuple(randn(*shape, seed=1) for shape in call), module)


@pytest.mark.parametrize("sym", ["b=7", "b=[1,100]"])
def test_a_dynamic_size_gets_a_value_or_a_range(winze: Winze, sym: str, tmp_path: Path) -> None:
    module = Attention().eval()
    batch, length = Dim("batch", min=2, max=32), Dim("length", min=2, max=32)
    source = export(module, (randn(3, 6, 16),), tmp_path / "dynamic.pt2", ({0: batch, 1: length},))
    text = winze("print", source).stdout.decode()
    name = text.split("%x: input f32[")[1].split(",")[0]
    done = winze(
        *("lower", source, "-o", tmp_path / "other.pt2", "--passes", "infer-shapes,fold-shape-computation,default"),
        *("--sym", sym.replace("b", name)),
    )
    check(winze, tmp_path / "other.pt2", (randn(7, 5, 16, seed=1),), module)
    if "[" in sym:
        check(winze, tmp_path / "other.pt2", (randn(100, 5, 16, seed=1),), module)
    else:
        assert b"recorded sample inputs are dropped" in done.stderr
        with pytest.raises(Exception, match="7"):  # the loaded module holds its inputs to the new size
            torch.export.load(tmp_path / "other.pt2").module()(randn(3, 5, 16))


def test_a_size_that_export_wrote_into_the_program_is_named(winze: Winze, tmp_path: Path) -> None:
    source = export(Attention().eval(), (randn(3, 6, 16),), tmp_path / "static.pt2")
    target = tmp_path / "other.pt2"
    done = winze("lower", source, "-o", target, "--passes", "infer-shapes", "--input", "x=f32[s0, 6, 16]", code=1)
    assert b"aten.view.default fixes s0 to 3" in done.stderr
    assert not target.exists()


class DataDependent(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.masked_select(x > 0).sum(), (x > 0).nonzero().sum(0)


class Vmapped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda row: row * row.sum())(x)


class Positions(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.sum(0) / x.shape[0], torch.arange(0, 3 * x.shape[0], 3)


class Cached(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        k = torch.cat([k, q], 2)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
        return nn.functional.scaled_dot_product_attention(q, k, k, mask)


@pytest.mark.parametrize("rows", [3, 9])
def test_what_depends_on_data_follows_the_size(winze: Winze, rows: int, tmp_path: Path) -> None:
    module = DataDependent()
    source = export(module, (randn(4, 3),), tmp_path / "static.pt2")
    for size in ("s0", str(rows)):
        lowered = winze.lower(
            source, tmp_path / "other.pt2", "--passes", "infer-shapes", "--input", f"x=f32[{size}, 3]"
        )
        check(winze, lowered, (randn(rows, 3, seed=1),), module)


@pytest.mark.parametrize(
    ("make", "example", "option", "words"),
    [
        (Vmapped, (randn(4, 3),), "x=f32[s0, 3]", "_add_batch_dim fixes s0 to 4"),
        (Cached, (randn(1, 2, 3, 4), randn(1, 2, 5, 4)), "k=f32[1, 2, s0, 4]", "fixes s0 to 5"),
    ],
)
def test_a_number_that_only_the_kernels_would_find_is_named(
    winze: Winze, make: Callable[[], nn.Module], example: Any, option: str, words: str, tmp_path: Path
) -> None:
    source = export(make(), example, tmp_path / "static.pt2")
    done = winze("lower", source, "-o", "-", "--passes", "infer-shapes", "--input", option, code=1)
    assert words in done.stderr.decode()


def test_numbers_that_nothing_contradicts_are_warned_of(winze: Winze, tmp_path: Path) -> None:
    source = export(Positions(), (randn(6, 3),), tmp_path / "static.pt2")
    done = winze("lower", source, "-o", "-", "--passes", "infer-shapes", "--input", "x=f32[s0, 3]")
    warned = done.stderr.decode()
    assert "a size was 6, and %div = aten.div.Tensor(%sum_1, 6)" in warned
    assert "a size was 6, and %arange = aten.arange" in warned


def test_stopping_within_the_pass_leaves_the_program_as_it_was(winze: Winze, tmp_path: Path) -> None:
    source = export(Mlp().eval(), (randn(4, 3, 8),), tmp_path / "static.pt2")
    target = tmp_path / "half.pt2"
    options = ("--passes", "infer-shapes", "--input", "x=f32[s0, 3, 8]", "--stop-after-edits", "3")
    done = winze("lower", source, "-o", target, "-v", *options)
    assert b"none is made" in done.stderr
    assert winze("diff", source, target).stdout == b""


def dynamic_models() -> list[Any]:
    index = MODELS_DIR / "index.json"
    if not index.exists():
        return []
    return [
        pytest.param(model["name"], id=model["name"])
        for model in json.loads(index.read_text())["models"]
        if "error" not in model and "dynamic" in model["tags"] and not model["random"]
    ]


@pytest.mark.parametrize("name", dynamic_models())
def test_a_real_dynamic_program_is_made_for_the_sizes_of_a_call(winze: Winze, name: str, tmp_path: Path) -> None:
    """Each recorded call of another size than the example's, through the program made for just that size."""
    source = MODELS_DIR / f"{name}.pt2"
    text = winze("lower", source, "-o", "-", "--passes", "").stdout.decode()
    inputs = re.findall(r"%(\w+): input (\w+)\[", text)
    with zipfile.ZipFile(MODELS_DIR / f"{name}.npz") as archive:
        cases = json.loads(archive.read("manifest.json"))["cases"]
        arrays = {
            value["npy"]: np.lib.format.read_array(io.BytesIO(archive.read(value["npy"])), allow_pickle=False)
            for case in cases
            for value in [*case["inputs"], *case["outputs"]]
            if value["kind"] == "tensor"
        }
    for number, case in enumerate(cases[1:]):
        given = list(case["inputs"])
        if len(given) != len(inputs) or any(value["kind"] != "tensor" for value in given):
            pytest.skip("it takes more than tensors")
        options = []
        for (input_name, dtype), value in zip(inputs, given, strict=True):
            options += ["--input", f"{input_name}={dtype}{value['shape']}"]
        target = tmp_path / f"{number}.pt2"
        winze("lower", source, "-o", target, "--passes", "infer-shapes,fold-shape-computation,default", *options)
        assert "symbol s" not in winze("print", target).stdout.decode()
        named: dict[str, Any] = {f"arr_{i}": arrays[value["npy"]] for i, value in enumerate(given)}
        np.savez(tmp_path / "in.npz", **named)
        winze("run", target, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
        for want, give in zip(case["outputs"], outputs_of(tmp_path / "out.npz"), strict=True):
            expected = arrays[want["npy"]] if want["kind"] == "tensor" else np.asarray(want["value"])
            np.testing.assert_allclose(give.reshape(expected.shape), expected, rtol=1e-3, atol=1e-4)
        with torch.no_grad():
            torch.export.load(target)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sym", "s9=7"), 'the program has no symbol "s9"'),
        (("--sym", "s0"), '"s0" says nothing about a size'),
        (("--sym", "s0=many"), '"many" is neither a number nor a range'),
        (("--sym", "s0=[9,2]"), "the range is empty"),
        (("--sym", "s0=7", "--input", "x=f32[8, 3]"), "s0 cannot be both"),
        (("--sym", "s0=7", "--sym", "s0=[2,9]"), "s0 cannot get a range: it becomes 7"),
        (("--input", "y=f32[2]"), 'the program has no input "y"'),
        (("--input", "n=f32[2]"), 'input "n" is no tensor'),
        (("--input", "x=f32[u3, 3]"), "cannot be u3, which names what depends on data"),
        (("--input", "x=f32[s0, 3"), "the sizes of a type do not end"),
        (("--input", "x=int"), 'input "x" is a tensor, and cannot become "int"'),
        (("--input", "z=f32[7]"), "which 7 does not give a value"),
        (("--input", "x=f32[s0, 3, 1]"), "aten.mm.default refuses its arguments"),
        (("--sym", "s1=3"), "s1 cannot become 3: it is the number that input"),
        (("--sym", "s0=[2,1000]"), "aten.add.Tensor needs"),
    ],
)
def test_what_cannot_be_done_is_said(winze: Winze, options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    (tmp_path / "program.wz").write_text(
        """\
symbol s0 in [2, 64] hint 4
symbol s1 in [2, 64] hint 5
graph forward(%x: input f32[s0, 3], %z: input f32[2*s0], %n: input int = s1) {
  %w = aten.ones.default([3, 2]) : f32[3, 2]
  %y = aten.mm.default(%x, %w) : f32[s0, 2]
  %table = aten.zeros.default([64, 2]) : f32[64, 2]
  %m = aten.sym_size.int(%x, 0) : int = s0
  %rows = aten.slice.Tensor(%table, 0, 0, %m) : f32[s0, 2]
  %sum = aten.add.Tensor(%y, %rows) : f32[s0, 2]
  return output %sum, output %z, output %n
}
"""
    )
    done = winze("lower", tmp_path / "program.wz", "-o", "-", "--passes", "infer-shapes", *options, code=1)
    assert words in done.stderr.decode()


def test_what_goes_beyond_the_exported_range_is_a_warning(winze: Winze, tmp_path: Path) -> None:
    (tmp_path / "program.wz").write_text(
        "symbol s0 in [2, 64]\n"
        "graph forward(%x: input f32[s0], %y: input f32[8, 3]) {\n"
        "  %a = aten.relu.default(%x) : f32[s0]\n"
        "  %b = aten.slice.Tensor(%y, 0, 0, 8) : f32[8, 3]\n"
        "  return output %a, output %b\n}\n"
    )
    options = ("--sym", "s0=100", "--input", "y=f32[s1, 3]")
    done = winze("lower", tmp_path / "program.wz", "-o", "-", "--passes", "infer-shapes", *options)
    assert b"s0 becomes 100, and was exported within [2, 64]" in done.stderr
    assert b"takes 8 elements, of s1 now and of 8 before" in done.stderr
    assert b"%b = aten.slice.Tensor(%y, start=0, end=8) : f32[Min(8, s1), 3]" in done.stdout


GUARDED = """\
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 3]) {
  %a = aten.relu.default(%x) : f32[s0, 3]
  return output %a
}
guard "L['x'].size()[1] == 3"
guard "L['x'].size()[0] != 5"
guard "L['x'].size()[0]*L['x'].size()[1] >= 2"
"""


def test_guards_follow(winze: Winze, tmp_path: Path) -> None:
    (tmp_path / "program.wz").write_text(GUARDED)
    lower = ("lower", tmp_path / "program.wz", "-o", "-", "--passes", "infer-shapes")
    text = winze(*lower, "--input", "x=f32[s0, 4]").stdout.decode()
    assert "== 3" not in text  # it said no more than what the example had
    assert "!= 5" in text
    assert ">= 2" in text
    done = winze(*lower, "--sym", "s0=5", code=1)
    assert b"which the new sizes contradict" in done.stderr
    assert b"!= 5" in done.stderr


def test_sizes_without_the_pass_are_wrong_usage(winze: Winze, own_programs: Path) -> None:
    done = winze("lower", own_programs / "mlp.pt2", "-o", "-", "--sym", "s0=7", code=2)
    assert b"put it first: --passes infer-shapes,default" in done.stderr
