"""A build that was done is remembered whole, under a key that has all it depends on."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.bundle.digest import sha256_hex
from octoc.compiler.cache.build_cache import CachedOutcome, build_key, recall, remember, still_there
from octoc.compiler.cache.store import Cache
from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.model.documents import (
    Attachment,
    DepScript,
    Discovered,
    FoundFile,
    Program,
    SkillFolder,
    Tap,
)
from octoc.compiler.model.settings import RoutingSettings, WorkspaceSettings
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Rule, Scope, Severity
from octoc.diagnostics.rules.bundle import BUNDLE_NOT_WRITTEN
from octoc.diagnostics.rules.lock import LOCK_NOT_WRITTEN
from octoc.diagnostics.rules.plugin import ENCODER_FAILED
from octoc.diagnostics.rules.read import UNREADABLE

PLACE = Place(file="octoc.toml")
FILE = FoundFile(path=Path("/ws/.mcp.json"), display=".mcp.json", kind=MCP, dialect=CLAUDE)
FOUND = Discovered(
    root=Path("/ws"),
    settings=WorkspaceSettings(name="acme", place=PLACE),
    taps=(Tap(name="t", root=Path("/ws/t"), display="t", precedence=0, place=PLACE),),
    files=(FILE,),
    skill_folders=(SkillFolder(tap="t", skill="s", resources=("references/a.md",)),),
    dep_scripts=tuple(
        DepScript(tap="t", name=name, path=Path(f"/w/t/deps/{name}.sh"), display=f"t/deps/{name}.sh")
        for name in ("org/tool", "org/other")
    ),
)
EXECUTABLE = Attachment(path=Path("/ws/run.sh"), display="run.sh", is_executable=True)
PROGRAMS = {"a.py": Program(display="a.py", digest="ab"), "b": None}
BASE: dict[str, Any] = {
    "discovered": FOUND,
    "digests": {".mcp.json": "00"},
    "versions": {"embed-onnx": "1"},
    "options": {"strict": False},
}


@pytest.mark.parametrize(
    "change",
    [
        {"digests": {".mcp.json": "01"}},
        {"versions": {"embed-onnx": "2"}},
        {"options": {"strict": True}},
        {"discovered": attrs.evolve(FOUND, files=(attrs.evolve(FILE, dialect=CURSOR),))},
        {"discovered": attrs.evolve(FOUND, taps=())},
        {"discovered": attrs.evolve(FOUND, skill_folders=())},
        {"discovered": attrs.evolve(FOUND, dep_scripts=())},
        {"discovered": attrs.evolve(FOUND, attachments=(EXECUTABLE,))},
        {
            "discovered": attrs.evolve(
                FOUND, settings=attrs.evolve(FOUND.settings, routing=RoutingSettings(max_active=9))
            )
        },
    ],
    ids=["digest", "version", "option", "file", "tap", "skill folder", "dep script", "executable bit", "setting"],
)
def test_whatever_a_build_depends_on_changes_its_key(change: dict[str, Any]) -> None:
    """A changed digest, version, option, file, tap, folder or setting is another build."""
    assert build_key(**{**BASE, **change}) != build_key(**BASE)


def test_a_workspace_that_moved_is_the_same_build() -> None:
    """The key does not depend on the folder of the workspace."""
    moved = attrs.evolve(FOUND, root=Path("/new"), files=(attrs.evolve(FILE, path=Path("/new/.mcp.json")),))
    assert build_key(**{**BASE, "discovered": moved}) == build_key(**BASE)


def test_an_outcome_is_recalled_as_it_was(tmp_path: Path) -> None:
    """Findings come back with their rules, places, labels, notes and help, also those of a plugin's rules."""
    sink = DiagnosticSink()
    rule = Rule("ACME001", "own-rule", "A plugin's rule.", Severity.WARNING, scope=Scope.FILE)
    sink.report(rule, "told", at=PLACE, label="here", related={"there": PLACE}, notes=("a",), help="do b")
    sink.report(rule, "bare", severity=Severity.ERROR)
    outcome = CachedOutcome(
        diagnostics=sink.diagnostics,
        bundle_digest="ab",
        bundle_size=3,
        lock_digest=None,
        lock_size=0,
        programs=PROGRAMS,
    )
    cache = Cache(tmp_path)
    key = build_key(**BASE)
    assert recall(cache, key) is None
    remember(cache, key, outcome)
    assert recall(cache, key) == outcome


@pytest.mark.parametrize("entry", [[], {}, {"diagnostics": [{}], "bundle": ["", 0], "lock": ["", 0]}, 3])
def test_an_entry_of_another_shape_is_not_recalled(tmp_path: Path, entry: object) -> None:
    """Whatever stands in the cache under the key, nothing is raised."""
    cache = Cache(tmp_path)
    cache.put_json("build", "key", entry)
    assert recall(cache, "key") is None


def test_files_must_be_there_as_they_were_left(tmp_path: Path) -> None:
    """A missing, changed or new bundle or lock is noticed; where no bundle was written, whatever is there may be."""
    bundle, lock = tmp_path / "a.octoc", tmp_path / "octoc.lock"
    outcome = CachedOutcome(bundle_digest=sha256_hex(b"abc"), bundle_size=3)
    assert not still_there(outcome, FOUND, bundle=bundle, lock=lock)
    bundle.write_bytes(b"abc")
    assert still_there(outcome, FOUND, bundle=bundle, lock=lock)
    bundle.write_bytes(b"abd")
    assert not still_there(outcome, FOUND, bundle=bundle, lock=lock)
    with_lock = CachedOutcome(lock_digest=sha256_hex(b"x"), lock_size=1)
    assert not still_there(with_lock, FOUND, bundle=bundle, lock=lock)
    lock.write_bytes(b"x")
    assert still_there(with_lock, FOUND, bundle=bundle, lock=lock)
    assert not still_there(CachedOutcome(), FOUND, bundle=bundle, lock=lock)


@pytest.mark.parametrize("rule", [UNREADABLE, LOCK_NOT_WRITTEN, BUNDLE_NOT_WRITTEN, ENCODER_FAILED])
def test_a_failure_outside_the_inputs_is_not_cached(tmp_path: Path, rule: Rule) -> None:
    """A build that failed for a reason outside its inputs runs again, since no digest shows when that is fixed."""
    sink = DiagnosticSink()
    sink.report(rule, "no luck")
    cache = Cache(tmp_path)
    remember(cache, "key", CachedOutcome(diagnostics=sink.diagnostics))
    assert recall(cache, "key") is None
