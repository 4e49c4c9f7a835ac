# SPDX-License-Identifier: Apache-2.0
"""Tools of torch.fx and Inductor inside registered passes."""

from collections.abc import Sequence
from typing import Any

import torch
from fx_programs import same, targets, traced
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager

import winze.torch as wt

aten = torch.ops.aten


def silu_twice() -> torch.fx.GraphModule:
    def body(x: torch.Tensor) -> torch.Tensor:
        return (x * x.sigmoid() + 1) * (x * x.sigmoid() + 1)

    return traced(body, torch.randn(2, 3))


def check(gm: torch.fx.GraphModule) -> None:
    x = torch.randn(2, 3)
    expected = torch.nn.functional.silu(x) + 1
    same(gm(x), expected * expected)
    assert all("val" in node.meta for node in gm.graph.nodes if node.op != "output")


def test_replace_pattern() -> None:
    @wt.aten_lowering_pass(index=0)
    def fuse_silu(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        def pattern(x: torch.Tensor) -> torch.Tensor:
            return aten.mul.Tensor(x, aten.sigmoid.default(x))

        def replacement(x: torch.Tensor) -> torch.Tensor:
            return aten.silu.default(x)

        torch.fx.subgraph_rewriter.replace_pattern(gm, pattern, replacement)
        return gm

    gm = wt.apply_lowering_passes(silu_twice())
    assert targets(gm) == ["aten.silu.default", "aten.add.Tensor", "aten.mul.Tensor"]
    check(gm)


def test_pass_infrastructure() -> None:
    class FuseSilu(PassBase):
        def call(self, graph_module: torch.fx.GraphModule) -> PassResult:
            graph = graph_module.graph
            for gate in graph.find_nodes(op="call_function", target=aten.sigmoid.default):
                for user in list(gate.users):
                    with graph.inserting_before(user):
                        made = graph.call_function(aten.silu.default, gate.args)
                    user.replace_all_uses_with(made)
                    graph.erase_node(user)
                graph.erase_node(gate)
            return PassResult(graph_module, True)

    manager = PassManager([FuseSilu()])
    pipeline = wt.Pipeline([lambda gm, inputs: manager(gm).graph_module, "default"])
    gm = pipeline(silu_twice())
    assert targets(gm) == ["aten.silu.default", "aten.add.Tensor", "aten.mul.Tensor"]
    check(gm)


def test_inductor_pattern_matcher() -> None:
    from torch._inductor.pattern_matcher import (
        CallFunction,
        KeywordArg,
        Match,
        PatternMatcherPass,
        register_graph_pattern,
    )

    patterns = PatternMatcherPass()

    @register_graph_pattern(
        CallFunction(aten.mul.Tensor, KeywordArg("x"), CallFunction(aten.sigmoid.default, KeywordArg("x"))),
        pass_dict=patterns,
    )
    def fuse(match: Match, x: torch.fx.Node) -> None:
        match.replace_by_example(lambda y: aten.hardtanh.default(y), [x])

    def fuse_silu(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        assert patterns.apply(gm.graph) == 2
        return gm

    gm = wt.Pipeline([fuse_silu, "default"])(silu_twice())
    assert "aten.sigmoid.default" not in targets(gm)
    assert all("val" in node.meta for node in gm.graph.nodes if node.op != "output")
    x = torch.randn(2, 3)
    expected = torch.nn.functional.hardtanh(x) + 1
    same(gm(x), expected * expected)
