"""Removes known secrets from texts, in every form that others make of them. `octoc.credentials` finds unknown ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

MASK = "***"
SHORTEST_SECRET = 4
"""A value under four characters is too short to be masked: cutting it out of every word does more harm."""
_SHORTEST_LINE = 8
_DEEPEST = 200
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_BASE64_REST = re.compile("[A-Za-z0-9+/_-]*={0,2}")


def secret_forms(values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that give away one of `values`, the longest first; values under SHORTEST_SECRET are left out.

    A value as it is, on one line, and each longer line of it; percent-encoded, for HTML, and as JSON, twice too, since
    JSON is quoted in JSON; backwards, and its bytes as hex. What base64 makes of it is not among them: see `redact`.
    """
    import json
    from html import escape
    from urllib.parse import quote, quote_plus

    forms: set[str] = set()
    for value in values:
        if len(value) < SHORTEST_SECRET:
            continue
        encoded = {quote(value, safe=""), quote(value), quote_plus(value)}
        quoted = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
        forms |= {value, " ".join(value.split()), value.strip(), escape(value), escape(value, quote=False)}
        forms |= encoded | {re.sub("%..", lambda match: match[0].lower(), text) for text in encoded}
        forms |= quoted | {json.dumps(text)[1:-1] for text in quoted}
        raw = value.encode("utf-8", "surrogatepass").hex()
        forms |= {value[::-1], raw, raw.upper()}
        forms |= {line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE}
    return tuple(sorted((form for form in forms if len(form) >= SHORTEST_SECRET), key=lambda form: (-len(form), form)))


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces each of `values`, in every form of `secret_forms`, by `***`.

    A run of base64 that has one inside, alone or behind other text as in `user:password`, goes as a whole.
    """
    kept = tuple(dict.fromkeys(values))
    cores = tuple(core for value in kept for core in _base64_cores(value))
    forms = secret_forms(kept)

    def redacted(text: str) -> str:
        for core in cores:
            text = _without_runs(text, core)
        for form in forms:
            text = text.replace(form, MASK)
        return text

    return redacted


def _without_runs(text: str, core: str) -> str:
    """Replace each run of base64 that has `core` inside. A pattern would scan a long run once from each character."""
    pieces: list[str] = []
    done = 0
    at = text.find(core)
    while at >= 0:
        start = at
        while start > done and text[start - 1] in _BASE64:
            start -= 1
        pieces += (text[done:start], MASK)
        rest = _BASE64_REST.match(text, at + len(core))
        done = at + len(core) if rest is None else rest.end()
        at = text.find(core, done)
    return "".join((*pieces, text[done:])) if pieces else text


def redact(text: str, values: Iterable[str]) -> str:
    """Return `text` with each of `values` replaced by `***`, as `redactor` does it."""
    return redactor(values)(text)


def redact_plain(value: Any, values: Iterable[str]) -> Any:
    """Return a JSON value with every text in it, keys too, as `redact` leaves it; what lies deep down is `***`."""
    return plain_redactor(values)(value)


def plain_redactor(values: Iterable[str]) -> Callable[[Any], Any]:
    """Return a function that does the same as `redact_plain` with `values`, for many JSON values."""
    redacted = redactor(values)

    def walk(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return redacted(value)
        if depth > _DEEPEST and isinstance(value, (Mapping, list, tuple)):
            return MASK
        if isinstance(value, Mapping):
            return {redacted(str(key)): walk(item, depth + 1) for key, item in value.items()}
        return [walk(item, depth + 1) for item in value] if isinstance(value, (list, tuple)) else value

    return lambda value: walk(value, 0)


def _base64_cores(value: str) -> Iterator[str]:
    """Yield what base64 makes of a value's bytes, wherever it begins in what is encoded, without what varies."""
    import base64

    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < SHORTEST_SECRET:
        return
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw).decode()
        # Six bits a character: those that share bits with a neighbour are not the value's own.
        core = coded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        yield core
        if "+" in core or "/" in core:
            yield core.replace("+", "-").replace("/", "_")
