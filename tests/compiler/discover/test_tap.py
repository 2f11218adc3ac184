"""Taps: what is found in one, and what of it is left out and why."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[Mapping[str, str]], Path]
Find = Callable[..., Any]

CONFIG = 'triggers = ["one"]\n'
PROVIDER = "# Title: T\n[roles.mcp]\nserver_refs = []\n"
SKILL = "---\nname: s\ndescription: d\n---\nText"
TAP = {
    "tap/capabilities/web/config.toml": CONFIG,
    "tap/capabilities/web/brave.toml": PROVIDER,
    "tap/capabilities/web/exa.toml": PROVIDER,
    "tap/capabilities/web/default.toml": "brave.toml",
    "tap/capabilities/web/README.md": "no part of the format",
    "tap/capabilities/core/default.toml": PROVIDER,
    "tap/agents/developer/general.toml": "[[roles]]\n",
    "tap/agents/lead/AGENT.md": SKILL,
    "tap/skills/review/SKILL.md": SKILL,
    "tap/skills/review/validate": "#!/bin/sh\n",
    "tap/skills/review/scripts/b.sh": "x",
    "tap/skills/review/scripts/a/deep.sh": "x",
    "tap/skills/review/assets/x.png": "x",
    "tap/skills/review/reference/no.md": "x",
    "tap/deps/org/tool.sh": "x",
    "tap/deps/org/tool.md": "x",
    "tap/deps/lib/platform.sh": "x",
    "tap/.git/config": "x",
}


def test_everything_in_a_tap_is_found_sorted_and_with_what_its_path_says(write: Write, find: Find) -> None:
    """Each kind of file is found once, in the order of paths, with the names that its path gives."""
    found = find(write(TAP), "tap")
    assert found.findings == []
    assert [(file.display, dict(file.key)) for file in found.discovered.files] == [
        ("tap/agents/developer/general.toml", {"domain": "developer", "spec": "general"}),
        ("tap/agents/lead/AGENT.md", {"folder": "lead"}),
        ("tap/capabilities/core/default.toml", {"capability": "core", "provider": "default"}),
        ("tap/capabilities/web/config.toml", {"capability": "web"}),
        ("tap/capabilities/web/brave.toml", {"capability": "web", "provider": "brave"}),
        ("tap/capabilities/web/exa.toml", {"capability": "web", "provider": "exa"}),
        ("tap/skills/review/SKILL.md", {"skill": "review"}),
    ]
    assert {file.tap for file in found.discovered.files} == {"tap0"}
    (link,) = found.discovered.default_links
    assert (link.tap, link.capability, link.provider) == ("tap0", "web", "brave")
    assert link.place.file == "tap/capabilities/web/default.toml"
    (skill,) = found.discovered.skill_folders
    assert skill.resources == ("assets/x.png", "scripts/a/deep.sh", "scripts/b.sh")
    assert skill.has_validate
    assert found.discovered.dep_names == {("tap0", "org/tool")}
    assert [script.display for script in found.discovered.dep_scripts] == ["tap/deps/org/tool.sh"]


def test_files_that_other_programs_leave_behind_are_no_part_of_a_tap(write: Write, find: Find) -> None:
    """Compiled Python and a file manager's files change neither what the lock pins nor what a model reads."""
    left = ("skills/review/scripts/__pycache__/a.pyc", "skills/review/.DS_Store", "skills/review/assets/Thumbs.db")
    more = {f"tap/{path}": "x" for path in (*left, "deps/lib/__pycache__/a.pyc", "deps/lib/desktop.ini")}
    kept = {"tap/skills/review/scripts/a.pyc": "x", "tap/skills/review/scripts/__pycache__/a.py": "x"}
    found = find(write({**TAP, **kept, **more}), "tap").discovered
    (skill,) = found.skill_folders
    assert [path for path in skill.resources if "a.py" in path] == ["scripts/__pycache__/a.py", "scripts/a.pyc"]
    named = {*(file.display for file in found.attachments), *(file.display for file in found.dep_trees[0].files)}
    assert named.isdisjoint(more)
    assert named >= set(kept)


