# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch's fake tensors say of calls, and asks the shape rules of the same calls.

Runs functions under FakeTensorMode and notes every dispatched operator with its arguments and results: composite
operators whole, as export keeps them, and what they consist of. The calls are written as one program in Winze's text
form, which winze_shape_driver infers anew.
"""

from __future__ import annotations

import os
import re
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
from torch.utils._pytree import tree_leaves, tree_map_only

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
    if isinstance(value, (bool, int)):
        return f"{type(value).__name__} = {value}"
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


@dataclass(frozen=True)
class Slot:
    """Stands for a tensor among recorded arguments: the input of that number."""

    index: int


@dataclass
class Call:
    """One call: operator, arguments, results, as text with a place for each tensor argument."""

    name: str
    text: str  # arguments; tensors as %{n}
    inputs: tuple[str, ...]  # types of the tensor arguments
    results: str  # `[%{0}, %{1}]`, and so on
    types: tuple[str, ...]
    fails: bool = False
    arguments: Any = None  # args and kwargs, with a Slot for each tensor

    @property
    def function(self) -> OpOverload:
        namespace, name, overload = self.name.split(".")
        return getattr(getattr(getattr(torch.ops, namespace), name), overload)


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


@dataclass
class Arguments:
    """All arguments of a call: as text, the types of its tensors, and with a Slot for each tensor."""

    text: str
    inputs: tuple[str, ...]
    tree: Any


def write_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """Writes the arguments before the call runs, since it may change them."""
    writer = Writer()
    parts = [writer.argument(value) for value in args]
    parts += [f"{name}={writer.argument(value)}" for name, value in kwargs.items()]
    slots = iter(range(len(writer.inputs)))
    tree = tree_map_only(torch.Tensor, lambda tensor: Slot(next(slots)), (args, kwargs))
    return Arguments(", ".join(parts), tuple(writer.inputs), tree)


def results_of(func: OpOverload, result: Any) -> tuple[Any, ...]:
    """The results of a call, one for each that the schema has."""
    count = len(func._schema.returns)
    return () if count == 0 else tuple(result) if count > 1 else (result,)


def finish_call(func: OpOverload, written: Arguments, result: Any, *, fails: bool = False) -> Call:
    """A call as text."""
    returns = func._schema.returns
    if fails:  # what stands there is not looked at
        if any("[]" in str(r.type) for r in returns) or not returns:
            raise UnwritableError("a call that fails and returns a list")
        result = tuple(torch.empty(()) for _ in returns) if len(returns) > 1 else torch.empty(())
    shown: list[str] = []
    types: list[str] = []
    for value in results_of(func, result):
        if isinstance(value, (list, tuple)):
            shown.append(f"[{', '.join(f'%{{{len(types) + i}}}' for i in range(len(value)))}]")
            types += [type_text(item) for item in value]
        else:
            shown.append(f"%{{{len(types)}}}")
            types.append(type_text(value))
    return Call(qualified_name(func), written.text, written.inputs, ", ".join(shown), tuple(types), fails, written.tree)


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
            written = write_arguments(args, kwargs)
        except UnwritableError as reason:
            self.log.skipped[f"{qualified_name(func)}: {reason}"] += 1
        try:
            result = func(*args, **kwargs)
        except NOT_SAID:
            raise
        except Exception:
            if written:
                self.note(func, written, None, fails=True)
            raise
        if written:
            self.note(func, written, result)
        return result

    def note(self, func: OpOverload, written: Arguments, result: Any, *, fails: bool = False) -> None:
        try:
            self.log.add(finish_call(func, written, result, fails=fails))
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


DTYPES = {short: dtype for dtype, short in dtype_abbrs.items()}


class FakeTensorError(Exception):
    """Fake tensors fail where they neither answer nor refuse."""


def fake_result(
    func: OpOverload, arguments: Any, kinds: list[tuple[Any, ...]], may_compute: bool = True
) -> list[Any] | None:
    """Runs one call on fake tensors of these types (dtype, sizes, strides, offset) and gives its results, those of a
    list one after the other; None where it is refused. Raises FakeTensorError.

    An operator that knows no fake tensors computes with zeros, unless it may not: its kernel need not check sizes.
    """
    with FakeTensorMode(allow_fallback_kernels=may_compute) as mode, torch.no_grad():
        mode.cache_enabled = False  # answers from the cache have lost the offsets of several results
        tensors = [torch.empty_strided(sizes, strides, dtype=DTYPES[dtype]) for dtype, sizes, strides, _ in kinds]
        args, kwargs = tree_map_only(Slot, lambda slot: tensors[slot.index], arguments)
        try:
            results = results_of(func, func(*args, **kwargs))
        except (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException) as unknown:
            raise FakeTensorError(str(unknown)) from unknown
        except (RuntimeError, ValueError, IndexError, NotImplementedError):
            return None
        except Exception as fault:
            raise FakeTensorError(str(fault)) from fault
    return [item for value in results for item in (value if isinstance(value, (list, tuple)) else [value])]


def record_backward(log: Log, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Notes the calls that the gradients of `function` are computed with."""

    def input_of(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
        differentiable = tensor.is_floating_point() or tensor.is_complex()
        return mode.from_tensor(tensor.detach()).requires_grad_(differentiable)

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        try:
            inputs = tree_map_only(torch.Tensor, lambda tensor: input_of(mode, tensor), (args, kwargs))
            with Recorder(log):
                results = [
                    value
                    for value in tree_leaves(function(*inputs[0], **inputs[1]))
                    if isinstance(value, torch.Tensor) and value.requires_grad
                ]
                wanted = [
                    value for value in tree_leaves(inputs) if isinstance(value, torch.Tensor) and value.requires_grad
                ]
                if results:
                    ones = [torch.ones_like(value) for value in results]
                    torch.autograd.grad(results, wanted, ones, allow_unused=True)
        except Exception:
            return


@dataclass
class Answer:
    """What the rules say of a call."""

    call: Call
    state: str  # equal, different, no_rule, not_inferable, error
    detail: str
    constraints: tuple[str, ...] = ()

    @classmethod
    def of_line(cls, call: Call, line: str) -> Answer:
        """Reads one line of the driver."""
        name, state, _, detail, constraints, _ = line.split("\t")
        assert name == call.name
        return cls(call, state, detail, tuple(constraints.split("; ")) if constraints else ())

    @property
    def agrees(self) -> bool:
        return self.state == ("error" if self.call.fails else "equal")


TYPE = re.compile(r"(\w+)\[([^\]]*)\](?: strides \[([^\]]*)\])?(?: offset \[([^\]]*)\])?")


def real_tensor(kind: str) -> torch.Tensor:
    """A tensor of ones of this type."""
    match = TYPE.fullmatch(kind)
    assert match, kind
    sizes, strides = ([int(part) for part in (text or "").split(", ") if part] for text in (match[2], match[3]))
    offset = int(match[4] or 0)
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True) if size)
    return torch.ones(last + 1, dtype=DTYPES[match[1]]).as_strided(sizes, strides, offset)


