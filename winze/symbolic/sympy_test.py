# SPDX-License-Identifier: Apache-2.0
"""Compares symbolic expressions with sympy and PyTorch's functions for it.

Expressions are made at random as trees. A tree has three readings: its value in plain Python, its
sympy expression, and its text, which winze_symbolic_driver reads. The folder of the build is taken
from WINZE_BUILD_DIR.
"""

import math
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sympy
import torch.utils._sympy.functions as torch_functions
from hypothesis import assume, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
TORCH_NAMES = """FloorDiv ModularIndexing Where PythonMod Mod CleanDiv CeilToInt FloorToInt CeilDiv
LShift RShift PowByNatural FloatPow FloatTrueDiv IntTrueDiv IsNonOverlappingAndDenseIndicator
TruncToFloat TruncToInt RoundToInt RoundDecimal ToFloat Identity""".split()
TORCH_TABLE = {name: getattr(torch_functions, name) for name in TORCH_NAMES}

# How many times as many random cases to try.
SCALE = int(os.environ.get("WINZE_TEST_SCALE", "1"))
# The same cases in every run: a change is judged by what it changes. WINZE_TEST_SCALE above 1 draws new ones.
settings.register_profile("winze", derandomize=SCALE == 1)
settings.load_profile("winze")

Values = dict[str, int]
INT64 = range(-(2**63), 2**63)


def sympify(text: str) -> Any:
    """Reads a text as torch.export.load does."""
    return sympy.sympify(text, locals=TORCH_TABLE)


class Driver:
    """A running winze_symbolic_driver."""

    def __init__(self) -> None:
        build = Path(os.environ.get("WINZE_BUILD_DIR", ROOT / "build"))
        program = build / "bin" / "winze_symbolic_driver"
        if not program.exists():
            pytest.fail(f"{program} is missing: build it, or name its build in WINZE_BUILD_DIR")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *fields: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\t".join(fields) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer.endswith("\n"), f"the driver stopped at {fields}"
        return answer[:-1]

    def value(self, text: str, values: Values) -> int | float | bool | None:
        answer = self.ask("eval", text, ",".join(f"{k}={v}" for k, v in values.items()))
        if answer == "nothing":
            return None
        kind, _, digits = answer.partition(" ")
        if kind == "bool":
            return digits == "True"
        assert kind in ("int", "float"), f"{text}: {answer}"
        return int(digits) if kind == "int" else float(digits)


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    running = Driver()
    yield running
    assert running.process.stdin is not None
    running.process.stdin.close()
    assert running.process.wait(timeout=60) == 0


@dataclass(frozen=True)
class Tree:
    """An expression that nobody has simplified: its text and its meaning."""

    text: str
    compute: Callable[[Values], Any]

    def __repr__(self) -> str:
        return self.text

    def value(self, values: Values) -> Any:
        """The value in Python, or None where Python raises or leaves int64."""
        try:
            result = self.compute(values)
        except (ZeroDivisionError, OverflowError, ValueError):
            return None
        if isinstance(result, int) and not isinstance(result, bool) and result not in INT64:
            return None
        return result


def symbol(name: str, assumptions: str = "positive=True, integer=True") -> Tree:
    return Tree(f"Symbol('{name}', {assumptions})", lambda values: values[name])


def integer(value: int) -> Tree:
    return Tree(f"Integer({value})", lambda _: value)


def call(name: str, function: Callable[..., Any], *parts: Tree) -> Tree:
    text = f"{name}({', '.join(part.text for part in parts)})"
    return Tree(text, lambda values: function(*(part.compute(values) for part in parts)))


def power(base: int, exponent: int) -> int:
    if exponent > 100 or abs(base) > 2**63:
        raise OverflowError
    return base**exponent


def float_power(base: float, exponent: float) -> float:
    result = float(base) ** float(exponent)
    if isinstance(result, complex):
        raise ValueError("PyTorch has no complex sizes")
    return result


