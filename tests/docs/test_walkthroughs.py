"""The walkthroughs of CONTRIBUTING.md: their steps are applied to a copy of the tree, and what they add works there."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^(`{3,4})(\w+) title="([^"]+)"\n(.*?)^\1$', re.MULTILINE | re.DOTALL)
MOST = 4
"""How many files besides its own a walkthrough may change."""


@attrs.frozen
class Step:
    """One block: a new file, or edits of a file that is there."""

    path: str
    text: str
    edits: bool


def walkthrough(title: str) -> list[Step]:
    """Return the steps under a heading of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"### {title}\n")[2]
    # A rule's page is a block with headings of its own.
    prose = BLOCK.sub(lambda match: " " * len(match[0]), text)
    end = re.search(r"^##", prose, re.MULTILINE)
    assert end is not None, title
    return [Step(path, body, language == "diff") for _, language, path, body in BLOCK.findall(text[: end.start()])]


def apply(steps: list[Step], root: Path) -> None:
    """Write the new files and make the edits; each edit fits one place."""
    for step in steps:
        target = root / step.path
        if not step.edits:
            assert not target.exists(), step.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.text, encoding="utf-8")
            continue
        text = target.read_text(encoding="utf-8")
        for hunk in step.text.split("@@\n"):
            lines = hunk.splitlines()
            old, new = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        target.write_text(text, encoding="utf-8")


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of octoc's package and schemas."""
    root = tmp_path / "tree"
    for name in ("octoc", "schemas", "taps"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def octoc(*arguments: str, path: str, cwd: Path) -> str:
    """Run octoc from the folders of `path`, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(cwd / ".cache")}
    done = subprocess.run(
        [sys.executable, "-m", "octoc", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def workspace(root: Path, files: Mapping[str, str]) -> Path:
    """Write the files of a workspace."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_walkthrough_changes_few_files() -> None:
    """No walkthrough changes more than four files that are there."""
    for title in ("A lint rule", "A transport kind from a plugin", "A command"):
        steps = walkthrough(title)
        assert steps, title
        assert len({step.path for step in steps if step.edits}) <= MOST, title


def test_a_lint_rule(scratch: Path, tmp_path: Path) -> None:
    """The rule is reported, has a page, and is silent where a workspace turns it off."""
    apply(walkthrough("A lint rule"), scratch)
    server = '{"mcpServers": {"docs": {"type": "http", "url": "http://localhost:8000/mcp"}}}'
    root = workspace(tmp_path / "w", {"octoc.toml": '[workspace]\nname = "w"\n', ".mcp.json": server})
    path = str(scratch)
    assert '"OCT405"' in octoc("check", "--json", path=path, cwd=root)
    assert octoc("explain", "loopback-url", path=path, cwd=root).startswith("# OCT405 loopback-url\n")
    (root / "octoc.toml").write_text('[workspace]\nname = "w"\n\n[lint]\nrules = { OCT405 = "off" }\n', "utf-8")
    assert "OCT405" not in octoc("check", "--json", path=path, cwd=root)


def test_a_transport_kind_from_a_plugin(tmp_path: Path) -> None:
    """The kind of an installed plugin is checked, built and called, and octoc has no change."""
    steps = walkthrough("A transport kind from a plugin")
    assert not [step.path for step in steps if step.edits or step.path.startswith("octoc/")]
    apply(steps, tmp_path)
    folder = tmp_path / "octoc-acme-queue"
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # What an installation leaves beside the package.
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["octoc"].items())
    workspace(
        folder / f"octoc_acme_queue-{project['version']}.dist-info",
        {
            "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
            "entry_points.txt": f"[octoc]\n{points}",
        },
    )
    settings = '[workspace]\nname = "w"\n\n[plugins]\nuse = ["acme-queue"]\n\n[routing]\nencoder = "none"\n'
    root = workspace(tmp_path / "workspace", {"octoc.toml": settings})
    path = f"{ROOT}{os.pathsep}{folder}"
    assert '"error"' not in octoc("check", "--json", path=path, cwd=root)
    octoc("build", "--allow-degraded", path=path, cwd=root)
    assert octoc("call", "jobs", "push", "{}", path=path, cwd=root) == "pushed to nightly\n"


def test_a_command(scratch: Path, tmp_path: Path) -> None:
    """The command stands in the help, and runs."""
    apply(walkthrough("A command"), scratch)
    server = '{"mcpServers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}'
    settings = '[workspace]\nname = "w"\n\n[routing]\nencoder = "none"\n'
    root = workspace(tmp_path / "w", {"octoc.toml": settings, ".mcp.json": server})
    path = str(scratch)
    assert "servers" in octoc("--help", path=path, cwd=root)
    octoc("build", "--allow-degraded", path=path, cwd=root)
    assert octoc("servers", path=path, cwd=root) == "docs\n"
