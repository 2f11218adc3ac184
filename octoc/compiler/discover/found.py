"""What discover collects on its way, and the few checks that every kind of file shares."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.compiler.discover.walk import FolderEntry
from octoc.compiler.model.documents import Attachment, DefaultLink, DepScript, DepTree, FoundFile, SkillFolder, Tap
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules import read as rules
from octoc.names import NAME_RULE, is_name
from octoc.plugin.file_kinds import NO_DIALECT, Dialect, FileKind


@attrs.define(kw_only=True)
class DiscoveredLists:
    """The lists of `Discovered` while they are made."""

    sink: DiagnosticSink
    locked: bool = False
    """Whether each file that is executed must be in the lock."""
    taps: list[Tap] = attrs.field(factory=list)
    files: list[FoundFile] = attrs.field(factory=list)
    default_links: list[DefaultLink] = attrs.field(factory=list)
    skill_folders: list[SkillFolder] = attrs.field(factory=list)
    dep_scripts: list[DepScript] = attrs.field(factory=list)
    dep_trees: list[DepTree] = attrs.field(factory=list)
    attachments: list[Attachment] = attrs.field(factory=list)
    skill_roots: set[str] = attrs.field(factory=set)
    """The real paths of the skills' folders that were added."""

    def add(
        self,
        entry: FolderEntry,
        kind: FileKind,
        *,
        tap: str | None = None,
        key: Mapping[str, str],
        dialect: Dialect = NO_DIALECT,
    ) -> None:
        self.files.append(
            FoundFile(path=entry.path, display=entry.display, kind=kind, tap=tap, key=key, dialect=dialect)
        )


def named(entry: FolderEntry, name: str, what: str, sink: DiagnosticSink) -> bool:
    """Tell whether `name`, which the path of `entry` gives to `what`, is a name; report it when it is not."""
    if is_name(name):
        return True
    sink.report(
        rules.BAD_FILE_NAME,
        f"`{name}` cannot name {what}, expected {NAME_RULE}",
        at=entry.place,
        help=f"rename `{entry.display}`",
    )
    return False


def toml_stem(entry: FolderEntry) -> str | None:
    """Return the name of a `.toml` file without its ending; None for all else."""
    return entry.name.removesuffix(".toml") if not entry.is_dir and entry.name.endswith(".toml") else None
