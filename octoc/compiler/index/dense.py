"""The dense part of a search index: a vector for each tool, and the intents nearest to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.compiler.calibrate.needs.library import shipped_needs
from octoc.compiler.index import tool_intents as own
from octoc.search.fields import VIEW_WEIGHTS, ToolText, views
from octoc.search.index import Rows, ToolIntents, Vector, lexical_arrays, mixed, needs_of
from octoc.search.words import words


def texts_of(tools: Sequence[ToolText], servers: Sequence[str]) -> tuple[str, ...]:
    """Return the texts whose vectors `dense_arrays` needs, without repeated ones."""
    wanted = dict.fromkeys([*map(_spoken, servers), *own.texts_of(own.tool_intents()), *_needs()])
    for tool in tools:
        wanted.update(dict.fromkeys(text for text in views(tool) if text.strip()))
    return tuple(wanted)


def dense_arrays(
    tools: Sequence[ToolText], servers: Sequence[str], vectors: Mapping[str, Vector]
) -> dict[str, NDArray[Any]]:
    """Return every array of an index except `servers`. `vectors` has each text of `texts_of`."""
    of_servers = np.stack([vectors[_spoken(name)] for name in servers]).astype(np.float32)
    matrix = np.stack([np.zeros_like(of_servers[0]), *(_vector(tool, vectors) for tool in tools)])[1:]
    stored = Rows.of(matrix)
    of_intents = own.intent_arrays(own.tool_intents(), vectors)
    intents = ToolIntents.of(of_intents)
    nearest, weights = intents.nearest(matrix)
    expanded = [
        attrs.evolve(tool, expansion=intents.terms_of(nearest[row], weights[row])) for row, tool in enumerate(tools)
    ]
    described = [need.described for need in shipped_needs()]
    needs = Rows.of(np.stack([mixed([(1.0, vectors[text]) for text in texts]) for texts in described]))
    return {
        **lexical_arrays(expanded),
        "vectors": stored.whole,
        "scales": stored.scales,
        "server_vectors": of_servers,
        "deed_of": nearest,
        "deed_weights": weights,
        **of_intents,
        "needs": needs.whole,
        "needs_scales": needs.scales,
        "needs_of": needs_of(matrix, needs),
    }


def _needs() -> list[str]:
    return [text for need in shipped_needs() for text in need.described]


def _spoken(server: str) -> str:
    return " ".join(words(server)) or server


def _vector(tool: ToolText, vectors: Mapping[str, Vector]) -> Vector:
    texts = zip(VIEW_WEIGHTS, views(tool), strict=True)
    return mixed([(weight, vectors[text]) for weight, text in texts if text.strip()])
