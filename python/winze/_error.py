# SPDX-License-Identifier: Apache-2.0
"""The errors that Winze raises."""

from collections.abc import Sequence


class Error(Exception):
    """A failure that its reader can do something about.

    Attributes are empty strings (or an empty tuple) where nothing is known.

    - ``message``: what is wrong; it quotes the offending text
    - ``node``: the node in text form
    - ``source``: the user's own line, ``file.py:12, in forward: y = x + 1``
    - ``where``: file, record and position of what was read
    - ``notes``: further facts
    - ``hint``: what to do
    - ``pass_name``: the pass that failed
    """

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        node: str = "",
        source: str = "",
        where: str = "",
        notes: Sequence[str] = (),
        hint: str = "",
        pass_name: str = "",
    ) -> None:
        self.message = message
        self.node = node
        self.source = source
        self.where = where
        self.notes = tuple(notes)
        self.hint = hint
        self.pass_name = pass_name
        super().__init__(text or self._text())

    def _text(self) -> str:
        lines = [self.message]
        lines += [f"  node: {self.node}"] if self.node else []
        lines += [f"  source: {self.source}"] if self.source else []
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)


class InternalError(Error):
    """A broken invariant of Winze itself: never the user's fault. Please report it."""
