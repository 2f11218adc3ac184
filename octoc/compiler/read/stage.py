"""The read stage: every discovered file becomes values, or diagnostics that say why not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import attrs

from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Discovered, Document, Documents, FoundFile
from octoc.compiler.model.settings import LimitSettings
from octoc.compiler.read.attached import attached_digests, read_trees, report_attached_tokens
from octoc.compiler.read.fences import opens
from octoc.compiler.read.json import Comments, read_json
from octoc.compiler.read.known_tokens import report_known_tokens
from octoc.compiler.read.text import Limit, load_bytes, load_text, snapshot_limit
from octoc.compiler.read.toml import leading_headers, read_toml, toml_comments
from octoc.compiler.workspace.paths import file_at
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.file_kinds import Converted, FileKind, Syntax, load_function

_MOST_KEPT = 65_536
"""Most bytes of a file that is kept between the look for changes and the reading of its values."""


def read(build: Build, context: Context) -> Build:
    """Read every file, and fill `documents` in the order of discovery. Report one that cannot be read."""
    return attrs.evolve(build, documents=read_files(build.discovered, context))


def read_files(discovered: Discovered, context: Context) -> Documents:
    """Return every file that can be read, in the order of discovery; report the others."""
    documents: list[Document] = []
    digests = _link_digests(discovered)
    for file in discovered.files:
        source = load_text(
            file.path,
            file.display,
            limit_of(file.kind, discovered.settings.limits),
            context.sink,
            instead=context.overlay.get(file.display),
        )
        if source is None:
            continue
        digests[file.display] = source.digest
        if source.text is None:
            continue
        _report_tokens(file, source.text, context.sink)
        dialect = context.file_kinds.dialect_of_text(file.kind, file.path, file.dialect, source.text)
        document = parse(attrs.evolve(file, dialect=dialect), source.text, source.digest, context.sink)
        if document is not None:
            documents.append(document)
            if context.spans is not None:
                context.spans.learn(file.display, syntax_of(file), document.converted)
    scripts: dict[tuple[str, str], str] = {}
    for script in discovered.dep_scripts:
        limit = limit_of(None, discovered.settings.limits)
        source = load_text(
            script.path, script.display, limit, context.sink, instead=context.overlay.get(script.display)
        )
        if source is not None:
            digests[script.display] = source.digest
            if source.text is not None:
                scripts[script.tap, script.name] = source.text
                report_known_tokens(script.display, source.text, context.sink)
    for path, display, owner in _validators(discovered):
        limit = limit_of(None, discovered.settings.limits)
        source = load_text(path, display, limit, context.sink, instead=context.overlay.get(display))
        if source is not None:
            digests[display] = source.digest
            if source.text is not None:
                scripts[owner] = source.text
                report_known_tokens(display, source.text, context.sink)
    dep_files = read_trees(discovered, digests, context.sink)
    report_attached_tokens(discovered, digests, context.sink)
    digests |= attached_digests(discovered, digests, context.sink)
    return Documents(
        documents=tuple(documents),
        digests=dict(sorted(digests.items())),
        scripts=scripts,
        dep_files=dep_files,
    )


def _report_tokens(file: FoundFile, text: str, sink: DiagnosticSink) -> None:
    if not file.dialect.holds_secrets:
        report_known_tokens(file.display, text, sink)


def input_digests(discovered: Discovered, contents: dict[str, bytes] | None = None) -> dict[str, str]:
    """Return what `read` would return as its digests, without reading any value: enough to see that nothing changed.

    Args:
        contents: gets the bytes of each file by its display path, so that the stages need not open it again; large
            files are left out.
    """
    unheard = DiagnosticSink()
    digests = _link_digests(discovered)
    limits = discovered.settings.limits
    paths = [(file.path, file.display, limit_of(file.kind, limits)) for file in discovered.files]
    paths += [(script.path, script.display, limit_of(None, limits)) for script in discovered.dep_scripts]
    paths += [(path, display, limit_of(None, limits)) for path, display, _ in _validators(discovered)]
    for path, display, limit in paths:
        data = load_bytes(path, display, limit, unheard)
        if data is not None:
            digests[display] = hashlib.sha256(data).hexdigest()
            if contents is not None and len(data) <= _MOST_KEPT:
                contents.setdefault(display, data)
    digests |= attached_digests(discovered, digests, unheard)
    return dict(sorted(digests.items()))


def _validators(discovered: Discovered) -> list[tuple[Path, str, tuple[str, str]]]:
    """Return the `validate` scripts of skills, with their keys; none where the workspace does not run any."""
    if discovered.settings.skills.validate != "run":
        return []
    return [
        (file_at(discovered.root, folder.validate), folder.validate, (folder.folder, "validate"))
        for folder in discovered.skill_folders
        if folder.has_validate
    ]


def _link_digests(discovered: Discovered) -> dict[str, str]:
    """Return the digest of each linked `default.toml`: sha256 over the name it leads to, however it is stored."""
    return {
        link.place.file: hashlib.sha256(f"{link.provider}.toml".encode()).hexdigest()
        for link in discovered.default_links
    }


def parse(file: FoundFile, text: str, digest: str, sink: DiagnosticSink) -> Document | None:
    """Return the document that `text` makes of `file`; report and return None when it makes none."""
    document = _parsed(file, text, digest, sink)
    if document is None or file.kind.convert is None:
        return document
    converted: Converted = load_function(file.kind.convert)(document.values, file.dialect)
    return attrs.evolve(document, values=converted.values, converted=converted)


def syntax_of(file: FoundFile) -> Syntax:
    """Return what a file is written in."""
    return file.dialect.syntax or file.kind.syntax


def _parsed(file: FoundFile, text: str, digest: str, sink: DiagnosticSink) -> Document | None:
    place = Place(file=file.display)
    kind, syntax = file.kind, syntax_of(file)
    if kind.read is not None:
        values = kind.read(text, place, sink)
        return None if values is None else Document(file=file, values=values, digest=digest)
    if syntax == "markdown":
        if file.dialect.is_settings and not opens(text):
            return Document(file=file, values={}, digest=digest)
        if kind.bare is not None and not opens(text):
            bare = load_function(kind.bare)(file, text, sink)
            return None if bare is None else Document(file=file, values=bare, digest=digest, body=text)
        from octoc.compiler.read.frontmatter import read_front_matter  # loads PyYAML

        found = read_front_matter(text, place, sink)
        if found is None:
            return None
        line = text.count("\n", 0, len(text) - len(found.body)) + 1
        return Document(file=file, values=found.values, digest=digest, body=found.body, body_line=line)
    if syntax == "json":
        comments: Comments = "refused"
        if file.dialect.reads_comments:
            comments = "own" if file.dialect.is_settings or kind.role == "other" else "allowed"
        values = read_json(text, place, sink, comments=comments)
        return None if values is None else Document(file=file, values=values, digest=digest)
    if syntax == "yaml":
        from octoc.compiler.read.yaml_file import read_yaml  # loads PyYAML

        values = read_yaml(text, place, sink, takes_last=file.dialect.takes_doubled_keys)
        return None if values is None else Document(file=file, values=values, digest=digest)
    if syntax == "lines":
        return Document(file=file, values={"lines": _text_lines(text)}, digest=digest)
    values = read_toml(text, place, sink)
    if values is None:
        return None
    if file.dialect.syntax is not None:  # a client's own TOML has no headers
        return Document(file=file, values=values, digest=digest)
    marked = toml_comments(text, file.display)
    return Document(file=file, values=values, digest=digest, headers=leading_headers(text), comments=marked)


def _text_lines(text: str) -> list[str]:
    """Return the lines that say something, each once; one that begins with `#` is a comment."""
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def limit_of(kind: FileKind | None, limits: LimitSettings) -> Limit:
    """Return how large a file of `kind` may be; None is a script of a dependency or a skill."""
    if kind is not None and kind.limit == "max_snapshot_bytes":
        return snapshot_limit(limits)
    return Limit(size=limits.max_file_bytes, key="max_file_bytes")
