"""Octo's agents: an AGENT.md in a folder of its own, or a file of a folder of agents."""

from octoc.plugin.file_kinds import Dialect

AGENT_FILE = "AGENT.md"

OCTO = Dialect(
    kind="agent-md",
    name="octo",
    client="Octo",
    patterns=(AGENT_FILE,),
    folders=("agents", ".octo/agents"),
)
