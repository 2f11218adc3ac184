"""What of a tool is searched: its fields, how much a word of each weighs, and the texts that its vector is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.search.stem import stem
from octoc.search.words import MAX_WORD_CHARS, STOP_WORDS, first_sentence, hashed, joined, terms, words

K1 = 1.6
B = 0.6

WEIGHTS: Mapping[str, float] = {
    "server": 0.5,
    "name": 4.0,
    "description": 1.0,
    "parameters": 1.0,
    "parameter_texts": 0.3,
    "values": 0.5,
    "triggers": 1.0,
    "expansion": 0.6,
}
"""What one word of a field counts, a word of the description being 1."""

USUAL_TERMS: Mapping[str, float] = {
    "server": 1.0,
    "name": 4.0,
    "description": 30.0,
    "parameters": 8.0,
    "parameter_texts": 40.0,
    "values": 10.0,
    "triggers": 40.0,
    "expansion": 100.0,
}
"""Terms of a field of usual length: longer ones count less a word. Constants, not the means of one index: so a tool's
terms weigh the same whatever else there is, and an agent's answers say nothing of tools that it does not have."""

_MAX_DEPTH = 6
_MAX_PARTS = 2000


@attrs.frozen(kw_only=True)
class ToolText:
    """A tool as search reads it.

    Args:
        schema: its input schema as its server wrote it, which may be anything.
        triggers: example messages of the capabilities that own it.
        expansion: hashes of the terms of other texts that say what it is for, as `hashed` makes them.
    """

    server: str
    name: str
    description: str = ""
    schema: Any = None
    triggers: Sequence[str] = ()
    expansion: Sequence[int] = ()


def term_weights(tool: ToolText) -> dict[int, float]:
    """Return the hashes of a tool's terms and what each counts: BM25F's pseudo-frequency, summed over fields.

    Source: Robertson, Zaragoza, Taylor, "Simple BM25 extension to multiple weighted fields", 2004.
    """
    found: dict[int, float] = {}
    for field, counts in _counts(tool):
        length = sum(counts.values())
        share = WEIGHTS[field] / (1 - B + B * length / USUAL_TERMS[field])
        for term, count in counts.items():
            found[term] = found.get(term, 0.0) + share * count
    return found


def spelled_terms(tool: ToolText) -> set[str]:
    """Return the terms that a query may have misspelt: those of the names and of the description."""
    return {term for text in (tool.server, tool.name, tool.description) for term in terms(text)}


def impact(weight: float) -> int:
    """Return BM25's saturated weight of a term as a whole number of 255ths, 1 at least."""
    return max(1, round(255 * weight / (K1 + weight)))


def spoken_name(tool: ToolText) -> str:
    """Return the tool's name as words."""
    return " ".join(words(tool.name))


def views(tool: ToolText) -> tuple[str, str, str]:
    """Return the texts whose vectors make the tool's: name and description, first sentence, name; "" counts nothing."""
    name = spoken_name(tool)
    return f"{name}. {tool.description}".strip(), first_sentence(tool.description), name


VIEW_WEIGHTS = (1.0, 0.5, 0.5)


def _counts(tool: ToolText) -> Iterator[tuple[str, Counter[int]]]:
    for field, texts in _fields(tool).items():
        counts = Counter(term for text in texts for term in terms(text))
        if field == "name":
            # A tool may be called `now`, or `all`: that is what it does.
            counts.update(stem(word) for word in words(tool.name) if word in STOP_WORDS)
            counts.update(whole[:MAX_WORD_CHARS] for whole in [joined(tool.name)] if whole)
        yield field, Counter({hashed(term): count for term, count in counts.items()})
    yield "expansion", Counter(tool.expansion)


def _fields(tool: ToolText) -> dict[str, list[str]]:
    parameters: list[str] = []
    texts: list[str] = []
    values: list[str] = []
    into = {"name": parameters, "text": texts, "value": values}
    for kind, text in _parts(tool.schema):
        into[kind].append(text)
    return {
        "server": [tool.server],
        "name": [tool.name],
        "description": [tool.description],
        "parameters": parameters,
        "parameter_texts": texts,
        "values": values,
        "triggers": list(tool.triggers),
    }


def _parts(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield (`name`, a property), (`text`, its description) and (`value`, one of its enum), the outer ones first."""
    level = [schema]
    left = _MAX_PARTS
    for _ in range(_MAX_DEPTH):
        deeper: list[Any] = []
        for node in level:
            if not isinstance(node, Mapping):
                continue
            properties = node.get("properties")
            for name, inner in properties.items() if isinstance(properties, Mapping) else ():
                if left <= 0:
                    return
                left -= 1
                yield "name", str(name)
                yield from _said(inner)
                deeper.append(inner)
            deeper.append(node.get("items"))
            for word in ("anyOf", "oneOf", "allOf"):
                options = node.get(word)
                deeper.extend(options if isinstance(options, list) else ())
        level = deeper


def _said(node: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(node, Mapping):
        return
    if isinstance(node.get("description"), str):
        yield "text", node["description"]
    enum = node.get("enum")
    for value in enum[:50] if isinstance(enum, list) else ():
        if isinstance(value, str):
            yield "value", value
