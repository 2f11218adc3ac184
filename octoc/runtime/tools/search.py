"""Rank the tools of a session for a query. The first query loads numpy, the index and the encoder."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from octoc.runtime.activation.encoder import EncoderUnavailableError, RoutingParts
from octoc.runtime.values import SearchHit
from octoc.search import BY_MEANING, OCTO

if TYPE_CHECKING:
    from octoc.bundle.reader import OpenBundle
    from octoc.plugin.protocols import Vector
    from octoc.runtime.catalog.catalog import Catalog
    from octoc.runtime.catalog.session_tools import SessionTools
    from octoc.search.fields import ToolText
    from octoc.search.index import Index
    from octoc.search.products import Name

_MOST_MISSING = 5
FEW_TOOLS = 100
"""More tools are indexed in a thread."""
SearchMethod = Literal["words", "words and meaning", "octo"]
BY_WORDS: SearchMethod = "words"
BY_VECTORS: SearchMethod = "words and meaning"


@attrs.frozen(kw_only=True)
class Ranked:
    """A ranked tool: its number, the hit, and the parts of its score."""

    number: int
    hit: SearchHit
    parts: Mapping[str, float] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class SearchResult:
    """The result of a search.

    Args:
        hits: the nearest tools, the best first.
        why: why vectors were not used although the workspace ranks by them; "" otherwise.
        fit, least: the probability that a tool does what was asked for, and the one from which on it counts as a fit;
            0.0 with Octo's rule.
        missing: words of the query that no tool has.
        unknown: products in the query that no tool mentions.
        lacking: the query's word for an action that no tool of a server that it names has.
    """

    hits: tuple[Ranked, ...] = ()
    method: SearchMethod
    why: str = ""
    fit: float = 0.0
    least: float = 0.0
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    lacking: str = ""

    @property
    def fits(self) -> bool:
        """Whether a tool probably does what was asked for. Octo's rule does not judge that."""
        return bool(self.hits) and self.fit >= self.least

    @property
    def note(self) -> str:
        """Why no tool does what was asked for; "" if one probably does."""
        if self.fits:
            return ""
        if self.lacking and not self.unknown:
            return f'Nothing fits well: no tool of the named server can "{self.lacking}".'
        words = ", ".join(f'"{word}"' for word in (self.unknown or self.missing)[:_MOST_MISSING])
        return f"Nothing fits well: no tool mentions {words}." if words else "Nothing fits well."


def _by_keywords(tools: SessionTools, query: str, limit: int) -> SearchResult:
    """Rank the tools that a session can call by Octo's rule. Raises: BundleFileError."""
    from octoc.search.keyword import rank

    candidates = map(tools.catalog.__getitem__, tools.offered())
    texts = [(one.index, one.id.tool, one.description) for one in candidates]
    shown = frozenset(tools.visible())
    hits = (_ranked(tools, number, float(score), shown, {}) for number, score in rank(query, texts, limit))
    return SearchResult(hits=tuple(hits), method=OCTO)


def _ranked(
    tools: SessionTools, number: int, score: float, shown: frozenset[int], parts: Mapping[str, float]
) -> Ranked:
    tool = tools.catalog[number]
    hit = SearchHit(tool=str(tool.id), score=score, alias=tools.alias(number), direct=number in shown)
    return Ranked(number=number, hit=hit, parts=parts)


@attrs.frozen(kw_only=True, eq=False)
class _View:
    """The tools that a session can call, valid for one `key`."""

    key: tuple[Any, ...]
    rows: Any
    shown: frozenset[int]
    servers: Mapping[Name, tuple[int, ...]]


