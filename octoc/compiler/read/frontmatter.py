"""Front matter: the YAML between the first two `---` lines of a markdown file, and the text after it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import attrs

from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.copilot import COPILOT
from octoc.compiler.read.fences import FENCE, FILLED_IN, Split, opens, split
from octoc.compiler.read.nodes import Positions, offset_to_line_column, report_duplicates
from octoc.compiler.read.yaml import YamlError, YamlTree, parse_yaml
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import read as rules
from octoc.plain_text import shortened

_KEY = re.compile(r"([A-Za-z_][\w.-]*):[ \t]+(?=\S)")
# Two lists in one value, or a mark that begins no value.
_MARKED = re.compile(r"\[[^\[\]]*\][ \t]*[^\s#]|[@`%]|\*(?!\w)")
# Source: Claude Code 2.1: when YAML refuses front matter, it quotes each value with a mark, and reads again.
# A list of tools is lost so.
_FLOW = re.compile(rf"{_MARKED.pattern}|\[.*\][ \t]*\Z|\{{.*\}}[ \t]*\Z|\*")
_BLOCK = re.compile(r":[ \t]+[|>][-+0-9]*[ \t]*$", re.MULTILINE)
_TOP_KEY = re.compile(r"^[A-Za-z_][\w.-]*:(?=\s)", re.MULTILINE)
# Quotes around a value do not help.
_NOT_OF_VALUE = re.compile(r"end of stream|may not be in YAML|where a key is expected")
# A key whose colon has no space after it.
_GLUED = re.compile(r"^([A-Za-z_][\w-]*:)(?=[^\s:/])", re.MULTILINE)
_ITEM = re.compile(r"^ *- ", re.MULTILINE)
# A line of text that is not indented below its key.
_BARE_WORD = re.compile(r"\w+")
_MOST_SHOWN = 40
_LOOSE = re.compile(r"^[^\s#-]", re.MULTILINE)
# A value that starts with one of these is not a plain one.
_NOT_PLAIN = frozenset("\"'|>[]{}&*!#%@`,?")


@attrs.frozen(kw_only=True)
class FrontMatter:
    """Front matter's values and the text after it."""

    values: dict[str, Any]
    body: str


def read_front_matter(text: str, place: Place, sink: DiagnosticSink) -> FrontMatter | None:
    """Return front matter and body of a markdown file; report and return None when there is none that can be read.

    Plain values with `: `, which YAML refuses, are read as text, as the programs they are for do, and reported.
    """
    if not opens(text):
        line = text.partition("\n")[0]
        sink.report(
            rules.NO_FRONT_MATTER,
            f"expected `{FENCE}` as line 1",
            at=Span(file=place.file, line=1, column=1, end_line=1, end_column=len(line) + 1),
            help=f"start the file with front matter: `{FENCE}`, then `name: …` and `description: …`, then `{FENCE}`",
        )
        return None
    parts = split(text)
    if parts is None:
        reads_all = COPILOT.project_of(PurePosixPath(place.file)) is not None
        has_keys = _TOP_KEY.search(text.partition("\n#")[0]) is not None
        sink.report(
            rules.UNCLOSED_FRONT_MATTER,
            f"front matter starts here and never ends, expected a second line `{FENCE}`",
            at=Span(file=place.file, line=1, column=1, end_line=1, end_column=len(FENCE) + 1),
            help=f"add a line `{FENCE}` after the last key",
            notes=("Visual Studio Code reads the file to its end as front matter",) if reads_all else (),
            severity=None if has_keys and not reads_all else Severity.WARNING,
        )
        return None
    yaml_text = text[parts.start : parts.end]
    try:
        is_template = FILLED_IN.search(yaml_text) is not None
        of_claude = CLAUDE.home in PurePosixPath(place.file).parts
        tree, lenient = _parse(yaml_text, quotes_more=of_claude and not is_template)
    except YamlError as error:
        if is_template:
            sink.report(
                rules.FRONT_MATTER_SYNTAX,
                "front matter is a template, which octoc does not fill in",
                at=Span(file=place.file, line=2, column=1, end_line=2, end_column=2),
                severity=Severity.INFO,
            )
        else:
            _report(error, text, parts, place, sink)
        return None
    for key in lenient:
        sink.report(
            rules.LENIENT_FRONT_MATTER,
            f"the value of `{key}` holds `: ` and has no quotes, so YAML cannot read it"
            if ": " in f"{tree.value[key]} "
            else f"the value of `{key}` begins with `{tree.value[key][:1]}` and has no quotes, so YAML cannot read it",
            at=place.child(key),
            notes=("it is read as text",),
            help=f"put the value of `{key}` in quotes",
        )
    if tree.positions.duplicates:
        shifted = tuple(
            attrs.evolve(found, second=(found.second[0] + parts.start, found.second[1] + parts.start))
            for found in tree.positions.duplicates
        )
        note = "programs differ in which of the two they use; octoc uses the first"
        report_duplicates(shifted, text, place, sink, note, severity_of_same=Severity.INFO)
    if not isinstance(tree.value, dict) or not tree.value:
        sink.report(
            rules.FRONT_MATTER_SYNTAX,
            "front matter is empty, expected `key: value` lines"
            if tree.value in (None, {})
            else "expected `key: value` lines as front matter",
            at=Span(file=place.file, line=2, column=1, end_line=2, end_column=2),
            # Text between two rules is a part of the text.
            severity=Severity.WARNING if isinstance(tree.value, str) else None,
        )
        return None
    return FrontMatter(values=tree.value, body=text[parts.body :])


