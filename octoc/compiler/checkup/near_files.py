"""Files that look like those of a client and lie where no client reads them: shown where a check finds nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import attrs

from octoc.compiler.checkup.kinds import SYNTAX_OF
from octoc.compiler.checkup.scan import head_of, walk_folders
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.read.fences import opens
from octoc.compiler.workspace.paths import display_path
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin.file_kinds import Dialect

MAX_FILES = 8
_MAX_READ = 2_000
"""Maximum number of files whose beginning is read."""
_OF_TOOLS = frozenset(
    {".cache", ".git", ".mypy_cache", ".next", ".nox", ".pytest_cache", ".ruff_cache", ".tox", ".venv", ".yarn"}
)
_ENDINGS = (".example", ".sample", ".template", ".dist", ".bak", ".disabled")


@attrs.frozen(kw_only=True)
class NearFile:
    """A file, as a path from the folder that was searched, and its kind as `--kind` takes it."""

    path: str
    kind: str


def near_files(folder: Path, kinds: FileKinds) -> Sequence[NearFile]:
    """Return the first files in and below `folder`, absolute, that have servers or are agents; sorted by folder."""
    forms = _forms(kinds)
    return tuple(islice((one for path in _candidates(folder, kinds) for one in _near(folder, path, forms)), MAX_FILES))


def _candidates(folder: Path, kinds: FileKinds) -> Iterator[Path]:
    # Programs that write the files of clients keep theirs in a hidden folder of their own.
    hidden = frozenset(path.name for path in folder.glob(".*/")) - _OF_TOOLS
    walked = walk_folders(folder, folder, DiagnosticSink(), kinds.hidden_folders | hidden)
    paths = (here / name for here, names in walked for name in names if _suffix(Path(name)) in SYNTAX_OF)
    yield from islice(paths, _MAX_READ)


def _suffix(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in _ENDINGS else path.suffix


def _forms(kinds: FileKinds) -> dict[str, list[Dialect]]:
    """Return the dialects that can say what a file is by its content alone, by syntax; the most likely first."""
    servers = {kind.name: kind for kind in kinds.kinds if kind.role == "servers"}
    of_syntax: dict[str, list[Dialect]] = {}
    for dialect in sorted(kinds.dialects, key=lambda one: (not one.needs_content, one.rank)):
        tells = dialect.needs_content or (dialect.syntax and "mcp" in dialect.server_list.rpartition("/")[2])
        if dialect.kind in servers and tells:
            of_syntax.setdefault(dialect.syntax or servers[dialect.kind].syntax, []).append(dialect)
    return of_syntax


def _near(folder: Path, path: Path, forms: dict[str, list[Dialect]]) -> Iterator[NearFile]:
    syntax, text = SYNTAX_OF[_suffix(path)], head_of(path)
    name = display_path(folder, path)
    if syntax == "markdown":
        if path.parent.name in ("agents", "agent") and opens(text):
            yield NearFile(path=name, kind="agent-md")
        return
    for dialect in forms.get(syntax, ()):
        # `servers` alone is a key of many programs.
        is_likely = f'"{dialect.server_list}"' in text or "mcp" in path.name or not dialect.needs_content
        if is_likely and dialect.has_servers(text):
            yield NearFile(path=name, kind=f"{dialect.kind}:{dialect.name}")
            return
