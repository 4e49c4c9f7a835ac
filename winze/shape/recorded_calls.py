# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch's fake tensors say of calls, and asks the shape rules of the same calls.

Runs functions under FakeTensorMode and notes every dispatched operator with its arguments and results: composite
operators whole, as export keeps them, and what they consist of. The calls are written as one program in Winze's text
form, which winze_shape_driver infers anew.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._dtype_abbrs import dtype_abbrs
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

ROOT = Path(__file__).resolve().parents[2]


class UnwritableError(Exception):
    """A call that the text form has no words for."""


def driver() -> Path:
    """The program that infers calls."""
    return ROOT / os.environ.get("WINZE_BUILD_DIR", "build") / "bin" / "winze_shape_driver"


def sizes_text(values: Iterable[Any]) -> str:
    """Sizes or strides as the text form writes them."""
    return f"[{', '.join(str(value) for value in values)}]"


def type_text(value: Any) -> str:
    """The type of a result or input."""
    if value is None:
        return "None"
    if not isinstance(value, torch.Tensor):
        raise UnwritableError(f"a result of type {type(value).__name__}")
    if value.layout != torch.strided or value.is_quantized or value.dtype not in dtype_abbrs:
        raise UnwritableError(f"a tensor of layout {value.layout} and dtype {value.dtype}")
    text = f"{dtype_abbrs[value.dtype]}{sizes_text(value.shape)} strides {sizes_text(value.stride())}"
    if value.storage_offset() != 0:
        text += f" offset [{value.storage_offset()}]"
    if value.device.type != "cpu":
        text += f" device {value.device}"
    return text


@dataclass
class Call:
    """One call: operator, arguments, results, as text with a place for each tensor argument."""

    name: str
    text: str  # arguments; tensors as %{n}
    inputs: tuple[str, ...]  # types of the tensor arguments
    results: str  # `[%{0}, %{1}]`, and so on
    types: tuple[str, ...]
    fails: bool = False


class Writer:
    """Writes the arguments of one call."""

    def __init__(self) -> None:
        self.inputs: list[str] = []

    def tensor(self, value: torch.Tensor) -> str:
        self.inputs.append(type_text(value))
        return f"%{{{len(self.inputs) - 1}}}"

    def argument(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(self.argument(item) for item in value)}]"
        if value is None or isinstance(value, (bool, int)):
            return str(value)
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, complex):
            return f"({value.real!r}+{value.imag!r}j)" if value.imag >= 0 else f"({value.real!r}{value.imag!r}j)"
        if isinstance(value, str):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(value, torch.dtype) and value in dtype_abbrs:
            return str(dtype_abbrs[value])
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return str(value).removeprefix("torch.")
        raise UnwritableError(f"an argument of type {type(value).__name__}")


def qualified_name(func: OpOverload) -> str:
    """`aten.add.Tensor`"""
    return f"{func.namespace}.{func._schema.name.partition('::')[2]}.{func._overloadname}"


def write_arguments(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """All arguments of a call as text, and the types of its tensors."""
    writer = Writer()
    parts = [writer.argument(value) for value in args]
    parts += [f"{name}={writer.argument(value)}" for name, value in kwargs.items()]
    return ", ".join(parts), tuple(writer.inputs)


def finish_call(func: OpOverload, text: str, inputs: tuple[str, ...], result: Any, *, fails: bool = False) -> Call:
    """A call as text. Its arguments were written before it ran, since it may change them."""
    returns = func._schema.returns
    if fails:  # what stands there is not looked at
        if any("[]" in str(r.type) for r in returns) or not returns:
            raise UnwritableError("a call that fails and returns a list")
        result = tuple(torch.empty(()) for _ in returns) if len(returns) > 1 else torch.empty(())
    results = () if not returns else result if len(returns) > 1 else (result,)
    shown: list[str] = []
    types: list[str] = []
    for value in results:
        if isinstance(value, (list, tuple)):
            shown.append(f"[{', '.join(f'%{{{len(types) + i}}}' for i in range(len(value)))}]")
            types += [type_text(item) for item in value]
        else:
            shown.append(f"%{{{len(types)}}}")
            types.append(type_text(value))
    return Call(qualified_name(func), text, inputs, ", ".join(shown), tuple(types), fails)


NOT_SAID = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
    NotImplementedError,
)


