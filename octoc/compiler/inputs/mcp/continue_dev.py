"""Continue's `.continue/config.yaml` and its blocks: a list of servers.

Seen in the source of June 2026: a `type` other than `stdio`, `sse` and `streamable-http` makes the file unreadable
(`config-yaml/src/schemas/mcp/index.ts`), and a file in JSON takes the words of other clients.
"""

import attrs

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect

_FOLDERS = ("mcpServers", "agents", "assistants", "configs")
"""Folders of blocks and of agents, which were assistants (`core/config/ConfigHandler.ts`)."""


def _shape(entry: ServerDraft) -> None:
    if "uses" in entry.left:
        entry.is_elsewhere = True  # a block of Continue's hub, or of another file
        return
    options = entry.left.pop("requestOptions", None)
    if isinstance(options, dict) and options.get("headers") is not None:
        entry.put("headers", options["headers"], "requestOptions", "headers")


CONTINUE = Dialect(
    kind="mcp",
    name="continue",
    client="Continue",
    patterns=(
        ".continue/config.yaml",
        *(f".continue/{folder}/*.{end}" for folder in _FOLDERS for end in ("yaml", "yml")),
    ),
    rank=34,
    syntax="yaml",
    is_settings=True,
    is_list=True,
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    takes_plain_references=False,
    takes_prefixed_references=False,
    requires={"": ("name",)},
    refused_types=dict.fromkeys(
        ("http", "streamable_http", "streamableHttp", "streamableHTTP", "streamable", "remote"), "streamable-http"
    ),
    fields=frozenset({"type", "command", "args", "env", "cwd", "url"}),
    hints={"arguments": "call it `args`", "headers": "write them in `requestOptions`"},
    unused=frozenset({"name", "serverName", "faviconUrl", "connectionTimeout", "apiKey", "sourceFile", "sourceSlug"}),
    shape=_shape,
    replacements=((r"\$\{\{\s*(?:secrets|inputs)\.([^{}\s]+)\s*\}\}", r"${input:\1}"),),
    variable="${{ secrets.NAME }}",
    variable_with_default="",
)
CONTINUE_JSON = attrs.evolve(
    CONTINUE,
    name="continue-json",
    patterns=(".continue/mcpServers/*.json",),
    rank=35,
    syntax=None,
    is_list=False,
    takes_plain_references=True,
    requires={},
    refused_types={},
    fields=frozenset(),
    hints={},
)
