"""Octo's agents: an AGENT.md in a folder of its own, or a file of a folder of agents."""

from octoc.plugin.file_kinds import Dialect

AGENT_FILE = "AGENT.md"
OCTO_FOLDER = ".octo"
AGENT_TYPES = ("supervisor", "worker", "deep_research", "project")

OCTO = Dialect(
    kind="agent-md",
    name="octo",
    client="Octo",
    patterns=(AGENT_FILE,),
    folders=("agents", f"{OCTO_FOLDER}/agents"),
    marks={"type": frozenset(AGENT_TYPES)},
)
