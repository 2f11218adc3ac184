"""The difference between two sides: every change with the agents that it reaches, and its cost in tokens and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.json_limits import parse
from octoc.pins.changes import SERVER, Change, listing_changes, worst
from octoc.pins.parts import Pin, change_objects, moves
from octoc.pins.rules import CLASSES, RULES, ChangeClass
from octoc.pins.sides import Record, Side, listing_of, pin_of
from octoc.search.fields import ToolText, spelled_terms
from octoc.tokens import APPROXIMATE

_PART_RULES = {
    "description": "description-changed",
    "input_schema": "input-schema-changed",
    "output_schema": "output-schema-changed",
    "annotations": "annotations-changed",
    "name": "record-changed",
    "instructions": "instructions-changed",
    "info": "server-info-changed",
    "features": "features-changed",
    "whole": "record-changed",
}
"""Part of a pin -> the rule for a change of which only digests are known."""


@attrs.frozen(kw_only=True)
class SubjectDiff:
    """The changes of one tool, offer or server.

    `agents` are those that may use it on either side; None means every agent. `tokens` are before and after, None
    where only digests are known. `words` are those by which search finds the tool no more, and newly.
    """

    server: str
    subject: str
    changes: tuple[Change, ...]
    agents: tuple[str, ...] | None = None
    tokens: tuple[int, int] | None = None
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def kind(self) -> ChangeClass:
        """The worst class of its changes."""
        return worst(self.changes) or ChangeClass.WORDING


@attrs.frozen(kw_only=True)
class Diff:
    """What differs between two sides.

    `moves` are, by server, the pins before and after (`octoc.pins.parts.moved` applies them). `agents` is what each
    agent gains and loses; `routing` names what routing and search decide by, with `added`, `removed` or `changed`.
    """

    old: str
    new: str
    subjects: tuple[SubjectDiff, ...]
    moves: Mapping[str, Mapping[str, Any]]
    agents: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    routing: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.subjects or self.agents or self.routing)

    @property
    def counts(self) -> Mapping[ChangeClass, int]:
        """The number of changes of each class, the worst first."""
        found = Counter(change.kind for one in self.subjects for change in one.changes)
        return {kind: found[kind] for kind in CLASSES}

    @property
    def tokens(self) -> int | None:
        """How many tokens more all tools have; None if that is not known of some."""
        known = [one.tokens for one in self.subjects if one.subject.startswith("tool ")]
        return None if None in known else sum(pair[1] - pair[0] for pair in known if pair)

    def as_json(self) -> dict[str, Any]:
        """Return the diff as plain JSON values."""
        return {
            "old": self.old,
            "new": self.new,
            "counts": {kind.value: count for kind, count in self.counts.items()},
            "changes": [_as_object(one) for one in self.subjects],
            "moves": self.moves,
            "agents": {name: {"gained": [*gained], "lost": [*lost]} for name, (gained, lost) in self.agents.items()},
            "routing": dict(self.routing),
            "tokens": self.tokens,
        }


def _as_object(one: SubjectDiff) -> dict[str, Any]:
    return {
        "server": one.server,
        "subject": one.subject,
        "class": one.kind.value,
        "changes": change_objects(one.changes),
        "agents": None if one.agents is None else [*one.agents],
        "tokens": None if one.tokens is None else {"before": one.tokens[0], "after": one.tokens[1]},
        "search": {"removed": [*one.words[0]], "added": [*one.words[1]]},
    }


def diff(old: Side, new: Side) -> Diff:
    """Return what differs from one side to the next. Servers that neither side recorded have no changes."""
    subjects: list[SubjectDiff] = []
    moved: dict[str, Mapping[str, Any]] = {}
    for server in sorted(old.servers.keys() | new.servers.keys()):
        before, after = _differing(old.servers.get(server, {}), new.servers.get(server, {}))
        if not before and not after:
            continue
        pins = [{subject: pin_of(subject, record) for subject, record in one.items()} for one in (before, after)]
        moved[server] = moves(*pins)
        if server not in new.servers or server not in old.servers:
            rule = RULES["server-added" if server in new.servers else "server-removed"]
            changes: tuple[Change, ...] = (Change(subject=SERVER, rule=rule),)
        else:
            changes = _changes(before, after)
        by_subject: dict[str, list[Change]] = {}
        for change in changes:
            by_subject.setdefault(change.subject, []).append(change)
        for subject, own in by_subject.items():
            tokens = _tokens(before, after, subject)
            words = _words(server, before.get(subject), after.get(subject)) if subject.startswith("tool ") else ((), ())
            agents = _agents(old, new, server, subject)
            subjects.append(
                SubjectDiff(
                    server=server, subject=subject, changes=tuple(own), agents=agents, tokens=tokens, words=words
                )
            )
    subjects.sort(key=lambda one: CLASSES.index(one.kind))
    return Diff(
        old=old.name,
        new=new.name,
        subjects=tuple(subjects),
        moves=moved,
        agents=_reach(old, new),
        routing=_routing(old, new),
    )


def _differing(old: Mapping[str, Record], new: Mapping[str, Record]) -> tuple[dict[str, Record], dict[str, Record]]:
    """Return the records of a server that differ, in a form that both sides have."""
    before: dict[str, Record] = {}
    after: dict[str, Record] = {}
    for subject in sorted(old.keys() | new.keys()):
        one, other = old.get(subject), new.get(subject)
        if one == other:
            continue
        if one is not None and other is not None:
            one, other = _alike(subject, one, other)
            if one == other:
                continue
        before |= {} if one is None else {subject: one}
        after |= {} if other is None else {subject: other}
    return before, after


def _alike(subject: str, old: Record, new: Record) -> tuple[Record, Record]:
    """Return two records with the parts that both sides know."""
    if isinstance(old, bytes) and isinstance(new, bytes):
        if subject != SERVER:
            return old, new
        one, other = parse(old), parse(new)
        if "info" in one and "info" in other:
            return old, new
        # A bundle does not record the name and version of a server's program.
        for words in (one, other):
            words.pop("info", None)
        return canonical_json(one), canonical_json(other)
    before, after = _with_whole(subject, old), _with_whole(subject, new)
    shared = [part for part in _PART_RULES if part in before and part in after]
    return {part: before[part] for part in shared}, {part: after[part] for part in shared}


def _with_whole(subject: str, record: Record) -> Pin:
    """Return the pin of a record as a lock has it: with a digest of the whole, and empty parts that are absent."""
    if not isinstance(record, bytes):
        return record
    absent = dict.fromkeys(("description", "input_schema", "output_schema", "annotations"), "")
    return {**absent, **pin_of(subject, record), "whole": sha256_hex(record)}


def _changes(before: Mapping[str, Record], after: Mapping[str, Record]) -> tuple[Change, ...]:
    one, other = (
        [(subject, record) for subject, record in side.items() if isinstance(record, bytes)] for side in (before, after)
    )
    if len(one) == len(before) and len(other) == len(after):
        return listing_changes(listing_of(one), listing_of(other))
    found = []
    for subject in sorted(before.keys() | after.keys()):
        old, new = before.get(subject), after.get(subject)
        if old is None or new is None:
            kind = subject.partition(" ")[0]
            name = "record-changed" if subject == SERVER else f"{kind}-{'added' if old is None else 'removed'}"
            found.append(Change(subject=subject, rule=RULES[name]))
            continue
        pins = pin_of(subject, old), pin_of(subject, new)
        parts = [part for part in sorted(pins[0].keys() | pins[1].keys()) if pins[0].get(part) != pins[1].get(part)]
        named = [part for part in parts if part in _PART_RULES] or ["whole"]
        found += [Change(subject=subject, rule=RULES[_PART_RULES[part]], at=part) for part in named]
    return tuple(found)


def _tokens(before: Mapping[str, Record], after: Mapping[str, Record], subject: str) -> tuple[int, int] | None:
    sizes = []
    for side in (before, after):
        record = side.get(subject)
        if record is not None and not isinstance(record, bytes):
            return None
        sizes.append(0 if record is None else APPROXIMATE.count(record.decode()))
    return sizes[0], sizes[1]


def _words(server: str, old: Record | None, new: Record | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a tool's name and description that search loses and gains."""
    before, after = _terms(server, old), _terms(server, new)
    return tuple(sorted(before - after)), tuple(sorted(after - before))


def _terms(server: str, record: Record | None) -> set[str]:
    if not isinstance(record, bytes):
        return set()
    wire = parse(record)
    return spelled_terms(
        ToolText(server=server, name=str(wire.get("name")), description=str(wire.get("description") or ""))
    )


def _agents(old: Side, new: Side, server: str, subject: str) -> tuple[str, ...] | None:
    if old.agents is None and new.agents is None:
        return None
    found = {name for side in (old, new) for name, reach in (side.agents or {}).items() if reach.has(server, subject)}
    return tuple(sorted(found))


def _reach(old: Side, new: Side) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    if old.agents is None or new.agents is None:
        return {}
    found = {}
    for name in sorted(old.agents.keys() | new.agents.keys()):
        before, after = (
            {*reach.tools, *reach.offers} if (reach := side.get(name)) is not None else set()
            for side in (old.agents, new.agents)
        )
        if before != after:
            found[name] = (tuple(sorted(after - before)), tuple(sorted(before - after)))
    return found


def _routing(old: Side, new: Side) -> dict[str, str]:
    if old.routing is None or new.routing is None:
        return {}
    before, after = old.routing, new.routing
    return {
        name: "added" if name not in before else "removed" if name not in after else "changed"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }
