"""`octoc rules` and `octoc schema`: what there is, for people and for programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.inputs.registry import KINDS
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


@pytest.mark.parametrize(
    "kind,has,lacks",
    [
        ("mcp", {"OCT107", "OCT220", "OCT402"}, {"OCT401", "OCT456", "OCT501", "OCT470"}),
        ("mcp:cursor", {"OCT107", "OCT220"}, {"OCT401"}),
        ("skill", {"OCT244", "OCT103"}, {"OCT220"}),
        ("snapshot", {"OCT470"}, {"OCT244"}),
    ],
)
def test_rules_of_a_kind_of_file(octoc: Run, kind: str, has: set[str], lacks: set[str]) -> None:
    """With `--kind` the rules that can report something in such a file are listed, and no other."""
    codes = {one["code"] for one in json.loads(octoc("rules", "--kind", kind, "--json").out)}
    assert has <= codes
    assert not lacks & codes


def test_an_unknown_kind_of_rules_is_refused(octoc: Run) -> None:
    """A kind that does not exist ends with 2 and names a near one."""
    done = octoc("rules", "--kind", "mpc")
    assert done.status == 2
    assert "unknown kind `mpc`: did you mean `mcp`?" in done.err


def test_every_kind_that_a_rule_names_exists() -> None:
    """A rule is about kinds of files that octoc has."""
    known = {kind.name for kind in KINDS}
    assert {rule.code for rule in RULES if not rule.kinds <= known} == set()


def test_rules_as_json_are_one_array(octoc: Run) -> None:
    """With --json each rule is an object, which also says whether a workspace may configure it."""
    found = {one["code"]: one for one in json.loads(octoc("rules", "--json").out)}
    assert list(found) == [rule.code for rule in RULES]
    assert found["OCT301"] == {
        "code": "OCT301",
        "name": "unknown-server",
        "severity": "error",
        "configurable": True,
        "kinds": [],
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
    assert {Path(one["path"]) for one in listed} == set(schemas_dir().rglob("*.json"))
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
    assert "run `octoc schema` for the list" in octoc("schema", "zzz").err
