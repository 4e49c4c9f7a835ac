# SPDX-License-Identifier: Apache-2.0
"""torch.fx graphs in native form and back: what is not edited stays the same object."""

import operator
from typing import Any

import pytest
import torch
from fx_programs import same, targets, traced

import winze
import winze.torch as wt
from winze.torch._run import vocabulary

aten = torch.ops.aten


def run(gm: torch.fx.GraphModule, passes: Any) -> torch.fx.GraphModule:
    return wt.Pipeline(passes)(gm)


def test_untouched_nodes_stay_the_same_objects() -> None:
    gm = traced(lambda x, y: ((x + y) * (x + y), y.sin(), x), torch.randn(2), torch.randn(2))
    before = {node: (node.args, dict(node.meta)) for node in gm.graph.nodes}
    run(gm, "common-subexpressions")
    assert targets(gm) == ["aten.add.Tensor", "aten.mul.Tensor", "aten.sin.default"]
    for node in gm.graph.nodes:
        args, meta = before[node]
        assert node.meta == meta
        if node.target is not aten.mul.Tensor:
            assert node.args is args
    x, y = torch.randn(2), torch.randn(2)
    same(gm(x, y), ((x + y) * (x + y), y.sin(), x))


def test_nothing_to_do_touches_nothing() -> None:
    gm = traced(lambda x: x.sin(), torch.randn(2))
    graph = gm.graph
    bridge = winze._native.FxBridge(vocabulary(), gm)
    bridge.run("default")
    assert not bridge.is_edited
    assert bridge.apply(None) == 0
    assert gm.graph is graph


def test_text_of_all_kinds_of_arguments() -> None:
    def body(x: torch.Tensor) -> Any:
        values, indices = aten.topk.default(x, 2, largest=False)
        parts = aten.split.Tensor(x, 1)
        cast = aten._to_copy.default(x, dtype=torch.float16, device=torch.device("cpu"))
        dense = aten.clone.default(x, memory_format=torch.contiguous_format)
        made = aten.full.default([2, 3], 1.5, dtype=torch.float32, device="cpu", pin_memory=False)
        picked = aten.index.Tensor(x, [None, indices[0]])
        return values, indices, parts, cast, dense, made, aten.cat.default(parts), picked

    gm = traced(body, torch.randn(3, 4))
    text = winze._native.FxBridge(vocabulary(), gm).text()
    assert "= aten.topk.default(%x_1, 2, largest=False)" in text
    assert "python." not in text
    assert "dtype=f16" in text
    assert "aten.index.Tensor(%x_1, [None, %" in text
    x = torch.randn(3, 4)
    same(run(gm, "default")(x), body(x))


def test_symbolic_sizes() -> None:
    gm = traced(lambda x: x.view(x.shape[0] * 2, -1) + x.shape[0], torch.randn(4, 6), mode="symbolic")
    text = winze._native.FxBridge(vocabulary(), gm).text()
    assert "s" in text.split("\n")[1]
    assert "python." not in text
    x = torch.randn(6, 2)
    same(run(gm, "default")(x), x.view(12, -1) + 6)


def test_getitems_made_moved_and_kept() -> None:
    def body(x: torch.Tensor) -> Any:
        a, b = aten.topk.default(x, 2)
        c, d = aten.topk.default(x, 2)
        return a + c, b.to(torch.float32) - d

    gm = traced(body, torch.randn(5))
    run(gm, "default")
    assert targets(gm).count("aten.topk.default") == 1
    gm.graph.lint()
    x = torch.randn(5)
    same(gm(x), body(x))


def test_nested_graphs() -> None:
    def body(x: torch.Tensor, y: torch.Tensor) -> Any:
        total = torch.cond(x.sum() > 0, lambda a, b: (a + b) * (a + b), lambda a, b: a - b, (x, y))
        return total + (x + y) * (x + y)

    gm = traced(body, torch.randn(3), torch.randn(3), mode="real")
    text = winze._native.FxBridge(vocabulary(), gm).text()
    assert "higher_order.cond(" in text
    assert "graph true_graph_0" in text
    run(gm, "default")
    assert targets(gm).count("aten.add.Tensor") == 2
    assert targets(gm.true_graph_0) == ["aten.add.Tensor", "aten.mul.Tensor"]
    for sign in (1, -1):
        x, y = sign * torch.rand(3), torch.randn(3)
        same(gm(x, y), body(x, y))


def test_call_with_nested_graph_is_inlined() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                scale = x.abs().sum()
            return x / scale

    program = torch.export.export(Net(), (torch.randn(3),))
    assert "wrap_with_set_grad_enabled" in " ".join(targets(program.graph_module))
    lowered = wt.lower(program, passes="inference")
    assert targets(lowered.graph_module) == ["aten.abs.default", "aten.sum.default", "aten.div.Tensor"]
    assert not [node for node in lowered.graph.nodes if node.op == "get_attr"]
    assert all("val" in node.meta for node in lowered.graph.nodes if node.op == "call_function")
    x = torch.randn(3)
    same(lowered.module()(x), program.module()(x))


