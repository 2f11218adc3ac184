"""What of scopes the bundle has, and that nothing of them is there without tables."""

from pathlib import Path

from octoc.bundle.model import AgentEntry, Bundle, Settings
from octoc.bundle.organisation import AreaEntry, Quota, TenantEntry
from octoc.bundle.reader import OpenBundle
from octoc.compiler.workspace.build import build
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

SCOPES = """
[tenants.acme]
description = "The customer Acme"
quota = { calls = 50000, window = 60 }

[tenants.gone]
enabled = false

[areas.finance]
tenant = "acme"
description = "Accounting"
agents = ["cfo"]
default_agent = "cfo"
[areas.finance.defaults.quota]
tokens = 100

[areas.past]
tenant = "gone"
agents = ["old"]

[areas.people]
agents = ["recruiter"]
default_agent = "recruiter"

[overrides.recruiter]
enabled = false

[groups.ledger]
area = "finance"
tools = ["ledger/*"]

[[grants]]
agents = "cfo"
groups = ["ledger"]
"""


def built(root: Path, builder: WorkspaceBuilder) -> Bundle:
    """Build a workspace without an error, and return its bundle."""
    outcome = build(builder.write(), plugins=plugins_of(), use_cache=False)
    assert [one.message for one in outcome.diagnostics if one.severity.name == "ERROR"] == []
    assert outcome.bundle is not None
    assert outcome.bundle.is_relative_to(root)
    return OpenBundle.open(outcome.bundle).bundle


def fleet(root: Path) -> WorkspaceBuilder:
    """A server and three agents."""
    builder = WorkspaceBuilder(root).server("ledger", "ledger-mcp").snapshot("ledger", ["read", "pay"])
    return builder.agent("cfo").agent("recruiter").agent("old")


FILE = "scopes/company.toml"


def test_the_bundle_has_what_is_in_effect(tmp_path: Path) -> None:
    """Profile, quotas, tenants, areas and members; what is switched off is not there, nor is a default agent of it."""
    builder = fleet(tmp_path).settings("scopes", profile="deny").settings("quota", calls=1000)
    bundle = built(tmp_path, builder.file("scopes/company.toml", SCOPES))
    assert (bundle.settings.scopes, bundle.settings.quota) == ("deny", Quota(calls=1000))
    acme = TenantEntry(name="acme", description="The customer Acme", quota=Quota(calls=50000, window_s=60.0))
    assert bundle.tenants == (acme,)
    assert bundle.areas == (
        AreaEntry(name="finance", tenant="acme", description="Accounting", default_agent="cfo", file=FILE),
        AreaEntry(name="people", file=FILE),
    )
    agents = {agent.name: agent for agent in bundle.agents}
    assert set(agents) == {"cfo", "supervisor"}
    cfo = agents["cfo"]
    assert (cfo.areas, cfo.tenants, cfo.registry.tools) == (("finance",), ("acme",), (0, 1))
    assert cfo.settings.quota == Quota(calls=1000, tokens=100)
    assert agents["supervisor"].registry.tools == ()


def test_without_scopes_the_bundle_is_as_it_was(tmp_path: Path) -> None:
    """No agent is confined or has anything of its own, and the lock says nothing of agents."""
    bundle = built(tmp_path, fleet(tmp_path))
    plain = AgentEntry(name="", kind="octo")
    assert (bundle.settings.scopes, bundle.settings.quota) == (Settings().scopes, None)
    assert (bundle.tenants, bundle.areas) == ((), ())
    for agent in bundle.agents:
        assert (agent.areas, agent.tenants, agent.settings) == (plain.areas, plain.tenants, plain.settings)
        assert not agent.registry.confined
        assert agent.registry.tools == (0, 1)
    assert "[agents." not in (tmp_path / "octoc.lock").read_text(encoding="utf-8")


def test_scopes_are_inputs_of_the_build(tmp_path: Path) -> None:
    """A build after a change in a file of scopes is another one; without a change it is known."""
    root = fleet(tmp_path).settings("scopes", profile="deny").file("scopes/company.toml", SCOPES).write()
    first = build(root, plugins=plugins_of())
    assert build(root, plugins=plugins_of()).unchanged
    (root / "scopes/company.toml").write_text(SCOPES.replace('"ledger/*"', '"ledger/read"'), encoding="utf-8")
    second = build(root, plugins=plugins_of())
    assert not second.unchanged
    assert second.digest != first.digest
    assert "agent `cfo`: reaches `ledger/read`; no longer `ledger/*`; 1 tool, was 2" in second.changes
