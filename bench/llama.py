#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the model of the whole-job benchmark: a Llama of 32 layers, hidden size 256.

    python llama.py FILE.pt2

Random weights; about 2,400 nodes and 80 MB of weights. A file that is there already is kept.
"""

import sys
import warnings
from pathlib import Path

import torch

LAYERS = 32
TOKENS = (1, 16)


class Llama(torch.nn.Module):
    def __init__(self) -> None:
        import transformers

        super().__init__()
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=1000,
            hidden_size=256,
            intermediate_size=544,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=128,
        )
        self.model = transformers.LlamaForCausalLM(config).eval()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(tokens, use_cache=False).logits


def sample_tokens(batch: int = TOKENS[0]) -> torch.Tensor:
    return torch.randint(0, 1000, (batch, TOKENS[1]), generator=torch.Generator().manual_seed(0))


def export(path: Path, decomposed: bool = False, dynamic: bool = False) -> None:
    """Exports the model into `path`, unless the file is there: down to core ATen where it is to be
    decomposed, with a batch and a sequence of any size where they are to be dynamic."""
    if path.exists():
        return
    warnings.simplefilter("ignore")
    path.parent.mkdir(parents=True, exist_ok=True)
    # A batch of one would be taken for a constant.
    tokens = sample_tokens(batch=2 if dynamic else TOKENS[0])
    sizes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("sequence", max=128)}
    with torch.no_grad():
        program = torch.export.export(Llama(), (tokens,), dynamic_shapes=(sizes,) if dynamic else None)
        if decomposed:
            program = program.run_decompositions()
    unfinished = path.with_suffix(".unfinished.pt2")
    torch.export.save(program, unfinished)
    unfinished.rename(path)
    weights = sum(t.numel() * t.element_size() for t in program.state_dict.values())
    print(f"{path}: {len(program.graph.nodes)} nodes, {weights / 1e6:.1f} MB of weights")


if __name__ == "__main__":
    export(Path(sys.argv[1]))
