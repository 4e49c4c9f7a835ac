#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks rules that hold for every source file of the repository and prints each breach.

- Includes go only downwards in the order of the components, by full path from the root.
- A C++ file includes, itself or through our headers, what declares the types that it names: those of
  ours, and the commonest of the standard library. The compiler does not tell where it precompiles
  headers or compiles several sources as one.
- PyTorch's and Python's C++ headers are included by the parts that are made for them alone.
- A source file names its license in the first line (after `#!`), and has at most 550 lines.
- No file names a path of somebody's machine.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LAYERS = tuple("support symbolic schema ir program shape builders effects pass passes torch".split())
MAX_LINES = 550
SPDX = "SPDX-License-Identifier: Apache-2.0"

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
TORCH_HEADER = re.compile(r"^(torch|ATen|c10|caffe2)/")
PYTHON_HEADER = re.compile(r"^(Python\.h|pybind11/|nanobind/)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:tmp|work|opt|root|home|farm|Users|mnt)/")
SOURCE_SUFFIXES = {".h", ".cpp", ".py", ".sh", ".cmake"}

# Comments, texts, and test suites, which name no type.
NOT_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|\bTEST\(\w+')
# A type at the level of a namespace, with its definition.
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)\b(?=[^;(){]*\{)", re.MULTILINE)
# Anything that gives a type a name, wherever it stands.
NAMING = re.compile(r"\b(?:class|struct|enum|using|typename) (\w+)\b|^ *(\w+)(?=,$| = \w+,)", re.MULTILINE)
FORWARD = re.compile(r"^ *(?:friend )?(?:class|struct|enum class) (\w+)(?: : [\w:]+)?;", re.MULTILINE)
TYPE_NAME = re.compile(r"(?<!::)\b[A-Z]\w+")
STD_NAME = re.compile(r"\bstd::(\w+)")
STD_HEADERS = {
    name: header
    for header, names in {
        "array": "array",
        "cstdint": "int8_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
        "filesystem": "filesystem",
        "fstream": "ifstream ofstream",
        "functional": "function",
        "memory": "unique_ptr shared_ptr make_unique make_shared",
        "optional": "optional nullopt make_optional",
        "span": "span",
        "string": "string to_string",
        "string_view": "string_view",
        "tuple": "tuple tie",
        "unordered_map": "unordered_map",
        "variant": "variant visit get_if holds_alternative monostate",
        "vector": "vector",
    }.items()
    for name in names.split()
}


def component(path: Path) -> str | None:
    """The component that a file of winze/ belongs to, or None for any other file."""
    return path.parts[1] if len(path.parts) > 2 and path.parts[0] == "winze" else None


def check_includes(path: Path, text: str) -> Iterator[str]:
    own = component(path)
    if own is not None and own not in LAYERS:
        yield f"'winze/{own}' is not a component; add it to LAYERS in scripts/check_sources.py"
        return
    for quote, header in INCLUDE.findall(text):
        target = component(Path(header))
        if quote == '"' and target is None and "/" not in header and (path.parent / header).exists():
            yield f'"{header}" is to be included by its full path from the root'
        if TORCH_HEADER.match(header) and own != "torch" and path.parts[0] != "python":
            yield f"'{header}' belongs to PyTorch; only winze/torch and python may include it"
        if PYTHON_HEADER.match(header) and path.parts[0] != "python":
            yield f"'{header}' belongs to Python; only python may include it"
        if own is None or target is None:
            continue
        if target not in LAYERS:
            yield f"'{header}' is of no known component"
        elif LAYERS.index(target) > LAYERS.index(own):
            yield f"'{header}' is above: {own} may include only {', '.join(lower(own))}"


class IncludedTypes:
    """Which headers each C++ file reaches, and whether they declare what it names."""

    def __init__(self, texts: dict[Path, str]) -> None:
        self.code = {path: NOT_CODE.sub("", text) for path, text in texts.items()}
        self.direct = {path: {Path(header) for _, header in INCLUDE.findall(text)} for path, text in texts.items()}
        named: Counter[str] = Counter()
        for code in self.code.values():
            only_forward = set(FORWARD.findall(code)) - set(TYPE.findall(code))
            named.update({a or b for a, b in NAMING.findall(code)} - only_forward)
        # A name that stands for two things does not tell which header it needs.
        self.header_of = {
            name: path
            for path, code in self.code.items()
            if path.suffix == ".h"
            for name in TYPE.findall(code)
            if named[name] == 1
        }

    def reached(self, path: Path) -> set[Path]:
        seen = {path}
        queue = [path]
        while queue:
            for header in self.direct.get(queue.pop(), set()) - seen:
                seen.add(header)
                queue.append(header)
        return seen

    def check(self, path: Path) -> Iterator[str]:
        reached = self.reached(path)
        declared = {name for header in reached for name in FORWARD.findall(self.code.get(header, ""))}
        for name in sorted(set(TYPE_NAME.findall(self.code[path])) - declared):
            header = self.header_of.get(name)
            if header is not None and header not in reached:
                yield f"names {name} and does not include '{header}'"
        for name in sorted(set(STD_NAME.findall(self.code[path])) & STD_HEADERS.keys()):
            if Path(STD_HEADERS[name]) not in reached:
                yield f"names std::{name} and does not include <{STD_HEADERS[name]}>"


def lower(own: str) -> tuple[str, ...]:
    return LAYERS[: LAYERS.index(own) + 1]


def is_source(path: Path) -> bool:
    return path.suffix in SOURCE_SUFFIXES or path.name in ("CMakeLists.txt", "Makefile")


def is_generated(text: str) -> bool:
    return any("generated by" in line.lower() for line in text.splitlines()[:4])


def check_file(path: Path, text: str) -> Iterator[str]:
    """Yields what is wrong with one file, whose path is relative to the root."""
    lines = text.splitlines()
    if is_source(path):
        if not any(SPDX in line for line in lines[:2]):
            yield f"the first line is to be '{SPDX}' as a comment"
        if len(lines) > MAX_LINES and not is_generated(text):
            yield f"{len(lines)} lines; split it, at most {MAX_LINES} are allowed"
    if path.suffix in (".h", ".cpp"):
        yield from check_includes(path, text)
        if path.suffix == ".h" and "#pragma once" not in text:
            yield "a header is to have '#pragma once'"
    for number, line in enumerate(lines, 1):
        if found := MACHINE_PATH.search(line):
            yield f"line {number} names a path of one machine: {line[found.start() :][:60]}"


def repository_files(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return [Path(name) for name in listed.stdout.split("\0") if name]


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    problems = 0
    files = repository_files(root)
    texts = {}
    for path in files:
        try:
            texts[path] = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue  # a binary fixture, or removed and not yet committed
    types = IncludedTypes({path: text for path, text in texts.items() if path.suffix in (".h", ".cpp")})
    for path, text in texts.items():
        found = list(check_file(path, text))
        if path in types.code:
            found += types.check(path)
        for problem in found:
            print(f"{path}: {problem}")
        problems += len(found)
    print(f"check_sources: {len(files)} files, {problems} problems")
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())
