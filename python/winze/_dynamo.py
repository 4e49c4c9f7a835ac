# SPDX-License-Identifier: Apache-2.0
"""What the entry point in `torch_dynamo_backends` names: it loads `winze.torch` when it is first used.

Loading `winze.torch` registers the backend, which PyTorch does itself after it loaded an entry point; hence this
module apart.
"""

from collections.abc import Callable
from typing import Any


def winze_backend(gm: Any, example_inputs: Any, **kwargs: Any) -> Callable[..., Any]:
    """`winze.torch.winze_backend`."""
    from winze.torch._backend import winze_backend as backend

    return backend(gm, example_inputs, **kwargs)
