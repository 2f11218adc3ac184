"""APM's `apm.yml`: servers among the dependencies. Seen in the source of version 0.28.

A text, or an entry without `registry: false`, names a server of a registry, whose definition is elsewhere.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    if entry.left.pop("registry", None) is not False:
        entry.is_elsewhere = True
        return
    entry.rename("transport", "type")
    tools = entry.left.pop("tools", None)
    if tools is not None and tools != ["*"]:
        entry.put("include_tools", tools, "tools")


APM = Dialect(
    kind="mcp",
    name="apm",
    client="APM",
    patterns=("apm.yml",),
    rank=36,
    syntax="yaml",
    is_settings=True,
    server_list="dependencies/mcp",
    is_list=True,
    other_keys=("dependencies",),
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    takes_doubled_keys=True,
    requires={"": ("transport",)},
    unused=frozenset({"name", "version", "package", "extra", "resolved_by"}),
    shape=_shape,
)
