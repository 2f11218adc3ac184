"""Stage index: from a workspace's tools to the arrays in the bundle, and to what they find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.compiler.index.tool_intents import tool_intents
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.search.index import DENSE, LEXICAL, NEEDS, TOOL_INTENTS
from octoc.testing import WorkspaceBuilder, fake_embedder

TOOLS = [
    {"name": f"{verb}_{noun}", "description": f"{verb.title()} a {noun}.", "inputSchema": {"type": "object"}}
    for verb in ("create", "list", "delete", "update")
    for noun in ("issue", "label", "branch", "comment", "file")
]


class _Encoder:
    """A plugin with the fake encoder under the name that workspaces use."""

    from octoc.plugin import hookimpl

    @hookimpl
    def octoc_make_embedder(self, name: str, settings: Any, files: Any) -> Any:
        return fake_embedder(name, files)


def _built(root: Path, *plugins: object, tools: Any = TOOLS, triggers: tuple[str, ...] = (), **search: Any) -> Path:
    workspace = WorkspaceBuilder(root)
    if triggers:
        workspace.capability("tickets", triggers, server={"name": "tracker", "command": "none"})
    workspace.settings("search", **{"bind": "never", **search})
    workspace.server("tracker", "none").snapshot("tracker", tools)
    workspace.agent("finder", type="specialist")
    outcome = workspace.build(plugins_of(*plugins))
    assert outcome.bundle is not None
    return Path(outcome.bundle)


def _names(path: Path) -> set[str]:
    with OpenBundle.open(path, verify="full") as opened:
        return {name for name in (*LEXICAL, *DENSE, *TOOL_INTENTS, *NEEDS) if opened.has_array(f"search/{name}")}


def test_tools_are_indexed_by_words_and_vectors(tmp_path: Path) -> None:
    """With an encoder the bundle has every array; the same workspace elsewhere has the same bytes."""
    first = _built(tmp_path / "a", _Encoder())
    second = _built(tmp_path / "b", _Encoder())
    assert _names(first) == {*LEXICAL, *DENSE, *TOOL_INTENTS, *NEEDS}
    assert first.read_bytes() == second.read_bytes()


def test_without_an_encoder_words_alone_are_indexed(tmp_path: Path) -> None:
    """No encoder, or `rank = "bm25"`, leaves out all that is made with one; Octo's rule needs no index at all."""
    assert _names(_built(tmp_path / "none")) == set(LEXICAL)
    assert _names(_built(tmp_path / "bm25", _Encoder(), rank="bm25")) == set(LEXICAL)
    assert _names(_built(tmp_path / "octo", _Encoder(), rank="octo")) == set()


def test_a_list_that_fits_an_answer_needs_no_encoder(tmp_path: Path) -> None:
    """Few tools are ranked by their words: shipping an encoder for them would cost more than it finds."""
    assert _names(_built(tmp_path, _Encoder(), tools=TOOLS[:5])) == set(LEXICAL)


def test_an_encoder_that_routes_ranks_a_few_tools_too(tmp_path: Path) -> None:
    """Where it is in the bundle already, it costs next to nothing to find by meaning as well."""
    triggers = ("file a ticket for this", "what is open in the tracker", "label that bug")
    path = _built(tmp_path, _Encoder(), tools=TOOLS[:5], triggers=triggers)
    assert _names(path) == {*LEXICAL, *DENSE, *TOOL_INTENTS, *NEEDS}


def test_tools_that_nobody_recorded_need_no_encoder(tmp_path: Path) -> None:
    """A server without a snapshot has nothing to encode: the bundle ships no encoder, and the build says so."""
    workspace = WorkspaceBuilder(tmp_path).server("late", "none")
    outcome = workspace.build(plugins_of(_Encoder()))
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert opened.bundle.encoder is None
    (found,) = (one for one in outcome.diagnostics if one.rule.code == "OCT782")
    assert "late" in found.message


def test_a_bound_agent_needs_no_encoder(tmp_path: Path) -> None:
    """An agent that sees all its tools searches for none, also where they are more than one answer has."""
    tools = [{"name": f"t{number}", "description": "", "inputSchema": {"type": "object"}} for number in range(12)]
    assert _names(_built(tmp_path, _Encoder(), tools=tools, bind="auto")) == set(LEXICAL)


def test_the_bundle_finds_by_meaning(tmp_path: Path) -> None:
    """A bundle with vectors says what each part of a score gave; without its encoder it says that it has none."""
    path = _built(tmp_path, _Encoder())
    session = Runtime.open(path, plugins=plugins_of(_Encoder())).session()
    answer = session.state.loaded.search.rank(session.state.tools, "create an issue", 5)
    assert answer.method == "words and meaning"
    assert answer.hits[0].hit.tool == "tracker/create_issue"
    assert {"words", "meaning", "clauses", "intents"} <= set(answer.hits[0].parts)
    assert answer.hits[0].hit.score == pytest.approx(sum(answer.hits[0].parts.values()), abs=1e-3)
    without = Runtime.open(path, plugins=plugins_of()).session()
    bare = without.state.loaded.search.rank(without.state.tools, "create an issue", 5)
    assert (bare.method, bare.hits[0].hit.tool) == ("words", "tracker/create_issue")
    assert "encoder" in bare.why


def test_tool_intents_are_sound() -> None:
    """Every intent says what it is about and how people ask for it, and no message belongs to two."""
    says = [text for intent in tool_intents() for text in intent.says]
    assert len(tool_intents()) > 100
    assert all(intent.about and intent.says for intent in tool_intents())
    assert len(says) == len(set(says))
