"""Kilo Code's agents: `.kilo/agents/**/*.md`, in the form of OpenCode; the older name of the folder is `agent`.

Seen in its documentation (version 7.3, 2026). What it does with an agent that does not meet the schema is unknown.
"""

import attrs

from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.agents.opencode import OPENCODE

KILO: AgentDialect = attrs.evolve(
    OPENCODE,
    name="kilo",
    client="Kilo Code",
    patterns=(".kilo/agents/**/*.md", ".kilo/agent/**/*.md"),
    home=".kilo",
    effect="",
    builtin=frozenset(),
)
