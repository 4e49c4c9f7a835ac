# SPDX-License-Identifier: Apache-2.0
"""`winze.Graph` and `winze.Node`: torch.fx's names over the native graph."""

import gc
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from fx_programs import traced

import winze
import winze.torch as wt
from winze.torch._run import vocabulary

aten = torch.ops.aten

TEXT = """\
program "small" torch "2.13.0"
graph forward(%x: input f32[2, 3], %y: input f32[2, 3]) {
  %s = aten.add.Tensor(%x, %y, alpha=2) : f32[2, 3]
  %r = aten.relu.default(%s) : f32[2, 3]
  %v, %i = aten.topk.default(%r, 1) : f32[2, 1], i64[2, 1]
  return output %v, output %i
}
"""


@pytest.fixture
def program(tmp_path: Path) -> winze.Program:
    path = tmp_path / "small.wz"
    path.write_text(TEXT)
    return winze.load(path)


def nodes(program: winze.Program) -> dict[str, winze.Node]:
    return {node.name: node for node in program.graph.nodes}


def test_names_of_torch_fx(program: winze.Program) -> None:
    found = nodes(program)
    add, relu = found["s"], found["r"]
    assert [node.op for node in program.graph.nodes] == [
        "placeholder", "placeholder", "call_function", "call_function", "call_function", "output",
    ]  # fmt: skip
    assert add.target is aten.add.Tensor
    assert add.args == (found["x"], found["y"])
    assert add.kwargs == {"alpha": 2}
    assert list(add.users) == [relu]
    assert relu.all_input_nodes == [add]
    assert add.next == relu
    assert relu.prev == add
    assert add < relu
    assert found["x"].prev is None
    assert add.graph == program.graph
    assert add.meta["val"].shape == (2, 3)
    assert add.meta["val"].dtype is torch.float32
    assert len(program.graph) == 6
    assert program.graph.output_node().op == "output"
    assert program.graph.find_nodes(op="call_function", target=aten.relu.default) == [relu]
    assert program.graph.find_nodes(op="call_function", target="aten.relu") == [relu]
    assert program.graph.find_nodes(op="placeholder", target="y") == [found["y"]]


def spelling(node: winze.Node) -> tuple[Any, Any]:
    return node.args, node.kwargs


def test_calls_stay_spelled_as_they_were_given(program: winze.Program) -> None:
    r = nodes(program)["r"]
    with program.graph.inserting_after(r):
        total = program.graph.call_function(aten.sum.dim_IntList, (r,), {"dim": [1], "dtype": torch.float64})
    assert spelling(total) == ((r,), {"dim": [1], "dtype": torch.float64})
    total.kwargs = {"dim": [0], "keepdim": True}
    assert spelling(total) == ((r,), {"dim": [0], "keepdim": True})
    total.args = (r, [1])
    assert spelling(total) == ((r, [1]), {"keepdim": True})
    total.kwargs = {}
    assert spelling(total) == ((r, [1]), {})
    total.update_kwarg("keepdim", True)
    assert spelling(total) == ((r, [1]), {"keepdim": True})
    total.update_arg(1, None)
    assert spelling(total) == ((r, None), {"keepdim": True})
    total.update_arg(2, True)
    assert spelling(total) == ((r, None, True), {})
    program.graph.lint()


def test_arguments_are_set_as_in_torch_fx(program: winze.Program) -> None:
    found = nodes(program)
    x, y, add = found["x"], found["y"], found["s"]
    add.args = (y, 3.5)
    assert (add.args, add.kwargs) == ((y, 3.5), {"alpha": 2})
    add.kwargs = {}
    assert (add.args, add.kwargs) == ((y, 3.5), {})
    add.kwargs = {"alpha": 4, "other": x}
    assert list(add.args) == [y, x]
    assert add.kwargs == {"alpha": 4}
    add.update_kwarg("alpha", 5)
    assert add.kwargs == {"alpha": 5}
    topk = found["v"] if "v" in found else program.graph.find_nodes(op="call_function", target=aten.topk.default)[0]
    topk.args = (found["r"], 2, 0, False)
    assert topk.args == (found["r"], 2, 0, False)
    topk.args = (found["r"], 1)
    assert topk.args == (found["r"], 1)
    program.graph.lint()

    for too_many in ((x, y, 1), (x, y, 1, 1)):  # alpha is keyword-only
        with pytest.raises(IndexError, match="has 3 arguments"):
            add.args = too_many
    with pytest.raises(TypeError, match='has no argument "beta"'):
        add.kwargs = {"beta": 1}
    with pytest.raises(winze.Error, match=r'argument 1 \("other"\) of aten.add.Tensor is missing'):
        add.args = (x,)
    with pytest.raises(winze.Error, match="takes Tensor, not a string"):
        add.args = (x, "y")
    with pytest.raises(winze.Error, match="use"):
        add.args = (found["r"], y)
    with pytest.raises(TypeError, match="takes no arguments"):
        x.args = (y,)
    with pytest.raises(ValueError, match="1180591620717411303424 does not fit into 64 bits"):
        add.args = (x, 2**70)


