"""No resolved secret shows, in whatever form a server or its transport sends it back, and wherever one might look."""

import asyncio
import base64
import html
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.plugin import ConnectFailedError, Connection, Host, ServerTarget, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import ContentPart, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

FORMS: tuple[Callable[[str], str], ...] = (
    str,
    lambda secret: quote(secret, safe=""),
    quote_plus,
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: json.dumps(json.dumps([secret])),
    html.escape,
    repr,
    lambda secret: secret[::-1],
    lambda secret: secret.encode().hex(),
    lambda secret: f"Bearer {secret}".encode().hex().upper(),
    lambda secret: base64.b64encode(secret.encode()).decode(),
    lambda secret: base64.b64encode(f"user:{secret}".encode()).decode(),
    lambda secret: base64.urlsafe_b64encode(f"Basic me:{secret}".encode()).decode(),
)
STAGES = ("connect", "transport breaks", "list", "failure", "error result", "error data", "call breaks")
SECRETS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="*"), min_size=8, max_size=30
)


class Leaky:
    """A plugin of one transport that says a text, at one stage, and otherwise works."""

    def __init__(self, stage: str, said: str) -> None:
        self.stage = stage
        self.said = said
        self.targets: list[ServerTarget] = []

    @hookimpl
    def octoc_make_transport(self, kind: str) -> Any:
        assert kind == "http"
        return self

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        self.targets.append(target)
        if self.stage == "connect":
            raise ConnectFailedError(f"refused: {self.said}", permanent=True)
        if self.stage == "transport breaks":
            raise ValueError(self.said)
        return self

    alive = True

    async def list_tools(self) -> ServerListing:
        if self.stage == "list":
            raise ConnectFailedError(f"no list: {self.said}", permanent=True)
        return ServerListing(server_info={}, protocol_version="", instructions=None, tools=())

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        if self.stage == "failure":
            return ToolFailure(kind="protocol", message=f"odd: {self.said}", text=f"odd: {self.said}")
        if self.stage == "call breaks":
            raise ValueError(self.said)
        if self.stage == "error data":
            data = {"type": "resource", "resource": {"uri": "x:y", "text": self.said}}
            parts = (ContentPart(type="resource", data=data),)
            return ToolResult(content=parts, structured={"why": [self.said]}, is_error=True)
        return ToolResult.of_text(f"wrong: {self.said}", is_error=True)

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with one unlisted server whose references are of every kind."""
    headers = {"Authorization": "Bearer ${file:token}", "X-Key": "${cred:7}"}
    outcome = (
        WorkspaceBuilder(tmp_path_factory.mktemp("acme"))
        .server("web", type="http", url="https://h.example/mcp?k=${K}", headers=headers)
        .build(plugins_of())
    )
    assert outcome.bundle is not None
    return outcome.bundle


@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=12)
@given(secret=SECRETS, which=st.integers(0, 2), form=st.integers(0, len(FORMS) - 1))
def test_no_secret_shows(
    bundle: Path, caplog: pytest.LogCaptureFixture, stage: str, secret: str, which: int, form: int
) -> None:
    """Failures, logs, reprs and what observers see have no secret, though the server sends it back in some form."""
    secret = f"k{secret.strip() or 'empty'}7"  # as a file's text, without white space at its ends
    values = [f"other-value-{number}" for number in range(3)]
    values[which] = secret
    (bundle.parent.parent / "token").write_text(values[0], encoding="utf-8")
    said = FORMS[form](secret)
    plugin, seen = Leaky(stage, said), Seen()
    caplog.clear()
    caplog.set_level(logging.DEBUG)

    async def run() -> list[str]:
        env = {"OCTOC_CREDENTIAL_7": values[1], "K": values[2]}
        plugins = plugins_of(plugin, seen, env=env)
        runtime = Runtime.open(bundle, plugins=plugins, workspace=bundle.parent.parent)
        async with runtime:
            session = runtime.session()
            outcomes = [await runtime.call_direct("web", "x", {}), await session.call("web/x", {})]
            return [
                *map(repr, outcomes),
                repr(runtime),
                repr(session),
                repr(runtime.state.shared.connector),
                repr(plugins),
            ]

    shown = [*asyncio.run(run()), *seen.texts, *map(repr, plugin.targets)]
    shown += [record.getMessage() + str(record.exc_text or "") for record in caplog.records]
    assert any("web" in text for text in shown)
    assert "***" in shown[0]
    assert plugin.targets[0].secrets
    assert not [text for text in shown for one in {*values, said.strip("'\"")} if one in text]


class Seen:
    """An observer that keeps the texts of each call."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        self.texts.append(f"{server} {call} {outcome}")


def test_what_is_not_there_is_named(bundle: Path) -> None:
    """A server that lacks a value is not ready, and the failure names the references, never another one's value."""
    (bundle.parent.parent / "token").write_text("the-token\n", encoding="utf-8")

    async def run() -> Any:
        plugins = plugins_of(env={"K": "the-key"})
        async with Runtime.open(bundle, plugins=plugins, workspace=bundle.parent.parent) as runtime:
            return await runtime.call_direct("web", "x", {})

    failed = asyncio.run(run())
    assert failed.kind == "not_ready"
    assert failed.message == "server `web` needs `cred:7`, which is not there"
    (bundle.parent.parent / "token").write_bytes(b"the-token\xff")
    failed = asyncio.run(run())
    assert failed.message.startswith("server `web` is not ready: the file `")
    assert failed.message.endswith("token` cannot be read: it is not UTF-8")
    assert "the-token\ufffd" not in failed.message
