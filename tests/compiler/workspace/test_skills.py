"""Skills from their folders to the bundle: found, shadowed, given to agents, and what of their files is compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from octoc.bundle.digest import sha256_hex
from octoc.bundle.reader import OpenBundle
from octoc.plugin import hookimpl
from octoc.plugin.manager import plugins_of
from octoc.testing import FakeEmbedder, WorkspaceBuilder


class _Encoder:
    """A plugin with an encoder for every name."""

    @hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder:
        return FakeEmbedder(name)


def _skill(name: str, body: str = "Text.", **front: str) -> str:
    lines = "".join(
        f"{key}: {value}\n" for key, value in {"name": name, "description": f"About {name}", **front}.items()
    )
    return f"---\n{lines}---\n\n{body}\n"


def _built(workspace: WorkspaceBuilder) -> tuple[OpenBundle, list[tuple[str, str]]]:
    outcome = workspace.build(plugins_of(_Encoder()))
    assert outcome.bundle is not None
    found = [(one.rule.code, one.message) for one in outcome.diagnostics]
    return OpenBundle.open(workspace.root / outcome.bundle), found


def _skills_of(bundle: OpenBundle, agent: str) -> tuple[str, ...]:
    return next(entry.registry.skills for entry in bundle.bundle.agents if entry.name == agent)


def test_the_first_folder_wins(tmp_path: Path) -> None:
    """The workspace's own folders come before the taps, in their order; a shadowed skill is reported."""
    workspace = WorkspaceBuilder(tmp_path).skill("shared", "From the tap.").skill("tapped")
    for folder in (".octo", ".agents", ".claude"):
        workspace.file(f"{folder}/skills/shared/SKILL.md", _skill("shared", f"From {folder}."))
        workspace.file(f"{folder}/skills/of-{folder[1:]}/SKILL.md", _skill(f"of-{folder[1:]}"))
    bundle, found = _built(workspace)
    entries = {entry.name: entry for entry in bundle.bundle.skills}
    assert sorted(entries) == ["of-agents", "of-claude", "of-octo", "shared", "tapped"]
    assert bundle.text(entries["shared"].body) == "From .octo."
    assert [message for code, message in found if code == "OCT305"] == ["skill `shared` is shadowed"] * 3


def test_a_folder_that_is_linked_is_read_once(tmp_path: Path) -> None:
    """`.claude/skills` as a link to `.agents/skills`, or full of links to it, shadows nothing."""
    workspace = WorkspaceBuilder(tmp_path).file(".agents/skills/a/SKILL.md", _skill("a"))
    (tmp_path / ".claude/skills").mkdir(parents=True)
    (tmp_path / ".claude/skills/a").symlink_to("../../.agents/skills/a")
    (tmp_path / ".octo").mkdir()
    (tmp_path / ".octo/skills").symlink_to("../.agents/skills")
    bundle, found = _built(workspace)
    assert [entry.name for entry in bundle.bundle.skills] == ["a"]
    assert "OCT305" not in {code for code, _ in found}


@pytest.mark.parametrize(
    "paths, code", [(["none"], "OCT104"), (["../out"], "OCT103"), (["file"], "OCT104"), ([], None)]
)
def test_paths_are_the_workspaces(tmp_path: Path, paths: list[str], code: str | None) -> None:
    """`[skills] paths` names the folders; a path that is missing, leads out or is not a folder is an error."""
    root = tmp_path / "w"
    (tmp_path / "out").mkdir()
    workspace = WorkspaceBuilder(root).settings("skills", paths=paths).file("file", "")
    workspace.file(".agents/skills/a/SKILL.md", _skill("a"))
    from octoc.compiler.workspace.build import build

    outcome = build(workspace.write(), plugins=plugins_of(_Encoder()))
    errors = [one.rule.code for one in outcome.diagnostics if one.severity.name == "ERROR"]
    assert len(errors) == (0 if code is None else 1)


