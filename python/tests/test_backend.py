# SPDX-License-Identifier: Apache-2.0
"""The backend of torch.compile: options, policies, and what it has to work with."""

import copy
import pickle
import threading
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from fx_programs import same, targets
from torch._dynamo.exc import BackendCompilerFailed
from torch._subclasses.fake_tensor import FakeTensorMode

import winze
import winze.torch as wt
from winze.torch._options import make_settings

aten = torch.ops.aten


def double_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x + y) * (x + y)


def wrong_pass(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
    """Makes additions subtractions."""
    for node in gm.graph.find_nodes(op="call_function", target=aten.add.Tensor):
        node.target = aten.sub.Tensor
    return gm


def raising_pass(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
    raise ValueError("too bad")


def pair() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(3), torch.randn(3)


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend="winze", options=options or None)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"options": {"passe": "default"}}, "ValueError", "'passe' is no option.*Did you mean 'passes'"),
        ({"options": {"then": "indctor"}}, "ValueError", "Did you mean 'inductor'"),
        ({"options": {"then": 3}}, "TypeError", "option 'then' is 3"),
        ({"options": {"check": "yes"}}, "TypeError", "'yes'"),
        ({"options": {"on_failure": "ignore"}}, "ValueError", "'ignore'"),
        ({"options": {"passes": "dead-cod"}}, "Error", "dead-code"),
        ({"options": {"then_options": {"a": 1}}}, "ValueError", "then_options"),
        ({"options": {"then": "inductor", "then_options": 3}}, "TypeError", "'then_options' is 3; it is a dictionary"),
        (
            {"options": {"then": "inductor", "then_options": {"max_autotun": True}}},
            "ValueError",
            "'max_autotun' is no option of Inductor. Did you mean 'max_autotune'",
        ),
        ({"options": {1: 2}}, "TypeError", "options has the key 1"),
        ({"options": [("check", True)]}, "TypeError", "it is a dictionary"),
        ({"mode": "max-autotun"}, "ValueError", "Did you mean 'max-autotune'"),
    ],
)
def test_wrong_options(arguments: Any, error: str, text: str) -> None:
    if "mode" in arguments and "options" in arguments:
        raise AssertionError("torch.compile takes one of them")
    with pytest.raises(BackendCompilerFailed, match=text) as caught:
        torch.compile(double_sum, backend="winze", **arguments)(*pair())
    assert type(caught.value.inner_exception).__name__ == error


