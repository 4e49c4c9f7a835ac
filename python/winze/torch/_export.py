# SPDX-License-Identifier: Apache-2.0
"""Lowering exported programs in memory."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from typing import Any

import torch
from torch import fx
from torch._export.passes.lift_constants_pass import ConstantAttrMap, lift_constants_pass
from torch._export.verifier import SpecViolationError
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, OutputSpec

from winze._error import Error
from winze.torch._fake import attribute
from winze.torch._pipeline import Pipeline, current_pipeline
from winze.torch._run import run_pipeline


def lower(exported_program: ExportedProgram, *, passes: Any = None) -> ExportedProgram:
    """A lowered copy of an exported program; the one given stays as it is, and weights are shared.

    `passes` is a text, a function over torch.fx, or a list of these; without it the list in force runs. Inputs and
    outputs keep their number and roles. Raises winze.Error that names the pass which failed.
    """
    if not isinstance(exported_program, ExportedProgram):
        raise TypeError(f"an ExportedProgram is lowered here, not {type(exported_program).__name__}")
    entries = (current_pipeline() if passes is None else Pipeline(passes)).entries
    with warnings.catch_warnings():
        # Copying a tree spec makes PyTorch warn of its own class.
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        gm = copy.deepcopy(exported_program.graph_module)
    gm.meta.update(exported_program.graph_module.meta)
    inputs = [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]
    calls = _ModuleCalls(exported_program, gm)
    lowered = run_pipeline(gm, inputs, entries, keep_signature=True, only_operators=True)
    calls.release(lowered)
    _place_in_modules(lowered)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        signature = _signature_of(exported_program, lowered)
        constants = _lift_constants(lowered, signature)
        try:
            result = exported_program._update(
                lowered, signature, constants={**exported_program.constants, **constants} if constants else None
            )
        except SpecViolationError as error:
            raise Error(f"the lowered program is none that torch.export accepts: {error}") from error
    calls.rename_in(result)
    return result


class _ModuleCalls:
    """The values that preserved signatures of modules name. While passes run the graph returns them too, so that none
    is dropped, and what replaces one is known afterwards."""

    def __init__(self, exported_program: ExportedProgram, gm: fx.GraphModule) -> None:
        self._scopes: dict[str, list[str]] = {}  # name of a value to the modules that name it as their result
        names: set[str] = set()
        for entry in exported_program.module_call_graph:
            if entry.fqn and entry.signature is not None:
                outputs = [getattr(one, "name", "") for one in entry.signature.outputs]
                names.update(outputs, (getattr(one, "name", "") for one in entry.signature.inputs))
                for name in outputs:
                    self._scopes.setdefault(name, []).append(entry.fqn)
        self._placeholders = [node.name for node in gm.graph.find_nodes(op="placeholder")] if names else []
        self._named = [node for node in gm.graph.nodes if node.name in names and node.op == "call_function"]
        self._old_names = [node.name for node in self._named]
        self._new_names: dict[str, str] = {}
        if self._named:
            output = gm.graph.output_node()
            output.args = ((*_returned(output), *self._named),)

    def release(self, gm: fx.GraphModule) -> None:
        """Takes the additional results away again."""
        self._new_names.update(
            zip(self._placeholders, (node.name for node in gm.graph.find_nodes(op="placeholder")), strict=False)
        )
        if not self._named:
            return
        output = gm.graph.output_node()
        returned = _returned(output)
        output.args = (tuple(returned[: -len(self._named)]),)
        gm.recompile()
        for old, node in zip(self._old_names, returned[-len(self._named) :], strict=True):
            for module in self._scopes.get(old, []):
                if not isinstance(node, fx.Node) or not _is_in(node, module):
                    raise Error(
                        f"module {module!r} has a preserved signature that names %{old}, which a pass took out of it",
                        hint="export without preserve_module_call_signature for it, or leave that pass out",
                    )
            self._new_names[old] = node.name

    def rename_in(self, exported_program: ExportedProgram) -> None:
        for entry in exported_program.module_call_graph:
            if entry.fqn and entry.signature is not None:
                for given in (entry.signature.inputs, entry.signature.outputs):
                    given[:] = [self._renamed(one) for one in given]

    def _renamed(self, argument: Any) -> Any:
        new = self._new_names.get(getattr(argument, "name", ""))
        return argument if new is None else dataclasses.replace(argument, name=new)


def _returned(output: fx.Node) -> tuple[Any, ...]:
    returned = output.args[0]
    assert isinstance(returned, tuple | list)
    return tuple(returned)


def _is_in(node: fx.Node, module: str) -> bool:
    """Whether a node stands in a module or one below; the second call of a module ``inner`` is ``inner@1``."""
    stack = node.meta.get("nn_module_stack", {})
    paths = [path + "".join(key.partition("@")[1:]) for key, (path, _) in stack.items()]
    return not paths or module in paths


def _place_in_modules(gm: fx.GraphModule) -> None:
    """Says of calls that passes made which module they are in: that of the call before them, else after them, else the
    root.

    `torch.export.unflatten` wants to know of each, and that calls of a module stand together.
    """
    calls = [node for node in gm.graph.nodes if node.op == "call_function"]
    stacks = [node.meta.get("nn_module_stack") for node in calls]
    known = next((stack for stack in stacks if stack), {"": ("", "torch.nn.modules.module.Module")})
    for node, stack in zip(calls, stacks, strict=True):
        if stack:
            known = stack
        else:
            node.meta["nn_module_stack"] = dict(known)


def _lift_constants(gm: fx.GraphModule, signature: ExportGraphSignature) -> dict[str, Any]:
    """Makes tensors that passes put into the module inputs of the program, as export does; gives them by name."""
    added = [
        node for node in gm.graph.find_nodes(op="get_attr") if isinstance(attribute(gm, str(node.target)), torch.Tensor)
    ]
    if not added:
        return {}
    for node in added:
        node.meta.setdefault("nn_module_stack", {})  # taken away again
    lifted: dict[str, Any] = lift_constants_pass(gm, signature, ConstantAttrMap())
    return lifted


def _signature_of(exported_program: ExportedProgram, gm: fx.GraphModule) -> ExportGraphSignature:
    """The signature with the names that inputs and outputs have now; roles go by position."""
    signature = exported_program.graph_signature
    placeholders = gm.graph.find_nodes(op="placeholder")
    outputs = gm.graph.output_node().args[0]
    assert isinstance(outputs, tuple | list)
    renamed = {spec.arg.name: node.name for spec, node in zip(signature.input_specs, placeholders, strict=True)}
    input_specs = [
        dataclasses.replace(spec, arg=dataclasses.replace(spec.arg, name=renamed[spec.arg.name]))
        for spec in signature.input_specs
    ]
    output_specs = [_renamed(spec, node, renamed) for spec, node in zip(signature.output_specs, outputs, strict=True)]
    return ExportGraphSignature(input_specs=input_specs, output_specs=output_specs)


def _renamed(spec: OutputSpec, node: Any, inputs: dict[str, str]) -> OutputSpec:
    arg = spec.arg
    if isinstance(node, fx.Node) and hasattr(arg, "name"):
        arg = dataclasses.replace(arg, name=node.name)
    target = inputs.get(spec.target, spec.target) if spec.target is not None else None
    return dataclasses.replace(spec, arg=arg, target=target)
