"""The recorded tools of real servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def recorded(realworld: Path) -> list[tuple[str, Any]]:
    """Name and input schema of every tool of the real servers."""
    found = []
    for file in sorted((realworld / "tools").glob("*.json")):
        whole = json.loads(file.read_text(encoding="utf-8"))
        tools = whole if isinstance(whole, list) else whole["tools"]
        found += [(f"{file.stem}/{tool['name']}", tool["inputSchema"]) for tool in tools]
    return found
