# SPDX-License-Identifier: Apache-2.0
"""`winze run` beside PyTorch: programs exported here, of what the recorded ones have little of."""

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree
from built_command import BUILD_DIR, Winze
from test_run import Calls
from torch._higher_order_ops.associative_scan import associative_scan, associative_scan_op
from torch._higher_order_ops.map import map as hop_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

pytestmark = pytest.mark.skipif(not (BUILD_DIR / "lib" / "libwinze_torch.so").exists(), reason="built without libtorch")

Function = Callable[..., Any]


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


# In the combine mode "generic" export leaves the slices of a tree of combinations, and no call of the operator; in the
# mode "pointwise" it makes one, but not on a CPU. So the operator is called as that mode does.
def scan_of_sums(x: torch.Tensor) -> Any:
    return associative_scan_op(lambda a, b: [a + b], [x], ())


def scan_of_pairs(a: torch.Tensor, b: torch.Tensor) -> Any:
    """y[i] = a[i] * y[i - 1] + b[i]."""
    return associative_scan_op(lambda a1, b1, a2, b2: [a1 * a2, b1 * a2 + b2], [a, b], ())


def scan_of_matrices(x: torch.Tensor, k: torch.Tensor) -> Any:
    return associative_scan_op(lambda a, b, k: [(a @ b) * k], [x], (k,))


def scan_inlined(x: torch.Tensor) -> Any:
    return associative_scan(torch.maximum, x, dim=1, reverse=True, combine_mode="generic")


def scan_in_map_in_cond(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() < 0, lambda x: x * 2, lambda x: hop_map(lambda rows: scan_of_sums(rows)[0], x), (x,))


def cond_in_scan(c: torch.Tensor, x: torch.Tensor) -> Any:
    def step(c: torch.Tensor, x: torch.Tensor) -> Any:
        y = torch.cond(c.sum() > 0, lambda c, x: (c + x).cos(), lambda c, x: (c - x).sin(), (c, x))
        return y, c * 2

    return scan(step, c, x, dim=0, reverse=True)


def map_in_cond(x: torch.Tensor, y: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x, y: hop_map(lambda a, b: a * b + 1, x, y), lambda x, y: x - y, (x, y))


def cond_in_while(n: torch.Tensor, x: torch.Tensor) -> Any:
    def body(n: torch.Tensor, x: torch.Tensor) -> Any:
        return n - 1, torch.cond(n % 2 == 0, lambda x: x * 1.5, lambda x: x - 0.25, (x,))

    return while_loop(lambda n, x: n > 0, body, (n, x))


def scan_in_map(x: torch.Tensor) -> Any:
    def one(rows: torch.Tensor) -> Any:
        total, products = scan(lambda c, v: (c + v, c * v), torch.zeros(3), rows, dim=0)
        return total + products.sum(0)

    return hop_map(one, x)


NESTED: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "scan_of_sums": (scan_of_sums, (randn(7, 5),)),
    "scan_of_pairs": (scan_of_pairs, (randn(7, 5), randn(7, 5))),
    "scan_of_matrices": (scan_of_matrices, (randn(6, 3, 3), torch.tensor(1.0))),
    "scan_inlined": (scan_inlined, (randn(4, 6, 3),)),
    "scan_in_map_in_cond": (scan_in_map_in_cond, (torch.ones(2, 5, 3),)),
    "cond_in_scan": (cond_in_scan, (randn(3), randn(6, 3))),
    "map_in_cond": (map_in_cond, (randn(4, 3), randn(3))),
    "cond_in_while": (cond_in_while, (torch.tensor(5), randn(3))),
    "scan_in_map": (scan_in_map, (randn(2, 5, 3),)),
}


