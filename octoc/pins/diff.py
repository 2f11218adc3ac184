"""The difference between two sides: every change with the agents that it reaches, and its cost in tokens and words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from octoc.aliases import own_alias
from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.formats.render import COUNTED_FORMAT, shown, tool_text
from octoc.lists import some_names
from octoc.names import ToolId
from octoc.pins.changes import SERVER, Change, listing_changes, worst
from octoc.pins.parts import Pin, change_objects, moves
from octoc.pins.rules import CLASSES, RULES, ChangeClass
from octoc.pins.sides import Part, Record, Side, listing_of, pin_of, wire_of
from octoc.search.fields import ToolText, searched_texts
from octoc.search.words import terms, words
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
_SEARCHED = ("name", "description", "inputSchema")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SHOWN = 5
_MOST_WORDS = 4096
"""Texts whose words are kept, and words whose terms are: names of servers and of arguments are in many tools."""


@attrs.frozen(kw_only=True)
class SubjectDiff:
    """The changes of one tool, offer or server.

    `agents` are those that may use it on either side; None means every agent. `capabilities` are those whose
    activation shows the tool. `tokens` are before and after, None where only digests are known. `words` are those of
    its name, description and arguments by which search finds the tool no more, and newly.
    """

    server: str
    subject: str
    changes: tuple[Change, ...]
    agents: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] = ()
    tokens: tuple[int, int] | None = None
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def kind(self) -> ChangeClass:
        """The worst class of its changes."""
        return worst(self.changes) or ChangeClass.WORDING


@attrs.frozen(kw_only=True)
class Diff:
    """What differs between two sides.

    `records` are, by server, those before and after that differ. `agents` is what each
    agent gains and loses; `routing` names what routing and search decide by, with `added`, `removed`, or what changed.
    `left_out` are, by server, changed tools that the server's own filter leaves out: they do not count as a difference.
    """

    old: str
    new: str
    subjects: tuple[SubjectDiff, ...]
    records: Mapping[str, tuple[Mapping[str, Record], Mapping[str, Record]]]
    agents: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    routing: Mapping[str, str]
    left_out: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.subjects or self.agents or self.routing)

    @property
    def counts(self) -> Mapping[ChangeClass, int]:
        """The number of changes of each class, the worst first."""
        found = Counter(change.kind for one in self.subjects for change in one.changes)
        return {kind: found[kind] for kind in CLASSES}

    @property
    def moves(self) -> Mapping[str, Mapping[str, Any]]:
        """By server, the pins before and after each change; `octoc.pins.parts.moved` applies them."""
        return {
            server: moves(*({subject: pin_of(subject, record) for subject, record in side.items()} for side in pair))
            for server, pair in self.records.items()
        }

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
            "left_out": {server: [*names] for server, names in self.left_out.items()},
            "tokens": self.tokens,
        }


def _as_object(one: SubjectDiff) -> dict[str, Any]:
    return {
        "server": one.server,
        "subject": one.subject,
        "class": one.kind.value,
        "changes": change_objects(one.changes),
        "agents": None if one.agents is None else [*one.agents],
        "capabilities": [*one.capabilities],
        "tokens": None if one.tokens is None else {"before": one.tokens[0], "after": one.tokens[1]},
        "search": {"removed": [*one.words[0]], "added": [*one.words[1]]},
    }


def diff(old: Side, new: Side) -> Diff:
    """Return what differs from one side to the next. Servers that neither side recorded have no changes."""
    subjects: list[SubjectDiff] = []
    differing: dict[str, tuple[Mapping[str, Record], Mapping[str, Record]]] = {}
    for server in sorted(old.servers.keys() | new.servers.keys()):
        before, after = _differing(*_known_of_both(old.servers.get(server, {}), new.servers.get(server, {})))
        if not before and not after:
            continue
        wires = [
            {subject: wire_of(record) for subject, record in one.items() if isinstance(record, bytes)}
            for one in (before, after)
        ]
        differing[server] = (before, after)
        if server not in new.servers or server not in old.servers:
            rule = RULES["server-added" if server in new.servers else "server-removed"]
            changes: tuple[Change, ...] = (Change(subject=SERVER, rule=rule),)
        else:
            is_whole = len(wires[0]) == len(before) and len(wires[1]) == len(after)
            changes = listing_changes(*map(listing_of, wires)) if is_whole else _changes(before, after)
        by_subject: dict[str, list[Change]] = {}
        for change in changes:
            by_subject.setdefault(change.subject, []).append(change)
        for subject, own in by_subject.items():
            tokens = _tokens(server, before, after, subject)
            is_tool = subject.startswith("tool ")
            tool = f"{server}/{subject.removeprefix('tool ')}" if is_tool else ""
            subjects.append(
                SubjectDiff(
                    server=server,
                    subject=subject,
                    changes=tuple(own),
                    agents=_agents(old, new, server, subject),
                    capabilities=tuple(sorted({*old.capabilities.get(tool, ()), *new.capabilities.get(tool, ())})),
                    tokens=tokens,
                    words=_words(server, *(side.get(subject) for side in wires)) if is_tool else ((), ()),
                )
            )
    subjects.sort(key=lambda one: CLASSES.index(one.kind))
    return Diff(
        old=old.name,
        new=new.name,
        subjects=tuple(subjects),
        records=differing,
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


def _known_of_both(
    before: Mapping[str, Record], after: Mapping[str, Record]
) -> tuple[Mapping[str, Record], Mapping[str, Record]]:
    """Return two servers' records without a server's own words if only one side has them: a lock alone has none."""
    if not before or not after or (SERVER in before) == (SERVER in after):
        return before, after
    kept = ({subject: record for subject, record in one.items() if subject != SERVER} for one in (before, after))
    return next(kept), next(kept)


def _alike(subject: str, old: Record, new: Record) -> tuple[Record, Record]:
    """Return two records with the parts that both sides know."""
    if isinstance(old, bytes) and isinstance(new, bytes):
        if subject != SERVER:
            return old, new
        one, other = wire_of(old), wire_of(new)
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
    """Return the changes between records of which some are only digests."""
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


def _tokens(
    server: str, before: Mapping[str, Record], after: Mapping[str, Record], subject: str
) -> tuple[int, int] | None:
    """Return the tokens before and after: of a tool as a model is shown it, of another record as a whole."""
    sizes = []
    for side in (before, after):
        record = side.get(subject)
        if record is not None and not isinstance(record, bytes):
            return None
        sizes.append(0 if record is None else APPROXIMATE.count(_counted(server, subject, record)))
    return sizes[0], sizes[1]


def _counted(server: str, subject: str, record: bytes) -> str:
    kind, _, name = subject.partition(" ")
    if kind != "tool":
        return record.decode()
    return tool_text(shown(own_alias(ToolId(server, name)), wire_of(record), COUNTED_FORMAT).tool)


def _words(
    server: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that search loses and gains of a tool."""
    keys = [key for key in _SEARCHED if (old or {}).get(key) != (new or {}).get(key)]
    before, after = (set() if wire is None else _spelled(server, wire, keys) for wire in (old, new))
    gone, more = before - after, after - before
    rest: set[str] = set()
    if old is not None and new is not None and (gone or more):
        rest = _terms((before & after) | _spelled(server, new, [key for key in _SEARCHED if key not in keys]))
    return _words_of(gone, _terms(more) | rest), _words_of(more, _terms(gone) | rest)


