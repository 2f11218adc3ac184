"""Names, strings and comments of the files that a migration writes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.credentials import is_literal_secret
from octoc.masking import mask_values
from octoc.secrets import MASK

# Control characters of the second block, and what some readers take for the end of a line or of the file.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def quoted(text: str) -> str:
    """Return a string as JSON and YAML both read it."""
    return _escaped(json.dumps(text, ensure_ascii=False))


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(text: str) -> str:
    """Return a text whose lines a comment can hold."""
    return "\n".join(_plain(line).rstrip() for line in text.splitlines())


def yaml_comment(text: str) -> str:
    """Return a text as comment lines of YAML."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _plain(line: str) -> str:
    return quoted(line)[1:-1].replace('\\"', '"').replace("\\\\", "\\")


@attrs.frozen(kw_only=True)
class ExtraField:
    """A field that octoc has no place for, as a comment says it. `is_masked`: a part of it looked like a secret."""

    name: str
    text: str
    is_masked: bool = False


def extras_of(values: Mapping[str, Any], known: Iterable[str]) -> tuple[ExtraField, ...]:
    """Return the fields of an entity that `known` does not have and that hold a value, with secrets masked."""
    return tuple(
        _extra(name, value)
        for name, value in values.items()
        if name not in known and not (value is None or value in ("", [], {}))
    )


def _extra(name: str, value: Any) -> ExtraField:
    before = json.dumps(value, ensure_ascii=False)
    text = mask_values(json.dumps(_masked(name, value), ensure_ascii=False))
    return ExtraField(name=name, text=_escaped(f"{_plain(name)}: {text}"), is_masked=text != before)


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return MASK if is_literal_secret(name, value) else value
    if isinstance(value, Mapping):
        return {inner: _masked(inner, part) for inner, part in value.items()}
    return [_masked(name, part) for part in value] if isinstance(value, list) else value


def slug(text: str, *, strict: bool = False) -> str:
    """Return the nearest name that octoc takes, in lower case; "" when nothing of `text` can stay.

    Args:
        strict: as agents are called everywhere: lower-case letters, digits and `-`, a letter first.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+" if strict else r"[^a-z0-9_.-]+", "-", plain)
    return re.sub(r"\A[^a-z]+" if strict else r"\A[^a-z0-9]+", "", found).rstrip("-._")


class Names:
    """Names that are given once each."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, wanted: str, *, within: str = "") -> str:
        """Return `wanted` if it is free, else behind `within`, else with a number."""
        candidates = [wanted, *([f"{within}-{wanted}"] if within else [])]
        name = next((one for one in candidates if one not in self._taken), "")
        number = 2
        while not name:
            numbered = f"{candidates[-1]}-{number}"
            name, number = ("" if numbered in self._taken else numbered), number + 1
        self._taken.add(name)
        return name
