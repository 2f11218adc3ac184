"""What capabilities need on the machine: scripts of taps, as the bundle and the lock hold them."""

import hashlib
from pathlib import Path

import pytest

from octoc.bundle.model import DepEntry
from octoc.bundle.reader import OpenBundle
from octoc.compiler.resolve.deps import checked_program
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
    """Each script that a capability requires is there with its program and its digest; one nobody requires is not."""
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
    assert "tap `acme` changed: 1 file" in after.changes


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    """A required script that the tap does not have stands in the bundle without program and text."""
    ((entry, text),) = _deps(_tap(WorkspaceBuilder(tmp_path), "acme", {}, tools=["org/gone"]))
    assert (entry, text) == (DepEntry(name="org/gone"), "")


def test_the_tap_with_precedence_has_the_script(tmp_path: Path) -> None:
    """Of one name in two taps the first tap's script is used, whichever capability needs it."""
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
    """The first word of the check line, behind what looks a program up, is a plain name or nothing."""
    assert checked_program(f"#!/bin/sh\n# dep: org/tool\n{line}\nexit 0\n") == program


def test_a_check_below_the_head_is_none() -> None:
    """A line among the script's own code is no header."""
    assert checked_program("#!/bin/sh\n" + "true\n" * 20 + "# check: uv\n") is None
