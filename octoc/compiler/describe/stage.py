"""Stage describe: the prompt section that tells an agent with the proxy which servers there are, in Octo's words."""

from __future__ import annotations

from importlib import resources

import attrs
from jinja2 import Environment, StrictUndefined

from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.names import BUILTIN

SHOWN = 5
"""How many tool names a server's line shows. Source: Octo, prompt sections."""


def describe(build: Build, context: Context) -> Build:  # noqa: ARG001  # a stage's shape
    """Fill `prompts` with the section of every agent that has the proxy and sees at least one server."""
    environment = Environment(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=False)
    template = environment.from_string(
        resources.files(__package__).joinpath("servers.md.jinja").read_text(encoding="utf-8")
    )
    transports = {server.name: server.transport for server in build.resolved.servers}
    prompts: dict[str, str] = {}
    for agent, registry in build.scoped.registries.items():
        if not registry.proxy:
            continue
        names: dict[str, list[str]] = {}
        for index in registry.tools:
            tool = build.scoped.tools[index].id
            names.setdefault(tool.server, []).append(tool.tool.rpartition("__")[2])
        for grant in registry.unlisted:
            if transports[grant.server] != BUILTIN:  # it has no tool before the host binds one
                names.setdefault(grant.server, [])
        ordered = [(server.name, names[server.name]) for server in build.resolved.servers if server.name in names]
        if ordered:
            prompts[agent] = template.render(servers=ordered, shown=SHOWN)
    return attrs.evolve(build, prompts=prompts)
