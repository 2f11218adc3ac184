"""What differs between two locks, a line each: the rule that names the reason, and the words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import attrs

from octoc.compiler.lock.content import (
    TOOL_PIN_PARTS,
    EncoderLock,
    GateLock,
    LockContent,
    SearchLock,
    ServerLock,
    SnapshotLock,
    TapLock,
    ToolPin,
)
from octoc.compiler.lock.members import BundleLock
from octoc.compiler.lock.scopes import AgentLock
from octoc.diagnostics.rule import Rule
from octoc.diagnostics.rules.lock import (
    LOCK_OLDER,
    STALE_BUNDLE,
    STALE_ENCODER,
    STALE_FILE,
    STALE_GATE,
    STALE_PLUGIN,
    STALE_PROVIDER,
    STALE_SCOPE,
    STALE_SEARCH,
    STALE_SERVER,
    STALE_SETTING,
    STALE_SNAPSHOT,
    STALE_TAP,
)
from octoc.lists import some_names

V = TypeVar("V")
_ADDED, _REMOVED = "added", "removed"
_SHOWN = 5
_BIT = {True: "became executable", False: "is no longer executable"}


@attrs.frozen
class LockChange:
    """One difference. `text` is one line, true of both a build that follows it and one that must not."""

    rule: Rule
    text: str


def changes(old: LockContent, new: LockContent) -> tuple[LockChange, ...]:
    """Return every difference from `old` to `new`, in the lock's order of sections, by name.

    Another bundle is one only where nothing else says why it is another one.
    """
    found = tuple(_all(old, new))
    if old.revision < new.revision:
        pinned = "skills' files, `deps/`, local programs and the bundle"
        text = f"revision is {new.revision}, was {old.revision}: {pinned} are pinned, too"
        return (LockChange(LOCK_OLDER, text), *found)
    return found or tuple(_bundle(old.bundle, new.bundle))


def _all(old: LockContent, new: LockContent) -> Iterator[LockChange]:
    # An older lock does not have what became an input since then: that alone does not count as a change.
    before = _what_it_has(old, new) if old.revision < new.revision else old
    yield from _each(STALE_TAP, "tap", before.taps, new.taps, _tap)
    yield from _each(STALE_FILE, "file", before.files, new.files, _other)
    yield from _bits(before.executable, new.executable, new.files)
    yield from _each(STALE_PROVIDER, "capability", old.providers, new.providers, _was("provider"))
    yield from _each(STALE_SERVER, "server", old.servers, new.servers, _server)
    yield from _snapshots(before.snapshots, new.snapshots)
    yield from _each(STALE_ENCODER, "encoder", _encoder(old), _encoder(new), _other)
    yield from _each(STALE_GATE, "gate", _gate(old), _gate(new), _texts)
    yield from _each(STALE_SEARCH, "search", _search(old), _search(new), _intents)
    yield from _each(STALE_PLUGIN, "plugin", old.plugins, new.plugins, _was("version"))
    yield from _each(STALE_SCOPE, "agent", old.agents, new.agents, _agent)
    yield from _each(STALE_SETTING, "setting", old.settings.values, new.settings.values, _setting)
    if old.settings.values == new.settings.values and old.settings.digest != new.settings.digest:
        yield LockChange(STALE_SETTING, "settings: the digest is not that of the values")


def _what_it_has(old: LockContent, new: LockContent) -> LockContent:
    """Return an older lock as if it had the files that it cannot have, and digests of taps as they are now."""
    taps = {}
    for name, tap in old.taps.items():
        now = new.taps.get(name, tap)
        files = {**now.files, **tap.files}
        # The digest covers more since then; what an older one covers beside the files cannot be taken from it.
        digest = now.digest if files == now.files else tap.digest
        taps[name] = attrs.evolve(tap, digest=digest, files=files, executable=now.executable)
    snapshots = {
        name: attrs.evolve(one, tools={tool: _known_parts(pin, new, name, tool) for tool, pin in one.tools.items()})
        for name, one in old.snapshots.items()
    }
    files = {**new.files, **old.files}
    return attrs.evolve(old, files=files, taps=taps, executable=new.executable, snapshots=snapshots)


def _known_parts(pin: ToolPin, new: LockContent, server: str, tool: str) -> ToolPin:
    """Return an older pin with the new pin's digests of parts if the whole tool is the same."""
    now = new.snapshots[server].tools.get(tool) if server in new.snapshots else None
    return now if now is not None and now.digest == pin.digest else pin


def _bits(old: tuple[str, ...], new: tuple[str, ...], files: Mapping[str, str]) -> Iterator[LockChange]:
    """Yield each file of the workspace whose executable bit changed. One that was removed was reported."""
    for path in sorted(set(old).symmetric_difference(new).intersection(files)):
        yield LockChange(STALE_FILE, f"file `{path}` {_BIT[path in new]}")


def _bundle(old: BundleLock | None, new: BundleLock | None) -> Iterator[LockChange]:
    if old is None or new is None:
        if old is not new:
            yield LockChange(STALE_BUNDLE, f"the digest of the bundle {_REMOVED if new is None else _ADDED}")
        return
    yield from _each(STALE_BUNDLE, "bundle member", old.members, new.members, _other)
    yield from _each(STALE_BUNDLE, "what the bundle is made of:", old.made_of, new.made_of, _other)
    if old.members == new.members and old.digest != new.digest:
        yield LockChange(STALE_BUNDLE, "the digest of the bundle changed, and no member did")


