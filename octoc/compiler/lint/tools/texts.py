"""Every text of the workspace that a model reads as a name, a description or a prompt, with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.mcp.gemini import EXTENSION_FILE
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.compiler.inputs.tool_list import SCHEMA_KEYS, tools_in
from octoc.compiler.lint.tools.recorded import recorded_tools
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.diagnostics.model import KeyPath, Place
from octoc.json_pointer import pointer_to

_PROSE = ("title", "description", "$comment")
_PROMPTS = ("prompt", "developer_instructions")
"""Where agents of other clients have their prompts, beside the text of a Markdown file."""
_MANIFESTS = frozenset({"plugin.json", "marketplace.json", EXTENSION_FILE})
_SCHEMAS = (*SCHEMA_KEYS, "outputSchema")
_DEFINITIONS = ("$defs", "definitions")
_DESCRIBED = (("description",), ("plugins", "*", "description"))
_TITLES: frozenset[KeyPath] = frozenset({("title",), ("description",), ("annotations", "title")})

TextKind = Literal["name", "prose", "value", "prompt"]


@attrs.frozen(kw_only=True)
class LintedText:
    """A text. `kind` is `name`, `prose`, `value` (of an `enum`, of `_meta`), or `prompt`, which may give orders.

    `may_mention`: the text describes what may look for orders to a model, such as an agent, and so name one.
    `line` is the line of the file that the text begins in, where its place has no path; 0 where that is not known.
    """

    value: str
    what: str
    place: Place
    kind: TextKind = "prose"
    line: int = 0
    may_mention: bool = False


def texts_of(build: Build) -> Iterator[LintedText]:
    """Yield the texts of servers, their tools, capabilities, agents and skills, and instructions."""
    resolved = build.resolved
    lines = {document.file.display: _first_line(document) for document in build.checked.documents if document.body}
    for server in resolved.servers:
        yield LintedText(value=server.name, what="the name of a server", place=server.place.key(), kind="name")
        snapshot = server.snapshot
        if snapshot is not None and snapshot.listing.instructions:
            place = snapshot.place.child("instructions")
            yield LintedText(
                value=snapshot.listing.instructions, what=f"the instructions of server `{server.name}`", place=place
            )
    for tool in recorded_tools(build):
        yield from _of_tool(str(tool.id), tool.wire, tool.place)
    for document in build.checked.documents:
        if document.file.kind.lists_tools:
            for path, wire in tools_in(document.values["list"]):
                yield from _of_tool(wire["name"], wire, document.place(*path))
            yield from _of_definitions(document)
    for capability in resolved.capabilities:
        whose = f"of capability `{capability.name}`"
        yield LintedText(value=capability.title, what=f"the title {whose}", place=capability.place)
        yield LintedText(value=capability.description, what=f"the description {whose}", place=capability.place)
    # A build has only one agent and one skill of each name, and each client reads its own.
    bodies: set[str] = set()
    for source in build.sources.agents:
        whose = f"of agent `{source.name}`"
        yield LintedText(value=source.name, what="the name of an agent", place=_key(source.place, "name"), kind="name")
        yield LintedText(value=source.title, what=f"the title {whose}", place=_key(source.place, "title"))
        yield LintedText(
            value=source.description,
            what=f"the description {whose}",
            place=_key(source.place, "description"),
            may_mention=True,
        )
        if source.prompt in bodies:
            continue
        bodies.add(source.prompt)
        prompt = source.place.child("roles", 0, "system") if source.kind == "octomind" else source.place
        line = 0 if prompt.path else lines.get(prompt.file, 0)
        yield LintedText(value=source.prompt, what=f"the prompt {whose}", place=prompt, kind="prompt", line=line)
    for skill in build.sources.skills:
        whose, place = f"of skill `{skill.name}`", skill.place
        yield LintedText(value=skill.title, what=f"the title {whose}", place=_key(place, "title"))
        yield LintedText(
            value=skill.description,
            what=f"the description {whose}",
            place=_key(place, "description"),
            may_mention=True,
        )
        if skill.body not in bodies:
            bodies.add(skill.body)
            line = lines.get(place.file, 0)
            yield LintedText(value=skill.body, what=f"the text {whose}", place=place, kind="prompt", line=line)
    yield from _of_commands(build)
    yield from _of_client_agents(build)
    yield from _of_client_prompts(build)
    yield from _of_instructions(build)


def _first_line(document: Document) -> int:
    """Return the line of the first text of a body: prompts and skills begin there."""
    blank = document.body[: len(document.body) - len(document.body.lstrip())]
    return document.body_line + blank.count("\n")


def _of_instructions(build: Build) -> Iterator[LintedText]:
    """Yield what clients hand to the model whole; one text once, as files of several clients are often the same."""
    seen: set[str] = set()
    for document in build.checked.documents:
        text = document.values.get("text") if document.file.kind.is_prose else None
        if isinstance(text, str) and text not in seen:
            seen.add(text)
            name = document.file.path.name
            yield LintedText(value=text, what=f"`{name}`", place=document.place(), kind="prompt", line=1)


def _of_commands(build: Build) -> Iterator[LintedText]:
    """Yield the descriptions of Claude Code's commands, by which its model chooses one."""
    for document in build.checked.documents:
        kind, text = document.file.kind, document.values.get("description")
        if kind.tool_rules and kind.role == "other" and isinstance(text, str):
            what = f"the description of command `{document.file.path.stem}`"
            yield LintedText(value=text, what=what, place=document.place("description"), may_mention=True)


