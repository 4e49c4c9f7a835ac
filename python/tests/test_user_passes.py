# SPDX-License-Identifier: Apache-2.0
"""Passes over torch.fx as people write them: constants and modules of their own, and mistakes."""

import operator
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx.passes.fake_tensor_prop
from fx_programs import same, targets, traced
from torch.fx.experimental.proxy_tensor import make_fx

import winze
import winze.torch as wt

aten = torch.ops.aten
FxPass = Callable[[torch.fx.GraphModule, Any], Any]


def compiled(function: Any, *passes: Any, **options: Any) -> Any:
    return torch.compile(function, backend="winze", options={"passes": list(passes), **options})


def sin_of(gm: torch.fx.GraphModule) -> torch.fx.Node:
    return gm.graph.find_nodes(op="call_function", target=aten.sin.default)[0]


def put_after(node: torch.fx.Node, make: Callable[[torch.fx.Graph], torch.fx.Node]) -> None:
    with node.graph.inserting_after(node):
        made = make(node.graph)
    node.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)


def times_constant(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
    gm.register_buffer("two", torch.full((4,), 2.0))
    sin = sin_of(gm)
    with gm.graph.inserting_before(sin):
        two = gm.graph.get_attr("two")
    put_after(sin, lambda graph: graph.call_function(aten.mul.Tensor, (sin, two)))
    return gm


def through_module(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
    gm.add_submodule("doubler", torch.nn.Identity())
    sin = sin_of(gm)
    put_after(sin, lambda graph: graph.call_module("doubler", (sin,)))
    return gm


def caught(call: Callable[[], Any]) -> winze.Error:
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as raised:
        call()
    assert isinstance(raised.value.inner_exception, winze.Error)
    return raised.value.inner_exception


def test_constants_made_in_a_compilation_have_data() -> None:
    x = torch.randn(4)
    run = compiled(lambda x: x.sin() + 1, times_constant, "default", check=False)
    for _ in range(3):
        same(run(x), x.sin() * 2 + 1)


def test_parameters_and_new_calls_between_them() -> None:
    def add_weight(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        gm.weight = torch.nn.Parameter(torch.ones(4))
        sin = sin_of(gm)
        with gm.graph.inserting_after(sin):
            weight = gm.graph.get_attr("weight")
        put_after(weight, lambda graph: graph.call_function(aten.add.Tensor, (sin, weight)))
        gm.graph.output_node().replace_input_with(sin, weight.next)
        return gm

    x = torch.randn(4)
    gm = wt.apply_lowering_passes(traced(lambda x: x.sin(), x), [x], passes=[add_weight, "default"])
    assert all("val" in node.meta for node in gm.graph.nodes if node.op == "call_function")
    same(gm(x), x.sin() + 1)


def test_constants_in_exported_programs_become_inputs(tmp_path: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.weight).sin()

    net, x = Net(), torch.randn(4)
    program = torch.export.export(net, (x,))
    lowered = wt.lower(program, passes=[times_constant, "default"])
    expected = net(x) * 2
    same(lowered.module()(x), expected)
    assert len(lowered.constants) == len(program.constants) + 1
    torch.export.save(lowered, tmp_path / "lowered.pt2")
    same(torch.export.load(tmp_path / "lowered.pt2").module()(x), expected)
    same(torch.export.unflatten(lowered)(x), expected)


def test_what_export_does_not_accept_is_an_error_of_ours() -> None:
    program = torch.export.export(torch.nn.Identity(), (torch.randn(4),))

    def call_python(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        (x,) = gm.graph.find_nodes(op="placeholder")
        with gm.graph.inserting_after(x):
            made = gm.graph.call_function(repr, (x,))
        gm.graph.output_node().replace_input_with(x, made)
        return gm

    with pytest.raises(winze.Error, match="pass call_python failed: repr has no place in an exported program"):
        wt.lower(program, passes=[call_python])

    def call_module(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        gm.add_submodule("doubler", torch.nn.Identity())
        (x,) = gm.graph.find_nodes(op="placeholder")
        put_after(x, lambda graph: graph.call_module("doubler", (x,)))
        return gm

    with pytest.raises(winze.Error, match="pass call_module failed: call_module of 'doubler' has no place") as raised:
        wt.lower(program, passes=[call_module])
    assert "doubler" in raised.value.node


def test_constants_without_data_are_refused() -> None:
    def fake_constant(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        mode = wt._fake.fake_mode_of(gm)
        assert mode is not None
        with mode:
            return times_constant(gm, sample_inputs)

    x = torch.randn(4)
    error = caught(lambda: compiled(lambda x: x.sin(), fake_constant)(x))
    assert "pass fake_constant left an invalid graph: the attribute 'two' is a fake tensor" in error.message
    assert error.hint == "make constants outside of a FakeTensorMode"


def test_attributes_that_are_not_there_are_refused() -> None:
    def forgets(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        times_constant(gm, sample_inputs)
        del gm.two
        return gm

    x = torch.randn(4)
    gm = traced(lambda x: x.sin(), x)
    with pytest.raises(winze.Error, match="pass forgets left an invalid graph"):
        wt.apply_lowering_passes(gm, [x], passes=[forgets])
    same(gm(x), x.sin())


def test_results_of_other_sizes_are_refused() -> None:
    def sums(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        put_after(sin, lambda graph: graph.call_function(aten.sum.dim_IntList, (sin, [0])))
        return gm

    x = torch.randn(4)
    error = caught(lambda: compiled(lambda x: x.sin(), sums)(x))
    assert error.message == "pass sums changed result 0 of the graph from float32[4] to float32[]"
    assert error.pass_name == "sums"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        same(compiled(lambda x: x.sin() * 1, sums, on_failure="warn")(x), x.sin())
    assert any("pass sums changed result 0" in str(one.message) for one in said)


def test_results_that_are_lost_are_refused() -> None:
    def returns_none(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        gm.graph.output_node().args = ((None,),)
        return gm

    error = caught(lambda: compiled(lambda x: x.sin(), returns_none)(torch.randn(4)))
    assert error.message == "pass returns_none changed result 0 of the graph from float32[4] to None"


def test_symbolic_numbers_as_arguments_are_refused() -> None:
    def sizes_of_the_example(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        sizes = list(sin.meta["val"].shape)
        put_after(sin, lambda graph: graph.call_function(aten.view.default, (sin, sizes)))
        return gm

    x = torch.randn(3, 2)
    error = caught(
        lambda: torch.compile(torch.sin, backend="winze", dynamic=True, options={"passes": [sizes_of_the_example]})(x)
    )
    assert error.pass_name == "sizes_of_the_example"
    assert "is an argument, and has no value when the graph runs" in error.message
    assert "aten.view.default" in error.node
    assert "materialize_symint" in (error.hint or "")
    same(compiled(torch.sin, sizes_of_the_example)(x), x.sin())


def test_tensors_as_arguments_are_refused() -> None:
    def adds_a_tensor(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        put_after(sin, lambda graph: graph.call_function(aten.add.Tensor, (sin, torch.ones(4))))
        return gm

    x = torch.randn(4)
    gm = traced(torch.sin, x)
    with pytest.raises(
        winze.Error, match="pass adds_a_tensor left an invalid graph: a tensor is an argument"
    ) as raised:
        wt.apply_lowering_passes(gm, [x], passes=[adds_a_tensor])
    assert "register_buffer" in raised.value.hint
    same(gm(x), x.sin())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [((3, 4), "expected at most 1 argument"), (([7],), "expected at most 1 argument"), (("a",), "expected at most 1")],
)
def test_calls_that_cannot_run_are_refused(arguments: Any, reason: str) -> None:
    def too_many(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        sin.args = (*sin.args, *arguments)
        return gm

    x = torch.randn(4)
    runs: list[Callable[[], Any]] = [
        lambda: wt.apply_lowering_passes(traced(torch.sin, x), [x], passes=[too_many]),
        lambda: wt.apply_lowering_passes(make_fx(torch.sin)(x), [x], passes=[too_many]),
        lambda: compiled(torch.sin, too_many)(x),
    ]
    for run in runs:
        with pytest.raises((winze.Error, torch._dynamo.exc.BackendCompilerFailed)) as raised:
            run()
        error = getattr(raised.value, "inner_exception", raised.value)
        assert error.message.startswith("pass too_many left an invalid graph: aten.sin.default cannot be called")
        assert reason in error.message
        assert "aten.sin.default" in error.node


def test_writes_to_parameters_and_custom_operators_are_not_refused() -> None:
    """Their fake runs raise here, the calls themselves are right."""
    with torch.library._scoped_library("winze_tests", "FRAGMENT") as library:
        library.define("no_fake(Tensor x) -> Tensor")
        library.impl("no_fake", lambda x: x * 2, "CPU")

        def no_fake(x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("not for fake tensors")

        library.impl("no_fake", no_fake, "Meta")

        def writes(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
            (x,) = gm.graph.find_nodes(op="placeholder")
            sin = sin_of(gm)
            with gm.graph.inserting_before(sin.next):
                made = gm.graph.call_function(torch.ops.winze_tests.no_fake.default, (sin,))
                gm.graph.call_function(aten.copy_.default, (x, made))
            return gm

        x = torch.nn.Parameter(torch.ones(4))
        gm = traced(lambda x: x.sin(), x)
        with torch.no_grad():
            wt.apply_lowering_passes(gm, [x], passes=[writes])(x)
        same(x.detach(), torch.ones(4).sin() * 2)


def test_sizes_that_do_not_fit_are_refused() -> None:
    def view_of_seven(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        put_after(sin, lambda graph: graph.call_function(aten.view.default, (sin, [7])))
        return gm

    x = torch.randn(4)
    gm = make_fx(torch.sin)(x)
    code = gm.code
    with pytest.raises(winze.Error, match=r"aten\.view\.default cannot be called .*shape '\[7\]' is invalid"):
        wt.apply_lowering_passes(gm, [x], passes=[view_of_seven])
    assert gm.code == code


def test_values_that_a_pass_set_are_computed_anew() -> None:
    def sets_wrong_values(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for node in gm.graph.nodes:
            node.meta["val"] = torch.empty(7)
        return gm

    def fake_values(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        torch.fx.passes.fake_tensor_prop.FakeTensorProp(gm).propagate(*sample_inputs)
        return gm

    x = torch.randn(4)
    same(compiled(lambda x: x.sin() + x.sin(), sets_wrong_values, "default", check=True)(x), x.sin() * 2)

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin() + x.sin()

    program = torch.export.export(Net(), (x,))
    for changes_values in (sets_wrong_values, fake_values):
        lowered = wt.lower(program, passes=[changes_values, "default"])
        same(lowered.module()(x), x.sin() * 2)
        shapes = {node.meta["val"].shape for node in lowered.graph.nodes if node.op == "call_function"}
        assert shapes == {torch.Size([4])}


def test_packets_and_python_calls_become_operators(tmp_path: Any) -> None:
    """An exported program holds operators alone; native passes know them alone."""

    def calls_of_all_kinds(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        with gm.graph.inserting_before(sin.next):
            packet = gm.graph.call_function(aten.mul, (sin, 2))
            function = gm.graph.call_function(torch.sort, (packet,))
            part = gm.graph.call_function(operator.getitem, (function, 0))
            method = gm.graph.call_method("clone", (part,))
            arithmetic = gm.graph.call_function(operator.add, (method, packet))
        sin.replace_all_uses_with(arithmetic, delete_user_cb=lambda user: user is not packet)
        return gm

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin() + 0

    x = torch.randn(4, 3)
    expected = (x.sin() * 2).sort().values + x.sin() * 2
    rows = torch.export.Dim("rows", max=9)
    for sizes in (None, ({0: rows},)):
        program = torch.export.export(Net(), (x,), dynamic_shapes=sizes)
        lowered = wt.lower(program, passes=[calls_of_all_kinds])
        assert targets(lowered.graph_module)[1:] == [
            "aten.mul.Tensor", "aten.sort.default", str(operator.getitem), "aten.clone.default", "aten.add.Tensor",
            "aten.add.Tensor",
        ]  # fmt: skip
        torch.export.save(lowered, tmp_path / "lowered.pt2")
        same(torch.export.load(tmp_path / "lowered.pt2").module()(x), expected)
    seen: list[Any] = []

    def look(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        seen.extend(targets(gm))
        return gm

    same(compiled(lambda x: x.sin() + 0, calls_of_all_kinds, "default", look)(x), expected)
    assert seen == [
        "aten.sin.default", "aten.mul.Tensor", "aten.sort.default", str(operator.getitem), "aten.add.Tensor",
        "aten.add.Tensor",
    ]  # fmt: skip


def test_results_that_are_taken_by_name() -> None:
    """As a torch.fx.Proxy does; the function stays as it is then."""

    def greatest(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        with gm.graph.inserting_before(sin.next):
            proxy = torch.fx.Proxy(sin, torch.fx.proxy.GraphAppendingTracer(gm.graph))
            values = torch.max(proxy, 0, True).values.node
        sin.replace_all_uses_with(values, delete_user_cb=lambda user: "max" not in user.name)
        return gm

    same(compiled(lambda x: x.sin() + 1, greatest)(torch.ones(1, 3)), torch.ones(1, 3).sin() + 1)


def test_python_functions_of_others_stay_as_they_are() -> None:
    """They may look at the numbers of each run, which tracing would do once."""
    seen: list[float] = []

    def note(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.sum().item())
        return x

    def notes(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        sin = sin_of(gm)
        put_after(sin, lambda graph: graph.call_function(note, (sin,)))
        return gm

    fast = compiled(lambda x: x.sin() + 1, notes, "default")
    for x in (torch.zeros(2), torch.full((2,), torch.pi / 2)):
        same(fast(x), x.sin() + 1)
    assert seen == [0.0, 2.0]


def test_nested_graphs_that_a_pass_edits() -> None:
    def in_branches(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for branch in gm.children():
            assert isinstance(branch, torch.fx.GraphModule)
            for sin in branch.graph.find_nodes(op="call_function", target=aten.sin.default):
                put_after(sin, lambda graph, sin=sin: graph.call_function(aten.mul, (sin, 2)))  # type: ignore[misc]  # mypy infers no lambda with a default
        return gm

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.sin() - 1, (x,))

    x = torch.ones(4)
    program = torch.export.export(Net(), (x,))
    lowered = wt.lower(program, passes=["default", in_branches, "default"])
    same(lowered.module()(x), x.sin() * 2 + 1)
    same(lowered.module()(-x), (-x).sin() * 2 - 1)
    same(compiled(Net(), in_branches, "default", check=True)(x), x.sin() * 2 + 1)

    def breaks_a_branch(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for branch in gm.children():
            assert isinstance(branch, torch.fx.GraphModule)
            sin_of(branch).args = (3, 4)
        return gm

    with pytest.raises(winze.Error, match=r"pass breaks_a_branch left an invalid graph: aten\.sin\.default cannot"):
        wt.lower(program, passes=[breaks_a_branch])


def test_placeholders_of_numbers_have_a_type_too() -> None:
    """The documented example asks ``issubclass(node.type, torch.Tensor)`` of every placeholder."""
    types: list[Any] = []

    def look(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        types.extend(node.type for node in gm.graph.find_nodes(op="placeholder"))
        return gm

    x = torch.randn(3, 4)
    same(torch.compile(torch.sin, backend="winze", dynamic=True, options={"passes": [look]})(x), x.sin())
    assert types == [torch.SymInt, torch.SymInt, torch.Tensor]


def test_a_pass_may_take_the_module_alone() -> None:
    def on_module(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
        put_after(sin_of(gm), lambda graph: graph.call_function(aten.neg.default, (sin_of(gm),)))
        return gm

    x = torch.randn(3)
    same(compiled(torch.sin, on_module)(x), -x.sin())
    error = caught(lambda: compiled(torch.cos, lambda: None)(x))
    assert "takes 0 positional arguments but 2 were given" in error.message


def test_a_pass_result_is_no_module() -> None:
    from torch.fx.passes.infra.pass_base import PassBase, PassResult

    class Nothing(PassBase):
        def call(self, gm: torch.fx.GraphModule) -> PassResult:
            return PassResult(gm, False)

    x = torch.randn(4)
    gm = traced(lambda x: x.sin(), x)
    with pytest.raises(winze.Error, match="returned a PassResult") as raised:
        wt.apply_lowering_passes(gm, [x], passes=[lambda gm, inputs: Nothing()(gm)])
    assert raised.value.hint == "return its .graph_module"
    wt.apply_lowering_passes(gm, [x], passes=[lambda gm, inputs: Nothing()(gm).graph_module])


def test_modules_that_a_pass_calls() -> None:
    x = torch.randn(4)
    run = compiled(lambda x: x.sin() + 1, "default", through_module, check=True)
    for _ in range(3):
        same(run(x), x.sin() + 1)
    error = caught(lambda: compiled(lambda x: x.sin() + 2, through_module, "default")(x))
    assert error.message == 'pass remove-no-op-clones failed: call_module of "doubler" is no ATen operator'
    assert error.pass_name == "remove-no-op-clones"
    assert "doubler" in error.node


def test_graphs_that_a_pass_splits() -> None:
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    from torch.fx.passes.operator_support import OperatorSupport
    from torch.fx.passes.split_module import split_module

    def split(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        return split_module(gm, gm, lambda node: int(node.target is not aten.sin.default))

    class Trigonometry(OperatorSupport):
        def is_node_supported(self, modules: Any, node: torch.fx.Node) -> bool:
            return node.target in (aten.sin.default, aten.cos.default)

    def partition(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        return CapabilityBasedPartitioner(gm, Trigonometry(), True).partition_and_fuse()

    x = torch.randn(4)
    for last in (split, partition):
        run = compiled(lambda x: (x.sin().cos() + 1).exp(), "default", last, check=True)
        for _ in range(2):
            same(run(x), (x.sin().cos() + 1).exp())


def test_constants_that_torch_fx_folds() -> None:
    from torch.fx.experimental.const_fold import split_const_subgraphs

    x = torch.randn(4)
    run = compiled(lambda x: x.sin() + torch.ones(4) * 3, lambda gm, inputs: split_const_subgraphs(gm))
    for _ in range(2):
        same(run(x), x.sin() + 3)


def test_new_graphs_without_metas_before_native_passes() -> None:
    def anew(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        graph = torch.fx.Graph()
        graph.output(graph.graph_copy(gm.graph, {}))
        for node in graph.nodes:
            node.meta = {}
        return torch.fx.GraphModule(gm, graph)

    x = torch.randn(4)
    same(compiled(lambda x: x.sin() + x.sin(), anew, "default", check=True)(x), x.sin() * 2)


def test_graphs_made_anew_keep_the_inputs(tmp_path: Any) -> None:
    """What traces a graph leaves placeholders without values, or with those of a fake mode of its own; and some passes
    clear metas."""

    def transform(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        return torch.fx.Transformer(gm).transform()

    def trace(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        return make_fx(gm)(*(torch.ones(value.shape) for value in sample_inputs))

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x).sigmoid() + self.linear(x).sigmoid()

    net, x = Net(), torch.randn(2, 3)
    program = torch.export.export(net, (x,)).run_decompositions()

    def forget(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for node in gm.graph.nodes:
            node.meta = {}
        return gm

    for made_anew in (transform, trace, forget):
        lowered = wt.lower(program, passes=[made_anew, "default"])
        modes = {node.meta["val"].fake_mode for node in lowered.graph.nodes if node.op != "output"}
        assert modes == {next(iter(program.graph.nodes)).meta["val"].fake_mode}
        torch.export.save(lowered, tmp_path / "lowered.pt2")
        same(torch.export.load(tmp_path / "lowered.pt2").module()(x), net(x))


def test_names_and_metas_that_a_pass_sets() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def tag(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        for node in gm.graph.nodes:
            node.meta["tag"] = node.op
        sin_of(gm)._rename("renamed")
        return gm

    def keep(gm: torch.fx.GraphModule, sample_inputs: Any) -> torch.fx.GraphModule:
        graphs.append(gm)
        return gm

    x = torch.randn(4)
    same(compiled(lambda x: x.sin() + x.sin(), tag, "default", keep)(x), x.sin() * 2)
    assert [node.meta["tag"] for node in graphs[0].graph.nodes] == [node.op for node in graphs[0].graph.nodes]
    assert sin_of(graphs[0]).name == "renamed"
    assert targets(graphs[0]) == ["aten.sin.default", "aten.add.Tensor"]