def test_then_function_is_given_the_lowered_graph() -> None:
    seen: list[Any] = []

    def then(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        seen.append((targets(gm), len(inputs)))
        return gm

    x, y = pair()
    same(compiled(double_sum, then=then)(x, y), double_sum(x, y))
    assert seen == [(["aten.add.Tensor", "aten.mul.Tensor"], 2)]


def test_then_must_give_a_callable() -> None:
    with pytest.raises(BackendCompilerFailed, match="no callable: 3"):
        compiled(double_sum, then=lambda gm, inputs: 3)(*pair())


@pytest.mark.parametrize("mode", [None, "reduce-overhead"])
def test_then_inductor(mode: str | None) -> None:
    x, y = pair()
    seen: list[list[str]] = []

    def look(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        seen.append(targets(gm))
        return gm

    with wt.lowering_passes(["default", look]):
        options = {"then": "inductor", "check": True}
        fast = torch.compile(
            lambda a, b: double_sum(a, b).sin(),
            backend=lambda gm, inputs: wt.winze_backend(gm, inputs, mode=mode, options=options),
        )
        x.requires_grad_(True)
        same(fast(x, y), double_sum(x, y).sin())
    assert seen


def test_modes_are_those_of_inductor() -> None:
    """torch.compile takes no options beside a mode."""
    settings = make_settings("max-autotune", None)
    assert settings.then == "inductor"
    assert settings.then_options["max_autotune"]
    assert make_settings("default", None).then == "eager"
    with pytest.raises(ValueError, match="'max-autotune' is one of Inductor's, and option 'then' is 'eager'"):
        make_settings("max-autotune", {"then": "eager"})


def test_inductor_takes_what_passes_make() -> None:
    """Constants, operators that Inductor decomposes beforehand, PyTorch's functions and methods."""

    def rewrite(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        (sin,) = gm.graph.find_nodes(op="call_function", target=aten.sin.default)
        gm.register_buffer("two", torch.full((3,), 2.0))
        with gm.graph.inserting_before(sin):
            two = gm.graph.get_attr("two")
            silu = gm.graph.call_function(aten.silu.default, (sin.args[0],))
            product = gm.graph.call_function(torch.mul, (silu, two))
            negative = gm.graph.call_method("neg", (product,))
        sin.replace_all_uses_with(negative)
        gm.graph.erase_node(sin)
        return gm

    x, _ = pair()
    same(compiled(lambda x: x.sin() + 1, passes=[rewrite], then="inductor")(x), 1 - 2 * aten.silu(x))


def test_inductor_takes_no_modules() -> None:
    def outlines(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        gm.add_submodule("sine", torch.nn.Identity())
        for sin in gm.graph.find_nodes(op="call_function", target=aten.sin.default):
            with gm.graph.inserting_before(sin):
                sin.replace_all_uses_with(gm.graph.call_module("sine", sin.args))
        return gm

    with pytest.raises(BackendCompilerFailed, match="passes left a call_module of 'sine'"):
        compiled(torch.sin, passes=[outlines], then="inductor")(torch.ones(2))


def test_failure_is_raised_and_names_the_pass() -> None:
    with pytest.raises(BackendCompilerFailed, match="pass raising_pass failed: ValueError: too bad") as caught:
        compiled(double_sum, passes=[raising_pass])(*pair())
    assert isinstance(caught.value.inner_exception, winze.Error)
    assert caught.value.inner_exception.pass_name == "raising_pass"


def test_failure_as_warning_runs_the_original() -> None:
    x, y = pair()
    with pytest.warns(wt.LoweringWarning, match="pass raising_pass failed"):
        result = compiled(double_sum, passes=[wrong_pass, raising_pass], on_failure="warn")(x, y)
    same(result, double_sum(x, y))


def test_pass_that_drops_an_output() -> None:
    def drop(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        output = gm.graph.output_node()
        output.args = (output.args[0][:-1],)
        return gm

    with pytest.raises(BackendCompilerFailed, match="pass drop changed the graph from 2 inputs and 1 outputs"):
        compiled(double_sum, passes=[drop])(*pair())


def test_check_names_the_pass_that_departs() -> None:
    with pytest.raises(winze.Error, match="pass wrong_pass changes what the graph computes: result 0") as caught:
        compiled(double_sum, passes=["default", wrong_pass, "dead-code"], check=True)(*pair())
    assert caught.value.pass_name == "wrong_pass"


def test_check_waits_for_a_call_with_data() -> None:
    fast = compiled(double_sum, passes=[wrong_pass], check=True)
    with FakeTensorMode() as mode:
        assert fast(mode.from_tensor(torch.ones(3)), mode.from_tensor(torch.ones(3))).shape == (3,)
    with pytest.raises(winze.Error, match="pass wrong_pass changes"):
        fast(*pair())


def test_check_leaves_random_state_alone() -> None:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x, 0.5) + torch.rand_like(x)

    x = torch.randn(100)
    torch.manual_seed(7)
    plain = compiled(noisy)(x)
    torch._dynamo.reset()
    torch.manual_seed(7)
    same(compiled(noisy, check=True)(x), plain)


def test_list_in_force_at_compilation_holds_for_backward() -> None:
    names: list[str] = []

    def look(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.GraphModule:
        names.append("seen")
        return gm

    x = torch.randn(3, requires_grad=True)
    with wt.lowering_passes([look]):
        result = compiled(torch.sin)(x)
    result.sum().backward()
    assert names == ["seen", "seen"]


def test_the_entry_point_is_the_same_backend() -> None:
    ran: list[str] = []

    @wt.aten_lowering_pass
    def note(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        ran.append("registered")
        return gm

    x = torch.randn(3)
    for backend in (winze._dynamo.winze_backend, "winze"):
        same(torch.compile(double_sum, backend=backend)(x, x), 4 * x * x)
    assert ran == ["registered"]


def test_one_list_for_all_that_is_compiled_at_a_time() -> None:
    """Dynamo would share what it compiled of a function, and the list in force may be another when it recompiles."""
    ran: list[str] = []

    def note(name: str) -> Any:
        def run(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
            ran.append(name)
            return gm

        return run

    def compiled_now(x: torch.Tensor, **options: Any) -> list[str]:
        ran.clear()
        same(compiled(double_sum, **options)(x, x), 4 * x * x)
        return list(ran)

    x = torch.randn(3)
    assert compiled_now(x) == []
    wt.aten_lowering_pass(note("registered"))
    assert compiled_now(x) == ["registered"]
    assert compiled_now(x) == []  # as it is there
    with wt.lowering_passes([note("private")]):
        fast = torch.compile(double_sum, backend="winze", dynamic=False)
        fast(x, x)
        assert ran == ["private"]
    fast(*[torch.randn(2, 2)] * 2)
    assert ran == ["private"] * 2
    assert compiled_now(x) == []
    pipeline = wt.Pipeline([note("first")])
    assert compiled_now(x, passes=pipeline) == ["first"]
    pipeline.add(note("second"))
    assert compiled_now(x, passes=pipeline) == ["first", "second"]
    torch._dynamo.reset()
    fast(x, x)
    assert ran == ["first", "second", "registered"]
    module = torch.compile(torch.nn.Softmax(0), backend="winze")
    expected = module(x)
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        same(copied(x), expected)


@pytest.mark.parametrize("guard", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_grad_modes(guard: Any) -> None:
    x, y = pair()
    with guard():
        same(compiled(double_sum, check=True)(x, y), double_sum(x, y))


def test_autocast() -> None:
    x, w = torch.randn(4, 8), torch.randn(8, 8)

    def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return (a @ b).relu()

    result = compiled(matmul, check=True)(x, w)
    assert result.dtype == torch.bfloat16
    same(result, matmul(x, w))


def test_graph_break_and_fullgraph() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    x = torch.randn(3)
    same(compiled(broken)(x), broken(x))
    full = torch.compile(double_sum, backend="winze", fullgraph=True)
    same(full(x, x), double_sum(x, x))


def test_dynamic_shapes_marked_and_automatic() -> None:
    count = [0]

    def then(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        count[0] += 1
        return gm

    def body(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0] * 2, -1) + x.shape[0]

    marked = compiled(body, then=then)
    for size in (3, 5, 8):
        x = torch.randn(size, 4)
        torch._dynamo.mark_dynamic(x, 0)
        same(marked(x), body(x))
    assert count[0] == 1
    automatic = compiled(lambda x: body(x), then=then, check=True)
    for size in (3, 5, 8, 9):
        x = torch.randn(size, 4)
        same(automatic(x), body(x))
    assert count[0] == 3


def test_several_threads_and_reset() -> None:
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x, y = torch.full((3,), float(seed)), torch.ones(3)
            same(compiled(lambda a, b: double_sum(a, b) + seed)(x, y), double_sum(x, y) + seed)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    torch._dynamo.reset()
    work(9)
    assert not errors


def test_backend_is_known_by_name() -> None:
    assert "winze" in torch._dynamo.list_backends()


def test_entry_point_function() -> None:
    from winze._dynamo import winze_backend

    x, y = pair()
    same(torch.compile(double_sum, backend=winze_backend)(x, y), double_sum(x, y))


def test_views_and_casts_that_do_nothing_go_and_gradients_stay() -> None:
    """Dtypes and sizes of the forward graph, and of the backward graph that AOTAutograd made of it."""

    def model(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        y = (x * scale).view(x.shape).to(torch.float32, copy=True).expand(x.shape)
        return y[:].permute(0, 1).sin().to(torch.float64).sum(0)

    seen: list[list[str]] = []

    def look(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        seen.append([str(node.target) for node in gm.graph.nodes if node.op == "call_function"])
        return gm

    passes = ["remove-no-op-casts, remove-no-op-views, common-subexpressions, dead-code", look]
    results = []
    for run in (model, torch.compile(model, backend="winze", options={"passes": passes, "check": True})):
        x = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
        scale = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        result = run(x, scale)
        result.sum().backward()
        results.append((result.detach(), x.grad, scale.grad))
    torch.testing.assert_close(results[0], results[1])
    forward, backward = seen
    assert forward == ["aten.mul.Tensor", "aten.sin.default", "aten._to_copy.default", "aten.sum.dim_IntList"]
    assert {"aten.slice.Tensor", "aten.permute.default"}.isdisjoint(backward)
    assert backward.count("aten.view.default") == 1  # of the gradient of `scale`, which had another size
