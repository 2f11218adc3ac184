"""An encoder that fails to encode: octoc works by words alone and reports so, for each use of a vector."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.evaluation.run import run_fixtures
from octoc.plugin import PluginError, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.routing.fixtures import Fixtures, RoutingFixture
from octoc.runtime import Runtime
from octoc.runtime.activation.explain_route import explain_route
from octoc.testing import FakeEmbedder, WorkspaceBuilder

TOOLS = [
    f"{verb}_{noun}" for verb in ("create", "list", "close", "update") for noun in ("issue", "label", "file", "tag")
]
MESSAGE = "list the open issues of this repository"


@attrs.frozen
class _Encoder(FakeEmbedder):
    """Encodes, unless there is an `error`."""

    error: Exception | None = None

    def embed(self, text: str) -> Any:
        if self.error is not None:
            raise self.error
        return super().embed(text)


class _Plugin:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    @hookimpl
    def octoc_make_embedder(self, name: str, settings: Any, files: Any) -> Any:
        return _Encoder(name, error=self._error)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one capability, and more tools than an answer holds, built with the encoder."""
    workspace = WorkspaceBuilder(tmp_path_factory.mktemp("failing"))
    workspace.server("tracker", "none").snapshot(
        "tracker", [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in TOOLS]
    )
    workspace.capability("issues", triggers=[MESSAGE, "open a new issue about it", "close that issue"])
    outcome = workspace.build(plugins_of(_Plugin()))
    assert outcome.bundle is not None
    return Path(outcome.bundle)


@pytest.fixture(params=[PluginError("onnxruntime is not installed"), RuntimeError("no memory")], ids=["known", "bug"])
def runtime(request: pytest.FixtureRequest, bundle: Path) -> Runtime:
    """The bundle on a machine where its encoder fails."""
    return Runtime.open(bundle, plugins=plugins_of(_Plugin(request.param)))


def test_messages_are_decided_by_their_words(runtime: Runtime) -> None:
    """The reason says so, with what the encoder said; nothing is raised for the host."""

    async def run() -> None:
        async with runtime:
            routing = await runtime.session().on_user_message(MESSAGE)
            assert routing.method == "words"
            assert "by words alone: the encoder `minilm-l6` failed: " in routing.reason
            _, explanation = explain_route(runtime.session().state, MESSAGE)
            assert explanation is not None
            assert explanation.best == "issues"

    asyncio.run(run())


def test_tools_are_searched_by_their_words(runtime: Runtime) -> None:
    """They are found, and the answer says why their meaning was not looked at."""
    session = runtime.session()
    answer = session.state.loaded.search.rank(session.state.tools, "list issues", 5)
    assert answer.hits[0].hit.tool == "tracker/list_issue"
    assert answer.method == "words"
    assert "failed" in answer.why


def test_discover_says_that_it_cannot(runtime: Runtime) -> None:
    """The one thing that has no words to fall back on is a failed result for the model."""

    async def run() -> None:
        async with runtime:
            outcome = await runtime.session().call("capability", {"action": "discover", "intent": MESSAGE})
            assert not outcome.ok
            assert "failed" in outcome.text

    asyncio.run(run())


def test_tests_of_routes_say_it(runtime: Runtime) -> None:
    """What `octoc test` measures is then the words alone."""
    results = run_fixtures(runtime, Fixtures(messages=(RoutingFixture(text=MESSAGE, expect=("issues",)),)))
    assert "failed" in results.no_encoder


def test_it_is_logged_once(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    """Not for every message: what cannot be opened fails each time."""
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        for text in (MESSAGE, "and another message of the user"):
            runtime.session().route(text)
    assert len([record for record in caplog.records if "routing uses words alone" in record.message]) == 1
