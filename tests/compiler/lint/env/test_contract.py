"""The environment contract: which variables are needed by which parts, and the findings for unset ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.pipeline import run_to_scope
from octoc.compiler.workspace.environment import (
    Environment,
    EnvironmentUnreadableError,
    Variable,
    contract,
    read_environment,
)
from octoc.compiler.workspace.load import load_workspace
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

Lint = Callable[..., Any]
NOTHING_SET = Environment()
# Not like any known form of a secret, so that nothing hides it but that it is never taken.
PLANTED = "planted-value-7c1f"


def needed(root: Path, agent: str | None = None) -> dict[str, Variable]:
    """Return the contract of the workspace in `root`, by name."""
    loaded = load_workspace(root, cache=Cache(None), plugins=plugins_of())
    assert loaded.settings is not None
    return {variable.name: variable for variable in contract(run_to_scope(loaded.settings, loaded.context), agent)}


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A workspace with an open server, and one that only a capability of one domain grants."""
    builder = WorkspaceBuilder(tmp_path)
    builder.server(
        "notes", "notes-mcp", "${NOTES_DIR:-notes}", env={"TOKEN": "${NOTES_TOKEN}", "EXTRA": "{{ENV:SHARED}}"}
    )
    builder.capability(
        "payments",
        ["refund the last invoice"],
        server={"command": "pay-mcp", "env": {"KEY": "{{INPUT:PAY_KEY}}", "SHARED": "${SHARED:-x}"}},
        domains=["finance"],
    )
    builder.octomind_agent("finance", "analyst")
    builder.octomind_agent("garden", "general")
    builder.agent("noter", tools=["notes/*"])
    builder.agent("idle", tools=[])
    return builder.write()


def test_who_needs_what(fleet: Path) -> None:
    """Each variable has its servers, the capabilities that grant one, and the agents that can reach one."""
    variables = needed(fleet)
    assert list(variables) == ["NOTES_TOKEN", "PAY_KEY", "SHARED", "NOTES_DIR"]
    assert [(v.required, v.kind) for v in variables.values()] == [
        (True, "env"),
        (True, "input"),
        (True, "env"),
        (False, "env"),
    ]
    token, key, shared = variables["NOTES_TOKEN"], variables["PAY_KEY"], variables["SHARED"]
    assert (token.servers, token.capabilities, token.agents) == (("notes",), (), ("noter", "supervisor"))
    assert (key.servers, key.capabilities, key.agents) == (
        ("payments",),
        ("payments",),
        ("finance:analyst", "supervisor"),
    )
    assert shared.servers == ("notes", "payments")
    assert [(use.server, use.field, use.has_default) for use in shared.uses] == [
        ("notes", "env.EXTRA", False),
        ("payments", "env.SHARED", True),
    ]


def test_what_one_agent_needs(fleet: Path) -> None:
    """With an agent's name the contract lists only what that agent can need."""
    assert set(needed(fleet, "finance:analyst")) == {"PAY_KEY", "SHARED"}
    assert needed(fleet, "finance:analyst")["SHARED"].servers == ("payments",)
    assert not needed(fleet, "finance:analyst")["SHARED"].required
    assert set(needed(fleet, "noter")) == {"NOTES_TOKEN", "NOTES_DIR", "SHARED"}
    assert needed(fleet, "garden:general") == {}
    assert needed(fleet, "idle") == {}


@pytest.mark.parametrize(
    "entry, names",
    [
        ({"command": "${A}", "args": ["--x=${env:B}"], "cwd": "${C}/x", "envFile": "${D}"}, {"A", "B", "C", "D"}),
        ({"type": "http", "url": "https://${HOST}/", "headers": {"X": "Bearer ${T}"}}, {"HOST", "T"}),
        ({"command": "x", "args": ["${input:region}", "${workspaceFolder}", "$BARE", "{{{{ENV:NO}}}}"]}, {"region"}),
        ({"type": "http", "url": "https://h.example", "auth": {"type": "oauth", "scopes": ["${N}"]}}, {"N"}),
        ({"type": "http", "url": "https://h.example", "auth": {"client_secret_env": "SECRET_NAME"}}, {"SECRET_NAME"}),
        ({"command": "x", "env": {"API_KEY": "sk-aaaaaaaaaaaaaaaaaaaaaaaa"}}, {"API_KEY"}),
        ({"command": "${A}", "disabled": True}, set()),
    ],
)
def test_where_references_are_looked_for(tmp_path: Path, entry: dict[str, Any], names: set[str]) -> None:
    """Every text that is expanded when a server is connected counts, and a literal secret counts as its variable."""
    assert set(needed(WorkspaceBuilder(tmp_path).server("s", **entry).write())) == names


