"""Laws: a check of any file of scopes returns, and no agent has more than the sound file grants."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.cli import main
from octoc.compiler.cache.store import Cache
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_to_scope
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import Plugins
from octoc.testing import WorkspaceBuilder

from .test_any_bytes import PIECES, mutated

SOUND = b"""[tenants.acme]
enabled = true

[areas.finance]
tenant = "acme"
agents = ["cfo"]
default_agent = "cfo"

[groups.ledger]
area = "finance"
tools = ["ledger/read", "ledger/pay"]

[[grants]]
agents = ["cfo"]
groups = ["ledger"]

[overrides.temp]
enabled = false
"""
DENY = b"""
[[deny]]
agents = "clerk"
tools = "ledger/*"
"""


@st.composite
def slip(draw: st.DrawFn) -> bytes:
    """The sound file with one stretch of at most 20 bytes cut, said twice, or replaced."""
    start = draw(st.integers(0, len(SOUND)))
    end = draw(st.integers(start, min(len(SOUND), start + 20)))
    return SOUND[:start] + draw(st.sampled_from((b"", SOUND[start:end] * 2, *PIECES))) + SOUND[end:]


def workspace(root: Path, profile: str, scopes: bytes) -> Path:
    """Write a company of three agents with one file of scopes."""
    builder = WorkspaceBuilder(root, scopes={"profile": profile})
    builder.server("ledger", "x").snapshot("ledger", ["read", "pay"]).server("docs", "y").snapshot("docs", ["get"])
    builder.agent("cfo").agent("clerk").agent("temp")
    builder.file("scopes/a.toml", "")
    builder.write()
    (root / "scopes/a.toml").write_bytes(scopes)
    return root


def scoped(root: Path) -> tuple[Build, bool]:
    """Return what the workspace comes to, and whether it has an error."""
    loaded = load_workspace(root, cache=Cache(None), plugins=Plugins())
    assert loaded.settings is not None
    found = run_to_scope(loaded.settings, loaded.context)
    return found, loaded.context.sink.worst() == Severity.ERROR


@settings(max_examples=60)
@given(data=st.one_of(st.binary(max_size=300), mutated(SOUND + DENY)))
def test_check_returns_whatever_a_file_of_scopes_holds(data: bytes) -> None:
    """The statuses are 0 and 1, never an abnormal end."""
    with tempfile.TemporaryDirectory() as name:
        assert main(["check", "--workspace", str(workspace(Path(name), "allow", data))]) in (0, 1)


@settings(max_examples=150)
@given(data=slip(), profile=st.sampled_from(["allow", "deny"]))
def test_a_slip_that_is_an_error_gives_nobody_more(data: bytes, profile: str) -> None:
    """Where one slip makes an error, `clerk` has no tool of the ledger, `temp` is not there, nor has `cfo` no tenant.

    A slip that leaves the file sound says something else, and is taken at its word.
    """
    with tempfile.TemporaryDirectory() as name:
        found, has_error = scoped(workspace(Path(name), profile, data))
        if not has_error:
            return
        assert "temp" not in found.scoped.registries
        if "clerk" in found.scoped.registries:
            tools = {str(found.scoped.tools[index].id) for index in found.scoped.registries["clerk"].tools}
            assert not tools & {"ledger/read", "ledger/pay"}
        if "cfo" in found.scoped.registries:
            assert found.resolved.scopes is not None
            assert found.resolved.scopes.members["cfo"].tenants == ("acme",)
