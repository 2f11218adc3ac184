"""Roo Code's `.roo/mcp.json`. Seen in the source of Roo Code 3: time limits are seconds."""

from octoc.compiler.inputs.mcp.convert import timeout_in_seconds
from octoc.plugin.file_kinds import Dialect

ROO = Dialect(
    kind="mcp",
    name="roo",
    client="Roo Code",
    patterns=(".roo/mcp.json",),
    rank=23,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools"},
    unused=frozenset({"alwaysAllow", "watchPaths", "errorHistory"}),
    shape=timeout_in_seconds,
)
