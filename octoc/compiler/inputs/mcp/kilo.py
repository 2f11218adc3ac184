"""Kilo Code's `kilo.jsonc`, in the form of OpenCode, and the `.kilocode/mcp.json` of its older extension.

Seen in its documentation (version 7.3, 2026), and in `McpHub.ts` of the older extension, which is that of Roo Code.
"""

import attrs

from octoc.compiler.inputs.mcp.opencode import OPENCODE
from octoc.compiler.inputs.mcp.roo import ROO
from octoc.plugin.file_kinds import Dialect

KILO: Dialect = attrs.evolve(
    OPENCODE,
    name="kilo",
    client="Kilo Code",
    patterns=("kilo.jsonc", "kilo.json", ".kilo/kilo.jsonc", ".kilo/kilo.json"),
    rank=15,
)
KILO_LEGACY: Dialect = attrs.evolve(
    ROO, name="kilo-legacy", client="Kilo Code", patterns=(".kilocode/mcp.json",), rank=40
)
