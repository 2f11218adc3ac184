"""Runs commands in a terminal of their own, and keeps what they write."""

from __future__ import annotations

import os
import re
import shlex
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from docs_site.page import ROOT as CHECKOUT

COLUMNS, ROWS = 96, 50
# What differs between two runs -> what stands for it, of the same width where a table has it.
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"), "YYYY-MM-DDThh:mm:ss"),
    (re.compile(r'(?<="day_of_week": ")\w+'), "…"),
    (re.compile(r"(?<= )\d+\.\d\d(?=\s*$)", re.MULTILINE), "s.ss"),
)


def run(line: str, folder: Path, env: Mapping[str, str]) -> str:
    """Run a command line without a shell in a pseudo-terminal, and return what it writes with its colours."""
    import fcntl
    import termios

    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        _words(line), cwd=folder, env=dict(env), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    ) as running:
        os.close(slave)
        written = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux reports the end of the other side as an error
                break
            if not part:
                break
            written += part
    os.close(master)
    if running.returncode not in (0, 1):
        raise RuntimeError(f"`{line}` ended with {running.returncode}: {written.decode(errors='replace')}")
    return written.decode().replace("\r\n", "\n")


def _words(line: str) -> list[str]:
    """Return the words of a command; `octoc` runs from the checkout, by the interpreter that PATH has first."""
    first, *others = shlex.split(line)
    return ["python", "-m", "octoc", *others] if first == "octoc" else [first, *others]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a recorded command: the programs of this one, by a path that every machine has."""
    (home / ".venv").symlink_to(sys.prefix)
    return {
        "PATH": os.pathsep.join([str(home / ".venv" / "bin"), os.defpath]),
        "PYTHONPATH": str(CHECKOUT),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "CI": "1",  # without the progress line, which is erased anyway
    }


def normalised(text: str) -> str:
    """Return the text without what differs between two runs: times and dates."""
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text
