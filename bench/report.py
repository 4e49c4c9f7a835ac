#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merges measurements of Winze and of PyTorch's Python into one table, with the budget.

    python report.py WINZE.json PYTHON.json

Either file is `{"rows": [{"name": "walk", "unit": "ns/node", "nodes": 10000, "value": 1.5}, ...]}`
or what Google Benchmark prints as JSON: there a row is called `walk/10000` and has a counter
`per_item` (seconds), or `amount` (a figure in the row's unit), or else counts by its own time.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SMALL, LARGE = 10_000, 1_000_000
# n log n allows 1.5 from the small size to the large one; the rest is the memory's hierarchy, since
# the small graph fits into caches. Anything that grows like n**1.5 reaches 10.
MAX_GROWTH = 5.0


@dataclass(frozen=True)
class Budget:
    """A row of the table: what is measured, in which unit, and at most how much."""

    name: str
    what: str
    unit: str
    limit: float | None = None


BUDGET = (
    Budget("create_node", "create a node with known meta", "ns/node", 80),
    Budget("build_node", "create a node through a builder, inference included", "ns/node", 1500),
    Budget("erase_node", "erase a node", "ns/node", 40),
    Budget("replace_use", "replace a use", "ns/node", 5),
    Budget("memory", "memory a node, arguments and meta included", "B/node", 120),
    Budget("walk", "walk", "ns/node", 3),
    Budget("verify", "verify structure and schema (lint)", "ns/node", 500),
    Budget("dead_code", "dead code, nothing dead", "ns/node", 500),
    Budget("clone_graph", "clone (deepcopy)", "ns/node", 500),
    Budget("parse_text", "parse text", "ns/node", 1000),
    Budget("print_text", "print text", "ns/node", 500),
    Budget("common_subexpressions", "common subexpressions, nothing to do", "ns/node", 60),
    Budget("infer_graph", "infer the metas of a whole graph (FakeTensorProp)", "ns/node", 1000),
    Budget("infer_llama", "the same, decomposed Llama of 32 layers", "ns/node", 1000),
    Budget("infer_llama_dynamic", "the same, batch and sequence dynamic", "ns/node", 2000),
    Budget("read_llama", "read the Llama of 32 layers", "ms", 10),
    Budget("write_llama", "write it back, weights unchanged", "ms"),
    Budget("copy_llama", "copy the bytes of its file", "ms"),
    Budget("passes_llama", "run the default pipeline on it", "ms"),
    Budget("whole_job_llama", "read, run the passes, write, from start to exit of the process", "ms"),
    Budget("lower_llama", "the same, in a process that runs already", "ms"),
    Budget("run_chain", "run a chain of adds of one element (PyTorch: compiled forward)", "ns/node"),
    Budget("run_chain_loop", "the same calls in a plain C++ loop, unboxed", "ns/node"),
    Budget("run_chain_interpreter", "the same in torch.fx.Interpreter", "ns/node"),
    Budget("compile_chain", "make it ready to run", "ns/node"),
    Budget("call_llama", "run the Llama, once loaded (PyTorch: the exported module)", "ms"),
    Budget("run_memory_llama", "memory that its run holds at most (PyTorch: the model in eager)", "MB"),
    Budget("run_llama", "load and run it, from start to exit of the process", "ms"),
    Budget("check_llama", "lower it with --check=end (PyTorch: the passes, two runs, compare)", "ms"),
    Budget("check_each_llama", "lower it with --check", "ms"),
    Budget("bridge_unchanged", "torch.fx graph of the Llama in and out, nothing changed", "us/node", 10),
    Budget("ten_native", "the ten clean-up passes over it, in C++ (PyTorch: in Python over torch.fx)", "ms"),
    Budget("ten_view", "the same in Python over the native graph", "ms"),
    Budget("ten_bridge", "the same in C++, to the torch.fx graph and back included", "ms"),
    Budget("swap_calls", "replace calls in it by a pass in Python (native graph; torch.fx)", "ms"),
    Budget("compile_inference", "torch.compile it, forward (PyTorch: aot_eager)", "s"),
    Budget("compile_training", "torch.compile it, forward and backward (PyTorch: aot_eager)", "s"),
)
WHOLE_JOB = "whole_job_llama"
WHOLE_JOB_RATIO = 100  # times faster than the same in Python

Rows = dict[tuple[str, int], float]  # by name and number of nodes; 0 where that does not apply
SECOND_IN = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


def unit_of(name: str) -> str:
    return next((row.unit for row in BUDGET if row.name == name), "ns/node")


def google_row(entry: dict[str, Any]) -> tuple[tuple[str, int], float] | None:
    """A measurement of Google Benchmark in this table's units; None for errors and for aggregates but
    the median and the minimum, which comes last and counts where a row asks for it."""
    if entry.get("run_type") == "aggregate" and entry.get("aggregate_name") not in ("median", "min"):
        return None
    if entry.get("error_occurred"):
        print(f"report: {entry['name']}: {entry.get('error_message')}", file=sys.stderr)
        return None
    name, *parameters = entry.get("run_name", entry["name"]).split("/")
    nodes = next((int(p) for p in parameters if p.isdigit()), 0)
    if "amount" in entry:
        return (name, nodes), float(entry["amount"])
    scale = SECOND_IN.get(unit_of(name).partition("/")[0], 1.0)
    if "per_item" in entry:
        return (name, nodes), float(entry["per_item"]) * scale
    return (name, nodes), float(entry["real_time"]) / SECOND_IN[entry["time_unit"]] * scale


def read_rows(document: dict[str, Any]) -> Rows:
    if "benchmarks" in document:
        return dict(filter(None, map(google_row, document["benchmarks"])))
    return {(r["name"], int(r.get("nodes", 0))): float(r["value"]) for r in document["rows"]}


def at(rows: Rows, name: str, nodes: int) -> float | None:
    return rows.get((name, nodes))


def only(rows: Rows, name: str) -> float | None:
    """A row's value at the small size, or the one that it has."""
    sizes = sorted(n for row, n in rows if row == name)
    small = at(rows, name, SMALL)
    if small is not None:
        return small
    return rows[name, sizes[0]] if sizes else None


def figure(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def verdict(row: Budget, winze: float | None, ratio: float | None, limit: float | None) -> str:
    if winze is None:
        return "" if limit is None and row.name != WHOLE_JOB else "not measured"
    if row.name == WHOLE_JOB:
        held = ratio is not None and ratio >= WHOLE_JOB_RATIO
    elif limit is None:
        return ""
    else:
        held = winze <= limit
    return "held" if held else "NOT held"


def line(row: Budget, winze: Rows, python: Rows, limit: float | None) -> list[str]:
    here, there = only(winze, row.name), only(python, row.name)
    large = at(winze, row.name, LARGE)
    growth = large / here if large is not None and here else None
    ratio = there / here if there is not None and here and row.name != "memory" else None
    if row.name == "memory" and there is not None and here:
        ratio = there / here
    budget = f"{WHOLE_JOB_RATIO} x" if row.name == WHOLE_JOB else figure(limit)
    worst = max(x for x in (here, large) if x is not None) if here is not None else None
    return [
        row.what,
        row.unit,
        figure(here),
        figure(large),
        figure(growth),
        figure(there),
        f"{figure(ratio)} x" if ratio else "",
        budget,
        verdict(row, worst, ratio, limit),
    ]


def run_limit(winze: Rows, python: Rows) -> float | None:
    """1.3 times a plain loop of the same calls, half of the interpreter, and the compiled forward."""
    measured = (
        (only(winze, "run_chain_loop"), 1.3),
        (only(python, "run_chain_interpreter"), 0.5),
        (only(python, "run_chain"), 1.0),
    )
    return min((value * factor for value, factor in measured if value is not None), default=None)


def table(winze: Rows, python: Rows) -> list[list[str]]:
    """The whole table, heading first."""
    heading = ["what", "unit", "Winze", "at 1 M", "growth", "PyTorch", "ratio", "budget", ""]
    lines = [heading]
    for row in BUDGET:
        limit = row.limit
        if row.name == "write_llama" and (copied := only(winze, "copy_llama")) is not None:
            limit = copied + 10
        if row.name == "run_chain":
            limit = run_limit(winze, python)
        if row.name == "check_llama" and (run := only(winze, "run_llama")) is not None:
            limit = 3 * run
        if row.name == "run_memory_llama":
            limit = only(python, row.name)
        if row.name.startswith("compile_") and (theirs := only(python, row.name)) is not None:
            limit = 1.05 * theirs
        lines.append(line(row, winze, python, limit))
    known = {row.name for row in BUDGET}
    for name in dict.fromkeys(n for n, _ in winze if n not in known):
        lines.append(line(Budget(name, name.replace("_", " "), "ns/node"), winze, python, None))
    return lines


def markdown(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [
        "| "
        + " | ".join(
            cell.ljust(width) if i < 2 or i == len(widths) - 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(each, widths, strict=True))
        )
        + " |"
        for each in lines
    ]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if i < 2 else ":") for i, w in enumerate(widths))
    return "\n".join([rows[0], rule + "|", *rows[1:]])


def growing(winze: Rows) -> Iterable[str]:
    """The rows whose cost of a node grows faster than n log n would let it."""
    for name in dict.fromkeys(n for n, _ in winze):
        small, large = at(winze, name, SMALL), at(winze, name, LARGE)
        if small and large and large / small > MAX_GROWTH:
            yield f"{name} grows {large / small:.1f} times a node from {SMALL:,} to {LARGE:,} nodes"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("winze", type=Path)
    parser.add_argument("python", type=Path)
    options = parser.parse_args()
    winze = read_rows(json.loads(options.winze.read_text()))
    python = read_rows(json.loads(options.python.read_text()))
    print(markdown(table(winze, python)))
    problems = list(growing(winze))
    for problem in problems:
        print(f"report: {problem}", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
