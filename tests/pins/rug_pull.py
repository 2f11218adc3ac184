"""A rug pull with real releases: two versions of one server of PyPI under one command. `make rug-pull` runs it.

Not in `make test`: it installs two releases and their dependencies, all of exact versions, from the package index.
"""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.cli import main
from octoc.plugin import AuditLog
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

BEFORE, AFTER = "mcp-server-git==0.6.2", "mcp-server-git==2025.7.1"
DEPENDENCIES = [
    "annotated-types==0.8.0",
    "anyio==4.16.0",
    "attrs==26.1.0",
    "certifi==2026.10.18",
    "click==8.2.1",
    "gitdb==4.0.12",
    "gitpython==3.1.45",
    "h11==0.16.0",
    "httpcore==1.0.9",
    "httpx==0.28.1",
    "httpx-sse==0.4.3",
    "idna==3.20",
    "jsonschema==4.26.0",
    "jsonschema-specifications==2025.9.1",
    "mcp==1.12.4",
    "pydantic==2.11.7",
    "pydantic-core==2.33.2",
    "pydantic-settings==2.16.3",
    "python-dotenv==1.2.4",
    "python-multipart==0.0.34",
    "referencing==0.37.0",
    "rpds-py==2026.9.1",
    "smmap==5.0.3",
    "sse-starlette==2.4.1",
    "starlette==0.47.3",
    "typing-extensions==4.16.0",
    "typing-inspection==0.4.5",
    "uvicorn==0.54.0",
]


@attrs.frozen
class Published:
    """A folder `current` that has one release of the server, and a repository of git to ask it about."""

    folder: Path
    repository: Path

    def publish(self, release: str) -> None:
        """Have `current` be another release."""
        current = self.folder / "current"
        current.unlink(missing_ok=True)
        current.symlink_to(self.folder / release)


@pytest.fixture
def published(tmp_path: Path) -> Published:
    """Both releases, the older one published."""
    folder = tmp_path / "releases"
    for name, packages in (("dependencies", DEPENDENCIES), ("before", [BEFORE]), ("after", [AFTER])):
        words = ["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", str(folder / name)]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words, *packages], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"the package index did not give {', '.join(packages)}: {done.stderr.strip()[-300:]}")
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    found = Published(folder, repository)
    found.publish("before")
    return found


async def _called(bundle: Path, repository: Path) -> tuple[Mapping[str, str], list[dict[str, Any]]]:
    """Return how calls of three tools end, `ok` or the kind of failure, and the events of the audit log."""
    stream = io.StringIO()
    plugins = load_plugins(["transport-mcp"], {})
    ended = {}
    async with Runtime.open(bundle, plugins=plugins, observers=[AuditLog(stream)]) as runtime:
        session = runtime.session()
        for tool in ("git_status", "git_diff_unstaged", "git_init"):
            outcome = await session.call(f"git__{tool}", {"repo_path": str(repository)})
            ended[tool] = outcome.kind if isinstance(outcome, ToolFailure) else "ok"
    return ended, [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_new_release_under_the_same_command_is_refused_until_it_is_approved(
    published: Published, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The changed tool is refused and the new one unknown, the audit says why, others go on, and approval ends it."""
    root = tmp_path / "ws"
    builder = WorkspaceBuilder(root, pins=dict.fromkeys(("breaking", "widening", "wording"), "refuse"))
    path = f"{published.folder / 'current'}:{published.folder / 'dependencies'}"
    builder.server("git", sys.executable, "-m", "mcp_server_git", env={"PYTHONPATH": path}).write()
    where = ("--workspace", str(root))
    bundle = root / "dist" / "test.octoc"
    assert main(["pin", "--yes", *where]) == 0
    assert main(["build", *where]) == 0
    ended, _ = asyncio.run(_called(bundle, published.repository))
    assert ended == {"git_status": "ok", "git_diff_unstaged": "ok", "git_init": "not_found"}

    published.publish("after")
    ended, events = asyncio.run(_called(bundle, published.repository))
    assert ended == {"git_status": "ok", "git_diff_unstaged": "changed", "git_init": "not_found"}
    (event,) = (one for one in events if one["outcome"] == "changed")
    assert event["failure"].endswith("is refused: parameter-added (widening)")

    capsys.readouterr()
    assert main(["pin", "--check", "--yes", "--output-format", "concise", *where]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "widening parameter-added git/git_diff_unstaged argument `context_lines` added" in shown
    assert "widening tool-added git/git_init added" in shown

    assert main(["pin", "--approve", "git", "--yes", *where]) == 0
    assert main(["build", *where]) == 0
    ended, _ = asyncio.run(_called(bundle, published.repository))
    assert ended == {"git_status": "ok", "git_diff_unstaged": "ok", "git_init": "ok"}
