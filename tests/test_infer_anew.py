# SPDX-License-Identifier: Apache-2.0
"""Programs that the shape rules know less of, or more, than export did when it recorded them: they stay as they are."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from built_command import Winze


@torch.library.custom_op("winze_anew::doubled", mutates_args={"x"})
def doubled(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return x + 1


@torch.library.custom_op("winze_anew::pair", mutates_args={"x"})
def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x.mul_(2)
    return x + 1, x.sum()


doubled.register_fake(torch.empty_like)
pair.register_fake(lambda x: (torch.empty_like(x), x.new_empty(())))


def sliced_then_made(x: torch.Tensor, count: torch.Tensor) -> Any:
    n = count.item()
    return x[:n] * 2, torch.zeros(n)  # that n is not negative is known from here on


def sliced_then_checked(x: torch.Tensor, count: torch.Tensor) -> Any:
    n = count.item()
    y = x[:n]
    torch._check(n >= 3)
    return y * 2


def sliced_from_then_checked(x: torch.Tensor, count: torch.Tensor) -> Any:
    n = count.item()
    y = x[n:]
    torch._check(n >= 0)
    torch._check(n <= 6)
    return y * 2


def sliced(x: torch.Tensor, count: torch.Tensor) -> Any:
    return x[: count.item()] * 2


def written_by_an_unknown_operator(x: torch.Tensor, count: torch.Tensor) -> Any:
    y = x.clone()
    return torch.ops.winze_anew.doubled(y), y


def written_by_an_unknown_operator_of_two_results(x: torch.Tensor, count: torch.Tensor) -> Any:
    y = x.clone()
    return (*torch.ops.winze_anew.pair(y), y)


CASES: list[Callable[..., Any]] = [
    sliced_then_made,
    sliced_then_checked,
    sliced_from_then_checked,
    sliced,
    written_by_an_unknown_operator,
    written_by_an_unknown_operator_of_two_results,
]


class Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


@pytest.mark.parametrize("is_decomposed", [False, True], ids=["", "decomposed"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_recorded_results_stay(winze: Winze, function: Callable[..., Any], is_decomposed: bool, tmp_path: Path) -> None:
    inputs = torch.arange(6.0), torch.tensor(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Module(function), inputs)
        if is_decomposed:
            program = program.run_decompositions({})
        torch.export.save(program, tmp_path / "program.pt2")
    winze("verify", tmp_path / "program.pt2")
    lowered = winze.lower(
        tmp_path / "program.pt2", tmp_path / "lowered.pt2", "--passes", "infer-shapes,default", "--verify-each"
    )
    torch.testing.assert_close(torch.export.load(lowered).module()(*inputs), function(*inputs))
