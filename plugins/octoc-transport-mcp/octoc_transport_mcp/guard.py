"""Ends a server's process group when its host dies without a chance to, as by `kill -9`.

A well-behaved server ends when its stdin ends, which the system closes with the host. For the others a shell waits, in
a session of its own, for the end of a pipe that only the host holds. `PR_SET_PDEATHSIG` is not used: it exists on Linux
alone, is sent when the thread ends that started the server rather than the process, and reaches neither the server's
children nor a server with other rights than its host.
"""

from __future__ import annotations

import logging
import os
import subprocess
from typing import Self

logger = logging.getLogger(__name__)

_SHELL = "/bin/sh"
_GRACE_S = 2
"""How long a group may take to end after SIGTERM."""
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
        """Guard a process group; None, with a line in the log, where no shell can be started."""
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
        # Before its stdin ends, which it would take for the end of this process.
        self._shell.kill()
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()
