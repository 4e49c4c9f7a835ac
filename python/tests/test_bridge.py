# SPDX-License-Identifier: Apache-2.0
"""torch.fx graphs in native form and back: what is not edited stays the same object."""

import operator
from typing import Any

import pytest
import torch
from fx_programs import same, targets, traced

import winze
import winze.torch as wt
from winze.torch._fake import fake_mode_of
from winze.torch._fx_editor import FxEditor
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


class Recorder(FxEditor):
    """An editor that keeps what it was asked for."""

    def __init__(self, gm: torch.fx.GraphModule) -> None:
        super().__init__(gm, fake_mode_of(gm))
        self.calls: list[tuple[str, str]] = []

    def change(self, node: torch.fx.Node, args: Any, kwargs: Any) -> None:
        self.calls.append(("change", node.name))
        super().change(node, args, kwargs)

    def move_after(self, node: torch.fx.Node, other: torch.fx.Node | None) -> None:
        self.calls.append(("move", node.name))
        super().move_after(node, other)

    def lose(self, node: torch.fx.Node) -> None:
        self.calls.append(("lose", node.name))
        super().lose(node)


def edited(gm: torch.fx.GraphModule, *bodies: Any) -> list[tuple[str, str]]:
    """What the bridge asks its editor for after these edits, each a transaction of its own."""
    bridge = winze._native.FxBridge(vocabulary(), gm)
    for body in bodies:
        bridge.begin("test")
        body(bridge.graph)
        bridge.commit()
    recorder = Recorder(gm)
    assert bridge.apply(recorder) >= len(recorder.calls)
    gm.graph.lint()
    gm.recompile()
    return recorder.calls


def node_of(graph: winze.Graph, target: Any, index: int = 0) -> Any:
    return graph.find_nodes(op="call_function", target=target)[index]


def test_only_edited_nodes_are_brought_back() -> None:
    gm = traced(lambda x: (x.sin().cos().exp() + x.sin().cos().exp(), x.tan()), torch.randn(2))

    def merge(graph: winze.Graph) -> None:
        node_of(graph, aten.sin.default, 1).replace_all_uses_with(node_of(graph, aten.sin.default))
        graph.erase_node(node_of(graph, aten.sin.default, 1))

    assert sorted(edited(gm, merge)) == [("change", "cos_1"), ("lose", "sin_1")]
    x = torch.randn(2)
    same(gm(x), (x.sin().cos().exp() * 2, x.tan()))


def test_moved_nodes_go_where_the_native_ones_are() -> None:
    gm = traced(lambda x: (x.sin(), x.cos(), x.exp(), x.tan()), torch.randn(2))

    def move(graph: winze.Graph) -> None:
        node_of(graph, aten.tan.default).prepend(node_of(graph, aten.sin.default))
        node_of(graph, aten.cos.default).prepend(node_of(graph, aten.exp.default))

    assert sorted(edited(gm, move)) == [("move", "exp"), ("move", "sin")]
    assert targets(gm) == ["aten.exp.default", "aten.cos.default", "aten.sin.default", "aten.tan.default"]


def test_new_node_in_the_place_of_an_erased_one() -> None:
    gm = traced(lambda x: (x.sin() + x, x.cos()), torch.randn(2))
    old = gm.graph.find_nodes(op="call_function", target=aten.sin.default)[0]

    def erase(graph: winze.Graph) -> None:
        sin = node_of(graph, aten.sin.default)
        sin.replace_all_uses_with(sin.args[0])
        graph.erase_node(sin)

    def make(graph: winze.Graph) -> None:  # the native index is given out again
        add = node_of(graph, aten.add.Tensor)
        with graph.inserting_before(add):
            made = graph.call_function(aten.sin.default, (add.args[0],), like=add)
        add.update_arg(1, made)

    assert ("lose", "sin") in edited(gm, erase, make)
    (new,) = gm.graph.find_nodes(op="call_function", target=aten.sin.default)
    assert new is not old
    assert new.meta["val"].shape == (2,)
    x = torch.randn(2)
    same(gm(x), (x + x.sin(), x.cos()))


