#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `winze run`, `winze lower` and `winze lower --check=end` do, in PyTorch's Python, as processes to be timed.

python python_run.py run FILE.pt2
python python_run.py lower FILE.pt2 OUT.pt2
python python_run.py check FILE.pt2 OUT.pt2
"""

import sys
import warnings
from pathlib import Path

import fx_passes
import torch


def run(program: torch.export.ExportedProgram) -> torch.Tensor:
    args, kwargs = program.example_inputs
    with torch.inference_mode():
        return program.module()(*args, **kwargs)


def check(source: Path, target: Path) -> None:
    """Loads, runs, lowers, runs again, compares, and saves."""
    program = torch.export.load(source)
    before = run(program)
    fx_passes.run_passes(program.graph_module)
    torch.testing.assert_close(run(program), before)
    torch.export.save(program, target)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["run", file]:
            run(torch.export.load(file))
        case ["lower", file, out]:
            fx_passes.lower(Path(file), Path(out))
        case ["check", file, out]:
            check(Path(file), Path(out))
        case _:
            sys.exit(__doc__)
