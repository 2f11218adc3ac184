"""TOML: values from tomllib, and the `# Key: value` lines of the leading comments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from octoc.compiler.model.documents import Comment
from octoc.compiler.read.nodes import Lines, report_duplicates
from octoc.compiler.read.toml_positions import toml_duplicates
from octoc.compiler.read.values import MAX_DEPTH, sound
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rules import read as rules
from octoc.toml_limits import MAX_KEY_PARTS, has_long_key

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_HEADER = re.compile(r"# ([A-Z][A-Za-z ]*):\s*(.+)\Z")
# A line that may end in a comment with a placeholder; cheap, and right for nearly every file.
_MAY_HOLD_PLACEHOLDER = re.compile(r"#[^\n]*\{\{")
# A character that Unicode leaves to private use; a file that has it is read the slow way.
_MARK = "\uf8f5"
# A comment or a string of any kind, so that what looks like a string inside another does not count. `body` is the text
# between three double quotes where every character stands for itself.
_LINES_OF_TEXT = (
    r"""\#[^\n]*+"""
    r'''|"""\n?(?P<body>(?:[^"\\\x00-\x08\x0b-\x1f\x7f]++|"{1,2}(?!"))*+)"""(?!")'''
    r'''|"""(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*+"{3,5}'''
    r"""|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"""
)
_ONE_LINE = r""""(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+'"""
_LEXEME = re.compile(f"{_LINES_OF_TEXT}|{_ONE_LINE}")
_UNCLOSED = re.compile(f"{_LINES_OF_TEXT}|(?P<opening>\"{{3}}|'{{3}})|{_ONE_LINE}")
_NO_KEY = "Invalid initial character for a key part"
_WORDS = {
    "Invalid value": "expected a string, a number, `true`, `false`, a date, an array or an inline table",
    "Invalid statement": "expected a key, a table's header or a comment",
    _NO_KEY: "expected a key",
    "Invalid date or datetime": "expected a date that exists",
    "Invalid hex value": "expected hexadecimal digits of a Unicode character",
}
_DEFINED_TWICE = ("Cannot overwrite a value", "Cannot declare", "Cannot mutate", "Duplicate inline table key")


def read_toml(text: str, place: Place, sink: DiagnosticSink) -> dict[str, Any] | None:
    """Return the values of a TOML file; report and return None when it is not TOML.

    Values that JSON cannot carry (`nan`, `inf`) are reported and left out; dates stay `datetime` values.
    """
    short, prompts = _shorten(text)
    if has_long_key(short):
        sink.report(rules.TOO_DEEP, f"a key of more than {MAX_KEY_PARTS} parts", at=place)
        return None
    try:
        return sound(_loads(text, short, prompts), place, sink)
    except tomllib.TOMLDecodeError as error:
        _report_syntax(str(error), text, place, sink)
    except ValueError:
        # tomllib lets int()'s limit of digits through as it is, without a place.
        sink.report(rules.TOML_SYNTAX, "a number has too many digits", at=place)
    except RecursionError:
        message = f"more than {MAX_DEPTH} lists and objects inside each other"
        sink.report(rules.TOO_DEEP, message, at=place)
    return None


def leading_headers(text: str) -> Mapping[str, str]:
    """Return the `# Key: value` lines above the first line that is not a comment. The first of a key counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        header = _HEADER.match(line)
        if header:
            found.setdefault(header.group(1), header.group(2).strip())
    return found


def toml_comments(text: str, file: str) -> tuple[Comment, ...]:
    """Return the comments above the first other line, and every later one that holds `{{`."""
    found: list[Comment] = []
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#"):
            span = Span(file=file, line=number, column=1, end_line=number, end_column=len(line) + 1)
            found.append(Comment(text=line, span=span))
        elif line.strip():
            break
        at += len(line) + 1
    if not _MAY_HOLD_PLACEHOLDER.search(text, at):
        return tuple(found)
    lines = Lines.of(text)
    for match in _LEXEME.finditer(text):
        if match.start() >= at and match[0].startswith("#") and "{{" in match[0]:
            (line_number, column), (end_line, end_column) = map(lines.line_column, match.span())
            span = Span(file=file, line=line_number, column=column, end_line=end_line, end_column=end_column)
            found.append(Comment(text=match[0], span=span))
    return tuple(found)


def _shorten(text: str) -> tuple[str, list[str]]:
    """Return `text` with a number in place of each three-quoted string without escapes, and those strings by number.

    tomllib reads such strings letter by letter, and prompts are most of what a tap holds.
    """
    strings: list[str] = []
    if _MARK in text:
        return text, strings

    def shorten(match: re.Match[str]) -> str:
        body: str | None = match.group("body")
        if body is None:
            return match.group()
        strings.append(body)
        return f'"""{_MARK}{len(strings) - 1}"""'

    return _LEXEME.sub(shorten, text), strings


def _loads(text: str, short: str, strings: list[str]) -> dict[str, Any]:
    try:
        values = tomllib.loads(short)
    except tomllib.TOMLDecodeError:
        return tomllib.loads(text)  # which tells the place in the file as it is
    pending: list[Any] = [values] if strings else []
    while pending:
        holder = pending.pop()
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(value, (dict, list)):
                pending.append(value)
            elif isinstance(value, str) and value.startswith(_MARK):
                holder[key] = strings[int(value.removeprefix(_MARK))]
    return values


def _report_syntax(error: str, text: str, place: Place, sink: DiagnosticSink) -> None:
    message = _AT.sub("", error)
    if message.startswith(_DEFINED_TWICE):
        duplicates = toml_duplicates(text)
        if duplicates:
            report_duplicates(duplicates, text, place, sink, "TOML allows each key once")
            return
    at = _AT.search(error)
    line, column = (int(at.group(1)), int(at.group(2))) if at and at.group(1) else _end(text)
    if at and not at.group(1):
        opening = next((match.start() for match in _UNCLOSED.finditer(text) if match["opening"]), None)
        line, column = (line, column) if opening is None else Lines.of(text).line_column(opening)
    words = f"not TOML: {_WORDS.get(message) or _in_our_words(message)}"
    if message == _NO_KEY and f"{text.splitlines()[line - 1]}\n"[column - 1] in "\n#}":
        words = "an inline table on several lines, or with a comma at its end, is TOML 1.1, not 1.0"
    sink.report(
        rules.TOML_SYNTAX,
        words,
        at=Span(file=place.file, line=line, column=column, end_line=line, end_column=column + 1),
    )


def _in_our_words(message: str) -> str:
    return re.sub(r"'([^']+)'", r"`\1`", message[:1].lower() + message[1:])


def _end(text: str) -> tuple[int, int]:
    lines = text.rstrip("\n").split("\n")
    return len(lines), len(lines[-1]) + 1
