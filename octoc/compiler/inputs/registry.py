"""All kinds of files and all dialects of a build: octoc's own and those of plugins, by the same hook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path, PurePath, PurePosixPath
from typing import Generic, TypeVar

import attrs

from octoc.chezmoi import target_path
from octoc.compiler.inputs.agents import claude as claude_agents
from octoc.compiler.inputs.agents.clients import CLIENT_AGENT
from octoc.compiler.inputs.agents.keys import CLIENT_AGENTS
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import OCTO
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.claude.command import CLAUDE_COMMAND, PLUGIN_COMMAND
from octoc.compiler.inputs.claude.plugin import CLAUDE_HOOKS, CLAUDE_MARKETPLACE, CLAUDE_PLUGIN
from octoc.compiler.inputs.claude.settings import CLAUDE_SETTINGS
from octoc.compiler.inputs.instructions import INSTRUCTIONS
from octoc.compiler.inputs.mcp.agents import AGENTS as SERVERS_OF_AGENTS
from octoc.compiler.inputs.mcp.amazon_q import AMAZON_Q
from octoc.compiler.inputs.mcp.amp import AMP
from octoc.compiler.inputs.mcp.antigravity import ANTIGRAVITY
from octoc.compiler.inputs.mcp.apm import APM
from octoc.compiler.inputs.mcp.augment import AUGMENT
from octoc.compiler.inputs.mcp.claude import CLAUDE, CLAUDE_MANAGED, CLAUDE_UNREAD
from octoc.compiler.inputs.mcp.claude_desktop import CLAUDE_DESKTOP
from octoc.compiler.inputs.mcp.claude_plugin import OTHER_PLUGIN, PLUGIN, PLUGIN_MANIFEST
from octoc.compiler.inputs.mcp.cline import CLINE
from octoc.compiler.inputs.mcp.codex import CODEX
from octoc.compiler.inputs.mcp.codex_plugin import CODEX_PLUGIN
from octoc.compiler.inputs.mcp.continue_dev import CONTINUE, CONTINUE_JSON
from octoc.compiler.inputs.mcp.copilot import COPILOT
from octoc.compiler.inputs.mcp.crush import CRUSH
from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.docker import DOCKER, DOCKER_REGISTRY
from octoc.compiler.inputs.mcp.factory import FACTORY
from octoc.compiler.inputs.mcp.gemini import GEMINI
from octoc.compiler.inputs.mcp.goose import GOOSE, GOOSE_RECIPE
from octoc.compiler.inputs.mcp.junie import JUNIE
from octoc.compiler.inputs.mcp.kilo import KILO, KILO_LEGACY
from octoc.compiler.inputs.mcp.kiro import KIRO
from octoc.compiler.inputs.mcp.librechat import LIBRECHAT
from octoc.compiler.inputs.mcp.mcp_agent import MCP_AGENT, MCP_AGENT_SECRETS
from octoc.compiler.inputs.mcp.opencode import OPENCODE
from octoc.compiler.inputs.mcp.pi import PI
from octoc.compiler.inputs.mcp.qwen import QWEN
from octoc.compiler.inputs.mcp.roo import ROO
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.mcp.tabnine import IFLOW, TABNINE
from octoc.compiler.inputs.mcp.trae import TRAE
from octoc.compiler.inputs.mcp.unnamed import UNNAMED
from octoc.compiler.inputs.mcp.vibe import VIBE
from octoc.compiler.inputs.mcp.visual_studio import VISUAL_STUDIO
from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.inputs.mcp.windsurf import WINDSURF
from octoc.compiler.inputs.mcp.zed import ZED
from octoc.compiler.inputs.mcpb import MCPB
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.inputs.octopus_export import OCTOPUS_EXPORT
from octoc.compiler.inputs.prompts import EXTENSION_COMMAND, PROMPT, PROMPT_OF_PLUGIN
from octoc.compiler.inputs.published import APM_LOCK, FASTMCP, REGISTRY_SERVER, SKILLS_LOCK
from octoc.compiler.inputs.routing import BACKGROUND, EXPANDED, FIXTURES, NEEDS
from octoc.compiler.inputs.scopes import SCOPES
from octoc.compiler.inputs.settings.apm import APM as APM_SETTINGS
from octoc.compiler.inputs.settings.augment import AUGMENT as AUGMENT_SETTINGS
from octoc.compiler.inputs.settings.clients import CLIENT_SETTINGS
from octoc.compiler.inputs.settings.codex import CODEX as CODEX_SETTINGS
from octoc.compiler.inputs.settings.commands import GEMINI_COMMAND
from octoc.compiler.inputs.settings.continue_dev import CONTINUE as CONTINUE_SETTINGS
from octoc.compiler.inputs.settings.crush import CRUSH as CRUSH_SETTINGS
from octoc.compiler.inputs.settings.gemini import GEMINI as GEMINI_SETTINGS
from octoc.compiler.inputs.settings.hooks import (
    CODEX_HOOKS,
    CODEX_PLUGIN_HOOKS,
    COPILOT_HOOKS,
    CURSOR_HOOKS,
    CURSOR_PLUGIN_HOOKS,
    GEMINI_EXTENSION_HOOKS,
    WINDSURF_HOOKS,
)
from octoc.compiler.inputs.settings.librechat import LIBRECHAT as LIBRECHAT_SETTINGS
from octoc.compiler.inputs.settings.mcp_agent import MCP_AGENT as MCP_AGENT_SETTINGS
from octoc.compiler.inputs.settings.opencode import OPENCODE as OPENCODE_SETTINGS
from octoc.compiler.inputs.settings.plugins import (
    CODEX_MARKETPLACE,
    COPILOT_MARKETPLACE,
    CURSOR_MARKETPLACE,
    GEMINI_EXTENSION,
    QWEN_EXTENSION,
)
from octoc.compiler.inputs.settings.plugins import CODEX_PLUGIN as CODEX_MANIFEST
from octoc.compiler.inputs.settings.plugins import CURSOR_PLUGIN as CURSOR_MANIFEST
from octoc.compiler.inputs.settings.qwen import QWEN as QWEN_SETTINGS
from octoc.compiler.inputs.settings.roo import ROO_MODES
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.inputs.tool_list import TOOL_LIST
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.plugin.file_kinds import NO_DIALECT, Dialect, FileKind, project_of
from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.manager import Plugins, plugins_of

T = TypeVar("T")

KINDS = (
    *(WORKSPACE, MCP, CAPABILITY_CONFIG, CAPABILITY_PROVIDER, AGENT_MANIFEST, AGENT_MD, SKILL),
    *(SNAPSHOT, FIXTURES, NEEDS, EXPANDED, SCOPES, OCTOPUS_EXPORT, BACKGROUND),
    *(CLAUDE_SETTINGS, CLAUDE_PLUGIN, CLAUDE_MARKETPLACE, CLAUDE_HOOKS, CLAUDE_COMMAND, CLIENT_AGENT, CLIENT_SETTINGS),
    *(FASTMCP, REGISTRY_SERVER, SKILLS_LOCK, APM_LOCK, MCPB, INSTRUCTIONS, TOOL_LIST, PROMPT),
)
"""octoc's own kinds of files."""
DIALECTS = (
    *(CLAUDE_UNREAD, CLAUDE, CLAUDE_DESKTOP, CURSOR, VSCODE, VISUAL_STUDIO, OCTO, claude_agents.CLAUDE, OCTOMIND),
    *(CODEX, OPENCODE, GEMINI, ZED, KIRO, AMAZON_Q, JUNIE, ROO, CLINE, TRAE, WINDSURF, FACTORY, COPILOT),
    *(LIBRECHAT, MCP_AGENT, GOOSE, GOOSE_RECIPE, CONTINUE, CONTINUE_JSON, APM, CRUSH, AMP, CODEX_PLUGIN),
    *(DOCKER, DOCKER_REGISTRY, MCP_AGENT_SECRETS, QWEN, TABNINE, IFLOW, KILO, KILO_LEGACY, ANTIGRAVITY, VIBE),
    *(AUGMENT, PI, CLAUDE_MANAGED, PLUGIN, OTHER_PLUGIN, PLUGIN_MANIFEST, UNNAMED),
    *CLIENT_AGENTS,
    *SERVERS_OF_AGENTS,
    *(CODEX_SETTINGS, OPENCODE_SETTINGS, GEMINI_SETTINGS, LIBRECHAT_SETTINGS, CRUSH_SETTINGS, CONTINUE_SETTINGS),
    *(MCP_AGENT_SETTINGS, APM_SETTINGS, AUGMENT_SETTINGS, QWEN_SETTINGS, GEMINI_COMMAND, ROO_MODES),
    *(CODEX_HOOKS, CODEX_PLUGIN_HOOKS, CURSOR_HOOKS, CURSOR_PLUGIN_HOOKS, COPILOT_HOOKS, WINDSURF_HOOKS),
    *(CODEX_MANIFEST, CODEX_MARKETPLACE, CURSOR_MANIFEST, CURSOR_MARKETPLACE, COPILOT_MARKETPLACE),
    *(GEMINI_EXTENSION, GEMINI_EXTENSION_HOOKS, QWEN_EXTENSION, PLUGIN_COMMAND),
    *(PROMPT_OF_PLUGIN, EXTENSION_COMMAND),
)
"""octoc's own dialects."""


