# SPDX-License-Identifier: Apache-2.0
"""What passes read and note in the metas of native nodes."""

from pathlib import Path
from typing import Any

import pytest
import torch
from fx_programs import traced

import winze
import winze.torch as wt

aten = torch.ops.aten


def model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x + y).cos()


def test_notes_alone_come_back() -> None:
    """Whatever they are, without any other edit; those of before are seen."""

    def note(graph: Any) -> None:
        (cos,) = graph.find_nodes(op="call_function", target=aten.cos.default)
        assert cos.meta["stage"] == {"of": 2}
        cos.meta["tag"] = ("npu", 3)
        cos.meta["text"] = "mine"
        cos.meta["stage"] = None
        cos.meta.setdefault("nn_module_stack", {})["block"] = "stacked"
        cos.name = "renamed"
        for at, node in enumerate([*graph.find_nodes(op="placeholder"), graph.output_node()]):
            assert node.meta["at"] == (at,)
            node.meta["at"] = at

    def over_fx(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        note(gm.graph)
        return gm

    inputs = [torch.randn(3, 4), torch.randn(3, 4)]
    for one in (over_fx, winze.lowering_pass(name="note")(note)):
        gm = traced(model, *inputs)
        (cos,) = gm.graph.find_nodes(op="call_function", target=aten.cos.default)
        cos.meta.update(stage={"of": 2}, nn_module_stack={})
        others = [*gm.graph.find_nodes(op="placeholder"), gm.graph.output_node()]
        for at, node in enumerate(others):
            node.meta["at"] = (at,)
        assert wt.Pipeline([one])(gm, inputs) is gm
        assert cos.name == "renamed"
        assert {key: cos.meta[key] for key in ("tag", "text", "stage", "nn_module_stack")} == {
            "tag": ("npu", 3), "text": "mine", "stage": None, "nn_module_stack": {"block": "stacked"},
        }  # fmt: skip
        assert [node.meta["at"] for node in others] == [0, 1, 2]
        assert isinstance(cos.meta["val"], torch._subclasses.FakeTensor)


def test_a_new_node_is_seen_to_come_from_another() -> None:
    def replace(graph: winze.Graph) -> None:
        (cos,) = graph.find_nodes(op="call_function", target=aten.cos.default)
        with graph.inserting_before(cos):
            made = graph.call_function(aten.exp.default, cos.args)
        assert (made.meta["custom"], "tag" in made.meta) == ({"of": 2}, False)
        cos.replace_all_uses_with(made)
        graph.erase_node(cos)

    gm = traced(model, torch.randn(3, 4), torch.randn(3, 4))
    (cos,) = gm.graph.find_nodes(op="call_function", target=aten.cos.default)
    cos.meta.update(custom={"of": 2}, tag="npu")
    gm = wt.Pipeline([winze.lowering_pass(name="replace")(replace)])(gm)
    (exp,) = gm.graph.find_nodes(op="call_function", target=aten.exp.default)
    assert (exp.meta["custom"], "tag" in exp.meta) == ({"of": 2}, False)


def test_notes_of_a_program_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "neg.wz").write_text(
        'program "neg" torch "2.13.0"\n'
        "graph forward(%x: input f32[2]) {\n  %s = aten.neg.default(%x) : f32[2]\n  return output %s\n}\n"
    )
    program = winze.load(tmp_path / "neg.wz")
    before = str(program)

    @winze.lowering_pass(name="fails")
    def fails(graph: winze.Graph) -> None:
        graph.output_node().args[0][0].meta["tag"] = ("npu", 3)
        raise ValueError("too bad")

    with pytest.raises(winze.Error, match="too bad"):
        program.lower([fails])
    (neg,) = program.graph.find_nodes(op="call_function")
    assert "tag" not in neg.meta
    neg.meta["tag"] = neg
    assert neg.meta["tag"] is neg
    assert str(program) == before  # a file keeps texts alone
    assert "tag" not in neg.meta
