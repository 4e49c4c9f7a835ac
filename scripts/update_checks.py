#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the expected text of text tests anew from what the commands print now.

    scripts/update_checks.py [--build-dir build] [FILE...]

Of each `// RUN: COMMAND | filecheck %s` the command is run and its output becomes the CHECK lines,
in the place of the first line that had been one (at the end of a file that had none). A file with
`// CHECKS: by hand` keeps its lines. Read the change in review: it is what the pass now does.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = re.compile(r"^//\s*RUN:\s*(.*?)\s*\|\s*filecheck\s+(.*)$")
BY_HAND = "// CHECKS: by hand"
# What differs from checkout to checkout is not expected word for word.
VARYING = (
    (re.compile(r'"[^"]*\.pt2"'), r'"{{.*\.pt2}}"'),
    (re.compile(r"xxh3:[0-9a-f]+"), r"xxh3:{{[0-9a-f]+}}"),
)


def prefix_of(arguments: str) -> str:
    found = re.search(r"--check-prefix(?:=|\s+)(\S+)", arguments)
    return found[1] if found else "CHECK"


def is_check(line: str, prefixes: set[str]) -> bool:
    return any(re.match(rf"\s*//\s*{re.escape(p)}(-[A-Z]+)?:", line) for p in prefixes)


def escape(line: str) -> str:
    """The line as a pattern that matches it alone."""
    line = re.sub(r"(\{\{|\[\[)", lambda m: "{{" + re.escape(m[1]) + "}}", line)
    for pattern, replacement in VARYING:
        line = pattern.sub(lambda _, r=replacement: r, line)  # type: ignore[misc]
    return line


def check_lines(output: str, prefix: str) -> list[str]:
    """CHECK lines that expect just this output, line after line."""
    lines = []
    directive = prefix
    for line in output.rstrip("\n").split("\n"):
        if line.strip():
            lines.append(f"// {directive}: {escape(line)}".rstrip())
        elif lines:
            lines.append(f"// {prefix}-EMPTY:")
        directive = f"{prefix}-NEXT" if lines else prefix
    return lines


def run_command(command: str, path: Path, build_dir: Path) -> str:
    """Runs what a RUN line says before `| filecheck`, as lit would."""
    for name, value in (("%s", path), ("%S", path.parent), ("%build_dir", build_dir)):
        command = re.sub(rf"{name}\b", shlex.quote(str(value)), command)
    tools = [str(build_dir / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    negated = command.startswith("not ")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.removeprefix("not ")],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": os.pathsep.join(tools)},
    )
    if (done.returncode != 0) != negated:
        raise SystemExit(f"{path}: `{command}` exits {done.returncode}\n{done.stderr}")
    return done.stdout


def updated(text: str, path: Path, build_dir: Path) -> str:
    """The text of a test with its CHECK lines made anew."""
    lines = text.rstrip("\n").split("\n")
    runs = [m for line in lines if (m := RUN.match(line))]
    if not runs or BY_HAND in text:
        return text
    expected: list[str] = []
    for run in runs:
        if expected:
            expected.append("")
        expected += check_lines(run_command(run[1], path, build_dir), prefix_of(run[2]))
    prefixes = {prefix_of(run[2]) for run in runs}
    place = next((i for i, line in enumerate(lines) if is_check(line, prefixes)), None)
    kept = [line for line in lines if not is_check(line, prefixes)]
    if place is None:
        kept.append("")
        place = len(kept)
    kept[place:place] = expected
    return "\n".join(kept).rstrip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=Path("build"))
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    folders = (ROOT / "winze", ROOT / "tests", ROOT / "examples")
    files = options.files or sorted(p for f in folders for p in f.rglob("*.wz"))
    changed = 0
    for path in files:
        path = path.resolve()
        before = path.read_text()
        after = updated(before, path, options.build_dir.resolve())
        if after != before:
            path.write_text(after)
            changed += 1
            print(f"updated {path.relative_to(ROOT)}")
    print(f"update_checks: {len(files)} tests, {changed} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
