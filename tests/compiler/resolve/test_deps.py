"""What capabilities need on the machine: scripts of taps, as the bundle and the lock hold them."""

import hashlib
from pathlib import Path

import pytest

from octoc.bundle.model import DepEntry, DepFolder
from octoc.bundle.reader import OpenBundle
from octoc.compiler.read import attached
from octoc.compiler.resolve.deps import checked_program
from octoc.compiler.workspace.build import build
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

TRIGGERS = ["one thing", "another thing", "a third thing"]
PROVIDER = "# Title: It\n# Description: Does it\n\n[deps]\nrequire = [{deps}]\n"
SCRIPT = "#!/bin/sh\n# dep: org/tool\n# type: dep\n# description: A tool\n# check: {check}\nexit 0\n"


def _tap(builder: WorkspaceBuilder, tap: str, scripts: dict[str, str], **capabilities: list[str]) -> WorkspaceBuilder:
    builder.settings("plugins", use=[])
    for name, deps in capabilities.items():
        builder.capability(name, TRIGGERS, tap=tap)
        listed = ", ".join(f'"{dep}"' for dep in deps)
        builder.file(f"taps/{tap}/capabilities/{name}/default.toml", PROVIDER.format(deps=listed))
    for name, text in scripts.items():
        builder.file(f"taps/{tap}/deps/{name}.sh", text)
    return builder


def _deps(builder: WorkspaceBuilder) -> list[tuple[DepEntry, str]]:
    outcome = builder.build(plugins_of())
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        return [(entry, opened.text(entry.script)) for entry in opened.bundle.deps]


def test_what_is_required_is_in_the_bundle(tmp_path: Path) -> None:
    """The bundle has each required script with its program and its digest, and no other script."""
    script = SCRIPT.format(check="uv --version")
    builder = _tap(WorkspaceBuilder(tmp_path), "acme", {"astral/uv": script, "org/unused": script}, tools=["astral/uv"])
    ((entry, text),) = _deps(builder)
    assert (entry.name, entry.program, text) == ("astral/uv", "uv", script)
    assert entry.digest == hashlib.sha256(script.encode()).hexdigest()
    lock = (tmp_path / "octoc.lock").read_text(encoding="utf-8")
    assert f'"deps/astral/uv.sh" = "{entry.digest}"' in lock


def test_a_changed_script_makes_the_lock_stale(tmp_path: Path) -> None:
    """A script of other content is an input that changed: the build runs again, and says so in its changes."""
    builder = _tap(WorkspaceBuilder(tmp_path), "acme", {"org/tool": SCRIPT.format(check="a")}, tools=["org/tool"])
    before = builder.build(plugins_of())
    builder.file("taps/acme/deps/org/tool.sh", SCRIPT.format(check="b"))
    after = builder.build(plugins_of())
    assert (before.digest != after.digest, after.unchanged) == (True, False)
    assert "tap `acme` changed: `deps/org/tool.sh`" in after.changes


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    """A required script that the tap does not have stands in the bundle without program and text."""
    ((entry, text),) = _deps(_tap(WorkspaceBuilder(tmp_path), "acme", {}, tools=["org/gone"]))
    assert (entry, text) == (DepEntry(name="org/gone"), "")


def test_the_tap_with_precedence_has_the_script(tmp_path: Path) -> None:
    """When two taps have a script of one name, the first tap's is used for all capabilities."""
    builder = WorkspaceBuilder(tmp_path)
    _tap(builder, "first", {"org/tool": SCRIPT.format(check="one")}, zebra=["org/tool"])
    _tap(builder, "second", {"org/tool": SCRIPT.format(check="two")}, alpha=["org/tool"])
    assert [entry.program for entry, _ in _deps(builder)] == ["one"]


@pytest.mark.parametrize(
    "line, program",
    [
        ("# check: uv", "uv"),
        ("# check: uv --version", "uv"),
        ("#check:   `ffmpeg -version`", "ffmpeg"),
        ("# check: command -v docker", "docker"),
        ("# check: which g++", "g++"),
        ("# check: type -p node", "node"),
        ("# Check: python3.12", "python3.12"),
        ("# check: /usr/bin/uv", None),
        ("# check: $(touch /tmp/x)", None),
        ("# check: [ -d x ]", None),
        ("# check:", None),
        ("# description: no check here", None),
    ],
)
def test_the_program_that_a_check_names(line: str, program: str | None) -> None:
    """The check line names a program by its first word, after any look-up command, or names none."""
    assert checked_program(f"#!/bin/sh\n# dep: org/tool\n{line}\nexit 0\n") == program


def test_a_check_below_the_head_is_none() -> None:
    """A line among the script's own code is not read as a header."""
    assert checked_program("#!/bin/sh\n" + "true\n" * 20 + "# check: uv\n") is None


IDIOM = """\
#!/usr/bin/env bash
# dep: org/tool
DEPS_LIB="$(cd "$(dirname "${BASH_SOURCE[0]}")/../lib" && pwd)"
. "$DEPS_LIB/platform.sh"
"""


