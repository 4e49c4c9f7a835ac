# SPDX-License-Identifier: Apache-2.0
"""Calls that write to copies, kernels of other compilers, dictionaries: in native form or kept as they are."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fx_programs import same, targets, traced

import winze
import winze.torch as wt
from winze.torch._run import vocabulary

aten = torch.ops.aten
higher_order = torch.ops.higher_order


@pytest.fixture
def bump() -> Iterator[Any]:
    """A custom operator that writes to its first argument."""
    with torch.library._scoped_library("winze_bump", "FRAGMENT") as library:
        library.define("bump(Tensor(a!) x, Tensor y) -> ()")

        def write(x: torch.Tensor, y: torch.Tensor) -> None:
            x.add_(y)

        library.impl("bump", write, "CompositeExplicitAutograd")
        torch.library.register_fake("winze_bump::bump", lambda x, y: None, lib=library)
        yield torch.ops.winze_bump.bump


def native_text(gm: torch.fx.GraphModule) -> str:
    return winze._native.FxBridge(vocabulary(), gm).text()


@pytest.mark.parametrize("version", [1, 2])
def test_writes_of_custom_operators(bump: Any, version: int) -> None:
    texts: list[str] = []

    def look(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        texts.append(native_text(gm))
        return gm

    def body(x: torch.Tensor, y: torch.Tensor) -> Any:
        z = x.clone()
        bump(z, y)
        first = z.sin() + z.sin()
        bump(z, y)
        bump(x, y)
        return first + z.sin(), x * y, z.sin()

    with torch._inductor.config.patch(enable_auto_functionalized_v2=version == 2):
        run = torch.compile(body, backend="winze", options={"passes": [look, "default", look], "check": True})
        x, y = torch.randn(3), torch.randn(3)
        twin = x.clone()
        same(run(x, y), body(twin, y))
        same(x, twin)
    before, after = texts
    assert "python." not in before
    name = "auto_functionalized_v2" if version == 2 else "auto_functionalized"
    assert before.count(f"higher_order.{name}(winze_bump.bump.default, ") == 3
    assert after.count(f"higher_order.{name}(") == 3
    assert (before.count("aten.sin"), after.count("aten.sin")) == (4, 2)


def test_an_edited_input_of_such_a_call(bump: Any) -> None:
    """What is brought back is a call that runs: the operator as object, its keywords in place."""

    @winze.lowering_pass(name="negate-second-operand")
    def negate(graph: winze.Graph) -> None:
        (call,) = graph.find_nodes(op="call_function", target=higher_order.auto_functionalized_v2)
        (x, y) = graph.find_nodes(op="placeholder")
        with graph.inserting_before(call):
            made = graph.call_function(aten.neg.default, (y,), like=y)
        call.replace_input_with(y, made)

    def body(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x.sin()
        bump(z, y)
        return z

    x, y = torch.randn(3), torch.randn(3)
    same(torch.compile(body, backend="winze", options={"passes": [negate]})(x, y), x.sin() - y)


def triton_call(graph: torch.fx.Graph, which: Any, **kwargs: Any) -> torch.fx.Node:
    more = {"tensors_to_clone": ["out"]} if which is higher_order.triton_kernel_wrapper_functional else {}
    return graph.call_function(
        which,
        (),
        {
            "kernel_idx": 0,
            "constant_args_idx": 0,
            "grid": [(1, 1, 1)],
            "tma_descriptor_metadata": {},
            "kwargs": kwargs,
            **more,
        },
    )


def test_kernels_that_write_keep_their_place() -> None:
    import torch._higher_order_ops.triton_kernel_wrap

    gm = traced(lambda x: (x.sin(), x.sin(), x.cos()), torch.randn(3))
    first, second = gm.graph.find_nodes(op="call_function", target=aten.sin.default)
    with gm.graph.inserting_after(first):
        call = triton_call(gm.graph, higher_order.triton_kernel_wrapper_mutation, x=first.args[0], out=first)
    kwargs = call.kwargs
    wt.Pipeline("default")(gm)
    gm.graph.lint()
    # What the kernel wrote to is not what the second sine yields.
    assert targets(gm) == ["aten.sin.default", "triton_kernel_wrapper_mutation", "aten.sin.default", "aten.cos.default"]
    assert call.kwargs is kwargs
    assert second in gm.graph.nodes


def test_kernels_that_yield_dictionaries() -> None:
    import operator

    import torch._higher_order_ops.triton_kernel_wrap

    gm = traced(lambda x: (x.sin() + x.sin()).cos(), torch.randn(3))
    (cos,) = gm.graph.find_nodes(op="call_function", target=aten.cos.default)
    (add,) = gm.graph.find_nodes(op="call_function", target=aten.add.Tensor)
    with gm.graph.inserting_before(cos):
        call = triton_call(gm.graph, higher_order.triton_kernel_wrapper_functional, x=add, out=add)
        call.meta["val"] = {"out": add.meta["val"]}
        out = gm.graph.call_function(operator.getitem, (call, "out"))
        out.meta["val"] = add.meta["val"]
    cos.replace_input_with(add, out)
    kwargs = call.kwargs
    wt.Pipeline("default")(gm)
    gm.graph.lint()
    assert call.kwargs is kwargs
    assert cos.args == (out,)
    assert out.args == (call, "out")
    assert targets(gm).count("aten.sin.default") == 1


def test_a_replaced_node_in_a_dictionary() -> None:
    import torch._higher_order_ops.triton_kernel_wrap

    gm = traced(lambda x: (x.sin(), x.sin()), torch.randn(3))
    first, second = gm.graph.find_nodes(op="call_function", target=aten.sin.default)
    with gm.graph.inserting_after(second):
        call = triton_call(gm.graph, higher_order.triton_kernel_wrapper_mutation, x=second, out=first)

    @winze.lowering_pass(name="merge-sines")
    def merge(graph: winze.Graph) -> None:
        one, other = graph.find_nodes(op="call_function", target=aten.sin.default)
        other.replace_all_uses_with(one)
        graph.erase_node(other)

    wt.Pipeline([merge])(gm)
    assert call.kwargs["kwargs"] == {"x": first, "out": first}
    assert call.kwargs["grid"] == [(1, 1, 1)]


def test_dtypes_of_quantized_tensors() -> None:
    """They have no native form: the calls that name or yield them are kept as they are."""

    def model(x: torch.Tensor) -> torch.Tensor:
        quantized = torch.quantize_per_tensor(x.sigmoid() + x.sigmoid(), 0.1, 0, torch.qint8)
        return quantized.dequantize() * 2

    x = torch.randn(4)
    same(torch.compile(model, backend="winze", options={"check": True})(x), model(x))
