"""The searched fields of a tool, the weight of a word in each, and the texts of its vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.search.stem import stem
from octoc.search.words import MAX_WORD_CHARS, STOP_WORDS, first_sentence, hashed, joined, terms, words

K1 = 1.6
B = 0.6

FIELD_WEIGHTS: Mapping[str, float] = {
    "server": 0.5,
    "name": 4.0,
    "description": 1.0,
    "parameters": 1.0,
    "parameter_texts": 0.3,
    "values": 0.5,
    "triggers": 1.0,
    "expansion": 0.6,
}
"""The weight of one word of a field, relative to the description."""

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
"""The usual number of terms in a field; each word counts less in longer ones. Constants instead of an index's means, so
that the weights of a tool do not depend on other tools, and answers reveal nothing of tools out of scope."""

_MAX_DEPTH = 6
_MAX_PARTS = 2000


@attrs.frozen(kw_only=True)
class ToolText:
    """A tool as search reads it.

    Args:
        schema: its input schema as its server wrote it, of any type.
        triggers: example messages of the capabilities that own it.
        expansion: hashes, by `hashed`, of the terms of other texts about its purpose.
    """

    server: str
    name: str
    description: str = ""
    schema: Any = None
    triggers: Sequence[str] = ()
    expansion: Sequence[int] = ()


def term_weights(tool: ToolText) -> dict[int, float]:
    """Return the hashes of a tool's terms with their weights: BM25F's pseudo-frequency, summed over fields.

    Source: Robertson, Zaragoza, Taylor, "Simple BM25 extension to multiple weighted fields", 2004.
    """
    weights: dict[int, float] = {}
    for field, counts in _counts(tool):
        length = sum(counts.values())
        share = FIELD_WEIGHTS[field] / (1 - B + B * length / USUAL_TERMS[field])
        for term, count in counts.items():
            weights[term] = weights.get(term, 0.0) + share * count
    return weights


def spelled_terms(tool: ToolText) -> set[str]:
    """Return the terms for which a query may have a misspelling: those of the names and of the description."""
    return {term for text in (tool.server, tool.name, tool.description) for term in terms(text)}


def searched_texts(tool: ToolText) -> set[str]:
    """Return the texts of all fields by whose words search finds a tool."""
    return {text for texts in _fields(tool).values() for text in texts}


def impact(weight: float) -> int:
    """Return BM25's saturated weight of a term in 255ths, at least 1."""
    return max(1, round(255 * weight / (K1 + weight)))


def spoken_name(tool: ToolText) -> str:
    """Return the tool's name as words."""
    return " ".join(words(tool.name))


def views(tool: ToolText) -> tuple[str, str, str]:
    """Return the texts of the tool's vector: name and description, first sentence, name; "" does not count."""
    name = spoken_name(tool)
    return f"{name}. {tool.description}".strip(), first_sentence(tool.description), name


VIEW_WEIGHTS = (1.0, 0.5, 0.5)


def _counts(tool: ToolText) -> Iterator[tuple[str, Counter[int]]]:
    for field, texts in _fields(tool).items():
        counts = Counter(term for text in texts for term in terms(text))
        if field == "name":
            # Stop words count in a name: a tool may be called `now`, or `all`.
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
    """Yield (`name`, property), (`text`, its description) and (`value`, a text of its enum), the outer ones first."""
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
                yield from _texts_of(inner)
                deeper.append(inner)
            deeper.append(node.get("items"))
            for word in ("anyOf", "oneOf", "allOf"):
                options = node.get(word)
                deeper.extend(options if isinstance(options, list) else ())
        level = deeper


def _texts_of(node: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(node, Mapping):
        return
    if isinstance(node.get("description"), str):
        yield "text", node["description"]
    enum = node.get("enum")
    for value in enum[:50] if isinstance(enum, list) else ():
        if isinstance(value, str):
            yield "value", value
