"""A tool's schema as one provider takes it, with the way back for what is given to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.formats.providers import PROPERTY_NAMES
from octoc.formats.reading import Reading

_OUTSIDE = re.compile(r"[^a-zA-Z0-9_]")
_MAX_NAME = 64


@attrs.frozen(kw_only=True)
class Rewriting:
    """A schema for one provider.

    Args:
        schema: None when the provider wants none, as for a tool without arguments.
        reading: how arguments are read that fit it; None where they are the tool's own.
        notes: sentences on what the schema no longer says, for the tool's description.
    """

    schema: Mapping[str, Any] | None
    reading: Reading | None = None
    notes: tuple[str, ...] = ()


def rewritten(schema: Any, provider: str) -> Rewriting:
    """Return a tool's schema for a provider of `LABELS`, or as it is for "".

    The same schema gives the same bytes, and one that the provider takes stays as it is. What it takes is never less
    than what the tool's own schema takes.
    """
    own: Mapping[str, Any] = schema if isinstance(schema, Mapping) and schema else {"type": "object", "properties": {}}
    if not provider:
        return Rewriting(schema=own)
    if provider == "gemini":
        from octoc.formats.gemini import for_gemini

        shown, reading, notes = for_gemini(own)
    else:
        from octoc.formats.json_schema import for_anthropic, for_openai

        shown, notes = (for_anthropic if provider == "anthropic" else for_openai)(own)
        reading = None
    if shown is None or provider not in PROPERTY_NAMES or not isinstance(shown.get("properties"), dict):
        return Rewriting(schema=shown, reading=reading or None, notes=tuple(notes))
    names = shown_names(shown["properties"], PROPERTY_NAMES[provider][1])
    if names:
        from octoc.formats.json_schema import renamed, self_contained

        shown = renamed(self_contained(shown, own), names)
        known = {name: own_name for own_name, name in names.items()}
        reading = attrs.evolve(reading or Reading(), names=known)
    return Rewriting(schema=shown, reading=reading or None, notes=tuple(notes))


def shown_names(names: Iterable[str], allowed: re.Pattern[str]) -> dict[str, str]:
    """Return own name -> shown name of those that a provider does not take; no two of all are alike."""
    own = list(names)
    taken = set(own)
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name in own:
        if allowed.fullmatch(name):
            continue
        plain = _OUTSIDE.sub("_", name)[:_MAX_NAME] or "_"
        plain = plain if allowed.fullmatch(plain) else f"_{plain}"[:_MAX_NAME]
        shown, count = plain, counts.get(plain, 1)
        while shown in taken:
            count += 1
            end = f"_{count}"
            shown = plain[: _MAX_NAME - len(end)] + end
        counts[plain] = count
        taken.add(shown)
        found[name] = shown
    return found
