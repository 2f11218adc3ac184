"""The page on forms: its examples run on a session, and its table has every form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.model import AgentEntry, Bundle, Registry, ServerEntry, Settings, ToolEntry
from octoc.bundle.writer import BlobBuilder, write_bundle
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import DiagnosticSink
from octoc.formats import FORMATS
from octoc.runtime import Runtime, Session

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
SCHEMA = {
    "type": "object",
    "properties": {"filter[x]": {"type": "string"}, "values": {"type": "object"}},
    "additionalProperties": False,
}


@pytest.fixture
def page() -> dict[str, Any]:
    """What the page's examples define."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)  # noqa: S102  # the project's own page
    return names


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session of an agent that sees `s__act` and may load `s__list`."""
    blobs = BlobBuilder()
    tools = []
    for name in ("act", "list"):
        wire = {"name": name, "description": f"{name} of s", "inputSchema": SCHEMA}
        where = blobs.add(json.dumps(wire).encode())
        tools.append(ToolEntry(server="s", name=name, alias=f"s__{name}", description=f"{name} of s", wire=where))
    agent = AgentEntry(name="supervisor", kind="octo", registry=Registry(tools=(0, 1), direct=(0,), proxy=True))
    bundle = Bundle(
        name="b",
        octoc_version="0",
        settings=Settings(),
        servers=(ServerEntry(name="s", transport="stdio", command="s", listed=True),),
        tools=tuple(tools),
        agents=(agent,),
    )
    path = tmp_path / "b.octoc"
    path.write_bytes(write_bundle(bundle, blobs={"tools": blobs.data, "texts": b""}, arrays={}))
    return Runtime.open(path).session()


def test_the_table_has_every_form() -> None:
    """The page's first table names exactly the existing formats."""
    table = PAGE.split("## ")[0]
    assert tuple(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == FORMATS


def test_both_forms_of_a_call_are_the_same(page: dict[str, Any], session: Session) -> None:
    """The two ways to give arguments that the page shows are read as the second."""
    from octoc.runtime.catalog.tool_block import tool_arguments

    first, second = page["forms_of_one_call"](session)
    assert tool_arguments(session.state, 0, first, session.state.form) == second
    assert tool_arguments(session.state, 0, second, session.state.form) == second


def test_the_answers_to_a_search(page: dict[str, Any], session: Session) -> None:
    """What the page returns to each API loads the deferred tool."""
    session.tools("anthropic", deferred="native")
    result = page["anthropic_result"](session, {"id": "t1", "input": {"query": "list"}})
    assert result["content"] == [{"type": "tool_reference", "tool_name": "s__list"}]
    session.tools("openai-responses", deferred="native")
    output = page["openai_result"](session, {"call_id": "c1", "arguments": {"query": "list"}})
    assert [tool["name"] for tool in output["tools"]] == ["s__list"]


def test_the_budget_is_sound(tmp_path: Path) -> None:
    """The page's `[budget]` has no finding, and an agent that its glob matches has its limit and the general one."""
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    tmp_path.joinpath("octoc.toml").write_text(f'[workspace]\nname = "w"\n\n{example}', encoding="utf-8")
    sink = DiagnosticSink()
    settings = load_settings(tmp_path, sink)
    assert settings is not None
    assert sink.diagnostics == ()
    budget = settings.budget.of("hr/leave")
    assert (budget.max_tools, budget.max_tokens) == (40, 4000)
