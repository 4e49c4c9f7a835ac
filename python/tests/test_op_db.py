# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of operators and modules through the backend, forward and backward, against eager mode.

The wheel has the databases that PyTorch's tests draw on (``torch.testing._internal``), not the tests. A sample counts
as PyTorch's own limit where ``backend="aot_eager"`` fails or departs too. The default run takes every 24th operator and
its first sample; ``WINZE_OP_DB=all`` takes every operator, ``WINZE_OP_DB=name,name`` these, and
``WINZE_OP_DB_SAMPLES=6`` more samples of each.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

common_utils = pytest.importorskip("torch.testing._internal.common_utils")

CHOSEN = os.environ.get("WINZE_OP_DB", "")
SAMPLES = int(os.environ.get("WINZE_OP_DB_SAMPLES", "1"))
EVERY = 24
# What they return is not given by their arguments.
UNDEFINED = ("empty", "new_empty", "empty_strided", "empty_permuted", "new_empty_strided", "empty_like", "geqrf")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AOTAutograd writes a graph that it cannot partition into the working directory."""
    monkeypatch.chdir(tmp_path)


def databases() -> Iterator[tuple[str, Any]]:
    from torch.testing._internal.autograd_function_db import autograd_function_db
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.custom_op_db import custom_op_db
    from torch.testing._internal.hop_db import hop_db

    for database in (op_db, custom_op_db, hop_db, autograd_function_db):
        for op in database:
            yield f"{op.name}.{op.variant_test_name}".rstrip("."), op


def modules() -> Iterator[tuple[str, Any]]:
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        yield info.name, info


def chosen(named: Iterator[tuple[str, Any]]) -> Iterator[Any]:
    names = CHOSEN.split(",")
    for index, (name, op) in enumerate(named):
        if op.name in UNDEFINED:
            continue
        if name in names or CHOSEN == "all" or (not CHOSEN and index % EVERY == 0):
            yield pytest.param(op, id=name)


def dtype_of(op: Any) -> torch.dtype | None:
    for dtype in (torch.float32, torch.complex64, torch.int64, torch.bool):
        if op.supports_dtype(dtype, "cpu"):
            return dtype
    return None


def samples_of(op: Any, dtype: torch.dtype) -> list[Any]:
    wants_grad = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    torch.manual_seed(1)
    # `op.sample_inputs` walks the call stack for each sample; see `op_samples.sample_inputs_of`.
    samples = op.sample_inputs_func(op, "cpu", dtype, wants_grad)
    return [sample for _, sample in zip(range(SAMPLES), samples, strict=False)]


def fresh(value: Any) -> Any:
    """Copies of the tensors, as leaves; layouts and views as they are."""

    def one(given: Any) -> Any:
        if not isinstance(given, torch.Tensor):
            return given
        return given.detach().clone().requires_grad_(given.requires_grad)

    return tree_map(one, value)


def outcome(op: Any, sample: Any, backend: str | None) -> list[Any]:
    """Results, gradients, and what the inputs hold afterwards."""

    def call(given: Any, args: Any, kwargs: Any) -> Any:
        return op.op(given, *args, **kwargs)

    return run_both_ways(call, fresh((sample.input, sample.args, sample.kwargs)), backend)


def module_outcome(info: Any, sample: Any, backend: str | None) -> list[Any]:
    """The same for a module; its parameters and buffers count as inputs."""
    torch.manual_seed(4)
    made, given = sample.constructor_input, sample.forward_input
    module = info.module_cls(*made.args, **made.kwargs)

    def call(args: Any, kwargs: Any, parameters: Any, buffers: Any) -> Any:
        return module(*args, **kwargs)

    state = list(module.parameters()), list(module.buffers())
    return run_both_ways(call, (*fresh((given.args, given.kwargs)), *state), backend)


def run_both_ways(call: Any, inputs: Any, backend: str | None) -> list[Any]:
    torch._dynamo.reset()
    run = torch.compile(call, backend=backend) if backend else call
    torch.manual_seed(5)
    results = tree_leaves(run(*inputs))
    leaves = [one for one in tree_leaves(inputs) if isinstance(one, torch.Tensor)]
    wanted = [one for one in leaves if one.requires_grad]
    with_grad = [one for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
    gradients: tuple[Any, ...] = ()
    if wanted and with_grad:
        torch.manual_seed(6)
        ones = [torch.ones_like(one) for one in with_grad]
        gradients = torch.autograd.grad(with_grad, wanted, ones, allow_unused=True)
    return [*results, *gradients, *leaves]


def difference(outcome_of: Any, op: Any, sample: Any, backend: str, expected: list[Any]) -> str | None:
    try:
        torch.testing.assert_close(outcome_of(op, sample, backend), expected, equal_nan=True, check_stride=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def compare(outcome_of: Any, op: Any, samples: list[Any]) -> None:
    theirs = []
    for sample in samples:
        try:
            expected = outcome_of(op, sample, None)
        except Exception as error:  # some samples are meant to fail
            theirs.append(f"eager fails too: {error}")
            continue
        found = difference(outcome_of, op, sample, "winze", expected)
        if found is None:
            continue
        limit = difference(outcome_of, op, sample, "aot_eager", expected)
        assert limit is not None, f"{sample}\n{found}"
        theirs.append(f"aot_eager fails too: {limit}")
    if theirs and len(theirs) == len(samples):
        pytest.skip(" ".join(theirs[0].split())[:170])


@pytest.mark.parametrize("op", chosen(databases()))
def test_operator(op: Any) -> None:
    warnings.simplefilter("ignore")
    dtype = dtype_of(op)
    if dtype is None:
        pytest.skip("no dtype for the CPU")
    compare(outcome, op, samples_of(op, dtype))


@pytest.mark.parametrize("info", chosen(modules()))
def test_module(info: Any) -> None:
    warnings.simplefilter("ignore")
    samples = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)
    compare(module_outcome, info, samples[:SAMPLES])
