"""Rules over definitions of servers in `.mcp.json` and its dialects, agents and taps."""

from __future__ import annotations

from octoc.compiler.lint.mcp.characters import check_characters
from octoc.compiler.lint.mcp.commands import check_paths
from octoc.compiler.lint.mcp.folders import check_disks, check_homes
from octoc.compiler.lint.mcp.headers import check_credentials, check_empty_headers, check_headers
from octoc.compiler.lint.mcp.inputs import check_foreign_inputs, check_inputs
from octoc.compiler.lint.mcp.names import check_connections, check_names
from octoc.compiler.lint.mcp.proxies import check_proxies
from octoc.compiler.lint.mcp.retired import check_retired
from octoc.compiler.lint.mcp.scripts import check_scripts
from octoc.compiler.lint.mcp.shells import check_shells
from octoc.compiler.lint.mcp.starting import check_starting
from octoc.compiler.lint.mcp.tool_names import check_collisions
from octoc.compiler.lint.mcp.unfilled import check_placeholders
from octoc.compiler.lint.mcp.values import check_values
from octoc.compiler.lint.mcp.variables import check_variables

__all__ = ["CHECKS"]

CHECKS = (
    check_values,
    check_placeholders,
    check_characters,
    check_headers,
    check_empty_headers,
    check_proxies,
    check_credentials,
    check_inputs,
    check_foreign_inputs,
    check_names,
    check_connections,
    check_paths,
    check_shells,
    check_scripts,
    check_starting,
    check_homes,
    check_disks,
    check_retired,
    check_collisions,
    check_variables,
)
