"""Agents of some tenants do not exist for other callers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from octoc.results import Caller, ToolFailure, ToolResult
from octoc.runtime import Runtime
from tests.runtime.conftest import Fleet, echo


def _refusal(runtime: Runtime, agent: str, tenant: str | None) -> str:
    with pytest.raises(LookupError) as caught:
        runtime.session(agent, tenant=tenant)
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize("tenant", [None, "", "beta", "acme2", "unknown"])
def test_an_agent_of_other_tenants_is_answered_as_one_that_does_not_exist(fleet: Fleet, tenant: str | None) -> None:
    """The exception and its words are those for an unknown name, with near names of that tenant's own agents."""
    fleet.server("s", ["a"])
    fleet.agent("ledger", tenants=["acme"])
    fleet.agent("lodger", tenants=["beta"])
    fleet.agent("clerk")
    runtime = fleet.open()
    hidden, absent = _refusal(runtime, "ledger", tenant), _refusal(runtime, "ledgar", tenant)
    assert hidden.replace("`ledger`", "`ledgar`") == absent
    assert "acme" not in hidden
    assert ("lodger" in hidden) == (tenant == "beta")


def test_a_tenant_has_its_own_agents_and_the_shared_ones(fleet: Fleet) -> None:
    """All tenants may use an agent without tenants; an agent with several belongs to each."""
    fleet.server("s", ["a"])
    fleet.agent("ledger", tenants=["acme"])
    fleet.agent("auditor", tenants=["acme", "beta"])
    fleet.agent("clerk")
    runtime = fleet.open()
    assert sorted(runtime.agents_of("acme")) == ["auditor", "clerk", "ledger"]
    assert sorted(runtime.agents_of("beta")) == ["auditor", "clerk"]
    assert sorted(runtime.agents_of(None)) == ["clerk"]
    assert runtime.session("auditor", tenant="beta").agent.name == "auditor"


def test_a_call_for_another_tenant_finds_no_tool(fleet: Fleet) -> None:
    """Who shares a session by the callers of its calls gets nothing of an agent that is another tenant's."""
    server = fleet.server("s", ["a"])
    fleet.capability("c", fleet.grant("s"))
    fleet.agent("ledger", tenants=["acme"], direct=fleet.index("s/a"))
    session = fleet.open().session("ledger", tenant="acme")
    for name in ("s__a", "capability", "nothing"):
        outcome = asyncio.run(session.call(name, {}, caller=Caller(tenant="beta")))
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.similar) == ("not_found", ())
        assert outcome.text == f"[Error] Tool '{name}' not found."
    assert server.calls == []


def test_a_caller_without_a_tenant_is_of_the_sessions(fleet: Fleet) -> None:
    """What a call says of its user leaves its tenant as it is."""
    server = fleet.server("s", ["a"])
    fleet.agent("ledger", tenants=["acme"], direct=fleet.index("s/a"))
    session = fleet.open().session("ledger", tenant="acme")
    outcome = asyncio.run(session.call("s__a", {}, caller=Caller(user="u2")))
    assert isinstance(outcome, ToolResult)
    assert [(call.caller.tenant, call.caller.user) for call in server.calls] == [("acme", "u2")]


def test_a_session_has_nothing_of_a_bundle_whose_agent_is_another_tenants(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After a reload that gives the agent to another tenant, the session acts as if the agent were gone."""

    def of(tenant: str) -> Fleet:
        made = Fleet(tmp_path / tenant)
        (tmp_path / tenant).mkdir()
        made.server("s", {"a": echo})
        made.agent("ledger", tenants=[tenant], direct=made.index("s/a"))
        return made

    async def run() -> None:
        async with of("acme").open() as runtime:
            session = runtime.session("ledger", tenant="acme")
            await runtime.reload(of("beta").write())
            with pytest.raises(LookupError) as renewed:
                await session.renew()
            assert "agent `ledger` is not in the new bundle" in caplog.text
            with pytest.raises(LookupError) as begun:
                runtime.session("ledger", tenant="acme")
            assert str(renewed.value) == str(begun.value)
            assert (session.tools(), list(session.search("a"))) == ([], [])

    asyncio.run(run())
