# SPDX-License-Identifier: Apache-2.0
"""Compares shape rules with PyTorch's own fake tensors.

Runs PyTorch's operator samples (`op_db`) in many layouts and dtypes under FakeTensorMode, and infers each recorded call
anew; and infers every call of the real programs beside the checkout. By default a part of the samples, in half a
minute; `WINZE_SHAPE_SAMPLES=4` runs four and more of every operator, in a few minutes. Needs torch and a build
(`WINZE_BUILD_DIR`). `scripts/shape_coverage.py` writes the counts to docs/coverage.md.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's operator samples need it")

from extra_samples import extra_samples
from model_calls import MODELS, model_files, states_of_model
from op_samples import differentiable_samples_of, error_samples_of, samples_of
from recorded_calls import Answer, Log, ask, driver, explanation, record, record_backward
from torch.testing._internal.common_methods_invocations import op_db

SAMPLES = int(os.environ.get("WINZE_SHAPE_SAMPLES", "0"))
# By default every so many entries, one sample each.
STRIDE = 1 if SAMPLES else 16


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """Fake tensors log each call that fails, and samples are made to."""
    if not driver().exists():
        pytest.skip(f"{driver()} is not built")
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


def show(answer: Answer) -> str:
    """One difference."""
    call = answer.call
    expected = "an error" if call.fails else ", ".join(call.types)
    return (
        f"{call.name}({call.text.format(*call.inputs)}): {expected}, but the rule gives {answer.state} {answer.detail}"
    )


def check(log: Log) -> None:
    """Every call that has a rule is answered as fake tensors do, or there is a reason."""
    answers = list(ask(list(log.calls.values())))
    wrong = [a for a in answers if not a.agrees and a.state not in ("no_rule", "not_inferable") and not explanation(a)]
    assert not wrong, "\n".join(show(answer) for answer in wrong[:20])


@pytest.mark.parametrize("info", op_db[::STRIDE], ids=lambda info: f"{info.name}.{info.variant_test_name}".rstrip("."))
def test_operator_samples(info: Any) -> None:
    """Inferred results are those of the fake tensor, for every call of an operator that has a rule."""
    log = Log()
    for function, args, kwargs in samples_of(info, max(SAMPLES, 1)):
        record(log, function, args, kwargs)
    for function, args, kwargs in differentiable_samples_of(info, max(SAMPLES // 2, 1)):
        record_backward(log, function, args, kwargs)
    if not log.calls:
        pytest.skip("no call could be recorded")
    check(log)


def test_error_inputs() -> None:
    """What PyTorch refuses is refused."""
    log = Log()
    for info in op_db[:: 1 if SAMPLES else 8]:
        for function, args, kwargs in error_samples_of(info):
            record(log, function, args, kwargs)
    check(log)


def test_extra_samples() -> None:
    """Operators that `op_db` does not call."""
    log = Log()
    for function, args, kwargs in extra_samples():
        record(log, function, args, kwargs)
    check(log)


@pytest.mark.skipif(not MODELS.exists(), reason="the real programs are not beside the checkout")
def test_models() -> None:
    """Inferred results are what export recorded, for every call of every program."""
    states: Counter[str] = Counter()
    wrong = []
    for path in model_files():
        for state, line in states_of_model(path):
            states[state] += 1
            if state in ("different", "unproven", "error"):
                wrong.append(f"{path.name}: {line}")
    assert states["equal"] > 1000
    assert not wrong, "\n".join(wrong[:20])