@dataclass
class Log:
    """What recorders found."""

    calls: dict[tuple[Any, ...], Call] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, call: Call) -> None:
        self.calls.setdefault((call.name, call.text, call.inputs, call.fails), call)


class Recorder(TorchDispatchMode):
    """Notes every operator that is dispatched."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):
            return func(*args, **kwargs)
        written = None
        try:
            written = write_arguments(func, args, kwargs)
        except UnwritableError as reason:
            self.log.skipped[f"{qualified_name(func)}: {reason}"] += 1
        try:
            result = func(*args, **kwargs)
        except NOT_SAID:
            raise
        except Exception:
            if written:
                self.note(func, *written, None, fails=True)
            raise
        if written:
            self.note(func, *written, result)
        return result

    def note(self, func: OpOverload, text: str, inputs: tuple[str, ...], result: Any, *, fails: bool = False) -> None:
        try:
            self.log.add(finish_call(func, text, inputs, result, fails=fails))
        except UnwritableError as reason:
            self.log.skipped[f"{qualified_name(func)}: {reason}"] += 1


def record(log: Log, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Runs `function` on fake tensors and notes all of its calls. What it raises is its own affair."""
    # Composite operators decompose at the autograd keys: below these they arrive whole, as export keeps them.
    for level in (torch._C._AutoDispatchBelowAutograd, nullcontext):
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fake_args, fake_kwargs = tree_map_only(
                torch.Tensor, lambda tensor: mode.from_tensor(tensor.detach()), (args, kwargs)
            )
            try:
                with torch.no_grad(), level(), Recorder(log):
                    function(*fake_args, **fake_kwargs)
            except Exception:
                continue


@dataclass
class Answer:
    """What the rules say of a call."""

    call: Call
    state: str  # equal, different, no_rule, not_inferable, error
    detail: str

    @property
    def agrees(self) -> bool:
        return self.state == ("error" if self.call.fails else "equal")


def explanation(answer: Answer) -> str:
    """Why a rule and the fake tensor differ where the rule is right all the same; empty where nothing explains it."""
    grows = "doesn't match the broadcast shape" in answer.detail
    if answer.state == "error" and grows and not answer.call.fails:
        return "fake tensors let an in-place operator grow the tensor it writes; real ones refuse"
    casts = "can't be cast to the desired output type" in answer.detail
    if answer.state == "error" and casts and not answer.call.fails:
        return "fake tensors let an in-place operator write a dtype that real ones refuse"
    return ""


def program_text(calls: list[Call]) -> str:
    """One program that makes all of these calls."""
    names: dict[str, str] = {}
    lines = []
    for number, call in enumerate(calls):
        inputs = [names.setdefault(kind, f"x{len(names)}") for kind in call.inputs]
        text = call.text.format(*inputs) if inputs or "{" in call.text else call.text
        results = call.results.format(*(f"r{number}_{i}" for i in range(len(call.types))))
        left = f"{results} = " if results else ""
        right = f" : {', '.join(call.types)}" if call.types else ""
        lines.append(f"  {left}{call.name}({text}){right}")
    placeholders = ", ".join(f"%{name}: input {kind}" for kind, name in names.items())
    return f"graph forward({placeholders}) {{\n" + "\n".join(lines) + "\n  return\n}\n"


def ask(calls: list[Call]) -> Iterator[Answer]:
    """The driver's answers, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.wz"
        path.write_text(program_text(calls))
        done = subprocess.run([driver(), path], capture_output=True, text=True)
    if done.returncode != 0:
        if len(calls) == 1:
            yield Answer(calls[0], "unreadable", done.stderr.strip())
            return
        middle = len(calls) // 2
        yield from ask(calls[:middle])
        yield from ask(calls[middle:])
        return
    lines = done.stdout.splitlines()
    assert len(lines) == len(calls), f"{len(lines)} answers to {len(calls)} calls"
    for call, line in zip(calls, lines, strict=True):
        name, state, _, detail, _ = line.split("\t")
        assert name == call.name
        yield Answer(call, state, detail)


def names_with_rules() -> set[str]:
    """Every operator that has a rule."""
    return set(subprocess.run([driver()], capture_output=True, text=True, check=True).stdout.split())
