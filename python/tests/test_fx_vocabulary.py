# SPDX-License-Identifier: Apache-2.0
"""Bodies of passes that run over torch.fx and over the native graph alike."""

import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fx_programs import traced

import winze
import winze.torch as wt

aten = torch.ops.aten
Body = Callable[[Any], None]


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    with torch.library._scoped_library("winze_vocabulary", "FRAGMENT") as made:
        made.define("scaled(Tensor x, int n, *, float scale=1.0) -> Tensor")
        made.impl("scaled", lambda x, n, scale=1.0: x * n * scale, "CompositeExplicitAutograd")
        torch.library.register_fake("winze_vocabulary::scaled", lambda x, n, scale=1.0: torch.empty_like(x), lib=made)
        yield made


def model(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, _ = torch.topk(x.sin() + y, 2)
    return values.relu(), (x + y).cos()


def over_fx(body: Body) -> Callable[[torch.fx.GraphModule], torch.fx.GraphModule]:
    def run(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        body(gm.graph)
        return gm

    return run


def over_both(body: Body, function: Callable[..., Any] = model) -> tuple[torch.fx.GraphModule, torch.fx.GraphModule]:
    """The module that the body leaves, written over torch.fx and over the native graph. Both compute the same."""
    inputs = [torch.randn(3, 4), torch.randn(3, 4)]
    lowered = []
    for one in (over_fx(body), winze.lowering_pass(name="body")(body)):
        gm = traced(function, *inputs)
        lowered.append(wt.Pipeline([one])(gm, inputs))
    for a, b in zip(lowered[0](*inputs), lowered[1](*inputs), strict=True):
        torch.testing.assert_close(a, b)
    return lowered[0], lowered[1]


def targets_of(gm: torch.fx.GraphModule) -> list[str]:
    return [str(node.target) for node in gm.graph.nodes if node.op == "call_function" and "getitem" not in str(node)]


def insert_plainly(graph: Any) -> None:
    (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
    graph.inserting_before(sin)
    first = graph.call_function(aten.neg.default, (sin.args[0],))
    graph.inserting_after(sin)
    second = graph.call_function(aten.abs.default, (sin,))
    sin.replace_all_uses_with(second, delete_user_cb=lambda user: user != second)
    sin.replace_input_with(sin.args[0], first)


def leave_plain_point_with_context(graph: Any) -> None:
    (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
    (cos,) = graph.find_nodes(op="call_function", target=aten.cos.default)
    with graph.inserting_before(cos):
        graph.inserting_before(sin)
        first = graph.call_function(aten.neg.default, (sin.args[0],))
    graph.inserting_after(cos)
    last = graph.call_function(aten.abs.default, (cos,))
    sin.replace_input_with(sin.args[0], first)
    cos.replace_all_uses_with(last, delete_user_cb=lambda user: user != last)


def call_packets(graph: Any) -> None:
    for node in graph.find_nodes(op="call_function", target=aten.sin.default):
        with graph.inserting_after(node):
            added = graph.call_function(aten.add, (node, 1), {"alpha": 2})
        with graph.inserting_after(added):
            total = graph.call_function(aten.mul, (added, node))
        with graph.inserting_after(total):
            least = graph.call_function(aten.min, (total, 1))
        with graph.inserting_after(least):
            kept = graph.call_function(aten.add, (total, node))
        node.replace_all_uses_with(kept, delete_user_cb=lambda user, old=(added, total, kept): user not in old)
        graph.eliminate_dead_code()


def create_nodes(graph: Any) -> None:
    (cos,) = graph.find_nodes(op="call_function", target=aten.cos.default)
    with graph.inserting_before(cos):
        made = graph.create_node("call_function", aten.exp.default, args=cos.args, kwargs={}, name="my_exp")
    made.meta.update(cos.meta)
    cos.replace_all_uses_with(made)
    graph.erase_node(cos)
    assert made.name == "my_exp"


def copy_metas(graph: Any) -> None:
    for cos in list(graph.nodes):
        if cos.op != "call_function" or cos.target != aten.cos.default:
            continue
        assert isinstance(cos, torch.fx.Node)
        assert isinstance(cos.meta["val"], torch.Tensor)
        assert cos.meta["val"].device == torch.device("cpu")
        assert cos.meta["val"].dim() == cos.meta.get("val").ndim == 2
        assert (cos.meta["val"].size(1), cos.meta["val"].stride(0), cos.meta["val"].numel()) == (4, 4, 12)
        with graph.inserting_before(cos):
            made = graph.call_function(aten.exp.default, cos.args)
        made.meta = dict(cos.meta)
        made.meta["val"] = cos.meta["val"]
        made.meta["note"] = "mine"
        made.name = "exp_of_it"
        users = list(cos.users)
        assert cos.replace_all_uses_with(made) == users
        graph.erase_node(cos)
        return


def change_arguments(graph: Any) -> None:
    (add, other) = graph.find_nodes(op="call_function", target=aten.add.Tensor)
    assert add < other
    assert add.all_input_nodes[-1].op == "placeholder"
    add.update_arg(1, 2.0)
    add.update_kwarg("alpha", 3)
    other.args = (other.args[1], other.args[0])
    (topk,) = graph.find_nodes(op="call_function", target=aten.topk.default)
    topk.args = (*topk.args[:1], 2, 1)
    topk.insert_arg(3, False)
    assert not topk.is_impure()
    assert graph.output_node().is_impure()
    assert next(node.op for node in reversed(graph.nodes)) == "output"


def name_placeholders_by_type(graph: Any) -> None:
    first, second = (node for node in graph.nodes if node.op == "placeholder" and issubclass(node.type, torch.Tensor))
    assert graph.find_nodes(op="call_module") == graph.find_nodes(op="call_method", target="relu") == []
    with graph.inserting_after(second):
        made = graph.call_function(aten.add.Tensor, (first, second))
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        if node != made and node.args == (first, second):
            node.replace_all_uses_with(made)
            graph.erase_node(node)


BODIES = [
    insert_plainly,
    leave_plain_point_with_context,
    call_packets,
    create_nodes,
    copy_metas,
    change_arguments,
    name_placeholders_by_type,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_same_body(body: Body) -> None:
    fx, native = over_both(body)
    assert sorted(targets_of(fx)) == sorted(targets_of(native))
    assert "aten.sin.default" in targets_of(native)


def test_names_and_notes_come_back() -> None:
    for gm in over_both(create_nodes):
        (exp,) = gm.graph.find_nodes(op="call_function", target=aten.exp.default)
        assert exp.name == "my_exp"
    for gm in over_both(copy_metas):
        (exp,) = gm.graph.find_nodes(op="call_function", target=aten.exp.default)
        assert (exp.name, exp.meta["note"]) == ("exp_of_it", "mine")
        assert isinstance(exp.meta["val"], torch._subclasses.FakeTensor)


def test_graphs_nodes_and_results_are_one_object_each() -> None:
    def look(graph: winze.Graph) -> None:
        first, second = graph.find_nodes(op="placeholder")
        assert first.graph is graph is second.graph
        (topk,) = graph.find_nodes(op="call_function", target=aten.topk.default)
        (relu,) = graph.find_nodes(op="call_function", target=aten.relu.default)
        values, indices = topk.results
        assert relu.args[0] is values is topk.results[0]
        assert values != indices
        assert first < second
        assert first <= first <= second
        assert second > first
        assert second >= second >= first
        assert not second <= first

    wt.Pipeline([winze.lowering_pass(name="look")(look)])(traced(model, torch.randn(3, 4), torch.randn(3, 4)))


def test_a_point_that_was_set_ends_with_the_pass() -> None:
    @winze.lowering_pass(name="set-point")
    def set_point(graph: winze.Graph) -> None:
        graph.inserting_before(graph.find_nodes(op="call_function", target=aten.sin.default)[0])
        graph.call_function(aten.abs.default, (graph.find_nodes(op="placeholder")[0],))

    @winze.lowering_pass(name="append")
    def append(graph: winze.Graph) -> None:
        graph.call_function(aten.neg.default, (graph.find_nodes(op="placeholder")[0],))

    inputs = [torch.randn(3, 4), torch.randn(3, 4)]
    gm = wt.Pipeline([set_point, append])(traced(model, *inputs), inputs)
    assert targets_of(gm)[0] == "aten.abs.default"
    assert targets_of(gm)[-1] == "aten.neg.default"


def test_a_point_outlives_what_stood_before_it() -> None:
    def body(graph: Any) -> None:
        (cos,) = graph.find_nodes(op="call_function", target=aten.cos.default)
        before = cos.args[0]
        with graph.inserting_before(cos):
            with graph.inserting_before(graph.output_node()):
                before.replace_all_uses_with(before.args[0])
                graph.erase_node(before)
            made = graph.call_function(aten.neg.default, (cos.args[0],))
        cos.replace_input_with(cos.args[0], made)

    over_both(body)


def test_packets_are_found_by_all_their_overloads() -> None:
    gm = traced(lambda x, y: (x + 1 + y, x.add(y, alpha=2), torch.add(x, 2)), torch.ones(2), torch.ones(2))

    @winze.lowering_pass(name="find-adds")
    def find_adds(graph: winze.Graph) -> None:
        found = graph.find_nodes(op="call_function", target=aten.add)
        assert found == graph.find_nodes(op="call_function")
        assert {node.target.overloadpacket for node in found} == {aten.add}

    wt.Pipeline([find_adds])(gm)


def custom(graph: Any, *args: Any) -> None:
    (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
    with graph.inserting_after(sin):
        made = graph.call_function(torch.ops.winze_vocabulary.scaled.default, (sin, *args))
    sin.replace_all_uses_with(made, delete_user_cb=lambda user: user != made)


def test_operators_that_the_graph_had_not(library: torch.library.Library) -> None:
    for gm in over_both(lambda graph: custom(graph, 3)):
        assert "winze_vocabulary.scaled.default" in targets_of(gm)


@pytest.mark.parametrize("args", [(), ("three",), (3, 4)], ids=str)
@pytest.mark.parametrize("kind", ["fx", "native"])
def test_arguments_that_a_schema_refuses(library: torch.library.Library, kind: str, args: Any) -> None:
    def wrong(graph: Any) -> None:
        custom(graph, *args)

    given = over_fx(wrong) if kind == "fx" else winze.lowering_pass(name="run")(wrong)
    gm = traced(model, torch.randn(3, 4), torch.randn(3, 4))
    before = gm.code
    with pytest.raises(winze.Error, match=r"pass run (left|failed).*scaled") as caught:
        wt.Pipeline([given])(gm)
    assert caught.value.pass_name == "run"
    assert gm.code == before


def test_what_a_native_graph_has_not(tmp_path: Path) -> None:
    (tmp_path / "neg.wz").write_text(
        'program "neg" torch "2.13.0"\n'
        "graph forward(%x: input f32[2]) {\n  %s = aten.neg.default(%x) : f32[2]\n  return output %s\n}\n"
    )
    graph: Any = winze.load(tmp_path / "neg.wz").graph
    neg = graph.find_nodes(op="call_function")[0]
    with pytest.raises(AttributeError, match=r"winze.Graph has no 'call_module': .*aten_lowering_pass"):
        graph.call_module("linear")
    with pytest.raises(AttributeError, match="calls operators alone"):
        graph.create_node("call_method", "relu", (neg,))
    with pytest.raises(ValueError, match="op is 'call'"):
        graph.create_node("call", "relu", (neg,))
    with pytest.raises(AttributeError, match="Did you mean 'find_nodes'"):
        graph.find_node(op="output")
    with pytest.raises(AttributeError, match=r"winze.Node has no 'all_inputs': Did you mean 'all_input_nodes'"):
        neg.all_inputs  # noqa: B018 (to read it is the test)
    with pytest.raises(AttributeError, match=r"the target of .*cannot be set: .*call_function"):
        neg.target = aten.abs.default
    with pytest.raises(winze.Error, match="a graph has one output node"):
        graph.output(neg)
    with pytest.raises(winze.Error, match="cannot be erased"):
        graph.erase_node(graph.output_node())
    with pytest.raises(TypeError, match="meta has the key 3"):
        neg.meta[3] = True
    with pytest.raises(TypeError, match="args is s; it is a tuple"):
        neg.args = neg
    neg.args = [*neg.args]
    with pytest.raises(IndexError, match="insert_arg was given 7"):
        neg.insert_arg(7, neg)
    assert not hasattr(graph, "python_code")
    assert graph.owning_module is None
    assert str(graph.find_nodes(op="call_function")) == "[s]"


def test_arguments_with_their_defaults() -> None:
    def look(graph: Any) -> None:
        (topk,) = graph.find_nodes(op="call_function", target=aten.topk.default)
        pair = topk.normalized_arguments(None, normalize_to_only_use_kwargs=True)
        assert pair.args == ()
        assert list(pair.kwargs) == ["self", "k", "dim", "largest", "sorted"]
        assert list(pair.kwargs.values())[1:] == [2, -1, True, True]
        pair = topk.normalized_arguments(None)
        assert (len(pair.args), list(pair.kwargs)) == (2, ["dim", "largest", "sorted"])

    @winze.lowering_pass(name="look")
    def native(graph: winze.Graph) -> None:
        look(graph)

    wt.Pipeline([native])(traced(model, torch.randn(3, 4), torch.randn(3, 4)))


def test_symbolic_sizes_become_nodes() -> None:
    def body(graph: Any) -> None:
        (view,) = graph.find_nodes(op="call_function", target=aten.view.default)
        rows, columns = view.args[0].meta["val"].shape
        with graph.inserting_before(view):
            size = graph.materialize_symint(rows)
            assert graph.materialize_symint(columns) == 4
            made = graph.call_function(aten.view.default, (view.args[0], [size, 4, 1]))
            flat = graph.call_function(aten.squeeze.dim, (made, 2))
        view.replace_all_uses_with(flat)
        graph.erase_node(view)

    def joined(graph: Any) -> None:
        (view,) = graph.find_nodes(op="call_function", target=aten.view.default)
        with graph.inserting_before(view):
            view.args = (view.args[0], [graph.materialize_symint(size) for size in view.meta["val"].shape])

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin().view(x.shape[0], 4) + 1

    def flat(x: torch.Tensor) -> torch.Tensor:
        return x.repeat(3, 1).view(-1) * 2

    for each, computed in ((body, function), (joined, flat)):
        for given in (over_fx(each), winze.lowering_pass(name="body")(each)):
            torch._dynamo.reset()
            fast = torch.compile(computed, backend="winze", dynamic=True, options={"passes": [given], "check": True})
            for rows in (3, 5):
                x = torch.randn(rows, 4)
                torch.testing.assert_close(fast(x), computed(x))


def test_a_nested_graph_is_copied_into_its_caller(tmp_path: Path) -> None:
    (tmp_path / "cond.wz").write_text(
        'program "cond" torch "2.13.0"\n'
        "graph forward(%p: input b8[], %x: input f32[2]) {\n"
        "  %r = higher_order.cond(%p, graph yes(%a: f32[2]) {\n"
        "    %v, %i = aten.sort.default(%a) : f32[2], i64[2]\n    %n = aten.neg.default(%v) : f32[2]\n"
        "    return %n\n  }, graph no(%b: f32[2]) {\n    return %b\n  }, [%x]) -> tuple : f32[2]\n"
        "  return output %r\n}\n"
    )
    program = winze.load(tmp_path / "cond.wz")
    graph: Any = program.graph
    (cond,) = graph.find_nodes(op="call_function")
    body, x = cond.args[1], graph.find_nodes(op="placeholder")[1]
    values = {body.find_nodes(op="placeholder")[0]: x}
    with graph.inserting_before(cond):
        result = graph.graph_copy(body, values)
    cond.replace_all_uses_with(result)
    graph.erase_node(cond)
    assert [str(node.target) for node in graph.find_nodes(op="call_function")] == [
        "aten.sort.default",
        "aten.neg.default",
    ]
    assert not program.verify()


def test_a_node_is_one_object() -> None:
    def look(graph: Any) -> None:
        nodes = list(graph.nodes)
        (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
        (add,) = sin.users
        assert add.args[0] is sin
        assert sin is next(node for node in nodes if node == sin)
        assert nodes[-1] is graph.output_node()
        assert sin.next is add

    over_both(look)


def test_calls_of_which_nothing_is_left_take_their_results_with_them() -> None:
    def body(graph: Any) -> None:
        for node in list(graph.nodes):
            if node.op == "call_function" and "getitem" not in node.name:
                with graph.inserting_before(node):
                    made = graph.node_copy(node)
                node.replace_all_uses_with(made)
                graph.erase_node(node)

    _, native = over_both(body, lambda x, y: (torch.layer_norm(x + y, [4]).relu(), torch.split(y, 2)[1].sin()))
    assert not [node for node in native.graph.nodes if node.target is operator.getitem and not node.users]


def copy_returned_inputs(graph: Any) -> None:
    for node in graph.find_nodes(op="placeholder"):
        for output in [user for user in node.users if user.op == "output"]:
            with graph.inserting_after(node):
                copy = graph.call_function(aten.clone.default, args=(node,))
            output.replace_input_with(node, copy)


def test_calls_between_placeholders() -> None:
    for gm in over_both(copy_returned_inputs, lambda x, y: (x, y, x.sin())):
        assert targets_of(gm).count("aten.clone.default") == 2


def test_a_move_between_placeholders() -> None:
    def body(graph: Any) -> None:
        (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
        graph.find_nodes(op="placeholder")[0].append(sin)

    over_both(body)


def test_arguments_before_one_that_is_given_are_written_out() -> None:
    def body(graph: Any) -> None:
        (cut,) = graph.find_nodes(op="call_function", target=aten.slice.Tensor)
        x, dim, start, end = cut.args[:4]
        assert (dim, start, end) == (0, 0, 2)
        cut.args = (x, dim, 1, end)
        cut.update_arg(2, start)

    over_both(body, lambda x, y: (x[:2] + 1, y * 1))


def test_constants_that_a_native_pass_registers_have_data() -> None:
    def body(graph: Any) -> None:
        (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
        graph.owning_module.register_buffer("three", torch.full((), 3.0))
        with graph.inserting_before(sin):
            three = graph.get_attr("three")
        with graph.inserting_after(sin):
            made = graph.call_function(aten.mul.Tensor, (sin, three))
        sin.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)

    x = torch.randn(3)
    for given in (over_fx(body), winze.lowering_pass(name="body")(body)):
        torch._dynamo.reset()
        fast = torch.compile(lambda x: x.sin() + 1, backend="winze", options={"passes": [given]})
        torch.testing.assert_close(fast(x), x.sin() * 3 + 1)


def test_strides_that_an_edit_changes_are_followed() -> None:
    def drop_clones(graph: Any) -> None:
        for node in graph.find_nodes(op="call_function", target=aten.clone.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)

    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
        return (x.t().clone(memory_format=torch.contiguous_format).view(-1) + 1,)

    for given in (over_fx(drop_clones), winze.lowering_pass(name="run")(drop_clones)):
        gm = traced(function, torch.randn(2, 3), torch.randn(2, 3))
        before = gm.code
        with pytest.raises(winze.Error, match=r"pass run (left|failed).*aten\.view\.default") as caught:
            wt.Pipeline([given])(gm)
        assert "view" in caught.value.node
        assert gm.code == before


def test_operators_that_are_defined_anew() -> None:
    for factor, schema in ((2, "times(Tensor x) -> Tensor"), (3, "times(Tensor x, int n=3) -> Tensor")):
        with torch.library._scoped_library("winze_anew", "FRAGMENT") as library:
            library.define(schema)
            library.impl("times", lambda x, n=factor: x * n, "CompositeExplicitAutograd")
            torch.library.register_fake("winze_anew::times", lambda x, n=0: torch.empty_like(x), lib=library)

            def body(graph: Any) -> None:
                (sin,) = graph.find_nodes(op="call_function", target=aten.sin.default)
                with graph.inserting_after(sin):
                    made = graph.call_function(torch.ops.winze_anew.times.default, (sin,))
                sin.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)

            x = torch.randn(3, 4)
            for gm in over_both(body, lambda x, y: (x.sin(), y + 1)):
                torch.testing.assert_close(gm(x, x)[0], x.sin() * factor)
