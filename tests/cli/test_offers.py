"""Commands on servers with resources and prompts: `octoc pin`, `show` and `scope`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from octoc.compiler.pin.record import redacted
from octoc.compiler.pin.snapshots import listing_of_snapshot
from octoc.testing import WorkspaceBuilder

Run = Callable[..., Any]
SERVER = Path(__file__).parents[2] / "plugins" / "octoc-transport-mcp" / "tests" / "offering_server.py"
DENY = '[[deny]]\nagents = "cfo"\nresources = "docs/docs://logo"\n'


def test_pin_records_offers_and_what_changed(octoc: Run, tmp_path: Path) -> None:
    """A snapshot has the server's resources, templates, prompts and features, and a later pin says what changed."""
    WorkspaceBuilder(tmp_path).server("docs", sys.executable, str(SERVER)).write()
    done = octoc("pin", "docs", "--yes", "--workspace", str(tmp_path))
    assert (done.status, done.out) == (0, "docs: 1 tool, 2 resources, 1 template, 2 prompts, new\n"), done.err
    path = tmp_path / "snapshots" / "docs.json"
    recorded = json.loads(path.read_text("utf-8"))
    assert [one["uri"] for one in recorded["resources"]] == ["docs://readme", "docs://logo"]
    assert [one["uriTemplate"] for one in recorded["resourceTemplates"]] == ["docs://pages/{number}"]
    assert [one["name"] for one in recorded["prompts"]] == ["greet", "review"]
    assert recorded["features"] == ["completions", "logging", "subscribe"]
    recorded["resources"][0]["uri"] = "docs://older"
    recorded["prompts"][0]["arguments"][0]["required"] = False
    path.write_text(json.dumps(recorded), "utf-8")
    again = octoc("pin", "docs", "--yes", "--workspace", str(tmp_path))
    assert again.status == 0
    for line in (
        "breaking: `resource docs://older` moved to `docs://readme`",
        "breaking: `prompt greet` argument `who` is required",
    ):
        assert line in again.out + again.err


def test_secrets_stay_out_of_recorded_offers() -> None:
    """A secret in a text is masked, and a resource whose URI has one is left out."""
    listing = listing_of_snapshot(
        json.dumps({
            "tools": [],
            "resources": [
                {"uri": "https://x/?key=hunter2-hunter2", "name": "by key"},
                {"uri": "https://x/", "name": "plain", "description": "use hunter2-hunter2"},
            ],
        })
    )  # fmt: skip
    assert listing is not None
    (left,) = redacted(listing, ["hunter2-hunter2"]).offers
    assert (left.name, left.wire["description"]) == ("https://x/", "use ***")


def test_show_and_scope_list_what_an_agent_may_use(octoc: Run, tmp_path: Path) -> None:
    """`octoc show` lists offers of the bundle or of an agent, and `octoc scope` those of an agent and its denials."""
    offers: Any = {
        "resources": [{"uri": f"docs://{name}", "name": name, "description": f"The {name}"} for name in ("a", "logo")],
        "prompts": [{"name": "greet"}],
    }
    builder = WorkspaceBuilder(tmp_path, scopes={"profile": "allow"}).server("docs", "docs-mcp")
    builder.snapshot("docs", ["t"], **offers).agent("cfo").file("scopes/company.toml", DENY).build()
    whole = octoc("show", "resources", "prompts", "--workspace", str(tmp_path))
    assert whole.status == 0, whole.err
    assert "docs://logo" in whole.out
    shown = octoc("show", "resources", "prompts", "--agent", "cfo", "--workspace", str(tmp_path), "--json")
    found = json.loads(shown.out)
    assert [one["uri"] for one in found["resources"]] == ["docs://a"]
    assert found["prompts"] == [{"server": "docs", "name": "docs__greet", "description": ""}]
    scoped = octoc("scope", "cfo", "--workspace", str(tmp_path))
    assert "resource  docs/docs://a" in scoped.out
    assert "docs/docs://logo" in scoped.out.partition("exclusions")[2]
    assert "docs/docs://logo" not in scoped.out.partition("exclusions")[0]
    lock = (tmp_path / "octoc.lock").read_text("utf-8")
    assert 'offers = ["resource docs/docs://a", "prompt docs/greet"]' in lock
    assert '"resource docs://logo" = ' in lock
