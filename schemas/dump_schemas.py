#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operator table of the installed torch: `schemas/torch-VERSION.schemas`.

    dump_schemas.py            writes the file beside this script
    dump_schemas.py --check    fails when that file is not what would be written

README.md tells the format. Operators of the dispatcher and of TorchScript come from torch itself. The
callables that have no schema there (higher-order operators, functions on symbolic scalars, a few Python
functions that export leaves in a graph) are in `pseudo_schemas.py`, and are checked against the Python
signatures of the installed torch.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from pseudo_schemas import FUNCTIONS, HIGHER_ORDER, IGNORED_HIGHER_ORDER, SYMBOLIC

# Modules that register operators when imported. Those of another release may lack some: a table is reviewed by its
# diff, so that a namespace that vanished is seen.
REGISTERING_MODULES = [
    "torch._dynamo",
    "torch._dynamo._trace_wrapped_higher_order_op",
    "torch._export.serde.serialize",
    "torch._export.wrappers",
    "torch._functorch.autograd_function",
    "torch._functorch.predispatch",
    "torch._functorch.vmap",
    "torch._inductor.compile_fx",
    "torch._inductor.fx_passes.control_dependencies",
    "torch._inductor.inductor_prims",
    "torch._inductor.kernel.flex.common",
    "torch._inductor.lowering",
    "torch._inductor.quantized_lowerings",
    "torch._prims",
    "torch._prims.debug_prims",
    "torch._prims.rng_prims",
    "torch.ao.quantization.fx._decomposed",
    "torch.distributed._functional_collectives",
    "torch.distributed._symmetric_memory",
    "torch.distributed.tensor",
    "torch.distributed.fsdp._fully_shard._fsdp_collectives",
    "torch.export.custom_ops",
    "torch.onnx.ops",
    "torch.utils.checkpoint",
    "torch.utils.flop_counter",
]

# Namespaces of operators that can stand in an exported or lowered program.
NAMESPACES = {
    "_c10d_functional",
    "_c10d_functional_autograd",
    "_dtensor",
    "_quantized",
    "aten",
    "c10d",
    "c10d_functional",
    "debugprims",
    "export",
    "flex_lib",
    "fsdp",
    "inductor",
    "inductor_prims",
    "mkl",
    "mkldnn",
    "mkldnn_prepacked",
    "onednn",
    "onnx",
    "onnx_symbolic",
    "prim",
    "prims",
    "profiler",
    "quantization",
    "quantized",
    "quantized_decomposed",
    "rngprims",
    "sparse",
    "streams",
    "symm_mem",
}


def import_registering_modules() -> None:
    """Imports all that registers operators, as far as this build of torch has it."""
    names = list(REGISTERING_MODULES)
    package = importlib.import_module("torch._higher_order_ops")
    names += [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"dump_schemas: left out: {name}: {error}", file=sys.stderr)


def tag_names(tags: Any) -> list[str]:
    """The names of an operator's tags, sorted."""
    return sorted(str(tag).rpartition(".")[2] for tag in tags)


def sort_alias_sets(schema: str) -> str:
    """The schema with `(b|a)` as `(a|b)`: torch prints alias sets in the order of a hash table."""
    return re.sub(r"\((\w+(?:\|\w+)+)\)", lambda match: f"({'|'.join(sorted(match[1].split('|')))})", schema)


def dispatcher_lines() -> Iterator[str]:
    """A line for every operator that torch has a schema for."""
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace not in NAMESPACES:
            continue
        found = torch._C._get_operation_overload(schema.name, schema.overload_name)
        tags = tag_names(found[2]) if found is not None else []
        yield sort_alias_sets(str(schema)) + (f" [{', '.join(tags)}]" if tags else "")


def argument_names(schema: str) -> list[str]:
    """The argument names of a pseudo schema, in order; `...` as itself."""
    inside = re.fullmatch(r"[^(]*\((.*)\) -> .*", schema)
    assert inside, schema
    parts = [part.strip() for part in inside[1].split(", ")]
    return [part.split("=")[0].split(" ")[-1] for part in parts if part not in ("", "*")]


def check_signature(schema: str, function: Callable[..., Any], skip: int) -> None:
    """Fails when a pseudo schema has other arguments than the Python signature."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except ValueError:  # a C function without a signature: nothing to check against
        return
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    expected = [parameter.name for parameter in parameters if parameter.kind not in variadic]
    if any(parameter.kind in variadic for parameter in parameters):
        expected.append("...")
    if argument_names(schema) != expected:
        sys.exit(f"dump_schemas: `{schema}` has other arguments than torch: {', '.join(expected)}")


def find_function(qualified: str) -> Callable[..., Any]:
    """The Python function of that name, which is also the target that export writes for it."""
    module, _, name = qualified.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    written = f"{function.__module__}.{function.__name__}"
    if written != qualified:
        sys.exit(f"dump_schemas: export writes `{written}` for `{qualified}`")
    return function


def pseudo_lines() -> Iterator[str]:
    """A line for every callable without a schema of its own, checked against its Python signature."""
    known = dict(torch._ops._higher_order_ops)
    for schema in HIGHER_ORDER:
        name = schema.partition("(")[0].removeprefix("higher_order::")
        if name not in known:
            print(f"dump_schemas: left out: torch has no higher-order operator {name}", file=sys.stderr)
            continue
        operator = known.pop(name)
        call = type(operator).__call__
        if name != "map_impl":  # takes anything in Python; its arguments are those of map_dense and others
            check_signature(schema, call, skip=1)
        yield f"{schema} [higher_order]"
    unlisted = sorted(set(known) - IGNORED_HIGHER_ORDER)
    if unlisted:
        sys.exit(f"dump_schemas: pseudo_schemas.py does not know the higher-order operators {', '.join(unlisted)}")
    for table, tag in ((SYMBOLIC, "symbolic"), (FUNCTIONS, "function")):
        for schema in table:
            name = schema.partition("(")[0].replace("::", ".")
            try:
                function = find_function(name)
            except (AttributeError, ImportError) as error:
                print(f"dump_schemas: left out: {error}", file=sys.stderr)
                continue
            check_signature(schema, function, skip=0)
            yield f"{schema} [{tag}]"


def check_symbolic_is_complete() -> None:
    """Fails when export can write a function on symbolic scalars that the table does not have."""
    from torch._export.serde.serialize import _SYM_OPS
    from torch.fx.experimental.sym_node import METHOD_TO_OPERATOR

    listed = {schema.partition("(")[0].replace("::", ".") for schema in SYMBOLIC}
    for function in [*_SYM_OPS, *METHOD_TO_OPERATOR.values()]:
        if isinstance(function, types.LambdaType) and function.__name__ == "<lambda>":
            continue
        name = f"{function.__module__}.{function.__name__}"
        if name not in listed:
            sys.exit(f"dump_schemas: pseudo_schemas.py does not know the symbolic function {name}")


def table_text() -> str:
    """The whole table as text."""
    import_registering_modules()
    check_symbolic_is_complete()
    lines = sorted(set(dispatcher_lines()) | set(pseudo_lines()), key=lambda line: line.partition("(")[0])
    version = torch.__version__.partition("+")[0]
    header = [
        "# Operator schemas; written by dump_schemas.py, format in README.md.",
        f"# torch {version}",
    ]
    return "\n".join(header + lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    arguments = parser.parse_args()
    path = Path(__file__).parent / f"torch-{torch.__version__.partition('+')[0]}.schemas"
    text = table_text()
    if not arguments.check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"dump_schemas: {path.name} is not up to date: run dump_schemas.py and review what it changes")


if __name__ == "__main__":
    main()