class Call(torch.nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def export(function: Function, args: tuple[Any, ...], path: Path, dynamic_shapes: Any = None) -> list[Any]:
    """Exports into `path`, and returns what eager gives."""
    module = Call(function)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        shapes = None if dynamic_shapes is None else (dynamic_shapes,)
        torch.export.save(torch.export.export(module, copy.deepcopy(args), dynamic_shapes=shapes), path)
        return list(pytree.tree_leaves(module(*copy.deepcopy(args))))


def run(winze: Winze, program: Path, inputs: Any, tmp_path: Path) -> list[Any]:
    torch.save(inputs, tmp_path / "in.pt")
    winze("run", program, "--inputs", tmp_path / "in.pt", "-o", tmp_path / "out.npz")
    calls = Calls(tmp_path / "out.npz")
    return [calls.array(v) if v["kind"] == "tensor" else v.get("value") for v in calls.cases[0]["outputs"]]


def assert_equal(expected: list[Any], actual: list[Any]) -> None:
    assert len(expected) == len(actual)
    for want, give in zip(expected, actual, strict=True):
        if isinstance(want, torch.Tensor):
            assert tuple(want.shape) == give.shape
            assert np.allclose(want.numpy(), give, rtol=1e-5, atol=1e-6, equal_nan=True)
        else:
            assert want == give


@pytest.mark.parametrize("name", NESTED)
def test_control_flow_and_scans_inside_each_other(winze: Winze, name: str, tmp_path: Path) -> None:
    function, args = NESTED[name]
    path = tmp_path / "program.pt2"
    expected = export(function, args, path)
    assert_equal(expected, run(winze, path, args, tmp_path))
    done = winze("lower", path, "-o", tmp_path / "lowered.pt2", "--check=each")
    assert b"nothing was compared" not in done.stderr


def test_a_scan_over_a_dynamic_length(winze: Winze, tmp_path: Path) -> None:
    path = tmp_path / "program.pt2"
    export(scan_of_sums, (randn(5, 4),), path, ({0: Dim("n", min=2, max=32)},))
    for length in (2, 9):
        x = randn(length, 4)
        assert_equal([x.cumsum(0)], run(winze, path, (x,), tmp_path))


def test_inputs_that_share_storage_share_it_when_run(winze: Winze, tmp_path: Path) -> None:
    def write_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    path = tmp_path / "program.pt2"
    export(write_one, (randn(4), randn(4)), path)
    base = torch.arange(6.0)
    expected = write_one(x := base.clone()[:4], x.as_strided((4,), (1,), 2))
    given = base.clone()
    assert_equal([expected], run(winze, path, (given[:4], given[2:]), tmp_path))
    again = tmp_path / "again.npz"
    winze("run", path, "--inputs", tmp_path / "out.npz", "-o", again)  # what was recorded is repeated
    assert_equal([expected], [Calls(again).array(v) for v in Calls(again).cases[0]["outputs"]])
    twice = torch.arange(4.0)
    assert_equal([2 * (twice + 1)], run(winze, path, (twice, twice), tmp_path))


def test_stored_inputs_that_share_storage_are_told_apart_where_they_are_written(winze: Winze, tmp_path: Path) -> None:
    """torch.export takes such inputs not to share storage, and so may a pass."""

    def write_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y.clone() * 2

    path = tmp_path / "program.pt2"
    x = torch.arange(4.0)
    export(write_one, (x, x), path)
    done = winze("lower", path, "-o", tmp_path / "lowered.pt2", "--check")
    assert b"checked on numbers" in done.stderr


def test_primitives(winze: Winze, tmp_path: Path) -> None:
    """PyTorch implements them in Python alone; libtorch has none."""
    p = torch.ops.prims

    def views(x: torch.Tensor, _: torch.Tensor) -> Any:
        return [
            p.transpose(x, [1, 0]),
            p.broadcast_in_dim(x, [2, 3, 4, 5], [1, 2]),
            p.squeeze(x[None], [0]),
            p.collapse(x, 0, 1),
            p.collapse_view(x, 0, 1),
            p.split_dim(x, 1, 2),
            p.reshape(x, [2, 6]),
            p.rev(x, [0]),
            p.cat([x, x], 1),
            p.view_of(x) + 1,
            p.view_of_dtype(x, torch.int32),
            p.conj(torch.complex(x, x)).abs(),
        ]

    def factories(x: torch.Tensor, _: torch.Tensor) -> Any:
        of_floats = {"dtype": torch.float32, "device": torch.device("cpu"), "requires_grad": False}
        return [
            p.iota(5, **{**of_floats, "dtype": torch.int64}, start=2, step=3),
            p.full([2, 3], 2.5, **of_floats),
            p.full_like(x, 3, **of_floats),
            p.copy_to(p.empty_strided([3, 4], [1, 3], **of_floats), x),
            p.scalar_tensor(2.0, dtype=torch.float32, device=torch.device("cpu")),
            p.convert_element_type(x.t(), torch.int16),
            p.device_put(x, torch.device("cpu")),
        ]

    def elements(x: torch.Tensor, i: torch.Tensor) -> Any:
        return [
            p.where(x > 0, x, x * 2),
            *(p.div(i, i + 1), p.div(x, x + 10), p.pow(x.abs(), x), p.fma(x, x, x)),
            *(p.sin(x), p.erf_inv(x * 0.1), p.bessel_i0(x), p.zeta(x.abs() + 2, x.abs() + 1), p.fill(x, 2.0)),
            *(p.add(x, x), p.mul(x, 2.0), p.lt(x, x * 2), p.shift_left(i, i), p.maximum(x, x * 2)),
        ]

    def reductions(x: torch.Tensor, i: torch.Tensor) -> Any:
        spectrum = torch.complex(x, x)
        return [
            *(p.sum(x, [0]), p.sum(i, [0, 1]), p.prod(x, [0, 1]), p.prod(i, []), p.amax(x, [1]), p.amin(x, [0, 1])),
            *(p.var(x, [0], correction=1), p.var(x, [0, 1], correction=0)),
            p.fft_r2c(x, dim=[1], onesided=True),
            p.fft_c2c(spectrum, dim=[0], forward=True),
            p.fft_c2r(spectrum, dim=[1], last_dim_size=6),
        ]

    args = (randn(3, 4), torch.arange(12).view(3, 4) % 5)
    for function in (views, factories, elements, reductions):
        expected = export(function, args, tmp_path / "program.pt2")
        assert_equal(expected, run(winze, tmp_path / "program.pt2", args, tmp_path))


def test_a_program_decomposed_as_far_as_it_goes(winze: Winze, tmp_path: Path) -> None:
    module = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = randn(2, 3, 8)
    program = torch.export.export(module, (x,)).run_decompositions(torch._decomp.decomposition_table)
    torch.export.save(program, tmp_path / "program.pt2")
    winze("verify", tmp_path / "program.pt2")
    assert_equal([module(x).detach()], run(winze, tmp_path / "program.pt2", (x,), tmp_path))


def test_effects_of_a_call_with_keywords(winze: Winze, tmp_path: Path) -> None:
    x = torch.eye(3) * 2 + 0.1
    program = torch.export.export(Call(torch.linalg.inv), (x,)).run_decompositions()
    (call,) = program.graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects)
    assert call.kwargs
    torch.export.save(program, tmp_path / "program.pt2")
    assert_equal([torch.linalg.inv(x)], run(winze, tmp_path / "program.pt2", (x,), tmp_path))
