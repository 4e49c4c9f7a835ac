# SPDX-License-Identifier: Apache-2.0
"""Small modules of plain PyTorch, each for one thing that an exported program can hold."""

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (PyTorch's own habit)
from torch import nn


class Mlp(nn.Module):
    """Nothing special."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(x), approximate="tanh")) + x


class ConvNet(nn.Module):
    """Batch normalization: in training it updates its buffers in place."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.relu(self.norm(self.conv(x))).mean((2, 3)))


class Attention(nn.Module):
    """Attention over a dynamic batch and length, with a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4).unbind(0)
        mask = torch.full((length, length), -math.inf).triu(1)
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(width // 4) + mask
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Mutation(nn.Module):
    """Writes into a buffer, into a view of an input, and reads after each write."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        before = self.total.clone()
        self.total.add_(x.sum(0))
        self.count += 1
        state[1].mul_(2)
        y = x.clone()
        y[:, 0] = 0.0
        return y + before + self.total * self.count + state


class Aliasing(nn.Module):
    """Outputs that are an input, a view of one, and one tensor twice."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        return x, x.t(), y, y, y.view(-1), x.detach()


class Cond(nn.Module):
    """A branch on data, whose branches capture a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda t: t.sin() * self.scale, lambda t: t.cos() - self.scale, (x,))


class WhileLoop(nn.Module):
    """A loop as often as an input says."""

    def forward(self, count: torch.Tensor, x: torch.Tensor) -> Any:
        from torch._higher_order_ops import while_loop

        return while_loop(lambda i, t: i > 0, lambda i, t: (i - 1, t * 0.5 + 1), (count, x))


class NoGradRegion(nn.Module):
    """A region without gradients amid one with."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.lin(x)
        with torch.no_grad():
            scale = y.abs().amax()
        return y / scale


class Constants(nn.Module):
    """Constants that JSON cannot spell, complex ones, and small tensors."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        lifted = torch.tensor([math.inf, -math.inf, math.nan])
        small = torch.tensor([1 + 2j, 3 - 1j, 0j])
        filled = torch.full((3,), complex(1.5, -2.0), dtype=torch.complex64)
        return (
            lifted.maximum(x),
            small * x,
            filled,
            torch.full((2,), -math.inf),
            x.clamp(max=math.inf),
        )


class Buffers(nn.Module):
    """Buffers that the state dict holds and such that it does not, and a plain tensor attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.arange(3.0))
        self.register_buffer("dropped", torch.ones(3) * 3, persistent=False)
        self.plain = torch.tensor([5.0, 6.0, 7.0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.kept + self.dropped - self.plain


class SharedWeights(nn.Module):
    """One weight under two names, and views into one storage: transposed, offset, expanded."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embed.weight
        base = torch.arange(24.0)
        self.register_buffer("rows", base[:12].view(3, 4))
        self.register_buffer("columns", base[12:].view(4, 3).t())
        self.register_buffer("one", base[5:6].expand(3, 4))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(ids) + self.rows + self.columns * self.one)


class EmptyTensors(nn.Module):
    """Tensors of no elements and of no dimensions, among the weights too."""

    def __init__(self) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.zeros(2, 0))
        self.scalar = nn.Parameter(torch.tensor(3.0))

    def forward(self, x: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.sum(0), self.nothing @ torch.zeros(0, 3), s * self.scalar, x * s


class Unbacked(nn.Module):
    """Sizes that only the data tells."""

    def forward(self, x: torch.Tensor, count: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= 8)
        found = torch.nonzero(x)
        return found * 2, torch.ones(n) * found.shape[0]


class UnusedOutputs(nn.Module):
    """Operators of several results, of which some have no use."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, _ = torch.topk(x, 2)
        _, index = x.max(dim=1)
        first, _, third = x.split(2, 1)
        return values + first * third + index.unsqueeze(1)


class DynamicInt(nn.Module):
    """An integer input that may change from call to call."""

    def forward(self, x: torch.Tensor, n: int) -> tuple[torch.Tensor, int]:
        return x[:, :n] * n + x.shape[0], n * 2 + x.shape[0]


class Dtypes(nn.Module):
    """Weights and values of many dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.half_weight = nn.Parameter(torch.randn(4, 4, dtype=torch.float16))
        self.brain_weight = nn.Parameter(torch.randn(4, 4, dtype=torch.bfloat16))
        self.double_weight = nn.Parameter(torch.randn(4, 4, dtype=torch.float64))
        self.register_buffer("small", torch.randn(4, 4).to(torch.float8_e4m3fn))
        self.register_buffer("range", torch.randn(4, 4).to(torch.float8_e5m2))
        self.register_buffer("bytes", torch.arange(16, dtype=torch.uint8).view(4, 4))
        self.register_buffer("signs", torch.arange(-8, 8, dtype=torch.int8).view(4, 4))
        self.register_buffer("flags", torch.eye(4, dtype=torch.bool))
        self.register_buffer("pairs", torch.randn(4, 4, dtype=torch.complex64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.to(torch.bfloat16) * self.brain_weight
        z = x.half() + self.half_weight
        return (
            y,
            z,
            x.double() @ self.double_weight,
            x.to(torch.float8_e5m2),
            self.small.float() + self.range.float() * x,
            (self.bytes + self.signs) * self.flags,
            self.pairs * x,
        )


class CustomOp(nn.Module):
    """Operators of a library of the user's own: one pure, one that writes into an argument."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x.clone()
        torch.ops.winze_test.accumulate_(total, y)
        high, low = torch.ops.winze_test.split_at(total, 0.25, [0, 1])
        return high + low, total


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> dict[str, torch.Tensor]:
        return {"y": self.lin(x) * scale, "x": x}


class Submodules(nn.Module):
    """Submodules whose signatures the export keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Inner()
        self.second = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, scale=2.0)["y"])["y"]


class Trees(nn.Module):
    """Nested containers in and out, with values that are no tensors among them."""

    def forward(self, tree: dict[str, Any]) -> dict[str, Any]:
        a, (b, c) = tree["a"], tree["b"]
        return {"sum": a + b, "rest": [a * c, (b, None)], "number": 3}


class Random(nn.Module):
    """Draws random numbers: of its outputs only the shape is known."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        kept = F.dropout(x, 0.5, training=True)
        return kept * 0, torch.rand_like(x).clamp(min=2.0)


def register_custom_ops() -> None:
    """Defines the operators of `CustomOp`, once; no program that names them loads before."""
    if hasattr(torch.ops.winze_test, "split_at"):
        return

    @torch.library.custom_op("winze_test::split_at", mutates_args=())
    def split_at(x: torch.Tensor, limit: float, axes: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        return x.clamp(min=limit), x.clamp(max=limit).flip(axes)

    @split_at.register_fake
    def _(x: torch.Tensor, limit: float, axes: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(x), torch.empty_like(x)

    @torch.library.custom_op("winze_test::accumulate_", mutates_args=("total",))
    def accumulate(total: torch.Tensor, x: torch.Tensor) -> None:
        total += x

    @accumulate.register_fake
    def _(total: torch.Tensor, x: torch.Tensor) -> None:
        return None
