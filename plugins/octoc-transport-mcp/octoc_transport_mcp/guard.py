"""Ends a server's process group if its host is killed and cannot do so, as by `kill -9`.

The system closes a server's stdin with its host, and most servers end then. For the others a shell, in a session of its
own, waits for the end of a pipe that only the host holds. `PR_SET_PDEATHSIG` would not do: it exists on Linux only, it
is sent when the thread that started the server ends, and it reaches neither the server's children nor a server with
other rights than its host.
"""

from __future__ import annotations

import logging
import os
import subprocess
from typing import Self

logger = logging.getLogger(__name__)

_SHELL = "/bin/sh"
_GRACE_S = 2
"""Seconds that a group has to end after SIGTERM."""
_SCRIPT = f"""
read -r _
kill -s TERM -- "-$1" || exit 0
sleep {_GRACE_S}
kill -s KILL -- "-$1"
"""


class Guard:
    """A shell that waits for the end of this process. `release` it when the group has ended."""

    def __init__(self, shell: subprocess.Popen[bytes]) -> None:
        self._shell = shell

    @classmethod
    def of(cls, group: int) -> Self | None:
        """Guard a process group. Return None, and log it, if no shell can be started."""
        try:
            shell = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, "octoc-guard", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except OSError as error:
            logger.info("servers may outlive this process if it is killed: no `%s`: %s", _SHELL, error.strerror)
            return None
        return cls(shell)

    def release(self) -> None:
        """End the shell without ending the group."""
        # Before closing its stdin, which the shell would take for the end of this process.
        self._shell.kill()
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()
