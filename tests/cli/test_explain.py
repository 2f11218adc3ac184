"""`octoc explain`."""

import json
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import octoc.diagnostics
from octoc.installation import documentation_url

Run = Callable[..., Any]
SITE = "https://docs.example/octoc"
PAGE = (Path(octoc.diagnostics.__file__).parent / "docs" / "OCT301.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def site(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """A function that sets the address of the site; without a call the installed octoc names none."""

    def name(url: str | None) -> None:
        monkeypatch.setattr("octoc.diagnostics.pages.documentation_url", lambda: url)

    name(None)
    return name


@pytest.mark.parametrize("asked", ["OCT301", "oct301", "301", "unknown-server"])
def test_a_rule_is_explained_by_code_and_by_name(octoc: Run, asked: str) -> None:
    """The page of a rule is printed, whichever of its names is asked for."""
    done = octoc("explain", asked)
    assert (done.status, done.out, done.err) == (0, PAGE, "")


def test_json_is_one_object(octoc: Run) -> None:
    """With --json stdout is one object with the rule's fields and its page."""
    done = octoc("explain", "OCT301", "--json")
    found = json.loads(done.out)
    assert (found["code"], found["name"], found["severity"]) == ("OCT301", "unknown-server", "error")
    assert (found["page"], found["url"]) == (PAGE, None)


def test_the_page_on_the_site_is_named(octoc: Run, site: Callable[[str | None], None]) -> None:
    """An installation that names a site prints the address of the rule's page there."""
    site(SITE)
    assert octoc("explain", "OCT301").out == f"{PAGE}\nThis page online: {SITE}/rules/OCT301/\n"
    assert json.loads(octoc("explain", "OCT301", "--json").out)["url"] == f"{SITE}/rules/OCT301/"


def test_the_site_is_in_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is `Documentation` of the installed distribution, and None if it has no such entry."""
    metadata = Message()
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: metadata)
    metadata["Project-URL"] = "Repository, https://code.example/octoc"
    assert documentation_url() is None
    metadata["Project-URL"] = f"Documentation, {SITE}/"
    assert documentation_url() == SITE


@pytest.mark.parametrize(
    "asked,near",
    [
        ("OCT30", "similar codes: OCT301, OCT302, OCT303"),
        ("309", "similar codes: OCT307, OCT308, OCT310"),
        ("unknwon-server", "did you mean `unknown-server`"),
        ("zzz", "codes go from OCT101 to OCT901"),
    ],
)
def test_a_miss_names_what_is_near(octoc: Run, asked: str, near: str) -> None:
    """A rule that does not exist is an error with near codes or names, exit status 1."""
    done = octoc("explain", asked)
    assert (done.status, done.out) == (1, "")
    message, help_line = done.err.splitlines()
    assert message == f"error: unknown rule `{asked}`"
    assert help_line.startswith(f"  = help: {near}")


@pytest.mark.parametrize("rule", ["REST002", "rest002", "rest-tool-name"])
def test_a_rule_of_an_installed_plugin_has_a_page(octoc: Run, rule: str) -> None:
    """The page of a plugin's rule comes with the plugin, in a workspace that uses it or anywhere else."""
    done = octoc("explain", rule)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("# REST002 rest-tool-name\n")
