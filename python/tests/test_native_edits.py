# SPDX-License-Identifier: Apache-2.0
"""Nodes that passes make in native graphs: what they yield, inputs, attributes, copies."""

import operator
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from built_package import PACKAGE_DIR
from fx_programs import same, targets, traced

import winze
import winze.torch as wt

aten = torch.ops.aten

TEXT = """\
program "sized" torch "2.13.0"
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 8], %y: input f32[4]) {
  %r = aten.relu.default(%x) : f32[s0, 8]
  %v, %i = aten.topk.default(%r, 1) : f32[s0, 1], i64[s0, 1]
  return output %v, output %i
}
"""


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.sin() - 1, (x,))


@pytest.fixture
def program(tmp_path: Path) -> winze.Program:
    path = tmp_path / "sized.wz"
    path.write_text(TEXT)
    return winze.load(path)


@pytest.fixture
def graph(program: winze.Program) -> winze.Graph:
    return program.graph


def named(graph: winze.Graph, name: str) -> winze.Node:
    found: winze.Node = next(node for node in graph.nodes if node.name == name)
    return found


def shape(node: winze.Node) -> Any:
    return node.meta["val"].shape


def test_what_a_call_yields_is_inferred_for_symbolic_sizes(graph: winze.Graph) -> None:
    x = named(graph, "x")
    scaled = graph.call_function(aten.mul.Tensor, (x, 2.5))
    total = graph.call_function(aten.sum.dim_IntList, (scaled, [1]), {"keepdim": True, "dtype": torch.float64})
    joined = graph.call_function(aten.cat.default, ([x, scaled], 0))
    assert (shape(scaled), scaled.meta["val"].stride()) == (("s0", 8), (8, 1))
    assert (shape(total), total.meta["val"].dtype) == (("s0", 1), torch.float64)
    assert shape(joined) == ("2*s0", 8)
    values = graph.call_function(aten.topk.default, (x,), {"k": 2}).meta["val"]
    assert [value.dtype for value in values] == [torch.float32, torch.int64]


def test_calls_that_pytorch_would_refuse_are_refused(graph: winze.Graph) -> None:
    before = len(graph)
    with pytest.raises(winze.Error, match=r"size of tensor") as raised:
        graph.call_function(aten.add.Tensor, (named(graph, "x"), named(graph, "y")))
    assert "aten.add.Tensor" in raised.value.node
    with pytest.raises(winze.Error, match=r'has no argument "alfa"'):
        graph.call_function(aten.add.Tensor, (named(graph, "x"), 1), {"alfa": 2})
    with pytest.raises(winze.Error, match=r'"other" of aten\.add\.Tensor is given twice'):
        graph.call_function(aten.add.Tensor, (named(graph, "x"), 1), {"other": 2})
    assert len(graph) == before


