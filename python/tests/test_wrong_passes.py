# SPDX-License-Identifier: Apache-2.0
"""Passes that are wrong, over torch.fx and over the native graph: an error names them, the graph is as it was."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fx_programs import traced

import winze
import winze.torch as wt

aten = torch.ops.aten
other = traced(lambda x: x.cos(), torch.ones(2))


def sin_of(graph: Any) -> Any:
    return graph.find_nodes(op="call_function", target=aten.sin.default)[0]


def uses_an_erased_node(graph: Any) -> None:
    sin = sin_of(graph)
    sin.replace_all_uses_with(sin.args[0])
    graph.erase_node(sin)
    with graph.inserting_before(graph.output_node()):
        graph.call_function(aten.cos.default, (sin,))


def erases_a_used_node(graph: Any) -> None:
    graph.erase_node(sin_of(graph))


def makes_a_cycle(graph: Any) -> None:
    (user,) = sin_of(graph).users
    sin_of(graph).args = (user,)


def breaks_the_order(graph: Any) -> None:
    (user,) = sin_of(graph).users
    user.append(sin_of(graph))


def gives_a_dtype_for_a_tensor(graph: Any) -> None:
    sin_of(graph).args = (torch.float32,)


def uses_a_foreign_node(graph: Any) -> None:
    sin_of(graph).args = (next(iter(other.graph.nodes)),)


def erases_the_output(graph: Any) -> None:
    graph.erase_node(graph.output_node())


def returns_no_argument(graph: Any) -> None:
    graph.output_node().args = ()


def repeats_a_placeholder(graph: Any) -> None:
    graph.placeholder(graph.find_nodes(op="placeholder")[0].target)


def names_what_is_not_there(graph: Any) -> None:
    with graph.inserting_before(graph.output_node()):
        graph.call_function(aten.neg.default, (graph.get_attr("nothing.there"),))


def calls_itself(graph: Any) -> None:
    calls_itself(graph)


def fails_late(graph: Any) -> None:
    sin_of(graph).replace_all_uses_with(sin_of(graph).args[0])
    raise KeyError("too late")


class WordlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def fails_without_words(graph: Any) -> None:
    raise WordlessError


def ends_an_iteration(graph: Any) -> None:
    next(iter([]))


def over(kind: str, body: Callable[[Any], None]) -> Any:
    if kind == "native":
        return winze.lowering_pass(name="wrong")(body)

    def wrong(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        body(gm.graph)
        return gm

    return wrong


def program() -> torch.fx.GraphModule:
    return traced(lambda x, y: (x.sin() + y, y * 2), torch.randn(2, 3), torch.randn(2, 3))


WRONG = [
    uses_an_erased_node,
    erases_a_used_node,
    makes_a_cycle,
    breaks_the_order,
    gives_a_dtype_for_a_tensor,
    uses_a_foreign_node,
    erases_the_output,
    returns_no_argument,
    repeats_a_placeholder,
    names_what_is_not_there,
    calls_itself,
    fails_late,
    fails_without_words,
    ends_an_iteration,
]


@pytest.mark.parametrize("kind", ["fx", "native"])
@pytest.mark.parametrize("body", WRONG, ids=lambda body: body.__name__)
def test_wrong_pass(kind: str, body: Callable[[Any], None]) -> None:
    gm = program()
    before = str(gm.graph)
    with pytest.raises(winze.Error, match=r"pass wrong (failed|left an invalid graph): ") as caught:
        wt.Pipeline([over(kind, body)])(gm)
    assert caught.value.pass_name == "wrong"
    assert not isinstance(caught.value, winze.InternalError)
    assert str(gm.graph) == before
    assert len(gm(torch.ones(2, 3), torch.ones(2, 3))) == 2


@pytest.mark.parametrize("kind", ["fx", "native"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_takes_the_pass_back(kind: str, error: type[BaseException]) -> None:
    def body(graph: Any) -> None:
        sin_of(graph).replace_all_uses_with(sin_of(graph).args[0])
        raise error

    gm = program()
    before = str(gm.graph)
    with pytest.raises(error):
        wt.Pipeline([over(kind, body)])(gm)
    assert str(gm.graph) == before


def drops_a_result(graph: Any) -> None:
    output = graph.output_node()
    output.args = ((output.args[0][0],),)


def goes_behind_the_output(graph: Any) -> None:
    graph.inserting_after(graph.output_node())


def moves_behind_the_output(graph: Any) -> None:
    graph.output_node().append(sin_of(graph))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (drops_a_result, "number of results from 2 to 1"),
        (goes_behind_the_output, "nothing goes behind the output"),
        (moves_behind_the_output, "nothing goes behind the output"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_native_graphs_refuse(body: Callable[[Any], None], text: str) -> None:
    gm = program()
    before = str(gm.graph)
    with pytest.raises(winze.Error, match=f"pass wrong failed: .*{text}"):
        wt.Pipeline([over("native", body)])(gm)
    assert str(gm.graph) == before


def test_calls_that_cannot_be_copied() -> None:
    def copies(graph: Any) -> None:
        (cond,) = [node for node in graph.find_nodes(op="call_function") if "cond" in str(node.target)]
        with graph.inserting_before(cond):
            graph.node_copy(cond)

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))

    with pytest.raises(Exception, match=r"pass wrong failed: .*cannot be copied in a torch\.fx graph"):
        torch.compile(function, backend="winze", options={"passes": [over("native", copies)]})(torch.ones(2))
