#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the repository's own C++ files, in parallel, and remembers clean files.

A file is skipped when it, the repository's headers that it includes, .clang-tidy, the version of
clang-tidy and the compile command are those of an earlier clean run.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

# What a test costs is not worth a less plain test.
TEST_CHECKS = "-performance-inefficient-*,-performance-unnecessary-*"
ROOT = Path(__file__).resolve().parent.parent
# Options of gcc that clang does not have, and what gcc precompiled.
OF_GCC = re.compile(r" -Winvalid-pch -include \S*cmake_pch\.hxx| --param=\S+")
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@cache
def contents(path: Path) -> bytes:
    return path.read_bytes()


@cache
def included(path: Path, build_dir: Path) -> frozenset[Path]:
    """The repository's and the generated headers that a file names directly."""
    found = set()
    for name in INCLUDE.findall(contents(path)):
        for folder in (ROOT, build_dir / "generated", path.parent):
            header = folder / name.decode()
            if header.is_file():
                found.add(header)
                break
    return frozenset(found)


def closure(path: Path, build_dir: Path) -> list[Path]:
    seen = {path}
    queue = [path]
    while queue:
        for header in included(queue.pop(), build_dir):
            if header not in seen:
                seen.add(header)
                queue.append(header)
    return sorted(seen)


def digest(path: Path, command: str, settings: bytes, build_dir: Path) -> str:
    state = hashlib.sha256(settings + command.encode())
    for part in closure(path, build_dir):
        state.update(str(part.relative_to(ROOT)).encode() + b"\0")
        state.update(hashlib.sha256(contents(part)).digest())
    return state.hexdigest()


def options_for(path: Path) -> list[str]:
    return [f"--checks={TEST_CHECKS}"] if path.stem.endswith("_test") else []


def tidy(tool: Path, path: Path, commands_dir: Path) -> tuple[int, str, float]:
    begin = time.monotonic()
    command = [str(tool), "--quiet", *options_for(path), "-p", str(commands_dir), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    findings = done.stdout
    if done.returncode != 0 and not findings.strip():
        findings = done.stderr
    return done.returncode, findings, time.monotonic() - begin


def own_sources(build_dir: Path, commands_dir: Path) -> dict[Path, str]:
    """Our files of the compilation database, with their commands; generated ones and those of packages are left out.

    `commands_dir` gets the database as clang can use it.
    """
    text = OF_GCC.sub("", (build_dir / "compile_commands.json").read_text())
    (commands_dir / "compile_commands.json").write_text(text)
    commands = json.loads(text)
    others = [build_dir, ROOT / ".venv"]
    sources = {}
    for entry in commands:
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not any(path.is_relative_to(folder) for folder in others):
            sources[path] = entry["command"]
    return sources


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--times", action="store_true", help="print the slowest files")
    options = parser.parse_args()
    build_dir = options.build_dir.resolve()

    tool = Path(sys.executable).parent / "clang-tidy"
    version = subprocess.run([tool, "--version"], check=True, capture_output=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    clean_dir = build_dir / "tidy"
    clean_dir.mkdir(exist_ok=True)

    sources = own_sources(build_dir, clean_dir)
    keys = {p: digest(p, " ".join([command, *options_for(p)]), settings, build_dir) for p, command in sources.items()}
    # The largest first, so that none of them is left to run alone at the end.
    todo = sorted(
        (p for p in sources if not (clean_dir / keys[p]).exists()),
        key=lambda p: -p.stat().st_size,
    )
    bad = 0
    times = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(tidy, tool, path, clean_dir): path for path in todo}
        for done in concurrent.futures.as_completed(running):
            path = running[done]
            code, findings, seconds = done.result()
            times.append((seconds, path.relative_to(ROOT)))
            if code == 0:
                (clean_dir / keys[path]).touch()
            else:
                bad += 1
                print(findings.strip(), flush=True)
    if options.times:
        for seconds, name in sorted(times, reverse=True)[:20]:
            print(f"{seconds:6.1f} s  {name}")
    unchanged = len(sources) - len(todo)
    print(f"clang-tidy: {len(sources)} files, {unchanged} known to be clean, {bad} with findings")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