def test_operators_without_a_shape_rule_are_asked(tmp_path: Path) -> None:
    with torch.library._scoped_library("winze_tests", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: torch.cat([x, x]), "Meta")
        gm = traced(torch.sin, torch.ones(3))
        shapes = []

        @winze.lowering_pass(name="call-twice")
        def call_twice(graph: winze.Graph) -> None:
            (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
            made = graph.call_function(torch.ops.winze_tests.twice.default, (sin,))
            shapes.append(shape(made))
            graph.erase_node(made)

        wt.Pipeline([call_twice])(gm)

        def twice_before(gm: torch.fx.GraphModule, inputs: Any) -> torch.fx.GraphModule:
            (sin,) = gm.graph.find_nodes(op="call_function", target=aten.sin.default)
            with gm.graph.inserting_before(sin):
                twice = gm.graph.call_function(torch.ops.winze_tests.twice.default, (sin.args[0],))
            sin.args = (twice,)
            return gm

        wt.Pipeline([twice_before, call_twice])(gm)
        assert shapes == [(6,), (12,)]


def test_copies_of_nodes(graph: winze.Graph) -> None:
    relu = named(graph, "r")
    with graph.inserting_after(relu):
        copy = graph.node_copy(relu)
        other = graph.node_copy(relu, lambda node: copy)
    assert copy.target is aten.relu.default
    assert copy.args == relu.args
    assert other.args == (copy,)
    (topk,) = graph.find_nodes(op="call_function", target=aten.topk.default)
    again = graph.node_copy(topk, lambda node: other)
    assert again.args[0] == other
    assert len(again.results) == 2
    graph.lint()

    def fails(node: Any) -> Any:
        raise KeyError(node.name)

    before = len(graph)
    with pytest.raises(KeyError):
        graph.node_copy(relu, fails)
    with pytest.raises(TypeError, match="a node is expected"):
        graph.node_copy(relu, lambda node: 3)
    assert len(graph) == before


def test_copies_from_another_program_are_refused(graph: winze.Graph, tmp_path: Path) -> None:
    path = tmp_path / "other.wz"
    path.write_text(TEXT)
    other = winze.load(path)
    with pytest.raises(winze.Error, match="belongs to another program"):
        graph.node_copy(named(other.graph, "r"))


def test_what_a_node_cannot_be_made_like(graph: winze.Graph, tmp_path: Path) -> None:
    path = tmp_path / "other.wz"
    path.write_text(TEXT)
    other = winze.load(path)
    x = named(graph, "x")
    with pytest.raises(TypeError, match="like is 3; it is a node"):
        graph.placeholder("more", like=3)  # type: ignore[arg-type]  # that it is refused is the test
    with pytest.raises(winze.Error, match="belongs to another program"):
        graph.call_function(aten.neg.default, (x,), like=named(other.graph, "x"))
    (topk,) = graph.find_nodes(op="call_function", target=aten.topk.default)
    with pytest.raises(winze.Error, match="has 2 results"):
        graph.get_attr("scale", like=topk)
    with pytest.raises(winze.Error, match="cannot be copied: a graph has one output"):
        graph.node_copy(graph.output_node())
    with pytest.raises(TypeError, match="has no getitem"):
        graph.call_function(operator.getitem, (topk, 0))
    with pytest.raises(winze.Error, match="cannot be told") as raised:
        graph.call_function(aten.relu.default)
    assert "like=" in raised.value.hint


def test_both_ends_of_a_graph_and_sizes_as_values(graph: winze.Graph) -> None:
    x, relu = named(graph, "x"), named(graph, "r")
    with graph.inserting_before():
        rows = graph.call_function(aten.sym_size.int, (x, 0))
        columns = graph.call_function(aten.sym_size.int, (x, 1))
    with graph.inserting_after(None):
        last = graph.call_function(aten.neg.default, (relu,))
    assert (rows.prev, rows.next, columns.next) == (named(graph, "y"), columns, relu)
    assert last.next == graph.output_node()
    assert (rows.meta["val"], columns.meta["val"]) == ("s0", 8)


def test_inputs_of_a_program_keep_their_number(program: winze.Program) -> None:
    @winze.lowering_pass(name="add-input")
    def add_input(graph: winze.Graph) -> None:
        made = graph.placeholder("more", like=named(graph, "x"))
        assert (made.op, shape(made), made.prev) == ("placeholder", ("s0", 8), named(graph, "y"))

    before = str(program)
    with pytest.raises(winze.Error, match="pass add-input failed: it changed the number of inputs from 2 to 3"):
        program.lower([add_input])
    assert str(program) == before
    x = torch.ones(3)
    plain = winze.LoweringPass("plain-input", lambda graph: graph.placeholder("more"))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="number of inputs from 1 to 2"):
        torch.compile(torch.sin, backend="winze", options={"passes": [plain]})(x)
    gm = traced(torch.sin, x)
    like_sin = winze.LoweringPass("input", lambda graph: graph.placeholder("more", like=named(graph, "sin")))
    wt.apply_lowering_passes(gm, [x], passes=[like_sin])
    found = gm.graph.find_nodes(op="placeholder")
    assert (found[1].target, found[1].meta["val"].shape) == ("more", (3,))
    same(gm(x, x), x.sin())


def test_attributes(graph: winze.Graph) -> None:
    made = graph.get_attr("scale", like=named(graph, "y"))
    assert (made.op, made.target, shape(made)) == ("get_attr", "scale", (4,))
    with pytest.raises(winze.Error, match='what attribute "scale" holds is not known'):
        graph.get_attr("scale")


