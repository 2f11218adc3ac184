"""A sound workspace with two of everything, copied for each test: one is damaged, and the other must survive."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.cli import main

PAIRS = (("time", "mail"), ("builder", "writer"), ("helper", "tester"), ("tidy", "brew"))


@attrs.frozen(kw_only=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    def json(self) -> Any:
        return json.loads(self.out)


Octoc = Callable[..., Done]


@pytest.fixture
def octoc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Octoc:
    """A function that runs one command in this process. A bug in octoc fails the test, whatever it is about."""
    monkeypatch.setenv("OCTOC_DEBUG", "1")

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        assert "error[OCT901]" not in err, err
        return Done(status=status, out=out, err=err)

    return run


def write_files(root: Path) -> None:
    """Write two MCP files, and two capabilities, manifests, agents and skills."""
    files = {
        "octoc.toml": '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n\n'
        '[agents]\npaths = ["agents"]\n\n[mcp]\nfiles = [".mcp.json", "extra.json"]\n\n'
        '[routing]\ngate = "octomind"\nship_encoder = false\n',
        ".mcp.json": _mcp("notes"),
        "extra.json": _mcp("files"),
    }
    for capability in PAIRS[0]:
        folder = f"taps/acme/capabilities/{capability}"
        files[f"{folder}/config.toml"] = f'triggers = ["tell the {capability}", "read my {capability}"]\n'
        files[f"{folder}/default.toml"] = "installed.toml\n"
        files[f"{folder}/installed.toml"] = (
            f"# Title: {capability}\n# Description: All about {capability}.\n\n"
            f'[roles.mcp]\nserver_refs = ["{capability}"]\nallowed_tools = ["{capability}:*"]\n\n'
            f'[[mcp.servers]]\nname = "{capability}"\ntype = "stdio"\ncommand = "{capability}-server"\nargs = []\n'
            "timeout_seconds = 30\ntools = []\n"
        )
    for spec, capability in zip(PAIRS[1], PAIRS[0], strict=True):
        files[f"taps/acme/agents/dev/{spec}.toml"] = (
            f"# Title: {spec}\n# Description: A {spec}.\n\n"
            f'capabilities = ["{capability}"]\n\n[[roles]]\nname = "{spec}"\nsystem = """You are a {spec}."""\n'
        )
    for agent in PAIRS[2]:
        files[f"agents/{agent}/AGENT.md"] = (
            f"---\nname: {agent}\ndescription: A {agent}\ntype: worker\n---\nYou are a {agent}.\n"
        )
    for skill in PAIRS[3]:
        files[f"taps/acme/skills/{skill}/SKILL.md"] = (
            f"---\nname: {skill}\ntitle: {skill}\ndescription: How to {skill}\n---\nDo it.\n"
        )
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _mcp(server: str) -> str:
    return json.dumps({"mcpServers": {server: {"command": f"{server}-server", "args": []}}}, indent=2) + "\n"


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sound workspace, pinned and built. Tests that change something take `folder`."""
    root = tmp_path_factory.mktemp("sound") / "acme"
    write_files(root)
    dump = root.parent / "dump.json"
    for server in ("notes", "files", "time", "mail"):
        tools = [{"name": f"{server}_{verb}", "inputSchema": {"type": "object"}} for verb in ("read", "write")]
        dump.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        assert main(["pin", server, "--from", str(dump), "--workspace", str(root)]) == 0
    assert main(["build", "--workspace", str(root)]) == 0
    yield root
    assert main(["build", "--locked", "--workspace", str(root)]) == 0  # no test may have changed it


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy of the sound workspace, to be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "acme", symlinks=True))


def left_over(root: Path) -> list[str]:
    """Return the files that a write aside may have left behind."""
    known = {".mcp.json"}
    return [str(path) for path in root.rglob(".*") if path.name not in known]
