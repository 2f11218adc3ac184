"""JSON as people write it: values from `json`, positions from its tokens; comments and trailing commas are reported."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Literal

import attrs

from octoc.compiler.read.fences import FILLED_IN
from octoc.compiler.read.nodes import (
    Duplicate,
    Node,
    Positions,
    Range,
    offset_to_line_column,
    report_duplicates,
    span_of,
)
from octoc.compiler.read.values import MAX_DEPTH, sound
from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import read as rules

Comments = Literal["refused", "allowed", "own"]

# Possessive throughout: a file can be all comments, and nothing here may ever be tried twice.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/"
_TOKEN = re.compile(
    rf'"(?:[^"\\\n]|\\.)*+"?|(?P<comment>{_COMMENT})|(?P<comma>,)(?=(?:\s|{_COMMENT})*+[\]}}])|[\[{{\]}}]'
)
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[\[\]{},:]|[^\s\[\]{},:"]++')
_WORDS = {
    "Expecting value": "expected a value",
    "Expecting ',' delimiter": "expected `,` or the closing bracket",
    "Expecting ':' delimiter": "expected `:` after the key",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Extra data": "expected the end of the file, found more text",
    "Unterminated string starting at": 'expected a closing `"` for the string that starts here',
    "Invalid control character at": "expected an escape such as `\\n` in place of a control character",
    "Invalid \\escape": "expected one of the escapes of JSON behind `\\`",
    "Invalid \\uXXXX escape": "expected four hexadecimal digits behind `\\u`",
    "Invalid \\escape: ": "expected one of the escapes of JSON behind `\\`",
}


def read_json(
    text: str, place: Place, sink: DiagnosticSink, *, comments: Comments = "refused"
) -> dict[str, Any] | None:
    """Return the values of a JSON file; report and return None when it has none, or is not an object.

    Comments and trailing commas are read. They are an error where the file's client refuses them, and information where
    it reads them and other clients do not; a file that is one client's own may have them. A key that is there twice
    has its first value, and the error says both places. Numbers that are not finite and half surrogate pairs are left
    out.
    """
    try:
        decoded = _decode(text)
        if isinstance(decoded.failure, json.JSONDecodeError):
            strict = relax(text)
            if comments != "refused" and not strict.text.strip():
                message = "the file has only comments, so it sets nothing"
                sink.report(rules.EMPTY_FILE, message, at=_point(text, place, 0), severity=Severity.INFO)
                return None
            if strict.text != text:
                decoded = _decode(strict.text)
            if decoded.failure is None and comments != "own":
                _report_relaxed(strict, text, place, sink, allowed=comments == "allowed")
    except RecursionError:
        offset = _too_deep_at(text)
        sink.report(
            rules.TOO_DEEP, f"more than {MAX_DEPTH} lists and objects inside each other", at=_point(text, place, offset)
        )
        return None
    if decoded.failure is not None:
        _report_syntax(decoded.failure, text, place, sink)
        return None
    if not isinstance(decoded.value, dict):
        sink.report(rules.JSON_SYNTAX, "expected an object, `{…}`, as the whole file", at=_point(text, place, 0))
        return None
    if decoded.twice:
        note = "programs differ in which of the two they use; octoc uses the first"
        twice = json_positions(text).duplicates
        report_duplicates(twice, text, place, sink, note, severity_of_same=Severity.INFO)
    return sound(decoded.value, place, sink)


def json_positions(text: str) -> Positions:
    """Return where everything in a JSON text stands, comments and trailing commas allowed."""
    return _Scan(relax(text).text).positions()


@attrs.frozen(kw_only=True)
class RelaxedJson:
    """A text with comments and trailing commas blanked, every offset as it was; and where the first of each stood."""

    text: str
    comment: Range | None
    comma: Range | None


def relax(text: str) -> RelaxedJson:
    """Return `text` as strict JSON would have it, as far as comments and trailing commas go."""
    found: dict[str, Range] = {}

    def blank(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind is None:
            return match.group()
        found.setdefault(kind, match.span())
        return re.sub(r"[^\n]", " ", match.group())

    blanked = _TOKEN.sub(blank, text)
    return RelaxedJson(text=blanked, comment=found.get("comment"), comma=found.get("comma"))


@attrs.frozen(kw_only=True)
class _Decoded:
    value: Any = None
    failure: json.JSONDecodeError | None = None
    twice: bool = False


def _decode(text: str) -> _Decoded:
    twice = False

    def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        made = dict(pairs)
        if len(made) != len(pairs):
            twice = True
            made = dict(reversed(pairs))
            made = {key: made[key] for key, _ in pairs}
        return made

    def constant(_: str) -> float:
        return math.nan  # `sound` reports it with its place

    try:
        value = json.loads(text, object_pairs_hook=first_wins, parse_constant=constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        return _Decoded(failure=error)
    return _Decoded(value=value, twice=twice)


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return math.inf  # more digits than int() reads; `sound` reports it with its place


def _report_relaxed(strict: RelaxedJson, text: str, place: Place, sink: DiagnosticSink, *, allowed: bool) -> None:
    for what, at in (("a comment", strict.comment), ("a trailing comma", strict.comma)):
        if at is None:
            continue
        reads = "other clients refuse the file" if allowed else "the client of this file refuses it"
        sink.report(
            rules.NOT_STRICT_JSON,
            f"{what} is not JSON: {reads}",
            at=span_of(text, place.file, at),
            help=f"delete {what.removeprefix('a ')}s",
            severity=Severity.INFO if allowed else None,
        )


def _report_syntax(error: json.JSONDecodeError, text: str, place: Place, sink: DiagnosticSink) -> None:
    if error.pos >= len(text.rstrip()) and error.msg != "Extra data":
        message = "the file ends too early: " + _WORDS.get(error.msg, error.msg.lower())
    else:
        message = _WORDS.get(error.msg, error.msg[:1].lower() + error.msg[1:])
    line = text[text.rfind("\n", 0, error.pos) + 1 :].partition("\n")[0]
    is_template = FILLED_IN.search(line) is not None
    sink.report(
        rules.JSON_SYNTAX,
        "the file is a template, which octoc does not fill in" if is_template else f"not JSON: {message}",
        at=_point(text, place, _missing_at(text, error)),
        help=None if is_template else "correct it there: nothing in the file is read until then",
        severity=Severity.INFO if is_template else None,
    )


def _missing_at(text: str, error: json.JSONDecodeError) -> int:
    """Return where an error stands: a comma, colon or bracket that is missing at the end of a line belongs there."""
    before = len(text[: error.pos].rstrip())
    is_missing = error.msg in ("Expecting ',' delimiter", "Expecting ':' delimiter")
    return before - 1 if is_missing and before and "\n" in text[before : error.pos] else error.pos


def _point(text: str, place: Place, offset: int) -> Span:
    # After the last character, point at what is there last.
    offset = min(offset, len(text.rstrip()))
    line, column = offset_to_line_column(text, offset)
    return Span(file=place.file, line=line, column=column, end_line=line, end_column=column + 1)


def _too_deep_at(text: str) -> int:
    depth = 0
    for match in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > MAX_DEPTH:
            return match.start()
    return 0


class _Scan:
    """Reads tokens into a tree of positions. Values before a syntax error still have their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = Node(value=(0, len(text)))
        self.stack: list[tuple[Node, KeyPath, bool]] = []
        self.key: tuple[str, Range] | None = None
        self.duplicates: list[Duplicate] = []

    def positions(self) -> Positions:
        for match in _PIECE.finditer(self.text):
            piece, at = match.group(), match.span()
            if piece in ("{", "["):
                node = Node(value=(at[0], len(self.text)), anchor=at)
                self.stack.append((node, self.add(node), piece == "{"))
            elif piece in ("}", "]"):
                if self.stack:
                    node, _, _ = self.stack.pop()
                    node.value = (node.value[0], at[1])
                self.key = None
            elif piece[0] == '"' and self.key is None and self.stack and self.stack[-1][2]:
                self.key = (_text_of(piece), at)
            elif piece not in (",", ":"):
                self.add(Node(value=at, style="escaped" if piece[0] == '"' else ""))
        return Positions(root=self.root, duplicates=tuple(self.duplicates))

    def add(self, node: Node) -> KeyPath:
        if not self.stack:
            self.root = node
            return ()
        holder, path, is_object = self.stack[-1]
        if not is_object:
            index = len(holder.children)
            holder.children[index] = node
            return (*path, index)
        name, at = self.key or ("", node.value)
        self.key = None
        known = holder.children.get(name)
        if known is not None:
            first = known.key or known.value
            is_same = node.anchor is None and self.text[slice(*known.value)] == self.text[slice(*node.value)]
            self.duplicates.append(Duplicate(path=(*path, name), first=first, second=at, is_same=is_same))
            return (*path, name)
        node.key = at
        node.anchor = at
        holder.children[name] = node
        return (*path, name)


def _text_of(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal.strip('"')
