"""What the schemas of a tap's TOML files cannot say: transports, fields that Octomind needs, unknown fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.fields import report_unknown_fields
from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.schemas import fields
from octoc.compiler.check.transports import check_transport
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules import check as rules
from octoc.lists import name_list
from octoc.transport_kinds import kind_of_definition

# Octomind has no defaults: a block without one of these is logged and skipped.
_NEEDED_BY_OCTOMIND = ("timeout_seconds", "tools")
_NEEDED_BY_PROGRAMS = ("args", *_NEEDED_BY_OCTOMIND)


def check_config(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a capability's `config.toml` whose schema is met."""
    report_unknown_fields(values, fields(CAPABILITY_CONFIG), (), inspection)


def check_provider(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a provider file whose schema is met; one unsound server is cut, not the others."""
    report_unknown_fields(values, fields(CAPABILITY_PROVIDER), (), inspection)
    roles = values.get("roles", {})
    report_unknown_fields(roles, frozenset({"mcp"}), ("roles",), inspection)
    _check_grant(roles.get("mcp", {}), ("roles", "mcp"), inspection)
    _check_shared(values, inspection)


def check_manifest(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check an agent manifest whose schema is met; one unsound server is cut, not the others."""
    report_unknown_fields(values, fields(AGENT_MANIFEST), (), inspection)
    known = fields(AGENT_MANIFEST, "properties", "roles", "items")
    for index, role in kept(values["roles"]):
        report_unknown_fields(role, known, ("roles", index), inspection)
        _check_grant(role.get("mcp", {}), ("roles", index, "mcp"), inspection)
    if len(values["roles"]) > 1:
        inspection.report(
            rules.EXTRA_ROLES,
            f"the manifest has {len(values['roles'])} roles: only the first is used",
            ("roles", 1),
            help="make one manifest per role",
        )
    _check_shared(values, inspection)


def _check_grant(grant: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    report_unknown_fields(grant, fields(CAPABILITY_PROVIDER, "$defs", "grant"), path, inspection)


def _check_shared(values: Mapping[str, Any], inspection: FileInspection) -> None:
    for part in ("deps", "mcp"):
        known = fields(CAPABILITY_PROVIDER, "$defs", part)
        report_unknown_fields(values.get(part, {}), known, (part,), inspection)
    seen: dict[str, int] = {}
    for index, server in kept(values.get("mcp", {}).get("servers", [])):
        path = ("mcp", "servers", index)
        name = server["name"]
        if name in seen:
            inspection.report(
                rules.REPEATED_NAME,
                f"server `{name}` is defined twice in this file",
                (*path, "name"),
                cut=path,
                related={"the first is here": ("mcp", "servers", seen[name], "name")},
                help="give each server a name of its own",
            )
            continue
        seen[name] = index
        _check_server(server, path, inspection)


def _check_server(server: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    name = server["name"]
    report_unknown_fields(server, fields(CAPABILITY_PROVIDER, "$defs", "server"), path, inspection)
    if not check_transport(name, server, path, inspection):
        return
    kind = inspection.kinds[kind_of_definition(server) or ""]
    needed = _NEEDED_BY_PROGRAMS if kind.needs == "command" else _NEEDED_BY_OCTOMIND
    missing = [field for field in needed if field not in server and (*path, field) not in inspection.cut_before]
    if missing:
        listed = name_list(missing)
        inspection.report(
            rules.INCOMPLETE_OCTOMIND_SERVER,
            f"server `{name}` has no {listed}: Octomind skips such a block",
            path,
            help=f"add {listed}",
        )
    if "auto_bind" in server:
        inspection.report(
            rules.UNUSED_FIELD, "octoc does not bind a server by `auto_bind`", (*path, "auto_bind"), key=True
        )
