"""describe: the prompt section that tells an agent with the proxy which servers there are, in Octo's words."""

from __future__ import annotations

from importlib import resources

from jinja2 import Environment, StrictUndefined

from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Described, Scoped

SHOWN = 5
"""How many tool names a server's line shows. Source: Octo, prompt sections."""


def describe(scoped: Scoped, context: Context) -> Described:  # noqa: ARG001  # a stage's shape
    """Write the section of every agent that has the proxy and sees at least one server."""
    environment = Environment(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=False)
    template = environment.from_string(
        resources.files(__package__).joinpath("servers.md.jinja").read_text(encoding="utf-8")
    )
    transports = {server.name: server.transport for server in scoped.resolved.servers}
    prompts: dict[str, str] = {}
    for agent, registry in scoped.registries.items():
        if not registry.proxy:
            continue
        names: dict[str, list[str]] = {}
        for index in registry.tools:
            tool = scoped.tools[index].id
            names.setdefault(tool.server, []).append(tool.tool.rpartition("__")[2])
        for grant in registry.unlisted:
            if transports[grant.server] != "builtin":  # it has no tool before the host binds one
                names.setdefault(grant.server, [])
        ordered = [(server.name, names[server.name]) for server in scoped.resolved.servers if server.name in names]
        if ordered:
            prompts[agent] = template.render(servers=ordered, shown=SHOWN)
    return Described(scoped=scoped, servers_prompts=prompts)
