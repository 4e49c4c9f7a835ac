# SPDX-License-Identifier: Apache-2.0
"""Winze's clean-up passes as users of torch.fx write them, and the job of running them on a file.

Each pass is a function of a graph that says whether it changed anything, in the words that torch.fx and Winze's native
graph share, so that it runs over either. One that changed a torch.fx graph is followed by dead-code elimination, lint
and recompile, which is the usual practice.
"""

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

aten = torch.ops.aten
Pass = Callable[[Any], bool]


def calls(graph: Graph, targets: Iterable[Any]) -> list[Node]:
    return [node for target in targets for node in graph.find_nodes(op="call_function", target=target)]


def call_like(graph: Graph, target: Any, args: Any, kwargs: Any, like: Node) -> Node:
    """A new call that yields what another node yields."""
    if not isinstance(graph, Graph):
        return graph.call_function(target, args, kwargs, like=like)
    made = graph.call_function(target, args, kwargs)
    made.meta = dict(like.meta)
    return made


def replace(graph: Graph, node: Node, by: Any) -> None:
    node.replace_all_uses_with(by)
    graph.erase_node(node)


def same_tensor(a: Any, b: Any) -> bool:
    """Whether two nodes yield tensors of one dtype, device, sizes and strides."""
    if not hasattr(a, "meta"):
        return False
    x, y = a.meta.get("val"), b.meta.get("val")
    if not hasattr(x, "stride") or not hasattr(y, "stride"):
        return False
    return bool(x.dtype == y.dtype and x.device == y.device and x.shape == y.shape and x.stride() == y.stride())


def writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is None or bool(schema.is_mutable)


def returned(graph: Graph) -> set[Node]:
    return set(graph.output_node().all_input_nodes)


def repair_input_as_output(graph: Graph) -> bool:
    output = graph.output_node()
    found = [n for n in output.all_input_nodes if n.op == "placeholder"]
    for placeholder in found:
        with graph.inserting_before(output):
            copy = call_like(graph, aten.clone.default, (placeholder,), {}, placeholder)
        output.replace_input_with(placeholder, copy)
    return bool(found)


def body_of(graph: Graph, call: Node) -> Graph:
    """The graph that a call of wrap_with_set_grad_enabled runs."""
    body: Any = call.args[1]
    return getattr(graph.owning_module, body.target).graph if isinstance(graph, Graph) else body


def replace_results(graph: Graph, call: Node, results: Any) -> None:
    if isinstance(graph, Graph):
        for item in list(call.users):
            replace(graph, item, results[item.args[1]])
    else:
        for result, by in zip(call.results, results, strict=True):
            result.replace_all_uses_with(by)
    graph.erase_node(call)


def inline_no_grad_regions(graph: Graph) -> bool:
    found = calls(graph, [torch.ops.higher_order.wrap_with_set_grad_enabled])
    for call in found:
        body = body_of(graph, call)
        values = dict(zip(body.find_nodes(op="placeholder"), call.args[2:], strict=True))

        def mapped(argument: Any, values: Any = values) -> Any:
            if isinstance(argument, list | tuple):
                return type(argument)(map(mapped, argument))
            return values.get(argument, argument) if hasattr(argument, "meta") else argument

        with graph.inserting_before(call):
            for node in body.nodes:
                if node.op == "call_function":
                    kwargs = {key: mapped(value) for key, value in node.kwargs.items()}
                    values[node] = call_like(graph, node.target, mapped(node.args), kwargs, node)
        replace_results(graph, call, mapped(body.output_node().args[0]))
    return bool(found)


def remove_detach(graph: Graph) -> bool:
    found = calls(graph, [aten.detach.default])
    for node in found:
        replace(graph, node, node.args[0])
    return bool(found)


ASSERTIONS = (aten._assert_scalar.default, aten._assert_tensor_metadata.default)


def remove_assert_nodes(graph: Graph) -> bool:
    found = calls(graph, ASSERTIONS)
    for node in found:
        graph.erase_node(node)
    return bool(found)


