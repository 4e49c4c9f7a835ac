# SPDX-License-Identifier: Apache-2.0
"""Small graphs of ATen operators, with fake tensors in their metas."""

from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def traced(function: Callable[..., Any], *inputs: Any, mode: str = "fake") -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode=mode)(*inputs)


def targets(gm: torch.fx.GraphModule) -> list[str]:
    """The operators that a graph calls, in order."""
    return [str(node.target) for node in gm.graph.nodes if node.op == "call_function"]


def same(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(actual, expected, equal_nan=True)
