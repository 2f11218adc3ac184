"""`octoc report`: the figures of the other commands on one page, in JSON and in Markdown."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder

Run = Callable[..., Any]

HOSTILE = """</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>"'><a href=//evil> \u202e|@team`x`"""
TRIGGERS = {
    "clock": ["what time is it in Tokyo", "convert 5pm UTC to Berlin time", "the hour in Rome right now"],
    "mail": ["send an email to Ada", "read my inbox", "reply to the last mail", "delete the newsletter emails"],
}
FIXTURES = f"""[[message]]
text = "what time is it in Tokyo now"
expect = "clock"

[[message]]
text = {json.dumps("send an email to Ada please " + HOSTILE)}
expect = "clock"

[[message]]
text = "thanks, that was really helpful!"
expect = "none"
"""


def described(root: Path, tools: list[str]) -> WorkspaceBuilder:
    """Return a workspace without an encoder: two capabilities, a server without a snapshot, an agent, and fixtures."""
    builder = WorkspaceBuilder(root, plugins={"use": []}).server("time", "time-mcp").server("notes", "notes-mcp")
    builder.server("mail", "mail-mcp").snapshot("time", tools).snapshot("mail", ["send"])
    for (name, triggers), server in zip(TRIGGERS.items(), ("time", "mail"), strict=True):
        builder.capability(name, triggers, server=server, allowed_tools=[f"{server}:*"])
    builder.agent("writer", type="worker", tools=["time/current_time"])
    return builder.file("routing/first.toml", FIXTURES)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace, built, with a tool whose name is hostile."""
    root = tmp_path_factory.mktemp("report") / "ws"
    builder = described(root, ["current_time", HOSTILE])
    assert builder.build().bundle is not None
    return root


def reported(octoc: Run, root: Path) -> dict[str, Any]:
    """Return the report as JSON."""
    done = octoc("report", "--json", "--workspace", str(root))
    assert done.status == 0, done.err
    return dict(json.loads(done.out))


def test_the_report_has_the_figures_of_the_other_commands(octoc: Run, built: Path) -> None:
    """Tokens are those of `build` and `show tokens`, routing is that of `test`, and findings are those of `check`."""
    where = ("--json", "--workspace", str(built))
    found = reported(octoc, built)
    bill = {one["agent"]: one for one in found["tokens"]["agents"]}
    for one in json.loads(octoc("build", "--allow-degraded", *where).out)["bill"]["agents"]:
        assert one.items() <= bill[one["agent"]].items()
    shown = {one["name"]: one for one in json.loads(octoc("show", "tokens", *where).out)["tokens"]["agents"]}
    for name, one in shown.items():
        own = bill.pop(name)
        assert (own["start_tokens"], own["bound_tokens"]) == (one["at_the_start"], one["all_tools"])
        assert len(own["servers_without_snapshot"]) == one["without_snapshot"]
    assert not bill
    tested = json.loads(octoc("test", "--allow-degraded", *where).out)
    assert {key: found["routing"][key] for key in tested} == tested
    assert {"expected": "clock", "got": "mail", "count": 1} in found["routing"]["matrix"]
    checked = {(one["code"], one["message"]) for one in json.loads(octoc("check", *where).out)}
    assert checked <= {(one["code"], one["message"]) for one in found["findings"]["all"]}
    assert found["scope"]["agents"]["writer"]["time"] == {"tools": 1, "how": "direct"}
    assert found["scope"]["agents"]["supervisor"]["notes"]["tools"] is None


def test_a_report_leaves_the_workspace_as_it_is_and_shows_its_drift(octoc: Run, tmp_path: Path) -> None:
    """After a change of a recorded tool the report says so, and lock and bundle stay as they were."""
    root = tmp_path / "ws"
    assert described(root, ["current_time"]).build().bundle is not None
    assert reported(octoc, root)["drift"]["changes"] == []
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    described(root, ["current_time", "convert"]).write()
    changed = {path for path in before if path.read_bytes() != before[path]}
    drift = reported(octoc, root)["drift"]
    assert drift["tools"]["counts"]["widening"] == 1
    assert drift["changes"]
    assert {path for path in root.rglob("*") if path.is_file()} == before.keys()
    assert {path for path in before if path.read_bytes() != before[path]} == changed == {root / "snapshots/time.json"}
    missing = {one["part"]: one["command"] for one in reported(octoc, root)["missing"]}
    assert missing["bundle"] == "octoc build"


class Page(HTMLParser):
    """What a page has: tags, attributes and identifiers, and the text outside of its style sheets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_one_file_that_runs_nothing_of_its_texts(octoc: Run, built: Path) -> None:
    """Names of tools and messages are text: no tag, attribute or address comes from them, and nothing is loaded."""
    done = octoc("report", "--workspace", str(built), "-o", "-")
    page = Page(done.out)
    assert not page.tags & {"script", "img", "link", "iframe", "object", "form"}
    assert all(value.startswith("#") for name, value in page.attributes if name in ("href", "src", "action"))
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert len(page.ids) == len(set(page.ids))
    assert "\u202e" not in done.out
    assert "<script>alert(1)</script>" in page.text
    for words in ("Tokens of each agent", "Who reaches which server", "Confusion matrix", "notes"):
        assert words in page.text


