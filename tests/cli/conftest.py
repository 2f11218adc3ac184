"""Runs commands: in this process, or in one of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from octoc.cli import main

CHECKOUT = Path(__file__).resolve().parents[2]


@attrs.frozen(kw_only=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def octoc(capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs one command in this process."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        return Done(status=status, out=out, err=err)

    return run


@pytest.fixture
def octoc_process() -> Run:
    """A function that runs one command in a process of its own; `env` is added to the environment."""

    def run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "octoc", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})},
        )
        return Done(status=done.returncode, out=done.stdout, err=done.stderr)

    return run
