# SPDX-License-Identifier: Apache-2.0
"""Passes written in Python over the native graph, and the pipelines that hold them."""

import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from winze import _native
from winze._error import Error

GraphFunction = Callable[[_native.Graph], object]


@dataclass(frozen=True)
class LoweringPass:
    """A pass over the native graph, written in Python. Calling it calls the function."""

    name: str
    function: GraphFunction
    summary: str = ""

    def __call__(self, graph: _native.Graph) -> object:
        return self.function(graph)


_NAME = re.compile(r"[\w.-]+")

_lock = threading.Lock()
_registered: dict[str, LoweringPass] = {}
_plugins: list[str] = []


def load_pass_plugin(path: str | os.PathLike[str]) -> list[str]:
    """Loads a shared library of native passes; pipelines of this process then take them by name. Gives their names.

    It stays loaded. Raises Error where the file is missing, no plugin, built for another Winze, or has a pass whose
    name is taken. A library that is loaded already is left as it is.
    """
    file = os.path.abspath(os.fspath(path))  # noqa: PTH100 (symbolic links stay what they are)
    with _lock:
        known = dict(_native.list_passes(_plugins))
        if file in _plugins:
            others = dict(_native.list_passes([one for one in _plugins if one != file]))
            return [name for name in known if name not in others]
        now = dict(_native.list_passes([*_plugins, file]))
        made = [name for name in now if name not in known]
        for name in made:
            if name in _registered:
                raise Error(f"plugin {file} has a pass {name!r}, which is the name of one registered from Python")
        _plugins.append(file)
    return made


def loaded_plugins() -> list[str]:
    """The plugins of this process, in the order in which they were loaded."""
    with _lock:
        return list(_plugins)


@overload
def lowering_pass(function: GraphFunction, /) -> LoweringPass: ...
@overload
def lowering_pass(*, name: str) -> Callable[[GraphFunction], LoweringPass]: ...


def lowering_pass(function: GraphFunction | None = None, /, *, name: str | None = None) -> Any:
    """Registers a function over a `winze.Graph` as a pass; pipelines then take it by name.

    The name is that of the function with hyphens, unless one is given. The function edits the graph in place; what
    it returns is not looked at. It replaces a pass registered before under the same name, but no native one.
    """

    def register(given: GraphFunction) -> LoweringPass:
        if not callable(given):
            raise TypeError(f"a pass is a function over a graph, not {given!r}")
        own_name = getattr(given, "__name__", "").replace("_", "-") if name is None else name
        if not isinstance(own_name, str):
            raise TypeError(f"the name of a pass is {own_name!r}; it is a text")
        if _NAME.fullmatch(own_name) is None:
            raise ValueError(
                f"{own_name!r} is no name that a pipeline can hold; give one of letters, digits and hyphens with name="
            )
        if own_name in dict(_native.list_passes(loaded_plugins())):
            raise ValueError(f"{own_name!r} is the name of a native pass; register yours with another name=")
        summary = (given.__doc__ or "").strip().split("\n")[0]
        made = LoweringPass(own_name, given, summary)
        with _lock:
            _registered[own_name] = made
        return made

    return register if function is None else register(function)


def registered_pass(name: str) -> LoweringPass | None:
    """The pass that was registered under the name."""
    with _lock:
        return _registered.get(name)


def passes() -> dict[str, str]:
    """Name and summary of every pass and named pipeline: native ones, and those registered from Python."""
    known = dict(_native.list_passes(loaded_plugins()))
    with _lock:
        return known | {one.name: one.summary for one in _registered.values()}


Entry = str | LoweringPass
PassesLike = str | Callable[..., Any] | Iterable[Any]


def split_pipeline(text: str) -> list[str]:
    """The entries of a pipeline in text form: split at commas outside of braces and quotes."""
    entries, depth, quote, start = [], 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == "," and depth == 0:
            entries.append(text[start:at].strip())
            start = at + 1
    entries.append(text[start:].strip())
    return [] if entries == [""] else entries


def native_entries(entry: str) -> list[str]:
    """Checks one native entry and gives the passes that it stands for. Raises Error with the nearest names."""
    return list(_native.expand_pipeline(entry, loaded_plugins()))


def parse_entries(passes_given: PassesLike) -> list[Entry]:
    """A pipeline as given (text, or a list of texts and passes) as a list of native entries and Python passes."""
    if isinstance(passes_given, LoweringPass):
        return [passes_given]
    if isinstance(passes_given, str):
        given: Sequence[Any] = split_pipeline(passes_given)
    elif isinstance(passes_given, Iterable):
        given = list(passes_given)
    else:
        raise TypeError(f"passes are a text or a list of names and passes, not {passes_given!r}")
    entries: list[Entry] = []
    for one in given:
        if isinstance(one, LoweringPass):
            entries.append(one)
        elif isinstance(one, str):
            for name in split_pipeline(one):
                own = registered_pass(name)
                entries += [own] if own else native_entries(name)
        else:
            raise TypeError(f"{one!r} is no pass over native graphs: neither a name nor made by @winze.lowering_pass")
    return entries


def run_on_graph(given: LoweringPass, holder: _native.Program | _native.FxBridge, *, keep_inputs: bool = True) -> None:
    """Runs a Python pass over the holder's graph and checks what it left. Raises Error that names the pass; the graph
    is then as it was before.
    """
    inputs, results = _counts(holder.graph)
    holder.begin(given.name)
    try:
        given(holder.graph)
        holder.infer_metas()
        holder.graph.lint()
        inputs_now, results_now = _counts(holder.graph)
        if keep_inputs and inputs_now != inputs:
            raise Error(
                f"it changed the number of inputs from {inputs} to {inputs_now}",
                hint="whoever calls the program passes what it had at first; nested graphs may have other inputs",
            )
        if results_now != results:
            raise Error(
                f"it changed the number of results from {results} to {results_now}",
                hint="whoever calls the program expects what it had at first",
            )
    except BaseException as error:
        holder.undo()
        if isinstance(error, Exception):
            raise pass_error(given.name, error) from error
        raise
    holder.commit()


def _counts(graph: _native.Graph) -> tuple[int, int]:
    """How many inputs and results the graph has."""
    (results,) = graph.output_node().args
    return len(graph.find_nodes(op="placeholder", sort=False)), len(results)


def pass_error(name: str, error: BaseException) -> Error:
    """What a pass raised, as an error that names the pass."""
    if isinstance(error, Error):
        return type(error)(
            f"pass {name} failed: {error.message}",
            node=error.node,
            source=error.source,
            where=error.where,
            notes=error.notes,
            hint=error.hint,
            pass_name=name,
        )
    try:
        text = str(error)
    except Exception:  # an exception may be wrong itself
        text = "it has no text"
    return Error(f"pass {name} failed: {type(error).__name__}: {text}", pass_name=name)
