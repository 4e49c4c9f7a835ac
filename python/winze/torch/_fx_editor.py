# SPDX-License-Identifier: Apache-2.0
"""Edits of a torch.fx graph that the native writer asks for."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

from winze import _targets
from winze._metas import INHERITED
from winze.torch import _fake


class FxEditor:
    """Makes, changes, moves and erases nodes of one graph; the native writer calls its methods."""

    def __init__(self, gm: fx.GraphModule, mode: FakeTensorMode | None) -> None:
        self.gm = gm
        self.graph = gm.graph
        self.mode = mode
        self._lost: list[fx.Node] = []
        self._changed: list[fx.Node] = []
        self.is_nested = False

    def nested(self, gm: fx.GraphModule) -> FxEditor:
        """An editor for a graph nested in this one."""
        made = FxEditor(gm, self.mode)
        made.is_nested = True
        return made

    def resolve(self, name: str) -> Any:
        """The callable of an operator."""
        target = _targets.resolve(name)
        if isinstance(target, str):
            raise LookupError(f"operator {name} is not known to this PyTorch")
        return target

    def _behind(self, node: fx.Node | None) -> Any:
        """The place right after that node, or the first one, as a context."""
        return self.graph.inserting_before(next(iter(self.graph.nodes)) if node is None else node.next)

    def create(
        self,
        after: fx.Node | None,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        origin: fx.Node | None,
        name: str,
        notes: dict[str, Any],
    ) -> fx.Node:
        """A new call right after that node, or first; its metas come from `origin`."""
        with self._behind(after):
            node = self.graph.call_function(target, args, kwargs, name=name or None)
        self.describe(node, origin, notes)
        self._getitems_first(node)
        _fake.value_of_new(self.gm, node, self.mode)
        return node

    def describe(self, node: fx.Node, origin: fx.Node | None, notes: dict[str, Any]) -> None:
        """Says in a node's meta where it comes from."""
        if origin is not None and origin is not node:
            node.meta.update({key: origin.meta[key] for key in INHERITED if key in origin.meta})
        node.meta.update(notes)

    def rename(self, node: fx.Node, name: str) -> None:
        if name:
            node._rename(name)

    def placeholder(self, after: fx.Node | None, name: str, example: fx.Node | None) -> fx.Node:
        """A new input right after that node, or first; it yields what `example` does."""
        with self._behind(after):
            node = self.graph.placeholder(name or "input")
        if example is not None and "val" in example.meta:
            node.meta["val"] = example.meta["val"]
        return node

    def get_attr(self, after: fx.Node | None, target: str) -> fx.Node:
        """A new reference to an attribute right after that node, or first."""
        with self._behind(after):
            node = self.graph.get_attr(target)
        _fake.value_of_new(self.gm, node, self.mode)
        return node

    def yields_list(self, node: fx.Node) -> bool:
        return isinstance(node.meta.get("val"), list | tuple)

    def getitem(self, node: fx.Node, index: int) -> fx.Node:
        """Result `index` of a node that yields several, right behind it."""
        with self.graph.inserting_after(node):
            made = self.graph.call_function(operator.getitem, (node, index))
        made.meta.update({key: node.meta[key] for key in INHERITED if key in node.meta})
        _fake.value_of_new(self.gm, made, self.mode)
        return made

    def change(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Gives a call other arguments; nothing where they are the ones it has, as after edits that were undone."""
        self._set_arguments(node, args, kwargs)

    def change_inputs(self, node: fx.Node, values: list[Any]) -> None:
        """Gives a node other inputs in place of those it has, whatever structure they stand in."""
        given = iter(values)
        args = fx.node.map_arg(node.args, lambda one: self._next_input(one, given))
        kwargs = fx.node.map_arg(node.kwargs, lambda one: self._next_input(one, given))
        self._set_arguments(node, args, kwargs)

    def _set_arguments(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Sets them and notes whether the node's own value may differ now: mostly an input was replaced by one of
        equal meta."""
        same_args, same_kwargs = _same(node.args, args), _same(node.kwargs, kwargs)
        if same_args and same_kwargs:
            return
        before = _leaves(node)
        # torch.fx goes over all uses of a node at each assignment.
        if not same_args:
            node.args = args
        if not same_kwargs:
            node.kwargs = kwargs
        self._getitems_first(node)
        now = _leaves(node)
        is_same = len(before) == len(now) and all(
            old is new or _fake.same_value(old.meta.get("val"), new.meta.get("val"))
            for old, new in zip(before, now, strict=True)
        )
        if not is_same and node.op == "call_function":
            self._changed.append(node)

    def _next_input(self, old: fx.Node, given: Iterator[Any]) -> Any:
        value = old.meta.get("val", old.meta.get("example_value"))
        if isinstance(value, list | tuple):
            parts = [next(given) for _ in value]
            is_same = all(
                isinstance(part, fx.Node) and part.target is operator.getitem and part.args[0] is old for part in parts
            )
            return old if is_same else parts
        if old.op == "get_attr" and value is None and self._names_graph(old):
            return old
        return next(given)

    def _names_graph(self, node: fx.Node) -> bool:
        return isinstance(_fake.attribute(self.gm, str(node.target)), fx.GraphModule)

    def meta_changed(self, node: fx.Node) -> None:
        self._changed.append(node)

    def move_after(self, node: fx.Node, other: fx.Node | None) -> None:
        """Moves a node, and the getitems of it, right behind another."""
        if other is None:
            next(iter(self.graph.nodes)).prepend(node)
        else:
            other.append(node)
        last = node
        for user in list(node.users):
            if user.target is operator.getitem:
                last.append(user)
                last = user
        self._getitems_first(node)

    def _getitems_first(self, node: fx.Node) -> None:
        """Getitems, and what names a graph, stand where the source had them; where one is used earlier now, it goes to
        its producer, or before its user."""
        for one in node.all_input_nodes:
            if one < node:
                continue
            if one.target is operator.getitem:
                producer = one.args[0]
                assert isinstance(producer, fx.Node)
                producer.append(one)
            elif one.op == "get_attr":
                node.prepend(one)

    def lose(self, node: fx.Node) -> None:
        self._lost.append(node)

    def finish(self) -> None:
        """Erases what was lost, users before what they use, then brings the metas of changed nodes up to date."""
        lost = set(self._lost)
        for node in sorted(lost, reverse=True):
            inputs = node.all_input_nodes
            for user in list(node.users):  # whose own users went before
                if user.target is operator.getitem and not user.users:
                    self.graph.erase_node(user)
            self.graph.erase_node(node)
            # What names the graph that a call ran has no native node of its own.
            for one in inputs:
                if one.op == "get_attr" and not one.users and one not in lost and self._names_graph(one):
                    self.graph.erase_node(one)
        _fake.update_values(self.gm, self._changed, self.mode)
        if self.is_nested:
            self.gm.recompile()


def _same(a: Any, b: Any) -> bool:
    """Whether two arguments are the same: nodes by identity, numbers by type too."""
    if isinstance(a, fx.Node) or isinstance(b, fx.Node):
        return a is b
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


def _leaves(node: fx.Node) -> list[fx.Node]:
    """The nodes among the arguments, each as often as it stands there."""
    found: list[fx.Node] = []
    fx.node.map_arg((node.args, node.kwargs), lambda one: found.append(one) or one)  # type: ignore[func-returns-value]
    return found
