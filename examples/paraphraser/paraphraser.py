"""Example of a plugin for `octoc expand`: your own program writes more messages for a capability.

`PARAPHRASER` is its command line, such as `llm -m your-model`. It reads a prompt on stdin and answers with one message
per line.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence

from octoc.plugin import PluginError, hookimpl

PROMPT = """\
An assistant has a capability called {capability}: {title}. {description}
People who want it say things like:
{triggers}

Write twenty more messages of people who want it, one per line, in the words of people who do not know its name: short
and long ones, careless and polite ones, with details of their situation. Write only the messages.
"""

_BULLET = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+")
_TIME_LIMIT_S = 300


@hookimpl
def octoc_expand_triggers(capability: str, title: str, description: str, triggers: Sequence[str]) -> Iterator[str]:
    """Yield the program's messages, one per line, without numbers and quotes."""
    command = shlex.split(os.environ.get("PARAPHRASER", ""))
    if not command:
        raise PluginError("the variable `PARAPHRASER` is not set: expected a command line, such as `llm -m your-model`")
    listed = "\n".join(f"- {trigger}" for trigger in triggers)
    prompt = PROMPT.format(capability=capability, title=title, description=description, triggers=listed)
    try:
        done = subprocess.run(command, input=prompt, capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise PluginError(f"`{command[0]}` did not answer: {type(error).__name__}") from error
    for line in done.stdout.splitlines():
        message = _BULLET.sub("", line).strip().strip('"')
        if message:
            yield message
