"""The transport kinds that plugins register: which may be used, and which are refused and why."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.plugin.manager import Plugins
from octoc.plugin.rules import REPORT, RefusedPart
from octoc.transport_kinds import OWN_KEY, STANDARD, TransportKind


@attrs.frozen(kw_only=True)
class RegisteredKinds:
    """Every known kind by key; `connected` are those that a plugin registers, which it connects."""

    kinds: Mapping[str, TransportKind]
    connected: frozenset[str] = frozenset()
    refused: tuple[RefusedPart, ...] = ()


def transport_kinds(plugins: Plugins) -> RegisteredKinds:
    """Return the standard kinds, and what `plugins` register by `octoc_transport_kinds`, by name."""
    owners: dict[str, str] = {}
    kinds = dict(STANDARD)
    refused: list[RefusedPart] = []
    for answer in plugins.answers("octoc_transport_kinds"):
        if answer.error:
            refused.append(RefusedPart(f"plugin `{answer.plugin}` cannot register its kinds{answer.error}", REPORT))
        for kind in answer.items:
            why = _why_refused(kind, owners)
            if why:
                refused.append(RefusedPart(f"plugin `{answer.plugin}` registers {why}", REPORT))
            else:
                kinds[kind.key] = kind
                owners[kind.key] = answer.plugin
    return RegisteredKinds(kinds=kinds, connected=frozenset(owners), refused=tuple(refused))


def transport_kind(plugins: Plugins, key: str) -> TransportKind:
    """Return the kind with this key; one without any facts when neither octoc nor a plugin has it."""
    return STANDARD.get(key) or transport_kinds(plugins).kinds.get(key) or TransportKind(key=key)


def _why_refused(kind: object, owners: Mapping[str, str]) -> str:
    """Return what is wrong with a plugin's kind, to follow "registers"; empty when it can be used."""
    if not isinstance(kind, TransportKind):
        return f"`{type(kind).__name__}` where a transport kind is expected"
    if kind.key in owners:
        return f"transport kind `{kind.key}`, which plugin `{owners[kind.key]}` has too"
    if kind.key in STANDARD:
        return "" if kind == STANDARD[kind.key] else f"transport kind `{kind.key}`, which octoc defines otherwise"
    if not OWN_KEY.fullmatch(kind.key):
        return f"transport kind `{kind.key}`, whose key is not words joined by `-`, as `acme-queue`"
    return ""
