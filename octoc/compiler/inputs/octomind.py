"""Octomind's definitions of servers, in providers of capabilities and manifests of agents. `discover` finds them."""

from octoc.plugin.file_kinds import Dialect

OCTOMIND = Dialect(
    kind="capability-provider", name="octomind", client="Octomind", variable="{{ENV:NAME}}", variable_with_default=""
)