LINKS = [
    "brave.toml",
    "brave.toml\n",
    "brave.toml\r\n",
    "./brave.toml",
    "\ufeffbrave.toml",
    "-> brave.toml",
    "-> ./brave.toml",
]


@pytest.mark.parametrize("written", LINKS)
def test_a_default_is_the_provider_that_its_link_names(written: str, write: Write, find: Find) -> None:
    """A symlink, and the text that git writes where links are off, mean the same, down to the digest."""
    found = find(write(TAP | {"tap/capabilities/web/default.toml": written}), "tap")
    assert found.findings == []
    assert [link.provider for link in found.discovered.default_links] == ["brave"]
    digest = found.documents.digests["tap/capabilities/web/default.toml"]
    assert digest == hashlib.sha256(b"brave.toml").hexdigest()


BAD_DEFAULTS = [
    ("brav.toml", "OCT125", "leads to `brav.toml`, expected a provider beside it"),
    ("config.toml", "OCT125", "leads to `config.toml`, expected a provider beside it"),
    ("../core/default.toml", "OCT125", "leads to `../core/default.toml`, expected a provider beside it"),
    ("default.toml", "OCT125", "leads to `default.toml`"),
    ("-> ../core/default.toml", "OCT125", "leads to `../core/default.toml`, expected a provider beside it"),
    ("-> gone.toml", "OCT122", "is a link to `gone.toml`, which is not there"),
    ("-> default.toml", "OCT124", "is a link that leads back to itself"),
    ("-> /etc/hostname", "OCT123", "leads out of tap `tap0`"),
    ("-> ../../../outside.toml", "OCT123", "leads out of tap `tap0`"),
]


@pytest.mark.parametrize("written,code,message", BAD_DEFAULTS)
def test_a_default_that_names_no_provider_beside_it_is_left_out(
    written: str, code: str, message: str, write: Write, find: Find
) -> None:
    """Only the default is lost, with a finding in the words of what is wrong; the providers stay."""
    files = TAP | {"outside.toml": PROVIDER, "tap/capabilities/web/default.toml": written}
    found = find(write(files), "tap")
    (only,) = found.findings
    assert only.startswith(f"{code} tap/capabilities/web/default.toml: ")
    assert message in only
    assert found.discovered.default_links == ()
    assert "capability-provider tap/capabilities/web/brave.toml" in found.files


def test_what_leads_out_of_a_tap_is_left_out_and_all_else_stays(write: Write, find: Find) -> None:
    """Files and folders that link out of the tap are reported one by one, and nothing in them is read."""
    files = TAP | {
        "secret.toml": "a = 1",
        "elsewhere/x/config.toml": CONFIG,
        "tap/capabilities/web/leak.toml": "-> ../../../secret.toml",
        "tap/capabilities/linked": "-> ../../elsewhere/x",
        "tap/skills/review/references/all": "-> /etc",
        "tap/skills/plain/SKILL.md": SKILL,
        "tap/skills/alias": "-> plain",
    }
    found = find(write(files), "tap")
    assert found.findings == [
        "OCT123 tap/capabilities/linked: `tap/capabilities/linked` leads out of tap `tap0`",
        "OCT123 tap/capabilities/web/leak.toml: `tap/capabilities/web/leak.toml` leads out of tap `tap0`",
        "OCT123 tap/skills/review/references/all: `tap/skills/review/references/all` leads out of tap `tap0`",
    ]
    assert "skill tap/skills/alias/SKILL.md" in found.files
    assert not any("secret" in str(file.path.resolve()) for file in found.discovered.files)


def test_circles_of_links_come_to_an_end(write: Write, find: Find) -> None:
    """A link back up is reported once, and many links to one folder walk it once."""
    links = {f"tap/skills/review/references/d{n}/l{m}": f"-> ../d{n + 1}" for n in range(30) for m in (1, 2)}
    files = (
        TAP
        | links
        | {
            "tap/skills/review/references/d30/end.md": "x",
            "tap/skills/review/scripts/up": "-> ..",
            "tap/skills/review/scripts/self": "-> self",
        }
    )
    found = find(write(files), "tap")
    assert found.findings == [
        "OCT124 tap/skills/review/scripts/self: `tap/skills/review/scripts/self` is a link that leads back to itself",
        "OCT124 tap/skills/review/scripts/up: `tap/skills/review/scripts/up` leads back to a folder that holds it",
    ]
    (skill,) = found.discovered.skill_folders
    assert sum(path.endswith("end.md") for path in skill.resources) == 1