class CoreFileKinds:
    """octoc's own kinds and dialects."""

    @hookimpl
    def octoc_file_kinds(self) -> Iterable[FileKind | Dialect]:
        return (*KINDS, *DIALECTS)


@attrs.frozen(kw_only=True)
class FileForm:
    """What a file is: its kind, and its dialect where the kind has several."""

    kind: FileKind
    dialect: Dialect = NO_DIALECT


@attrs.define(frozen=True, slots=False)
class FileKinds:
    """The kinds of files and dialects that a build knows: octoc's own, then those of `plugins`.

    A plugin cannot replace octoc's own: a second kind or dialect of a name is left out, and the first one that lists a
    path has it.
    """

    plugins: Plugins | None = attrs.field(default=None, eq=False)

    @cached_property
    def kinds(self) -> tuple[FileKind, ...]:
        """All kinds."""
        by_name = {one.name: one for one in reversed(self._registered) if isinstance(one, FileKind)}
        return tuple(reversed(by_name.values()))

    @cached_property
    def dialects(self) -> tuple[Dialect, ...]:
        """All dialects."""
        by_name = {(one.kind, one.name): one for one in reversed(self._registered) if isinstance(one, Dialect)}
        return tuple(reversed(by_name.values()))

    @cached_property
    def of_any_name(self) -> tuple[FileKind, ...]:
        """The kinds whose files may have any name."""
        return tuple(kind for kind in self.kinds if kind.may_be is not None)

    def dialects_of(self, kind: FileKind) -> tuple[Dialect, ...]:
        """Return all dialects of a kind."""
        return tuple(dialect for dialect in self.dialects if dialect.kind == kind.name)

    def forms_of(self, path: PurePath) -> tuple[FileForm, ...]:
        """Return what `path` and the names of files beside it say, one form for each kind. No file is opened.

        A file may be of several kinds: a plugin's manifest has servers, too.
        """
        matching = [
            form
            for form in self._by_pattern.at(path)
            if path.name not in form.kind.other_names
            and not form.dialect.needs_content
            and _is_there(path, form.dialect)
        ]
        forms = []
        for kind in sorted({form.kind for form in matching}, key=self.kinds.index):
            dialects = [form.dialect for form in matching if form.kind is kind and form.dialect is not NO_DIALECT]
            # A client's own folder tells more than another client's ending.
            dialects = [one for one in dialects if one.home and one.home in target_path(path).parts] or dialects
            forms.append(
                FileForm(kind=kind, dialect=min(dialects, key=self._order, default=kind.dialect or NO_DIALECT))
            )
        return tuple(forms)

    def of_workspace(self, path: PurePath) -> FileKind | None:
        """Return the kind that a build of a workspace would read `path` as, if the workspace is in the right folder."""
        return min(self._by_workspace_file.at(path), key=self.kinds.index, default=None)

    def has_content_at(self, path: PurePath) -> bool:
        """Tell whether a scan looks into the file at `path` for its kind."""
        return bool(self._by_content_pattern.at(path)) or any(
            form.dialect.needs_content for form in self._by_pattern.at(path)
        )

    def dialect_of(self, kind: FileKind, path: PurePath) -> Dialect:
        """Return the dialect of a file of `kind`: by patterns, else by the folder it lies in, else the usual one."""
        dialects = self.dialects_of(kind)
        listed = [one for one in dialects if one.project_of(path) is not None and _is_there(path, one)]
        inside = [one for one in dialects if one.home and one.home in target_path(path).parts]
        return min(listed or inside, key=self._order, default=kind.dialect or NO_DIALECT)

    def of_no_client(self, kind: FileKind) -> Dialect | None:
        """Return the dialect of files of a kind that no client has for itself, if there is one."""
        return next((one for one in self.dialects_of(kind) if one.needs_content), None)

    def dialect_of_values(self, kind: FileKind, path: PurePath, values: Mapping[str, object]) -> Dialect:
        """Return the dialect of a file that has these values: by its path, else by the marks of dialects."""
        told = self.dialect_of(kind, path)
        if told is not kind.dialect or told.project_of(path) is not None:
            return told
        return next((one for one in self.dialects_of(kind) if _is_marked(one, values)), told)

    def dialect_of_text(self, kind: FileKind, path: PurePath, dialect: Dialect, text: str) -> Dialect:
        """Return `dialect`, or the one of the same path whose list of servers `text` has in place of its own."""
        if dialect is NO_DIALECT or f'"{dialect.server_list}"' in text:
            return dialect
        others = (one for one in self.dialects_of(kind) if one.project_of(path) and not one.needs_content)
        fitting = (one for one in others if not one.marks or any(f'"{mark}"' in text for mark in one.marks))
        return next((one for one in fitting if f'"{one.server_list}"' in text), dialect)

    @cached_property
    def named(self) -> Mapping[str, FileForm]:
        """What `--kind` takes: a file's kind, and its dialect where clients have files of it."""
        kinds = {kind.name: FileForm(kind=kind) for kind in self.kinds}
        forms = {
            f"{one.kind}:{one.name}": FileForm(kind=kinds[one.kind].kind, dialect=one)
            for one in self.dialects
            if one.patterns and one.kind in kinds
        }
        return {**kinds, **forms}

    @cached_property
    def hidden_folders(self) -> frozenset[str]:
        """The hidden folders in which clients keep files."""
        patterns = (*(one.patterns for one in self.kinds), *(one.patterns for one in self.dialects))
        files = (PurePosixPath(pattern).parent for each in patterns for pattern in each)
        folders = (PurePosixPath(folder) for one in self.dialects for folder in one.folders)
        return frozenset(part for path in (*files, *folders) for part in path.parts if part.startswith("."))

    def _order(self, dialect: Dialect) -> tuple[bool, bool, bool, int]:
        # octoc's own come first. A file in one client's folder may have another client's name.
        is_told = not (dialect.home or dialect.beside)
        return dialect not in DIALECTS, is_told, dialect.needs_content, self.dialects.index(dialect)

    @cached_property
    def _registered(self) -> tuple[FileKind | Dialect, ...]:
        return _own() if self.plugins is None else (*_own(), *self.plugins.file_kinds())

    @cached_property
    def _by_pattern(self) -> _Patterns[FileForm]:
        kinds = {kind.name: kind for kind in self.kinds}
        forms = [(FileForm(kind=kind), kind.patterns) for kind in self.kinds]
        forms += [
            (FileForm(kind=kinds[one.kind], dialect=one), one.patterns) for one in self.dialects if one.kind in kinds
        ]
        return _Patterns(forms)

    @cached_property
    def _by_workspace_file(self) -> _Patterns[FileKind]:
        return _Patterns((kind, kind.workspace_files) for kind in self.kinds)

    @cached_property
    def _by_content_pattern(self) -> _Patterns[FileKind]:
        return _Patterns((kind, kind.content_patterns) for kind in self.kinds)


