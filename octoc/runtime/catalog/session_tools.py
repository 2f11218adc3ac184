"""The tools that a session may see and call now: its agent's registry with the active capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octoc.aliases import ToolNames
    from octoc.bundle.model import CapabilityEntry
    from octoc.runtime.activation.active_set import ActiveSet
    from octoc.runtime.catalog.agent_scope import AgentScope


class SessionTools:
    """A session's tools, by number. Tools outside the registry have no number here.

    - Base: direct tools and those of boot capabilities.
    - Visible: the base and the tools of active capabilities; their schemas are in the prompt.
    - Reachable: the visible tools and, with the proxy, the whole registry.
    """

    def __init__(self, scope: AgentScope, active: ActiveSet) -> None:
        self.scope = scope
        self.registry = scope.registry
        self.catalog = scope.catalog
        self.active = active
        self._shown: list[int] = []
        self._block: dict[int, Mapping[str, Any]] = {}

    @property
    def switchable(self) -> tuple[str, ...]:
        """The capabilities that this session can name: those it may activate or has active, and boot ones, sorted."""
        return tuple(self.entries)

    @property
    def entries(self) -> Mapping[str, CapabilityEntry]:
        """The capabilities that this session can name, by name, sorted."""
        by_host = {name: self.scope.reserved[name] for name in self.active.names if name in self.scope.reserved}
        return dict(sorted({**self.scope.entries, **by_host}.items())) if by_host else self.scope.entries

    def capability(self, name: str, *, by_host: bool = False) -> CapabilityEntry | None:
        """Return a capability with its grants in scope; None for one that cannot be named.

        Args:
            by_host: the host asks, which can also name capabilities reserved for it.
        """
        entry = self.entries.get(name)
        return self.scope.reserved.get(name) if entry is None and by_host else entry

    def owned(self, capability: str) -> tuple[int, ...]:
        """Return the tools that a capability brings to this session."""
        return self.scope.owned(capability)

    def base(self) -> tuple[int, ...]:
        """Return the tools that are visible from the start, in registry order."""
        return self.scope.base()

    def visible(self) -> list[int]:
        """Return the visible tools in the order in which they became visible, the base first.

        Call it after every change of the active set, so that a tool that disappeared and returned comes last.
        """
        wanted = dict.fromkeys(self.base())
        for name in self.active.names:
            wanted.update(dict.fromkeys(self.owned(name)))
        kept = [index for index in self._shown if index in wanted]
        self._shown = list(dict.fromkeys([*kept, *wanted]))
        return list(self._shown)

    def block(self) -> list[tuple[int, Mapping[str, Any]]]:
        """Return the shown tools as (number, wire object), in order; shared, so do not change them.

        Until `settle` the block only grows at its end: a tool that its server changed or withdrew stays as it was
        shown, so that a prompt cache stays valid. A withheld tool goes at once. Raises: BundleFileError.
        """
        for index in self.visible():
            if index not in self._block:
                self._block[index] = self.catalog.shared_wire(index)
        withheld = self.catalog.withheld
        return [(index, wire) for index, wire in self._block.items() if index not in withheld]

    def settle(self) -> None:
        """Show the tools as they are now, in the order in which they were shown.

        Call it when a capability became inactive, and at each new message.
        """
        visible = frozenset(self.visible())
        self._block = {
            index: _unless_equal(wire, self.catalog.shared_wire(index))
            for index, wire in self._block.items()
            if index in visible
        }

    def follow(self, old: SessionTools) -> None:
        """Show the tools that `old`, of another bundle, shows and that are still visible, in the same order."""
        numbers = {self.catalog[index].id: index for index in self.visible()}
        shown = [(old.catalog[index].id, wire) for index, wire in old._block.items()]
        self._block = {
            numbers[tool]: _unless_equal(wire, self.catalog.shared_wire(numbers[tool]))
            for tool, wire in shown
            if tool in numbers
        }
        self._shown = list(dict.fromkeys([*self._block, *self._shown]))

    def reachable(self) -> list[int]:
        """Return the tools that can be called, in Octo's order: deferred ones as registered, then the visible ones."""
        visible = self.visible()
        if not self.registry.proxy:
            return visible
        shown = set(visible)
        return [index for index in self.scope.deferred() if index not in shown] + visible

    def offered(self) -> list[int]:
        """Return the reachable tools that search and lists show: all that are not withheld."""
        reachable, withheld = self.reachable(), self.catalog.withheld
        return [index for index in reachable if index not in withheld] if withheld else reachable

    def known(self) -> tuple[int, ...]:
        """Return every tool of the registry, whether or not it can be called now."""
        return self.scope.known()

    def alias(self, index: int) -> str:
        """Return the model's name of a tool of the registry."""
        return self.scope.alias(index)

    def names(self) -> ToolNames:
        """Return the names that the registry's tools may be called by."""
        return self.scope.names()

    def active_owners(self, index: int) -> tuple[str, ...]:
        """Return the active capabilities that bring this tool."""
        return tuple(name for name in self.active.names if index in self.owned(name))

    def inactive_owners(self, index: int) -> tuple[str, ...]:
        """Return the capabilities that would bring this tool if they were active, sorted."""
        names = self.registry.capabilities
        return tuple(name for name in names if name not in self.active and index in self.owned(name))

    def unlisted_servers(self, *, shown_only: bool = False) -> tuple[str, ...]:
        """Return the servers without a snapshot that may have tools of the base or, unless `shown_only`, the proxy."""
        grants = list(self.registry.unlisted_direct)
        boot = map(self.capability, self.registry.boot)
        grants += [grant for entry in boot if entry is not None for grant in entry.grants if not grant.tools]
        if not shown_only and self.registry.proxy:
            grants += self.registry.unlisted
        return tuple(dict.fromkeys(grant.server for grant in grants if grant.globs))


def _unless_equal(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    # The same tool with its keys in another order would be other bytes.
    return old if old == new else new