def indexing(a: int, b: int, modulus: int) -> int:
    return (a // b) % modulus


SIZES = st.sampled_from([symbol("s0"), symbol("s1"), symbol("s2")])
UNBACKED = st.sampled_from([symbol("u0", "integer=True"), symbol("u1", "integer=True")])
SMALL = st.integers(-9, 9).map(integer)
POSITIVE = st.integers(1, 12).map(integer)
ATOMS = SIZES | UNBACKED | SMALL


def sums(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.lists(part, min_size=2, max_size=4).map(lambda parts: call("Add", lambda *v: sum(v), *parts))


def products(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.lists(part, min_size=2, max_size=3).map(lambda parts: call("Mul", lambda *v: math.prod(v), *parts))


def powers(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.builds(lambda base, n: call("Pow", power, base, integer(n)), part, st.integers(0, 3))


def binary(name: str, function: Callable[..., Any]) -> Callable[..., st.SearchStrategy[Tree]]:
    return lambda a, b: st.builds(lambda x, y: call(name, function, x, y), a, b)


def quotients(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    divisor = POSITIVE | SIZES | part
    return (
        binary("FloorDiv", lambda a, b: a // b)(part, divisor)
        | binary("PythonMod", lambda a, b: a % b)(part, divisor)
        | st.builds(lambda a, b, c: call("ModularIndexing", indexing, a, b, c), part, POSITIVE, POSITIVE)
    )


def extremes(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(part, min_size=2, max_size=3)
    return several.map(lambda parts: call("Max", max, *parts)) | several.map(lambda parts: call("Min", min, *parts))


def polynomial_step(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return sums(part) | products(part) | powers(part)


def integer_step(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return polynomial_step(part) | quotients(part) | extremes(part) | choices(part)


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "Equality": lambda a, b: a == b,
    "Unequality": lambda a, b: a != b,
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b,
    "GreaterThan": lambda a, b: a >= b,
}


def conditions(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    relation = st.builds(
        lambda name, a, b: call(name, RELATIONS[name], a, b),
        st.sampled_from(sorted(RELATIONS)),
        part,
        part,
    )
    return st.recursive(
        relation,
        lambda inner: (
            binary("And", lambda a, b: a and b)(inner, inner)
            | binary("Or", lambda a, b: a or b)(inner, inner)
            | inner.map(lambda a: call("Not", lambda v: not v, a))
        ),
        max_leaves=4,
    )


def choices(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    relation = st.builds(lambda a, b: call("LessThan", lambda x, y: x <= y, a, b), part, part)
    return st.builds(
        lambda c, a, b: Tree(
            f"Where({c.text}, {a.text}, {b.text})",
            lambda v: a.compute(v) if c.compute(v) else b.compute(v),
        ),
        relation,
        part,
        part,
    )


def float_step(part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    unary = st.sampled_from(["sqrt", "cos", "sinh", "tan", "tanh", "asin", "atan", "exp", "log2"])
    return (
        binary("FloatTrueDiv", lambda a, b: float(a) / float(b))(part, part)
        | binary("FloatPow", float_power)(part, part)
        | st.builds(lambda name, a: call(f"OpaqueUnaryFn_{name}", getattr(math, name), a), unary, part)
        | part.map(lambda a: call("TruncToFloat", lambda v: float(math.trunc(v)), a))
        | st.builds(
            lambda a, n: call("RoundDecimal", lambda v, k: round(float(v), k), a, integer(n)),
            part,
            st.integers(-3, 5),
        )
    )


POLYNOMIALS = st.recursive(ATOMS, polynomial_step, max_leaves=10)
INTEGERS = st.recursive(ATOMS, integer_step, max_leaves=10)
LINEAR = st.lists(
    st.builds(lambda k, s: call("Mul", lambda a, b: a * b, k, s), SMALL, SIZES | UNBACKED) | ATOMS,
    min_size=1,
    max_size=6,
).map(lambda parts: call("Add", lambda *v: sum(v), *parts))


def fraction(a: Tree, b: Tree, factor: Tree) -> Tree:
    """A quotient of products with a factor in common."""
    dividend, divisor = (call("Mul", lambda x, y: x * y, each, factor) for each in (a, b))
    return call("FloorDiv", lambda x, y: x // y, dividend, divisor)


BOOLEANS = conditions(INTEGERS)
FLOAT_ATOMS = (
    ATOMS.map(lambda a: call("ToFloat", float, a))
    | binary("IntTrueDiv", lambda a, b: a / b)(ATOMS, SIZES)
    | st.floats(-100, 100, width=32).map(lambda f: Tree(f"Float('{f!r}', precision=53)", lambda _: f))
)
FLOATS = st.recursive(FLOAT_ATOMS, float_step, max_leaves=5)
ROUNDED = st.builds(
    lambda name, a: call(
        name, {"CeilToInt": math.ceil, "FloorToInt": math.floor, "TruncToInt": math.trunc, "RoundToInt": round}[name], a
    ),
    st.sampled_from(["CeilToInt", "FloorToInt", "TruncToInt", "RoundToInt"]),
    FLOATS,
)

SYMBOL_VALUES = st.fixed_dictionaries(
    {name: st.integers(1, 9) for name in ("s0", "s1", "s2")} | {name: st.integers(-6, 6) for name in ("u0", "u1")}
)
MANY_VALUES = st.lists(SYMBOL_VALUES, min_size=4, max_size=4)


def is_error(answer: str) -> bool:
    return answer.startswith("error: ")


def check_values(driver: Driver, tree: Tree, points: list[Values]) -> None:
    if is_error(driver.ask("kind", tree.text)):  # a division by zero that shows in the text
        assert any(tree.value(point) is None for point in points), tree.text
        return
    for point in points:
        expected = tree.value(point)
        if expected is None:
            continue
        actual = driver.value(tree.text, point)
        assert type(actual) is type(expected), (tree.text, point, actual, expected)
        assert actual == expected or actual != actual, (tree.text, point)


@settings(deadline=None, max_examples=200 * SCALE)
@given(INTEGERS, MANY_VALUES)
def test_values_of_integers_are_those_of_python(driver: Driver, tree: Tree, points: list[Values]) -> None:
    check_values(driver, tree, points)


@settings(deadline=None, max_examples=200 * SCALE)
@given(st.builds(fraction, LINEAR, POSITIVE | LINEAR, LINEAR), MANY_VALUES)
def test_quotients_with_a_sum_in_common_are_those_of_python(driver: Driver, tree: Tree, points: list[Values]) -> None:
    check_values(driver, tree, points)


@settings(deadline=None, max_examples=200 * SCALE)
@given(BOOLEANS, MANY_VALUES)
def test_values_of_booleans_are_those_of_python(driver: Driver, tree: Tree, points: list[Values]) -> None:
    check_values(driver, tree, points)


@settings(deadline=None, max_examples=200 * SCALE)
@given(FLOATS | ROUNDED, MANY_VALUES)
def test_values_of_floats_are_those_of_python(driver: Driver, tree: Tree, points: list[Values]) -> None:
    check_values(driver, tree, points)


@settings(deadline=None, max_examples=200 * SCALE)
@given(INTEGERS | BOOLEANS | FLOATS | ROUNDED)
def test_what_is_printed_reads_back_to_the_same_expression(driver: Driver, tree: Tree) -> None:
    answer = driver.ask("roundtrip", tree.text)
    assert answer == "yes" or is_error(answer), (tree.text, answer)


@settings(deadline=None, max_examples=200 * SCALE)
@given(POLYNOMIALS)
def test_sympy_reads_back_the_polynomial_it_would_have_read(driver: Driver, tree: Tree) -> None:
    assert sympify(driver.ask("srepr", tree.text)) == sympify(tree.text), tree.text


def same_to_sympy(driver: Driver, tree: Tree, points: list[Values]) -> None:
    """Sympy's own simplifications may take another path to another form of equal value."""
    answer = driver.ask("srepr", tree.text)
    try:
        theirs = sympify(tree.text)
    except (ZeroDivisionError, AssertionError):
        return
    if is_error(answer):
        assert any(tree.value(point) is None for point in points), tree.text
        return
    ours = sympify(answer)
    if ours == theirs:
        return
    for point in points:
        if tree.value(point) is None:
            continue
        known = {s: point[s.name] for s in theirs.free_symbols | ours.free_symbols}
        try:
            expected = theirs.subs(known)
            actual = ours.subs(known)
        except (ZeroDivisionError, AssertionError):
            continue
        # PyTorch simplifies nested quotients as if all divisors were positive.
        assert actual == expected or actual == tree.value(point), (tree.text, answer, point)


@settings(deadline=None, max_examples=200 * SCALE)
@given(INTEGERS, MANY_VALUES)
def test_sympy_reads_back_an_expression_of_the_same_value(driver: Driver, tree: Tree, points: list[Values]) -> None:
    same_to_sympy(driver, tree, points)


@settings(deadline=None, max_examples=200 * SCALE)
@given(LINEAR, LINEAR)
def test_linear_expressions_are_equal_exactly_when_sympy_says_so(driver: Driver, a: Tree, b: Tree) -> None:
    expected = sympify(a.text) == sympify(b.text)
    assert driver.ask("same", a.text, b.text) == ("yes" if expected else "no")


@settings(deadline=None, max_examples=200 * SCALE)
@given(LINEAR, st.randoms(use_true_random=False))
def test_the_order_of_terms_does_not_matter(driver: Driver, a: Tree, random: Any) -> None:
    terms = list(sympy.Add.make_args(sympify(a.text)))
    random.shuffle(terms)
    shuffled = f"Add({', '.join(sympy.srepr(term) for term in terms)})"
    assert driver.ask("same", a.text, shuffled) == "yes"


@settings(deadline=None, max_examples=200 * SCALE)
@given(POLYNOMIALS, POLYNOMIALS)
def test_polynomials_are_equal_when_sympy_says_so(driver: Driver, a: Tree, b: Tree) -> None:
    ours = driver.ask("same", a.text, b.text) == "yes"
    assert ours == (sympify(a.text) == sympify(b.text)), (a.text, b.text)


@settings(deadline=None, max_examples=200 * SCALE)
@given(POLYNOMIALS)
def test_expansion_is_that_of_sympy(driver: Driver, tree: Tree) -> None:
    expected = sympify(tree.text).expand()
    assume(len(sympy.Add.make_args(expected)) <= 32)  # larger products are left as they are
    assert sympify(driver.ask("expand", tree.text)) == expected, tree.text


@st.composite
def ranged_points(draw: st.DrawFn) -> tuple[str, list[Values]]:
    """Ranges of all symbols, and points within them, their corners among these."""
    fields = []
    ends = {}
    for name in ("s0", "s1", "s2", "u0", "u1"):
        low = draw(st.integers(1 if name.startswith("s") else -5, 5))
        high = low + draw(st.integers(0, 6))
        ends[name] = (low, high)
        fields.append(f"{name}={low}:{high}")
    corner = st.fixed_dictionaries({n: st.sampled_from(e) for n, e in ends.items()})
    inside = st.fixed_dictionaries({n: st.integers(*e) for n, e in ends.items()})
    return ",".join(fields), draw(st.lists(corner | inside, min_size=12, max_size=12))


RANGED = ranged_points()


@settings(deadline=None, max_examples=200 * SCALE)
@given(INTEGERS, RANGED)
def test_values_lie_in_the_range(driver: Driver, tree: Tree, ranged: tuple[str, list[Values]]) -> None:
    ranges, points = ranged
    answer = driver.ask("range", tree.text, ranges)
    assume(not is_error(answer))
    low, high = map(int, answer.split())
    for point in points:
        value = tree.value(point)
        if value is not None:
            assert low <= value <= high, (tree.text, ranges, point)


@settings(deadline=None, max_examples=200 * SCALE)
@given(INTEGERS, RANGED)
def test_simplification_keeps_values_within_the_ranges(
    driver: Driver, tree: Tree, ranged: tuple[str, list[Values]]
) -> None:
    ranges, points = ranged
    answer = driver.ask("simplify", tree.text, ranges)
    assume(not is_error(answer))
    for point in points:
        expected = tree.value(point)
        if expected is not None:
            assert driver.value(answer, point) == expected, (tree.text, answer, ranges, point)


PROVABLE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "divisible": lambda a, b: a % b == 0,
}
CLOSE = st.one_of(
    st.tuples(INTEGERS, INTEGERS),
    INTEGERS.flatmap(lambda a: st.tuples(st.just(a), SMALL.map(lambda k: call("Add", lambda *v: sum(v), a, k)))),
    st.builds(lambda a, k: (call("Mul", lambda *v: math.prod(v), a, k), k), INTEGERS, POSITIVE),
)


@settings(deadline=None, max_examples=1000 * SCALE)
@given(CLOSE, RANGED, st.sampled_from(sorted(PROVABLE)))
def test_proofs_hold_at_every_point(
    driver: Driver, pair: tuple[Tree, Tree], ranged: tuple[str, list[Values]], what: str
) -> None:
    ranges, points = ranged
    a, b = pair
    answer = driver.ask("prove", what, a.text, b.text, ranges)
    assume(not is_error(answer))
    for point in points:
        x, y = a.value(point), b.value(point)
        if x is None or y is None or (what == "divisible" and y == 0):
            continue
        holds = PROVABLE[what](x, y)
        assert answer in ("unknown", "yes" if holds else "no"), (what, a.text, b.text, point)


@settings(deadline=None, max_examples=200 * SCALE)
@given(BOOLEANS, RANGED)
def test_proofs_of_conditions_hold_at_every_point(driver: Driver, tree: Tree, ranged: tuple[str, list[Values]]) -> None:
    ranges, points = ranged
    answer = driver.ask("holds", tree.text, ranges)
    assume(not is_error(answer))
    for point in points:
        value = tree.value(point)
        if value is not None:
            assert answer in ("unknown", "yes" if value else "no"), (tree.text, ranges, point)


# Written by torch.export 2.13 for real models, and by older releases.
REAL = """
Symbol('u0', integer=True)
Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))
LessThan(Symbol('u0', integer=True), Integer(6))
GreaterThan(Symbol('u2', integer=True), Integer(1))
Mul(Integer(4), Pow(Symbol('s41', positive=True, integer=True), Integer(2)))
Mod(Symbol('s77', positive=True, integer=True), Integer(3))
IntTrueDiv(Symbol('s77', positive=True, integer=True), Integer(2))
Min(Mul(Integer(8), Symbol('s41', positive=True)), Mul(Integer(32), Symbol('s41', positive=True)))
Max(Integer(1), Add(Symbol('s27', positive=True, integer=True), Mul(Integer(-1), \
FloorDiv(Symbol('s77', positive=True, integer=True), Integer(2)))))
FloatPow(ToFloat(Mul(Symbol('s27', integer=True), Symbol('s77', integer=True))), \
Float('0.5', precision=53))
Mul(Add(Symbol('s77', positive=True, integer=True), Integer(-1)), \
FloorDiv(Symbol('s77', positive=True, integer=True), Integer(2)))
FloorDiv(Symbol('s21', integer=True), FloorDiv(Symbol('s21', integer=True), Integer(2)))
"""


@pytest.mark.parametrize("text", REAL.replace("\\\n", "").strip().splitlines())
def test_exported_expressions_come_back_equal(driver: Driver, text: str) -> None:
    assert sympify(driver.ask("srepr", text)) == sympify(text)
    assert driver.ask("roundtrip", text) == "yes"