def _each(
    rule: Rule, what: str, old: Mapping[str, V], new: Mapping[str, V], differ: Callable[[V, V], str]
) -> Iterator[LockChange]:
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield LockChange(rule, f"{what} `{name}` {_ADDED}")
        elif name not in new:
            yield LockChange(rule, f"{what} `{name}` {_REMOVED}")
        elif old[name] != new[name]:
            yield LockChange(rule, f"{what} `{name}`{differ(old[name], new[name])}")


def _encoder(content: LockContent) -> dict[str, EncoderLock]:
    return {} if content.encoder is None else {content.encoder.name: content.encoder}


def _gate(content: LockContent) -> dict[str, GateLock]:
    return {} if content.gate is None else {content.gate.kind: content.gate}


def _search(content: LockContent) -> dict[str, SearchLock]:
    return {} if content.search is None else {"by meaning": content.search}


def _other(_old: object, _new: object) -> str:
    return " changed"


def _texts(old: GateLock, new: GateLock) -> str:
    changed = [
        name for name in sorted(old.texts.keys() | new.texts.keys()) if old.texts.get(name) != new.texts.get(name)
    ]
    if old.background != new.background:
        changed.insert(0, "background")
    return f" changed: {', '.join(changed)}"


def _intents(_old: SearchLock, _new: SearchLock) -> str:
    return " changed: tool intents"


def _was(what: str) -> Callable[[str, str], str]:
    return lambda old, new: f": {what} is `{new}`, was `{old}`"


def _setting(old: Any, new: Any) -> str:
    return f" is {_shown(new)}, was {_shown(old)}"


def _shown(value: Any) -> str:
    if value in ([], ""):
        return "empty"
    if isinstance(value, list):
        return f"`{', '.join(map(str, value))}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _tap(old: TapLock, new: TapLock) -> str:
    paths = sorted(path for path in old.files.keys() | new.files.keys() if old.files.get(path) != new.files.get(path))
    bits = sorted(set(old.executable).symmetric_difference(new.executable).difference(paths))
    if (old.git, old.rev) != (new.git, new.rev):
        return f" comes from `{_source(new)}`, was `{_source(old)}`"
    what = [f"commit is `{new.commit[:12]}`, was `{old.commit[:12]}`"] if old.commit != new.commit else []
    what += [some_names(paths, _SHOWN)] if paths else []
    what += [f"`{path}` {_BIT[path in new.executable]}" for path in bits[:_SHOWN]]
    return f" changed: {', '.join(what) or 'links or names of files'}"


def _source(tap: TapLock) -> str:
    return f"{tap.git} {tap.rev}".rstrip() or "a folder"


def _server(old: ServerLock, new: ServerLock) -> str:
    if old.takes != new.takes:
        more = [name for name in new.takes if name not in old.takes]
        return f": takes {some_names(more)}, too" if more else ": takes less of this machine than before"
    if old.definition != new.definition:
        return ": definition changed"
    if (old.spec, old.version) != (new.spec, new.version):
        return f": version of package `{new.package}` is {_version(new)}, was {_version(old)}"
    if old.hashes != new.hashes:
        return f": hashes of package `{new.package}` changed"
    return f": package is `{new.package}`, was `{old.package}`"


def _version(lock: ServerLock) -> str:
    return f"`{lock.version}`" if lock.version else "not locked"


def _snapshots(old: Mapping[str, SnapshotLock], new: Mapping[str, SnapshotLock]) -> Iterator[LockChange]:
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            yield LockChange(STALE_SNAPSHOT, f"snapshot of `{name}` {_REMOVED if name in old else _ADDED}")
        elif (old[name].tools, old[name].offers) != (new[name].tools, new[name].offers):
            before = {f"{name}/{tool}": pin for tool, pin in old[name].tools.items()}
            after = {f"{name}/{tool}": pin for tool, pin in new[name].tools.items()}
            yield from _each(STALE_SNAPSHOT, "tool", before, after, _tool)
            yield from _each(STALE_SNAPSHOT, f"server `{name}`:", old[name].offers, new[name].offers, _other)
        elif old[name] != new[name]:
            yield LockChange(STALE_SNAPSHOT, f"snapshot of `{name}` changed, its tools did not")


def _agent(old: AgentLock, new: AgentLock) -> str:
    parts = []
    for word, before, after in (("reaches", old, new), ("no longer", new, old)):
        reached, offers = _more("reach", before, after), _more("offers", before, after)
        # A server without a snapshot is `name/*` among the tools and among the offers.
        of_known = [one.removesuffix("/*") for one in offers if one not in reached and one in before.reach]
        reached += [one for one in offers if one not in (*reached, *before.reach)]
        parts += [f"{word} {some_names(tuple(reached), _SHOWN)}"] if reached else []
        parts += [f"{word} resources and prompts of {some_names(tuple(of_known), _SHOWN)}"] if of_known else []
        for what in ("capabilities", "skills", "areas", "tenants"):
            more = _more(what, before, after)
            if more:
                kind = {"areas": "in area", "tenants": "for tenant"}.get(what, what)
                parts.append(f"{word} {kind} {some_names(more, _SHOWN)}")
    if old.tools != new.tools:
        parts.append(f"{new.tools} {'tool' if new.tools == 1 else 'tools'}, was {old.tools}")
    return f": {'; '.join(parts) or 'tools or settings changed'}"


def _more(what: str, before: AgentLock, after: AgentLock) -> list[str]:
    return [name for name in getattr(after, what) if name not in getattr(before, what)]


def _tool(old: ToolPin, new: ToolPin) -> str:
    changed = [part for part in TOOL_PIN_PARTS if getattr(old, part) != getattr(new, part)]
    return f": {' and '.join(part.replace('_', ' ') for part in changed) or 'definition'} changed"