def _of_client_agents(build: Build) -> Iterator[LintedText]:
    """Yield descriptions and prompts of agents of other clients, which have files of their own or stand in settings."""
    for document in build.checked.documents:
        dialect = document.file.dialect
        patterns = dialect.agents if isinstance(dialect, SettingsDialect) else ((),) * isinstance(dialect, AgentDialect)
        for path, agent in (one for pattern in patterns for one in values_at(document.values, pattern)):
            name = path[-1] if path else document.file.path.stem
            for key in ("description", *_PROMPTS) if isinstance(agent, Mapping) else ():
                text, is_about = agent.get(key), key == "description"
                if isinstance(text, str):
                    yield LintedText(
                        value=text,
                        what=f"the {'description' if is_about else 'prompt'} of agent `{name}`",
                        place=document.place(*path, key),
                        kind="prose" if is_about else "prompt",
                        may_mention=is_about,
                    )
            if not path and document.body.strip():
                what, line = f"the prompt of agent `{name}`", _first_line(document)
                yield LintedText(
                    value=document.body.strip(), what=what, place=document.place(), kind="prompt", line=line
                )


def _of_client_prompts(build: Build) -> Iterator[LintedText]:
    """Yield what settings and commands of other clients hand to the model."""
    for document in build.checked.documents:
        dialect = document.file.dialect
        for pattern in dialect.prompts if isinstance(dialect, SettingsDialect) else ():
            for path, text in values_at(document.values, pattern):
                if isinstance(text, str):
                    what, place = f"`{path[-1]}` of `{document.file.path.name}`", document.place(*path)
                    yield LintedText(value=text, what=what, place=place, kind="prompt")
        # People choose what to install by these.
        for pattern in _DESCRIBED if document.file.path.name in _MANIFESTS else ():
            for path, text in values_at(document.values, pattern):
                if isinstance(text, str):
                    what = f"the description in `{document.file.path.name}`"
                    yield LintedText(value=text, what=what, place=document.place(*path), kind="prompt")


def _key(place: Place, key: str) -> Place:
    # Titles and descriptions of Octomind manifests are comments, which have no path, so the place is the file.
    return place if place.file.endswith(".toml") else place.child(key)


def _of_tool(name: str, wire: Mapping[str, Any], at: Place) -> Iterator[LintedText]:
    whose = f"of tool `{name}`"
    for path, value, is_key in _strings(wire, ()):
        place = at.child(*path)
        if is_key:
            what = "the name of an argument" if path[-2:-1] == ("properties",) else f"the key at `{pointer_to(path)}`"
            yield LintedText(value=value, what=f"{what} {whose}", place=place.key(), kind="name")
        elif path == ("name",):
            yield LintedText(value=value, what="the name of a tool", place=place, kind="name")
        elif path in _TITLES:
            yield LintedText(value=value, what=f"the {path[-1]} {whose}", place=place)
        else:
            kind: TextKind = "prose" if path[-1] in _PROSE and path[0] in _SCHEMAS else "value"
            yield LintedText(value=value, what=f"the text at `{pointer_to(path)}` {whose}", place=place, kind=kind)


def _of_definitions(document: Document) -> Iterator[LintedText]:
    """Yield the texts of schemas that stand beside a list of tools, which refer to them."""
    listed = document.values["list"]
    for key in _DEFINITIONS if isinstance(listed, Mapping) else ():
        for path, value, is_key in _strings(listed.get(key), (key,)):
            place = document.place(*path)
            kind: TextKind = "name" if is_key else "prose" if path[-1] in _PROSE else "value"
            what = f"the {'key' if is_key else 'text'} at `{pointer_to(path)}`"
            yield LintedText(value=value, what=what, place=place.key() if is_key else place, kind=kind)


def _strings(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str, bool]]:
    """Yield the path of each text in a value, the text, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield (*path, key), key, True
            yield from _strings(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _strings(item, (*path, index))
