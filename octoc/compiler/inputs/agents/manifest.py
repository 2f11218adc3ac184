"""Octomind's agents: `agents/<domain>/<spec>.toml`."""

from octoc.compiler.inputs.capability import SERVER_UNITS
from octoc.plugin.file_kinds import ANY, FileKind, units_under

AGENT_MANIFEST = FileKind(
    name="agent-manifest",
    role="agents",
    units=(
        *SERVER_UNITS,
        ("capabilities", ANY),
        ("model",),
        *units_under(
            "roles", ANY, of=("name", "welcome", "temperature", "top_p", "top_k", "model", "mcp/server_refs/*")
        ),
        *units_under("roles", ANY, "model", of=("temperature", "top_p", "top_k")),
    ),
    check="octoc.compiler.check.octomind:check_manifest",
    content_patterns=("agents/*/*.toml",),
    recognize=lambda values: isinstance(values.get("roles"), list),
    marks=("[[roles]]",),
    key=lambda path: {"domain": path.parent.name, "spec": path.stem},
    scan="everywhere",
    is_in_tap=True,
    structure="octoc.compiler.structure.taps:manifest_agent",
)
