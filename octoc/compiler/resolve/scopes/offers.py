"""Look up resources and prompts in tables of scopes and in agents' files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

import attrs

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.scopes import OfferId
from octoc.compiler.resolve.spelling import qualified, stem
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import UNKNOWN_OFFER
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import some_names
from octoc.names import glob_matches

EntryKind = Literal["resource", "prompt"]
Entries = tuple[Located[str], ...]


class NamesOffers(Protocol):
    """A table or an agent's file that may name offers."""

    @property
    def resources(self) -> Entries: ...
    @property
    def prompts(self) -> Entries: ...


def offer_entries(source: NamesOffers) -> tuple[tuple[EntryKind, Entries], ...]:
    """Return the entries of `resources` and `prompts` with their kind."""
    return ("resource", source.resources), ("prompt", source.prompts)


def ids_of(server: Server) -> Iterator[OfferId]:
    """Yield the identities of a server's listed offers."""
    return (OfferId(server.name, offer.name, offer.kind) for offer in server.offers)


def whole_of(server: Server) -> OfferId:
    """Return what stands for all that a server may offer, also unlisted."""
    return OfferId(server.name, "*", "whole")


@attrs.frozen(kw_only=True)
class OfferLookup:
    """The servers whose offers entries may name, and the sink that gets unknown names."""

    servers: Mapping[str, Server]
    sink: DiagnosticSink

    def reach(
        self, entry: Located[str], kind: EntryKind, what: str, severity: Severity | None = None
    ) -> frozenset[OfferId]:
        """Return the offers that an entry of `resources` or `prompts` matches; report an entry without a match.

        A resource is `server/URI` or a bare URI, and also matches templates; a prompt is written as a tool is. Only a
        `*` at the end stands for any text.
        """
        found = frozenset(
            one
            for name, glob in self._targets(entry.value, kind)
            for one in ids_of(self.servers[name])
            if (one.kind == "prompt") == (kind == "prompt") and glob_matches(glob, one.tool)
        )
        if not found:
            known = [f"{one.server}/{one.tool}" for one in self._known(kind)]
            inner = "only a `*` at the end stands for any text" if "*" in entry.value[:-1] else None
            unlisted = next((name for name, _ in self._targets(entry.value, kind) if not self._lists(name)), None)
            self.sink.report(
                UNKNOWN_OFFER,
                f"{what} names {kind} `{entry.value}`, and no server has one that matches",
                at=entry.place,
                help=inner
                or (f"run `octoc pin {unlisted}`" if unlisted else None)
                or did_you_mean(entry.value.rstrip("*"), known)
                or (f"there is {some_names(known, 6)}" if known else f"no snapshot has a {kind}: run `octoc pin`"),
                fix=renamed(entry.place, entry.value, known),
                severity=severity,
            )
        return found

    def readers(self, entry: Located[str]) -> frozenset[OfferId]:
        """Return the templates that may read a resource that an entry of `resources` means."""
        return frozenset(
            one
            for name, glob in self._targets(entry.value, "resource")
            for one in ids_of(self.servers[name])
            if one.kind == "template" and _may_read(one.tool, glob)
        )

    def doubtful(self, entry: Located[str], kind: EntryKind) -> frozenset[OfferId] | None:
        """Return all offers of the servers that an entry without a match may mean; None if it may mean any server."""
        targets = self._targets(entry.value, kind)
        if not targets:
            return None
        names = {name for name, _ in targets}
        return frozenset(one for name in names for one in (*ids_of(self.servers[name]), whole_of(self.servers[name])))

    def _targets(self, text: str, kind: EntryKind) -> list[tuple[str, str]]:
        if kind == "prompt":
            named = qualified(text, self.servers)
            if named is not None:
                return [named]
            return [(name, "*") for name in self.servers] if text == "*" else []
        server, slash, uri = text.partition("/")
        if slash and server in self.servers:
            return [(server, uri or "*")]
        return [(name, text) for name in self.servers]

    def _known(self, kind: EntryKind) -> Iterator[OfferId]:
        for server in self.servers.values():
            yield from (one for one in ids_of(server) if (one.kind == "prompt") == (kind == "prompt"))

    def _lists(self, server: str) -> bool:
        return self.servers[server].listed


def _may_read(template: str, glob: str) -> bool:
    """Return whether a URI of a template may match a glob: the text before its first expression decides."""
    literal, fixed = template.partition("{")[0].lower(), stem(glob).lower()
    return literal.startswith(fixed) or fixed.startswith(literal)
