# SPDX-License-Identifier: Apache-2.0
"""Compares shape rules on symbolic sizes with PyTorch's own fake tensors.

The sizes of PyTorch's operator samples become symbols; what the rules say is evaluated at several draws, equal sizes, 0
and 1 among them, and has to be what fake tensors give there. By default a part of the samples;
`WINZE_SHAPE_SAMPLES=4` takes all operators. Needs torch and a build (`WINZE_BUILD_DIR`).
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's operator samples need it")

from op_samples import samples_of
from recorded_calls import Log, driver, record
from symbolic_calls import BACKED, UNBACKED, Symbols, evaluated, parse_type, symbolic_explanation, verdicts
from torch.testing._internal.common_methods_invocations import op_db

# By default every so many entries of `op_db`.
STRIDE = 1 if os.environ.get("WINZE_SHAPE_SAMPLES") else 64


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """Fake tensors log each call that fails, and draws are made to."""
    if not driver().exists():
        pytest.skip(f"{driver()} is not built")
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("symbols", [BACKED, UNBACKED], ids=["backed", "unbacked"])
@pytest.mark.parametrize("info", op_db[::STRIDE], ids=lambda info: f"{info.name}.{info.variant_test_name}".rstrip("."))
def test_symbolic_samples(info: Any, symbols: Symbols) -> None:
    """Inferred results, evaluated, are those of the fake tensor at the same sizes."""
    log = Log()
    for function, args, kwargs in samples_of(info, 1):
        record(log, function, args, kwargs)
    found = list(verdicts(log.calls.values(), symbols))
    wrong = [v for v in found if v.state == "different" and not symbolic_explanation(v)]
    assert not wrong, "\n".join(f"{v.call.call.name}({v.call.text}): {v.detail}" for v in wrong[:20])


def test_types_are_read() -> None:
    """Expressions with commas are one size each."""
    kind = parse_type("f32[s0, Max(1, u0)] strides [Max(1, u0), 1] offset [2*s0]")
    assert kind is not None
    assert kind.at({"s0": 3, "u0": 0}) == ("f32", (3, 1), (1, 1), 6)
    assert parse_type("i64[2, 3]").strides == ("(1)*Max(1, 3)", "1")  # type: ignore[union-attr]
    assert parse_type("f32[2] device cuda:0") is None


def test_expressions_are_evaluated() -> None:
    """As sympy prints them."""
    assert evaluated(["s0//2", "Mod(s0, 3)", "Max(1, s0) + Min(s0, 2)"], {"s0": 5}) == (2, 2, 7)