def test_who_sees_what(tmp_path: Path) -> None:
    """An agent has the skills that it names, or those of its domain and of none; limited agents have what they name."""
    workspace = (
        WorkspaceBuilder(tmp_path)
        .skill("code", domains="developer")
        .skill("prose", domains="content")
        .skill("all")
        .server("time", "time-mcp")
        .snapshot("time", ["now"])
        .octomind_agent("developer", "general")
        .agent("free")
        .agent("chosen", skills=["prose", "proze"])
        .agent("limited", tools=["now"])
        .agent("limited-chosen", tools=["now"], skills=["code"])
    )
    bundle, found = _built(workspace)
    assert {entry.name: entry.registry.skills for entry in bundle.bundle.agents} == {
        "supervisor": ("all", "code", "prose"),
        "developer:general": ("all", "code"),
        "free": ("all", "code", "prose"),
        "chosen": ("prose",),
        "limited": (),
        "limited-chosen": ("code",),
    }
    assert ("OCT307", "agent `chosen` names skill `proze`, which no folder has") in found


def test_domainless_agents(tmp_path: Path) -> None:
    """With `domainless = "universal"` an agent without a domain has only the skills without one."""
    workspace = WorkspaceBuilder(tmp_path, routing={"domainless": "universal"})
    bundle, _ = _built(workspace.skill("code", domains="developer").skill("all"))
    assert _skills_of(bundle, "supervisor") == ("all",)


def test_what_the_bundle_has(tmp_path: Path) -> None:
    """A skill has its texts, resources and place, no path of the build machine, and its phrases as vectors."""
    rules = ["semantic(write a message)", "content(x) semantic(another one, 0.6)"]
    workspace = WorkspaceBuilder(tmp_path / "w").skill("a", "Body", rules=rules, compatibility="Requires git.")
    workspace.file("taps/local/skills/a/scripts/run.sh", "exit 0\n").file("taps/local/skills/a/validate", "exit 1\n")
    outside = tmp_path / "outside/skills/b"
    (outside / "assets").mkdir(parents=True)
    (outside / "SKILL.md").write_text(_skill("b"), encoding="utf-8")
    (outside / "assets/x").write_text("x", encoding="utf-8")
    root = workspace.write()
    toml = (root / "octoc.toml").read_text(encoding="utf-8")
    (root / "octoc.toml").write_text(f'{toml}\n[[taps]]\nname = "far"\npath = "{tmp_path}/outside"\n', encoding="utf-8")
    from octoc.compiler.workspace.build import build

    outcome = build(root, plugins=plugins_of(_Encoder()))
    assert outcome.bundle is not None
    opened = OpenBundle.open(root / outcome.bundle)
    first, second = opened.bundle.skills
    assert (first.compatibility, first.resources) == ("Requires git.", ("scripts/run.sh",))
    assert first.folder == "${workspaceFolder}/taps/local/skills/a"
    assert (second.name, second.folder, second.resources) == ("b", "", ("assets/x",))
    assert (first.validate_digest, second.validate_digest) == ("", "")
    assert str(tmp_path).encode() not in (root / outcome.bundle).read_bytes()
    wanted = np.stack([FakeEmbedder().embed(text) for text in ("another one", "write a message")])
    assert np.array_equal(opened.array("skills/phrases"), wanted)


def test_validate_is_compiled_only_to_run(tmp_path: Path) -> None:
    """With `validate = "run"` the script is in the bundle with its digest, and a change of it is a change of inputs."""
    workspace = WorkspaceBuilder(tmp_path, skills={"validate": "run", "max_retries": 1, "validate_timeout": 5})
    workspace.skill("a").file("taps/local/skills/a/validate", "exit 1\n")
    bundle, _ = _built(workspace)
    (entry,) = bundle.bundle.skills
    assert bundle.text(entry.validate) == "exit 1\n"
    assert entry.validate_digest == sha256_hex(b"exit 1\n")
    assert bundle.bundle.settings.skills.max_retries == 1
    assert bundle.bundle.settings.skills.validate_timeout_s == 5.0
    inputs = bundle.bundle.inputs
    (tmp_path / "taps/local/skills/a/validate").write_text("exit 2\n", encoding="utf-8")
    again, _ = _built(workspace.file("taps/local/skills/a/validate", "exit 2\n"))
    assert again.bundle.inputs != inputs


def test_own_resources_are_inputs(tmp_path: Path) -> None:
    """A file that joins a skill of the workspace's own changes the inputs, as one in a tap does."""
    workspace = WorkspaceBuilder(tmp_path).file(".agents/skills/a/SKILL.md", _skill("a"))
    before = _built(workspace)[0].bundle.inputs
    after = _built(workspace.file(".agents/skills/a/scripts/x.sh", "x"))[0]
    assert after.bundle.inputs != before
    assert after.bundle.skills[0].resources == ("scripts/x.sh",)
