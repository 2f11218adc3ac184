"""The signatures of real tools: a model that sees one can write the arguments that the tool requires."""

from __future__ import annotations

import json
from pathlib import Path

from octoc.formats.signature import signature

LEAST = 30


def test_a_signature_has_what_a_call_requires(realworld: Path) -> None:
    """Each required argument is there with its name, its type and, if it has few values, all of them."""
    files = sorted((realworld / "tools").glob("*.json"))
    listed = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    tools = [tool for one in listed for tool in (one["tools"] if isinstance(one, dict) else one)]
    assert len(tools) >= LEAST
    for tool in tools:
        schema = tool["inputSchema"]
        shown = signature(tool["name"], schema)
        for name in schema.get("required", ()):
            assert f"{name}: " in shown, shown
            assert f"{name}: any" not in shown, shown
            values = schema["properties"][name].get("enum", ())
            assert all(json.dumps(value) in shown for value in values[:8] if len(str(value)) < 20), shown
