"""Products of discover, read and check: files by kind, and their values with a way back to lines and columns."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import attrs

from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.model import Place, Span
from octoc.plugin.file_kinds import NO_DIALECT, Converted, Dialect, FileKind


@attrs.frozen(kw_only=True)
class Tap:
    """A tap whose folder is there. `precedence` counts from 0; the first tap that has an entity wins."""

    name: str
    root: Path
    display: str
    precedence: int
    place: Place


@attrs.frozen(kw_only=True)
class FoundFile:
    """A file to read.

    `display` is its POSIX path as diagnostics and the bundle name it, relative to the workspace if inside.

    `key` holds what the path says: capability and provider, agent domain and spec, skill or agent folder, server.
    `dialect` is for MCP files and agents in Markdown.
    """

    path: Path
    display: str
    kind: FileKind
    tap: str | None = None
    key: Mapping[str, str] = attrs.field(factory=dict)
    dialect: Dialect = NO_DIALECT

    @property
    def root(self) -> Path:
        """The folder that `display` starts in: the workspace's, or the one that is checked; else the file's own."""
        count = len(PurePosixPath(self.display).parts)
        is_inside = self.path.parts[-count:] == PurePosixPath(self.display).parts
        return self.path.parents[count - 1] if is_inside else self.path.parent


@attrs.frozen(kw_only=True)
class DefaultLink:
    """`capabilities/<cap>/default.toml` that names a sibling: a symlink, or git's one-line text in its stead."""

    tap: str
    capability: str
    provider: str
    place: Place


@attrs.frozen(kw_only=True)
class SkillFolder:
    """What lies beside a SKILL.md: paths of resources relative to the skill's folder, in the listed folders only.

    `unlisted` are the other folders that are there, by name: no text tells a model what they hold. `folder` is the
    skill's own, as diagnostics write it; `tap` is empty in the workspace's own folders of skills.
    """

    tap: str
    skill: str
    resources: tuple[str, ...]
    has_validate: bool = False
    unlisted: tuple[str, ...] = ()
    folder: str = ""

    @property
    def validate(self) -> str:
        """The path of its `validate` script, as diagnostics write it."""
        return f"{self.folder}/validate"


@attrs.frozen(kw_only=True)
class DepScript:
    """`deps/<org>/<tool>.sh` of a tap; `name` is `org/tool`. It is read as text, and never run by the compiler."""

    tap: str
    name: str
    path: Path
    display: str


@attrs.frozen(kw_only=True)
class TreeFile:
    """A file or link below `deps/`, at `path` in it. `link` is where a link leads, relative to its own folder."""

    path: str
    source: Path
    display: str
    is_executable: bool = False
    link: str = ""


@attrs.frozen(kw_only=True)
class DepTree:
    """All of a tap's `deps/`, sorted by path: what its scripts may source or start."""

    tap: str
    files: tuple[TreeFile, ...] = ()


@attrs.frozen(kw_only=True)
class Attachment:
    """A file that no stage parses and that is an input all the same: a model may read it, or have it executed."""

    path: Path
    display: str
    is_executable: bool = False


@attrs.frozen(kw_only=True)
class Program:
    """A file of the workspace or a tap that a server runs. `digest` is its sha256, empty when `problem` says why."""

    display: str
    digest: str = ""
    problem: str = ""


@attrs.frozen(kw_only=True)
class Discovered:
    """All files of one build, sorted by precedence and then by POSIX path."""

    root: Path
    settings: WorkspaceSettings
    taps: tuple[Tap, ...] = ()
    files: tuple[FoundFile, ...] = ()
    default_links: tuple[DefaultLink, ...] = ()
    skill_folders: tuple[SkillFolder, ...] = ()
    dep_scripts: tuple[DepScript, ...] = ()
    dep_trees: tuple[DepTree, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    is_scanned: bool = False
    """Whether no octoc.toml puts the files in an order: plugins that lie side by side hide nothing of each other."""
    scopes_missed: bool = False
    """Whether a file of scopes is asked for that is not there, or that may not be used."""

    @property
    def dep_names(self) -> frozenset[tuple[str, str]]:
        """(tap, `org/tool`) of every script."""
        return frozenset((script.tap, script.name) for script in self.dep_scripts)


@attrs.frozen(kw_only=True)
class Comment:
    """A comment of a TOML file as written, from its `#` to the end of the line."""

    text: str
    span: Span


@attrs.frozen(kw_only=True)
class Document:
    """A file that could be read. `values` is the tree of plain values (front matter for markdown).

    `headers` are the `# Key: value` lines of a TOML file's leading comments, by key as written.
    `comments` are those leading comments, and every other comment that holds `{{`, which Octomind would resolve.
    `body` is the text after the front matter, and `body_line` the line where it begins. `digest` is sha256 of the
    file's bytes, in hex. `cut`: check has taken something out of `values`. `converted` says where the values of a
    client's own form stand in its file.
    """

    file: FoundFile
    values: Mapping[str, Any]
    digest: str
    headers: Mapping[str, str] = attrs.field(factory=dict)
    comments: tuple[Comment, ...] = ()
    body: str = ""
    body_line: int = 1
    cut: bool = False
    converted: Converted | None = None

    def place(self, *path: str | int) -> Place:
        """Return the place of the value at `path` in this file."""
        return Place(file=self.file.display, path=path)


@attrs.frozen(kw_only=True)
class Documents:
    """Product of read, every file that has values, and of check, which reports and cuts what is unsound.

    `digests` has every file that was opened, also the broken ones. A key that check cut is gone, and an element of a
    list that it cut is REMOVED (read lists with `kept`).
    """

    documents: tuple[Document, ...]
    digests: Mapping[str, str]
    scripts: Mapping[tuple[str, str], str] = attrs.field(factory=dict, repr=False)
    """(tap, `org/tool`) -> text of each dependency script."""
    dep_files: Mapping[str, bytes] = attrs.field(factory=dict, repr=False)
    """Display path -> bytes of each file below `deps/`, where the workspace has scripts run."""


class Removed(enum.Enum):
    """What check puts in the place of an unsound element of a list, so that the others keep their index."""

    REMOVED = enum.auto()


REMOVED: Final = Removed.REMOVED


def kept(elements: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the index and value of each element of a checked list that was not removed."""
    return ((index, value) for index, value in enumerate(elements) if value is not REMOVED)
