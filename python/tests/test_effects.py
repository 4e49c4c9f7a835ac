# SPDX-License-Identifier: Apache-2.0
"""Calls that PyTorch puts in order by tokens: `with_effects`, through the bridge, export and the backend."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fx_programs import same
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

import winze
import winze.torch
from winze.torch._run import vocabulary

with_effects = torch.ops.higher_order.with_effects


class Told:
    """An operator that tells somebody of each call, and gives twice what it is given."""

    def __init__(self) -> None:
        self.calls: list[float] = []

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.append(float(x.sum()))
        return x * 2


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    with torch.library._scoped_library("winze_effects", "FRAGMENT") as library:
        library.define("tell(Tensor x) -> Tensor")
        library.impl("tell", made, "CompositeExplicitAutograd")
        library.impl("tell", torch.empty_like, "Meta")
        handle = _register_effectful_op(torch.ops.winze_effects.tell.default, _EffectType.ORDERED)
        yield made
        handle.destroy()


class Tells(torch.nn.Module):
    """Two equal calls, one whose result nobody uses, and clones to find."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tell = torch.ops.winze_effects.tell.default
        first, second = tell(x), tell(x)
        tell(x + 1)
        return (first.sin().clone() + second.sin()) * x.sin() * x.sin()


def ordered_calls(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    return list(graph.find_nodes(op="call_function", target=with_effects))


def assert_in_order(graph: torch.fx.Graph) -> None:
    """Each call takes the token of the one before."""
    calls = ordered_calls(graph)
    assert len(calls) == 3
    for before, after in itertools.pairwise(calls):
        token: Any = after.args[0]
        assert token.args == (before, 0)


def test_what_is_ordered_by_tokens_is_neither_merged_nor_dropped(told: Told) -> None:
    program = torch.export.export(Tells(), (torch.ones(2),)).run_decompositions({})
    text = winze._native.FxBridge(vocabulary(), program.graph_module).text()
    assert text.count("higher_order.with_effects(") == 3
    lowered = winze.torch.lower(program, passes="default")
    assert_in_order(lowered.graph)
    sines = [node for node in lowered.graph.nodes if node.target is torch.ops.aten.sin.default]
    assert len(sines) == 3
    told.calls.clear()
    x = torch.tensor([1.0, 2.0])
    expected = Tells()(x)
    seen = list(told.calls)
    told.calls.clear()
    same(lowered.module()(x), expected)
    assert told.calls == seen == [3.0, 3.0, 5.0]


def test_the_backend_keeps_the_order(told: Told) -> None:
    orders: list[torch.fx.Graph] = []

    @winze.torch.aten_lowering_pass
    def look(gm: torch.fx.GraphModule, sample_inputs: object) -> torch.fx.GraphModule:
        orders.append(gm.graph)
        return gm

    x = torch.tensor([1.0, 2.0])
    compiled = torch.compile(Tells(), backend="winze")
    same(compiled(x), Tells()(x))
    assert len(orders) == 1
    assert_in_order(orders[0])
    told.calls.clear()
    compiled(x)
    assert told.calls == [3.0, 3.0, 5.0]


def test_a_pass_in_python_edits_around_them(told: Told) -> None:
    @winze.lowering_pass(name="sin-to-cos")
    def sin_to_cos(graph: winze.Graph) -> None:
        for sin in graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
            with graph.inserting_before(sin):
                cos = graph.call_function(torch.ops.aten.cos.default, sin.args, like=sin)
            sin.replace_all_uses_with(cos)
            graph.erase_node(sin)

    program = torch.export.export(Tells(), (torch.ones(2),)).run_decompositions({})
    lowered = winze.torch.lower(program, passes=[sin_to_cos])
    assert_in_order(lowered.graph)
    x = torch.tensor([1.0, 2.0])
    same(lowered.module()(x), (2 * x).cos() * 2 * x.cos() ** 2)
