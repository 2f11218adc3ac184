"""What a model is given: each part, where it is from, what it costs, and what a budget would prune."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.model import Settings
from octoc.runtime import Session
from octoc.runtime.inspection import Inspection, Section
from octoc.tokens import APPROXIMATE
from tests.runtime.conftest import Fleet


def _session(folder: Path, **agent: Any) -> Session:
    fleet = Fleet(folder)
    fleet.settings = Settings()
    for name in ("files", "docker", "clock"):
        fleet.server(name, ["run"])
    fleet.capability("docker", fleet.grant("docker"))
    fleet.capability("clock", fleet.grant("clock"))
    fleet.skill("closing", "Close the books.")
    fleet.agent(proxy=True, direct=fleet.index("files/run"), boot=("clock",), capabilities=("docker",), **agent)
    return fleet.open().session()


def _section(found: Inspection, name: str) -> Section:
    return next(section for section in found.sections if section.name == name)


def test_every_part_says_where_it_is_from(tmp_path: Path) -> None:
    """Prompt, octoc's tools, tools from the start, those of a capability, a skill in use: each in its section."""
    session = _session(tmp_path)

    async def run() -> Inspection:
        await session.activate("docker")
        await session.use_skill("closing")
        return session.inspect([{"role": "user", "content": "Hello"}])

    found = asyncio.run(run())
    assert [section.name for section in found.sections] == [
        "system prompt",
        "octoc's tools",
        "direct tools",
        "active tools",
        "skills",
        "history",
    ]
    own = [part.name for part in _section(found, "octoc's tools").parts]
    assert own == ["find_tools", "call_mcp_tool", "capability", "skill", "read_result"]
    direct = {(part.name, part.capability, part.server) for part in _section(found, "direct tools").parts}
    assert direct == {("files__run", None, "files"), ("clock__run", "clock", "clock")}
    (docker,) = _section(found, "active tools").parts
    assert (docker.name, docker.capability, docker.server) == ("docker__run", "docker", "docker")
    assert docker.source == "capability `docker` is active: docker/run"
    assert [(part.name, part.source) for part in _section(found, "skills").parts] == [("closing", "in use")]
    assert [(part.name, part.source) for part in _section(found, "history").parts] == [("user", "message 0")]
    assert (found.budget, found.share, found.dropped) == (None, None, ())


def test_the_tools_cost_what_the_block_has(tmp_path: Path) -> None:
    """The tokens of tool sections are those of the block that is sent, tool by tool, in the form last shown."""
    session = _session(tmp_path)
    for form in ("anthropic", "openai"):
        block = session.tools(form)
        found = session.inspect()
        parts = [part for section in found.sections if section.name.endswith("tools") for part in section.parts]
        texts = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in block]
        assert found.format == form
        assert [part.tokens for part in parts] == [APPROXIMATE.count(text) for text in texts]
        assert found.tokens == sum(section.tokens for section in found.sections)


def test_a_skill_whose_text_is_in_the_conversation_is_counted_there(tmp_path: Path) -> None:
    """What the host has put into the conversation costs once."""
    session = _session(tmp_path)
    change = asyncio.run(session.use_skill("closing"))
    found = session.inspect([{"role": "user", "content": f"Hello\n{change.block}"}])
    (skill,) = _section(found, "skills").parts
    assert (skill.tokens, skill.source) == (0, "in use, its text is in the history")


def _conversation() -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for turn in range(8):
        call = {"type": "tool_use", "id": f"c{turn}", "name": "files__run", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": "word " * (1000 if turn == 1 else 20)}
        said += [
            {"role": "user", "content": f"Question {turn}"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": "An answer"},
        ]
    return said


def test_a_budget_says_what_ageing_and_fitting_would_do(tmp_path: Path) -> None:
    """What is dropped and aged is what `age` and `fit` do with the room that the rest leaves; nothing is changed."""
    session, said = _session(tmp_path), _conversation()
    whole = session.inspect(said)
    fixed = whole.tokens - _section(whole, "history").tokens
    budget = fixed + 500
    found = session.inspect(said, budget_tokens=budget)
    aged = session.age(said).messages
    fitted = asyncio.run(session.fit(aged, budget_tokens=500))
    assert found.aged == () or set(found.aged).isdisjoint(found.dropped)
    assert list(found.dropped) == [number for group in fitted.dropped for number in group]
    assert found.tokens == fixed + fitted.tokens <= budget
    assert found.share == found.tokens / budget
    parts = _section(found, "history").parts
    assert all(parts[number].tokens == 0 and parts[number].before > 0 for number in found.dropped)
    assert said == _conversation()


def test_an_old_long_result_is_said_to_be_aged(tmp_path: Path) -> None:
    """Where all fits, the long result of an old turn is shorter, and the question keeps nothing under a handle."""
    session = _session(tmp_path)
    found = session.inspect(_conversation(), budget_tokens=100_000)
    assert (found.aged, found.dropped, found.why_over) == ((6,), (), "")
    part = _section(found, "history").parts[6]
    assert (part.name, part.fate) == ("tool", "aged")
    assert 0 < part.tokens < part.before
    assert session.state.runtime.results.memory.used == 0


def test_what_has_to_stay_over_the_budget_is_said(tmp_path: Path) -> None:
    """A budget smaller than the tools leaves the last turns, and says why it is over."""
    found = _session(tmp_path).inspect(_conversation(), budget_tokens=10)
    assert found.tokens > 10
    assert found.share is not None
    assert found.share > 1
    assert "turns take" in found.why_over
    assert "a budget of 10" in _session_without_history(tmp_path).why_over


def _session_without_history(folder: Path) -> Inspection:
    return _session(folder).inspect(budget_tokens=10)


def test_nothing_outside_the_registry_is_in_it(tmp_path: Path) -> None:
    """An agent's context names no tool, server or capability that is another's."""
    fleet = Fleet(tmp_path)
    fleet.server("mine", ["run"])
    fleet.server("secret", ["hidden"])
    fleet.capability("vault", fleet.grant("secret"))
    fleet.agent(tools=fleet.index("mine/run"), direct=fleet.index("mine/run"), capabilities=(), proxy=True)
    found = repr(fleet.open().session().inspect([{"role": "user", "content": "Hello"}], budget_tokens=1000))
    assert "mine" in found
    assert not [word for word in ("secret", "hidden", "vault") if word in found]


def test_an_unknown_format_of_messages_is_refused(tmp_path: Path) -> None:
    """As `fit` does."""
    with pytest.raises(ValueError, match="messages have no format"):
        _session(tmp_path).inspect([], format="telegram")
