"""Fixtures by themselves: read and looked up without the stages that a build runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from octoc.bundle.model import Bundle
from octoc.compiler.cache.store import Cache
from octoc.compiler.check.stage import sound_documents
from octoc.compiler.context import Context
from octoc.compiler.discover.fixtures import add_fixtures
from octoc.compiler.discover.found import DiscoveredLists
from octoc.compiler.discover.walk import FolderEntry, WalkRoot
from octoc.compiler.inputs.routing import FIXTURES
from octoc.compiler.model.documents import Discovered, FoundFile
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import FixturesSource
from octoc.compiler.read.stage import read_files
from octoc.compiler.resolve.fixtures import FixtureNames, resolve_fixtures
from octoc.compiler.structure.stage import sources_of
from octoc.compiler.workspace.load import load_workspace
from octoc.compiler.workspace.paths import WORKSPACE_FILE, display_path
from octoc.diagnostics.model import Diagnostic, Place
from octoc.plugin.manager import plugins_of
from octoc.routing.fixtures import Fixtures


@attrs.frozen(kw_only=True)
class Loaded:
    """Files of fixtures as they say, and the settings beside them. `context` reports what is found in them."""

    sources: tuple[FixturesSource, ...]
    settings: WorkspaceSettings
    context: Context

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to run, and nothing was found that would say why."""
        return not any(source.messages or source.queries for source in self.sources) and not self.diagnostics

    @property
    def limits(self) -> dict[str, float]:
        """The shares that the workspace asks for, by their keys in octoc.toml."""
        return {key: value for key, value in attrs.asdict(self.settings.test).items() if value is not None}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.context.sink.diagnostics


def load_fixtures(root: Path, files: Sequence[Path] = ()) -> Loaded:
    """Read the fixtures of the workspace in `root`, or of `files` alone; what is unsound is reported and left out.

    Args:
        root: absolute; a folder without octoc.toml has the defaults.
    """
    loaded = load_workspace(root, cache=Cache(None), plugins=plugins_of())
    settings = loaded.settings or WorkspaceSettings(name=root.name, place=Place(file=WORKSPACE_FILE))
    found = _named(root, files) if files else _discovered(root, settings, loaded.context)
    discovered = Discovered(root=root, settings=settings, files=found)
    documents = sound_documents(read_files(discovered, loaded.context), loaded.context.sink)
    return Loaded(sources=sources_of(documents, discovered).fixtures, settings=settings, context=loaded.context)


def look_up(loaded: Loaded, names: FixtureNames) -> Fixtures:
    """Return the fixtures whose names a bundle knows, each once; the others are reported."""
    return resolve_fixtures(loaded.sources, names, loaded.context.sink)


def known_in(bundle: Bundle) -> FixtureNames:
    """Return the names that fixtures may use of a bundle."""
    return FixtureNames(
        capabilities={entry.name for entry in bundle.capabilities},
        agents={entry.name for entry in bundle.agents},
        tools={f"{tool.server}/{tool.name}" for tool in bundle.tools},
        unlisted={server.name for server in bundle.servers if not server.listed},
    )


def _discovered(root: Path, settings: WorkspaceSettings, context: Context) -> tuple[FoundFile, ...]:
    found = DiscoveredLists(sink=context.sink)
    boundary = WalkRoot(real=os.path.realpath(root), what="the workspace")
    add_fixtures(FolderEntry(path=root, display=".", root=boundary, is_dir=True), settings, found)
    return tuple(found.files)


def _named(root: Path, files: Sequence[Path]) -> tuple[FoundFile, ...]:
    return tuple(
        FoundFile(path=path.absolute(), display=display_path(root, path.absolute()), kind=FIXTURES)
        for path in dict.fromkeys(files)
    )
