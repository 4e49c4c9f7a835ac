# SPDX-License-Identifier: Apache-2.0
"""Runs the console blocks of a Markdown page and compares what they show with what comes out.

    ```console
    $ winze passes dead-code
    dead-code  Removes nodes ...
    ...
    ```

- A line `$ COMMAND` is run by bash; a backslash at its end continues it in the next line. The lines
  up to the next command are its output, standard error included. Blocks of any other language
  (`sh`) are not run.
- `...` stands for any text within a line, and alone in a line for any number of lines.
- A command has to succeed, unless the block's next command is `echo $?`.
- The blocks of a page share one folder. `<!-- setup: COMMAND -->` runs a command that the reader
  does not see; `<!-- file: NAME -->` writes the fenced block that follows it into a file.
"""

import itertools
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w+-]*)")
DIRECTIVE = re.compile(r"^<!--\s*(setup|file):\s*(.*?)\s*-->$")
TIMEOUT_SECONDS = 120


@dataclass
class Step:
    """A command of a page with the output it shows, or a file to write before the next one."""

    line: int
    command: str = ""
    shown: list[str] | None = None  # None: not compared
    may_fail: bool = False
    file: str = ""
    content: list[str] = field(default_factory=list)


def blocks(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The fenced blocks: line number of the first line inside, language, lines."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        number += 1
        if not opening:
            continue
        indent, fence, language = opening.groups()
        start = number
        while number < len(lines) and not lines[number].strip().startswith(fence):
            number += 1
        yield start, language, [line.removeprefix(indent) for line in lines[start:number]]
        number += 1


def block_steps(first_line: int, lines: list[str]) -> list[Step]:
    found: list[Step] = []
    continued = False
    for number, line in enumerate(lines, first_line + 1):
        if continued:
            found[-1].command += "\n" + line
        elif line.startswith("$ "):
            found.append(Step(number, line[2:], []))
        elif found and found[-1].shown is not None:
            found[-1].shown.append(line)
        elif line.strip():
            raise AssertionError(f"line {number}: output before the first command: {line}")
        continued = bool(found) and found[-1].command.endswith("\\") and not found[-1].shown
    for step, following in itertools.pairwise(found):
        step.may_fail = following.command.startswith("echo $?")
    return found


def page_steps(text: str) -> list[Step]:
    """All that a page asks to run and to write, in its order."""
    lines = text.split("\n")
    named: dict[int, str] = {}
    found = []
    for number, line in enumerate(lines, 1):
        directive = DIRECTIVE.match(line.strip())
        if directive and directive[1] == "setup":
            found.append(Step(number, directive[2]))
        elif directive:
            named[number] = directive[2]
    for first, language, content in blocks(text):
        files = [n for n in named if first - 2 <= n < first]
        if files:
            found.append(Step(first, file=named[files[-1]], content=content))
        elif language == "console":
            found += block_steps(first, content)
    return sorted(found, key=lambda step: step.line)


def line_matches(shown: str, actual: str) -> bool:
    parts = [re.escape(part) for part in shown.rstrip().replace("\u2026", "...").split("...")]
    return re.fullmatch(".*".join(parts), actual.rstrip()) is not None


def output_matches(shown: list[str], actual: list[str]) -> bool:
    """Whether the output is as shown. Linear in the product of the two, whatever the wildcards."""
    reachable = {0}
    for line in shown:
        if line.strip() in ("...", "\u2026"):
            reachable = set(range(min(reachable), len(actual) + 1)) if reachable else set()
        else:
            reachable = {i + 1 for i in reachable if i < len(actual) and line_matches(line, actual[i])}
    return len(actual) in reachable


def trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def run_page(text: str, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Runs a page in the folder; returns what was not as the page shows it."""
    problems = []
    status = 0
    for step in page_steps(text):
        if step.file:
            target = folder / step.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(step.content) + "\n")
            continue
        done = subprocess.run(
            ["bash", "-c", f"(exit {status})\n{step.command}"],
            cwd=folder,
            env=os.environ | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        status = done.returncode
        actual = trimmed(done.stdout.split("\n"))
        if status != 0 and not step.may_fail:
            problems.append(f"line {step.line}: `{step.command}` exits {status}:\n{done.stdout}")
        elif step.shown is not None and not output_matches(trimmed(step.shown), actual):
            shown = "\n".join(trimmed(step.shown))
            printed = "\n".join(actual)
            problems.append(f"line {step.line}: `{step.command}` shows\n{shown}\n--- but prints\n{printed}")
    return problems
