# SPDX-License-Identifier: Apache-2.0
"""Ordered lists of passes, native ones and Python's mixed: the process-wide one and private ones."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from torch import fx

from winze._error import Error
from winze._passes import LoweringPass, native_entries, passes, registered_pass, split_pipeline
from winze._suggest import nearest

FxPass = Callable[[fx.GraphModule, Sequence[Any]], fx.GraphModule]
Function = TypeVar("Function", bound=Callable[..., Any])

# What the process-wide list holds at first.
DEFAULT = "default"


@dataclass(frozen=True)
class Entry:
    """One pass of a list. Just one of the three is set."""

    native: str = ""  # with its options: ``dead-code``, ``remove-assert-nodes{async}``
    fx_pass: FxPass | None = None  # over torch.fx
    graph_pass: LoweringPass | None = None  # over the native graph, written in Python

    @property
    def name(self) -> str:
        if self.native:
            return self.native.split("{")[0].strip()
        return self.graph_pass.name if self.graph_pass else _name_of(self.fx_pass)

    @property
    def is_fx(self) -> bool:
        return self.fx_pass is not None

    def run(self, gm: fx.GraphModule, sample_inputs: Sequence[Any]) -> Any:
        """Calls a pass over torch.fx. One that takes nothing but the module is given just that."""
        function: Callable[..., Any] | None = self.fx_pass
        assert function is not None
        return function(gm, list(sample_inputs)) if _takes_inputs(function) else function(gm)

    def describe(self) -> str:
        if self.native:
            return f"{self.native}  (native)"
        function = self.graph_pass.function if self.graph_pass else self.fx_pass
        kind = "Python, native graph" if self.graph_pass else "Python"
        return f"{self.name}  ({kind}, {_place_of(function)})"


def _unwrapped(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function)


def _name_of(function: Any) -> str:
    function = _unwrapped(function)
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _takes_inputs(function: Callable[..., Any]) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a builtin
        return True
    try:
        signature.bind(None)
    except TypeError:
        return True
    try:
        signature.bind(None, [])
    except TypeError:
        return False
    return True


def _place_of(function: Any) -> str:
    function = _unwrapped(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{type(function).__module__}.{type(function).__qualname__}"
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"


def make_entries(given: Any) -> list[Entry]:
    """Entries from a text, a function, a pass, or a list of these. Raises Error with the nearest names."""
    if isinstance(given, Pipeline):
        return given.entries
    if isinstance(given, Entry):
        return [given]
    if isinstance(given, str):
        return [entry for name in split_pipeline(given) for entry in _named(name)]
    if isinstance(given, LoweringPass):
        return [Entry(graph_pass=given)]
    if callable(given):
        return [Entry(fx_pass=given)]
    if isinstance(given, Iterable):
        return [entry for one in given for entry in make_entries(one)]
    raise TypeError(f"passes are names, functions, or a list of these, not {given!r}")


def _named(name: str) -> list[Entry]:
    own = registered_pass(name)
    if own is not None:
        return [Entry(graph_pass=own)]
    function = _known_functions.get(name)
    if function is not None:
        return [Entry(fx_pass=function)]
    try:
        return [Entry(native=one) for one in native_entries(name)]
    except Error as error:
        close = nearest(name.split("{")[0], [*passes(), *_known_functions])
        if close and not error.hint:
            raise Error(error.message, where=error.where, notes=error.notes, hint=close) from None
        raise


class Pipeline:
    """An ordered list of passes. Text, functions over torch.fx, and passes over the native graph may be mixed.

        Pipeline(["remove-detach", my_pass, "default"])

    Methods that change it are safe to call from several threads; a run works on a copy.
    """

    def __init__(self, passes: Any = ()) -> None:
        self._lock = threading.RLock()
        self._entries: list[Entry] = make_entries(passes)

    @property
    def entries(self) -> list[Entry]:
        """A copy of the list."""
        with self._lock:
            return list(self._entries)

    def copy(self) -> Pipeline:
        return Pipeline(self.entries)

    def __reduce__(self) -> tuple[type[Pipeline], tuple[list[Entry]]]:
        """For `copy` and `pickle`, which go by the entries."""
        return Pipeline, (self.entries,)

    def __len__(self) -> int:
        return len(self.entries)

    def names(self) -> list[str]:
        return [entry.name for entry in self.entries]

    def add(
        self, passes: Any, *, index: int | None = None, before: str | None = None, after: str | None = None
    ) -> None:
        """Appends passes, or puts them at an index (negative ones count from the end), before or after a pass."""
        if sum(one is not None for one in (index, before, after)) > 1:
            raise TypeError("give one of index, before and after")
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(f"index is {index!r}; it is a whole number")
        made = make_entries(passes)
        with self._lock:
            at = len(self._entries)
            if index is not None:
                at = index
                if not -len(self._entries) <= index <= len(self._entries):
                    raise IndexError(f"index {index} is past the end of a list of {len(self._entries)} passes")
            elif before is not None:
                at = self._index_of(before)
            elif after is not None:
                at = self._index_of(after) + 1
            self._entries[at:at] = made

    def remove(self, which: int | str) -> None:
        """Removes a pass by index or name."""
        with self._lock:
            if isinstance(which, str):
                del self._entries[self._index_of(which)]
            elif isinstance(which, int) and not isinstance(which, bool):
                if not -len(self._entries) <= which < len(self._entries):
                    raise IndexError(f"there is no pass at {which}; the list has {len(self._entries)}")
                del self._entries[which]
            else:
                raise TypeError(f"a pass is removed by its index or name, not by {which!r}")

    def _index_of(self, name: str) -> int:
        found = [at for at, entry in enumerate(self._entries) if entry.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"{len(found)} passes are called {name!r}, at {found}; say which by index")
        raise ValueError(f"no pass is called {name!r}. {nearest(name, self.names()) or self.dump()}")

    def replace(self, passes: Any) -> None:
        """Puts other passes in place of all."""
        made = make_entries(passes)
        with self._lock:
            self._entries[:] = made

    def dump(self) -> str:
        """One pass a line: index, name, what it is and where it was written."""
        lines = [f"{at}: {entry.describe()}" for at, entry in enumerate(self.entries)]
        return "\n".join(lines) or "(no passes)"

    def __repr__(self) -> str:
        return f"Pipeline({self.names()})"

    def __call__(self, gm: fx.GraphModule, sample_inputs: Sequence[Any] = ()) -> fx.GraphModule:
        """Runs the passes over the module and gives back what the last one returned."""
        from winze.torch._run import run_pipeline

        return run_pipeline(gm, sample_inputs, self.entries)


_known_functions: dict[str, FxPass] = {}
_default = Pipeline(DEFAULT)
_private: contextvars.ContextVar[Pipeline | None] = contextvars.ContextVar("winze_passes", default=None)


def current_pipeline() -> Pipeline:
    """The list that is in force: that of the innermost `lowering_passes`, else the process-wide one."""
    return _private.get() or _default


@contextlib.contextmanager
def lowering_passes(passes: Any = None) -> Iterator[Pipeline]:
    """A private list for the code inside: registration, removal, dumps and compilation use it.

    Without `passes` it begins as a copy of the list in force. It holds for this thread (or task) alone. A function
    compiled inside keeps it for its backward graph and for recompilations.
    """
    made = current_pipeline().copy() if passes is None else Pipeline(passes)
    token = _private.set(made)
    try:
        yield made
    finally:
        _private.reset(token)


@overload
def aten_lowering_pass(function: Function, /) -> Function: ...
@overload
def aten_lowering_pass(
    *, index: int | None = None, before: str | None = None, after: str | None = None
) -> Callable[[Function], Function]: ...


def aten_lowering_pass(function: Any = None, /, **where: Any) -> Any:
    """Registers a function ``(gm, sample_inputs) -> gm`` as a lowering pass.

    Bare it is appended to the list in force; with ``index=`` it goes to that place, with ``before=`` or ``after=``
    next to the pass of that name. The function is given back as it is.

    ``gm`` is a `torch.fx.GraphModule` of ATen operators, ``sample_inputs`` the list of its inputs: fake tensors and
    symbolic numbers in a compilation, else what `apply_lowering_passes` was given. The pass edits and returns it, or
    returns another module with the same inputs and outputs.
    """
    for name in where:
        if name not in ("index", "before", "after"):
            raise TypeError(
                f"{name!r} is no option of aten_lowering_pass. {nearest(name, ['index', 'before', 'after'])}"
            )

    def register(given: Any) -> Any:
        if not callable(given) or isinstance(given, type):
            raise TypeError(f"a lowering pass is a function (gm, sample_inputs) -> gm, not {given!r}")
        current_pipeline().add([Entry(fx_pass=given)], **where)
        _known_functions[_name_of(given)] = given
        return given

    if function is None:
        return register
    return register(function)


def remove_lowering_pass(
    which: int | str | None = None, /, *, index: int | None = None, name: str | None = None
) -> None:
    """Removes a pass from the list in force, by index or name."""
    given = [one for one in (which, index, name) if one is not None]
    if len(given) != 1:
        raise TypeError("say which pass: remove_lowering_pass(index=1) or remove_lowering_pass(name='...')")
    current_pipeline().remove(given[0])


def dump_lowering_passes() -> str:
    """The list in force as text: one pass a line with its index."""
    return current_pipeline().dump()


def reset_lowering_passes() -> None:
    """Puts the list in force back to what the process began with."""
    current_pipeline().replace(DEFAULT)
