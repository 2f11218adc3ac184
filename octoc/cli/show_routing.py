"""What the gate of a bundle learned from needs, as `octoc show routing` lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from octoc.runtime import Runtime


def list_needs(runtime: Runtime, agent: str | None) -> list[dict[str, Any]]:
    """Return each need that a capability of the bundle or of an agent meets, and whether the gate learned from it."""
    names = None if agent is None else runtime.owners_session(agent).state.tools.entries
    gate = runtime.bundle.gate
    return [] if gate is None else needs_of(gate.data, names)


def needs_of(data: Mapping[str, Any], names: Collection[str | None] | None = None) -> list[dict[str, Any]]:
    """Return each need that one of the named capabilities meets, or any of them for None, as `list_needs` does.

    Args:
        data: of the gate.
    """
    return [
        {"need": need, "capability": capability, "used": need in data["needs"], "why": _why(data, need, helps=helps)}
        for need, (capability, helps) in data.get("needs_judged", {}).items()
        if names is None or capability in names
    ]


def _why(data: Mapping[str, Any], need: str, *, helps: bool) -> str:
    if need not in data["needs"]:
        return f"left out: {'needs help too few capabilities' if helps else 'its triggers become less likely'}"
    if helps:
        return "its triggers stay likely"
    return "a need of the workspace" if data["needs_unused"] else "needs help most capabilities"
