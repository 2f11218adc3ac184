"""The page on scopes, done: its workspace builds without an error, and `octoc scope` says what the page says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from octoc import data
from octoc.cli import main
from octoc.compiler.cache.store import Cache
from octoc.compiler.discover.stage import discover
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_checks
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.manager import Plugins
from octoc.testing import WorkspaceBuilder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scopes.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'^```toml title="([^"]+)"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL))
SHOWN = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """The page's workspace."""
    builder = WorkspaceBuilder(tmp_path)
    for server, tools in {"ledger": ["read", "pay"], "docs": ["search", "get"], "mail": ["send"]}.items():
        builder.server(server, f"{server}-mcp").snapshot(server, tools)
    for agent in ("cfo", "finance-clerk", "recruiter", "auditor"):
        builder.agent(agent)
    root = builder.write()
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def findings(root: Path) -> list[Diagnostic]:
    """Return the errors and warnings on scopes."""
    loaded = load_workspace(root, cache=Cache(None), plugins=Plugins())
    assert loaded.settings is not None
    run_checks(discover(Build(settings=loaded.settings), loaded.context), loaded.context)
    return [one for one in loaded.context.sink.diagnostics if one.severity.name != "INFO"]


def test_the_pages_workspace_is_sound(company: Path) -> None:
    """There is no error and no warning."""
    assert findings(company) == []


def test_scope_shows_what_the_page_shows(company: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables of the page are those of the command, byte for byte."""
    assert main(["scope", "--workspace", str(company)]) == 0
    assert capsys.readouterr().out.startswith(SHOWN[0])
    asked, _, shown = SHOWN[1].partition("\n")
    assert main([*asked.removeprefix("$ octoc ").split(), "--workspace", str(company)]) == 0
    assert capsys.readouterr().out == shown


def test_the_pages_denial_is_broken_as_it_says(company: Path) -> None:
    """Under `allow` without the groups of finance, the recruiter reaches the ledger."""
    text = FILES["octoc.toml"].replace('"deny"', '"allow"')
    (company / "octoc.toml").write_text(text, encoding="utf-8")
    (company / "scopes/finance.toml").write_text("[tenants.acme]\n", encoding="utf-8")
    (found,) = [one for one in findings(company) if one.rule.code == "OCT369"]
    assert f"error[OCT369] broken-deny: {found.message}\n  = note: {found.notes[0]}\n" == SHOWN[2]


def test_every_table_and_key_is_explained() -> None:
    """Each table of the schema stands in the page, and each key of settings."""
    schema = json.loads((data.schemas_dir() / "scopes.v1.json").read_text(encoding="utf-8"))
    assert [name for name in schema["properties"] if f"[{name}" not in PAGE] == []
    kinds = ("area", "group", "grant", "quota", "results", "routing")
    keys = [key for kind in kinds for key in schema["$defs"][kind]["properties"] if key != "description"]
    assert [key for key in keys if f"`{key}" not in PAGE] == []


def test_the_examples_are_of_one_workspace() -> None:
    """The blocks are TOML, and each says where it stands."""
    assert set(FILES) == {"octoc.toml", "scopes/finance.toml", "scopes/company.toml"}
    assert all(tomllib.loads(text) for text in FILES.values())
