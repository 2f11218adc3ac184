"""Look up the agents and tenants that `[serve.oidc]` names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.bundle.serve_settings import OidcAccess, OidcProvider, ServeSettings
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.scopes import AgentPlacement, Scopes
from octoc.compiler.model.serve import AccessSource, OidcSource, ServeSource
from octoc.compiler.resolve.bundle_fields import bundle_fields
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import UNKNOWN_AGENT, UNKNOWN_SCOPE
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import name_list


def resolve_serve(
    serve: ServeSource, agents: Iterable[str], scopes: Scopes | None, sink: DiagnosticSink
) -> ServeSettings:
    """Return `[serve]` for the bundle, and report agents and tenants that do not exist.

    A row keeps only the agents that exist for its tenant, and none if its tenant does not exist.
    """
    if scopes is not None and scopes.closed:
        return ServeSettings(closed=serve.closed)  # the bundle has no agent, which is reported
    left_out = frozenset() if scopes is None else scopes.left_out
    work = _Work(
        agents=tuple(sorted(set(agents) - left_out)),
        tenants={} if scopes is None else scopes.tenants,
        members={} if scopes is None else scopes.members,
        sink=sink,
    )
    return ServeSettings(
        url=(serve.url or "").rstrip("/"),
        oidc=tuple(_provider(name, source, work) for name, source in sorted(serve.oidc.items())),
        closed=serve.closed,
    )


@attrs.frozen(kw_only=True)
class _Work:
    agents: tuple[str, ...]
    tenants: Mapping[str, object]
    members: Mapping[str, AgentPlacement]
    sink: DiagnosticSink


def _provider(name: str, source: OidcSource, work: _Work) -> OidcProvider:
    fields = bundle_fields(OidcProvider, source)
    return OidcProvider(**{**fields, "name": name, "access": tuple(_access(row, work) for row in source.access)})


def _access(row: AccessSource, work: _Work) -> OidcAccess:
    is_known = row.tenant is None or row.tenant in work.tenants
    if not is_known:
        at = row.place.child("tenant")
        name = row.tenant or ""
        work.sink.report(
            UNKNOWN_SCOPE,
            f"a row of `[serve.oidc]` is for tenant `{name}`, which no table defines",
            at=at,
            help=did_you_mean(name, work.tenants) or f"add `[tenants.{name}]`",
            fix=renamed(at, name, work.tenants),
        )
    found = tuple(name for index, name in enumerate(row.agents) if _exists(row, index, work))
    return OidcAccess(
        claims=row.claims,
        agents=found if is_known else (),
        tenant=row.tenant,
        tenant_claim=row.tenant_claim,
    )


def _exists(row: AccessSource, index: int, work: _Work) -> bool:
    """Return whether an agent exists for the tenant of its row."""
    name, at = row.agents[index], row.place.child("agents", index)
    if name not in work.agents:
        work.sink.report(
            UNKNOWN_AGENT,
            f"a row of `[serve.oidc]` names agent `{name}`, which does not exist",
            at=at,
            help=did_you_mean(name, work.agents) or f"there are {name_list(work.agents)}",
            fix=renamed(at, name, work.agents),
        )
        return False
    tenants = work.members[name].tenants if name in work.members else ()
    if not tenants or row.tenant in tenants or row.tenant_claim is not None:
        return True
    which = "a row without a tenant" if row.tenant is None else f"tenant `{row.tenant}`"
    work.sink.report(
        UNKNOWN_AGENT,
        f"agent `{name}` does not exist for {which}",
        at=at,
        help=f"it is for {name_list(tenants)}: name one of them as the row's `tenant`",
    )
    return False
