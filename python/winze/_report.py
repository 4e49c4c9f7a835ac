# SPDX-License-Identifier: Apache-2.0
"""What a pipeline did, as objects."""

import json
from dataclasses import dataclass, field
from typing import Any

from winze._error import Error


@dataclass(frozen=True)
class PassReport:
    """What one pass did. Times are in seconds; nodes count those of nested graphs too."""

    name: str
    options: str = ""
    status: str = "ran"
    reason: str = ""
    edits: int = 0
    seconds: float = 0.0
    nodes_before: int = 0
    nodes_after: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    statistics: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.name}{self.options}: {self.status}, {self.edits} edits, {self.seconds * 1e3:.2f} ms"
        return text + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Report:
    """What a pipeline did to a program."""

    passes: tuple[PassReport, ...] = ()
    seconds: float = 0.0

    @property
    def edits(self) -> int:
        return sum(one.edits for one in self.passes)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(f"{one.name}: {warning}" for one in self.passes for warning in one.warnings)

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.passes)

    def __add__(self, other: "Report") -> "Report":
        return Report(self.passes + other.passes, self.seconds + other.seconds)

    @staticmethod
    def from_json(text: str) -> "Report":
        """Reads the report that the native pass manager and ``winze lower --report`` write.

        Raises the Error that it holds.
        """
        data: dict[str, Any] = json.loads(text)
        error = data.get("error")
        if error:
            parts = ("text", "node", "source", "notes", "hint")
            raise Error(error["message"], where=error["file"], **{part: error[part] for part in parts})
        known = PassReport.__dataclass_fields__
        passes = []
        for one in data.get("passes", ()):
            kept: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value for key, value in one.items() if key in known
            }
            passes.append(PassReport(**kept))
        return Report(tuple(passes), data.get("seconds", 0.0))
