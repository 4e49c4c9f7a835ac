#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each libFuzzer target of a build folder, from its seed corpus, for a number of seconds.

A target is `bin/fuzz_NAME`; its seeds are `fuzz/corpus/NAME/`, its dictionary, where it has one,
`fuzz/NAME.dict`. What it learns stays in the build folder. An input that fails is kept there too,
and the command that repeats the failure is printed.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(target: Path, build_dir: Path, seconds: int) -> tuple[bool, str]:
    """Runs one target; returns whether it held, and what to print."""
    name = target.name.removeprefix("fuzz_")
    learned = build_dir / "fuzz-corpus" / name
    artifacts = build_dir / "fuzz-artifacts" / name
    for folder in (learned, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        str(target),
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        f"-artifact_prefix={artifacts}/",
    ]
    dictionary = ROOT / "fuzz" / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    command.append(str(learned))
    seeds = ROOT / "fuzz" / "corpus" / name
    if seeds.is_dir():
        command.append(str(seeds))
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode == 0 and runs:
        covered = re.findall(r"cov: (\d+)", done.stderr)
        return True, f"{target.name}: {runs[1]} runs, {covered[-1] if covered else '?'} edges: held"
    lines = done.stderr.splitlines()
    start = next((i for i, line in enumerate(lines) if "ERROR" in line), max(0, len(lines) - 40))
    written = re.search(r"Test unit written to (\S+)", done.stderr)
    repeat = f"\nrepeat: {target} {written[1]}" if written else ""
    return False, f"{target.name}: FAILED\n" + "\n".join(lines[start : start + 60]) + repeat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*", help="names without fuzz_; all of them by default")
    options = parser.parse_args()
    build_dir = options.build_dir.resolve()

    targets = sorted(p for p in (build_dir / "bin").glob("fuzz_*") if os.access(p, os.X_OK))
    if options.targets:
        targets = [t for t in targets if t.name.removeprefix("fuzz_") in options.targets]
    if not targets:
        print(f"run_fuzzers: error: no fuzz target in {options.build_dir}/bin", file=sys.stderr)
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
