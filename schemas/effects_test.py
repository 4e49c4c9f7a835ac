# SPDX-License-Identifier: Apache-2.0
"""Compares the effects of every operator, as the C++ table has them, with what PyTorch really does.

Runs PyTorch's own operator samples (`op_db`), and some of its own, one dispatched operator at a time, once as
export sees them (composite operators whole) and once below autograd, and watches storages: who was written, which
result shares storage with which argument, whose metadata changed, what differs from run to run, and which shapes
and numbers depend on data. Needs torch and a build (`WINZE_BUILD_DIR`, by default `build`). Of each operator's samples
only one is run unless `WINZE_EFFECT_SAMPLES` says how many.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's operator samples need it")

import torch
from effects_samples import FURTHER, MISLEADING
from op_samples import sample_inputs_of
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

# One finds nearly all that twelve find, in a minute or two.
SAMPLES_PER_OPERATOR = int(os.environ.get("WINZE_EFFECT_SAMPLES", "1"))
LARGEST_STORAGE = 1 << 20

Facts = dict[str, Any]


def load_facts() -> dict[str, Facts]:
    """What the C++ table says, by qualified name."""
    root = Path(__file__).parent.parent
    build = root / os.environ.get("WINZE_BUILD_DIR", "build")
    driver = build / "bin" / "winze_schema_driver"
    if not driver.exists():
        pytest.skip(f"{driver} is not built", allow_module_level=True)
    text = subprocess.run([driver], check=True, capture_output=True, text=True).stdout
    return {facts["name"]: facts for facts in map(json.loads, text.splitlines())}


FACTS = load_facts()
checked: set[str] = set()  # the operators that the running test has checked a call of


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every strided tensor in an argument or result."""
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided]


def storage_of(tensor: torch.Tensor) -> int:
    """The identity of a tensor's storage; 0 for one without bytes, which shares with nobody."""
    storage = tensor.untyped_storage()
    return storage._cdata if storage.nbytes() > 0 else 0


def contents_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of all the bytes of a tensor's storage."""
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage).clone()


def shape_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What set_, resize_ and in-place views change."""
    return (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())


def bind(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, with defaults."""
    bound = {}
    for position, argument in enumerate(func._schema.arguments):
        if argument.name in kwargs:
            bound[argument.name] = kwargs[argument.name]
        elif position < len(args):
            bound[argument.name] = args[position]
        elif argument.has_default_value():
            bound[argument.name] = argument.default_value
    return bound


def holds(condition: dict[str, str] | None, bound: dict[str, Any]) -> bool:
    """Does an effect's condition hold for this call?"""
    if condition is None:
        return True
    value = bound.get(condition["argument"])
    if condition["test"] == "is_not_false" and value is None:
        return True
    return bool(value)