def front_matter_positions(text: str) -> tuple[Positions, int] | None:
    """Return positions in front matter, and the offset in `text` that they count from; None when it cannot be read."""
    parts = split(text)
    if parts is None:
        return None
    try:
        return _parse(text[parts.start : parts.end], quotes_more=True)[0].positions, parts.start
    except YamlError:
        return None


def unquoted_colons(text: str) -> tuple[str, ...]:
    """Return the keys of front matter whose values hold `: ` and have no quotes, so that YAML refuses them."""
    parts = split(text)
    try:
        tree, lenient = _parse(text[parts.start : parts.end], quotes_more=True) if parts is not None else (None, ())
    except YamlError:
        return ()
    return tuple(key for key in lenient if tree is not None and ": " in f"{tree.value[key]} ")


def _parse(text: str, *, quotes_more: bool) -> tuple[YamlTree, tuple[str, ...]]:
    """Return the values and the keys whose values are read as text, because YAML refuses them.

    Args:
        quotes_more: read lists and objects, too, as text if YAML refuses one, as Claude Code does.
    """
    try:
        return parse_yaml(text), ()
    except YamlError as error:
        if error.too_deep:
            raise
        found = _masked(text, _MARKED) or (_masked(text, _FLOW) if quotes_more else None)
        if found is None:
            raise
    tree, plain = found
    for key, value in plain.items():
        tree.value[key] = value
    return tree, tuple(plain)


def _masked(text: str, marked: re.Pattern[str]) -> tuple[YamlTree, dict[str, str]] | None:
    masked, plain = _mask(text, marked)
    try:
        tree = parse_yaml(masked) if plain else None
    except YamlError:
        return None
    return (tree, plain) if tree is not None and isinstance(tree.value, dict) else None


