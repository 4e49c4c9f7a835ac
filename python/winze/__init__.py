# SPDX-License-Identifier: Apache-2.0
"""Winze lowers PyTorch programs natively.

This package needs no torch: it reads, lowers and writes the files of ``torch.export``. What works with
PyTorch in one process (``torch.compile``, passes over ``torch.fx``) is in ``winze.torch``.

    import winze

    report = winze.lower("model.pt2", "lowered.pt2", passes="default")
    program = winze.load("lowered.pt2")
    print(program.print_readable())

Set the environment variable ``WINZE_LOG`` to a level (``debug``, ``info``, ...) to see what is done; it goes
through the logger ``winze``.
"""

from winze import _log
from winze._error import Error, InternalError
from winze._native import Graph, Node, Value, __version__
from winze._passes import LoweringPass, load_pass_plugin, lowering_pass, passes
from winze._program import Program, load, lower
from winze._report import PassReport, Report

__all__ = [
    "Error",
    "Graph",
    "InternalError",
    "LoweringPass",
    "Node",
    "PassReport",
    "Program",
    "Report",
    "Value",
    "__version__",
    "load",
    "load_pass_plugin",
    "lower",
    "lowering_pass",
    "passes",
]

_log.configure()