@cache
def _own() -> tuple[FileKind | Dialect, ...]:
    return plugins_of(CoreFileKinds()).file_kinds()


def _is_there(path: PurePath, dialect: Dialect) -> bool:
    """Tell whether a file that must be beside one at `path` is there."""
    return not dialect.beside or any(True for name in dialect.beside for _ in Path(path.parent).glob(name))


def _is_marked(dialect: Dialect, values: Mapping[str, object]) -> bool:
    marked = (values[key] in wanted or not wanted for key, wanted in dialect.marks.items() if key in values)
    return any(marked)


class _Patterns(Generic[T]):
    """Patterns by the name of a file, or by the suffix where a name has a `*`, and what each one stands for.

    A scan asks for every file that it meets: few have the name of a client's file.
    """

    def __init__(self, specs: Iterable[tuple[T, Iterable[str]]]) -> None:
        self._by_name: dict[str, list[tuple[str, T]]] = {}
        for spec, patterns in specs:
            for pattern in patterns:
                name = PurePosixPath(pattern)
                self._by_name.setdefault(name.suffix if "*" in name.name else name.name, []).append((pattern, spec))

    def at(self, path: PurePath) -> list[T]:
        """Return what the patterns that match `path` stand for."""
        written = target_path(path)
        candidates = (*self._by_name.get(written.name, ()), *self._by_name.get(written.suffix, ()))
        return [spec for pattern, spec in candidates if project_of(path, (pattern,)) is not None]
