"""Inputs are named by what they belong to, so that it does not matter where a workspace or a tap lies."""

import os
from pathlib import Path

import attrs
import pytest

from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.lock.inputs import files_of, inputs_digest
from octoc.compiler.model.documents import Discovered, FoundFile, SkillFolder, Tap
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.workspace.build import build
from octoc.diagnostics.model import Place
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

PLACE = Place(file="octoc.toml")


def _tap(name: str, display: str, precedence: int = 0) -> Tap:
    return Tap(name=name, root=Path("/ws") / display, display=display, precedence=precedence, place=PLACE)


def _found(*taps: Tap, files: tuple[FoundFile, ...] = ()) -> Discovered:
    return Discovered(root=Path("/ws"), settings=WorkspaceSettings(name="acme", place=PLACE), taps=taps, files=files)


def test_files_belong_to_their_tap_or_to_the_workspace() -> None:
    """A tap's files are named inside it, those of a tap within another by that one, others by the workspace."""
    discovered = _found(_tap("outer", "taps"), _tap("inner", "taps/inner", 1), _tap("near", "taps-2", 2))
    digests = {"octoc.toml": "0", "taps/a": "1", "taps/inner/b": "2", "taps-2/c": "3", "taps-3/d": "4"}
    taps, own_files = files_of(discovered, digests)
    assert {name: dict(tap.files) for name, tap in taps.items()} == {
        "outer": {"a": "1"},
        "inner": {"b": "2"},
        "near": {"c": "3"},
    }
    assert own_files.files == {"octoc.toml": "0", "taps-3/d": "4"}


def test_a_workspace_that_is_a_tap_keeps_its_own_files() -> None:
    """Where the workspace's folder is a tap, what discovery found for the workspace itself stays the workspace's."""
    own = FoundFile(path=Path("/ws/octoc.toml"), display="octoc.toml", kind=WORKSPACE)
    taps, own_files = files_of(_found(_tap("self", "."), files=(own,)), {"octoc.toml": "0", "skills/s/SKILL.md": "1"})
    assert (dict(taps["self"].files), own_files.files) == ({"skills/s/SKILL.md": "1"}, {"octoc.toml": "0"})


def test_a_tap_that_moved_has_the_same_digest() -> None:
    """The digest depends on the order of taps, their files and folders, and not on where a tap lies."""
    here = inputs_digest(_found(_tap("t", "../shared")), {"../shared/a": "1"})
    there = inputs_digest(_found(_tap("t", "/elsewhere/t")), {"/elsewhere/t/a": "1"})
    assert here == there
    assert here != inputs_digest(_found(_tap("t", "../shared")), {"../shared/a": "2"})
    assert here != inputs_digest(_found(_tap("t", "../shared")), {"../shared/b": "1"})
    two = _found(_tap("t", "../shared"), _tap("u", "u", 1))
    assert inputs_digest(two, {}) != inputs_digest(attrs.evolve(two, taps=two.taps[::-1]), {})
    resource = SkillFolder(tap="t", skill="s", resources=("references/a.md",))
    assert inputs_digest(two, {}) != inputs_digest(attrs.evolve(two, skill_folders=(resource,)), {})


SKILL = "---\nname: tidy\ndescription: Tidies a folder up\n---\n\nTidy up.\n"
BESIDE = ("scripts/run.sh", "references/a.md", "assets/logo.bin", "lib/helper.py", "FORMS.md", "validate")


def _stale(root: Path) -> list[tuple[str, str]]:
    found = build(root, locked=True, plugins=plugins_of(), allow_degraded=True).diagnostics
    return [(one.rule.code, one.message) for one in found if one.rule.code.startswith("OCT5")]


@pytest.mark.parametrize("path", BESIDE)
@pytest.mark.parametrize("folder", ["taps/acme/skills", ".agents/skills"], ids=["of a tap", "of the workspace"])
def test_every_file_of_a_skill_is_an_input(tmp_path: Path, folder: str, path: str) -> None:
    """What a model reads of a skill, or has executed for it, makes the lock stale when it changes by one byte."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []}, skills={"paths": [".agents/skills"]}).tap("acme")
    builder.file(f"{folder}/tidy/SKILL.md", SKILL).file(".agents/skills/other/SKILL.md", SKILL.replace("tidy", "other"))
    for beside in BESIDE:
        builder.file(f"{folder}/tidy/{beside}", "one\n")
    build(builder.write(), plugins=plugins_of(), allow_degraded=True)
    assert _stale(tmp_path) == []
    (tmp_path / folder / "tidy" / path).write_text("two\n", encoding="utf-8")
    if folder.startswith("taps"):
        assert _stale(tmp_path) == [("OCT504", f"tap `acme` changed: `skills/tidy/{path}`")]
    else:
        assert _stale(tmp_path) == [("OCT505", f"file `{folder}/tidy/{path}` changed")]
    assert not build(tmp_path, plugins=plugins_of(), allow_degraded=True).unchanged


def test_a_pipe_beside_a_skill_is_a_finding(tmp_path: Path) -> None:
    """A pipe in a skill's folder, which cannot be pinned, is an error, and the build does not wait for it."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []}).tap("acme").file("taps/acme/skills/tidy/SKILL.md", SKILL)
    (builder.write() / "taps/acme/skills/tidy/assets").mkdir()
    os.mkfifo(tmp_path / "taps/acme/skills/tidy/assets/pipe")
    assert "OCT101" in [
        found.rule.code for found in build(tmp_path, plugins=plugins_of(), allow_degraded=True).diagnostics
    ]
