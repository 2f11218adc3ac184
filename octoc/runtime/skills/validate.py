"""`validate` scripts of used skills: off unless octoc.toml says `run`, and run only when the host asks."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import SkillEntry
from octoc.runtime.activation.scripts import clean_environment, run_script
from octoc.runtime.script_limits import lesser
from octoc.runtime.skills.available import skills_in_use
from octoc.secrets import redact

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState

logger = logging.getLogger("octoc.runtime")

RUN = "run"
_FIRST_ARGUMENT = "assistant"
"""Source: Octomind, skills' validators."""


@attrs.frozen(kw_only=True)
class ReplyRefusal:
    """A reply that a skill's script refuses: the script's output, and `text` for the model."""

    skill: str
    output: str

    @property
    def text(self) -> str:
        message = f"Validation failed: {self.output}\nPlease fix the issue."
        return f'<validation skill="{self.skill}">\n{message}\n</validation>'


async def validate(session: SessionState, reply: str) -> tuple[ReplyRefusal, ...]:
    """Run the scripts of the skills in use on an agent's reply; none runs unless workspace and host allow it.

    A script refuses the reply by an exit status other than 0 and some output. A script that has refused as often in a
    row as the workspace allows, that does not end in time or that does not start has no effect, and octoc logs it.
    Raises: BundleFileError.
    """
    settings = session.loaded.bundle.settings.skills
    if lesser(settings.validate, session.runtime.validate_limit) != RUN:
        return ()
    refused = session.skills.refusals
    entries = [session.loaded.skills[name] for name in skills_in_use(session)]
    asked = [
        entry
        for entry in entries
        if entry.validate_digest and not (settings.max_retries and refused.get(entry.name, 0) >= settings.max_retries)
    ]
    outcomes = await asyncio.gather(*(_judged(session, entry, reply) for entry in asked))
    refusals: list[ReplyRefusal] = []
    for entry, output in zip(asked, outcomes, strict=True):
        if output == "":
            refused.pop(entry.name, None)
        elif output is not None:
            refused[entry.name] = refused.get(entry.name, 0) + 1
            refusals.append(ReplyRefusal(skill=entry.name, output=output))
    return tuple(refusals)


async def _judged(session: SessionState, entry: SkillEntry, reply: str) -> str | None:
    """Return the output with which a script refuses a reply: empty if it accepts it, None without a verdict."""
    deps = session.runtime.deps
    script = session.loaded.opened.text(entry.validate)
    if sha256_hex(script.encode("utf-8")) != entry.validate_digest:
        logger.error("the validate script of skill `%s` is not what was built, and was not run", entry.name)
        return None
    limit = session.loaded.bundle.settings.skills.validate_timeout_s
    output = bytearray()
    try:
        async with asyncio.timeout(limit):
            status = await run_script(
                script,
                clean_environment(deps.environ),
                output,
                arguments=(_FIRST_ARGUMENT,),
                given=reply,
                cwd=session.caller.workdir,
                by_first_line=True,
            )
    except TimeoutError:
        logger.warning("the validate script of skill `%s` did not end within %g s", entry.name, limit)
        return None
    except OSError as error:
        why = error.strerror or "the system refused it"
        logger.warning("the validate script of skill `%s` did not start: %s", entry.name, why)
        return None
    if status == 0:
        return ""
    return redact(bytes(output).decode("utf-8", "replace"), deps.secrets(session.loaded.bundle)).strip() or None
