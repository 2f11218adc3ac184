"""Markdown with front matter: agents of Octo and Claude Code, and skills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from octoc.compiler.check.markdown import agent_name_from_path
from octoc.compiler.inputs.agents.octo import AGENT_FILE, OCTO
from octoc.compiler.inputs.skill import first_paragraph
from octoc.compiler.model.documents import Document, kept
from octoc.compiler.model.located import MARKDOWN, Located
from octoc.compiler.model.source import AgentSource, ServerSource, SkillSource
from octoc.compiler.structure.converter import structured
from octoc.compiler.structure.servers import server_of_mcp
from octoc.diagnostics.model import Place


def markdown_agent(document: Document) -> AgentSource:
    """Return the agent of an AGENT.md or a Claude Code subagent file; the text after the front matter prompts it."""
    values, place = document.values, document.place()
    path = PurePosixPath(document.file.display)
    inline, refs = _servers(values, place)
    return structured(
        AgentSource,
        values,
        place,
        MARKDOWN,
        name=values.get("name") or agent_name_from_path(document.file.display),
        kind=document.file.dialect.name or OCTO.name,
        inline_servers=inline,
        server_refs=refs,
        prompt=document.body.strip(),
        tap=document.file.tap,
        # Each AGENT.md has a folder of its own: the one that holds these folders is what names are unique in.
        folder=(path.parent.parent if path.name == AGENT_FILE else path.parent).as_posix(),
    )


def skill_source(document: Document) -> SkillSource:
    """Return the skill of a SKILL.md; the text after the front matter is its body."""
    tap, body = document.file.tap or "", document.body.strip()
    name = document.values.get("name") or PurePosixPath(document.file.display).parent.name
    description = document.values.get("description") or first_paragraph(body)
    return structured(
        SkillSource,
        document.values,
        document.place(),
        name=name,
        description=description,
        tap=tap,
        body=body,
        folder=None,
    )


def _servers(values: Mapping[str, Any], place: Place) -> tuple[tuple[ServerSource, ...], tuple[Located[str], ...]]:
    inline: list[ServerSource] = []
    refs: list[Located[str]] = []
    holder = place.child("mcpServers")
    for index, item in kept(values.get("mcpServers", ())):
        at_item = holder.child(index)
        if isinstance(item, str):
            refs.append(Located(item.strip(), at_item))
        else:
            inline.extend(server_of_mcp(str(name), entry, at_item.child(name)) for name, entry in item.items())
    return tuple(inline), tuple(refs)
