"""Every text of the workspace that a model reads as a name, a description or a prompt, with its place."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from octoc.compiler.lint.tools.recorded import RecordedTool, recorded_tools
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import Place
from octoc.formats.walk import subschemas

_PROSE = ("title", "description", "$comment")


@attrs.frozen(kw_only=True)
class LintedText:
    """A text. `kind` is `name`, `prose`, `value` (one of an `enum`, a default), or `prompt`, which may give orders."""

    value: str
    what: str
    place: Place
    kind: str = "prose"


def texts_of(build: Build) -> Iterator[LintedText]:
    """Yield the texts of servers, their tools, capabilities, agents and skills."""
    resolved = build.resolved
    for server in resolved.servers:
        yield LintedText(value=server.name, what="the name of a server", place=server.place.key(), kind="name")
        snapshot = server.snapshot
        if snapshot is not None and snapshot.listing.instructions:
            place = snapshot.place.child("instructions")
            yield LintedText(
                value=snapshot.listing.instructions, what=f"the instructions of server `{server.name}`", place=place
            )
    for tool in recorded_tools(build):
        yield from _of_tool(tool)
    for capability in resolved.capabilities:
        whose = f"of capability `{capability.name}`"
        yield LintedText(value=capability.title, what=f"the title {whose}", place=capability.place)
        yield LintedText(value=capability.description, what=f"the description {whose}", place=capability.place)
    for agent in resolved.agents:
        source = agent.source
        whose = f"of agent `{source.name}`"
        yield LintedText(value=source.name, what="the name of an agent", place=_key(source.place, "name"), kind="name")
        yield LintedText(value=source.title, what=f"the title {whose}", place=_key(source.place, "title"))
        yield LintedText(
            value=source.description, what=f"the description {whose}", place=_key(source.place, "description")
        )
        prompt = source.place.child("roles", 0, "system") if source.kind == "octomind" else source.place
        yield LintedText(value=source.prompt, what=f"the prompt {whose}", place=prompt, kind="prompt")
    for skill in resolved.skills:
        whose = f"of skill `{skill.source.name}`"
        place = skill.source.place
        yield LintedText(value=skill.source.title, what=f"the title {whose}", place=_key(place, "title"))
        yield LintedText(
            value=skill.source.description, what=f"the description {whose}", place=_key(place, "description")
        )
        yield LintedText(value=skill.source.body, what=f"the text {whose}", place=place, kind="prompt")


def _key(place: Place, key: str) -> Place:
    # Titles and descriptions of Octomind manifests are comments, which have no path, so the place is the file.
    return place if place.file.endswith(".toml") else place.child(key)


def _of_tool(tool: RecordedTool) -> Iterator[LintedText]:
    whose = f"of tool `{tool.id}`"
    yield LintedText(value=tool.id.tool, what="the name of a tool", place=tool.place.child("name"), kind="name")
    for key in ("title", "description"):
        value = tool.wire.get(key)
        if isinstance(value, str):
            yield LintedText(value=value, what=f"the {key} {whose}", place=tool.place.child(key))
    annotations = tool.wire.get("annotations")
    if isinstance(annotations, dict) and isinstance(annotations.get("title"), str):
        place = tool.place.child("annotations", "title")
        yield LintedText(value=annotations["title"], what=f"the title {whose}", place=place)
    schema = tool.place.child("inputSchema")
    for path, one in subschemas(tool.schema):
        for key in _PROSE:
            value = one.get(key)
            if isinstance(value, str):
                yield LintedText(
                    value=value, what=f"a {key} in the `inputSchema` {whose}", place=schema.child(*path, key)
                )
        properties = one.get("properties")
        if isinstance(properties, dict):
            for name in properties:
                place = schema.child(*path, "properties", name).key()
                yield LintedText(value=name, what=f"the name of an argument {whose}", place=place, kind="name")
        for index, value in enumerate(one["enum"] if isinstance(one.get("enum"), list) else ()):
            if isinstance(value, str):
                place = schema.child(*path, "enum", index)
                yield LintedText(value=value, what=f"a value in the `inputSchema` {whose}", place=place, kind="value")
        if isinstance(one.get("default"), str):
            place = schema.child(*path, "default")
            yield LintedText(
                value=one["default"], what=f"a default in the `inputSchema` {whose}", place=place, kind="value"
            )
