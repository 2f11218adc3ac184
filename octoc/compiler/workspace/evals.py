"""The trigger evals of a workspace or of a bare folder of skills, and the skills that they are about."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.cache.store import Cache, workspace_cache
from octoc.compiler.check.stage import sound_documents
from octoc.compiler.context import Context
from octoc.compiler.inputs.skill import SKILL, SKILL_FILE, SKILL_FOLDERS
from octoc.compiler.model.documents import Discovered, FoundFile
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import SkillSource
from octoc.compiler.read.evals import EvalRow, eval_rows
from octoc.compiler.read.stage import read_files
from octoc.compiler.structure.stage import sources_of
from octoc.compiler.workspace.load import load_workspace
from octoc.compiler.workspace.paths import WORKSPACE_FILE, display_path
from octoc.diagnostics.model import Diagnostic, Place
from octoc.diagnostics.rules.evals import EVAL_UNUSABLE, EVALS_UNREADABLE, SKILL_TRIGGERS_WORSE
from octoc.diagnostics.suggest import did_you_mean
from octoc.json_limits import parse
from octoc.plugin import Embedder, PluginError
from octoc.plugin.folders import located
from octoc.routing.fixtures import RoutingFixture

if TYPE_CHECKING:
    from octoc.search.index import Index

_FOLDER = "evals"
_NAMES = ("*trigger*eval*.json", "*trigger*case*.json", "eval_set.json", "eval_queries.json")
_SKIPPED = frozenset({"node_modules", "site-packages", "venv", "target", "dist"})
_HIDDEN = frozenset(PurePosixPath(folder).parts[0] for folder in SKILL_FOLDERS)
_MOST_FILES = 20_000


@attrs.frozen(kw_only=True)
class SkillEvals:
    """Skills and their evals. `context` has what was reported.

    Args:
        skills: each name once, the first file of a name counts.
        fixtures: the evals; `agent` is the skill whose use is asked for, "" for the choice between all of them.
        tasks: the number of entries without an expectation.
        files: the files with evals, as they are displayed.
    """

    skills: tuple[SkillSource, ...]
    fixtures: tuple[RoutingFixture, ...]
    tasks: int
    files: tuple[str, ...]
    settings: WorkspaceSettings
    context: Context

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found in the evals, without findings in the workspace's other files."""
        mine = (EVALS_UNREADABLE, EVAL_UNUSABLE, SKILL_TRIGGERS_WORSE)
        return tuple(found for found in self.context.sink.diagnostics if found.rule in mine)


def load_evals(root: Path, files: Sequence[Path] = ()) -> SkillEvals:
    """Read the skills below `root` and in its taps, and the evals beside them, or `files` alone.

    Reports files and entries that are unusable. `root` is absolute; it needs no octoc.toml.
    """
    loaded = load_workspace(root, cache=Cache(workspace_cache(root)))
    settings = loaded.settings or WorkspaceSettings(name=root.name, place=Place(file=WORKSPACE_FILE))
    roots = [root, *((root / tap.path).resolve() for tap in settings.taps)]
    paths = list(dict.fromkeys(path for one in roots for path in _walk(one)))
    found = tuple(
        FoundFile(path=path, display=display_path(root, path), kind=SKILL, key={"skill": path.parent.name})
        for path in paths
        if path.name == SKILL_FILE
    )
    quiet = attrs.evolve(loaded.context, sink=type(loaded.context.sink)())  # `octoc check` reports skills
    discovered = Discovered(root=root, settings=settings, files=found)
    documents = sound_documents(read_files(discovered, quiet), quiet.sink)
    skills: dict[str, SkillSource] = {}
    for skill in sources_of(documents, discovered).skills:
        skills.setdefault(skill.name, skill)
    folders = {file.path.parent: file.display for file in found}
    by_file = {skill.place.file: skill.name for skill in skills.values()}
    owners = {folder: by_file[display] for folder, display in folders.items() if display in by_file}
    rows: list[EvalRow] = []
    tasks, read = 0, []
    for path in [file.absolute() for file in files] or [path for path in paths if _is_evals(path)]:
        display = display_path(root, path)
        part = _read(path, display, settings.limits.max_file_bytes, loaded.context)
        if part is None:
            continue
        values = eval_rows(part[0], Place(file=display), loaded.context.sink)
        owner = _owner(path, owners, skills)
        rows += [attrs.evolve(row, skill=row.skill or owner) for row in values.rows]
        tasks += values.tasks
        read += [display] if values.rows else []
    fixtures = tuple(_fixtures(rows, skills, loaded.context))
    return SkillEvals(
        skills=tuple(skills.values()),
        fixtures=fixtures,
        tasks=tasks,
        files=tuple(read),
        settings=settings,
        context=loaded.context,
    )


