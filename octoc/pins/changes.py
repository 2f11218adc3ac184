"""Every change from one record of a server to the next, each by a named rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json
from octoc.formats.flatten import brief
from octoc.pins.rules import CLASSES, RULES, ChangeClass, ChangeRule
from octoc.pins.schemas import Finding, output_changes, same, schema_changes
from octoc.results import ListedOffer, ServerListing

SERVER = "server"
"""The subject of a change of what a server says of itself."""
_ACTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""Hint on what a call does -> the value that it has where a server does not state it. Source: MCP 2025-11-25."""
_HINT_NAMES = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open-world",
}
_OFFER_KEYS = ("uri", "uriTemplate", "name")


@attrs.frozen(kw_only=True)
class Change:
    """One change of a server's record.

    `subject` is `tool NAME`, `resource URI`, `template URI`, `prompt NAME`, or `server` for what a server says of
    itself. `at`, `old` and `new` are the words of the rule's text.
    """

    subject: str
    rule: ChangeRule
    at: str = ""
    old: str = ""
    new: str = ""

    @property
    def kind(self) -> ChangeClass:
        """How bad it is."""
        return self.rule.kind

    @property
    def name(self) -> str:
        """The name of what changed: a tool's bare name, an offer's kind and name."""
        return self.subject.removeprefix("tool ")

    @property
    def text(self) -> str:
        """What changed, in a few words."""
        return self.rule.text.format(at=self.at, old=self.old, new=self.new)

    def __str__(self) -> str:
        return f"{self.kind}: `{self.name}` {self.text}"


def listing_changes(old: ServerListing, new: ServerListing) -> tuple[Change, ...]:
    """Return every change from one listing to the next: of the server, then by tool, then by offer; the worst first."""
    before = {f"tool {tool.name}": tool.wire for tool in old.tools}
    after = {f"tool {tool.name}": tool.wire for tool in new.tools}
    return (*_server(old, new), *_tools(before, after), *_offers(old.offers, new.offers))


