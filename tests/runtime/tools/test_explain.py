"""Explained failures: who is asked, what it is given, and what the model gets when it does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings
from octoc.choices import ResultProfile
from octoc.plugin import FailedCall, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import ToolFailure, ToolResult
from octoc.runtime.tools import explain as explain_module
from octoc.testing import ScriptedExplainer

if TYPE_CHECKING:
    from octoc.runtime import Session
    from tests.runtime.conftest import Fleet, Handler

SECRET = "s3cret-value"


async def _lose(arguments: Mapping[str, Any]) -> ToolFailure:
    return ToolFailure(kind="connection_lost", message=f"gone with {SECRET}", text="lost", retry_after_s=11.5)


async def _refuse(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult(
        content=ToolResult.of_text(f"no {SECRET} " + "x" * 900).content, structured={"a": 1}, is_error=True
    )


async def _deny(arguments: Mapping[str, Any]) -> ToolFailure:
    return ToolFailure(kind="unauthorized", message="run `octoc auth login s`", text="login")


def _session(fleet: Fleet, *agents: str, **options: Any) -> Session:
    tools: dict[str, Handler] = {"lose": _lose, "refuse": _refuse, "deny": _deny}
    fleet.env = {"KEY": SECRET}
    fleet.server("s", tools, env={"KEY": "${KEY}"})
    for agent in agents or ("worker",):
        fleet.agent(agent, proxy=True)
    return fleet.open(**options).session(agents[0] if agents else "worker")


def _call(session: Session, name: str, **arguments: Any) -> ToolResult | ToolFailure:
    return asyncio.run(session.call(name, arguments))


def test_a_lost_call_is_explained(fleet: Fleet) -> None:
    """The model reads the explanation and when to try again; kind and message stay the host's."""
    session = _session(fleet, explain=ScriptedExplainer({"worker": "The server went away."}))
    outcome = _call(session, "lose")
    assert isinstance(outcome, ToolFailure)
    assert outcome.text == "[Tool error] The server went away; it may have taken effect; try again in 12 s"
    assert (outcome.kind, outcome.message) == ("connection_lost", "gone with ***; it may have taken effect")


def test_a_tools_own_error_is_explained(fleet: Fleet) -> None:
    """The text is replaced; that it is an error, and its structured content, stay."""
    outcome = _call(_session(fleet, explain=ScriptedExplainer({"worker": "It refused."})), "refuse")
    assert isinstance(outcome, ToolResult)
    assert (outcome.text, outcome.is_error, outcome.structured) == ("[Tool error] It refused.", True, {"a": 1})


def test_octopus_gets_its_own_form(fleet: Fleet) -> None:
    """In profile `octopus` an explanation is the message of the object."""
    fleet.settings = attrs.evolve(fleet.settings, results=ResultSettings(profile="octopus"))
    outcome = _call(_session(fleet, explain=ScriptedExplainer({"worker": "Gone."})), "lose")
    assert (
        outcome.text == '{"error": "connection_lost", "message": "Gone; it may have taken effect", "retry_after": 12}'
    )


def test_what_an_explainer_gets_is_short_and_without_secrets(fleet: Fleet) -> None:
    """Arguments and message are cut to 500 characters after what is secret was taken out of them."""
    explainer = ScriptedExplainer({})
    session = _session(fleet, explain=explainer)
    text = SECRET + "y" * 600
    _call(session, "refuse", text=text, password="hunter2-and-more")
    (asked,) = explainer.asked
    assert (asked.server, asked.tool, asked.kind, asked.caller) == ("s", "refuse", "tool_error", session.caller)
    assert len(asked.arguments) == len(asked.message) == 500
    assert SECRET not in repr(asked)
    _call(session, "lose", password="hunter2-and-more")
    assert "hunter2" not in repr(explainer.asked)


def test_an_agent_without_an_explainer_gets_the_plain_text(fleet: Fleet) -> None:
    """Each agent may have one: another's is not asked to speak for it."""
    session = _session(fleet, "other", "worker", explain=ScriptedExplainer({"worker": "Gone."}))
    assert (
        _call(session, "lose").text
        == "[Tool error] s__lose: gone with ***; it may have taken effect; try again in 12 s"
    )


