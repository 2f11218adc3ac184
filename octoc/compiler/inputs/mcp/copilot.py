"""GitHub Copilot's `.github/mcp.json` and `mcp-config.json`: `tools` lists what may be used, `*` is all."""

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    if entry.left.get("type") == "local":
        entry.put("type", "stdio", "type")
        del entry.left["type"]
    tools = entry.left.pop("tools", None)
    if tools is not None and tools not in ("*", ["*"]):
        entry.put("include_tools", tools, "tools")


COPILOT = Dialect(
    kind="mcp",
    name="copilot",
    client="GitHub Copilot",
    patterns=(".github/mcp.json", ".copilot/mcp-config.json"),
    rank=27,
    reads_comments=True,
    infers_transport=True,
    takes_any_list=True,
    takes_numbers=True,
    is_lenient=True,
    unused=frozenset({"filterMapping", "isDefaultServer", "deferTools", "oidc", "source", "sourcePath"}),
    key_schemas={"type": {"description": "How the client connects.", "type": "string"}},
    shape=_shape,
    replacements=((r"\$([A-Za-z_]\w*)", r"${\1}"),),
)
