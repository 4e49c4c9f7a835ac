# SPDX-License-Identifier: Apache-2.0
"""Makes the sizes of recorded calls symbolic, and compares what the rules say with fake tensors at several draws.

Each distinct size above 1 becomes a symbol; so does each SymInt argument of that value. A symbolic result holds where
its constraints hold: there, evaluated, it has to be what PyTorch gives at those sizes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recorded_calls import (
    Answer,
    Call,
    FakeTensorError,
    Slot,
    Writer,
    explanation,
    fake_result,
    run_driver,
    type_text,
)
from torch.utils._pytree import tree_map_only

Draw = dict[str, int]


@dataclass(frozen=True)
class Symbols:
    """How sizes become symbols: named so, and at least that large. Backed symbols of export are above 1; unbacked
    ones may be 0 and 1 too."""

    prefix: str
    least: int

    def name_of(self, size: int) -> str:
        return f"{self.prefix}{size}"


BACKED = Symbols("s", 2)
UNBACKED = Symbols("u", 0)

TYPE = re.compile(r"(\w+)\[([^\]]*)\](?: strides \[([^\]]*)\])?(?: offset \[([^\]]*)\])?(?: device (\S+))?")


@dataclass(frozen=True)
class SymInt:
    """An argument that is a symbol, and its value in the sample."""

    value: int


@dataclass(frozen=True)
class TensorType:
    """A type with expressions in place of sizes."""

    dtype: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    offset: str = "0"

    def text(self) -> str:
        offset = f" offset [{self.offset}]" if self.offset != "0" else ""
        return f"{self.dtype}[{', '.join(self.sizes)}] strides [{', '.join(self.strides)}]{offset}"

    def at(self, draw: Draw) -> tuple[Any, ...]:
        sizes, strides = evaluated(self.sizes, draw), evaluated(self.strides, draw)
        return self.dtype, sizes, strides, evaluated([self.offset], draw)[0]


FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "Max": max,
    "Min": min,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Eq": operator.eq,
    "Ne": operator.ne,
    "abs": abs,
}


def evaluated(expressions: Iterable[str], draw: Draw) -> tuple[int, ...]:
    """The values of expressions as sympy prints them."""
    return tuple(eval(expression, FUNCTIONS, dict(draw)) for expression in expressions)


def split_list(text: str | None) -> tuple[str, ...]:
    """The elements of a list; commas within parentheses do not count."""
    parts = [""]
    depth = 0
    for letter in text or "":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def row_major(sizes: tuple[str, ...]) -> tuple[str, ...]:
    """What the text form leaves out."""
    strides = ["1"] * len(sizes)
    for dim in range(len(sizes) - 1, 0, -1):
        strides[dim - 1] = f"({strides[dim]})*Max(1, {sizes[dim]})"
    return tuple(strides)


def parse_type(text: str) -> TensorType | None:
    """A type as text, a number as if it were the one size of a tensor; None for what is no tensor on the CPU."""
    word, _, value = text.strip().partition(" = ")
    if word in ("int", "bool"):
        return TensorType(word, (value,), ("0",))
    if word == "None":
        return TensorType(word, (), ())
    match = TYPE.fullmatch(text.strip())
    if match is None or match[5]:
        return None
    sizes = split_list(match[2])
    strides = split_list(match[3]) if match[3] is not None else row_major(sizes)
    return TensorType(match[1], sizes, strides, match[4] or "0")


def symbolic_type(kind: TensorType, symbols: Symbols) -> TensorType | None:
    """The type with symbols for sizes and the strides that follow from them, or None where the tensor is not dense:
    its strides would say nothing of other sizes."""
    sizes, strides = evaluated(kind.sizes, {}), evaluated(kind.strides, {})
    if kind.offset != "0":
        return None
    names = [symbols.name_of(size) if size > 1 else str(size) for size in sizes]
    shown = ["0"] * len(sizes)
    expected = 1
    factors: list[str] = []
    for dim in sorted(range(len(sizes)), key=lambda dim: (strides[dim], -dim)):
        if strides[dim] == 0 and sizes[dim] > 1:
            continue  # expanded
        if strides[dim] != expected:
            return None
        shown[dim] = "*".join(factors) or "1"
        expected *= max(sizes[dim], 1)
        factors += [names[dim]] if sizes[dim] > 1 else []
    return TensorType(kind.dtype, tuple(names), tuple(shown))


def symbolic_arguments(call: Call) -> Any:
    """Arguments with a SymInt in place of each integer that the schema allows to be one."""
    schema = call.function._schema.arguments
    by_name = {argument.name: argument for argument in schema}
    # The types of arguments say `int`; the text of the schema tells.
    symbolic = set(re.findall(r"SymInt\S* (\w+)", str(call.function._schema))) - {"dim"}
    inputs = [parse_type(kind) for kind in call.inputs]
    known = {int(size) for kind in inputs if kind for size in kind.sizes}

    def replace(argument: Any, value: Any) -> Any:
        if argument.name not in symbolic:
            return value
        return tree_map_only(int, lambda item: SymInt(item) if item > 1 and item in known else item, value)

    args = [replace(argument, value) for argument, value in zip(schema, call.arguments[0], strict=False)]
    return args, {name: replace(by_name[name], value) for name, value in call.arguments[1].items()}


class SymbolicWriter(Writer):
    """Writes symbolic arguments too."""

    def argument(self, value: Any) -> str:
        if isinstance(value, Slot):
            return f"%{{{value.index}}}"
        if isinstance(value, SymInt):
            return f"%n{value.value}"
        return super().argument(value)


@dataclass
class SymbolicCall:
    """A call whose sizes are symbols; `sample` has their values."""

    call: Call
    symbols: Symbols
    inputs: tuple[TensorType, ...]
    arguments: Any
    sample: Draw

    @property
    def text(self) -> str:
        writer = SymbolicWriter()
        args, kwargs = self.arguments
        parts = [writer.argument(value) for value in args]
        return ", ".join(parts + [f"{name}={writer.argument(value)}" for name, value in kwargs.items()])


# Gradients of cells, which crash PyTorch at sizes that their forward operators do not give.
UNCHECKED = {
    "aten._thnn_differentiable_gru_cell_backward.default",
    "aten._thnn_differentiable_lstm_cell_backward.default",
    "aten._thnn_fused_lstm_cell_backward.default",
}


def make_symbolic(call: Call, symbols: Symbols) -> SymbolicCall | None:
    """None where nothing of the call can be made symbolic."""
    if call.name in UNCHECKED:
        return None
    kinds = [parse_type(kind) for kind in call.inputs]
    inputs = [symbolic_type(kind, symbols) if kind else None for kind in kinds]
    if call.fails or call.arguments is None or not inputs or None in inputs:
        return None
    if len(call.types) == 0 or any(parse_type(kind) is None for kind in call.types):
        return None
    sizes = sorted({int(size) for kind in kinds if kind for size in kind.sizes if int(size) > 1})
    if not sizes:
        return None
    sample = {symbols.name_of(size): size for size in sizes}
    return SymbolicCall(call, symbols, tuple(kind for kind in inputs if kind), symbolic_arguments(call), sample)


def program_of(calls: list[SymbolicCall]) -> str:
    """One program that makes all of these calls."""
    symbols = sorted({name for call in calls for name in call.sample})
    least = calls[0].symbols.least
    inputs: dict[str, str] = {}
    lines = []
    for number, symbolic in enumerate(calls):
        names = [inputs.setdefault(kind.text(), f"x{len(inputs)}") for kind in symbolic.inputs]
        text = symbolic.text.format(*names)
        count = len(symbolic.call.types)
        results = symbolic.call.results.format(*(f"r{number}_{i}" for i in range(count)))
        lines.append(f"  {results} = {symbolic.call.name}({text}) : {', '.join(['unknown'] * count)}")
    places = [f"%n{name[1:]}: input int = {name}" for name in symbols]
    places += [f"%{name}: input {kind}" for kind, name in inputs.items()]
    head = "".join(f"symbol {name} in [{least}, 4096]\n" for name in symbols)
    return f"{head}graph forward({', '.join(places)}) {{\n" + "\n".join(lines) + "\n  return\n}\n"


def draws_of(symbolic: SymbolicCall) -> list[Draw]:
    """Sizes to try: those of the sample, others, and equal ones; and 0 and 1 where these are allowed."""
    sample = symbolic.sample
    if symbolic.symbols.least > 1:
        return [sample, {name: 2 * size + 3 for name, size in sample.items()}, dict.fromkeys(sample, 4)]
    first = next(iter(sample))
    return [sample, dict.fromkeys(sample, 1), dict.fromkeys(sample, 0), {**sample, first: 1}, {**sample, first: 0}]


def result_at(symbolic: SymbolicCall, draw: Draw) -> list[tuple[Any, ...]] | None:
    """What PyTorch's fake tensors give at these sizes; None where they refuse."""
    kinds = [kind.at(draw) for kind in symbolic.inputs]
    arguments = tree_map_only(SymInt, lambda value: draw[symbolic.symbols.name_of(value.value)], symbolic.arguments)
    result = fake_result(symbolic.call.function, arguments, kinds, may_compute=draw == symbolic.sample)
    if result is None:
        return None
    types = [parse_type(type_text(value)) for value in result]
    return [kind.at({}) for kind in types if kind]