class SearchParts:
    """The search index of one bundle with the tools that joined, made once; several threads may use it."""

    def __init__(self, opened: OpenBundle, catalog: Catalog, routing: RoutingParts) -> None:
        self._opened_bundle = opened
        self._catalog = catalog
        self._routing = routing
        self._base: Index | None = None
        self._live: tuple[int, bool, Index] | None = None
        self._views: weakref.WeakKeyDictionary[SessionTools, _View] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def encodes(self) -> bool:
        """Whether a query is encoded, which would block the event loop."""
        return self._by_meaning and self._opened_bundle.has_array("search/vectors")

    @property
    def _by_meaning(self) -> bool:
        return self._opened_bundle.bundle.settings.search.rank in BY_MEANING

    @property
    def is_slow(self) -> bool:
        """Whether the next search would block the event loop: it encodes, or indexes many tools."""
        if self.encodes:
            return True
        catalog, live, base = self._catalog, self._live, self._base
        joined = len(catalog) - (0 if base is None else len(base))
        return joined > FEW_TOOLS and (base is None or live is None or live[:2] != (catalog.generation, False))

    def rank(self, tools: SessionTools, query: str, limit: int, *, by_words: bool = False) -> SearchResult:
        """Rank the tools that a session can call, `by_words` alone on request or if the encoder fails.

        May load the encoder, which takes seconds. Raises: BundleFileError.
        """
        if self._opened_bundle.bundle.settings.search.rank == OCTO:
            return _by_keywords(tools, query, limit)
        why = "the bundle has no vectors of tools" if self._by_meaning and not by_words else ""
        if self.encodes and not by_words:
            try:
                return self._looked(tools, query, limit, self._routing.encode)
            except EncoderUnavailableError as error:
                why = str(error)
        return self._looked(tools, query, limit, None, why=why)

    def _looked(
        self,
        tools: SessionTools,
        query: str,
        limit: int,
        embed: Callable[[str], Vector] | None,
        *,
        why: str = "",
    ) -> SearchResult:
        """Rank by the index, and by meaning if `embed` is given. Raises: BundleFileError, EncoderUnavailableError."""
        from octoc.search.rank import Query, rank

        parts = self._parts(embed)
        view = self._view(tools, parts)
        ready = Query.of(query, embed, view.servers)
        catalog = self._catalog
        ranking = rank(ready, parts, view.rows, lambda number: str(catalog[number].id), limit, by_words=embed is None)
        return SearchResult(
            hits=tuple(_ranked(tools, one.number, one.score, view.shown, one.parts) for one in ranking.matches),
            method=BY_WORDS if embed is None else BY_VECTORS,
            why=why,
            fit=ranking.fit,
            least=ranking.least,
            missing=ranking.missing,
            unknown=ranking.unknown,
            lacking=ranking.lacking,
        )

    def _parts(self, embed: Callable[[str], Vector] | None) -> list[Index]:
        """Return the bundle's index and, if tools joined, an index of those."""
        with self._lock:
            if self._base is None:
                self._base = self._opened()
            catalog = self._catalog
            if len(catalog) == len(self._base):
                return [self._base]
            key = (catalog.generation, embed is not None)
            if self._live is None or self._live[:2] != key:
                self._live = (*key, self._joined(self._base, embed))
            return [self._base, self._live[2]]

    def _opened(self) -> Index:
        from octoc.search.index import DENSE, LEXICAL, NEEDS, TOOL_INTENTS, Index, lexical_arrays

        opened = self._opened_bundle
        if not opened.has_array("search/hashes"):
            import numpy as np

            # A bundle without an index, of an old format: its tools are indexed like joined ones.
            return Index.of({**lexical_arrays([]), "servers": np.zeros(0, np.uint16)})
        needs = NEEDS if opened.has_array("search/needs") else ()  # a bundle of an old format has none
        wanted = (*LEXICAL, *DENSE, *TOOL_INTENTS, *needs) if self.encodes else LEXICAL
        return Index.of({name: opened.array(f"search/{name}") for name in wanted})

    def _joined(self, base: Index, embed: Callable[[str], Vector] | None) -> Index:
        """Return an index of the joined tools, made as the compiler makes the bundle's."""
        import numpy as np

        from octoc.search.index import Index, Meaning, Rows, lexical_arrays, needs_of, small

        tools = [self._text(number) for number in range(len(base), len(self._catalog))]
        names = [server.name for server in self._opened_bundle.bundle.servers]
        servers = np.array([names.index(tool.server) for tool in tools], small(len(names)))
        if embed is None or base.meaning is None or base.intents is None:
            return Index.of({**lexical_arrays(tools), "servers": servers})
        vectors = np.stack([_vector(tool, embed) for tool in tools])
        nearest, weights = base.intents.nearest(vectors)
        expanded = [
            attrs.evolve(tool, expansion=base.intents.terms_of(nearest[row], weights[row]))
            for row, tool in enumerate(tools)
        ]
        meaning = Meaning(
            vectors=Rows.of(vectors),
            server_vectors=base.meaning.server_vectors,
            intent_of=nearest,
            intent_weights=weights,
            needs_of=None if base.needs is None else needs_of(vectors, base.needs),
        )
        lexical = Index.of({**lexical_arrays(expanded), "servers": servers})
        return attrs.evolve(lexical, meaning=meaning)

    def _text(self, number: int) -> ToolText:
        from octoc.search.fields import ToolText

        tool = self._catalog[number]
        return ToolText(
            server=tool.id.server, name=tool.id.tool, description=tool.description, schema=self._catalog.schema(number)
        )

    def _view(self, tools: SessionTools, parts: Sequence[Index]) -> _View:
        """Return the tools that the session can call, computed again when they may have changed."""
        catalog = self._catalog
        key = (catalog.generation, tools.active.names)
        view = self._views.get(tools)
        if view is None or view.key != key:
            import numpy as np

            reachable = sorted(tools.offered())
            whole = len(reachable) == len(catalog)
            rows = None if whole else np.array(reachable, np.int64)
            servers = np.concatenate([part.servers for part in parts])
            is_used = np.zeros(len(self._opened_bundle.bundle.servers), bool)
            is_used[servers if rows is None else servers[rows]] = True
            shown = frozenset(tools.visible())
            named = self._named(np.flatnonzero(is_used).tolist())
            view = self._views[tools] = _View(key=key, rows=rows, shown=shown, servers=named)
        return view

    def _named(self, numbers: Sequence[int]) -> Mapping[Name, tuple[int, ...]]:
        """Return the numbers of servers by the names by which queries name them."""
        from octoc.search.products import server_name

        servers = self._opened_bundle.bundle.servers
        named: dict[Name, tuple[int, ...]] = {}
        for number in numbers:
            if name := server_name(servers[number].name):
                named[name] = (*named.get(name, ()), number)
        return named


def _vector(tool: ToolText, embed: Callable[[str], Vector]) -> Vector:
    from octoc.search.fields import VIEW_WEIGHTS, views
    from octoc.search.index import mixed

    texts = zip(VIEW_WEIGHTS, views(tool), strict=True)
    return mixed([(weight, embed(text)) for weight, text in texts if text.strip()])
