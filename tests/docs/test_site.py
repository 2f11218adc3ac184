"""The docs site: it has every page, command, setting and rule, and its links lead to pages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from docs_site.__main__ import write
from docs_site.navigation import expanded, mistakes
from docs_site.page import ROOT, plain
from docs_site.project_pages import with_site_links
from docs_site.python_pages import FACES as DESCRIBED
from octoc.cli.commands import SUMMARIES
from octoc.cli.root import root
from octoc.data import schemas_dir
from octoc.diagnostics.rules import all_rules
from tests.house.test_faces import FACES

PATHS = {"docs/serve.md": "serve.md", "docs/migrate/from-octo.md": "migrate/from-octo.md", "README.md": "index.md"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages and the configuration that the generator of the site reads."""
    folder = tmp_path_factory.mktemp("site")
    assert write(folder) == []
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[str, str]:
    """Each page of the site by its path."""
    return {
        path.relative_to(site / "pages").as_posix(): path.read_text(encoding="utf-8")
        for path in (site / "pages").rglob("*.md")
    }


def test_each_command_has_a_page_with_its_options(pages: Mapping[str, str]) -> None:
    """Every option of every command, and of the commands below it, is on the command's page."""
    for name in SUMMARIES:
        page = pages[f"reference/commands/{name}.md"]
        assert f"[`octoc {name}`]({name}.md)" in pages["reference/commands/index.md"]
        command = root.get_command(click.Context(root), name)
        assert command is not None
        commands = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
        options = [
            flag for one in commands for param in one.params if param.param_type_name == "option" for flag in param.opts
        ]
        assert [flag for flag in (*options, "-h, --help") if flag not in page] == []


def test_no_backslash_is_seen_where_markdown_takes_none(pages: Mapping[str, str]) -> None:
    """In code a backslash would be shown, and so would one before `<`."""
    assert plain("a|b *c* `x|y_z` 0<=x<=9 dist/<name>") == r"a\|b \*c\* `x|y_z` 0&lt;=x&lt;=9 dist/&lt;name\>"
    assert "| `--transport [stdio|http]` |" in pages["reference/commands/serve.md"]


def test_each_setting_is_on_the_page(pages: Mapping[str, str]) -> None:
    """Every section of octoc.toml has a heading and its keys, with the default that the schema names."""
    schema = json.loads((schemas_dir() / "workspace.v1.json").read_text(encoding="utf-8"))
    section_of = re.compile(r"^## `\[+(\w+)[^\n]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    sections = dict(section_of.findall(pages["reference/settings.md"]))
    assert list(sections) == list(schema["properties"])
    for name, section in schema["properties"].items():
        properties = section.get("properties") or section.get("items", {}).get("properties") or {}
        assert [key for key in properties if f"| `{key}`" not in sections[name]] == []
    assert re.search(r"\| `max_active` \| integer \|[^|]*default `4` \|", sections["routing"])
    assert "| `timeout` | number |" in sections["servers"]
    assert "| `oidc.NAME.issuer`, required |" in sections["serve"]


def test_each_rule_has_a_page_at_its_address(pages: Mapping[str, str]) -> None:
    """`rules/OCTnnn/` exists for each rule, says how bad a finding is, and is in the overview and the navigation."""
    for code, rule in all_rules().items():
        assert f"**severity**: {rule.severity.label}" in pages[f"rules/{code}.md"]
        assert f"[{code}]({code}.md) | `{rule.name}`" in pages["rules/index.md"]


def test_the_python_pages_are_those_of_the_faces() -> None:
    """Each public package has a page, and no other package has one."""
    assert sorted(DESCRIBED) == sorted(FACES)


def test_addresses_come_from_the_project(site: Path) -> None:
    """The configuration names a site or a repository only if `[project.urls]` of pyproject.toml does."""
    written = tomllib.loads((site / "zensical.toml").read_text(encoding="utf-8"))["project"]
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    assert (written.get("site_url"), written.get("repo_url")) == (urls.get("Documentation"), urls.get("Repository"))


@pytest.mark.parametrize(
    "source,text,expected",
    [
        ("README.md", "[a](docs/serve.md#page)", "[a](serve.md#page)"),
        (
            "docs/migrate/from-octo.md",
            "[a](../serve.md) and [b](../../README.md)",
            "[a](../serve.md) and [b](../index.md)",
        ),
        ("docs/serve.md", "![p](pictures/a.svg)", "![p](pictures/a.svg)"),
        ("docs/serve.md", "[a](#b) [c](https://d.example)", "[a](#b) [c](https://d.example)"),
        ("docs/serve.md", "[a](../plugins/x/code.py)", "a"),
        ("docs/serve.md", "```md\n[a](../README.md)\n```", "```md\n[a](../README.md)\n```"),
    ],
)
def test_links_lead_to_pages(source: str, text: str, expected: str) -> None:
    """A link to a page becomes one of the site, a link to another file its text, and code stays as it is."""
    assert with_site_links(text, source, PATHS, None) == expected


def test_links_to_files_lead_to_the_repository() -> None:
    """With the repository's address, a link to a file that is not on the site leads to the file there."""
    made = with_site_links("[a](../LICENSE)", "docs/serve.md", PATHS, "https://code.example/octoc/")
    assert made == "[a](https://code.example/octoc/blob/main/LICENSE)"


def test_a_page_outside_of_the_navigation_is_a_mistake() -> None:
    """A page without a place, a place without a page and a second place of a page are reported."""
    nav = expanded(["index.md", {"A": ["a/x.md", "a/*"]}], ["a/x.md", "a/y.md", "index.md", "b.md"])
    assert nav == ["index.md", {"A": ["a/x.md", "a/y.md"]}]
    assert [
        line.partition(":")[0]
        for line in mistakes([*nav, "c.md", "index.md"], ["index.md", "a/x.md", "a/y.md", "b.md"])
    ] == [
        "b.md",
        "c.md",
        "index.md",
    ]