def is_really_refused(call: Call) -> bool:
    """Whether the kernel refuses a call that fake tensors accept."""
    tensors = [real_tensor(kind) for kind in call.inputs]
    args, kwargs = tree_map_only(Slot, lambda slot: tensors[slot.index], call.arguments)
    try:
        with torch.no_grad():
            call.function(*args, **kwargs)
    except Exception:
        return True
    return False


REFUSALS = {
    "doesn't match the broadcast shape": "fake tensors let an in-place operator grow the tensor it writes; real ones"
    " refuse",
    "can't be cast to the desired output type": "fake tensors let an in-place operator write a dtype that real ones"
    " refuse",
}


EXPANDING = ("aten.expand.default", "aten.expand_as.default")


def explanation(answer: Answer) -> str:
    """Why a rule and the fake tensor differ where the rule is right all the same; empty where nothing explains it.
    That the kernel refuses the call is proved by running it."""
    call = answer.call
    if call.name == "aten.dropout.default" and call.text.endswith("False") and not call.fails:
        return "dropout that is off yields its input in export, and a copy below the autograd keys"
    if call.fails and "out=" in call.text:
        return "kernels refuse some out arguments: of another dtype, or with elements that share memory"
    if answer.state == "different" and call.name in EXPANDING and "[] strides []" in call.inputs[0]:
        return "export expands tensors without dimensions through PyTorch's Python reference, which has strides of 1"
    if answer.state != "error" or call.fails or not is_really_refused(call):
        return ""
    reasons = (reason for message, reason in REFUSALS.items() if message in answer.detail)
    return next(reasons, "fake tensors accept arguments that real kernels refuse")


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


def run_driver(program: str) -> list[str] | None:
    """A line for each call of a program; None where the program cannot be read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.wz"
        path.write_text(program)
        done = subprocess.run([driver(), path], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def ask(calls: list[Call]) -> Iterator[Answer]:
    """The driver's answers, in order. A program that cannot be read is halved until the call is found."""
    lines = run_driver(program_text(calls))
    if lines is None and len(calls) > 1:
        middle = len(calls) // 2
        yield from ask(calls[:middle])
        yield from ask(calls[middle:])
    elif lines is None:
        yield Answer(calls[0], "unreadable", "")
    else:
        for call, line in zip(calls, lines, strict=True):
            yield Answer.of_line(call, line)


def names_with_rules() -> set[str]:
    """Every operator that has a rule."""
    return set(subprocess.run([driver()], capture_output=True, text=True, check=True).stdout.split())


def names_without_rules() -> set[str]:
    """Every operator that has none."""
    command = [str(driver()), "--without-rule"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
