"""A rule over the files that the text of a skill names: scripts, references and other resources beside it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document, SkillFolder
from octoc.diagnostics.model import DiagnosticSink, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.suggest import near_miss
from octoc.plugin.lint import lint_check

# A link, or a path after a blank, a quote or a variable with the skill's folder.
_PATH = re.compile(
    r"(?:\]\(|[\s`\"']|\}/)(?:\./)?(?P<path>[A-Za-z0-9_-]+/(?:[\w-]+/)*[\w.-]+\.[A-Za-z0-9]+)(?=[)\s`\"'#])"
)


@lint_check(NAMED_FILE_MISSING)
def check_skill_files(build: Build, sink: DiagnosticSink) -> None:
    """Report the paths in a skill's text that are a slip of a file beside it.

    Any other path may be an example, a file of the project, or one that the skill makes.
    """
    texts = {document.file.display: document for document in build.checked.documents}
    for skill in build.resolved.skills:
        folder, document = skill.source.folder, texts.get(skill.source.place.file)
        if folder is None or document is None:
            continue
        for path, line, column in _named(document, folder):
            inside = posixpath.dirname(path)
            names = {posixpath.basename(one) for one in folder.resources if posixpath.dirname(one) == inside}
            near = near_miss(posixpath.basename(path), names)
            if near is None:
                continue
            span = Span(
                file=document.file.display, line=line, column=column, end_line=line, end_column=column + len(path)
            )
            sink.report(
                NAMED_FILE_MISSING,
                f"the text of skill `{skill.source.name}` names `{path}`, which is not there",
                at=span,
                help=f"did you mean `{inside}/{near}`?",
                severity=Severity.WARNING,
                subject=f"{document.file.display}:{path}",
            )


def _named(document: Document, folder: SkillFolder) -> Iterator[tuple[str, int, int]]:
    """Yield each path in the text below a folder of resources that has no such file, with line and column."""
    files, folders = set(folder.resources), {posixpath.dirname(one) for one in folder.resources} - {""}
    for number, line in enumerate(document.body.split("\n") if folders else (), start=document.body_line):
        for match in _PATH.finditer(f"{line} ") if "/" in line else ():
            path = match["path"]
            if posixpath.dirname(path) in folders and path not in files:
                yield path, number, match.start("path") + 1
