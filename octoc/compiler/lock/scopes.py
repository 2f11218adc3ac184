"""What the lock says of scopes: what each agent may reach, so that a review sees when that grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.model import AgentSettings, Registry
from octoc.compiler.model.build import Build
from octoc.compiler.model.scopes import AgentPlacement


@attrs.frozen(kw_only=True)
class AgentLock:
    """What an agent may reach.

    Args:
        tools: how many recorded tools.
        digest: covers all that it may reach, who may use it, by name, and its own settings.
        reach: its tools, `server/tool`, or `server/*` where it has all of a server; of servers that are not listed the
            globs, and `!server/glob` for what it excludes of these.
        capabilities: also those that it has from the start.
        offers: `resource server/URI`, `template server/URI-template` and `prompt server/name`, or `server/*` where it
            may use everything that a server offers.
    """

    tools: int
    digest: str
    reach: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()


def agents_of(build: Build) -> Mapping[str, AgentLock]:
    """Return what each agent may reach, by name; nothing in a workspace without scopes."""
    scopes = build.resolved.scopes
    if scopes is None or (scopes.limits_nothing and not (scopes.members or scopes.deny or scopes.left_out)):
        return {}
    sizes: dict[str, int] = {}
    for tool in build.scoped.tools:
        sizes[tool.id.server] = sizes.get(tool.id.server, 0) + 1
    return {
        name: _agent(name, registry, scopes.members.get(name, AgentPlacement()), build, sizes)
        for name, registry in sorted(build.scoped.registries.items())
    }


def _agent(name: str, registry: Registry, member: AgentPlacement, build: Build, sizes: Mapping[str, int]) -> AgentLock:
    ids = [build.scoped.tools[index].id for index in registry.tools]
    grants = (*registry.unlisted, *registry.unlisted_direct)
    globs = sorted({f"{grant.server}/{glob}" for grant in grants for glob in grant.globs})
    excluded = sorted(f"!{grant.server}/{glob}" for grant in registry.excluded for glob in grant.globs)
    by_server: dict[str, list[str]] = {}
    for tool in ids:
        by_server.setdefault(tool.server, []).append(tool.tool)
    reach = [*_shortened(by_server, sizes), *globs, *excluded]
    capabilities = tuple(sorted({*registry.capabilities, *registry.boot}))
    offers = tuple(_offers(build, name))
    said = {
        "tools": [str(tool) for tool in ids],
        "globs": globs,
        "capabilities": capabilities,
        "boot": registry.boot,
        "skills": registry.skills,
        "areas": member.areas,
        "tenants": member.tenants,
        "settings": _plain(member.settings),
        **({"excluded": excluded} if excluded else {}),
        **({"offers": offers} if offers else {}),
    }
    return AgentLock(
        tools=len(ids),
        digest=sha256_hex(canonical_json(said)),
        reach=tuple(sorted(reach)),
        capabilities=capabilities,
        skills=registry.skills,
        areas=member.areas,
        tenants=member.tenants,
        offers=offers,
    )


def _offers(build: Build, agent: str) -> Iterator[str]:
    found = build.scoped.offers
    own = found.of(agent)
    yield from (f"{server}/*" for server in own.whole)
    for offer in (found.offers[number] for number in own.offers):
        if offer.server not in own.whole:
            yield f"{offer.kind} {offer.server}/{offer.name}"


def _shortened(by_server: Mapping[str, Iterable[str]], sizes: Mapping[str, int]) -> Iterator[str]:
    for server, found in by_server.items():
        names = list(found)
        if len(names) == sizes[server]:
            yield f"{server}/*"
        else:
            yield from (f"{server}/{name}" for name in names)


def _plain(settings: AgentSettings) -> Mapping[str, object]:
    # The lock compares no floats, so that a number of seconds stands as text.
    quota = settings.quota
    values = {key: value for key, value in attrs.asdict(settings).items() if key != "quota" and value is not None}
    if quota is not None:
        values["quota"] = {**attrs.asdict(quota), "window_s": repr(quota.window_s)}
    return values
