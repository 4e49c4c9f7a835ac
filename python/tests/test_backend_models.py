# SPDX-License-Identifier: Apache-2.0
"""Models through the backend, forward and backward, against eager mode, with the check on."""

import copy
from typing import Any

import pytest
import torch
from backend_models import CASES
from fx_programs import same
from torch.utils._pytree import tree_leaves, tree_map


def with_gradients(inputs: Any) -> Any:
    """Leaves that want gradients where they may: floating point, and not written to by the model."""
    return tree_map(lambda one: one.clone() if isinstance(one, torch.Tensor) else one, inputs)


def run(module: Any, called: Any, inputs: Any) -> tuple[Any, list[Any]]:
    """Results, and after them gradients, buffers and what the inputs hold."""
    given = with_gradients(inputs)
    torch.manual_seed(3)
    results = called(*given)
    losses = [one.float().sum() for one in tree_leaves(results) if isinstance(one, torch.Tensor) and one.requires_grad]
    if losses:
        torch.manual_seed(4)
        sum(losses[1:], losses[0]).backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    return results, [*gradients, *module.buffers(), *tree_leaves(given)]


@pytest.mark.parametrize("name", list(CASES))
def test_model(name: str) -> None:
    if name.startswith("transformers"):
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    module, make_inputs = CASES[name]()
    twin = copy.deepcopy(module)
    compiled = torch.compile(module, backend="winze", options={"check": True})
    for _ in range(2):
        inputs = make_inputs()
        for one in (module, twin):
            one.zero_grad(set_to_none=True)
        expected, expected_state = run(twin, twin, inputs)
        actual, actual_state = run(module, compiled, inputs)
        same(actual, expected)
        same(actual_state, expected_state)


@pytest.mark.parametrize("dimension", [0, 1], ids=["batch", "sequence"])
def test_dynamic_dimension(dimension: int) -> None:
    torch.manual_seed(0)
    module = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    twin = copy.deepcopy(module)
    graphs: list[Any] = []

    def then(gm: Any, inputs: Any) -> Any:
        graphs.append(gm)
        return gm

    compiled = torch.compile(module, backend="winze", options={"check": True, "then": then})
    for size in (3, 5, 7):
        shape = [4, 6, 8]
        shape[dimension] = size
        x = torch.randn(shape)
        torch._dynamo.mark_dynamic(x, dimension)
        for one in (module, twin):
            one.zero_grad(set_to_none=True)
        same(compiled(x), twin(x))
        compiled(x).sum().backward()
        twin(x).sum().backward()
        same([one.grad for one in module.parameters()], [one.grad for one in twin.parameters()])
    assert len(graphs) == 2  # forward and backward, for every size
