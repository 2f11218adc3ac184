"""From a value's place to its lines and columns. A file is parsed for positions once, when a diagnostic needs one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import lru_cache

import attrs

from octoc.compiler.read.fences import FENCE
from octoc.compiler.read.json import json_positions
from octoc.compiler.read.literals import ranges_of, verbatim_range
from octoc.compiler.read.nodes import Lines, Node, Positions, Range
from octoc.compiler.read.toml_positions import toml_positions
from octoc.diagnostics.model import Place, Span
from octoc.plugin.file_kinds import Converted, Syntax


@attrs.frozen(kw_only=True)
class _Parsed:
    text: str
    root: Node
    lines: Lines
    base: int
    kind: str

    def span(self, file: str, at: Range) -> Span:
        line, column = self.lines.line_column(at[0] + self.base)
        end_line, end_column = self.lines.line_column(at[1] + self.base)
        return Span(file=file, line=line, column=column, end_line=end_line, end_column=end_column)


class SpanIndex:
    """A `Locator` over files: call it with a place to get its span.

    Args:
        read_text: display path -> the text as it was read, or None when there is none (see `text.text_reader`).
    """

    def __init__(self, read_text: Callable[[str], str | None]) -> None:
        self._read_text = read_text
        self._parsed: dict[str, _Parsed | None] = {}
        self._learned: dict[str, tuple[str, Converted | None]] = {}

    def learn(self, file: str, syntax: Syntax, converted: Converted | None = None) -> None:
        """Take over what a file is written in, and where the values of a client's own form stand in it.

        A file may be of several kinds, of which one converts its values: the others keep that. One that takes it as
        plain lines has no values with places.
        """
        if syntax == "lines" and file in self._learned:
            return
        before = self._learned.get(file, ("", None))[1]
        self._learned[file] = ("md" if syntax == "markdown" else syntax, converted or before)
        self._parsed.pop(file, None)

    def __call__(self, place: Place) -> Span:
        """Return the span of `place`, of the nearest thing around it that exists, else of the file as a whole."""
        if not place.path:
            return Span(file=place.file)
        kind, converted = self._learned.get(place.file, (kind_of(place.file), None))
        if place.file not in self._parsed:
            text = self._read_text(place.file)
            self._parsed[place.file] = None if text is None else _parse(text, kind)
        if converted is not None and not place.as_written:
            place = attrs.evolve(place, path=converted.origin(place.path))
        parsed = self._parsed[place.file]
        return Span(file=place.file) if parsed is None or not place.path else _locate(parsed, place)


def locate(text: str, kind: str, place: Place) -> Span:
    """Return the span of `place` in `text`, which is `toml`, `json`, `yaml` or `md` (front matter). See `SpanIndex`."""
    parsed = _parse(text, kind)
    return Span(file=place.file) if parsed is None or not place.path else _locate(parsed, place)


def kind_of(display: str) -> str:
    """Return what a file is written in, by its ending: `toml`, `json`, `yaml`, `md`, or "" for all else."""
    ending = display.rpartition(".")[2].lower()
    known = {one: one for one in ("toml", "json", "yaml", "md")} | {"jsonc": "json", "yml": "yaml"}
    return known.get(ending, "")


def _parse(text: str, kind: str) -> _Parsed | None:
    positions: Positions | None = None
    base = 0
    if kind == "toml":
        positions = toml_positions(text)
    elif kind == "json":
        positions = json_positions(text)
    elif kind == "yaml":
        from octoc.compiler.read.yaml import positions_if_any  # loads PyYAML

        positions = positions_if_any(text)
    elif kind == "md":
        from octoc.compiler.read.frontmatter import front_matter_positions  # loads PyYAML

        found = front_matter_positions(text)
        positions, base = found or (None, 0)
    if positions is None:
        return None
    return _Parsed(text=text, root=positions.root, lines=Lines.of(text), base=base, kind=kind)


def _locate(parsed: _Parsed, place: Place) -> Span:
    node = parsed.root
    for depth, key in enumerate(place.path):
        child = node.children.get(key)
        if child is None:
            return _around(parsed, node, place, is_root=depth == 0)
        node = child
    at = node.value
    if place.part == "key" and node.key is not None:
        at = node.key
    elif place.within is not None and node.style:
        at = _within(parsed, node, place.within)
    return parsed.span(place.file, at)


def _around(parsed: _Parsed, node: Node, place: Place, *, is_root: bool) -> Span:
    if node.anchor is not None and not (is_root and parsed.kind == "md"):
        return parsed.span(place.file, node.anchor)
    if parsed.kind == "md":
        return Span(file=place.file, line=1, column=1, end_line=1, end_column=len(FENCE) + 1)
    return Span(file=place.file)


def _within(parsed: _Parsed, node: Node, within: Range) -> Range:
    start, end = node.value
    literal = parsed.text[start + parsed.base : end + parsed.base]
    verbatim = verbatim_range(literal, node.style)
    if verbatim is not None:
        first, last = (start + min(verbatim[0] + max(0, offset), verbatim[1]) for offset in within)
        return (end, end) if first == start + verbatim[1] else (first, max(first, last))
    characters = _characters(literal, node.style, parsed.kind)
    low = max(0, min(within[0], len(characters)))
    high = max(low, min(within[1], len(characters)))
    if low == len(characters):
        return (end, end)
    first = start + characters[low][0]
    return (first, first) if low == high else (first, start + characters[high - 1][1])


@lru_cache(maxsize=8)  # several findings in one long prompt are the rule, not the exception
def _characters(literal: str, style: str, kind: str) -> list[Range]:
    return ranges_of(literal, style, _meaning(literal, style, kind))


def _meaning(literal: str, style: str, kind: str) -> str:
    try:
        if kind == "json":
            value = json.loads(literal, strict=False)
        elif kind == "toml":
            value = tomllib.loads(f"v = {literal}")["v"]
        elif style == "plain":
            # As front matter's lenient reading has it; plain text says what it is.
            value = " ".join(piece.strip(" \t") for piece in literal.split("\n"))
        else:
            from octoc.compiler.read.yaml import parse_yaml

            # A block scalar's lines keep their own indentation, and so need a parent of less.
            value = parse_yaml(f"v: {literal}\n").value["v"]
    except (ValueError, KeyError):
        return literal
    return value if isinstance(value, str) else literal
