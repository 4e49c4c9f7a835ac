# SPDX-License-Identifier: Apache-2.0
"""What ``torch.compile(backend="winze", mode=..., options=...)`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from winze._suggest import nearest
from winze.torch._pipeline import Entry, Pipeline, current_pipeline

Compiler = Callable[[Any, Sequence[Any]], Callable[..., Any]]
THEN = ("eager", "inductor")
ON_FAILURE = ("raise", "warn")
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@dataclass(frozen=True)
class Settings:
    """Checked options.

    - ``passes``: what to run; default: the list in force (`dump_lowering_passes`)
    - ``then``: who makes the lowered graph run: ``"eager"``, ``"inductor"``, or ``(gm, inputs) -> callable``. With a
      ``mode`` other than ``"default"``, all of which are Inductor's, it is ``"inductor"``
    - ``then_options``: Inductor's own options
    - ``check``: at the first call of each graph compare it on its real inputs with the graph before the passes
    - ``on_failure``: of a pass: ``"raise"``, or ``"warn"`` and go on with the graph before the passes
    """

    entries: list[Entry] = field(default_factory=list)
    then: str | Compiler = "eager"
    then_options: dict[str, Any] = field(default_factory=dict)
    check: bool = False
    on_failure: str = "raise"


OPTIONS = ("passes", "then", "then_options", "check", "on_failure")


def make_settings(mode: str | None, options: Mapping[str, Any] | None, kept: list[Entry] | None = None) -> Settings:
    """Checks mode and options. Raises ValueError or TypeError that quotes the value and names the nearest.

    `kept` are the passes of an earlier compilation with these options.
    """
    given = _mapping("options", options)
    for name in given:
        if name not in OPTIONS:
            raise ValueError(f"{name!r} is no option of the backend winze. {_hint(name, OPTIONS)}")
    entries = entries_now(given.get("passes")) if kept is None else kept
    if mode is not None:
        _check_word("mode", mode, MODES)
    is_of_inductor = mode not in (None, "default")
    then = given.get("then", "inductor" if is_of_inductor else "eager")
    if isinstance(then, str):
        _check_word("then", then, THEN, "; a function (gm, inputs) -> callable will do too")
    elif not callable(then):
        raise TypeError(f"option 'then' is {then!r}; it is 'eager', 'inductor' or a function (gm, inputs) -> callable")
    check = given.get("check", False)
    if not isinstance(check, bool):
        raise TypeError(f"option 'check' is {check!r}; it is True or False")
    on_failure = given.get("on_failure", "raise")
    _check_word("on_failure", on_failure, ON_FAILURE)
    then_options = _mapping("option 'then_options'", given.get("then_options"))
    if then_options:
        if then != "inductor":
            raise ValueError("option 'then_options' holds options of Inductor; give 'then': 'inductor' too")
        then_options = _inductor_options(then_options)
    if mode is not None and is_of_inductor:
        if then != "inductor":
            raise ValueError(
                f"mode {mode!r} is one of Inductor's, and option 'then' is {then!r}; leave one of them out"
            )
        then_options = _inductor_mode(mode) | then_options
    return Settings(entries, then, then_options, check, on_failure)


def entries_now(passes: Any) -> list[Entry]:
    """What the option `passes` stands for: without it the list in force."""
    return current_pipeline().entries if passes is None else Pipeline(passes).entries


def _mapping(what: str, given: Any) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{what} is {given!r}; it is a dictionary of names and values")
    for name in given or {}:
        if not isinstance(name, str):
            raise TypeError(f"{what} has the key {name!r}; keys are names")
    return dict(given or {})


def _inductor_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the names that Inductor knows them by; hyphens are as good as underscores, as in
    ``torch.compile``."""
    from torch._inductor import config

    known = config.get_config_copy()
    for name in options:
        if name.replace("-", "_") not in known:
            raise ValueError(f"{name!r} is no option of Inductor. {nearest(name, list(known))}".rstrip())
    return {name.replace("-", "_"): value for name, value in options.items()}


def _inductor_mode(mode: str) -> dict[str, Any]:
    from torch._inductor import list_mode_options

    return dict(list_mode_options(mode))


def _check_word(option: str, value: Any, words: Sequence[str], more: str = "") -> None:
    if not isinstance(value, str):
        raise TypeError(f"option {option!r} is {value!r}; it is one of {', '.join(map(repr, words))}{more}")
    if value not in words:
        raise ValueError(f"option {option!r} is {value!r}. {_hint(value, words)}{more}")


def _hint(name: str, words: Sequence[str]) -> str:
    return nearest(name, words) or f"There are {', '.join(map(repr, words))}"
