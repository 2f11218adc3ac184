"""One file by itself: its kind is given, or known from its path, then from its content."""

from __future__ import annotations

from pathlib import Path

from octoc.compiler.checkup.kinds import Known, kind_from_content, kinds_from_path, known_as
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.context import Context
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.model.documents import Discovered, FoundFile, Tap
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.policy.names import report_names
from octoc.compiler.read.stage import limit_of
from octoc.compiler.read.text import load_text
from octoc.compiler.read.toml import read_toml
from octoc.compiler.structure.settings import name_of_folder, settings_from
from octoc.compiler.workspace.paths import display_path
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.read import UNKNOWN_FILE_KIND
from octoc.plugin.file_kinds import NO_DIALECT
from octoc.plugin.manager import load_plugins
from octoc.plugin.rules import rule_finder


def discover_one_file(target: CheckTarget, settings: WorkspaceSettings, context: Context) -> tuple[Discovered, ...]:
    """Return the one file of `target`; report and return nothing when it is of no known kind."""
    path = target.file
    assert path is not None  # noqa: S101  # the caller has looked
    display = display_path(target.root, path)
    instead = context.overlay.get(display)
    kinds = context.file_kinds
    if target.kind is None:
        found = kinds_from_path(path, kinds) or _by_content(path, display, settings, instead, context)
        message = f"neither path nor content of `{display}` says what it is"
        advice = f"name its kind: --kind {', '.join(kinds.named)}"
    else:
        found = _as_named(target.kind, path, kinds)
        message = f"kind `{target.kind}` is a plugin's, and the workspace does not use the plugin"
        advice = "name the plugin in `[plugins] use` of octoc.toml"
    if not found:
        context.sink.report(UNKNOWN_FILE_KIND, message, at=Place(file=display), help=advice)
        return ()
    if found[0].kind.role == "workspace":
        _check_settings(path, display, settings, context, instead)
        return ()
    return tuple(_alone(path, display, known, settings, target.root) for known in found)


def _alone(path: Path, display: str, known: Known, settings: WorkspaceSettings, root: Path) -> Discovered:
    # A file of a tap is read as one of a tap that has nothing else.
    tap = path.parent.parent.name or "tap" if known.kind.is_in_tap else None
    place = Place(file=display)
    taps = () if tap is None else (Tap(name=tap, root=path.parent, display=display, precedence=0, place=place),)
    file = FoundFile(path=path, display=display, kind=known.kind, tap=tap, key=known.key, dialect=known.dialect)
    return Discovered(root=root, settings=settings, taps=taps, files=(file,))


def _as_named(name: str, path: Path, kinds: FileKinds) -> list[Known]:
    form = kinds.named.get(name)
    if form is None:
        return []
    return [known_as(path, form.kind, kinds, None if form.dialect is NO_DIALECT else form.dialect)]


def _by_content(
    path: Path, display: str, settings: WorkspaceSettings, instead: bytes | None, context: Context
) -> list[Known]:
    unheard = DiagnosticSink()
    source = load_text(path, display, limit_of(None, settings.limits), unheard, instead=instead)
    if source is None or source.text is None:
        return []
    known = kind_from_content(path, source.text, context.file_kinds)
    return [] if known is None else [known]


def _check_settings(
    path: Path, display: str, settings: WorkspaceSettings, context: Context, instead: bytes | None
) -> None:
    limit = limit_of(None, settings.limits)
    source = load_text(path, display, limit, context.sink, instead=instead)
    place = Place(file=display)
    values = None if source is None or source.text is None else read_toml(source.text, place, context.sink)
    if values is not None:
        own = settings_from(values, place, name_of_folder(path.parent), context.sink)
        report_names(own, rule_finder(load_plugins(own.plugins)), context.sink)