def _words_of(spelled: Iterable[str], known: set[str]) -> tuple[str, ...]:
    """Return the words that have a term which is not known."""
    return tuple(sorted(word for word in spelled if not known.issuperset(_terms_of(word))))


def _spelled(server: str, wire: Mapping[str, Any], keys: Collection[str]) -> set[str]:
    """Return the words of a server's name and of parts of a tool."""
    name, text, schema = (wire.get(key) if key in keys else None for key in _SEARCHED)
    tool = ToolText(server=server, name=str(name or ""), description=str(text or ""), schema=schema)
    return {word for text in searched_texts(tool) for word in _words_in(text)}


def _terms(spelled: Iterable[str]) -> set[str]:
    return {term for word in spelled for term in _terms_of(word)}


@lru_cache(_MOST_WORDS)
def _words_in(text: str) -> tuple[str, ...]:
    return tuple(words(text))


@lru_cache(_MOST_WORDS)
def _terms_of(word: str) -> tuple[str, ...]:
    return tuple(terms(word))


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
        name: "added"
        if name not in before
        else "removed"
        if name not in after
        else _parts_changed(before[name], after[name])
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }


def _parts_changed(old: Mapping[str, Part], new: Mapping[str, Part]) -> str:
    found = []
    for part in sorted(old.keys() | new.keys()):
        one, other = old.get(part, ""), new.get(part, "")
        if one == other:
            continue
        if isinstance(one, tuple) or isinstance(other, tuple):
            gone, more = ([text for text in a if text not in b] for a, b in ((one, other), (other, one)))
            lists = [("without", gone), ("with", more)]
            found.append(
                f"{part} "
                + (
                    ", ".join(f"{word} {some_names(texts, _SHOWN)}" for word, texts in lists if texts)
                    or "in another order"
                )
            )
        elif _DIGEST.fullmatch(one) or _DIGEST.fullmatch(other):
            found.append(f"{part} changed")
        else:
            found.append(f"{part} is `{other}`, was `{one}`")
    return "; ".join(found)
