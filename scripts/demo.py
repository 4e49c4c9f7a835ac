#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a small Llama, lowers it with the command, and shows that PyTorch loads the result.

    python demo.py [--build-dir build]

Files go to BUILD_DIR/demo.
"""

import argparse
import subprocess
import sys
import warnings
from pathlib import Path

import torch
import transformers
from torch.export import Dim

SHAPE = (2, 12)  # of the call that is exported
OTHER_SHAPE = (3, 31)  # of one more, since both dimensions are dynamic


class Llama(torch.nn.Module):
    """A Llama of two layers with random weights: token ids to logits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=128,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
        self.model = transformers.LlamaForCausalLM(config).eval()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(tokens, use_cache=False).logits


def tokens(shape: tuple[int, int]) -> torch.Tensor:
    return torch.randint(0, 128, shape, generator=torch.Generator().manual_seed(1))


def export(module: torch.nn.Module, path: Path) -> None:
    sizes = {0: Dim("batch", max=8), 1: Dim("length", min=2, max=64)}
    with torch.no_grad():
        program = torch.export.export(module, (tokens(SHAPE),), dynamic_shapes=(sizes,))
    torch.export.save(program, path)


def run(*command: str | Path) -> None:
    print(f"$ {' '.join(map(str, command))}", flush=True)
    subprocess.run([str(part) for part in command], check=True, stderr=subprocess.STDOUT)


def largest_difference(module: torch.nn.Module, path: Path, shape: tuple[int, int]) -> float:
    """Between what the eager module and the program in the file compute."""
    lowered = torch.export.load(path).module()
    with torch.no_grad():
        difference = module(tokens(shape)) - lowered(tokens(shape))
    return float(difference.abs().max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=Path("build"))
    build_dir = parser.parse_args().build_dir
    winze = build_dir / "bin" / "winze"
    folder = build_dir / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / "llama.pt2", folder / "lowered.pt2"
    warnings.simplefilter("ignore")

    print("1. Export a Llama of two layers, with dynamic batch and length, as usual in PyTorch:")
    module = Llama()
    export(module, source)
    print(f"torch.export.save(program, {str(source)!r})  # {source.stat().st_size:,} bytes\n")

    # A build without libtorch cannot run programs.
    check = ["--check"] if (build_dir / "lib" / "libwinze_torch.so").exists() else []
    print("2. Lower it, and hold each pass to the numbers. Each line says what one pass did:")
    run(winze, "lower", source, "-o", target, "--time", *check)

    print("\n3. Load the result in PyTorch and compare it with the module:")
    worst = 0.0
    for shape in (SHAPE, OTHER_SHAPE):
        difference = largest_difference(module, target, shape)
        worst = max(worst, difference)
        print(f"torch.export.load({str(target)!r}), tokens {shape}: differs by {difference:.1e}")
    if worst > 1e-5:
        print("The lowered program computes something else; this is a bug.", file=sys.stderr)
        return 1
    print("It computes the same.\n")

    print("Try next:")
    print(f"  {winze} diff {source} {target}      # what changed, node by node")
    print(f"  {winze} print {target} | less       # the program, with the lines of Python it is from")
    print(f"  {winze} print {target} --stats")
    print(f"  {winze} run {target} --profile        # run it; what each operator takes")
    print(f"  {winze} lower {source} -o {folder}/llama.wz --passes ''   # the text form, to edit")
    print(f"  {winze} passes                        # what there is to run")
    print(f"  {winze} lower YOUR.pt2 -o OUT.pt2     # your own model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