def test_attributes_of_a_module() -> None:
    x = torch.randn(3, 3)
    gm = traced(lambda x: (x.sin(),), x)
    gm.inner = torch.nn.Linear(3, 3)
    gm.shift = torch.nn.Buffer(torch.ones(3))

    @winze.lowering_pass(name="add-attributes")
    def add_attributes(graph: winze.Graph) -> None:
        (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
        weight = graph.get_attr("inner.weight")
        total = graph.call_function(aten.add.Tensor, (graph.get_attr("shift"), weight))
        assert shape(total) == (3, 3)
        made = graph.call_function(aten.add.Tensor, (sin, total))
        graph.output_node().replace_input_with(sin, made)
        for wrong, error in (("outer.weight", AttributeError), ("inner", TypeError)):
            with pytest.raises(error, match=wrong):
                graph.get_attr(wrong)

    wt.apply_lowering_passes(gm, [x], passes=[add_attributes, "default"])
    assert targets(gm) == ["aten.sin.default", "aten.add.Tensor", "aten.add.Tensor"]
    same(gm(x), (x.sin() + 1 + gm.inner.weight,))
    assert all("val" in node.meta for node in gm.graph.nodes if node.op != "output")


@winze.lowering_pass(name="lift-into-branches")
def lift_into_branches(graph: winze.Graph) -> None:
    """Hands the branches of a `cond` one more operand, which they add."""
    (cond,) = graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
    predicate, yes, no, operands = cond.args
    with graph.inserting_before(cond):
        extra = graph.call_function(aten.mul.Tensor, (operands[0], 2))
    for branch in (yes, no):
        more = branch.placeholder("more", like=extra)
        (sin,) = branch.find_nodes(op="call_function", target=aten.sin.default)
        with branch.inserting_after(sin):
            made = branch.call_function(aten.add.Tensor, (sin, more))
            copy = branch.node_copy(made, lambda node, more=more, made=made: node if node == more else made)
        sin.replace_all_uses_with(copy, delete_user_cb=lambda user, made=made: user != made)
    cond.args = (predicate, yes, no, [*operands, extra])


def test_inputs_of_nested_graphs(tmp_path: Path) -> None:
    x = torch.rand(4) + 1
    program = torch.export.export(Branches(), (x,), dynamic_shapes=({0: torch.export.Dim("n", max=9)},))
    lowered = wt.lower(program, passes=[lift_into_branches, "default"])
    compiled = torch.compile(Branches(), backend="winze", options={"passes": [lift_into_branches, "default"]})
    torch.export.save(program, tmp_path / "a.pt2")
    winze.lower(tmp_path / "a.pt2", tmp_path / "b.pt2", passes=[lift_into_branches, "default"])
    for run in (lowered.module(), compiled, torch.export.load(tmp_path / "b.pt2").module()):
        same(run(x), x.sin() + 4 * x + 1)
        same(run(-x), (-x).sin() - 4 * x - 1)
    for child in lowered.graph_module.children():
        assert all("val" in node.meta for node in child.graph.nodes if node.op == "placeholder")


def test_origin_of_nodes_made_like_ones_of_another_graph() -> None:
    """A node has the source lines of what it is made like, of whichever graph that is."""

    program = torch.export.export(Branches(), (torch.ones(3),))

    @winze.lowering_pass(name="sum-in-branch")
    def sum_in_branch(graph: winze.Graph) -> None:
        (total,) = graph.find_nodes(op="call_function", target=aten.sum.default)
        (cond,) = graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
        for branch in cond.args[1:3]:
            output = branch.output_node()
            value = output.args[0][0]
            made = branch.call_function(aten.sum.default, (value,), like=total)
            output.replace_input_with(value, branch.call_function(aten.add.Tensor, (value, made)))

    lowered = wt.lower(program, passes=[sum_in_branch])
    (total,) = program.graph.find_nodes(op="call_function", target=aten.sum.default)
    for branch in lowered.graph_module.children():
        (made,) = branch.graph.find_nodes(op="call_function", target=aten.sum.default)
        assert made.meta["stack_trace"] == total.meta["stack_trace"]
    same(lowered.module()(torch.ones(3)), torch.ones(3).sin() + 1 + (torch.ones(3).sin() + 1).sum())


def test_inference_needs_no_torch(tmp_path: Path) -> None:
    path = tmp_path / "sized.wz"
    path.write_text(TEXT)
    script = f"""
import sys, winze
graph = winze.load({str(path)!r}).graph
made = graph.call_function("aten.mul.Tensor", (next(iter(graph.nodes)), 2.5))
assert made.meta["val"].shape == ("s0", 8), made.meta
assert "torch" not in sys.modules
"""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE_DIR)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
