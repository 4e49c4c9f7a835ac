# SPDX-License-Identifier: Apache-2.0
"""Shape rules of custom operators that are their fake implementations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import winze
import winze.torch as wt

SCHEMA = "shaperules::tile(Tensor x, int times, *, bool keep=False) -> Tensor"
TEXT = """\
symbol s0 in [2, 64] hint 4
graph forward(%x: input f32[s0, 3]) {
  %a = shaperules.tile(%x, 2) : f32[2*s0, 3]
  %b = shaperules.tile(%x, 2) : f32[2*s0, 3]
  %c = aten.relu.default(%b) : f32[2*s0, 3]
  return output %a, output %c
}
"""


class Calls:
    """How often the fake implementation was asked."""

    count = 0


@pytest.fixture(scope="module", autouse=True)
def operator() -> Iterator[None]:
    library = torch.library.Library("shaperules", "FRAGMENT")
    library.define(SCHEMA.removeprefix("shaperules::"))

    def tile(x: torch.Tensor, times: int, *, keep: bool = False) -> torch.Tensor:
        Calls.count += 1
        if x.dim() != 2:
            raise ValueError("tile wants a matrix")
        if keep and x.shape[0] > 8:  # decides by a size
            return x.clone()
        return x.new_empty(x.shape[0] * times, x.shape[1])

    torch.library.register_fake("shaperules::tile", tile, lib=library)
    yield
    library._destroy()


def program_of(text: str, folder: Path) -> winze.Program:
    (folder / "tile.schemas").write_text(SCHEMA + "\n")
    (folder / "tile.wz").write_text(text)
    program = winze.load(folder / "tile.wz", ops=[folder / "tile.schemas"])
    wt.use_fake_implementation(program, torch.ops.shaperules.tile.default)
    return program


def test_results_follow_for_other_sizes(tmp_path: Path) -> None:
    program = program_of(TEXT, tmp_path)
    program.lower('infer-shapes{input=["x=f32[s0, 5]"]}')
    assert "shaperules.tile.default(%x, 2) : f32[2*s0, 5]" in str(program)
    assert "aten.relu.default(%b) : f32[2*s0, 5]" in str(program)


def test_a_symbol_gets_a_value(tmp_path: Path) -> None:
    program = program_of(TEXT, tmp_path)
    program.lower('infer-shapes{sym=["s0=7"]}')
    assert "aten.relu.default(%b) : f32[14, 3]" in str(program)


def test_the_same_is_asked_once(tmp_path: Path) -> None:
    program = program_of(TEXT, tmp_path)
    before = Calls.count
    assert program.verify() == []
    assert program.verify() == []
    assert Calls.count == before + 1


def test_verify_compares_with_what_is_recorded(tmp_path: Path) -> None:
    program = program_of(TEXT.replace("tile(%x, 2) : f32[2*s0, 3]", "tile(%x, 3) : f32[2*s0, 3]", 1), tmp_path)
    assert "but shaperules.tile.default yields f32[3*s0, 3]" in "\n".join(program.verify())


def test_what_it_raises_refuses_the_call(tmp_path: Path) -> None:
    program = program_of(TEXT, tmp_path)
    with pytest.raises(winze.Error, match="refuses its arguments: tile wants a matrix"):
        program.lower('infer-shapes{input=["x=f32[s0, 3, 1]"]}')
    assert "%x: input f32[s0, 3]" in str(program)


def test_a_decision_by_a_size_is_not_followed(tmp_path: Path) -> None:
    program = program_of(TEXT.replace("(%x, 2)", "(%x, 2, keep=True)", 1), tmp_path)
    with pytest.raises(winze.Error, match="decides by a size"):
        program.lower('infer-shapes{input=["x=f32[s0, 5]"]}')
    program.lower('infer-shapes{sym=["s0=7"]}')  # of a number it can


def test_an_operator_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.wz").write_text("graph f(%x: input f32[2]) {\n  return output %x\n}\n")
    program = winze.load(tmp_path / "x.wz")
    with pytest.raises(winze.Error, match=r'does not know the schema of operator "shaperules.tile.default"'):
        wt.use_fake_implementation(program, torch.ops.shaperules.tile.default)
    for wrong in ("shaperules.tile", torch.ops.shaperules.tile):
        with pytest.raises(TypeError, match="an operator overload is wanted"):
            wt.use_fake_implementation(program, wrong)