def test_nothing_is_said_without_an_environment(lint: Lint) -> None:
    """What the machine of the build has says nothing about where the bundle runs."""
    assert lint(servers={"s": {"command": "x", "env": {"A": "${A}"}}}).shown() == []


def test_what_is_not_set_is_marked_at_its_reference(lint: Lint) -> None:
    """A required variable is marked where it stands, with who needs it; one with a default is not."""
    linted = lint(servers={"s": {"command": "x", "env": {"A": "Bearer ${A}", "B": "${B:-b}"}}}, environment=NOTHING_SET)
    assert linted.shown() == [("OCT466", ""), ("OCT465", "${A}")]
    summary, unset = linted.of("OCT465", "OCT466")
    assert unset.message == "variable `A`, which server `s` needs, is not set"
    assert unset.notes == ("needed by agent `supervisor`",)
    assert summary.message == "the workspace refers to 2 variables: 1 required, 1 of them not set"


def test_one_variable_in_many_places_is_one_finding(lint: Lint) -> None:
    """The other references that need it are secondary places."""
    servers = {name: {"command": name, "env": {"X": "${SAME}"}} for name in ("one", "two")}
    (unset,) = lint(servers=servers, environment=NOTHING_SET).of("OCT465")
    assert [label.text for label in unset.related] == ["also needed by `env.X` of server `two`"]


@pytest.mark.parametrize("state, codes", [(True, ["OCT466"]), (False, ["OCT466", "OCT465"])])
def test_a_name_without_a_value_is_not_set(lint: Lint, state: bool, codes: list[str]) -> None:
    """`A=` in a `.env` file is as good as no line."""
    linted = lint(servers={"s": {"command": "${A}"}}, environment=Environment(names={"A": state}))
    assert [code for code, _ in linted.shown()] == codes


def test_a_workspace_without_references_has_no_contract(lint: Lint) -> None:
    """There is nothing to tell of it."""
    assert lint(servers={"s": {"command": "x"}}, environment=NOTHING_SET).shown() == []


def test_an_environment_has_names_and_no_values(tmp_path: Path) -> None:
    """`.env` files give names only; a later file sets what an earlier one leaves empty, and `--env` names are set."""
    (tmp_path / "a").write_text(f"\ufeff# comment\nexport SET={PLANTED}\nEMPTY=\nLATER=''\n", encoding="utf-8")
    (tmp_path / "b").write_text(f'LATER="{PLANTED}"\nnot a line\n', encoding="utf-8")
    environment = read_environment([tmp_path / "a", tmp_path / "b"], ["NAMED"])
    assert {name: environment.state(name) for name in ("SET", "EMPTY", "LATER", "NAMED", "OTHER")} == {
        "SET": "set",
        "EMPTY": "empty",
        "LATER": "set",
        "NAMED": "set",
        "OTHER": "unset",
    }
    assert PLANTED not in repr(environment)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Undecodable bytes, a folder and a missing file are reported by name, without their content."""
    (tmp_path / "binary").write_bytes(b"A=\xff\xfe" + PLANTED.encode())
    for name, why in (("binary", "it is not UTF-8"), (".", "Is a directory"), ("none", "No such file or directory")):
        with pytest.raises(EnvironmentUnreadableError) as caught:
            read_environment([tmp_path / name], [])
        assert str(caught.value) == f"the file `{tmp_path / name}` cannot be read: {why}"