def addresses_the_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Equal but for strides that address nothing: of sizes below 2, and of tensors without elements."""
    if a[:2] != b[:2]:
        return False
    if 0 in a[1]:
        return True
    return a[3] == b[3] and all(size < 2 or x == y for size, x, y in zip(a[1], a[2], b[2], strict=True))


@dataclass
class Verdict:
    """What came of a call at its draws: `equal`, `refused` at all of them, `constrained` (its constraints hold at none
    that PyTorch accepts), `open` (the rule does not tell), `no_rule`, or `different`."""

    call: SymbolicCall
    state: str
    detail: str = ""
    only_strides: bool = False
    answer: Answer | None = None


def compare_at(symbolic: SymbolicCall, answer: Answer, draw: Draw) -> str:
    """`equal`, `refused` (both refuse), `constrained` (a constraint does not hold, PyTorch goes on), else what differs;
    `strides:` before it where the layout of symbolic sizes is all that does."""
    holds = answer.state != "error" and all(evaluated(answer.constraints, draw))
    try:
        expected = result_at(symbolic, draw)
    except FakeTensorError:
        return "refused"
    if expected is None and not holds:
        return "refused"
    if not holds and answer.state != "error":
        return "constrained"
    given = [kind.at(draw) for text in answer.detail.split("; ") if holds and (kind := parse_type(text))]
    if expected is not None and holds and len(given) == len(expected):
        exact = symbolic.symbols.least > 1
        if given == expected if exact else all(map(addresses_the_same, given, expected)):
            return "equal"
        sizes_agree = all(a[:2] == b[:2] for a, b in zip(given, expected, strict=True))
        only_strides = all(map(addresses_the_same, given, expected)) if exact else sizes_agree
        return f"{'strides: ' if only_strides else ''}at {draw} {expected}, not {given}"
    return f"at {draw} {expected or 'an error'}, not {given or 'an error'}"


def verdict(symbolic: SymbolicCall, answer: Answer) -> Verdict:
    """Compares one answer with fake tensors."""
    if answer.state == "no_rule":
        return Verdict(symbolic, "no_rule")
    if answer.state == "not_inferable":
        return Verdict(symbolic, "open", answer.detail)
    states = set()
    for draw in draws_of(symbolic):
        try:
            state = compare_at(symbolic, answer, draw)
        except (NameError, SyntaxError, ZeroDivisionError) as reason:
            return Verdict(symbolic, "open", f"cannot be evaluated: {reason}")
        if state not in ("equal", "refused", "constrained"):
            detail = f"{state} ({answer.detail}) {'; '.join(answer.constraints)}"
            return Verdict(symbolic, "different", detail, state.startswith("strides: "), answer)
        states.add(state)
    return Verdict(symbolic, "equal" if "equal" in states else min(states), "; ".join(answer.constraints))


def verdicts(calls: Iterable[Call], symbols: Symbols) -> Iterator[Verdict]:
    """All calls that can be made symbolic, compared."""
    symbolic = [made for call in calls if (made := make_symbolic(call, symbols))]
    for made, answer in zip(symbolic, answers_of(symbolic), strict=True):
        yield verdict(made, answer)


def answers_of(calls: list[SymbolicCall]) -> Iterator[Answer]:
    """The driver's answers, in order. A program that cannot be read is halved until the call is found."""
    if not calls:
        return
    lines = run_driver(program_of(calls))
    if lines is None and len(calls) > 1:
        yield from answers_of(calls[: len(calls) // 2])
        yield from answers_of(calls[len(calls) // 2 :])
    elif lines is None:
        yield Answer(calls[0].call, "not_inferable", "the call cannot be written with symbols")
    else:
        for symbolic, line in zip(calls, lines, strict=True):
            yield Answer.of_line(symbolic.call, line)


def symbolic_explanation(verdict: Verdict) -> str:
    """Why a rule and fake tensors differ where the rule is right all the same; empty where nothing explains it."""
    name = verdict.call.call.name
    if verdict.answer is not None and (reason := explanation(verdict.answer)):
        return reason
    if verdict.only_strides:
        return "the layout is that which PyTorch gives to symbolic sizes, which it does not know"
    if verdict.call.symbols is UNBACKED and name.startswith("aten.squeeze"):
        return "export keeps a dimension of unbacked size where it squeezes one of size 1"
    if "an error, not" in verdict.detail:
        if "backward" in name:
            return "rules do not ask whether a gradient has the sizes of what it is the gradient of"
        if name == "aten.as_strided_.default":
            return "how large a storage is is not known"
        if verdict.call.symbols is UNBACKED:
            return "kernels that refuse sizes of 0 or 1 do so when the program runs; rules do not ask"
    if "out=" in verdict.call.text:
        return "an out argument that is resized is taken to have the sizes it has"
    overwrites = any(
        a.alias_info is not None and a.alias_info.is_write for a in verdict.call.call.function._schema.arguments
    )
    if verdict.call.symbols is UNBACKED and overwrites:
        return "fake tensors let an in-place operator grow the tensor it writes; real ones refuse"
    if name == "aten.addmv.default":
        return "addmv without rows yields what it adds to, of whatever size"
    return ""