def test_what_has_no_native_form_is_kept() -> None:
    gm = traced(lambda x: ((x + 1) * (x + 1), x.sin()), torch.randn(3))
    sin = gm.graph.find_nodes(op="call_function", target=aten.sin.default)[0]

    def odd(given: dict[str, Any]) -> torch.Tensor:
        return given["x"].sin() + given["more"][0]

    adds = gm.graph.find_nodes(op="call_function", target=aten.add.Tensor)
    with gm.graph.inserting_before(gm.graph.output_node()):
        call = gm.graph.call_function(odd, ({"x": sin, "more": [adds[1]]},))
    call.meta["val"] = sin.meta["val"]
    sin.replace_all_uses_with(call, delete_user_cb=lambda user: user is not call)
    gm.recompile()
    text = winze._native.FxBridge(vocabulary(), gm).text()
    assert '"python.test_bridge.' in text
    # The call may write to what it is given, so that equal calls stay apart until a pass decides otherwise.
    run(gm, "default")
    assert targets(gm).count("aten.add.Tensor") == 2

    @winze.lowering_pass(name="merge-additions")
    def merge(graph: winze.Graph) -> None:
        first, second = graph.find_nodes(op="call_function", target=aten.add.Tensor)
        second.replace_all_uses_with(first)
        graph.erase_node(second)

    run(gm, [merge])
    assert targets(gm).count("aten.add.Tensor") == 1
    assert call.args == ({"x": sin, "more": [adds[0]]},)
    x = torch.randn(3)
    same(gm(x), ((x + 1) * (x + 1), x.sin().sin() + x + 1))


def test_custom_operator() -> None:
    with torch.library._scoped_library("winze_test", "FRAGMENT") as library:
        library.define("twice(Tensor x, *, float by=2.0) -> Tensor")
        library.impl("twice", lambda x, by=2.0: x * by, "CompositeExplicitAutograd")
        twice = torch.ops.winze_test.twice.default
        gm = traced(lambda x: (twice(x, by=3.0), twice(x, by=3.0), twice(x)), torch.randn(2))
        text = winze._native.FxBridge(vocabulary(), gm).text()
        assert "winze_test.twice.default(%x_1, by=3.0)" in text
        x = torch.randn(2)
        same(run(gm, "default")(x), (x * 3, x * 3, x * 2))


def test_calls_between_placeholders() -> None:
    gm = traced(lambda x, y: (x.sin() + y, x.sin()), torch.randn(2), torch.randn(2))
    sin = gm.graph.find_nodes(op="call_function", target=aten.sin.default)[0]
    gm.graph.find_nodes(op="placeholder")[0].append(sin)
    run(gm, "default")
    gm.graph.lint()
    assert [node.op for node in gm.graph.nodes][:2] == ["placeholder", "placeholder"]
    x, y = torch.randn(2), torch.randn(2)
    same(gm(x, y), (x.sin() + y, x.sin()))


def test_new_nodes_inherit_and_have_values() -> None:
    @winze.lowering_pass(name="split-silu")
    def split_silu(graph: winze.Graph) -> None:
        for silu in graph.find_nodes(op="call_function", target=aten.silu.default):
            (x,) = silu.args
            with graph.inserting_before(silu):
                gate = graph.call_function(aten.sigmoid.default, (x,), like=silu)
                product = graph.call_function(aten.mul.Tensor, (x, gate), like=silu)
            silu.replace_all_uses_with(product)
            graph.erase_node(silu)

    gm = traced(lambda x: torch.nn.functional.silu(x) + 1, torch.randn(2, 3))
    silu = gm.graph.find_nodes(op="call_function", target=aten.silu.default)[0]
    silu.meta["stack_trace"] = 'File "model.py", line 3, in forward\n    return silu(x)'
    run(gm, [split_silu])
    assert targets(gm) == ["aten.sigmoid.default", "aten.mul.Tensor", "aten.add.Tensor"]
    for node in gm.graph.nodes:
        if node.op == "call_function":
            assert node.meta["val"].shape == (2, 3)
    made = gm.graph.find_nodes(op="call_function", target=aten.mul.Tensor)[0]
    assert made.meta["stack_trace"].startswith('File "model.py"')
    x = torch.randn(2, 3)
    same(gm(x), torch.nn.functional.silu(x) + 1)


def test_new_node_with_several_results() -> None:
    @winze.lowering_pass(name="max-by-topk")
    def max_by_topk(graph: winze.Graph) -> None:
        for call in graph.find_nodes(op="call_function", target=aten.max.dim):
            with graph.inserting_before(call):
                top = graph.call_function(aten.topk.default, (call.args[0], 1, call.args[1]))
                first = graph.call_function(aten.squeeze.dim, (top.results[0], -1), like=call.results[0])
                second = graph.call_function(aten.squeeze.dim, (top.results[1], -1), like=call.results[1])
            call.results[0].replace_all_uses_with(first)
            call.results[1].replace_all_uses_with(second)
            graph.erase_node(call)

    gm = traced(lambda x: x.max(-1), torch.randn(3, 4))
    run(gm, [max_by_topk])
    gm.graph.lint()
    assert operator.getitem in [node.target for node in gm.graph.nodes]
    assert all("val" in node.meta for node in gm.graph.nodes if node.op == "call_function")
    x = torch.randn(3, 4)
    same(list(gm(x)), list(x.max(-1)))


def test_call_module_and_call_method() -> None:
    gm = torch.fx.symbolic_trace(lambda x: x.relu())
    with pytest.raises(winze.Error, match='call_method of "relu" is no ATen operator') as caught:
        run(gm, "default")
    assert "relu" in caught.value.node
