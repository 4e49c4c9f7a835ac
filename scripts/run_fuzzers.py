#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each libFuzzer target of a build folder from its seed corpus: for a number of seconds, or
with `--short` as continuous integration does, which makes the same choices and as many each time.

The targets and their seeds are those of the build's tests `fuzz.NAME`; a dictionary is taken from
`fuzz/NAME.dict` where there is one. What a target learns in seconds stays in the build folder. So does
an input that fails, and the command that repeats the failure is printed.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Inputs of a short run: about 20 seconds of each target under the sanitizers.
SHORT_RUNS = {"json_reader": 150_000, "zip_reader": 300_000, "pickle": 200_000, "text": 5_000}
SHORT_RUNS_OF_OTHERS = 50_000


@dataclass(frozen=True)
class Target:
    name: str
    program: str
    seeds: list[str]


def targets_of(build_dir: Path) -> list[Target]:
    """The tests `fuzz.NAME`, whose command is the target, its options and its seeds."""
    listed = subprocess.run(
        ["ctest", "--test-dir", build_dir, "--show-only=json-v1"], check=True, capture_output=True
    ).stdout
    found = []
    for test in json.loads(listed)["tests"]:
        if test["name"].startswith("fuzz."):
            program, *arguments = test["command"]
            seeds = [a for a in arguments if not a.startswith("-")]
            found.append(Target(test["name"].removeprefix("fuzz."), program, seeds))
    return found


def run(target: Target, build_dir: Path, seconds: int | None) -> tuple[bool, str]:
    """Runs one target, without `seconds` the short way; returns whether it held, and what to print."""
    artifacts = build_dir / "fuzz-artifacts" / target.name
    artifacts.mkdir(parents=True, exist_ok=True)
    if seconds is None:
        limits = [f"-runs={SHORT_RUNS.get(target.name, SHORT_RUNS_OF_OTHERS)}", "-seed=1"]
        learned = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=build_dir))
    else:
        limits = [f"-max_total_time={seconds}"]
        learned = build_dir / "fuzz-corpus" / target.name
        learned.mkdir(parents=True, exist_ok=True)
    command = [
        target.program,
        *limits,
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        f"-artifact_prefix={artifacts}/",
    ]
    dictionary = ROOT / "fuzz" / f"{target.name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    command += [str(learned), *target.seeds]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if seconds is None:
        shutil.rmtree(learned)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode == 0 and runs:
        covered = re.findall(r"cov: (\d+)", done.stderr)
        return True, f"{target.name}: {runs[1]} runs, {covered[-1] if covered else '?'} edges: held"
    lines = done.stderr.splitlines()
    start = next((i for i, line in enumerate(lines) if "ERROR" in line), max(0, len(lines) - 40))
    written = re.search(r"Test unit written to (\S+)", done.stderr)
    repeat = f"\nrepeat: {target.program} {written[1]}" if written else ""
    return False, f"{target.name}: FAILED\n" + "\n".join(lines[start : start + 60]) + repeat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True)
    duration = parser.add_mutually_exclusive_group(required=True)
    duration.add_argument("--seconds", type=int)
    duration.add_argument("--short", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*", help="names of targets; all of them by default")
    options = parser.parse_args()
    build_dir = options.build_dir.resolve()

    targets = targets_of(build_dir)
    if options.targets:
        targets = [t for t in targets if t.name in options.targets]
    if not targets:
        print(f"run_fuzzers: error: no such fuzz target in {options.build_dir}", file=sys.stderr)
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run, target, build_dir, options.seconds) for target in targets]
        for job in concurrent.futures.as_completed(jobs):
            held, message = job.result()
            failed += not held
            print(message, flush=True)
    print(f"fuzz: {len(targets) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