@pytest.mark.parametrize("call, kind", [("nothing", "not_found"), ("deny", "unauthorized"), ("lose", "bad_request")])
def test_what_says_already_what_to_do_is_not_explained(fleet: Fleet, call: str, kind: str) -> None:
    """A name or arguments that the model got wrong, and missing credentials, keep their own words."""
    explainer = ScriptedExplainer({"worker": "never"})
    session = _session(fleet, explain=explainer)
    arguments = {"text": 3} if kind == "bad_request" else {}
    outcome = _call(session, call, **arguments)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, explainer.asked) == (kind, [])


def test_success_is_not_explained(fleet: Fleet) -> None:
    """The explainer is not asked about a successful call."""
    explainer = ScriptedExplainer({"worker": "never"})
    fleet.server("t", ["echo"])
    assert _call(_session(fleet, explain=explainer), "echo").ok
    assert explainer.asked == []


class _Explainer:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @hookimpl
    def octoc_explain_failure(self, failed: FailedCall) -> Any:
        return self.answer(failed)


async def _slowly(failed: FailedCall) -> str:
    await asyncio.sleep(60)
    return "late"


async def _broken(failed: FailedCall) -> str:
    raise RuntimeError("the model is down")


async def _well(failed: FailedCall) -> str:
    return f"  {failed.tool}\n is down: {SECRET}  "


def test_a_plugin_explains_where_the_host_does_not(fleet: Fleet) -> None:
    """The host goes first, plugins follow; an answer becomes one line, and no secret comes back in it."""
    fleet.server("s", {"lose": _lose}, env={"KEY": "${KEY}"})
    fleet.agent(proxy=True)
    fleet.env = {"KEY": SECRET}
    for host, told in ((lambda _: None, "lose is down: ***"), (lambda _: "From the host", "From the host")):
        runtime = fleet.open(explain=host)
        runtime.state.current.plugins = plugins_of(fleet, _Explainer(_well), env=fleet.env)
        text = asyncio.run(runtime.session().call("lose", {})).text
        assert text == f"[Tool error] {told}; it may have taken effect; try again in 12 s"


@pytest.mark.parametrize("answer", [_slowly, _broken, lambda _: 3, lambda _: 1 / 0])
@pytest.mark.parametrize("profile, text", [
    ("octoc", "[Tool error] s__lose: gone with ***; it may have taken effect; try again in 12 s"),
    ("octo", "[Tool error] s__lose failed: ConnectionError: gone with ***; it may have taken effect; try again in 12 s"),  # noqa: E501
])  # fmt: skip
def test_an_explainer_that_fails_leaves_the_plain_text(
    fleet: Fleet,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    answer: Any,
    profile: ResultProfile,
    text: str,
) -> None:
    """One that raises, answers nonsense or takes too long costs its time and a line in the log, nothing else."""
    monkeypatch.setattr(explain_module, "TIMEOUT_S", 0.05)
    fleet.settings = attrs.evolve(fleet.settings, results=ResultSettings(profile=profile))
    session = _session(fleet, explain=answer)
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        assert _call(session, "lose").text == text
    assert "was not explained" in caplog.text
    refused = _call(session, "refuse").text
    assert refused.startswith("no " if profile == "octoc" else "[Tool error] s__refuse failed: ToolException: no ")


@pytest.mark.parametrize("answer", ["", "  \n "])
def test_an_empty_explanation_is_none(fleet: Fleet, answer: str) -> None:
    """An answer without a word leaves the plain text."""
    session = _session(fleet, explain=lambda _: answer)
    assert _call(session, "lose").text.startswith("[Tool error] s__lose: gone with ***")


def test_a_long_explanation_is_cut(fleet: Fleet) -> None:
    """An explanation has at most 2,000 characters."""
    text = _call(_session(fleet, explain=lambda _: "x" * 5000), "lose").text
    assert text.count("x") == 2000
