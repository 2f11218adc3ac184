"""Rules over what Claude Code's settings and agents name: servers, their tools, agents and skills."""

from __future__ import annotations

from octoc.compiler.lint.claude.homes import check_homes_of_settings
from octoc.compiler.lint.claude.names import check_names_of_permissions, check_servers_of_agents

__all__ = ["CHECKS"]

CHECKS = (check_names_of_permissions, check_servers_of_agents, check_homes_of_settings)
