"""A rule over the files that the text of a skill names: scripts, references and other resources beside it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from octoc.compiler.discover.tap import RESOURCE_FOLDERS
from octoc.compiler.inputs.claude.paths import elsewhere, is_left_out, is_missing
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document, SkillFolder
from octoc.compiler.read.imports import without_code
from octoc.diagnostics.model import DiagnosticSink, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.suggest import near_miss
from octoc.plugin.lint import lint_check

# A link, or a path after a blank, a quote or a variable with the skill's folder.
_PATH = re.compile(
    r"(?:\]\(|[\s`\"']|\}/)(?:\./)?(?P<path>[A-Za-z0-9_-]+/(?:[\w-]+/)*[\w.-]+\.[A-Za-z0-9]+)(?=[)\s`\"'#])"
)

_LINK = re.compile(r"\]\((?P<path>[\w./-]+\.[A-Za-z0-9]{1,6})(?:#[^)\s]*)?\)")
_NOT_BELOW = re.compile(r"/|(?:\./)?(?:[^/.][^/]*/)*\.(?!/)|[^/]*\.(?:com|dev|io|net|org)/")
"""A path that leaves the folder, one with a hidden folder, or the address of a site."""


@lint_check(NAMED_FILE_MISSING)
def check_skill_files(build: Build, sink: DiagnosticSink) -> None:
    """Report the paths in a skill's text that are a slip of a file beside it.

    Any other path may be an example, a file of the project, or one that the skill makes.
    """
    texts = {document.file.display: document for document in build.checked.documents}
    for skill in build.sources.skills:  # also those that another of the same name shadows
        folder, document = skill.folder, texts.get(skill.place.file)
        if folder is None or document is None:
            continue
        for path, line, column in _named(document, folder):
            near = _slip(path, folder)
            if near is None:
                continue
            span = Span(
                file=document.file.display, line=line, column=column, end_line=line, end_column=column + len(path)
            )
            sink.report(
                NAMED_FILE_MISSING,
                f"the text of skill `{skill.name}` names `{path}`, which is not there",
                at=span,
                help=f"did you mean `{posixpath.dirname(path)}/{near}`?",
                severity=Severity.WARNING,
                subject=f"{document.file.display}:{path}",
            )


@lint_check(NAMED_FILE_MISSING)
def check_skill_links(build: Build, sink: DiagnosticSink) -> None:
    """Report once for each skill the links of Markdown to files of its folder that are not there.

    A link out of the folder may lead to what is installed beside the skill, and one to a folder of the project into it.
    """
    texts = {document.file.display: document for document in build.checked.documents}
    root = build.discovered.root
    for skill in build.sources.skills:  # also those that another of the same name shadows
        folder, document = skill.folder, texts.get(skill.place.file)
        if folder is None or document is None:
            continue
        missing = [
            one
            for one in _linked(document)
            if _is_lost(one[0], document.file.path.parent, root) and not _slip(one[0].removeprefix("./"), folder)
        ]
        if not missing:
            continue
        (path, line, column), paths = missing[0], {one[0] for one in missing}
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        sink.report(
            NAMED_FILE_MISSING,
            f"the text of skill `{skill.name}` links to `{path}`, which is not there{more}",
            at=Span(file=document.file.display, line=line, column=column, end_line=line, end_column=column + len(path)),
            help=elsewhere(document.file.path.parent, path) or "add the file, or delete the link",
            severity=Severity.WARNING,
            subject=f"link {path}",
        )


def _slip(path: str, folder: SkillFolder) -> str | None:
    """Return the name of the file beside the skill that `path` is a slip of; None if of none."""
    inside = posixpath.dirname(path)
    names = {posixpath.basename(one) for one in folder.resources if posixpath.dirname(one) == inside}
    return near_miss(posixpath.basename(path), names)


def _is_lost(path: str, folder: Path, root: Path) -> bool:
    """Tell whether `path` names a file that is neither in the skill's folder nor, by its form, one of the project."""
    first, *inside = path.removeprefix("./").split("/")
    is_own = not inside or first in RESOURCE_FOLDERS or (folder / first).is_dir() or not (root / first).exists()
    return (
        is_own and is_missing(folder, path) and not (root / path).exists() and not is_left_out(Path(folder, path), root)
    )


def _linked(document: Document) -> Iterator[tuple[str, int, int]]:
    """Yield each relative link outside of code to a file below the skill's folder, with line and column."""
    links = [match for match in _LINK.finditer(document.body) if not _NOT_BELOW.match(match["path"])]
    folder = document.file.path.parent
    if all((folder / match["path"]).exists() for match in links):
        return
    plain = without_code(document.body)
    for match in links:
        is_picture = document.body[: match.start()].rpartition("[")[0].endswith("!")
        if plain[match.start("path")] == match["path"][0] and not is_picture:
            start = match.start("path")
            before = document.body.rfind("\n", 0, start)
            yield match["path"], document.body_line + document.body.count("\n", 0, start), start - before


def _named(document: Document, folder: SkillFolder) -> Iterator[tuple[str, int, int]]:
    """Yield each path in the text below a folder of resources that has no such file, with line and column."""
    files, folders = set(folder.resources), {posixpath.dirname(one) for one in folder.resources} - {""}
    for number, line in enumerate(document.body.split("\n") if folders else (), start=document.body_line):
        for match in _PATH.finditer(f"{line} ") if "/" in line else ():
            path = match["path"]
            if posixpath.dirname(path) in folders and path not in files:
                yield path, number, match.start("path") + 1
