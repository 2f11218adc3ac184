"""Searches a text for credentials of every kind, window by window."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.credentials.forms import keys, opaque_tokens, prefixed_tokens
from octoc.credentials.found import FoundCredential
from octoc.credentials.known_tokens import known_tokens
from octoc.credentials.places import assigned, flagged, schemed
from octoc.credentials.urls import in_urls
from octoc.credentials.windows import ValueEnds, windows

_DEEPEST = 8
"""Encodings inside each other that are looked through."""
_SIGN = re.compile(r"(?i)[=:-]|[^\s\0]{12}|bearer|basic")
"""One of these is in each text with a credential: before it, or a token's length. `\0` stands for a reference."""


def in_text(text: str, *, is_prose: bool = False, depth: int = 0) -> Iterator[FoundCredential]:
    """Yield what is a credential by its form, or by what stands before it in the text; they may overlap."""
    if _SIGN.search(text) is None:
        return
    for span in keys(text):
        yield FoundCredential(*span)
    ends = ValueEnds(text)
    for start, end in windows(text):
        for found in _in_window(text[start:end], is_prose=is_prose, depth=depth):
            begins, stops = start + found.start, start + found.end
            yield FoundCredential(begins, ends.end_of(begins, stops) if stops == end < len(text) else stops, found.name)


def _in_window(text: str, *, is_prose: bool, depth: int) -> Iterator[FoundCredential]:
    for token in known_tokens(text):
        yield FoundCredential(token.start, token.end)
    for span in prefixed_tokens(text):
        yield FoundCredential(*span)
    if "://" in text:
        yield from in_urls(text)
    if "=" in text or ":" in text:
        yield from assigned(text, is_prose=is_prose)
    if "-" in text:
        yield from flagged(text, is_prose=is_prose)
    yield from schemed(text)
    for start, end, hidden in opaque_tokens(text):
        if hidden is None or (depth < _DEEPEST and next(in_text(hidden, depth=depth + 1), None) is not None):
            yield FoundCredential(start, end)


def tokens_in(text: str, offset: int, *, is_path: bool) -> Iterator[FoundCredential]:
    """Yield the tokens in a short text that starts at `offset`: those of known forms, and random ones but in a path."""
    for token in known_tokens(text):
        yield FoundCredential(offset + token.start, offset + token.end)
    for start, end in prefixed_tokens(text):
        yield FoundCredential(offset + start, offset + end)
    if not is_path:
        for start, end, hidden in opaque_tokens(text):
            if hidden is None:
                yield FoundCredential(offset + start, offset + end)
