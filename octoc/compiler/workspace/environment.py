"""What a workspace needs of the environment that it runs in: each variable, what refers to it, and who needs that.

Only names are handled. From a `.env` file octoc keeps only the names that have a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from octoc.bundle.model import Registry
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability, Server
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import DefinitionText, definitions, values_of
from octoc.diagnostics.model import Place
from octoc.plugin.resolvers import CREDENTIAL_VARIABLE
from octoc.plugin.targets import parse_env_file
from octoc.references import VARIABLE_KINDS, ReferenceKind, find_references

_MAX_ENV_FILE_BYTES = 2 * 1024 * 1024


@attrs.frozen(kw_only=True)
class ReferenceUse:
    """One reference: the server and the field of its definition (`env.API_KEY`) that hold it, and where it stands."""

    server: str
    field: str
    place: Place
    has_default: bool


@attrs.frozen(kw_only=True)
class Variable:
    """One variable (`env`) or input (`input`), and who needs it; every list is sorted, and each name is there once.

    Also what is kept elsewhere, by its whole reference: a `file`, an entry of the `keyring`, a credential (`cred`).
    It is required when one reference to it has no default. `agents` are those that can reach one of the servers,
    `capabilities` those that grant one.
    """

    name: str
    kind: ReferenceKind
    uses: tuple[ReferenceUse, ...]
    servers: tuple[str, ...]
    capabilities: tuple[str, ...]
    agents: tuple[str, ...]
    routed: bool = False
    """Whether the one agent asked for needs it only after a capability was activated that it may route to."""

    @property
    def required(self) -> bool:
        return any(not use.has_default for use in self.uses)

    @property
    def variable(self) -> str | None:
        """The name under which an environment may have it; None for what is kept in a file or a keyring."""
        if self.kind == "cred":
            return CREDENTIAL_VARIABLE + self.name.removeprefix("cred:")
        return self.name if self.kind in VARIABLE_KINDS else None


@attrs.frozen(kw_only=True)
class Environment:
    """The variables of an environment, by name: whether each has a value. A name that is not there is not set."""

    names: Mapping[str, bool] = attrs.field(factory=dict)

    def state(self, variable: str | None) -> str:
        """Return `set`, `empty` or `unset`; `elsewhere` for a `Variable.variable` of None, which no environment has."""
        if variable is None:
            return "elsewhere"
        given = self.names.get(variable)
        return "unset" if given is None else "set" if given else "empty"


class EnvironmentUnreadableError(Exception):  # a state of the world, not a fault in the program
    """A `.env` file cannot be read; the message is one line that names it and says why."""


def read_environment(files: Sequence[Path], names: Sequence[str]) -> Environment:
    """Return the environment that `.env` files describe, with `names` set. Another file may set an empty variable.

    Raises: EnvironmentUnreadableError.
    """
    found: dict[str, bool] = {}
    for path in files:
        for name, has_value in _names_in(path):
            found[name] = found.get(name, False) or has_value
    return Environment(names={**found, **dict.fromkeys(names, True)})


def contract(build: Build, agent: str | None = None) -> tuple[Variable, ...]:
    """Return what the workspace refers to: what is only routed to last, the required first, then by name.

    Args:
        agent: only what this agent needs; every list then tells of it alone. An agent without a registry needs nothing.
    """
    registries = {
        name: registry for name, registry in build.scoped.registries.items() if agent is None or name == agent
    }
    reached = {name: servers_of(registry, build) for name, registry in registries.items()}
    at_start = None if agent is None else servers_at_start(registries.get(agent, Registry()), build)
    capabilities = _capabilities(build, None if agent is None else registries.get(agent, Registry()))
    written = {definition.source.place: definition.source for definition in definitions(build.sources)}
    uses: dict[tuple[str, ReferenceKind], list[ReferenceUse]] = {}
    for server in build.resolved.servers:
        if agent is None or any(server.name in servers for servers in reached.values()):
            for kind, name, use in (*_uses(server, written.get(server.place)), *_inherited(server)):
                uses.setdefault((name, kind), []).append(use)
    found = []
    for (name, kind), of_name in uses.items():
        servers = {use.server for use in of_name}
        found.append(
            Variable(
                name=name,
                kind=kind,
                uses=tuple(of_name),
                servers=tuple(sorted(servers)),
                capabilities=tuple(
                    sorted(c.name for c in capabilities if any(grant.server in servers for grant in c.grants))
                ),
                agents=tuple(sorted(name for name, reach in reached.items() if servers & reach)),
                routed=at_start is not None and not servers & at_start,
            )
        )
    return tuple(
        sorted(found, key=lambda variable: (variable.routed, not variable.required, variable.name, variable.kind))
    )


def servers_of(registry: Registry, build: Build) -> frozenset[str]:
    """Return the servers that an agent with this registry may come to call, also by activating a capability."""
    by_name = {capability.name: capability for capability in build.resolved.capabilities}
    granted = (grant.server for name in (*registry.capabilities, *registry.boot) for grant in by_name[name].grants)
    return frozenset({
        *(build.scoped.tools[index].id.server for index in (*registry.tools, *registry.direct)),
        *(grant.server for grant in (*registry.unlisted, *registry.unlisted_direct)),
        *granted,
    })  # fmt: skip


def servers_at_start(registry: Registry, build: Build) -> frozenset[str]:
    """Return the servers whose tools an agent with this registry has before any capability is activated."""
    by_name = {capability.name: capability for capability in build.resolved.capabilities}
    routed = {grant.server for name in registry.capabilities for grant in by_name[name].grants}
    direct = {grant.server for grant in registry.unlisted_direct}
    direct |= {build.scoped.tools[index].id.server for index in registry.direct}
    direct |= {grant.server for name in registry.boot for grant in by_name[name].grants}
    # The rest is reached by `find_tools`, without a capability.
    return frozenset(direct | (servers_of(registry, build) - routed))


def _capabilities(build: Build, registry: Registry | None) -> tuple[Capability, ...]:
    everything = build.resolved.capabilities
    if registry is None:
        return everything
    wanted = {*registry.capabilities, *registry.boot}
    return tuple(capability for capability in everything if capability.name in wanted)


def _uses(server: Server, written: ServerSource | None) -> Iterator[tuple[ReferenceKind, str, ReferenceUse]]:
    """Yield kind, name and use of each reference. A literal secret is one already, and has the place of the secret."""
    as_written = {value.place: value.text for value in values_of(written)} if written is not None else {}
    for value in values_of(server):
        is_original = as_written.get(value.place) == value.text
        for reference in find_references(value.text):
            if reference.kind == "builtin":
                continue
            place = attrs.evolve(value.place, within=reference.span) if is_original else value.place
            yield reference.kind, reference.name, _use(server, value, place, reference.default is not None)
        if value.field == "auth" and value.name.endswith("_env") and value.text.strip():
            # Octo: the value is the name of the variable that has the secret.
            yield "env", value.text.strip(), _use(server, value, value.place, has_default=False)


def _inherited(server: Server) -> Iterator[tuple[ReferenceKind, str, ReferenceUse]]:
    for name in server.inherit_env:
        yield "env", name, ReferenceUse(server=server.name, field="inherit_env", place=server.place, has_default=True)


def _use(server: Server, value: DefinitionText, place: Place, has_default: bool) -> ReferenceUse:  # noqa: FBT001  # private, named at the definition
    return ReferenceUse(server=server.name, field=str(value), place=place, has_default=has_default)


def _names_in(path: Path) -> list[tuple[str, bool]]:
    """Return the names in a `.env` file, and whether each has a value; the values are gone when it returns."""
    try:
        if path.is_file() and path.stat().st_size > _MAX_ENV_FILE_BYTES:
            raise EnvironmentUnreadableError(f"the file `{path}` is larger than 2 MiB")
        values = parse_env_file(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise EnvironmentUnreadableError(f"the file `{path}` cannot be read: {why}") from None
    return [(name, bool(value)) for name, value in values.items()]
