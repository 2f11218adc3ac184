"""What each install of octoc can do, in interpreters that have the packages of that install and no others."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from octoc.installation import install_command
from octoc.testing import WorkspaceBuilder

CHECKOUT = Path(__file__).resolve().parents[2]
_PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = {
    "": _PROJECT["project"]["dependencies"],
    **_PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["extras"],
}
LARGE = {
    *("numpy", "scipy", "scikit-learn", "onnx", "onnxruntime", "tokenizers"),
    *("mcp", "pydantic", "starlette", "uvicorn", "cryptography", "opentelemetry-api"),
}
TRIGGERS = ("what time is it in Oslo?", "convert noon in Rome to Tokyo time", "the time zone of Lima")
DUMP = '{"tools": [{"name": "now", "description": "Tells the time", "inputSchema": {"type": "object"}}]}'
RUN = """
import contextlib, io, json, sys
from octoc.cli import main
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""

Install = Callable[..., dict[str, tuple[int, str, str]]]


def required(extra: str = "") -> set[str]:
    """Return the names of the distributions that an install of octoc brings, as their metadata here says."""
    seen: set[str] = set()
    pending = [Requirement(f"octoc[{extra}]" if extra else "octoc")]
    while pending:
        one = pending.pop()
        if str(one) not in seen:
            seen.add(str(one))
            pending += _requirements(one)
    return {canonicalize_name(Requirement(text).name) for text in seen}


def _requirements(one: Requirement) -> list[Requirement]:
    extras = ("", *one.extras)
    if one.name == "octoc":
        return [Requirement(text) for extra in extras for text in EXTRAS[extra]]
    found = [Requirement(text) for text in distribution(one.name).requires or ()]
    return [each for each in found if each.marker is None or any(each.marker.evaluate({"extra": e}) for e in extras)]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Run commands one after another in one process that has an install's packages: status, output, errors of each.

    The packages are links to those of this environment, and the folders of octoc and its plugins.
    """

    def run(extra: str, folder: Path, *commands: str) -> dict[str, tuple[int, str, str]]:
        site = tmp_path / "site"
        site.mkdir()
        path = [site]
        for name in required(extra):
            one = distribution(name)
            is_own = name == "octoc" or (CHECKOUT / "plugins" / name).is_dir()
            path += [CHECKOUT / "plugins" / name if name != "octoc" else CHECKOUT] if is_own else []
            for top in {file.parts[0] for file in one.files or ()}:
                if top != ".." and (top.endswith(".dist-info") or not is_own):
                    (site / top).symlink_to(str(one.locate_file(top)))
        program = f"import sys\nsys.path[1:1] = {[str(place) for place in path]}\n{RUN}"
        done = subprocess.run(
            [sys.executable, "-S", "-c", program],
            input=json.dumps([command.split() for command in commands]),
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "COLUMNS": "400"},
        )
        assert done.returncode == 0, done.stderr
        results: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
        return {command: (result[0], result[1], result[2]) for command, result in zip(commands, results, strict=True)}

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one server and a record of its tools, without octoc.toml."""
    place = tmp_path / "ws"
    place.mkdir()
    (place / ".mcp.json").write_text('{"mcpServers": {"clock": {"command": "clock"}}}', encoding="utf-8")
    (place / "dump.json").write_text(DUMP, encoding="utf-8")
    return place


def test_the_base_is_small() -> None:
    """No package of more than a few MB comes with octoc alone, neither its own nor one that another needs."""
    assert required() & LARGE == set()
    assert required("all") >= LARGE - {"tokenizers"}


def test_the_base_checks_records_and_explains(install: Install, folder: Path) -> None:
    """A new user's first commands work with octoc alone, and each ends with exit status 0."""
    done = install(
        "",
        folder,
        *("", "check", "init", "check --fail-on error", "pin clock --from dump.json", "check --verbose"),
        *("completion bash", "completion zsh", "completion fish", "explain OCT402", "rules", "schema", "schema mcp.v1"),
        *("env", "scope supervisor", "tap list", "expand", "check --output-format sarif"),
        *("report", "report --output-format markdown", "report --json"),
    )
    assert {command: err for command, (status, _, err) in done.items() if status} == {}
    assert (folder / "dist" / "report.html").is_file()
    missing = {one["part"]: one["command"] for one in json.loads(done["report --json"][1])["missing"]}
    assert missing["routing, drift, near-equal triggers"] == install_command("octoc[build]")
    assert (folder / "octoc.toml").is_file()
    assert "Tells the time" in (folder / "snapshots" / "clock.json").read_text(encoding="utf-8")


def test_the_base_says_what_else_a_command_needs(install: Install, folder: Path) -> None:
    """A command whose packages are missing names the one install that brings all of them; exit status 2."""
    hints = {
        **dict.fromkeys(("build", "lock", "show", "find now", "route hello", "call clock now", "test"), "octoc[build]"),
        "serve": "octoc-serve",
        "keygen key": "octoc[sign]",
        "pin --yes": "octoc-transport-mcp",
        "auth login clock": "octoc[build]",
    }
    (folder / "routing").mkdir()
    (folder / "routing" / "first.toml").write_text('[[message]]\ntext = "hi"\nexpect = "none"\n', encoding="utf-8")
    for command, (status, out, err) in install("", folder, *hints).items():
        assert (command, status, out) == (command, 2, "")
        assert f"run `{install_command(hints[command])}`" in err, command
        assert "Traceback" not in err


def test_the_base_looks_into_a_bundle(install: Install, tmp_path: Path) -> None:
    """Octoc alone shows a bundle; searching it needs what runs bundles, and a call the transport."""
    builder = WorkspaceBuilder(tmp_path / "ws").server("clock", "clock").agent("clerk", tools=["clock"])
    builder.build()
    hints = {"find now": "octoc[run]", "call clock now": "octoc-transport-mcp"}
    done = install("", builder.root, "show", "show tokens", *hints)
    assert done["show"][0] == done["show tokens"][0] == 0
    for command, hint in hints.items():
        status, out, err = done[command]
        assert (status, out) == (2, "")
        assert f"run `{install_command(hint)}`" in err, command


def test_what_runs_a_bundle_does_not_build_one(install: Install, tmp_path: Path) -> None:
    """With `octoc[run]` a bundle is searched; a build that trains the gate names `octoc[build]`."""
    builder = WorkspaceBuilder(tmp_path / "ws").server("clock", "clock").agent("clerk", tools=["clock"])
    builder.capability("time", TRIGGERS, server="clock").build()
    done = install("run", builder.root, "find now", "build --no-cache")
    assert done["find now"][0] == 0, done
    status, out, err = done["build --no-cache"]
    assert (status, out) == (2, "")
    assert f"run `{install_command('octoc[build]')}`" in err
