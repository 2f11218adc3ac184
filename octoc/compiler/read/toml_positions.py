"""Where everything in a TOML text stands, by tree-sitter's grammar."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from octoc.compiler.read.nodes import Duplicate, Node, Positions
from octoc.compiler.read.values import MAX_DEPTH
from octoc.diagnostics.model import KeyPath

if TYPE_CHECKING:
    import tree_sitter


def toml_positions(text: str) -> Positions:
    """Return where everything in a TOML text stands; of a text with errors, what the grammar could make of it.

    `toml_duplicates` has its duplicates: nothing inside a table is looked at before it is asked for.
    """
    return Positions(root=_Walk(text).root())


def toml_duplicates(text: str) -> tuple[Duplicate, ...]:
    """Return the keys that one table of a TOML text has twice."""
    walk = _Walk(text)
    pending = [walk.root()]
    while pending:
        pending.extend(pending.pop().children.values())
    return tuple(sorted(walk.duplicates, key=lambda duplicate: duplicate.second))


KEY_ROOT: KeyPath = ()
_OF_LINES = ('"""', "'''")


class _Walk:
    """Turns a syntax tree into a tree of positions.

    Offsets of the grammar are bytes, ours are code points. The grammar gets `?` for each other character than ASCII,
    which means as little in strings, in comments and elsewhere, and so both are the same.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.duplicates: list[Duplicate] = []
        self.defined: set[KeyPath] = set()

    def root(self) -> Node:
        document = _parser().parse(self.text.encode("ascii", "replace")).root_node
        root = Node(value=(0, len(self.text)))
        for child in document.named_children:
            if child.type == "pair":
                self.pair(child, root, ())
            elif child.type in ("table", "table_array_element"):
                self.table(child, root)
        return root

    def table(self, table: tree_sitter.Node, root: Node) -> None:
        keys = list(self.keys(next(iter(table.named_children))))
        closing = next((child for child in table.children if child.type in ("]", "]]")), table)
        header = (table.start_byte, closing.end_byte)
        is_array = table.type == "table_array_element"
        holder, path = root, KEY_ROOT
        for name, key in keys[:-1]:
            holder, path = self.enter(holder, path, name, key, header)
        name, key = keys[-1]
        known = holder.children.get(name)
        path = (*path, name)
        if is_array:
            array = known or holder.children.setdefault(name, Node(value=header, key=key, anchor=header))
            element = Node(value=header, key=key, anchor=header)
            path = (*path, len(array.children))
            array.children[len(array.children)] = element
            target = element
        elif known is None:
            target = holder.children[name] = Node(value=header, key=key, anchor=header)
            self.defined.add(path)
        else:
            target = known
            if path in self.defined:
                self.duplicates.append(Duplicate(path=path, first=known.key or known.value, second=key))
            else:
                # Until now it was there only through tables inside it; this header is its own.
                known.value, known.key, known.anchor = header, key, header
                self.defined.add(path)
        if target.children:
            self.pairs(table, path, target)  # it may have the same keys already
        else:
            target.later = partial(self.pairs, table, path)

    def pairs(self, table: tree_sitter.Node, path: KeyPath, target: Node) -> None:
        for child in table.named_children:
            if child.type == "pair":
                self.pair(child, target, path)

    def enter(
        self, holder: Node, path: KeyPath, name: str, key: tuple[int, int], header: tuple[int, int]
    ) -> tuple[Node, KeyPath]:
        """Step into `name`, made when it is not there; of an array of tables, into its last element."""
        node = holder.children.get(name)
        path = (*path, name)
        if node is None:
            node = holder.children[name] = Node(value=header, key=key, anchor=header)
        elif node.children and all(isinstance(index, int) for index in node.children):
            last = len(node.children) - 1
            return node.children[last], (*path, last)
        return node, path

    def pair(self, pair: tree_sitter.Node, holder: Node, path: KeyPath) -> None:
        named = [child for child in pair.named_children if child.type != "comment"]
        if len(named) != 2:
            return  # the grammar could not make sense of it
        keys = list(self.keys(named[0]))
        for name, key in keys[:-1]:
            holder, path = self.enter(holder, path, name, key, key)
        name, key = keys[-1]
        path = (*path, name)
        known = holder.children.get(name)
        if known is not None:
            self.duplicates.append(Duplicate(path=path, first=known.key or known.value, second=key))
            return
        node = holder.children[name] = self.value(named[1], path)
        node.key = key
        node.anchor = node.anchor or key
        self.defined.add(path)

    def value(self, node: tree_sitter.Node, path: KeyPath) -> Node:
        kind = node.type
        if kind == "string":
            return self.string(node)
        made = Node(value=(node.start_byte, node.end_byte))
        if len(path) > 2 * MAX_DEPTH:
            return made
        if kind == "array":
            made.anchor = (made.value[0], made.value[0] + 1)
            made.later = partial(self.elements, node, path)
        elif kind == "inline_table":
            made.anchor = made.value
            made.later = partial(self.pairs, node, path)
        return made

    def elements(self, array: tree_sitter.Node, path: KeyPath, target: Node) -> None:
        for index, child in enumerate(child for child in array.named_children if child.type != "comment"):
            target.children[index] = self.value(child, (*path, index))

    def string(self, node: tree_sitter.Node) -> Node:
        start = node.start_byte
        opening = self.text[start : start + 3]
        style = "escaped" if opening[:1] == '"' else "literal"
        return Node(value=(start, node.end_byte), style=f"{style}-lines" if opening in _OF_LINES else style)

    def keys(self, node: tree_sitter.Node) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield each part of a dotted key: its name and its range."""
        pending = [node]
        while pending:
            part = pending.pop()
            if part.type == "dotted_key":
                pending.extend(reversed(part.named_children))
                continue
            at = (part.start_byte, part.end_byte)
            written = self.text[slice(*at)]
            yield (_unquoted(written) if part.type == "quoted_key" else written), at


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter  # loaded when a diagnostic needs a position, not before
    import tree_sitter_toml

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))


def _unquoted(written: str) -> str:
    try:
        return next(iter(tomllib.loads(f"{written} = 0")))
    except ValueError:
        return written.strip("\"'")
