# SPDX-License-Identifier: Apache-2.0
"""Models of many kinds, each with two calls' worth of inputs, for comparison with eager mode."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Inputs = tuple[Any, ...]
Case = tuple[nn.Module, Callable[[], Inputs]]
CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any], **members: nn.Module | nn.Parameter) -> None:
        super().__init__()
        self.function = function
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def rand(*size: int) -> Callable[[], Inputs]:
    return lambda: (torch.randn(*size),)


@case
def mlp() -> Case:
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)), rand(4, 6)


@case
def convolution_with_batch_norm_in_training() -> Case:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)), rand(2, 3, 8, 8)


@case
def batch_norm_in_evaluation() -> Case:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU()).eval(), rand(2, 3, 6, 6)


@case
def dropout_in_training() -> Case:
    return nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 2)), rand(5, 6)


@case
def input_is_mutated() -> Case:
    def body(self: Any, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        state.add_(1)
        return self.linear(x) + state

    return Function(body, linear=nn.Linear(3, 3)), lambda: (torch.randn(2, 3), torch.zeros(2, 3))


@case
def input_is_returned() -> Case:
    return Function(lambda self, x, y: (y, self.linear(x), y + 1), linear=nn.Linear(3, 3)), lambda: (
        torch.randn(2, 3),
        torch.randn(2),
    )


@case
def view_of_an_input_is_returned() -> Case:
    return Function(lambda self, x: (x.view(-1), x[0], x.t() * 2)), rand(3, 4)


@case
def view_of_an_input_is_written() -> Case:
    def body(self: Any, x: torch.Tensor, cache: torch.Tensor) -> Any:
        cache[1:3].copy_(x)
        cache.view(-1)[0] = 5
        return cache.sum() + x

    return Function(body), lambda: (torch.randn(2, 3), torch.zeros(4, 3))


@case
def outputs_alias_each_other() -> Case:
    def body(self: Any, x: torch.Tensor) -> Any:
        y = x.sin()
        return y, y.view(-1), y[0]

    return Function(body), rand(2, 3)


@case
def buffer_is_mutated() -> Case:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(3))
            self.linear = nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x.detach().sum(0))
            return self.linear(x) + self.seen

    return Counter(), rand(2, 3)


@case
def tied_weights() -> Case:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(11, 6)
            self.head = nn.Linear(6, 11, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return self.head(self.embedding(tokens))

    return Tied(), lambda: (torch.randint(11, (2, 5)),)


@case
def key_value_cache() -> Case:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(8, 24)

        def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
            q, k, v = self.qkv(x).chunk(3, -1)
            keys.index_copy_(1, at, k.detach())
            values.index_copy_(1, at, v.detach())
            return functional.scaled_dot_product_attention(q, keys.clone(), values.clone())

    return Attention(), lambda: (torch.randn(1, 1, 8), torch.zeros(1, 4, 8), torch.zeros(1, 4, 8), torch.tensor([2]))


@case
def dictionary_output() -> Case:
    return Function(lambda self, x: {"a": self.linear(x), "b": [x.sin(), (x.cos(),)]}, linear=nn.Linear(3, 3)), rand(
        2, 3
    )


@case
def dictionary_input() -> Case:
    return Function(lambda self, given: self.linear(given["x"]) + given["y"], linear=nn.Linear(3, 3)), lambda: (
        {"x": torch.randn(2, 3), "y": torch.randn(3)},
    )


@case
def recurrent() -> Case:
    return Function(lambda self, x: self.lstm(x)[0], lstm=nn.LSTM(4, 5, batch_first=True)), rand(2, 3, 4)


@case
def transformer_layer() -> Case:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True), rand(2, 5, 8)


@case
def group_norm_and_interpolation() -> Case:
    def body(self: Any, x: torch.Tensor) -> torch.Tensor:
        return functional.interpolate(self.norm(x), scale_factor=2, mode="bilinear")

    return Function(body, norm=nn.GroupNorm(2, 4)), rand(1, 4, 5, 5)


@case
def several_dtypes() -> Case:
    return Function(lambda self, x: ((x > 0).to(torch.int32).cumsum(0), x.half().float(), x.argmax(-1))), rand(3, 4)


@case
def complex_numbers() -> Case:
    return Function(lambda self, x: torch.view_as_real(torch.fft.fft(x) * torch.tensor(1j)).sum()), rand(8)


@case
def scatter_and_gather() -> Case:
    def body(self: Any, x: torch.Tensor, index: torch.Tensor) -> Any:
        return x.gather(1, index), torch.zeros_like(x).scatter_add(1, index, x)

    return Function(body), lambda: (torch.randn(3, 4), torch.randint(4, (3, 4)))


@case
def common_subexpressions_around_a_write() -> Case:
    def body(self: Any, x: torch.Tensor) -> Any:
        a = x.sin()
        b = x * 2
        first = b.relu()
        b.add_(1)
        return a + x.sin(), first, b.relu()

    return Function(body), rand(3, 4)


@case
def random_draws_stay_apart() -> Case:
    return Function(lambda self, x: (x + torch.rand_like(x), x + torch.rand_like(x))), rand(4)


@case
def custom_autograd_function() -> Case:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return gradient * x * 3

    return Function(lambda self, x: Scale.apply(self.linear(x)), linear=nn.Linear(3, 3)), rand(2, 3)


@case
def checkpointed() -> Case:
    from torch.utils.checkpoint import checkpoint

    def body(self: Any, x: torch.Tensor) -> Any:
        return checkpoint(lambda y: self.linear(y).relu().sin(), x, use_reentrant=False)

    return Function(body, linear=nn.Linear(3, 3)), rand(2, 3)


@case
def conditional() -> Case:
    def body(self: Any, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos() - 1, (x,))

    return Function(body), rand(3)


@case
def python_numbers() -> Case:
    return Function(lambda self, x, scale, flag: x * scale if flag else x), lambda: (torch.randn(3), 2.5, True)


def _config(name: str, **sizes: Any) -> Any:
    transformers = __import__("transformers")
    torch.manual_seed(0)
    return getattr(transformers, name + "Config")(**sizes)


def _language_model(name: str, **sizes: Any) -> Case:
    transformers = __import__("transformers")
    config = _config(name, **sizes)
    model = getattr(transformers, f"{name}ForCausalLM", None) or getattr(transformers, f"{name}LMHeadModel")
    made = model(config).train()
    return Function(lambda self, tokens: self.model(tokens, use_cache=False).logits, model=made), lambda: (
        torch.randint(32, (2, 6)),
    )


@case
def transformers_llama() -> Case:
    return _language_model(
        "Llama", vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32,
    )  # fmt: skip


@case
def transformers_gpt2() -> Case:
    return _language_model("GPT2", vocab_size=32, n_embd=16, n_layer=2, n_head=2, n_positions=32)


@case
def transformers_bert() -> Case:
    transformers = __import__("transformers")
    config = _config(
        "Bert", vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2
    )
    model = transformers.BertModel(config).train()
    return Function(lambda self, tokens: self.model(tokens).last_hidden_state, model=model), lambda: (
        torch.randint(32, (2, 6)),
    )


@case
def transformers_vit() -> Case:
    transformers = __import__("transformers")
    config = _config(
        "ViT",
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=8,
        patch_size=4,
    )
    model = transformers.ViTModel(config, add_pooling_layer=False).train()
    return Function(lambda self, x: self.model(x).last_hidden_state, model=model), rand(1, 3, 8, 8)


@case
def transformers_t5() -> Case:
    transformers = __import__("transformers")
    config = _config("T5", vocab_size=32, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2)
    model = transformers.T5EncoderModel(config).train()
    return Function(lambda self, tokens: self.model(tokens).last_hidden_state, model=model), lambda: (
        torch.randint(32, (2, 6)),
    )
