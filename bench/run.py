#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs both sides of the benchmarks and prints one table.

    python run.py --build-dir build/bench

The measurements are kept in BUILD_DIR as winze.json and python.json.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import llama
import report

HERE = Path(__file__).resolve().parent
REPEATS = 7


def output_of(command: list[Path | str], environment: dict[str, str] | None = None) -> bytes:
    """What a command prints; what it says on standard error is shown where it fails."""
    done = subprocess.run(command, check=False, capture_output=True, env=environment)
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stderr)
        done.check_returncode()
    return done.stdout


def command_ms(command: list[Path | str], target: Path | None = None, repeats: int = REPEATS) -> float:
    """The shortest of several runs of a command, in milliseconds of wall time from start to exit of
    the process. A file that it writes, `target`, is written anew each time."""
    times = []
    for _ in range(repeats):
        if target:
            target.unlink(missing_ok=True)
        begin = time.perf_counter()
        output_of(command)
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def export_models(build_dir: Path) -> dict[str, Path]:
    """The Llama in the forms that are measured, by the name of the option that takes them."""
    models = {name: build_dir / f"{name}.pt2" for name in ("llama32", "llama32_core", "llama32_dynamic")}
    llama.export(models["llama32"])
    llama.export(models["llama32_core"], decomposed=True)
    llama.export(models["llama32_dynamic"], decomposed=True, dynamic=True)
    return {
        "llama": models["llama32"],
        "llama-core": models["llama32_core"],
        "llama-dynamic": models["llama32_dynamic"],
    }


def winze_rows(build_dir: Path, models: dict[str, Path]) -> report.Rows:
    """The C++ benchmarks, and the command's whole job from start to exit of the process."""
    command: list[str | Path] = [build_dir / "bin" / "winze_bench", "--benchmark_format=json"]
    model = models["llama"]
    environment = os.environ | {
        f"WINZE_BENCH_{name.replace('-', '_').upper()}": str(path) for name, path in models.items()
    }
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    (build_dir / "winze.json").write_bytes(output)
    rows = report.read_rows(json.loads(output))
    winze = build_dir / "bin" / "winze"
    lowered = build_dir / "lowered.pt2"
    running = build_dir / "bin" / "winze_run_bench"
    if running.exists():  # built with libtorch
        command = [running, "--benchmark_format=json"]
        output = output_of(command, environment)
        (build_dir / "run.json").write_bytes(output)
        rows |= report.read_rows(json.loads(output))
        rows["run_llama", 0] = command_ms([winze, "run", model])
        rows["check_llama", 0] = command_ms([winze, "lower", model, "-o", lowered, "--check=end"], lowered)
        rows["check_each_llama", 0] = command_ms([winze, "lower", model, "-o", lowered, "--check"], lowered)
    rows[report.WHOLE_JOB, 0] = command_ms([winze, "lower", model, "-o", lowered], lowered)
    return rows


def python_rows(build_dir: Path, models: dict[str, Path], sizes: list[str]) -> report.Rows:
    model = models["llama"]
    command: list[str | Path] = [sys.executable, HERE / "python_side.py", "--nodes", *sizes]
    for name, path in models.items():
        command += [f"--{name}", path]
    output = output_of(command)
    (build_dir / "python.json").write_bytes(output)
    rows = report.read_rows(json.loads(output))
    checked = build_dir / "checked.pt2"
    side: list[str | Path] = [sys.executable, HERE / "python_run.py"]
    rows[report.WHOLE_JOB, 0] = command_ms([*side, "lower", model, checked], checked, repeats=2)
    rows["run_llama", 0] = command_ms([*side, "run", model], repeats=2)
    rows["check_llama", 0] = command_ms([*side, "check", model, checked], checked, repeats=2)
    checked.unlink()
    return rows


def package_rows(build_dir: Path, package: Path) -> tuple[report.Rows, report.Rows]:
    """The Python package's rows, and those of PyTorch beside them."""
    environment = os.environ | {"PYTHONPATH": str(package.resolve())}
    command: list[str | Path] = [sys.executable, HERE / "python_bridge.py"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    (build_dir / "package.json").write_bytes(output)
    document = json.loads(output)
    return report.read_rows(document["winze"]), report.read_rows(document["python"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--nodes", nargs="*", default=["10000"], help="sizes of the Python side")
    parser.add_argument("--package", type=Path, help="folder of the Python package; its rows are left out without it")
    options = parser.parse_args()
    build_dir = options.build_dir.resolve()
    models = export_models(build_dir)
    winze = winze_rows(build_dir, models)
    python = python_rows(build_dir, models, options.nodes)
    if options.package:
        ours, theirs = package_rows(build_dir, options.package)
        winze, python = winze | ours, python | theirs
    print(report.markdown(report.table(winze, python)))
    problems = list(report.growing(winze))
    for problem in problems:
        print(f"bench: {problem}", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
