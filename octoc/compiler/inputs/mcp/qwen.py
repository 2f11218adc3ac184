"""Qwen Code's settings and extensions: those of Gemini CLI, with limits of its own.

Seen in its documentation and in `mcp-client.ts` (November 2026): `httpUrl` is Streamable HTTP, `url` is SSE.
"""

import attrs

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.compiler.inputs.mcp.gemini import GEMINI, shape_gemini
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    shape_gemini(entry)
    if "url" in entry.left and "type" not in entry.left:
        entry.put("type", "sse", "url")


QWEN: Dialect = attrs.evolve(
    GEMINI,
    name="qwen",
    client="Qwen Code",
    patterns=(".qwen/settings.json", "qwen-extension.json"),
    rank=14,
    unused=GEMINI.unused | {"discoveryTimeoutMs", "versionNegotiation", "appResourceMaxBytes", "appResourceTimeoutMs"},
    shape=_shape,
)
