"""Which agents a client may use: by its token, or without tokens on this machine alone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from octoc.plugin.toolkit import did_you_mean
from octoc.runtime import UnknownNameError
from octoc_serve.notices import notice
from octoc_serve.oidc.decisions import Admitted, TokenRefusal
from octoc_serve.oidc.verifier import TokenVerifier
from octoc_serve.paths import DEFAULT_PATH, named_by
from octoc_serve.refusal_log import RefusalLog
from octoc_serve.session_store import ClientKey
from octoc_serve.settings import ALL_AGENTS, GatewayError
from octoc_serve.tokens import PREFIX, StoredToken, Tokens, bearer_of

if TYPE_CHECKING:
    from octoc.runtime import AgentEntry, Runtime
    from octoc_serve.settings import GatewaySettings
    from octoc_serve.tokens import TokenEntry

logger = logging.getLogger(__name__)

_MOST_IDS = 5


def may_use(agents: Mapping[str, AgentEntry], agent: str, tenant: str | None) -> bool:
    """Return whether the agent exists for the tenant."""
    entry = agents.get(agent)
    return entry is not None and (not entry.tenants or tenant in entry.tenants)


def refuse_other(agents: Mapping[str, AgentEntry], agent: str, tenant: str | None) -> None:
    """Check that an agent exists for the tenant. Raises: UnknownNameError, GatewayError."""
    if agent not in agents:
        known = [name for name in agents if tenant is None or may_use(agents, name, tenant)]
        raise UnknownNameError("agent", agent, known)
    if not may_use(agents, agent, tenant):
        which = "none is named" if tenant is None else f"not for `{tenant}`"
        raise GatewayError(f"agent `{agent}` is for some tenants only, and {which}", "--tenant names the tenant")


def check_agents(agents: Mapping[str, AgentEntry], settings: GatewaySettings) -> None:
    """Check that the agents of the settings exist. Raises: UnknownNameError, GatewayError."""
    named = (settings.agent,) if settings.agents is None else settings.agents
    for agent in () if named == (ALL_AGENTS,) else named:
        if settings.transport == "stdio":
            refuse_other(agents, agent, settings.tenant)
        elif agent not in agents:  # over HTTP a token says which tenant it is
            raise UnknownNameError("agent", agent, agents)


@attrs.frozen(kw_only=True)
class Access:
    """What a request's token opens: client keys, the default agent first, until `expires` (Unix time).

    `refusal` is why an identity provider's token opens nothing.
    """

    keys: tuple[ClientKey, ...] = ()
    expires: float | None = None
    refusal: TokenRefusal | None = None


class Admission:
    """Decides by a request's token and the current bundle. `renew` reads the tokens again."""

    def __init__(
        self, runtime: Runtime, settings: GatewaySettings, tokens: Tokens, stored: tuple[StoredToken, ...]
    ) -> None:
        self._runtime = runtime
        self._settings = settings
        self._tokens = tokens
        self._stored = stored
        # Never reset: a gateway whose last token is revoked must not serve clients without a token.
        self.guarded = bool(stored)
        self.verifier = TokenVerifier(self.serves, lambda: frozenset(one.name for one in runtime.bundle.tenants))
        self._refusals = RefusalLog()
        self.use_bundle()

    def use_bundle(self) -> None:
        """Use the identity providers of the current bundle."""
        serve = self._runtime.bundle.settings.serve
        self.verifier.use(serve)
        self.guarded = self.guarded or serve.closed
        if serve.closed and not serve.oidc:
            logger.warning("no identity provider of the bundle is usable: only tokens of octoc are accepted")

    def admit(self, token: str | None) -> tuple[ClientKey, ...]:
        """Return the client keys of a token, the default agent first; empty for an unknown token.

        It waits for no identity provider: `access` does.
        """
        if self._is_foreign(token):
            return self._access(self.verifier.judge(token or "")).keys
        return self._own(token)

    async def access(self, token: str | None, address: str) -> Access:
        """Return what a token opens. `address` is the client's, for the log of refused tokens."""
        if self._is_foreign(token):
            return self._access(await self.verifier.decide(token or ""))
        keys = self._own(token)
        if token and not keys and not self.knows(token):
            self._refusals.note_unknown(address)
        return Access(keys=keys)

    def _own(self, token: str | None) -> tuple[ClientKey, ...]:
        entry = None if token is None else bearer_of(self._stored, token)
        if entry is not None:
            return (_key_of(entry),) if self.serves(_key_of(entry)) else ()
        return () if self.guarded else tuple(self._free())

    def _is_foreign(self, token: str | None) -> bool:
        return token is not None and bool(self.verifier.providers) and not token.startswith(PREFIX)

    def _access(self, decision: Admitted | TokenRefusal) -> Access:
        if isinstance(decision, Admitted):
            return Access(keys=decision.keys, expires=decision.expires)
        self._refusals.note(decision)
        return Access(refusal=decision)

    def knows(self, token: str | None) -> bool:
        """Return whether the file has this token, even if its agent is not served."""
        return token is not None and bearer_of(self._stored, token) is not None

    def choose(self, admitted: tuple[ClientKey, ...], path: str) -> ClientKey | None:
        """Return the admitted client key that a path names; None if it names no agent that the client may use."""
        if path == DEFAULT_PATH:
            return next((key for key in admitted if key.token or key.agent == self._settings.agent), None)
        agent = named_by(path)
        return next((key for key in admitted if key.agent == agent), None)

    def serves(self, key: ClientKey) -> bool:
        """Return whether the key's agent is served to its tenant."""
        named = self._settings.agents
        if named is not None and named != (ALL_AGENTS,) and key.agent not in named:
            return False
        return may_use(self._runtime.agents, key.agent, key.tenant)

    def is_current(self, key: ClientKey) -> bool:
        """Return whether the client of a key would be admitted now."""
        if not key.token:
            return not self.guarded and self.serves(key)
        known = key.token in {stored.entry.id for stored in self._stored} or self.verifier.is_current(key)
        return known and self.serves(key)

    def renew(self) -> bool:
        """Read the tokens again; return False, and keep the old ones, if the file cannot be used."""
        before = self._stored
        try:
            self._stored = self._tokens.read()
        except GatewayError as refused:
            logger.error("the tokens stay as they were: %s", refused)  # noqa: TRY400  # it says all there is to say
            return False
        self.guarded = self.guarded or bool(self._stored)
        if before and not self._tokens.file.exists():
            logger.warning("the file of tokens `%s` is gone, so no token of octoc is accepted", self._tokens.file)
        notice(_news_of(before, self._stored))
        self.tell()
        return True

    def tell(self) -> None:
        """Log the tokens that open nothing here, and let the accounts of the others share the limits."""
        for row in (row for provider in self.verifier.providers for row in provider.access):
            if row.tenant is None:
                self._runtime.accounts.shared = True  # each user, or each value of a claim, is an account
            else:
                self._runtime.accounts.note(ClientKey(agent="", tenant=row.tenant).account)
        for stored in self._stored:
            entry = stored.entry
            if self.serves(_key_of(entry)):
                self._runtime.accounts.note(_key_of(entry).account)
                continue
            if entry.agent in self._runtime.agents and not may_use(self._runtime.agents, entry.agent, entry.tenant):
                why = f"agent `{entry.agent}` is not for tenant `{entry.tenant}`"
                if entry.tenant is None:
                    why = f"agent `{entry.agent}` is for tenants, and the token is for none"
                logger.warning("token `%s` is refused: %s", entry.id, why)
            elif entry.agent not in self._runtime.agents and (near := did_you_mean(entry.agent, self._runtime.agents)):
                logger.warning("token `%s` is refused: there is no agent `%s`: %s", entry.id, entry.agent, near)
            else:
                # The token may be for another gateway, since all of a user's gateways share one file.
                logger.info("token `%s` is refused: agent `%s` is not served here", entry.id, entry.agent)

    def paths(self) -> tuple[str | None, ...]:
        """Return the agents that have a path, None for `/mcp`. Without tokens they are those for all clients."""
        named = self._settings.agents or ()
        if named == (ALL_AGENTS,):
            named = tuple(sorted(self._runtime.agents))
        if self.guarded:
            return (None, *named)
        free = [key.agent for key in self._free()]
        default = (None,) if self._settings.agent in free else ()
        return (*default, *(agent for agent in free if agent in named))

    def _free(self) -> list[ClientKey]:
        settings = self._settings
        named = (settings.agent,) if settings.agents is None else settings.agents
        if named == (ALL_AGENTS,):
            named = tuple(sorted(self._runtime.agents))
        names = dict.fromkeys(sorted(named, key=lambda name: name != settings.agent))
        keys = (ClientKey(agent=name, tenant=settings.tenant, user=settings.user) for name in names)
        return [key for key in keys if may_use(self._runtime.agents, key.agent, key.tenant)]


def _key_of(entry: TokenEntry) -> ClientKey:
    return ClientKey(agent=entry.agent, token=entry.id, tenant=entry.tenant, user=entry.user)


def _news_of(before: Iterable[StoredToken], now: Collection[StoredToken]) -> str:
    """Return the line for tokens that were read again: how many, and the ids of new and revoked ones."""
    old, new = ([stored.entry.id for stored in each] for each in (before, now))
    parts = [f"the tokens are read again: {len(new)}"]
    for word, one, other in (("added", new, old), ("revoked", old, new)):
        ids = [f"`{name}`" for name in one if name not in set(other)]
        if ids:
            more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
            parts.append(f"{word} {', '.join(ids[:_MOST_IDS])}{more}")
    return "; ".join(parts)


def bearer_text(authorization: str) -> str | None:
    """Return the token in the text of an `Authorization` header; None if it has no bearer token."""
    scheme, _, text = authorization.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None
