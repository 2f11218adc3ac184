"""The `octoc` command. Importing this loads click and nothing else; a command's own parts are loaded when it runs."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import click

from octoc.cli.root import root

__all__ = ["main", "root"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 all well, 1 something at or above `--fail-on`, 2 abnormal end."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if None in {sys.stdin, sys.stdout, sys.stderr}:
        _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a test's stream may have none
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    if "_OCTOC_COMPLETE" in os.environ:
        import octoc.cli.completion  # noqa: F401  # it registers the completion for bash
    try:
        status = root.main(args=words, prog_name="octoc", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        _forget_stdout()
        return 2
    except SystemExit as left:  # click leaves by this on a closed pipe, and after shell completion
        return 2 if left.code else 0
    except Exception as error:  # noqa: BLE001  # the one place where a bug becomes a message instead of a traceback
        if isinstance(error, OSError) and error.errno in _FULL:
            _forget_stdout()
            click.echo(f"error: the output could not be written: {error.strerror}", err=True)
            return 2
        from octoc.cli.failures import report_failure

        return report_failure(error, words)
    return status if isinstance(status, int) else 0


def _open_standard_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that this process was started without.

    Otherwise the next file that is opened would get the number of one of them, and be read or written instead.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is the stream's own
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # it stays open


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own last flush does not fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
