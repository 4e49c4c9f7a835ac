# SPDX-License-Identifier: Apache-2.0
"""The lowering pass that the documentation of Torch-TensorRT shows, as it stands there but for the imports."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from fx_programs import same, targets, traced

import winze.torch
from winze.torch import (
    _aten_lowering_pass,
    _remove_lowering_pass,
    apply_lowering_passes,
    dump_lowering_passes,
)

logger = logging.getLogger(__name__)


def documented() -> Callable[..., Any]:
    # fmt: off
    def repair_input_as_output(gm: torch.fx.GraphModule, sample_inputs: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
        """Repair scenarios where inputs are also outputs of the graph

        TRT does not allow such cases, so we insert a clone (identity) layer
        """
        modified_graph = False

        # Extract graph placeholder Tensors
        placeholders = [
            node
            for node in gm.graph.nodes
            if (
                node.op == "placeholder"
                and isinstance(node.type, type)
                and issubclass(node.type, torch.Tensor)
            )
        ]

        for placeholder in placeholders:
            # If any placeholder has any users which are direct graph outputs
            if len(placeholder.users) >= 1 and any(
                user.op == "output" for user in placeholder.users
            ):
                modified_graph = True

                # Get direct graph outputs which are direct uses of placeholders
                direct_outputs = [user for user in placeholder.users if user.op == "output"]

                # Insert clone node for placeholder to ensure
                # placeholder is not a direct output
                with gm.graph.inserting_after(placeholder):
                    cloned_placeholder = gm.graph.call_function(
                        torch.ops.aten.clone.default,
                        args=(placeholder,),
                    )

                # Replace placeholder as output with cloned version
                for output in direct_outputs:
                    output.replace_input_with(placeholder, cloned_placeholder)

        if modified_graph:
            gm.graph.eliminate_dead_code()
            gm.graph.lint()
            gm.recompile()
            logger.debug(f"Graph after repair_input_as_output:\n{gm.graph}")

        return gm
    # fmt: on
    return repair_input_as_output


def returns_inputs() -> torch.fx.GraphModule:
    return traced(lambda x, y, z: (x, y + z, z), *[torch.randn(2, 3) for _ in range(3)])


def capture(gm: torch.fx.GraphModule, inputs: Sequence[Any], into: list[torch.fx.GraphModule]) -> Any:
    into.append(gm)
    return gm


REGISTER = {
    "bare": lambda function: _aten_lowering_pass(function),
    "first": lambda function: _aten_lowering_pass(index=0)(function),
}


@pytest.mark.parametrize("where", list(REGISTER))
def test_applies_by_hand(where: str) -> None:
    REGISTER[where](documented())
    gm = returns_inputs()
    inputs = [torch.randn(2, 3) for _ in range(3)]
    expected = gm(*inputs)
    lowered = apply_lowering_passes(gm, inputs)
    assert targets(lowered).count("aten.clone.default") == 2
    assert not any(node.op == "placeholder" for node in lowered.graph.output_node().all_input_nodes)
    same(lowered(*inputs), expected)
    assert all("val" in node.meta for node in lowered.graph.nodes if node.op == "call_function")


@pytest.mark.parametrize("where", list(REGISTER))
def test_applies_in_compilation(where: str) -> None:
    REGISTER[where](documented())
    seen: list[torch.fx.GraphModule] = []
    # The forward graph returns its input: it is saved for the backward one.
    compiled = torch.compile(torch.sin, backend="winze", options={"then": lambda gm, inputs: capture(gm, inputs, seen)})
    x = torch.randn(4, requires_grad=True)
    compiled(x).sum().backward()
    assert "aten.clone.default" in targets(seen[0])
    assert not any(node.op == "placeholder" for node in seen[0].graph.output_node().all_input_nodes)
    same(x.grad, torch.cos(x))


def test_calls_of_the_registry() -> None:
    native = winze.torch.Pipeline("default").names()
    _aten_lowering_pass(documented())
    last = dump_lowering_passes().splitlines()[-1]
    assert last.startswith(f"{len(native)}: repair_input_as_output  (Python, test_documented_example.py:")
    _aten_lowering_pass(index=0)(documented())
    lines = dump_lowering_passes().splitlines()
    assert lines[0].startswith("0: repair_input_as_output")
    assert [line.split()[1] for line in lines[1:-1]] == native
    _remove_lowering_pass(index=0)
    _remove_lowering_pass(index=-1)
    assert winze.torch.dump_lowering_passes() == winze.torch.Pipeline("default").dump()
