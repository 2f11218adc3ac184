"""`octoc rules` and `octoc schema`: what there is, for people and for programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.data import schemas_dir
from octoc.diagnostics.rules import all_rules
from octoc.plugin.manager import Plugins
from octoc.plugin.rules import lint_rules

Run = Callable[..., Any]
RULES = [*all_rules().values(), *lint_rules(Plugins(names=None)).rules.values()]


def test_every_rule_is_listed(octoc: Run) -> None:
    """The table has a row for each rule, those of installed plugins last: code, name, severity, since, summary."""
    done = octoc("rules")
    assert (done.status, done.err) == (0, "")
    title, head, *rows = done.out.splitlines()
    assert title == f"{len(RULES)} rules"
    assert head.split() == ["code", "name", "severity", "since", "summary"]
    for row, rule in zip(rows, RULES, strict=True):
        assert row.split(maxsplit=4) == [rule.code, rule.name, rule.severity.label, rule.since, rule.summary]


def test_rules_as_json_are_one_array(octoc: Run) -> None:
    """With --json each rule is an object, which also says whether a workspace may configure it."""
    found = {one["code"]: one for one in json.loads(octoc("rules", "--json").out)}
    assert list(found) == [rule.code for rule in RULES]
    assert found["OCT301"] == {
        "code": "OCT301",
        "name": "unknown-server",
        "severity": "error",
        "configurable": True,
        "since": "0.1.0",
        "summary": all_rules()["OCT301"].summary,
    }
    assert found["OCT601"]["configurable"] is False


@pytest.mark.parametrize("name", ["workspace", "workspace.v1", "workspace.v1.json"])
def test_a_schema_is_printed_as_it_is(octoc: Run, name: str) -> None:
    """A schema is printed byte for byte, by its name with and without version and ending."""
    done = octoc("schema", name)
    assert (done.status, done.err) == (0, "")
    assert done.out == (schemas_dir() / "workspace.v1.json").read_text(encoding="utf-8")


def test_schemas_are_listed(octoc: Run) -> None:
    """Without a name all schemas are listed; with --json also where they are."""
    done = octoc("schema")
    assert done.status == 0
    listed = json.loads(octoc("schema", "--json").out)
    assert {Path(one["path"]) for one in listed} == set(schemas_dir().glob("*.json"))
    for one in listed:
        assert one["name"] in done.out
        assert one["title"] in done.out


def test_a_schema_s_path_is_told(octoc: Run) -> None:
    """With --path the file's place is printed, for editors."""
    assert Path(octoc("schema", "mcp", "--path").out.rstrip("\n")) == schemas_dir() / "mcp.v1.json"
    assert octoc("schema", "--path").status == 2


def test_a_schema_that_is_not_there(octoc: Run) -> None:
    """An unknown schema name is an error with near names and exit status 1."""
    done = octoc("schema", "workspce")
    assert (done.status, done.out) == (1, "")
    assert "did you mean `workspace`?" in done.err
    assert "expected agent-manifest, " in octoc("schema", "zzz").err
