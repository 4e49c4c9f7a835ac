#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the repository's own C++ files, in parallel, and remembers clean files.

A file is skipped when it, the repository's headers that it includes, .clang-tidy, the version of
clang-tidy and the compile command are those of an earlier clean run.

Files that the build compiles as one are read as one, since most of the time goes into the headers
that they share.
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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# What a test costs is not worth a less plain test.
TEST_CHECKS = "-performance-inefficient-*,-performance-unnecessary-*"
ROOT = Path(__file__).resolve().parent.parent
# Options of gcc that clang does not have, and what gcc precompiled.
OF_GCC = re.compile(r" -Winvalid-pch -include \S*cmake_pch\.hxx| --param=\S+| -Wno-subobject-linkage")
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


@dataclass
class Batch:
    """Files that are read as one; `main` is what clang-tidy is told to read."""

    main: Path
    files: list[Path]

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files)

    def name(self) -> str:
        return ", ".join(str(path.relative_to(ROOT)) for path in self.files)


def options_for(path: Path) -> list[str]:
    checks = "-bugprone-suspicious-include"
    return [f"--checks={checks},{TEST_CHECKS}" if path.stem.endswith("_test") else f"--checks={checks}"]


def tidy(tool: Path, batch: Batch, commands_dir: Path) -> tuple[int, str, float]:
    begin = time.monotonic()
    config = f"--config-file={ROOT / '.clang-tidy'}"
    command = [str(tool), "--quiet", config, *options_for(batch.files[0]), "-p", str(commands_dir), str(batch.main)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    findings = done.stdout
    if done.returncode != 0 and not findings.strip():
        findings = done.stderr
    return done.returncode, findings, time.monotonic() - begin


def compiled_by(entry: dict[str, str]) -> list[Path]:
    """The sources that a command of the compilation database compiles: several in a unity build."""
    path = Path(entry["directory"], entry["file"]).resolve()
    if path.parent.name != "Unity":
        return [path]
    return [Path(name.decode()) for name in INCLUDE.findall(path.read_bytes())]


def own_sources(build_dir: Path) -> list[tuple[str, list[Path]]]:
    """Commands as clang can use them, without their file, and our files that each compiles; generated ones and
    those of packages are left out."""
    text = OF_GCC.sub("", (build_dir / "compile_commands.json").read_text())
    others = [build_dir, ROOT / ".venv"]
    seen: set[Path] = set()
    sources = []
    for entry in json.loads(text):
        files = [
            path
            for path in compiled_by(entry)
            if path.is_relative_to(ROOT)
            and path not in seen  # several targets may have it
            and not any(path.is_relative_to(folder) for folder in others)
        ]
        seen.update(files)
        sources.append((" ".join(entry["command"].split(" -o ")[0].split()), files))
    return sources


def write_batches(sources: list[tuple[str, list[Path]]], folder: Path) -> list[Batch]:
    """Files that include those of each command, with their compilation database, in `folder`. The largest come
    first, so that none is left to run alone at the end."""
    batches: list[Batch] = []
    entries = []
    for command, files in sources:
        for options in {tuple(options_for(path)) for path in files}:
            main = folder / f"batch_{len(batches)}.cpp"
            batch = Batch(main, [path for path in files if tuple(options_for(path)) == options])
            main.write_text("".join(f'#include "{path}"\n' for path in batch.files))
            batches.append(batch)
            entries.append({"directory": str(ROOT), "file": str(main), "command": f"{command} -c {main}"})
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return sorted(batches, key=lambda batch: -batch.size())


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

    sources = own_sources(build_dir)
    keys = {
        path: digest(path, " ".join([command, *options_for(path)]), settings, build_dir)
        for command, files in sources
        for path in files
    }
    clean = {path for path, key in keys.items() if (clean_dir / key).exists()}
    todo = [(command, [path for path in files if path not in clean]) for command, files in sources]
    batches = write_batches(todo, clean_dir)
    bad = 0
    times = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(tidy, tool, batch, clean_dir): batch for batch in batches}
        for done in concurrent.futures.as_completed(running):
            batch = running[done]
            code, findings, seconds = done.result()
            times.append((seconds, batch.name()))
            if code == 0:
                for path in batch.files:
                    (clean_dir / keys[path]).touch()
            else:
                bad += len(batch.files)
                print(findings.strip(), flush=True)
    if options.times:
        for seconds, name in sorted(times, reverse=True)[:20]:
            print(f"{seconds:6.1f} s  {name}")
    print(f"clang-tidy: {len(keys)} files, {len(clean)} known to be clean, {bad} with findings or beside one")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
