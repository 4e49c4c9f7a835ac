# SPDX-License-Identifier: Apache-2.0
"""The list of passes: registration, private lists, and what happens when a pass fails."""

import copy
import functools
import pickle
import threading
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from fx_programs import same, targets, traced

import winze
import winze.torch as wt

aten = torch.ops.aten


def first(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
    return gm


def second(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
    return gm


def small() -> torch.fx.GraphModule:
    return traced(lambda x: (x + 1) * 2, torch.randn(3))


def test_places() -> None:
    with wt.lowering_passes("remove-detach, dead-code") as mine:
        wt.aten_lowering_pass(before="dead-code")(first)
        wt.aten_lowering_pass(after="remove-detach")(second)
        assert mine.names() == ["remove-detach", "second", "first", "dead-code"]
        wt.remove_lowering_pass("first")
        wt.remove_lowering_pass(name="remove-detach")
        wt.remove_lowering_pass(index=-1)
        assert mine.names() == ["second"]
    assert "second" not in wt.dump_lowering_passes()


def test_names_of_what_is_no_function() -> None:
    class Scale:
        def __call__(self, gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
            return gm

        def method(self, gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
            return gm

    pipeline = wt.Pipeline([functools.partial(first), Scale(), Scale().method])
    assert pipeline.names() == ["first", "Scale", "method"]
    assert pipeline.dump().startswith("0: first  (Python, test_registry.py:")


def test_decorator_gives_the_function_back() -> None:
    assert wt.aten_lowering_pass(first) is first
    assert wt.aten_lowering_pass(index=0)(first) is first


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: wt.aten_lowering_pass(3), TypeError, "not 3"),  # type: ignore[call-overload]
        (lambda: wt.aten_lowering_pass(befor="dead-code"), TypeError, "Did you mean 'before'"),  # type: ignore[call-overload]
        (lambda: wt.aten_lowering_pass(index=0, before="dead-code")(first), TypeError, "one of"),
        (lambda: wt.aten_lowering_pass(index="a")(first), TypeError, "'a'"),  # type: ignore[call-overload]
        (lambda: wt.aten_lowering_pass(index=99)(first), IndexError, "99"),
        (lambda: wt.aten_lowering_pass(before="dead-cod")(first), ValueError, "Did you mean 'dead-code'"),
        (lambda: wt.remove_lowering_pass(), TypeError, "say which"),
        (lambda: wt.remove_lowering_pass(index=99), IndexError, "99"),
        (lambda: wt.remove_lowering_pass("dead-cod"), ValueError, "Did you mean 'dead-code'"),
        (lambda: wt.Pipeline("dead-cod"), winze.Error, "dead-code"),
        (lambda: wt.Pipeline([3]), TypeError, "not 3"),
        (lambda: wt.apply_lowering_passes(3), TypeError, "not over int"),
    ],
)
def test_wrong_use(call: Any, error: type[Exception], text: str) -> None:
    before = wt.dump_lowering_passes()
    with pytest.raises(error, match=text):
        call()
    assert wt.dump_lowering_passes() == before


def test_ambiguous_name() -> None:
    wt.aten_lowering_pass(first)
    wt.aten_lowering_pass(first)
    with pytest.raises(ValueError, match="2 passes are called 'first'"):
        wt.remove_lowering_pass("first")


def test_mixed_pipeline_keeps_order() -> None:
    seen: list[str] = []

    def look(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        seen.append(" ".join(targets(gm)))
        return gm

    gm = traced(lambda x: (x + 1) * (x + 1), torch.randn(3))
    wt.Pipeline([look, "common-subexpressions", look])(gm)
    assert seen == ["aten.add.Tensor aten.add.Tensor aten.mul.Tensor", "aten.add.Tensor aten.mul.Tensor"]


def test_private_list_is_of_one_thread() -> None:
    names: list[list[str]] = []
    with wt.lowering_passes([first]):
        thread = threading.Thread(target=lambda: names.append(wt.Pipeline(wt._pipeline.current_pipeline()).names()))
        thread.start()
        thread.join()
        assert "first" in wt.dump_lowering_passes()
    assert "first" not in names[0]


def test_registration_from_many_threads() -> None:
    threads = [threading.Thread(target=lambda: wt.aten_lowering_pass(first)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wt.dump_lowering_passes().count("first") == 50


def broken_by(body: Any) -> tuple[winze.Error, torch.fx.GraphModule]:
    """What a pass with this body makes of a graph."""

    def bad_pass(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        for node in gm.graph.find_nodes(op="call_function", target=aten.add.Tensor):
            node.args = (node.args[0], 7)
        gm.register_buffer("new", torch.zeros(1))
        return body(gm)

    gm = small()
    with pytest.raises(winze.Error) as caught:
        wt.Pipeline([bad_pass])(gm)
    return caught.value, gm


def cut_output(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    gm.graph.erase_node(gm.graph.output_node())
    return gm


def use_before_definition(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    add, mul = (node for node in gm.graph.nodes if node.op == "call_function")
    mul.append(add)
    return gm


def fail(gm: torch.fx.GraphModule) -> None:
    raise RuntimeError("no such luck")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (lambda gm: None, "pass bad_pass returned nothing"),
        (lambda gm: 3, "pass bad_pass returned int instead of a torch.fx.GraphModule: 3"),
        (cut_output, "left an invalid graph: it has 0 output nodes"),
        (use_before_definition, "left an invalid graph"),
        (fail, "pass bad_pass failed: RuntimeError: no such luck"),
    ],
)
def test_failing_pass_is_named_and_taken_back(body: Any, text: str) -> None:
    error, gm = broken_by(body)
    assert text in str(error)
    assert error.pass_name == "bad_pass"
    same(gm(torch.ones(3)), torch.full((3,), 4.0))
    assert not hasattr(gm, "new")
    assert [node.name for node in gm.graph.nodes] == [node.name for node in small().graph.nodes]
    assert all("val" in node.meta for node in gm.graph.nodes if node.op != "output")


def test_passes_before_the_failing_one_stay() -> None:
    def bad(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> None:
        return None

    gm = traced(lambda x: (x + 1) * (x + 1), torch.randn(3))
    with pytest.raises(winze.Error, match="bad"):
        wt.Pipeline(["common-subexpressions", bad])(gm)
    assert targets(gm) == ["aten.add.Tensor", "aten.mul.Tensor"]


def test_pass_may_return_another_module() -> None:
    other = traced(lambda x: x * 3, torch.randn(3))
    result = wt.Pipeline([lambda gm, inputs: other, "dead-code"])(small())
    assert result is other


def test_new_nodes_have_values_and_changes_spread() -> None:
    def halve(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        (x,) = gm.graph.find_nodes(op="placeholder")
        with gm.graph.inserting_after(x):
            half = gm.graph.call_function(aten._to_copy.default, (x,), {"dtype": torch.float16})
        x.replace_all_uses_with(half, delete_user_cb=lambda user: user is not half)
        return gm

    gm = wt.Pipeline([halve])(small())
    assert {node.meta["val"].dtype for node in gm.graph.nodes if node.op == "call_function"} == {torch.float16}


def test_unsupported_nodes() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x).relu()

    gm = torch.fx.symbolic_trace(Net())
    with pytest.raises(winze.Error, match='call_module of "linear" is no ATen operator') as caught:
        wt.apply_lowering_passes(gm)
    assert "linear" in caught.value.node
    assert "torch.export" in caught.value.hint
    assert wt.Pipeline([first])(gm) is gm


def test_copies_of_pipelines_and_errors() -> None:
    """Options are copied with the modules that are compiled with them, and errors cross processes."""
    pipeline = wt.Pipeline(["default", first])
    for made in (copy.copy(pipeline), copy.deepcopy(pipeline), pickle.loads(pickle.dumps(pipeline))):
        assert made.names() == pipeline.names()
        made.add(second)
    assert "second" not in pipeline.names()
    error = winze.Error("wrong", node="%x", hint="do it", pass_name="first")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.node, again.hint, again.pass_name) == (str(error), "%x", "do it", "first")


def test_nodes_come_back_with_kind_and_name() -> None:
    def changes_kinds(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        (add,) = gm.graph.find_nodes(op="call_function", target=aten.add.Tensor)
        add._rename("renamed")
        add.op = "call_method"
        raise ValueError("too late")

    gm = small()
    before = gm.code
    with pytest.raises(winze.Error, match="pass changes_kinds failed: ValueError: too late"):
        wt.apply_lowering_passes(gm, passes=[changes_kinds])
    assert gm.code == before


@pytest.mark.parametrize("inputs", [3, torch.ones(2)])
def test_sample_inputs_are_a_list(inputs: Any) -> None:
    with pytest.raises(TypeError, match=r"the sample inputs are a list .*, not (3|tensor)"):
        wt.apply_lowering_passes(small(), inputs)