def test_uses_are_replaced_where_asked(program: winze.Program) -> None:
    found = nodes(program)
    add, relu = found["s"], found["r"]
    graph = program.graph
    with graph.inserting_after(relu):
        twice = graph.call_function(aten.mul.Tensor, (add, relu), like=relu)
    add.replace_all_uses_with(found["x"], delete_user_cb=lambda user: user != relu)
    assert relu.args == (add,)
    assert twice.args == (found["x"], relu)

    def fails(user: winze.Node) -> bool:
        raise KeyError(user.name)

    with pytest.raises(KeyError):
        add.replace_all_uses_with(found["x"], delete_user_cb=fails)
    assert relu.args == (add,)
    graph.lint()


def test_results_of_a_node_with_several(program: winze.Program) -> None:
    (topk,) = program.graph.find_nodes(op="call_function", target=aten.topk.default)
    values, indices = topk.results
    assert (values.index, indices.index) == (0, 1)
    assert values.node == topk
    assert program.graph.output_node().args == ((values, indices),)
    assert [meta.shape for meta in topk.meta["val"]] == [(2, 1), (2, 1)]


def test_edits(program: winze.Program) -> None:
    found = nodes(program)
    relu = found["r"]
    with program.graph.inserting_before(relu):
        first = program.graph.call_function(aten.neg.default, (found["s"],), like=relu)
        second = program.graph.call_function(aten.mul.Tensor, (first, 2.5))
    relu.replace_all_uses_with(second)
    program.graph.erase_node(relu)
    program.graph.lint()
    assert [str(node.target) for node in program.graph.nodes if node.op == "call_function"] == [
        "aten.add.Tensor", "aten.neg.default", "aten.mul.Tensor", "aten.topk.default",
    ]  # fmt: skip
    second.replace_input_with(first, found["y"])
    assert program.graph.eliminate_dead_code()
    assert second.args == (found["y"], 2.5)
    assert not program.verify()


def test_iteration_under_edits(program: winze.Program) -> None:
    seen = []
    for node in program.graph.nodes:
        seen.append(node.name)
        if node.target is aten.relu.default:
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    assert seen == ["x", "y", "s", "r", seen[4], "output"]
    assert len(program.graph) == 5


def test_stale_handles_raise(program: winze.Program) -> None:
    relu = nodes(program)["r"]
    relu.replace_all_uses_with(relu.args[0])
    program.graph.erase_node(relu)
    for use in (lambda: relu.target, lambda: relu.args, lambda: relu.next, lambda: str(relu)):
        with pytest.raises(winze.Error, match="erased"):
            use()
    with pytest.raises(winze.Error, match="erased"):
        program.graph.erase_node(relu)


def test_handles_of_before_a_run_raise(program: winze.Program) -> None:
    add = nodes(program)["s"]
    (relu,) = program.graph.find_nodes(op="call_function", target=aten.relu.default)
    relu.replace_all_uses_with(add)
    program.lower("dead-code")
    with pytest.raises(winze.Error, match="passes have run"):
        add.target  # noqa: B018


def test_handles_outlive_the_program(tmp_path: Path) -> None:
    (tmp_path / "small.wz").write_text(TEXT)
    node = next(iter(winze.load(tmp_path / "small.wz").graph.nodes))
    gc.collect()
    assert node.name == "x"


def test_handles_of_a_written_back_graph_raise() -> None:
    kept: list[Any] = []

    @winze.lowering_pass(name="keep-nodes")
    def keep(graph: winze.Graph) -> None:
        kept.extend([graph, *graph.nodes])
        for node in graph.find_nodes(op="call_function", target=aten.clone.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)

    gm = traced(lambda x: x.sin().clone(), torch.randn(2))
    wt.Pipeline([keep])(gm)
    for use in (lambda: kept[0].lint(), lambda: kept[1].name, lambda: len(kept[0])):
        with pytest.raises(winze.Error, match="closed"):
            use()