def has_skills(folder: Path) -> bool:
    """Return whether a SKILL.md lies in a folder or below it."""
    return any(path.name == SKILL_FILE for path in _walk(folder))


def skill_index(evals: SkillEvals) -> tuple[Index | None, Embedder | None, str]:
    """Return an index of the skills without rules, the encoder that made it, and why it has none or "".

    The index is None if each skill has rules.
    """
    from octoc.compiler.embed.vectors import SEARCH, vectors_of
    from octoc.compiler.index.dense import dense_arrays, texts_of
    from octoc.search.fields import ToolText
    from octoc.search.index import Index, lexical_arrays

    # Each skill has the same "server", which then distinguishes none.
    tools = [
        ToolText(server="skill", name=one.name, description=one.description) for one in evals.skills if not one.rules
    ]
    if not tools:
        return None, None, ""
    import numpy as np

    servers = {"servers": np.zeros(len(tools), np.uint8)}
    settings, context = evals.settings.routing, evals.context
    try:
        embedder = context.plugins.make_embedder(settings.encoder, located(settings.encoder_settings, context.root))
        if embedder is not None:
            texts = texts_of(tools, ["skill"])
            vectors = vectors_of(texts, embedder, context.cache, lambda *_: None, use=SEARCH)
            return Index.of({**dense_arrays(tools, ["skill"], vectors), **servers}), embedder, ""
        problem = f"no plugin has the encoder `{settings.encoder}`"
    except PluginError as error:
        problem = str(error)
    return Index.of({**lexical_arrays(tools), **servers}), None, problem


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted; hidden folders without skills are skipped, links not followed."""
    left = _MOST_FILES
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name in _HIDDEN or not (name.startswith(".") or name in _SKIPPED))
        left -= len(names)
        if left < 0:
            return
        for name in sorted(names):
            if name == SKILL_FILE or name.endswith(".json"):
                yield Path(folder) / name


def _is_evals(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    return path.parent.name == _FOLDER or any(fnmatch.fnmatch(path.name, name) for name in _NAMES)


def _read(path: Path, display: str, limit: int, context: Context) -> tuple[object] | None:
    """Return the value of a JSON file in a tuple; None for a file that was reported."""
    try:
        data = path.read_bytes()
        if len(data) > limit:
            raise ValueError(f"it has {len(data):,} bytes, more than {limit:,}")
        return (parse(data.removeprefix(b"\xef\xbb\xbf")),)
    except (OSError, ValueError, RecursionError) as error:
        context.sink.report(
            EVALS_UNREADABLE,
            f"the evals cannot be read: {error}",
            at=Place(file=display),
            help='write JSON, such as `[{"query": "what a user says", "should_trigger": true}]`',
        )
        return None


def _owner(path: Path, owners: dict[Path, str], skills: dict[str, SkillSource]) -> str:
    """Return the skill around a file, the one that the file is named after, or the only one; else ""."""
    inner = next((owners[folder] for folder in path.parents if folder in owners), "")
    if inner or path.stem in skills:
        return inner or path.stem
    return next(iter(skills)) if len(skills) == 1 else ""


def _fixtures(rows: Sequence[EvalRow], skills: dict[str, SkillSource], context: Context) -> Iterator[RoutingFixture]:
    taken: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in rows:
        skill = row.skill if isinstance(row.expect, bool) else ""
        named = skill if isinstance(row.expect, bool) else row.expect
        if named is not None and named not in skills:
            what = f"skill `{named}` does not exist here" if named else "it is not clear of which skill this eval is"
            hint = did_you_mean(named, skills) if named else None
            context.sink.report(
                EVAL_UNUSABLE, what, at=row.place, help=hint or 'name it: `"skill_name": "…"` beside the list'
            )
            continue
        expect = (named,) if named is not None and row.expect is not False else ()
        before = taken.get((row.query, skill))
        if before is None:
            taken[row.query, skill] = expect
            yield RoutingFixture(text=row.query, expect=expect, agent=skill, note=skill, place=row.place)
        elif before != expect:
            context.sink.report(
                EVAL_UNUSABLE,
                f"this query has another expectation before: `{', '.join(before) or 'none'}`",
                at=row.place,
                help="remove one of the two",
            )