def tool_changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return every change of one tool from one wire object to the next, the worst first."""
    return _sorted(_change(f"tool {name}", finding) for finding in _of_tool(old, new))


def offer_changes(old: ListedOffer, new: ListedOffer) -> tuple[Change, ...]:
    """Return every change of one resource, template or prompt, the worst first."""
    subject = f"{old.kind} {old.name}"
    of_kind = _of_prompt if old.kind == "prompt" else _of_resource
    return _sorted(_change(subject, finding) for finding in of_kind(old.kind, old.wire, new.wire))


def worst(changes: Iterable[Change]) -> ChangeClass | None:
    """Return the worst class of some changes; None without any."""
    return min((change.kind for change in changes), key=CLASSES.index, default=None)


def _sorted(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: CLASSES.index(change.kind)))


def _change(subject: str, finding: Finding) -> Change:
    return Change(subject=subject, rule=finding.rule, at=finding.at, old=finding.old, new=finding.new)


def _server(old: ServerListing, new: ServerListing) -> Iterator[Change]:
    def change(rule: str, at: str = "", one: Any = "", other: Any = "") -> Change:
        return Change(subject=SERVER, rule=RULES[rule], at=at, old=f"`{one}`", new=f"`{other}`")

    for feature in sorted({*old.features} - {*new.features}):
        yield change("feature-removed", one=feature)
    for feature in sorted({*new.features} - {*old.features}):
        yield change("feature-added", other=feature)
    if (old.instructions or "") != (new.instructions or ""):
        yield change("instructions-changed", one=old.instructions or "", other=new.instructions or "")
    for key in sorted(old.server_info.keys() | new.server_info.keys()):
        one, other = old.server_info.get(key), new.server_info.get(key)
        if not same(one, other):
            yield change("server-version-changed" if key == "version" else "server-info-changed", key, one, other)


def _tools(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    moved = _renamed(before, after)
    for subject in sorted((before.keys() | after.keys()) - set(moved.values())):
        if subject in moved:
            new = f"`{moved[subject].removeprefix('tool ')}`"
            yield Change(subject=subject, rule=RULES["tool-renamed"], new=new)
        elif subject not in after:
            yield Change(subject=subject, rule=RULES["tool-removed"])
        elif subject not in before:
            yield Change(subject=subject, rule=RULES["tool-added"])
        elif before[subject] is not after[subject]:
            yield from tool_changes(subject.removeprefix("tool "), before[subject], after[subject])


def _renamed(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]], *keys: str
) -> dict[str, str]:
    """Return old subject -> new subject where one removed and one added entry differ in `keys` and the name alone."""
    gone, more = before.keys() - after.keys(), after.keys() - before.keys()
    if not gone or not more:
        return {}

    def content(wire: Mapping[str, Any]) -> bytes:
        return canonical_json({key: value for key, value in wire.items() if key not in ("name", "_meta", *keys)})

    of_content: dict[bytes, list[str]] = {}
    for subject in sorted(more):
        of_content.setdefault(content(after[subject]), []).append(subject)
    moved: dict[str, str] = {}
    for subject in sorted(gone):
        twins = of_content.get(content(before[subject]), [])
        # Entries without a text of their own are alike by chance.
        if len(twins) == 1 and twins[0] not in moved.values() and before[subject].get("description"):
            moved[subject] = twins[0]
    return moved


def _of_tool(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    for key in sorted(old.keys() | new.keys()):
        one, other = old.get(key), new.get(key)
        if key == "name" or same(one, other):
            continue
        if key == "inputSchema":
            yield from schema_changes({} if one is None else one, {} if other is None else other)
        elif key == "outputSchema":
            yield from output_changes(one, other)
        elif key == "annotations":
            yield from _annotations(one, other)
        elif key == "description":
            yield _description(one, other)
        elif key in _TOOL_MEMBERS:
            yield Finding(RULES[_TOOL_MEMBERS[key]], key, _shown(one), _shown(other))
        else:
            yield Finding(RULES["member-changed"], key, _shown(one), _shown(other))


_TOOL_MEMBERS = {
    "execution": "execution-changed",
    "title": "title-changed",
    "icons": "icons-changed",
    "_meta": "meta-changed",
}


def _description(one: Any, other: Any) -> Finding:
    what = "added" if not one else "removed" if not other else "changed"
    return Finding(RULES[f"description-{what}"], "", str(one or ""), str(other or ""))


def _annotations(old: Any, new: Any) -> Iterator[Finding]:
    before, after = (one if isinstance(one, Mapping) else {} for one in (old, new))
    found = []
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if same(one, other):
            continue
        shown = (_shown(one), _shown(other))
        if key == "title":
            found.append(Finding(RULES["title-changed"], key, *shown))
        elif key not in _ACTS:
            found.append(Finding(RULES["annotation-changed"], key, *shown))
        else:
            was, now = (_ACTS[key] if value is None else value for value in (one, other))
            if was is now:
                found.append(Finding(RULES["hint-stated"], key, *shown))
            else:
                rule = f"{_HINT_NAMES[key]}-hint-{'gained' if now is True else 'dropped'}"
                found.append(Finding(RULES[rule], key, *shown))
    yield from found or [Finding(RULES["annotation-changed"], "annotations", _shown(old), _shown(new))]


def _offers(old: Iterable[ListedOffer], new: Iterable[ListedOffer]) -> Iterator[Change]:
    before, after = ({f"{offer.kind} {offer.name}": offer for offer in side} for side in (old, new))
    moved: dict[str, str] = {}
    for kind in ("resource", "template", "prompt"):
        of_kind = [
            {subject: offer.wire for subject, offer in side.items() if offer.kind == kind} for side in (before, after)
        ]
        moved |= _renamed(of_kind[0], of_kind[1], *(() if kind == "prompt" else _OFFER_KEYS))
    for subject in sorted((before.keys() | after.keys()) - set(moved.values())):
        offer = before[subject] if subject in before else after[subject]
        if subject in moved:
            rule = "prompt-renamed" if offer.kind == "prompt" else f"{offer.kind}-uri-changed"
            yield Change(subject=subject, rule=RULES[rule], new=f"`{after[moved[subject]].name}`")
        elif subject not in after:
            yield Change(subject=subject, rule=RULES[f"{offer.kind}-removed"])
        elif subject not in before:
            yield Change(subject=subject, rule=RULES[f"{offer.kind}-added"])
        else:
            yield from offer_changes(before[subject], after[subject])


def _of_resource(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    one, other = old.get("mimeType"), new.get("mimeType")
    if not same(one, other):
        what = "stated" if one is None or other is None else "changed"
        yield Finding(RULES[f"{kind}-mime-type-{what}"], "", _shown(one), _shown(other))
    yield from _members(old, new, "mimeType")


def _of_prompt(_kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    before, after = _arguments(old), _arguments(new)
    found = []
    for name in sorted(before.keys() | after.keys()):
        at, one, other = f"argument `{name}`", before.get(name), after.get(name)
        if one is None or other is None:
            is_required = other is not None and other.get("required") is True
            what = "removed" if other is None else "required-added" if is_required else "added"
        elif same(one, other):
            continue
        elif (one.get("required") is True) == (other.get("required") is True):
            what = "text-changed"
        else:
            what = "required" if other.get("required") is True else "optional"
        found.append(Finding(RULES[f"prompt-argument-{what}"], at))
    if not found and not same(old.get("arguments"), new.get("arguments")):
        found = [Finding(RULES["prompt-argument-text-changed"], "arguments")]
    yield from found
    yield from _members(old, new, "arguments")


def _arguments(wire: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    arguments = wire.get("arguments")
    entries = arguments if isinstance(arguments, list) else []
    return {str(entry.get("name")): entry for entry in entries if isinstance(entry, Mapping)}


def _members(old: Mapping[str, Any], new: Mapping[str, Any], *known: str) -> Iterator[Finding]:
    for key in sorted((old.keys() | new.keys()) - {*known}):
        one, other = old.get(key), new.get(key)
        if not same(one, other):
            name = f"offer-{key}-changed" if key in ("description", "title") else "offer-member-changed"
            yield Finding(RULES[name], key, _shown(one), _shown(other))


def _shown(value: Any) -> str:
    return "absent" if value is None else f"`{value if isinstance(value, str) else brief(value)}`"
