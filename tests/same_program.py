# SPDX-License-Identifier: Apache-2.0
"""Whether two loaded programs are the same, to the node, the weight's bit and the source line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import torch
import torch.utils._pytree as pytree

SERIALIZATION_ID = ".data/serialization_id"

COMPARED_META = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "custom")


def value_text(value: Any) -> str:
    """A fake tensor, symbolic number or container of such, with all that the file says of it."""
    if isinstance(value, torch.Tensor):
        return (
            f"{value.dtype} {tuple(value.shape)} {value.stride()} {value.storage_offset()} "
            f"{value.device} {value.layout} {value.requires_grad}"
        )
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(value_text, value))})"
    return repr(value)


def is_default(value: Any, formal: torch.Argument) -> bool:
    return formal.has_default_value() and repr(value) == repr(formal.default_value)


def node_text(node: torch.fx.Node) -> str:
    """Trailing arguments that spell out the schema's default are as good as left out."""
    target = node._pretty_print_target(node.target)
    args, kwargs = list(node.args), dict(node.kwargs)
    if isinstance(node.target, torch._ops.OpOverload):
        formal = node.target._schema.arguments
        while args and is_default(args[-1], formal[len(args) - 1]):
            args.pop()
        by_name = {argument.name: argument for argument in formal}
        kwargs = {name: value for name, value in kwargs.items() if not is_default(value, by_name[name])}
    return f"{node.op} {node.name} = {target} {args} {sorted(kwargs.items())}"


def node_meta_text(node: torch.fx.Node) -> str:
    lines = [f"val: {value_text(node.meta.get('val'))}"]
    lines += [f"{key}: {node.meta[key]!r}" for key in COMPARED_META if key in node.meta]
    lines += [f"from: {source.to_dict()}" for source in node.meta.get("from_node", ())]
    return "\n".join(lines)


def graphs(module: torch.fx.GraphModule, path: str = "") -> Iterator[tuple[str, torch.fx.Graph]]:
    """The graph and its nested graphs, each with the path of the module that holds it."""
    yield path, module.graph
    for name, child in module.named_children():
        if isinstance(child, torch.fx.GraphModule):
            yield from graphs(child, f"{path}.{name}")


def tensor_bits(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8)


def compare_tensors(what: str, a: dict[str, Any], b: dict[str, Any]) -> Iterator[str]:
    """Names, kinds, layouts, bits, and which of them share a storage."""
    if list(a) != list(b):
        yield f"{what}: names differ: {sorted(set(a) ^ set(b)) or 'in order'}"
        return
    owners: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for name in a:
        x, y = a[name], b[name]
        if type(x) is not type(y):
            yield f"{what} {name}: {type(y).__name__} instead of {type(x).__name__}"
        elif not isinstance(x, torch.Tensor):
            if not hasattr(x, "__obj_flatten__") and not isinstance(x, torch.ScriptObject) and x != y:
                yield f"{what} {name}: {y!r} instead of {x!r}"
        elif value_text(x) != value_text(y):
            yield f"{what} {name}: {value_text(y)} instead of {value_text(x)}"
        elif not torch.equal(tensor_bits(x), tensor_bits(y)):
            yield f"{what} {name}: elements differ"
        else:
            first, second = (
                owner.setdefault(t.untyped_storage()._cdata, name) for owner, t in zip(owners, (x, y), strict=True)
            )
            if first != second and x.numel():
                yield f"{what} {name}: shares the storage of {second} instead of {first}"


def compare_text(what: str, a: Any, b: Any) -> Iterator[str]:
    if str(a) != str(b):
        yield f"{what}:\n  {b}\ninstead of\n  {a}"


def compare_examples(a: Any, b: Any) -> Iterator[str]:
    first, second = (pytree.tree_leaves(x) for x in (a, b))
    yield from compare_tensors("example input", dict(enumerate_names(first)), dict(enumerate_names(second)))


def enumerate_names(values: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((str(i), v) for i, v in enumerate(values))


def differences(a: Any, b: Any) -> list[str]:
    """What differs in `b` from the program `a`; empty where they are the same."""
    found: list[str] = []
    first, second = dict(graphs(a.graph_module)), dict(graphs(b.graph_module))
    if list(first) != list(second):
        found.append(f"graphs {list(second)} instead of {list(first)}")
    for path in first.keys() & second.keys():
        x, y = list(first[path].nodes), list(second[path].nodes)
        if len(x) != len(y):
            found.append(f"graph {path!r}: {len(y)} nodes instead of {len(x)}")
        for m, n in zip(x, y, strict=False):
            found += compare_text(f"graph {path!r}", node_text(m), node_text(n))
            found += compare_text(f"graph {path!r}: {m.name}", node_meta_text(m), node_meta_text(n))
    found += compare_text("signature", a.graph_signature, b.graph_signature)
    found += compare_text("ranges", a.range_constraints, b.range_constraints)
    found += compare_text("module calls", a.module_call_graph, b.module_call_graph)
    found += compare_text("call specs", a.call_spec, b.call_spec)
    found += compare_text("guards", getattr(a, "_guards_code", None), getattr(b, "_guards_code", None))
    found += compare_text("dialect", a.dialect, b.dialect)
    found += compare_tensors("weight", a.state_dict, b.state_dict)
    found += compare_tensors("constant", a.constants, b.constants)
    found += compare_examples(a.example_inputs, b.example_inputs)
    return found


def records(path: Path) -> dict[str, Any]:
    """What a `.pt2` holds, by name without the root folder: JSON as its values, the rest as bytes."""
    contents: dict[str, Any] = {}
    with ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            contents[name.partition("/")[2]] = json.loads(content) if name.endswith(".json") else content
    contents.pop(SERIALIZATION_ID, None)  # a hash, which each writer makes its own way
    return contents


def load_the_same(first: Path, second: Path) -> list[str]:
    """How two files differ as PyTorch loads them, which takes seconds unless they hold the same records."""
    if records(first) == records(second):
        return []
    return differences(torch.export.load(first), torch.export.load(second))
