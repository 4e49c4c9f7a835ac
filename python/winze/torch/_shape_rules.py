# SPDX-License-Identifier: Apache-2.0
"""Shape rules of custom operators: what their own fake implementation says."""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy import functions as sympy_functions

from winze._program import Program

Ranges = dict[str, tuple[int | None, int | None]]


def use_fake_implementation(program: Program, op: torch._ops.OpOverload) -> None:
    """Lets the program infer calls of ``op`` by the operator's own fake implementation.

    That is the one of `torch.library.register_fake`. It is called once for each kind of arguments: dtypes, sizes,
    strides and constants. Sizes may be symbolic; where the implementation decides something by what a size is, its
    results do not hold for every size, and the call is one that cannot be inferred. What it raises refuses the call.
    """
    if not isinstance(op, torch._ops.OpOverload):
        raise TypeError(f"an operator overload is wanted, such as torch.ops.mylib.scale.default, not {op!r}")
    name = f"{op.namespace}.{op._opname}.{op._overloadname}"

    def rule(arguments: list[Any], keywords: list[str], ranges: Ranges) -> list[Any]:
        return _Call(ranges).run(op, arguments, keywords)

    program._native.add_shape_rule(name, rule)


class _Call:
    """One call under fake tensors, in an environment of its own with the symbols of the program."""

    def __init__(self, ranges: Ranges) -> None:
        self.env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.env, allow_non_fake_inputs=True)
        self.ranges = ranges
        self.hints: dict[sympy.Symbol, int] = {}

    def run(self, op: torch._ops.OpOverload, arguments: list[Any], keywords: list[str]) -> list[Any]:
        values = [self.value(argument) for argument in arguments]
        positional = len(values) - len(keywords)
        named = dict(zip(keywords, values[positional:], strict=True))
        with self.mode:
            results = op(*values[:positional], **named)
        if self.env.guards or self.env.deferred_runtime_asserts:
            reason = self.env.guards[0].expr if self.env.guards else "an assertion"
            raise NotImplementedError(f"the fake implementation of {op} decides by a size: {reason}")
        if not isinstance(results, (tuple, list)):
            results = [] if results is None and not op._schema.returns else [results]
        flat = [item for result in results for item in (result if isinstance(result, (tuple, list)) else [result])]
        return [self.description(result) for result in flat]

    def value(self, given: Any) -> Any:
        """An argument as the operator takes it."""
        if isinstance(given, list):
            return [self.value(item) for item in given]
        if not isinstance(given, tuple):
            return given
        kind, *content = given
        if kind == "tensor":
            dtype, sizes, strides, offset, device = content
            with self.mode:
                base = torch.empty_strided(
                    [self.number(size) for size in sizes],
                    [self.number(stride) for stride in strides],
                    dtype=getattr(torch, dtype),
                    device=device,
                )
                return base if offset == 0 else base.as_strided(base.shape, base.stride(), self.number(offset))
        if kind == "number":
            return self.number(content[0])
        if kind in ("dtype", "layout", "memory_format"):
            return getattr(torch, content[0])
        return torch.device(content[0]) if kind == "device" else content[0]

    def number(self, given: int | str) -> Any:
        """A size: an int, or an expression as sympy's srepr has it."""
        if isinstance(given, int):
            return given
        names = {name: getattr(sympy_functions, name) for name in sympy_functions.__all__}
        expression = sympy.sympify(given, locals=names)
        for symbol in expression.free_symbols:
            self.declare(symbol)
        hint = int(expression.xreplace({symbol: sympy.Integer(value) for symbol, value in self.hints.items()}))
        return self.env.create_symintnode(expression, hint=hint)

    def declare(self, symbol: sympy.Symbol) -> None:
        if symbol in self.hints:
            return
        low, high = self.ranges[symbol.name]
        # Sizes that differ, and are neither 0 nor 1, unless the range leaves nothing else.
        hint = max(low if low is not None else 0, 5 + 2 * len(self.hints))
        self.hints[symbol] = hint if high is None else min(hint, high)
        self.env.add_backed_var_to_val(symbol, self.hints[symbol])
        self.env.constrain_symbol_range(
            symbol,
            compiler_min=sympy.Integer(low) if low is not None else -sympy_functions.int_oo,
            compiler_max=sympy.Integer(high) if high is not None else sympy_functions.int_oo,
        )

    def description(self, result: Any) -> Any:
        """A result as the native side reads it."""
        if result is None or isinstance(result, int):
            return result
        if isinstance(result, torch.SymInt):
            return self.text(result)
        if not isinstance(result, torch.Tensor) or result.layout is not torch.strided:
            raise NotImplementedError(f"it yields {type(result).__name__}, which is no strided tensor")
        index = result.device.index
        return (
            str(result.dtype).removeprefix("torch."),
            [self.text(size) for size in result.shape],
            [self.text(stride) for stride in result.stride()],
            self.text(result.storage_offset()),
            result.device.type,
            -1 if index is None else index,
        )

    @staticmethod
    def text(number: Any) -> int | str:
        if isinstance(number, int):
            return number
        expression = number.node.expr
        return int(expression) if expression.is_Integer else sympy.srepr(expression)