def _run_tap(root: Path, **scripts: str) -> WorkspaceBuilder:
    """Return a workspace that runs scripts, whose tap has a library, a program, and a link to it."""
    builder = _tap(WorkspaceBuilder(root), "acme", {"org/tool": IDIOM, **scripts}, tools=["org/tool"])
    builder.settings("runtime", deps="run").file("taps/acme/deps/lib/platform.sh", "greet() { echo hello; }\n")
    builder.file("taps/acme/deps/lib/data.bin", "")
    root = builder.write()
    deps = root / "taps/acme/deps"
    (deps / "lib/data.bin").write_bytes(b"\x00\xff")
    (deps / "lib/platform.sh").chmod(0o755)
    (deps / "org/other.sh").symlink_to("../lib/platform.sh")
    return builder


def _folders(root: Path) -> tuple[DepFolder, ...]:
    outcome = build(root, plugins=plugins_of(), allow_degraded=True)
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        return opened.bundle.dep_folders


def test_the_folder_of_the_scripts_is_in_the_bundle(tmp_path: Path) -> None:
    """With `deps = "run"` every file below `deps/` is there with its bytes and mode, and a link as a link."""
    _run_tap(tmp_path)
    outcome = build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        (folder,) = opened.bundle.dep_folders
        assert (folder.name, folder.digest) == ("acme", DepFolder.digest_of(folder.files))
        found = {file.path: (opened.data(file.data), file.is_program, file.link) for file in folder.files}
        assert found == {
            "lib/data.bin": (b"\x00\xff", False, ""),
            "lib/platform.sh": (b"greet() { echo hello; }\n", True, ""),
            "org/other.sh": (b"", False, "../lib/platform.sh"),
            "org/tool.sh": (IDIOM.encode(), False, ""),
        }
        (entry,) = opened.bundle.deps
        assert (entry.folder, entry.digest) == ("acme", hashlib.sha256(IDIOM.encode()).hexdigest())


def test_without_run_the_bundle_has_no_folder(tmp_path: Path) -> None:
    """Where no script is run, the bundle stays small; the lock has the library all the same."""
    _run_tap(tmp_path).settings("runtime", deps="check").write()
    assert _folders(tmp_path) == ()
    assert '"deps/lib/platform.sh"' in (tmp_path / "octoc.lock").read_text(encoding="utf-8")


@pytest.mark.parametrize("change", ["library", "mode", "link", "new", "gone"])
def test_whatever_changes_in_the_folder_makes_the_lock_stale(tmp_path: Path, change: str) -> None:
    """A library, a mode and a link of `deps/` are inputs as the scripts are."""
    _run_tap(tmp_path)
    build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    deps = tmp_path / "taps/acme/deps"
    if change == "library":
        (deps / "lib/platform.sh").write_text("greet() { rm -rf ~; }\n")
    elif change == "mode":
        (deps / "lib/data.bin").chmod(0o755)
    elif change == "link":
        (deps / "org/other.sh").unlink()
        (deps / "org/other.sh").symlink_to("tool.sh")
    elif change == "new":
        (deps / "lib/more.sh").write_text("true\n")
    else:
        (deps / "lib/data.bin").unlink()
    held = build(tmp_path, locked=True, plugins=plugins_of(), allow_degraded=True)
    assert "OCT504" in [found.rule.code for found in held.diagnostics]


@pytest.mark.parametrize("target", ["../../capabilities/tools/default.toml", "../..", "/etc/passwd", "../../../../x"])
def test_a_link_out_of_the_folder_is_an_error(tmp_path: Path, target: str) -> None:
    """What lies elsewhere cannot travel with the scripts, so the link is reported and left out."""
    _run_tap(tmp_path)
    (tmp_path / "taps/acme/deps/lib/out").symlink_to(target)
    outcome = build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    assert {"OCT609", "OCT122", "OCT123"} & {found.rule.code for found in outcome.diagnostics}
    (folder,) = _folders(tmp_path)
    assert "lib/out" not in [file.path for file in folder.files]


@pytest.mark.parametrize("limit, most", [("MAX_TREE_FILES", 3), ("MAX_TREE_BYTES", 60)])
def test_a_folder_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    """A folder over the limit is an error, and no script of it is in the bundle: it would run without its library."""
    _run_tap(tmp_path)
    monkeypatch.setattr(attached, limit, most)
    outcome = build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    assert "OCT609" in [found.rule.code for found in outcome.diagnostics]
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        assert opened.bundle.dep_folders == ()
        assert [entry.digest for entry in opened.bundle.deps] == [""]


def test_line_ends_of_windows_do_not_reach_a_shell(tmp_path: Path) -> None:
    """A checkout with CRLF gives the same scripts as one without."""
    _run_tap(tmp_path)
    for path in (tmp_path / "taps/acme/deps").rglob("*.sh"):
        if not path.is_symlink():
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    outcome = build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        (folder,) = opened.bundle.dep_folders
        data = {file.path: opened.data(file.data) for file in folder.files}
        assert (data["org/tool.sh"], data["lib/platform.sh"]) == (IDIOM.encode(), b"greet() { echo hello; }\n")