def test_errors_of_edits(program: winze.Program) -> None:
    found = nodes(program)
    graph = program.graph
    with pytest.raises(winze.Error, match=r"aten\.ad"):
        graph.call_function("aten.ad.Tensor", (found["x"],), like=found["x"])
    with pytest.raises(winze.Error, match=r"no overload of aten\.add takes these arguments"):
        graph.call_function(aten.add, (found["x"],), like=found["x"])
    with pytest.raises(TypeError, match="object"):
        graph.call_function(aten.neg.default, (object(),), like=found["x"])
    with pytest.raises(winze.Error, match="use"):
        graph.erase_node(found["s"])
    with pytest.raises(ValueError, match="call_methd"):
        graph.find_nodes(op="call_methd")
    with pytest.raises(winze.Error, match="2 results"):
        found["r"].replace_all_uses_with(graph.find_nodes(op="call_function", target="aten.topk")[0])


def test_failing_python_pass_is_taken_back(program: winze.Program) -> None:
    @winze.lowering_pass(name="fail-late")
    def fail_late(graph: winze.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=aten.relu.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        raise RuntimeError("too late")

    before = str(program)
    with pytest.raises(winze.Error, match="pass fail-late failed: RuntimeError: too late") as caught:
        program.lower(["dead-code", fail_late])
    assert caught.value.pass_name == "fail-late"
    assert str(program) == before


def test_names_of_passes() -> None:
    with pytest.raises(ValueError, match="'dead-code' is the name of a native pass"):
        winze.lowering_pass(name="dead-code")(lambda graph: None)
    with pytest.raises(TypeError, match="not 3"):
        winze.lowering_pass(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="the name of a pass is 3"):
        winze.lowering_pass(name=3)(lambda graph: None)  # type: ignore[call-overload]  # wrong on purpose
    for name in ("", "a b", "a,b"):
        with pytest.raises(ValueError, match="no name that a pipeline can hold"):
            winze.lowering_pass(name=name)(lambda graph: None)
    with pytest.raises(ValueError, match="'<lambda>' is no name"):
        winze.lowering_pass(lambda graph: None)

    @winze.lowering_pass
    def my_own_pass(graph: winze.Graph) -> None:
        """Does nothing."""

    assert winze.passes()["my-own-pass"] == "Does nothing."
    assert "dead-code" in winze.passes()


def test_same_body_over_both_kinds_of_graph(program: winze.Program) -> None:
    def drop_relu(graph: Any) -> None:
        for node in graph.find_nodes(op="call_function", target=aten.relu.default):
            with graph.inserting_before(node):
                made = graph.call_function(aten.abs.default, (node.args[0],))
            node.replace_all_uses_with(made)
            graph.erase_node(node)

    drop_relu(program.graph)
    assert program.graph.find_nodes(op="call_function", target=aten.abs.default)
    gm = traced(lambda x: x.relu() + 1, torch.randn(2))
    drop_relu(gm.graph)
    assert gm.graph.find_nodes(op="call_function", target=aten.abs.default)


def test_report_progress_and_log(program: winze.Program) -> None:
    steps: list[tuple[int, int, str]] = []
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("winze")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        report = program.lower("remove-detach, dead-code", progress=lambda *step: steps.append(step))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert lines[0] == "pass remove-detach (1 of 2)"
    assert steps == [(0, 2, "remove-detach"), (1, 2, "dead-code")]
    assert [one.status for one in report.passes] == ["skipped", "ran"]
    assert "remove-detach" in str(report)


def test_print_and_html(program: winze.Program) -> None:
    assert "aten.relu" in program.print_readable()
    assert str(program).startswith('program "small" torch "2.13.0"')
    assert repr(program) == "<winze.Program 'small': 6 nodes, torch 2.13.0>"
    html = program._repr_html_()
    assert html.startswith("<details>")
    assert html.count("<tr>") == 7


def test_html_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "evil.wz"
    path.write_text(TEXT.replace('"small"', '"<script>alert(1)</script>"'))
    html = winze.load(path)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_bridge_shows_a_native_graph() -> None:
    gm = traced(lambda x: x.sin(), torch.randn(2))
    bridge = winze._native.FxBridge(vocabulary(), gm)
    assert [node.op for node in bridge.graph.nodes] == ["placeholder", "call_function", "output"]