def _mask(text: str, marked: re.Pattern[str]) -> tuple[str, dict[str, str]]:
    """Return `text` with each plain top-level value that holds `: ` written over at its length, and those values.

    Values such as `[a] [b]` and `@name` are plain for Claude Code, which quotes each line on its own.
    """
    has_block = _BLOCK.search(text) is not None
    lines = text.split("\n")
    plain: dict[str, str] = {}
    at = 0
    while at < len(lines):
        start, key = at, _KEY.match(lines[at])
        at += 1
        if key is None:
            continue
        is_marked = (
            not has_block
            and not (marked is _FLOW and "tools" in key[1])
            and marked.match(lines[start], key.end()) is not None
        )
        if lines[start][key.end()] in _NOT_PLAIN and not is_marked:
            continue
        while at < len(lines) and lines[at][:1] in (" ", "\t") and lines[at].strip():
            at += 1
        pieces = [lines[start][key.end() :], *lines[start + 1 : at]]
        value = " ".join(piece.strip(" \t") for piece in pieces)
        if not (is_marked or ": " in value or value.endswith(":")) or key.group(1) in plain:
            continue
        plain[key.group(1)] = value
        lines[start] = key.group() + _over(pieces[0])
        lines[start + 1 : at] = [_over(piece) for piece in pieces[1:]]
    return "\n".join(lines), plain


def _over(line: str) -> str:
    # Spaces at both ends stay, so that the written value keeps its range.
    inner = line.strip(" \t")
    return line.replace(inner, "x" * len(inner), 1) if inner else line


def _report(error: YamlError, text: str, parts: Split, place: Place, sink: DiagnosticSink) -> None:
    offset = min(parts.start + error.offset, parts.end)
    is_of_value = not error.too_deep and not _NOT_OF_VALUE.search(error.message)
    at, advice = _broken_key(text[parts.start : parts.end]) if is_of_value else (None, None)
    line, column = offset_to_line_column(text, offset if at is None else parts.start + at)
    sink.report(
        rules.TOO_DEEP if error.too_deep else rules.FRONT_MATTER_SYNTAX,
        error.message if error.too_deep else f"front matter is not plain YAML: {error.message}",
        at=Span(file=place.file, line=line, column=column, end_line=line, end_column=column + 1),
        help=advice,
    )


def _reads(text: str) -> bool:
    try:
        return isinstance(parse_yaml(text).value, dict)
    except YamlError:
        return False


def _broken_key(text: str) -> tuple[int | None, str | None]:
    """Return how to correct the first key of front matter that is not YAML by itself.

    Returns: the offset of the mistake if it is not where the reader stopped, and the advice.
    """
    glued = _GLUED.search(text)
    if glued is not None and _reads(text[: glued.end(1)] + " " + text[glued.end(1) :]):
        return glued.start(), f"write a space after the colon: `{glued[1]} …`"
    starts = [match.start() for match in _TOP_KEY.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        try:
            parse_yaml(part)
        except YamlError:
            pass
        else:
            continue
        key, _, value = part.partition(":")
        first, _, more = value.partition("\n")
        for opening, closing in ("[]", "{}"):
            if value.lstrip().startswith(opening) and value.count(opening) > value.count(closing):
                return None, f"close the value of `{key}` with `{closing}`"
        item = _ITEM.search(more)
        if first.strip() and item is not None and _reads(f"{key}:{first}\n_:\n{more}"):
            at = end - len(more) + item.start()
            return at, "write the key of this list, such as `tools:`, on a line above it"
        loose = _LOOSE.search(more)
        if loose is not None:
            at = end - len(more) + loose.start()
            line = more[loose.start() :].partition("\n")[0].strip()
            is_whole = first.strip().startswith(("'", '"')) and _reads(f"{key}:{first}")
            if is_whole or _BARE_WORD.fullmatch(line):
                return at, f"delete the line `{shortened(line, _MOST_SHOWN)}`, or write it as `key: value`"
            return at, f"write `{key}: >-`, and indent the lines of the value that follow by two spaces"
        if more.strip():
            return None, "put a value with `: `, or with quotes inside, in quotes"
        if "'" in first or first.strip().startswith('"'):
            return None, f"write `{key}: >-`, and the value on the next line, indented by two spaces"
        quotes = "single" if '"' in first else "double"
        return None, f"put the whole value of `{key}` in {quotes} quotes"
    return None, None
