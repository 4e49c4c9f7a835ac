# SPDX-License-Identifier: Apache-2.0
"""The backend of ``torch.compile``."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.graph import _BoxedCodeGen

from winze import _dynamo
from winze._error import Error
from winze._log import logger
from winze.torch import _fake
from winze.torch._check import Stages, check_stages, have_data
from winze.torch._inline import decompose_calls
from winze.torch._kept_list import kept_list
from winze.torch._options import Settings, make_settings
from winze.torch._run import run_pipeline
from winze.torch._snapshot import Snapshot, copy_of

Boxed = Callable[[list[Any]], Any]


class LoweringWarning(UserWarning):
    """A graph was compiled without its passes, since one of them failed."""


def winze_backend(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Lowers what Dynamo captured: forward and backward graphs of ATen operators, as AOTAutograd makes them.

    `Settings` has the options. Registered as the backend ``winze``.
    """
    kept = kept_list((winze_backend, _dynamo.winze_backend), _compile)
    if kept is not None:
        return kept(gm, example_inputs, mode=mode, options=options)
    return _compile(gm, example_inputs, make_settings(mode, options))


def _compile(gm: fx.GraphModule, example_inputs: Sequence[Any], settings: Settings) -> Callable[..., Any]:
    if settings.then == "inductor":
        return _compile_with_inductor(gm, example_inputs, settings)

    def compile_graph(graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        lowered, stages = lower_graph(graph, inputs, settings)
        return _checked(_finish(lowered, inputs, settings), stages)

    compiler = aot_autograd(
        fw_compiler=compile_graph,
        bw_compiler=compile_graph,
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    compiled: Callable[..., Any] = compiler(gm, example_inputs)
    return compiled


def lower_graph(gm: fx.GraphModule, inputs: Sequence[Any], settings: Settings) -> tuple[fx.GraphModule, Stages | None]:
    """Runs the passes over one graph, as the policy on failures says."""
    stages = Stages(copy_of(gm)) if settings.check else None
    before = Snapshot(gm) if settings.on_failure == "warn" else None
    try:
        lowered = run_pipeline(
            gm,
            inputs,
            settings.entries,
            keep_signature=True,
            one_by_one=settings.check,
            recompile=settings.then != "eager",  # else it is compiled once, by `_finish`
            after_step=stages.add if stages else None,
        )
    except Error as error:
        if before is None:
            raise
        message = f"{error}\nThe graph is compiled as it was before the passes."
        logger.warning("%s", message)
        warnings.warn(message, LoweringWarning, stacklevel=2)
        before.restore()
        gm.recompile()
        return gm, None
    return lowered, stages


def _finish(gm: fx.GraphModule, inputs: Sequence[Any], settings: Settings) -> Boxed:
    """Makes a lowered graph run."""
    if callable(settings.then):
        made = settings.then(gm, inputs)
        if not callable(made):
            raise Error(
                f"what 'then' returned is no callable: {made!r:.80}", hint="it is a function (gm, inputs) -> callable"
            )
        return made if getattr(made, "_boxed_call", False) else _boxed(made)
    return _run_by_operators(gm)


def _run_by_operators(gm: fx.GraphModule) -> Boxed:
    """Runs a graph by PyTorch's operators: the first time by torch.fx's interpreter, afterwards by generated code.

    Generating code takes longer than one run by the interpreter, and many graphs run once.
    """
    lock = threading.Lock()
    is_first = True
    generated: Boxed | None = None

    def run(args: list[Any]) -> Any:
        nonlocal is_first, generated
        function = generated
        if function is None:
            with lock:
                interpret, is_first = is_first, False
                if not interpret and generated is None:
                    gm.graph.set_codegen(_BoxedCodeGen())
                    gm.recompile()
                    generated = gm.forward
                function = generated
            if interpret:
                interpreter = fx.Interpreter(gm)
                interpreter.extra_traceback = False
                return interpreter.boxed_run(args)
            assert function is not None
        return function(args)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _boxed(function: Callable[..., Any]) -> Boxed:
    def run(args: list[Any]) -> Any:
        values = list(args)
        args.clear()
        return function(*values)

    return _with_mark(run)


def _with_mark(function: Callable[..., Any]) -> Boxed:
    def run(args: list[Any]) -> Any:
        return function(args)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _checked(run: Boxed, stages: Stages | None) -> Boxed:
    """Compares at the first call with data, then gets out of the way."""
    if stages is None:
        return run
    lock = threading.Lock()
    waiting: list[Stages] = [stages]

    def checked(args: list[Any]) -> Any:
        with lock:
            todo = waiting.pop() if waiting and have_data(args) else None
        if todo is not None:
            check_stages(todo, args)
        return run(args)

    return _with_mark(checked)


def _compile_with_inductor(gm: fx.GraphModule, example_inputs: Sequence[Any], settings: Settings) -> Callable[..., Any]:
    """Inductor does as always; passes run over each graph right before it is turned into kernels."""
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    def inner_compile(graph: fx.GraphModule, inputs: Sequence[Any], **kwargs: Any) -> Any:
        lowered, stages = lower_graph(graph, inputs, settings)
        _decompose_for_inductor(lowered)
        with _constants_allowed(_fake.fake_mode_of(lowered)):
            compiled = compile_fx_inner(lowered, inputs, **kwargs)
        return compiled if stages is None else _checked(_as_boxed(compiled), stages)

    # Its cache of whole compilations is keyed by what Dynamo captured: passes are no part of the key.
    with functorch_config.patch(enable_autograd_cache=False):
        compiled: Callable[..., Any] = compile_fx(
            gm,
            example_inputs,
            inner_compile=inner_compile,
            config_patches={**settings.then_options, "fx_graph_cache": not settings.check},
        )
    return compiled


def _decompose_for_inductor(gm: fx.GraphModule) -> None:
    """Takes apart what passes made of operators that Inductor decomposes beforehand and has no kernels for."""
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.lowering import lowerings

    table = {op: rule for op, rule in select_decomp_table().items() if op not in lowerings}
    for module in list(gm.modules()):
        if isinstance(module, fx.GraphModule):
            decompose_calls(module, table)
    for node in [*gm.graph.find_nodes(op="call_module"), *gm.graph.find_nodes(op="call_method")]:
        raise Error(
            f"Inductor compiles calls of operators, and passes left a {node.op} of {node.target!r}",
            node=node.format_node() or "",
            hint="have them call the operators, or run the graph with 'then': 'eager'",
        )


@contextlib.contextmanager
def _constants_allowed(mode: FakeTensorMode | None) -> Iterator[None]:
    """Inductor looks at the graph with fake tensors; constants that passes registered are real."""
    if mode is None:
        yield
        return
    before = mode.allow_non_fake_inputs
    mode.allow_non_fake_inputs = True
    try:
        yield
    finally:
        mode.allow_non_fake_inputs = before


def _as_boxed(compiled: Any) -> Boxed:
    return compiled if getattr(compiled, "_boxed_call", False) else _boxed(compiled)


def register() -> None:
    """Makes the backend known by name, where no installed package's entry point has done so."""
    from torch._dynamo.backends import registry

    if registry._COMPILER_FNS.get("winze") is None:
        registry.register_backend(winze_backend, name="winze")
