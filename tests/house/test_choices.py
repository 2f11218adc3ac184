"""Fixed sets of strings: a field that code compares with literals is a `Literal` or an enum, and not any text."""

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from octoc.compiler.model.settings import WorkspaceSettings

ROOT = Path(__file__).resolve().parents[2]
FEWEST = 2
"""The number of literals that make a set."""
ANY_TEXT = frozenset(["name", "path", "text", "key", "field", "message", "host", "method", "tool"])
"""Names of fields that hold any text in most classes; comparisons with literals are about single values of it."""
OPEN = {
    "AgentDialect.kind": "plugins add kinds of files",
    "SettingsDialect.kind": "plugins add kinds of files",
    "AgentEntry.type": "hosts have types of their own",
    "AgentOverview.type": "hosts have types of their own",
    "Alternative.kind": "a server's schema may name any type",
    "CheckTarget.kind": "plugins add kinds of files",
    "NearFile.kind": "plugins add kinds of files",
    "ContentPart.type": "a later revision of MCP may add some",
    "Dialect.kind": "plugins add kinds of files",
    "GraphServer.transport": "plugins add kinds of transports",
    "McpTransport.kind": "plugins add kinds of transports",
    "Package.registry": "a snapshot may name any",
    "RestResponse.kind": "a media type",
    "Retired.registry": "data names it",
    "Retired.state": "data names it",
    "ServerAddress.transport": "plugins add kinds of transports",
    "ServerTarget.transport": "plugins add kinds of transports",
}
"""Fields with an open set of values, although code compares them with some, and why."""


def fields(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (class, field) of each field of a public attrs class that is any text, or None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            for line in node.body if "attrs." in decorators else ():
                if isinstance(line, ast.AnnAssign) and ast.unparse(line.annotation) in ("str", "str | None"):
                    yield node.name, ast.unparse(line.target)


def compared(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (attribute, text) of each comparison of an attribute with a text that is a word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = [one for side in sides for one in (side.elts if isinstance(side, (ast.Tuple, ast.Set)) else [side])]
            words = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            for side in sides:
                if isinstance(side, ast.Attribute):
                    yield from ((side.attr, word) for word in words if word.replace("-", "_").isidentifier())


def any_text(trees: list[ast.Module]) -> set[str]:
    """Return `Class.field` of each field that is any text although code compares it with several words."""
    words = defaultdict(set)
    for tree in trees:
        for attribute, word in compared(tree):
            words[attribute].add(word)
    return {
        f"{owner}.{field}"
        for tree in trees
        for owner, field in fields(tree)
        if field not in ANY_TEXT and len(words[field]) >= FEWEST
    }


def choices(hint: Any) -> set[str]:
    """Return the values of a `Literal`, or of one or None."""
    found = {one for part in (hint, *get_args(hint)) for one in get_args(part)}
    return {one for one in found if isinstance(one, str)}


def test_a_field_with_a_fixed_set_of_values_is_no_text() -> None:
    """Each field that code compares with several words is a `Literal` or an enum, except the open ones."""
    files = [*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")]
    assert any_text([ast.parse(file.read_text(encoding="utf-8")) for file in files]) == set(OPEN)


def test_settings_have_the_values_of_the_schema() -> None:
    """Each key of `octoc.toml` with an `enum` in the schema has a field with the same values."""
    schema = json.loads((ROOT / "schemas" / "workspace.v1.json").read_text(encoding="utf-8"))
    checked = 0
    for section in attrs.fields(attrs.resolve_types(WorkspaceSettings)):
        properties = schema["properties"].get(section.name, {}).get("properties", {})
        for field in (
            attrs.fields(attrs.resolve_types(section.type))
            if section.type is not None and attrs.has(section.type)
            else ()
        ):
            words = properties.get(field.name, {}).get("enum")
            assert words is None or choices(field.type) == set(words), f"{section.name}.{field.name}"
            checked += words is not None
    assert checked > 5


@pytest.mark.parametrize("annotation, found", [("str", {"Server.state"}), ("Literal['up', 'down']", set())])
def test_a_text_with_a_fixed_set_of_values_is_found(annotation: str, found: set[str]) -> None:
    """The check sees a field of any class that two modules compare with a word each."""
    server = f"@attrs.frozen\nclass Server:\n    state: {annotation}\n    name: str"
    uses = ["server.state == 'up'\nserver.name in ('a', 'b')", "if one.state in {'down', 'failed'}: ..."]
    assert any_text([ast.parse(text) for text in (server, *uses)]) == found
    assert any_text([ast.parse(text) for text in (server, uses[0])]) == set()
