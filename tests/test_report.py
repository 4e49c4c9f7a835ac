# SPDX-License-Identifier: Apache-2.0
"""The table of the benchmarks: units, ratios, what holds and what grows."""

from typing import Any

import report


def google(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "run_name": name, "real_time": 1.0, "time_unit": "us", **values}


def row_of(lines: list[list[str]], what: str) -> list[str]:
    return next(line for line in lines if line[0].startswith(what))


def test_google_benchmarks_are_put_into_the_units_of_the_table() -> None:
    rows = report.read_rows(
        {
            "benchmarks": [
                google("walk/10000", per_item=2e-9),
                google("memory/10000/iterations:1", amount=118.0),
                google("read_llama", real_time=4200.0),
                google("walk_mean", run_type="aggregate", aggregate_name="mean"),
                google("write_llama", real_time=9000.0, run_type="aggregate", aggregate_name="median"),
                google("write_llama", real_time=8000.0, run_type="aggregate", aggregate_name="min"),
                google("verify/10000", error_occurred=True, error_message="no"),
            ]
        }
    )
    assert rows == {
        ("walk", 10_000): 2.0,
        ("memory", 10_000): 118.0,
        ("read_llama", 0): 4.2,
        ("write_llama", 0): 8.0,
    }


def test_plain_rows_are_taken_as_they_are() -> None:
    document = {"rows": [{"name": "walk", "unit": "ns/node", "nodes": 10_000, "value": 1.5}]}
    assert report.read_rows(document) == {("walk", 10_000): 1.5}


def test_budget_is_held_at_both_sizes_or_not_at_all() -> None:
    python = {("walk", 10_000): 90.0}
    held = report.table({("walk", 10_000): 1.0, ("walk", 1_000_000): 3.0}, python)
    assert row_of(held, "walk")[2:] == ["1", "3", "3", "90", "90 x", "3", "held"]
    broken = report.table({("walk", 10_000): 1.0, ("walk", 1_000_000): 3.1}, python)
    assert row_of(broken, "walk")[-1] == "NOT held"
    assert row_of(report.table({}, python), "walk")[-1] == "not measured"


def test_whole_job_is_judged_by_its_ratio() -> None:
    python = {("whole_job_llama", 2380): 3000.0}
    assert row_of(report.table({("whole_job_llama", 0): 30.0}, python), "read, run")[-1] == "held"
    line = row_of(report.table({("whole_job_llama", 0): 31.0}, python), "read, run")
    assert line[-3:] == ["96.8 x", "100 x", "NOT held"]


def test_writing_may_take_what_copying_takes_and_ten_milliseconds() -> None:
    winze = {("write_llama", 0): 50.0}
    assert row_of(report.table(winze | {("copy_llama", 0): 41.0}, {}), "write")[-1] == "held"
    assert row_of(report.table(winze | {("copy_llama", 0): 39.0}, {}), "write")[-1] == "NOT held"


def test_a_check_may_cost_three_runs_and_a_run_as_much_memory_as_eager() -> None:
    winze = {("run_llama", 0): 500.0, ("check_llama", 0): 1499.0, ("run_memory_llama", 0): 0.2}
    lines = report.table(winze, {("run_memory_llama", 0): 0.1})
    assert row_of(lines, "lower it with --check=end")[-2:] == ["1,500", "held"]
    assert row_of(lines, "memory that its run holds")[-2:] == ["0.1", "NOT held"]
    assert row_of(report.table(winze | {("check_llama", 0): 1501.0}, {}), "lower it with --check=end")[-1] == "NOT held"


def test_a_chain_is_held_to_a_plain_loop_and_to_both_ways_of_fx() -> None:
    winze = {("run_chain", 10_000): 600.0, ("run_chain_loop", 10_000): 500.0}
    python = {("run_chain", 10_000): 2000.0, ("run_chain_interpreter", 10_000): 9000.0}
    lines = report.table(winze, python)
    assert row_of(lines, "run a chain")[-2:] == ["650", "held"]
    assert row_of(lines, "the same in torch.fx.Interpreter")[5] == "9,000"
    slow = report.table(winze, python | {("run_chain", 10_000): 599.0})
    assert row_of(slow, "run a chain")[-2:] == ["599", "NOT held"]


def test_growth_is_noticed() -> None:
    winze = {("a", 10_000): 1.0, ("a", 1_000_000): 4.9, ("b", 10_000): 1.0, ("b", 1_000_000): 10.0}
    assert list(report.growing(winze)) == ["b grows 10.0 times a node from 10,000 to 1,000,000 nodes"]


def test_table_is_markdown() -> None:
    lines = report.markdown(report.table({("walk", 10_000): 1.0}, {})).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert set(lines[1]) <= set("|-:")
