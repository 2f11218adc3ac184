"""Products of the stages before lock and emit, made by hand: one of everything."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from octoc.bundle.model import Gate, Registry
from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.inputs.capability import CAPABILITY_PROVIDER
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import DefaultLink, Discovered, Documents, FoundFile, SkillFolder, Tap
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import (
    Agent,
    Calibrated,
    Capability,
    Embedded,
    Resolved,
    Scoped,
    ScopedTool,
    Server,
    ServerGrant,
    Skill,
)
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import AgentSource, SkillSource, SnapshotSource, Sources
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.names import ToolId
from octoc.plugin.manager import Plugins
from octoc.results import ListedTool, ServerListing

PLACE = Place(file="octoc.toml")
PROVIDER = "taps/acme/capabilities/files/disk.toml"

ProductsMaker = Callable[..., Build]


def _tool(name: str, description: str) -> ListedTool:
    wire = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return ListedTool(name=name, description=description, wire=wire)


def _make(
    root: Path,
    *,
    description: str = "Reads a file",
    encoder_file: bytes = b"weights",
    plugins: tuple[str, ...] = ("embed-onnx", "transport-mcp"),
) -> Build:
    """Return the products of a workspace in `root` with one of everything."""
    tools = (_tool("read", description), _tool("write", "Writes a file"))
    listing = ServerListing(
        server_info={"name": "disk"}, protocol_version="2025-06-18", instructions="Be careful", tools=tools
    )
    snapshot = SnapshotSource(
        server="disk", place=PLACE, definition="d1", package="disk-mcp", listing=listing, digest=f"snap-{description}"
    )
    disk = Server(
        name="disk",
        place=PLACE,
        transport="stdio",
        command=f"{root}/bin/disk",
        args=("--root", str(root), f"--log={root}/log.txt", f"{root}-2/other"),
        env={"DISK_HOME": f"{root}/home", "TOKEN": "${TOKEN}"},
        cwd=str(root),
        definition="def-disk",
        package="disk-mcp",
        snapshot=snapshot,
        tools=tools,
    )
    web = Server(name="web", place=PLACE, transport="http", url="https://example.org/mcp", definition="def-web")
    files = Capability(
        name="files",
        tap="acme",
        provider="disk",
        place=PLACE,
        title="Files",
        domains=("office",),
        triggers=(Located("read the file", PLACE), Located("save this", PLACE)),
        grants=(ServerGrant(server="disk", globs=("read",), tools=(ToolId("disk", "read"),)),),
    )
    search = Capability(
        name="search",
        tap="acme",
        provider="web",
        place=PLACE,
        triggers=(Located("look it up", PLACE),),
        grants=(ServerGrant(server="web", globs=("*",)),),
    )
    agent = Agent(
        source=AgentSource(
            name="writer", kind="octo", place=PLACE, type="worker", prompt="You write. Grüße", sampling={"top_p": 1}
        )
    )
    folder = SkillFolder(tap="acme", skill="tidy", resources=("references/a.md",))
    skill = Skill(
        source=SkillSource(name="tidy", place=PLACE, tap="acme", body="Tidy up.", folder=folder),
        capabilities=("files",),
    )
    discovered = Discovered(
        root=root,
        settings=WorkspaceSettings(plugins=plugins, name="acme", place=PLACE),
        taps=(Tap(name="acme", root=root / "taps/acme", display="taps/acme", precedence=0, place=PLACE),),
        files=(
            FoundFile(path=root / "octoc.toml", display="octoc.toml", kind=WORKSPACE),
            FoundFile(path=root / PROVIDER, display=PROVIDER, kind=CAPABILITY_PROVIDER, tap="acme"),
        ),
        default_links=(DefaultLink(tap="acme", capability="files", provider="disk", place=PLACE),),
        skill_folders=(folder,),
    )
    resolved = Resolved(
        servers=(disk, web),
        capabilities=(files, search),
        agents=(agent,),
        skills=(skill,),
    )
    scoped = Scoped(
        tools=tuple(
            ScopedTool(id=ToolId("disk", tool.name), alias=f"disk__{tool.name}", listed=tool) for tool in tools
        ),
        registries={
            "supervisor": Registry(tools=(0, 1), proxy=True, capabilities=("files", "search")),
            "writer": Registry(tools=(0,), direct=(0,)),
        },
    )
    embedded = Embedded(
        encoder_name="fake",
        identity="identity-1",
        dimension=4,
        triggers=np.eye(3, 4, dtype=np.float32),
        encoder_files={"weights.bin": encoder_file},
    )
    calibrated = Calibrated(
        gate=Gate(kind="calibrated", threshold=0.5, data={"classes": ["files", "search"]}, arrays=("weights",)),
        arrays={"weights": np.ones((3, 4), dtype=np.float32)},
    )
    documents = Documents(documents=(), digests={"octoc.toml": "00" * 32, PROVIDER: "11" * 32})
    return Build(
        settings=discovered.settings,
        discovered=discovered,
        documents=documents,
        checked=documents,
        sources=Sources(),
        resolved=resolved,
        scoped=scoped,
        prompts={"supervisor": "## Servers"},
        embedded=embedded,
        calibrated=calibrated,
    )


@pytest.fixture
def products() -> ProductsMaker:
    """A function from a workspace's folder to the products of all stages before lock."""
    return _make


@pytest.fixture
def with_discovered() -> Callable[..., Build]:
    """A function that returns the products with other values in `Discovered` and other digests."""

    def changed(
        build: Build, *, digests: Mapping[str, str] | None = None, settings: Any = None, **changes: Any
    ) -> Build:
        changes["settings"] = attrs.evolve(build.settings, **(settings or {}))
        documents = build.documents if digests is None else attrs.evolve(build.documents, digests=digests)
        discovered = attrs.evolve(build.discovered, **changes)
        return attrs.evolve(build, settings=discovered.settings, discovered=discovered, documents=documents)

    return changed


@pytest.fixture
def context_of() -> Callable[..., Context]:
    """A function that returns a context on a folder, which becomes a workspace by an `octoc.toml`."""

    def make(root: Path, *, is_bare: bool = False, **options: Any) -> Context:
        root.mkdir(parents=True, exist_ok=True)
        if not is_bare:
            (root / "octoc.toml").write_text('[workspace]\nname = "acme"\n')
        return Context(root=root, sink=DiagnosticSink(), cache=Cache(None), plugins=Plugins(), **options)

    return make
