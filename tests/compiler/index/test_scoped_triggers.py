"""A capability's triggers help to find its tools only for agents that have the capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

GRANTS = """
[groups.books]
tools = ["ledger/*"]
[[grants]]
agents = ["clerk", "auditor"]
groups = ["books"]
[[grants]]
agents = {agents}
capabilities = ["treasury"]
"""


@pytest.mark.parametrize(
    "profile, agents, found",
    [("deny", '["clerk"]', False), ("deny", '["clerk", "auditor"]', True), ("allow", '["clerk"]', True)],
)
def test_triggers_are_told_where_nobody_lacks_the_capability(
    tmp_path: Path, profile: str, agents: str, found: bool
) -> None:
    """A search of an agent that has a tool and not the capability would say by its score what the capability is for."""
    builder = WorkspaceBuilder(tmp_path).settings("scopes", profile=profile)
    builder.server("ledger", "ledger-mcp").snapshot("ledger", ["read", "pay"])
    builder.capability("treasury", ["fortnightly wages"], server="ledger", allowed_tools=["ledger:pay"])
    builder.agent("clerk", type="worker").agent("auditor", type="worker")
    builder.file("scopes/all.toml", GRANTS.format(agents=agents))
    bundle = builder.build(plugins_of()).bundle
    assert bundle is not None
    runtime = Runtime.open(bundle, plugins=plugins_of())
    with runtime.opened:
        hits = runtime.session("auditor").search("fortnightly wages")
    assert [hit.tool for hit in hits] == (["ledger/pay"] if found else [])
