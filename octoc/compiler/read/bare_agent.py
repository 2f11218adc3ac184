"""Markdown without front matter in a client's folder of agents: a broken agent, or prose for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.claude.plugin import is_agent_of_plugin
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.read.fences import FENCE, late_start
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.read import NO_FRONT_MATTER, NOT_AN_AGENT

_PROMPT = re.compile(
    r"\A(?:name|description):|\b(?:you are|your (?:role|job|task|mission|goal)|act as)\b", re.IGNORECASE
)
_LOOKED_AT = 1500
# The title of an agent; other titles are of what people write for each other.
_TITLE = re.compile(
    r"\A# (?!.*\b(?:catalog|changelog|checklists?|conventions?|documentation|directory|framework|glossary|guides?"
    r"|guidelines|index|list|migration|notes|overview|patterns|policy|policies|principles|protocols?|reference|rules"
    r"|shared|standards?|structure|summary|templates?|usage|workflows?)\b)\S",
    re.IGNORECASE,
)


def read_bare_agent(file: FoundFile, text: str, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    """Report Markdown without front matter by what its client does with it; it has no values.

    A text that speaks to a model, or that has keys without `---` around them, is an agent that lost its front matter,
    and so is one with the title of an agent where most files of the folder are agents.
    """
    dialect, place = file.dialect, Place(file=file.display)
    is_prompt = _PROMPT.search(text[:_LOOKED_AT]) is not None
    if not dialect.home:
        sink.report(NOT_AN_AGENT, f"`{file.display}` has no front matter, so it defines no agent", at=place)
        return None
    bare = dialect.bare if isinstance(dialect, AgentDialect) else "refused"
    if file.path.name.startswith("_"):
        return None  # a template or notes of the folder's author
    if bare == "prose" or (isinstance(dialect, AgentDialect) and dialect.skips(file.path)):
        return None
    # A project that is a plugin, too, has agents of the project in its hidden folder.
    is_of_plugin = dialect is CLAUDE and CLAUDE.home not in file.path.parts and is_agent_of_plugin(file.path)
    if is_of_plugin:
        # Seen at second hand (notes of a repository on the plugins reference, 2026): the file's name and a general text
        # stand in for `name` and `description`.
        message = f"the agent has no front matter: {dialect.client} does not know what it is for"
        advice = "start the file with front matter that has `name` and `description`, between two lines `---`"
    elif bare == "agent":
        message = f"the agent has no front matter: {dialect.client} does not know what it is for"
        advice = "start the file with front matter that has a `description`"
    else:
        refuses = "refuses the file" if isinstance(dialect, AgentDialect) else "takes it for documentation"
        message = f"the file has no front matter: {dialect.client} {refuses}"
        advice = "start the file with front matter that has `name` and `description`, between two lines `---`"
    # Where most files of the folder have none, a command or another program reads them by path.
    is_titled = _TITLE.match(text) is not None and not file.path.stem.isupper()
    others = [_has_front_matter(path) for path in file.path.parent.glob("*.md")] if is_prompt or is_titled else []
    is_slip = (is_prompt and sum(others) * 2 >= len(others)) or (is_titled and sum(others) > len(others) / 2)
    # A plugin's folder has agents alone: one file by itself is one that lost its front matter.
    is_slip = is_slip or (is_of_plugin and len(others) == 1)
    late = late_start(text)
    if late is not None:
        message = (
            f"the front matter begins in line {late.line}, after a {late.above}: {dialect.client} looks in line 1 alone"
        )
        advice, is_slip = late.advice, True
    is_error = is_prompt and isinstance(dialect, AgentDialect) and bare == "refused"
    sink.report(
        NO_FRONT_MATTER,
        message,
        at=place,
        help=advice,
        severity=Severity.ERROR if is_error else Severity.WARNING if is_slip else Severity.INFO,
        subject=f"bare {dialect.name}",
    )
    return None


def _has_front_matter(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(FENCE)) == FENCE.encode()
    except OSError:
        return False