def test_names_that_are_none_and_folders_that_lack_their_file_are_told(write: Write, find: Find) -> None:
    """Entities whose name cannot be a name, and folders without their file, are left out by name."""
    files = {
        "tap/capabilities/web search/config.toml": CONFIG,
        "tap/capabilities/adds/config.toml": CONFIG,  # adds triggers to another tap's capability
        "tap/capabilities/bare/a b.toml": PROVIDER,
        "tap/skills/empty/skill.md": SKILL,
        "tap/agents/-x/a.toml": "a = 1",
    }
    rule = "expected letters, digits, `-`, `_` and `.`, starting with a letter or a digit"
    assert find(write(files), "tap").findings == [
        f"OCT126 tap/agents/-x: `-x` cannot name a domain, {rule}",
        "OCT127 tap/capabilities/bare: capability `bare` has no provider file",
        f"OCT126 tap/capabilities/bare/a b.toml: `a b` cannot name a provider, {rule}",
        f"OCT126 tap/capabilities/web search: `web search` cannot name a capability, {rule}",
        "OCT127 tap/skills/empty: skill `empty` has no `SKILL.md`",
    ]


def test_a_tap_may_be_anywhere_when_the_workspace_names_it(write: Write, find: Find, tmp_path: Path) -> None:
    """A tap beside the workspace, absolute or linked is read; its files are named as the workspace wrote it."""
    root = write({"octoc.toml": "", "link": "-> ../shared"})
    write({"../shared/capabilities/web/default.toml": PROVIDER})
    for written, display in (("../shared", "../shared"), ("./link", "link"), (str(tmp_path / "shared"),) * 2):
        found = find(root, written)
        assert found.findings == []
        assert [file.display for file in found.discovered.files] == [f"{display}/capabilities/web/default.toml"]
        assert (root / found.discovered.files[0].display).is_file()


def test_a_tap_that_is_not_there_is_an_error_at_its_path_and_the_next_keeps_its_order(write: Write, find: Find) -> None:
    """A missing tap, a file in its place and a tap without any part are reported; the other taps are read."""
    root = write(TAP | {"octoc.toml": "x = 1\n", "file": "x", "hollow/readme": "x"})
    found = find(root, "gone", "file", "hollow", "tap")
    assert found.findings == [
        "OCT127 hollow: tap `tap2` is empty: `hollow` has none of `agents/`, `capabilities/`, `deps/`, `skills/`",
        "OCT120 octoc.toml: tap `tap0` is not at `gone`: no such folder",
        "OCT120 octoc.toml: tap `tap1` is not at `file`: that is a file",
    ]
    assert [(tap.name, tap.precedence) for tap in found.discovered.taps] == [("tap2", 0), ("tap3", 1)]


def test_the_real_tap_is_found_and_read_without_a_finding(realworld: Path, write: Write, find: Find) -> None:
    """Every capability, default, agent and skill of a large public tap becomes a document."""
    found = find(write({}), str(realworld / "octomind-tap"))
    assert found.findings == []
    files = found.discovered.files
    kinds = [str(file.kind) for file in files]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "agent-manifest": 137,
        "skill": 101,
        "capability-config": 58,
        "capability-provider": 93,
    }
    assert len({file.key["capability"] for file in files if "capability" in file.key}) == 72
    assert len(found.discovered.default_links) == 69
    assert sum(file.key.get("provider") == "default" for file in files) == 3
    assert len(found.discovered.dep_scripts) == 151
    assert len(found.documents.documents) == len(files)
    assert len(found.documents.digests) == len(files) + 69 + 151
    assert len(found.documents.scripts) == 151
    providers = [each for each in found.documents.documents if each.file.kind == "capability-provider"]
    assert all({"Capability", "Provider", "Title", "Description"} <= set(each.headers) for each in providers)
