# SPDX-License-Identifier: Apache-2.0
"""What was lowered can be taken apart into modules again (`torch.export.unflatten`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from built_command import Winze
from torch import nn


class Clone(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone()


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor, *, by: float = 1.0) -> dict[str, torch.Tensor]:
        return {"y": self.lin(x) * by, "x": x}


class Clones(nn.Module):
    """The second clone is all that a module does; the linear is computed twice."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.a = Clone()
        self.b = Clone()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(self.a(self.lin(x))) + self.lin(x)


class CalledTwice(nn.Module):
    """Equal computations within and outside of equal calls."""

    def __init__(self) -> None:
        super().__init__()
        self.a = Scale()
        self.b = Scale()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = self.a(x, by=2.0)["y"]
        again = self.a(x, by=2.0)["y"]
        return self.b(first)["y"] + self.b(again)["y"], x.sin() + first, x.sin()


class Unused(nn.Module):
    """Nobody uses what a module computes."""

    def __init__(self) -> None:
        super().__init__()
        self.a = Scale()
        self.b = Scale()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.a(x)
        return self.b(x)["y"]


class Detaches(nn.Module):
    """All that a module does goes away, and an input is returned as it came."""

    def __init__(self) -> None:
        super().__init__()
        self.a = Scale()
        self.b = type("Detach", (nn.Module,), {"forward": lambda self, x: x.detach()})()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.b(self.a(x)["y"]) + 1, x


class Returned(nn.Module):
    """No call at all, until a pass copies what is returned."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def lowered(winze: Winze, folder: Path, model: nn.Module, preserve: Sequence[str], passes: str) -> tuple[Any, bytes]:
    program = torch.export.export(
        model,
        (torch.ones(2, 3),),
        dynamic_shapes=({0: torch.export.Dim.AUTO},),
        preserve_module_call_signature=tuple(preserve),
    )
    torch.export.save(program, folder / "in.pt2")
    done = winze("lower", "in.pt2", "-o", "out.pt2", "--passes", passes, cwd=folder)
    return torch.export.load(folder / "out.pt2"), done.stderr


class Sizes(nn.Module):
    """Sizes that are computed between the calls of modules, and are dynamic."""

    def __init__(self) -> None:
        super().__init__()
        self.a = Scale()
        self.b = Clone()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.a(x)["y"] * x.shape[0]
        return self.b(y.view(x.shape[0] * 3)), x, x.shape[0] + y


ALL = "inference, remove-assert-nodes, repair-input-as-output{views}"


@pytest.mark.parametrize("passes", ["", "default", ALL, "repair-input-as-output", "common-subexpressions"])
@pytest.mark.parametrize(
    ("model", "preserve"),
    [
        (Clones, ()),
        (Clones, ("lin", "a", "b")),
        (CalledTwice, ("a", "b")),
        (CalledTwice, ("a.lin",)),
        (Unused, ("a", "b")),
        (Detaches, ("a", "b")),
        (Sizes, ("a", "b")),
        (Returned, ()),
    ],
)
def test_modules_compute_the_same(
    winze: Winze, tmp_path: Path, model: type[nn.Module], preserve: Sequence[str], passes: str
) -> None:
    module = model()
    program, _ = lowered(winze, tmp_path, module, preserve, passes)
    unflattened = torch.export.unflatten(program)
    for seed in (0, 1):
        x = torch.randn(2, 3, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(unflattened(x), module(x))


def test_signatures_stay_where_passes_can_keep_them(winze: Winze, tmp_path: Path) -> None:
    for model, preserve in ((Clones, ("lin", "a", "b")), (CalledTwice, ("a", "b")), (Sizes, ("a", "b"))):
        program, said = lowered(winze, tmp_path, model(), preserve, "default")
        assert said == b""
        kept = {entry.fqn for entry in program.module_call_graph if entry.signature is not None}
        assert kept.issuperset(preserve)


def test_a_signature_that_goes_is_named(winze: Winze, tmp_path: Path) -> None:
    program, said = lowered(winze, tmp_path, Detaches(), ("a", "b"), "remove-detach")
    assert b'remove-detach: warning: the preserved signature of module "b" is dropped' in said
    kept = {entry.fqn for entry in program.module_call_graph if entry.signature is not None}
    assert "a" in kept
    assert "b" not in kept