CASTS = (aten.to.dtype, aten.to.dtype_layout, aten.to.device, aten.to.other, aten._to_copy.default)


def remove_no_op_casts(graph: Graph) -> bool:
    changed = False
    for node in calls(graph, CASTS):
        asks_for_more = "memory_format" in node.kwargs or "copy" in node.kwargs or len(node.args) > 3
        if not asks_for_more and same_tensor(node.args[0], node):
            replace(graph, node, node.args[0])
            changed = True
    return changed


VIEWS = (
    aten.view.default,
    aten.reshape.default,
    aten.flatten.using_ints,
    aten.expand.default,
    aten.slice.Tensor,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.alias.default,
)


def remove_no_op_views(graph: Graph) -> bool:
    kept = returned(graph)
    changed = False
    for node in calls(graph, VIEWS):
        if node not in kept and same_tensor(node.args[0], node):
            replace(graph, node, node.args[0])
            changed = True
    return changed


def remove_no_op_clones(graph: Graph) -> bool:
    found = calls(graph, [aten.clone.default])
    if not found:
        return False
    written: set[Node] = set()
    for node in graph.nodes:
        if node.op == "call_function" and writes(node):
            written.update(node.all_input_nodes)
    kept = returned(graph)
    changed = False
    for node in found:
        source = node.args[0]
        if node in kept or node in written or source in written or node.kwargs:
            continue
        if same_tensor(source, node):
            replace(graph, node, source)
            changed = True
    return changed


LARGEST = 2**63 - 1


def eliminate_sym_min_max(graph: Graph) -> bool:
    """Slices with an open end give `sym_min(n, 2**63 - 1)`."""
    changed = False
    for node in calls(graph, [torch.sym_min]):
        for kept, other in (node.args, node.args[::-1]):
            if other == LARGEST and hasattr(kept, "meta"):
                replace(graph, node, kept)
                changed = True
                break
    return changed


def hashable(argument: Any) -> Hashable:
    if isinstance(argument, list | tuple):
        return tuple(map(hashable, argument))
    if isinstance(argument, dict):
        return tuple((k, hashable(v)) for k, v in argument.items())
    return type(argument), argument


def may_be_shared(node: Node) -> bool:
    if node.op != "call_function" or writes(node):
        return False
    tags = node.target.tags
    return torch.Tag.nondeterministic_seeded not in tags and bool(node.users)


def common_subexpressions(graph: Graph) -> bool:
    seen: dict[Hashable, Node] = {}
    changed = False
    for node in graph.nodes:
        if node.op == "call_function" and writes(node):
            seen.clear()
        if not may_be_shared(node):
            continue
        first = seen.setdefault((node.target, hashable(node.args), hashable(node.kwargs)), node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)
            changed = True
    return changed


def dead_code(graph: Graph) -> bool:
    return bool(graph.eliminate_dead_code())


# What `winze lower` runs when it is not told otherwise.
DEFAULT_PIPELINE: tuple[Pass, ...] = (
    remove_no_op_clones,
    common_subexpressions,
    dead_code,
)
# Everything; the native passes have the same names.
TEN_PASSES: tuple[Pass, ...] = (
    inline_no_grad_regions,
    remove_detach,
    remove_assert_nodes,
    remove_no_op_casts,
    remove_no_op_views,
    remove_no_op_clones,
    eliminate_sym_min_max,
    common_subexpressions,
    dead_code,
    repair_input_as_output,
)


def run_passes(module: GraphModule, passes: Iterable[Pass] = DEFAULT_PIPELINE) -> None:
    for each in passes:
        if each(module.graph):
            module.graph.eliminate_dead_code()
            module.graph.lint()
            module.recompile()


def lower(source: Path, target: Path) -> None:
    """The whole job, in Python: load, run the passes, save."""
    program = torch.export.load(source)
    run_passes(program.graph_module)
    torch.export.save(program, target)
