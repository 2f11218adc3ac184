"""Comments of real files: those that the formats' own grammars see, and no others."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_toml

from octoc.compiler.policy.comments import commented
from octoc.compiler.read.fences import split
from octoc.compiler.read.frontmatter import front_matter_positions
from octoc.compiler.read.yaml import YamlError, parse_yaml


def _nodes(node: Any) -> Iterator[Any]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.children)


def _without(text: str, kind: str) -> str:
    for start, end in reversed(commented(text, kind).comments):
        text = text[:start] + text[end:]
    return text


def test_toml_comments_are_those_of_the_grammar(realworld: Path) -> None:
    """In every real TOML file the comments are exactly those that tree-sitter's grammar finds."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
    seen = 0
    for path in sorted((realworld / "octomind-tap").rglob("*.toml")):
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        data = text.encode()
        tree = parser.parse(data)
        if tree.root_node.has_error:
            continue
        expected = sorted(
            data[node.start_byte : node.end_byte].decode() for node in _nodes(tree.root_node) if node.type == "comment"
        )
        assert sorted(text[start:end] for start, end in commented(text, "toml").comments) == expected, path
        assert tomllib.loads(_without(text, "toml")) == tomllib.loads(text), path
        seen += len(expected)
    assert seen > 100


def test_front_matter_means_the_same_without_its_comments(realworld: Path) -> None:
    """Removing the comments of real front matter changes no value."""
    seen = 0
    for path in sorted(realworld.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        parts = split(text)
        if parts is None or front_matter_positions(text) is None:
            continue
        try:
            value = parse_yaml(text[parts.start : parts.end]).value
        except YamlError:
            continue  # read leniently, where `#` may be text
        bare = _without(text, "md")
        after = split(bare)
        assert after is not None, path
        assert parse_yaml(bare[after.start : after.end]).value == value, path
        seen += 1
    assert seen > 50