def test_the_summary_for_a_pull_request_has_no_markup_of_its_texts(octoc: Run, built: Path) -> None:
    """The Markdown has the figures, and a hostile message neither tags, mentions nor a cell of its own."""
    done = octoc("report", "--workspace", str(built), "--output-format", "markdown")
    assert done.status == 0
    assert done.out.startswith("### octoc report: test\n")
    assert "| routing | precision 50.0 %, recall 50.0 %, abstention 100.0 % |" in done.out
    assert "<script" not in done.out
    assert "<img" not in done.out
    assert not [line for line in done.out.splitlines() if "@team" in line.replace("\\@", "")]


def test_without_a_file_name_the_page_goes_beside_the_bundle(octoc: Run, tmp_path: Path) -> None:
    """A folder with servers alone gets a page, which says what is missing and which command adds it."""
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "./notes"}}}', encoding="utf-8")
    done = octoc("report", "--workspace", str(tmp_path))
    page = Page((tmp_path / "dist" / "report.html").read_text(encoding="utf-8")).text
    assert (done.status, done.out.startswith("written: ")) == (0, True)
    for command in ("octoc init", "octoc pin", "octoc build", "write agents/NAME.md"):
        assert command in page
    assert {one["part"] for one in reported(octoc, tmp_path)["missing"]} == {
        "settings",
        "agents",
        "snapshots",
        "bundle",
        "routing fixtures",
    }


def test_settings_that_cannot_be_read_are_findings(octoc: Run, tmp_path: Path) -> None:
    """An `octoc.toml` that is not TOML is shown, nothing is written, and the exit status is 2."""
    (tmp_path / "octoc.toml").write_text("[workspace", encoding="utf-8")
    done = octoc("report", "--workspace", str(tmp_path))
    assert (done.status, "OCT106" in done.err) == (2, True)
    assert not (tmp_path / "dist").exists()


def test_errors_that_prevent_a_bundle_leave_the_rest_of_the_report(octoc: Run, tmp_path: Path) -> None:
    """In production mode an error means no routing results, with the reason; the findings are there."""
    builder = described(tmp_path, ["current_time"]).settings("workspace", mode="production")
    builder.agent("broken", tools=["time/no_such"]).write()
    found = reported(octoc, tmp_path)
    assert found["routing"] is None
    assert found["findings"]["counts"]["error"] > 0
    reasons = {one["part"]: one["reason"] for one in found["missing"]}
    assert reasons["routing results"] == "errors prevent a bundle"