def test_edits_taken_back_leave_no_trace() -> None:
    gm = traced(lambda x: (x.sin() + x.cos()).exp(), torch.randn(2))
    before = [(node, node.args) for node in gm.graph.nodes]

    @winze.lowering_pass(name="gives-up")
    def gives_up(graph: winze.Graph) -> None:
        add = node_of(graph, aten.add.Tensor)
        add.update_arg(1, node_of(graph, aten.sin.default))
        graph.erase_node(node_of(graph, aten.cos.default))
        raise ValueError("no more")

    with pytest.raises(winze.Error, match="gives-up failed: ValueError: no more"):
        run(gm, [gives_up])
    assert list(gm.graph.nodes) == [node for node, _ in before]
    assert all(node.args is args for node, args in before)


def ranges_in(run_with: Any) -> dict[str, tuple[int | None, int | None]]:
    """What a native pass is told of the symbols."""
    seen: list[dict[str, tuple[int | None, int | None]]] = []

    @winze.lowering_pass(name="look-at-ranges")
    def look(graph: winze.Graph) -> None:
        seen.append(graph.symbol_ranges)

    run_with(look)
    return seen[0]


def test_ranges_of_marked_dimensions() -> None:
    def compile_with(look: Any) -> None:
        x = torch.randn(5, 3)
        torch._dynamo.mark_dynamic(x, 0, min=3, max=17)
        torch.compile(lambda x: x.sin() * x.shape[0], backend="winze", options={"passes": [look]})(x)

    assert list(ranges_in(compile_with).values()) == [(3, 17)]


def test_ranges_of_automatically_dynamic_dimensions() -> None:
    seen: list[Any] = []

    @winze.lowering_pass(name="look-at-ranges")
    def look(graph: winze.Graph) -> None:
        seen.append(list(graph.symbol_ranges.values()))

    run_with_any_size = torch.compile(lambda x: x.sin() * x.shape[0], backend="winze", options={"passes": [look]})
    run_with_any_size(torch.randn(5))
    run_with_any_size(torch.randn(7))
    assert seen == [[], [(2, None)]]


def test_sizes_known_to_be_equal_are_one_symbol() -> None:
    def compile_with(look: Any) -> None:
        x, y = torch.randn(5), torch.randn(5)
        torch._dynamo.mark_dynamic(x, 0)
        torch._dynamo.mark_dynamic(y, 0, min=2, max=30)
        torch.compile(lambda x, y: (x + y) * x.shape[0], backend="winze", options={"passes": [look]})(x, y)

    assert list(ranges_in(compile_with).values()) == [(2, 30)]


def test_ranges_of_an_exported_program_and_its_data_dependent_numbers() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            size = n.item()
            torch._check(size >= 2)
            torch._check(size <= 9)
            return torch.zeros(size) + x.sum()

    dynamic = {"x": {0: torch.export.Dim("batch", min=2, max=64)}, "n": None}
    program = torch.export.export(Net(), (torch.randn(4, 6), torch.tensor(3)), dynamic_shapes=dynamic)
    expected = {str(name): (int(one.lower), int(one.upper)) for name, one in program.range_constraints.items()}
    assert sorted(expected.values()) == [(2, 9), (2, 64)]
    assert ranges_in(lambda look: wt.lower(program, passes=[look])) == expected


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


def test_modules_of_exported_programs_keep_their_guards() -> None:
    """`ExportedProgram.module()` calls a module that checks sizes, before everything else."""

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sigmoid() + x.sigmoid().clone()

    dynamic = ({0: torch.export.Dim("n", min=2, max=5)},)
    gm = torch.export.export(Net(), (torch.randn(3),), dynamic_shapes=dynamic).module()
    assert isinstance(gm, torch.fx.GraphModule)
    gm = run(gm, "default")
    assert targets(gm) == ["aten.sigmoid.default", "aten.add.Tensor"]
    x = torch.randn(4)
    same(gm(x), x.sigmoid() + x.sigmoid())
    with pytest.raises(AssertionError, match="Guard failed"):
        gm(torch.randn(6))


def test_call_module_and_call_method() -> None:
    gm = torch.fx.symbolic_trace(lambda x: x.relu())
    with pytest.raises(winze.Error, match='call_method of "relu" is no ATen operator') as caught:
        run(gm, "default")
    assert "relu" in caught.value.node
