"""A rule over control characters in definitions of servers: editors hide them, and some prevent the start."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import attrs

from octoc.compiler.lint.mcp.commands import texts_of
from octoc.compiler.lint.tools.characters import printable
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import definitions, values_of
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import CONTROL_CHARACTER
from octoc.plugin.lint import lint_check

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS = "\t\n\r"
_NAMES = {"\0": "NUL", "\b": "BACKSPACE", "\t": "TAB", "\n": "LINE FEED", "\f": "FORM FEED", "\r": "CARRIAGE RETURN"}
# One backslash before `n` or `t` in JSON is a line feed or a tab.
_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\\x07-\x0d]|[\w.-]+\\[\w.\\-]*[\t\n\r][\w.\\-]+\Z")
_NO_START = "no program starts with it"
_NO_HEADER = "no client sends such a header"


@attrs.frozen(kw_only=True)
class _Text:
    """A text of a definition; `is_name` if it is a key. `blanks` are the white space characters that it may have."""

    what: str
    field: str
    text: str
    place: Place
    is_name: bool = False

    @property
    def blanks(self) -> str:
        if self.is_name or self.field in {"command", "url"} or _WINDOWS_PATH.match(self.text):
            return ""
        return "\t" if self.field == "headers" else _BLANKS


@lint_check(CONTROL_CHARACTER)
def check_characters(build: Build, sink: DiagnosticSink) -> None:
    """Report the first control character of each text: an error where the server cannot start or be reached."""
    for definition in definitions(build.sources):
        if definition.source.disabled or not any(map(_CONTROL.search, texts_of(definition.source))):
            continue
        for text in _texts(definition.source):
            # White space around a value is OCT442.
            core = text.text if text.is_name else text.text.strip(_BLANKS)
            match = next((one for one in _CONTROL.finditer(core) if one[0] not in text.blanks), None)
            if match is None:
                continue
            offset = text.text.index(core) + match.start()
            why = _why(text, match[0])
            sink.report(
                CONTROL_CHARACTER,
                f"{printable(text.what)} of server `{printable(definition.source.name)}` contains "
                f"{_named(match[0])}{f': {why}' if why else ''}",
                at=text.place.key() if text.is_name else attrs.evolve(text.place, within=(offset, offset + 1)),
                severity=Severity.ERROR if why else Severity.WARNING,
                help="write each backslash of the path twice" if _WINDOWS_PATH.match(core) else "remove it",
            )


def _texts(server: ServerSource) -> Iterator[_Text]:
    yield _Text(what="the name", field="name", text=server.name, place=server.place, is_name=True)
    for field in ("env", "headers"):
        for name in server.reached.get(field) or ():
            place = server.place.child(field, name)
            yield _Text(what=f"a name in `{field}`", field=field, text=str(name), place=place, is_name=True)
    for value in values_of(server):
        yield _Text(what=f"`{value}`", field=value.field, text=value.text, place=value.place)


def _why(text: _Text, character: str) -> str:
    """Return why the server cannot be used; empty where the character may only be a mistake."""
    if text.field == "headers":
        return _NO_HEADER if text.is_name or character in "\0\n\r" else ""
    return _NO_START if character == "\0" and text.field in {"command", "args", "env", "cwd"} else ""


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {_NAMES.get(character, unicodedata.name(character, ''))}".rstrip()