class CallChecker:
    """Checks one call of one operator against its facts."""

    def __init__(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.name = f"{func.namespace}.{func._schema.name.partition('::')[2]}.{func._overloadname}"
        self.facts = FACTS.get(self.name)
        self.bound = bind(func, args, kwargs)
        self.findings: list[str] = []

    def find(self, text: str) -> None:
        """Notes something that differs."""
        self.findings.append(f"{self.name}: {text}")

    def run(self) -> Any:
        """Calls the operator; gives its result."""
        if self.facts is None or self.facts["is_unknown"]:
            return self.func(*self.args, **self.kwargs)
        checked.add(self.name)
        arguments = {name: tensors_in(value) for name, value in self.bound.items()}
        before = {name: [(t, storage_of(t), contents_of(t), shape_of(t)) for t in ts] for name, ts in arguments.items()}
        again = self.clone_arguments()
        result = self.func(*self.args, **self.kwargs)
        self.check_writes(before)
        self.check_metadata(before)
        self.check_aliases(result, before)
        if not any(name_is_in_place(write) for write in self.facts["writes"]):
            self.check_random(result, again)
            self.check_data_dependence(again)
        return result

    def clone_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments for a second call."""
        with torch.no_grad():
            args, kwargs = tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), (self.args, self.kwargs))
            return args, kwargs

    def check_writes(self, before: dict[str, list[Any]]) -> None:
        """Only what the table says may have been written."""
        assert self.facts
        allowed = {write["argument"] for write in self.facts["writes"] if holds(write["when"], self.bound)}
        allowed_storages = {storage for name in allowed for _, storage, _, _ in before.get(name, [])}
        for name, tensors in before.items():
            for tensor, storage, contents, _ in tensors:
                if name in allowed or storage in allowed_storages or storage_of(tensor) != storage:
                    continue
                if not torch.equal(contents, contents_of(tensor)):
                    self.find(f"wrote `{name}`")

    def check_metadata(self, before: dict[str, list[Any]]) -> None:
        """Only what the table says may have changed its shape or storage."""
        assert self.facts
        for name, tensors in before.items():
            for tensor, storage, _, shape in tensors:
                is_out = "out" in [str(tag).rpartition(".")[2] for tag in self.func.tags]
                if is_out:  # out variants resize what does not fit, which programs do not rely on
                    continue
                if shape_of(tensor) != shape and not self.facts["changes_metadata"]:
                    self.find(f"changed the metadata of `{name}`")
                if storage_of(tensor) != storage and not self.facts["rebinds_storage"]:
                    self.find(f"exchanged the storage of `{name}`")

    def check_aliases(self, result: Any, before: dict[str, list[Any]]) -> None:
        """Results share storage with what the table says, and views always."""
        assert self.facts
        results = result if isinstance(result, tuple) and len(self.func._schema.returns) > 1 else (result,)
        seen: dict[int, int] = {}
        for position, value in enumerate(results):
            for tensor in tensors_in(value):
                storage = storage_of(tensor)
                if storage == 0:
                    continue
                self.check_alias(position, tensor, storage, before)
                arguments = {s for tensors in before.values() for _, s, _, _ in tensors}
                if seen.setdefault(storage, id(tensor)) != id(tensor) and storage not in arguments:
                    aliases = [alias for alias in self.facts["aliases"] if alias["result"] == position]
                    if not self.facts["results_overlap"] and not aliases:
                        self.find("results share storage with each other")

    def check_alias(self, position: int, tensor: torch.Tensor, storage: int, before: dict[str, list[Any]]) -> None:
        """One result tensor."""
        assert self.facts
        declared = {alias["argument"]: alias["kind"] for alias in self.facts["aliases"] if alias["result"] == position}
        declared_storages = {s for name in declared for _, s, _, _ in before.get(name, [])}
        for name, tensors in before.items():
            shares = any(s == storage for _, s, _, _ in tensors)
            if shares and name not in declared and storage not in declared_storages:
                self.find(f"result {position} shares storage with `{name}`")
            kind = declared.get(name)
            if tensors and not shares and kind == "view" and not self.facts["changes_metadata"]:
                self.find(f"result {position} is no view of `{name}`")
            if kind == "self" and len(tensors) == 1 and tensor is not tensors[0][0]:
                self.find(f"result {position} is not `{name}` itself")

    def check_random(self, result: Any, again: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
        """A second call gives the same, unless the table says that it draws."""
        assert self.facts
        if self.facts["is_uninitialized"] or (self.facts["is_random"] and holds(self.facts["random_when"], self.bound)):
            return
        args, kwargs = tree_map_only(torch.Tensor, torch.clone, again)
        second = self.func(*args, **kwargs)
        for a, b in zip(tensors_in(result), tensors_in(second), strict=False):
            if not torch.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True) if a.shape == b.shape else True:
                self.find("differs from run to run")
                return

    def check_data_dependence(self, again: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
        """Without data, only what the table says depends on data fails."""
        assert self.facts
        if self.facts["is_data_dependent"] or self.facts["has_dynamic_shape"]:
            return
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, again)
            try:
                self.func(*args, **kwargs)
            except (DataDependentOutputException, DynamicOutputShapeException) as error:
                self.find(f"depends on data: {error}")
            except Exception:  # fake tensors lack many operators: the question stays open
                pass


def name_is_in_place(write: dict[str, Any]) -> bool:
    """Running it twice on clones would say nothing new."""
    return write["when"] is None


class CheckingMode(TorchDispatchMode):
    """Checks every operator that is dispatched below autograd."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__()
        self.findings = findings

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not is_checkable(func, args, kwargs):
            return func(*args, **kwargs)
        checker = CallChecker(func, args, kwargs)
        result = checker.run()
        self.findings += checker.findings
        return result


class CheckingInterpreter(torch.fx.Interpreter):
    """Checks every operator of a graph as export records it."""

    def __init__(self, module: torch.fx.GraphModule, findings: list[str]) -> None:
        super().__init__(module)
        self.findings = findings

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Runs one node."""
        if not is_checkable(target, args, kwargs):
            return super().call_function(target, args, kwargs)
        checker = CallChecker(target, args, kwargs)
        result = checker.run()
        self.findings += checker.findings
        return result


def is_checkable(func: Any, args: Any, kwargs: Any) -> bool:
    """Plain tensors of a moderate size only."""
    if not isinstance(func, OpOverload):
        return False
    leaves = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
    return all(
        leaf.layout == torch.strided and not leaf.is_quantized and leaf.untyped_storage().nbytes() < LARGEST_STORAGE
        for leaf in leaves
    )


def findings_of(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> list[str]:
    """All that differs from the table when `function` runs, as export sees it and below autograd."""
    findings: list[str] = []
    tensors, spec = tree_flatten((args, kwargs))
    where = [i for i, leaf in enumerate(tensors) if isinstance(leaf, torch.Tensor)]

    def flat(*inputs: torch.Tensor) -> Any:
        leaves = list(tensors)
        for i, value in zip(where, inputs, strict=True):
            leaves[i] = value
        call_args, call_kwargs = torch.utils._pytree.tree_unflatten(leaves, spec)
        return function(*call_args, **call_kwargs)

    inputs = [tensors[i].detach() for i in where]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):
            graph = make_fx(flat, pre_dispatch=True)(*[t.clone() for t in inputs])
            CheckingInterpreter(graph, findings).run(*[t.clone() for t in inputs])
        with contextlib.suppress(Exception), CheckingMode(findings):
            flat(*[t.clone() for t in inputs])
    return list(dict.fromkeys(findings))


def variants_of(info: Any) -> Iterator[Callable[..., Any]]:
    """The function and its in-place form."""
    yield info.op
    if info.inplace_variant is not None:
        yield info.inplace_variant


def name_of(info: Any) -> str:
    """A test id."""
    return f"{info.name}.{info.variant_test_name}".removesuffix(".")


@pytest.mark.parametrize("info", op_db, ids=name_of)
def test_samples(info: Any) -> None:
    """PyTorch's own samples."""
    dtypes = info.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool, torch.complex64) if d in dtypes), None)
    if dtype is None:
        pytest.skip("no samples on the processor")
    findings: list[str] = []
    checked.clear()
    samples = sample_inputs_of(info, dtype)
    step = max(1, len(samples) // SAMPLES_PER_OPERATOR)
    for sample in samples[::step][:SAMPLES_PER_OPERATOR]:
        for variant in variants_of(info):
            findings += findings_of(variant, [sample.input, *sample.args], sample.kwargs)
    if not checked:
        pytest.skip("none of its operators could be checked")
    assert not findings, "\n".join(dict.fromkeys(findings))


@pytest.mark.parametrize("name", [*MISLEADING, *FURTHER])
def test_own_samples(name: str) -> None:
    """The table is right where schemas mislead."""
    func, args, kwargs = (MISLEADING | FURTHER)[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker = CallChecker(func, args, kwargs)
        assert checker.facts is not None
        checker.run()
    assert not checker.findings


def schema_facts(func: OpOverload) -> Facts:
    """What the schema and the tags alone say, in the crudest reading."""
    schema = func._schema
    tags = {str(tag).rpartition(".")[2] for tag in func.tags}
    writes = [{"argument": a.name, "when": None} for a in schema.arguments if a.alias_info and a.alias_info.is_write]
    aliases = []
    for position, result in enumerate(schema.returns):
        for argument in schema.arguments:
            if not result.alias_info or not argument.alias_info:
                continue
            if result.alias_info.before_set & (argument.alias_info.before_set | argument.alias_info.after_set):
                kind = "self" if result.alias_info.is_write else "view"
                aliases.append({"result": position, "argument": argument.name, "kind": kind})
    return {
        "writes": writes,
        "aliases": aliases,
        "is_random": "nondeterministic_seeded" in tags,
        "random_when": None,
        "is_data_dependent": "data_dependent_output" in tags,
        "has_dynamic_shape": "dynamic_output_shape" in tags,
        "changes_metadata": "inplace_view" in tags,
        "rebinds_storage": False,
        "is_uninitialized": False,
        "results_overlap": False,
        "is_unknown": False,
    }


@pytest.mark.parametrize("name", MISLEADING)
def test_rows_are_needed(name: str) -> None:
    """Without its row in the table, each of these is misjudged: rows that PyTorch made needless are found here."""
    func, args, kwargs = MISLEADING[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker = CallChecker(func, args, kwargs)
        checker.facts = schema_facts(func)
        checker.run()
    assert checker.findings
