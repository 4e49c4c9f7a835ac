# SPDX-License-Identifier: Apache-2.0
"""One list of passes for all that one `torch.compile` compiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import fx
from torch._dynamo.symbolic_convert import InstructionTranslator

from winze.torch._options import Settings, entries_now, make_settings
from winze.torch._pipeline import Entry, Pipeline

Compile = Callable[[fx.GraphModule, Sequence[Any], Settings], Callable[..., Any]]


class KeptList:
    """The backend of one ``torch.compile``, which keeps the list that was in force when it compiled first, for
    recompilations too, until ``torch._dynamo.reset()``.

    Dynamo shares what it compiled of a function among all that ``torch.compile`` made of it with equal backends. Those
    with other lists are not equal.
    """

    __hash__ = None  # type: ignore[assignment]  # what it equals changes; object has a function here

    def __init__(self, backends: Sequence[Any], compile_: Compile) -> None:
        self._backends = backends  # the spellings of what it stands for
        self._compile = compile_
        self._entries: list[Entry] | None = None
        self._passes: Any = None  # the option

    def __call__(
        self,
        gm: fx.GraphModule,
        example_inputs: Sequence[Any],
        *,
        mode: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Callable[..., Any]:
        settings = make_settings(mode, options, self._entries)
        self._passes = (options or {}).get("passes")
        self._entries = settings.entries
        return self._compile(gm, example_inputs, settings)

    def reset(self) -> None:
        self._entries = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeptList):
            return self._now() == other._now()
        return self._now() == self._in_force() if other in self._backends else NotImplemented

    def _now(self) -> list[Entry] | None:
        return self._in_force() if self._entries is None else self._entries

    def _in_force(self) -> list[Entry] | None:
        """The list that a compilation with the same options would get now."""
        may_differ = self._passes is None or isinstance(self._passes, Pipeline)
        return entries_now(self._passes) if may_differ else self._entries

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any]]:
        """A copy of what was compiled keeps no list."""
        return _itself, (self._backends[0],)


def _itself(backend: Any) -> Any:
    return backend


def kept_list(backends: Sequence[Any], compile_: Compile) -> KeptList | None:
    """Puts a list to keep in the place of the backend of the ``torch.compile`` that is compiling. None where that has
    another backend, which calls one of these, and where another of Dynamo's ways leads here."""
    try:
        compiler: Any = InstructionTranslator.current_tx().output.compiler_fn
    except AttributeError:
        return None
    while hasattr(compiler, "_torchdynamo_orig_backend"):
        compiler = compiler._torchdynamo_orig_backend
    if type(compiler).__name__ != "_TorchCompileWrapper" or not any(compiler.compiler_fn is each for each in backends):
        return None
    kept = compiler.compiler_fn = KeptList(backends, compile_)
    return kept
