"""Workspaces whose servers, of the SDK over stdio, have resources and prompts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.plugin.manager import load_plugins
from octoc.results import OFFER_KEYS
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

SERVER = Path(__file__).parents[3] / "plugins" / "octoc-transport-mcp" / "tests" / "offering_server.py"


def offers(name: str) -> dict[str, list[dict[str, Any]]]:
    """The lists of the server of this name, as `octoc pin` records them."""
    return {
        "resources": [{"uri": f"{name}://{one}", "name": one, "title": f"The {one}"} for one in ("readme", "logo")],
        "resourceTemplates": [{"uriTemplate": f"{name}://pages/{{number}}", "name": "page"}],
        "prompts": [
            {"name": "greet", "arguments": [{"name": "who", "required": True}]},
            {"name": "review", "description": f"Review by {name}"},
        ],
    }


@attrs.define
class Offering:
    """A workspace with servers that have offers; `options` are command-line options of single servers."""

    root: Path
    builder: WorkspaceBuilder
    options: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    servers: list[str] = attrs.field(factory=list)
    era: str = "modern"

    def server(self, name: str, *options: str, listed: bool = True, **fields: Any) -> Offering:
        """Add a server."""
        whole = ("--name", fields.pop("called", name), *options, *(("--handshake",) if self.era == "handshake" else ()))
        self.builder.server(name, sys.executable, str(SERVER), *whole, **fields)
        if listed:
            lists: Any = offers(name)
            self.builder.snapshot(name, ["touch"], features=("completions", "subscribe"), **lists)
        return self

    def table(self, name: str, **values: Any) -> Offering:
        """Add one `[[name]]` of scopes."""
        self.builder._settings.setdefault(name, []).append(values)
        return self

    def run(self, scenario: Callable[[Runtime], Awaitable[None]], **given: Any) -> None:
        """Build, open and run a scenario."""
        built = self.builder.build()
        bundle = built.bundle
        assert bundle is not None, built.diagnostics

        async def opened() -> None:
            plugins = load_plugins(["transport-mcp"], {})
            async with Runtime.open(bundle, plugins=plugins, **given) as runtime:
                await scenario(runtime)

        asyncio.run(opened())


def names(listed: Mapping[str, Any]) -> list[str]:
    """The names in one list, by the key that its kind has."""
    return [str(listed[key]) for key in OFFER_KEYS.values() if key in listed]


@pytest.fixture(params=["handshake", "modern"])
def offering(request: pytest.FixtureRequest, tmp_path: Path) -> Offering:
    """A workspace whose servers speak one era."""
    return Offering(tmp_path, WorkspaceBuilder(tmp_path), era=request.param)
