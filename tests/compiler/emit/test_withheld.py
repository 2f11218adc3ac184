"""When errors keep bundle and lock from being written, and what is there stays."""

from pathlib import Path

import pytest

from octoc.compiler.workspace.build import BuildOutcome, build
from octoc.diagnostics.rule import Severity
from octoc.plugin import hookimpl
from octoc.plugin.manager import plugins_of
from octoc.testing import FakeEmbedder, WorkspaceBuilder

TRIGGERS = ["send an email to Ada", "read my inbox", "reply to the last mail"]


class _Encoder:
    """A plugin with an encoder for every name."""

    @hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder:
        return FakeEmbedder(name)


def _without_encoder(root: Path, gate: str = "calibrated", mode: str = "development") -> WorkspaceBuilder:
    """A sound workspace whose encoder no plugin has."""
    builder = WorkspaceBuilder(
        root, workspace={"name": "test", "mode": mode}, plugins={"use": []}, routing={"gate": gate}
    )
    return builder.capability("mail", TRIGGERS, server={"command": "mail-mcp"})


def _written(root: Path) -> dict[str, bytes]:
    paths = [root / "octoc.lock", *root.glob("dist/*")]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _errors(outcome: BuildOutcome) -> list[str]:
    return [found.rule.code for found in outcome.diagnostics if found.severity is Severity.ERROR]


def _withheld(outcome: BuildOutcome) -> str:
    (message,) = [found.message for found in outcome.diagnostics if found.rule.code == "OCT608"]
    return message


@pytest.mark.parametrize("mode", ["development", "production"])
@pytest.mark.parametrize("gate", ["calibrated", "octomind"])
def test_a_build_without_its_encoder_writes_nothing(tmp_path: Path, mode: str, gate: str) -> None:
    """Without the workspace's encoder the build has an error in every mode and writes neither bundle nor lock."""
    builder = _without_encoder(tmp_path, gate, mode)
    outcome = builder.build(allow_degraded=False)
    assert (_errors(outcome), outcome.bundle, _written(tmp_path)) == (["OCT701"], None, {})
    allowed = builder.build(allow_degraded=True)
    assert allowed.worst is Severity.WARNING
    assert allowed.bundle is not None


def test_a_missing_encoder_keeps_the_older_bundle(tmp_path: Path) -> None:
    """A bundle that was there before the encoder went missing stays byte for byte, and so does its lock."""
    _without_encoder(tmp_path).build(allow_degraded=True)
    before = _written(tmp_path)
    outcome = build(tmp_path)
    assert _withheld(outcome) == (
        "`dist/test.octoc` was not written: it would have no vectors; the older bundle stays as it was"
    )
    assert _written(tmp_path) == before


def test_a_search_that_lacks_its_encoder_fails_the_build(tmp_path: Path) -> None:
    """Search wants the encoder as routing does, unless `[plugins] use` leaves its plugin out."""
    tools = [f"tool_{number}" for number in range(40)]
    builder = WorkspaceBuilder(tmp_path / "default").server("time", "time-mcp").snapshot("time", tools)
    assert _errors(builder.build(plugins_of(), allow_degraded=False)) == ["OCT701"]
    builder = WorkspaceBuilder(tmp_path / "without", plugins={"use": []}).server("time", "time-mcp")
    assert _errors(builder.snapshot("time", tools).build(plugins_of(), allow_degraded=False)) == []


def test_a_missing_encoder_does_not_make_the_lock_stale(tmp_path: Path) -> None:
    """`--locked` without the encoder reports the encoder alone, not what the lock has because of it."""
    builder = _without_encoder(tmp_path)
    builder.build(allow_degraded=True)
    builder.server("time", "time-mcp").write()
    assert _errors(build(tmp_path, locked=True)) == ["OCT701"]
    stale = set(_errors(build(tmp_path, locked=True, allow_degraded=True)))
    assert stale
    assert {code[:4] for code in stale} == {"OCT5"}


def test_errors_that_leave_nothing_keep_the_older_bundle(tmp_path: Path) -> None:
    """Where the only file with servers cannot be read any more, the bundle with its servers stays."""
    assert WorkspaceBuilder(tmp_path).server("time", "time-mcp").build().bundle is not None
    before = _written(tmp_path)
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {', "utf-8")
    outcome = build(tmp_path)
    assert _withheld(outcome).startswith("`dist/test.octoc` was not written: it would have no server, capability")
    assert (_errors(outcome), outcome.bundle) == (["OCT107"], None)
    assert _written(tmp_path) == before


def test_errors_that_leave_no_agent_keep_the_bundle_from_being_written(tmp_path: Path) -> None:
    """Where none of the workspace's agents is sound, nothing is written; one sound agent is enough."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": ["embed-onnx"]}).server("time", "time-mcp")
    builder.snapshot("time", ["now"]).file("agents/a.md", "---\nname: a\n---\nText.\n")
    outcome = builder.build()
    assert _withheld(outcome).endswith("was not written: it would have none of the workspace's agents")
    assert _written(tmp_path) == {}
    outcome = builder.agent("b", tools=["time/now"]).build()
    assert (outcome.worst, outcome.bundle is not None) == (Severity.ERROR, True)


def test_an_empty_workspace_without_errors_has_a_bundle(tmp_path: Path) -> None:
    """A workspace in which nothing was written yet builds."""
    assert WorkspaceBuilder(tmp_path).build().bundle is not None


def test_skills_without_a_server_need_no_vectors_of_tools(tmp_path: Path) -> None:
    """A workspace of skills whose rules compare meanings builds with the encoder, without a finding about it."""
    builder = WorkspaceBuilder(tmp_path).skill("a", "Body", rules=["semantic(write a message)"], domains="office")
    outcome = builder.build(plugins_of(_Encoder()), allow_degraded=False)
    assert [found.message for found in outcome.diagnostics if found.rule.code.startswith("OCT7")] == []
    assert outcome.bundle is not None
