# SPDX-License-Identifier: Apache-2.0
"""Exported programs in files."""

import os
import time
from collections.abc import Callable, Sequence

from winze import _html, _native
from winze._log import logger
from winze._passes import (
    LoweringPass,
    PassesLike,
    load_pass_plugin,
    loaded_plugins,
    parse_entries,
    run_on_graph,
)
from winze._report import PassReport, Report

Path = str | os.PathLike[str]
Progress = Callable[[int, int, str], None]


class Program:
    """An exported program: graph, signature, ranges and weights by reference. Made by `load`."""

    def __init__(self, native: _native.Program) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """Of the model in its archive."""
        return self._native.name

    @property
    def torch_version(self) -> str:
        """Of the PyTorch that wrote it, such as ``2.13.0+cpu``."""
        return self._native.torch_version

    @property
    def graph(self) -> _native.Graph:
        """The graph, with torch.fx's names; edits go into the program."""
        return self._native.graph

    @property
    def warnings(self) -> list[str]:
        """What was said when it was read."""
        return self._native.warnings

    def lower(
        self, passes: PassesLike = "default", *, verify_each: str = "changed", progress: Progress | None = None
    ) -> Report:
        """Runs a pipeline in place and says what each pass did.

        ``passes`` is a text (``"remove-detach, dead-code"``) or a list of such texts and of passes made by
        `winze.lowering_pass`. ``progress`` is called before each with index, count and name. Raises Error that names
        the pass which failed; the program is then as it was before that pass.
        """
        report = Report()
        entries = parse_entries(passes)
        for index, entry in enumerate(entries):
            name = entry if isinstance(entry, str) else entry.name
            logger.debug("pass %s (%d of %d)", name, index + 1, len(entries))
            if progress is not None:
                progress(index, len(entries), name)
            report += self._run_native(entry, verify_each) if isinstance(entry, str) else self._run_python(entry)
        return report

    def _run_native(self, entry: str, verify_each: str) -> Report:
        return Report.from_json(self._native.run(entry, verify_each, loaded_plugins()))

    def _run_python(self, entry: LoweringPass) -> Report:
        native = self._native
        before, nodes, start = native.edit_count, len(native.graph), time.perf_counter()
        run_on_graph(entry, native)
        seconds = time.perf_counter() - start
        done = PassReport(
            entry.name,
            edits=native.edit_count - before,
            seconds=seconds,
            nodes_before=nodes,
            nodes_after=len(native.graph),
        )
        return Report((done,), seconds)

    def save(self, path: Path, *, torch_version: str = "") -> list[str]:
        """Writes it, as text where the path ends in ``.wz``, else as ``.pt2``; gives warnings.

        The file appears whole or stays as it was. ``torch_version`` is the release to write for, such as ``2.13``.
        """
        return self._native.save(os.fspath(path), torch_version)

    def verify(self) -> list[str]:
        """Every finding of the verifier; nothing means that all is well."""
        return self._native.verify()

    def print_readable(self) -> str:
        """The graph as text, the user's own lines as comments."""
        return self._native.print_readable()

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<winze.Program {self.name!r}: {len(self.graph)} nodes, torch {self.torch_version}>"

    def _repr_html_(self) -> str:
        return _html.program_table(repr(self), self.graph)


def load(path: Path, *, ops: Sequence[Path] = ()) -> Program:
    """Reads an exported program, a ``.pt2`` or a text; nothing in it is executed.

    ``ops`` are files with the schemas of custom operators. Raises Error that names file, record and position.
    """
    return Program(_native.Program.load(os.fspath(path), [os.fspath(one) for one in ops], loaded_plugins()))


def lower(
    path: Path,
    output: Path,
    *,
    passes: PassesLike = "default",
    torch_version: str = "",
    verify_each: str = "changed",
    plugins: Sequence[Path] = (),
    ops: Sequence[Path] = (),
) -> Report:
    """Reads the program at ``path``, runs the pipeline, and writes it to ``output``.

    As `winze lower`, which see: the file appears whole or stays as it was. ``plugins`` are shared libraries with
    further native passes, for `load_pass_plugin`. Python's lock is free meanwhile unless a pass is written in Python.
    Raises Error.
    """
    for plugin in plugins:
        load_pass_plugin(plugin)
    if isinstance(passes, str) and all(isinstance(one, str) for one in parse_entries(passes)):
        text = _native.lower_file(
            os.fspath(path),
            os.fspath(output),
            passes,
            torch_version,
            verify_each,
            loaded_plugins(),
            [os.fspath(one) for one in ops],
            lambda line: logger.info("%s", line.rstrip("\n")),
        )
        return Report.from_json(text)
    program = load(path, ops=ops)
    report = program.lower(passes, verify_each=verify_each)
    for warning in program.save(output, torch_version=torch_version):
        logger.warning("%s", warning)
    return report
