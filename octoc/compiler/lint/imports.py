"""A rule over the imports of instructions: a client leaves out a file that is not there, and says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from octoc.compiler.inputs.claude.paths import elsewhere, is_left_out
from octoc.compiler.inputs.instructions import importer_of, missing_imports
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.compiler.read.imports import Import
from octoc.diagnostics.model import DiagnosticSink, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.plugin.lint import lint_check


@lint_check(NAMED_FILE_MISSING)
def check_imports(build: Build, sink: DiagnosticSink) -> None:
    """Report once for each file of instructions the imports of files that the project does not have."""
    for document in build.checked.documents:
        if document.file.kind.is_prose:
            _check(document, build.discovered.root, sink)


def _check(document: Document, root: Path, sink: DiagnosticSink) -> None:
    file, text = document.file, document.values["text"]
    client = importer_of(file.display)
    folder = file.path.resolve().parent
    missing = [
        one
        for one in (missing_imports(file.path, text) if client else ())
        if not is_left_out(Path(folder, one.path), root)
    ]
    if not missing:
        return
    first, paths = missing[0], {one.path for one in missing}
    more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
    line, column = text.count("\n", 0, first.start) + 1, first.start - text.rfind("\n", 0, first.start)
    sink.report(
        NAMED_FILE_MISSING,
        f"`{file.path.name}` imports `@{first.path}`, which is not there{more}: {client} leaves it out",
        at=Span(file=file.display, line=line, column=column, end_line=line, end_column=column + 1 + len(first.path)),
        help=_advice(first.path, folder, root),
        severity=Severity.INFO if _is_source(file.path, missing) else Severity.WARNING,
        subject=file.display,
    )


def _advice(path: str, folder: Path, root: Path) -> str:
    above = [one for one in folder.parents if (one == root or root in one.parents) and (one / path).is_file()]
    if above:
        up = "../" * (len(folder.parts) - len(above[0].parts))
        return f"write `@{up}{path}`: a path counts from the folder of the file that names it"
    return elsewhere(root, path) or "correct the path, or put it in backticks if it imports nothing"


def _is_source(file: Path, missing: Sequence[Import]) -> bool:
    """Tell whether the folder above has a file of the same name and all that is missing: a program copies it there."""
    folder = file.parent
    above = folder.parent
    is_copied = not folder.name.startswith(".") and (above / file.name).is_file()
    return is_copied and all((above / one.path).is_file() for one in missing)
