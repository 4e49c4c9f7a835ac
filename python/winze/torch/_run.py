# SPDX-License-Identifier: Apache-2.0
"""Running a list of passes over a torch.fx module."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.fx.passes.infra.pass_base import PassResult

from winze import _native
from winze._error import Error
from winze._log import logger
from winze._passes import loaded_plugins, pass_error, run_on_graph
from winze._report import PassReport, Report
from winze.torch import _fake
from winze.torch._fx_editor import FxEditor
from winze.torch._inline import inline_python_calls
from winze.torch._pipeline import Entry
from winze.torch._snapshot import UNKNOWN, Signature, Snapshot, signature_of

# Called after each step (one Python pass, or a run of native ones): the names of its passes, and the module.
AfterStep = Callable[[str, fx.GraphModule], None]

_vocabulary: _native.TorchVocabulary | None = None


def vocabulary() -> _native.TorchVocabulary:
    """What of PyTorch the native side recognizes; made once."""
    global _vocabulary
    if _vocabulary is None:
        _vocabulary = _native.TorchVocabulary()
    return _vocabulary


def run_pipeline(
    gm: fx.GraphModule,
    sample_inputs: Sequence[Any],
    entries: Sequence[Entry],
    *,
    keep_signature: bool = False,
    one_by_one: bool = False,
    recompile: bool = True,
    after_step: AfterStep | None = None,
    only_operators: bool = False,
) -> fx.GraphModule:
    """Runs passes over a module, consecutive ones of one kind over one representation.

    The module is edited in place where no pass returns another. With `keep_signature` the numbers of inputs and
    outputs must stay; `one_by_one` makes each pass a step of its own; without `recompile` the caller has to do it;
    `only_operators` refuses calls of anything else.
    Raises Error that names the pass which failed; the module is then as it was before that pass.
    """
    if not isinstance(gm, fx.GraphModule):
        raise TypeError(f"passes run over a torch.fx.GraphModule, not over {type(gm).__name__}")
    if not isinstance(sample_inputs, Sequence):
        raise TypeError(f"the sample inputs are a list of what the module is called with, not {sample_inputs!r:.80}")
    at = 0
    while at < len(entries):
        end = at + 1
        if not entries[at].is_fx and not one_by_one:
            while end < len(entries) and not entries[end].is_fx:
                end += 1
        step = entries[at:end]
        start = time.perf_counter()
        if step[0].is_fx:
            gm = _run_fx(gm, sample_inputs, step[0], keep_signature, only_operators)
        else:
            _run_native(gm, step, keep_signature)
        names = ", ".join(entry.name for entry in step)
        logger.debug("%s: %.2f ms", names, (time.perf_counter() - start) * 1e3)
        if after_step is not None:
            after_step(names, gm)
        at = end
    _fake.placeholders_first(gm.graph)
    if recompile:
        gm.recompile()
    return gm


@contextmanager
def _real_constants() -> Iterator[None]:
    """AOTAutograd compiles under its fake mode, where a constant that a pass makes would have no data."""
    with unset_fake_temporarily():
        yield


def _run_fx(
    gm: fx.GraphModule,
    sample_inputs: Sequence[Any],
    entry: Entry,
    keep_signature: bool,
    only_operators: bool,
) -> fx.GraphModule:
    """Runs a pass over torch.fx and checks what it gave back."""
    before = Snapshot(gm)
    _fake.placeholders_typed(gm, sample_inputs)
    mode = _fake.fake_mode_of(gm)
    signature = signature_of(gm) if keep_signature else None
    try:
        with _real_constants():
            result = entry.run(gm, sample_inputs)
        _check_result(entry.name, result, signature)
        changes = list(before.changes(result))
        for module, touched in changes:
            _lint(entry.name, module)
            _check_attributes(entry.name, module, touched)
            _check_arguments(entry.name, touched)
        if hasattr(result, "run_folding"):  # of torch.fx's const_fold, which waits for a call of the module itself
            with _real_constants():
                result.run_folding()
        _fake.keep_input_values(result, before.inputs())
        mode = mode or _fake.fake_mode_of(result)
        for module, touched in changes:
            _fake.update_values(module, touched, mode, partial(_refuse_call, entry.name))
            inline_python_calls(module, touched, only_operators=only_operators)
            if module is not result and touched:
                module.recompile()
        if signature is not None:
            _check_outputs(entry.name, result, signature)
    except Exception as error:
        before.restore()
        gm.recompile()
        if isinstance(error, Error) and error.pass_name == entry.name:
            raise
        raise pass_error(entry.name, error) from error
    except BaseException:
        before.restore()
        raise
    return result


def _refuse_call(name: str, node: fx.Node, error: Exception) -> None:
    """Refuses calls that cannot run."""
    reason = str(error).split("\n")[0]
    raise Error(
        f"pass {name} left an invalid graph: {node.target} cannot be called with these arguments: {reason}",
        node=node.format_node() or "",
        hint='meta["val"] of the nodes among them says what they are',
        pass_name=name,
    ) from error


def _lint(name: str, gm: fx.GraphModule) -> None:
    try:
        gm.graph.lint()
    except (RuntimeError, AssertionError) as error:
        raise Error(f"pass {name} left an invalid graph: {error}", pass_name=name) from error
    inputs: set[Any] = set()
    for node in gm.graph.find_nodes(op="placeholder"):
        if node.target in inputs:
            raise Error(
                f"pass {name} left an invalid graph: two placeholders are called {node.target}",
                node=node.format_node() or "",
                pass_name=name,
            )
        inputs.add(node.target)


def _check_attributes(name: str, gm: fx.GraphModule, touched: Sequence[fx.Node]) -> None:
    """Refuses constants without data, with which the graph cannot run."""
    for node in touched:
        if node.op == "get_attr" and "val" not in node.meta:
            try:
                held = _fake.attribute(gm, str(node.target))
            except AttributeError:
                raise Error(
                    f"pass {name} left an invalid graph: the module has no attribute {node.target!r}",
                    node=node.format_node() or "",
                    pass_name=name,
                ) from None
            if isinstance(held, FakeTensor):
                raise Error(
                    f"pass {name} left an invalid graph: the attribute {node.target!r} is a fake tensor, without data",
                    node=node.format_node() or "",
                    hint="make constants outside of a FakeTensorMode",
                    pass_name=name,
                )


def _check_arguments(name: str, touched: Sequence[fx.Node]) -> None:
    """Refuses tensors among the arguments of calls, which no graph can hold, and symbolic numbers, which are known to
    the compilation alone."""
    for node in touched:
        for leaf in torch.utils._pytree.tree_leaves((node.args, node.kwargs)):
            if isinstance(leaf, torch.Tensor):
                raise Error(
                    f"pass {name} left an invalid graph: a tensor is an argument",
                    node=node.format_node() or "",
                    hint="register it (gm.register_buffer) and give the call a node: gm.graph.get_attr",
                    pass_name=name,
                )
            if isinstance(leaf, torch.SymInt | torch.SymFloat | torch.SymBool):
                raise Error(
                    f"pass {name} left an invalid graph: the symbolic number {leaf} is an argument, and has no value "
                    "when the graph runs",
                    node=node.format_node() or "",
                    hint="give the call a node: gm.graph.materialize_symint(number), or sym_size.int of a tensor",
                    pass_name=name,
                )


def _check_outputs(name: str, gm: fx.GraphModule, before: Signature) -> None:
    """Whoever calls the compiled graph counts on the sizes and dtypes that were promised."""
    now = signature_of(gm)
    for index, (old, new) in enumerate(zip(before.outputs, now.outputs, strict=True)):
        is_lost = isinstance(old, torch.Tensor) and not isinstance(new, torch.Tensor) and new is not UNKNOWN
        if is_lost or _fake.has_other_sizes(old, new):
            raise Error(
                f"pass {name} changed result {index} of the graph from {_fake.described(old)} to "
                f"{_fake.described(new)}",
                hint="whoever calls the compiled graph counts on what it returned at first",
                pass_name=name,
            )


def _check_result(name: str, result: Any, signature: Signature | None) -> None:
    if result is None:
        raise Error(
            f"pass {name} returned nothing", hint="end it with `return gm`, or return another module", pass_name=name
        )
    if isinstance(result, PassResult):
        raise Error(
            f"pass {name} returned a PassResult instead of a torch.fx.GraphModule",
            hint="return its .graph_module",
            pass_name=name,
        )
    if not isinstance(result, fx.GraphModule):
        raise Error(
            f"pass {name} returned {type(result).__name__} instead of a torch.fx.GraphModule: {result!r:.80}",
            hint="end it with `return gm`, or return another module",
            pass_name=name,
        )
    outputs = len(result.graph.find_nodes(op="output"))
    if outputs != 1:
        raise Error(f"pass {name} left an invalid graph: it has {outputs} output nodes", pass_name=name)
    now = signature_of(result)
    if signature is not None and now.counts != signature.counts:
        raise Error(
            f"pass {name} changed the graph from {signature.inputs} inputs and {len(signature.outputs)} outputs "
            f"to {now.inputs} and {len(now.outputs)}",
            hint="whoever calls the compiled graph passes and expects what it had at first",
            pass_name=name,
        )


def _run_native(gm: fx.GraphModule, entries: Sequence[Entry], keep_signature: bool) -> None:
    """Runs passes over the native graph, converted once, and brings back what they changed."""
    _fake.placeholders_first(gm.graph)
    try:
        bridge = _native.FxBridge(vocabulary(), gm)
    except Error as error:
        raise pass_error(entries[0].name, error) from None
    try:
        _run_over(bridge, entries, keep_signature)
    finally:
        # A pass that failed took back its own edits; those before it stay.
        if bridge.is_edited:
            bridge.apply(FxEditor(gm, _fake.fake_mode_of(gm)))


def _run_over(bridge: _native.FxBridge, entries: Sequence[Entry], keep_signature: bool) -> None:
    at = 0
    while at < len(entries):
        graph_pass = entries[at].graph_pass
        if graph_pass is not None:
            with _real_constants():
                run_on_graph(graph_pass, bridge, keep_inputs=keep_signature)
            at += 1
            continue
        end = at
        while end < len(entries) and entries[end].native:
            end += 1
        text = ", ".join(entry.native for entry in entries[at:end])
        try:
            report = Report.from_json(bridge.run(text, loaded_plugins()))
        except Error as error:
            raise _named(error, entries[at:end]) from None
        _log(report)
        at = end


def _named(error: Error, entries: Sequence[Entry]) -> Error:
    """The manager's message begins with the pass; this sets the attribute too."""
    words = error.message.split(" ", 2)
    if len(words) > 1 and words[0] == "pass" and words[1] in [entry.name for entry in entries]:
        error.pass_name = words[1]
    return error


def _log(report: Report) -> None:
    one: PassReport
    for one in report.passes:
        logger.debug("%s", one)
    for warning in report.warnings:
        logger.warning("%s", warning)
