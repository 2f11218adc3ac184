"""What of a session's tool block a prompt cache can keep: its bytes and tokens, and what would change them where."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

import attrs

from octoc.runtime.activation.activate import servers_of
from octoc.runtime.activation.eviction import evictions_for
from octoc.runtime.catalog.formats import Form
from octoc.runtime.catalog.token_costs import COUNTED_FORMAT, tool_text
from octoc.runtime.catalog.tool_block import tool_block

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


@attrs.frozen(kw_only=True)
class Size:
    """How much text some tools are: `bytes` of UTF-8 as compact JSON, a comma each, and `tokens` by the counter."""

    tools: int
    bytes: int
    tokens: int


@attrs.frozen(kw_only=True)
class Activation:
    """What activating a capability would do to the block as it is now.

    Args:
        appends: what would be added at the end, as far as the tools are known.
        unknown: servers whose tools are not known before they are connected.
        evicts: what would have to give way; None when there is no room at all, and it would be refused.
        keeps: what of the block now would stay at its start, byte by byte.
    """

    capability: str
    appends: Size
    unknown: tuple[str, ...]
    evicts: tuple[str, ...] | None
    keeps: Size


@attrs.frozen(kw_only=True)
class CacheReport:
    """The tool block of a session.

    Args:
        format: the API's form in which it was measured.
        counter: what counted the tokens.
        digest: sha256 of the block as it is now; the same one at the next turn means the same bytes.
        block: all of it. `stable`: what no activation and no eviction changes: octoc's own tools and the base.
        activations: for each capability that is not active, by name.
        breaks: active capability -> what of the block would stay at its start if that one were evicted.
    """

    format: str
    counter: str
    digest: str
    block: Size
    stable: Size
    activations: tuple[Activation, ...]
    breaks: dict[str, Size]


def cache_report(session: SessionState) -> CacheReport:
    """Measure a session's tool block; changes and connects nothing. Raises: BundleRefused."""
    texts = [tool_text(tool) for tool in tool_block(session, Form(COUNTED_FORMAT))]
    shown = [index for index, _ in session.tools.block()]
    block = _Block(session, len(texts) - len(shown), shown, _sizes(session, texts))
    return CacheReport(
        format=COUNTED_FORMAT,
        counter=session.counter.name,
        digest=sha256(f"[{','.join(texts)}]".encode("utf-8", "surrogatepass")).hexdigest(),
        block=block.sums[-1],
        stable=block.kept_without(session.active.names),
        activations=tuple(_activation(block, name) for name in _inactive(session)),
        breaks={name: block.kept_without([name]) for name in session.active.names},
    )


def _inactive(session: SessionState) -> list[str]:
    known, boot = session.loaded.capabilities, session.tools.registry.boot
    names = session.tools.registry.capabilities
    return [name for name in names if name in known and name not in session.active and name not in boot]


def _sizes(session: SessionState, texts: Iterable[str]) -> list[Size]:
    """Return how large the first 0, 1, 2, … of the texts are together."""
    count = session.counter.count
    found = [Size(tools=0, bytes=0, tokens=0)]
    for text in texts:
        last = found[-1]
        # With the bracket or comma before it: what stands before the next tool is the whole prefix.
        size = len(text.encode("utf-8", "surrogatepass")) + 1
        found.append(Size(tools=last.tools + 1, bytes=last.bytes + size, tokens=last.tokens + count(text)))
    return found


@attrs.frozen
class _Block:
    """A block: how many of its tools are octoc's own, the numbers of the others, and how large its beginnings are."""

    session: SessionState
    own: int
    shown: list[int]
    sums: list[Size]

    def staying(self, gone: Iterable[str]) -> frozenset[int]:
        """Return the tools that would be shown without some active capabilities."""
        surface, without = self.session.tools, frozenset(gone)
        active = (name for name in self.session.active.names if name not in without)
        return frozenset({*surface.base(), *(index for name in active for index in surface.owned(name))})

    def kept_without(self, gone: Iterable[str], coming: Iterable[int] = ()) -> Size:
        """Return what would stay at the start without some active capabilities, and with other tools instead."""
        staying = self.staying(gone).union(coming)
        first_gone = next((place for place, index in enumerate(self.shown) if index not in staying), len(self.shown))
        return self.sums[self.own + first_gone]


def _activation(block: _Block, name: str) -> Activation:
    session = block.session
    loaded, catalog = session.loaded, session.loaded.catalog
    evicts = evictions_for(session, name)
    owned, entry = session.tools.owned(name), session.tools.capability(name)
    new = [index for index in owned if index not in block.shown]
    texts = [tool_text(session.tools.scope.shown(index, COUNTED_FORMAT).tool) for index in new]
    return Activation(
        capability=name,
        appends=_sizes(session, texts)[-1],
        unknown=tuple(
            server
            for server in (() if entry is None else servers_of(entry))
            if loaded.can_connect(server) and not loaded.servers[server].listed and not catalog.has_joined(server)
        ),
        evicts=evicts,
        keeps=block.kept_without(evicts or (), owned),
    )
