"""The page on octoc.toml knows every key, and its example is sound."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from octoc import data
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import DiagnosticSink

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "workspace.md").read_text(encoding="utf-8")


def keys() -> Iterator[str]:
    """Yield `section.key` of every key in the schema, as the page writes them."""
    schema = json.loads((data.schemas_dir() / "workspace.v1.json").read_text(encoding="utf-8"))
    for section, what in schema["properties"].items():
        inside: Mapping[str, Any] = what.get("properties") or what.get("items", {}).get("properties") or {}
        yield from (f"{section}.{key}" for key in inside)
    server, tool = schema["$defs"]["server"]["properties"], schema["$defs"]["tool"]["properties"]
    yield from (f"servers.NAME.{key}" for key in server)
    yield from (f'servers.NAME.tools."GLOB".{key}' for key in tool)


def test_every_key_is_explained() -> None:
    """Each key that the schema knows stands in the page's table."""
    assert len(list(keys())) > 15
    assert [key for key in keys() if f"`{key}" not in PAGE] == []


def test_the_example_is_sound(tmp_path: Path) -> None:
    """The page's example has no finding, and means what it says."""
    example = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    tmp_path.joinpath("octoc.toml").write_text(example, encoding="utf-8")
    sink = DiagnosticSink()
    settings = load_settings(tmp_path, sink)
    assert settings is not None
    assert sink.diagnostics == ()
    assert [tap.path for tap in settings.taps] == ["taps/ours", "octoc:core"]
    assert settings.providers == {"search": "exa"}
