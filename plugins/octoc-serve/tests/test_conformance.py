"""The official conformance suite: what a backend passes when it is asked directly, it passes through the gateway."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.node

MODULES = Path(sys.prefix) / "node22" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE = MODULES / ".bin" / "node"
_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")

_BUNDLE = "needs a list that changes with its server, and the lists of the gateway change with the bundle"
NOT_APPLICABLE: Mapping[str, Mapping[str, str]] = {
    "2025-11-25": {
        "server-sse-multiple-streams/server-sse-streams-functional": (
            "needs a stream, and the gateway answers with JSON if nothing comes before the answer"
        ),
        "server-sse-polling/server-sse-disconnect-resume": (
            "needs a stream that breaks during a call, and the gateway closes none when a backend closes its own"
        ),
    },
    "2026-07-28": {
        "server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription": _BUNDLE,
        "server-stateless/sep-2575-server-sends-tools-list-changed-on-subscription": _BUNDLE,
    },
}
"""Revision -> scenario and check that cannot apply to a gateway -> the reason."""


@pytest.mark.skipif(not SUITE.is_file(), reason="the suite is not installed: run `make conformance` where npm works")
@pytest.mark.parametrize("revision", NOT_APPLICABLE)
def test_the_gateway_passes_what_the_backend_passes(
    everything: Any, serve: Callable[..., Any], tmp_path: Path, revision: str
) -> None:
    """Each check that succeeds directly succeeds through the gateway, except those listed with a reason."""
    directly = outcomes(everything.url, revision, tmp_path / "direct")
    through = outcomes(serve("--agent", "all", bundle=everything.bundle).url, revision, tmp_path / "gateway")
    passed = {name for name, statuses in directly.items() if statuses == {"SUCCESS"}}
    assert len(passed) >= 70
    failed = {name: sorted(through.get(name, ())) for name in passed if through.get(name) != {"SUCCESS"}}
    assert sorted(failed) == sorted(NOT_APPLICABLE[revision]), failed


def outcomes(url: str, revision: str, folder: Path) -> dict[str, set[str]]:
    """Run all scenarios of a revision, and return the statuses of each check, by scenario and name."""
    command = [str(NODE), str(SUITE), "server", "--url", url, "--requirements", revision, "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ))
    statuses: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*/checks.json")):
        named = _FOLDER.fullmatch(path.parent.name)
        assert named is not None, path
        for check in json.loads(path.read_text(encoding="utf-8")):
            statuses.setdefault(f"{named['scenario']}/{check['id']}", set()).add(check["status"])
    assert statuses, done.stdout + done.stderr
    return statuses
