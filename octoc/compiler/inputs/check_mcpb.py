"""What the schema of an MCP bundle's manifest cannot say: keys that `mcpb pack` refuses, and options of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.schemas import schema_of
from octoc.compiler.inputs.mcpb import MCPB, version_of
from octoc.compiler.read.values import texts_in
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules.lint_mcp import UNEXPANDED_REFERENCE
from octoc.diagnostics.rules.lint_servers import REFUSED_BY_MCPB, UNDEFINED_NAME
from octoc.diagnostics.suggest import slip_of_key
from octoc.lists import name_list

_VERSIONS = ("0.1", "0.2", "0.3", "0.4")
_VARIABLE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Z][A-Z0-9_]*)\}")
_FOLDERS = frozenset({"HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS"})
"""Folders of the user that a client puts in (`shared/config.ts`); no other name in capitals is one of its own."""
_UNCLOSED = re.compile(r"\$\{[\w.]+(?![\w.}])")
_OPTION = re.compile(r"\$\{user_config\.([^}]*)\}")


def is_of_other_version(values: Mapping[str, Any], inspection: FileInspection) -> bool:  # noqa: ARG001  # a hook
    """Tell whether a manifest has a version that octoc does not know."""
    return version_of(values) not in _VERSIONS


def check_mcpb(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report keys that `mcpb pack` refuses, and references to variables and to options that the manifest lacks."""
    schema = schema_of(MCPB)
    unknown = list(_unknown(values, schema, ()))
    if unknown:
        known = _known(schema, unknown[0][:-1])
        inspection.report(
            REFUSED_BY_MCPB,
            f"`mcpb pack` refuses a manifest with {name_list([inspection.dotted(path) for path in unknown])}",
            unknown[0],
            key=True,
            help=slip_of_key(str(unknown[0][-1]), known) or "delete the key, or put the value below `_meta`",
        )
    options = values.get("user_config", {})
    for path, text in texts_in(values.get("server", {}).get("mcp_config", {}), ("server", "mcp_config")):
        variable = next((one for one in _VARIABLE.finditer(text) if one["name"] not in _FOLDERS), None)
        if variable is not None:
            option = variable["name"].lower()
            inspection.report(
                UNEXPANDED_REFERENCE,
                f"`{inspection.dotted(path)}` has `{variable[0]}`, which clients of bundles pass on as text",
                path,
                help=f"write `${{user_config.{option}}}`, and ask the user for `{option}` in `user_config`",
            )
        unclosed = _UNCLOSED.search(text)
        if unclosed is not None:
            inspection.report(
                UNEXPANDED_REFERENCE,
                f"`{unclosed[0]}` in `{inspection.dotted(path)}` has no closing brace, and is passed on as it is",
                path,
                help=f"write `{unclosed[0]}}}`",
            )
        for name in dict.fromkeys(_OPTION.findall(text)):
            if name not in options:
                inspection.report(
                    UNDEFINED_NAME,
                    f"`{inspection.dotted(path)}` refers to option `{name}`, which `user_config` does not have",
                    path,
                    help=slip_of_key(name, options) or f"add `{name}` to `user_config`",
                )


def _unknown(value: Any, schema: Mapping[str, Any], path: KeyPath) -> Iterator[KeyPath]:
    """Yield where keys stand that the schema of their object does not have."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, schema.get("items", {}), (*path, index))
    elif isinstance(value, Mapping):
        properties = schema.get("properties")
        for key, item in value.items():
            if properties is not None and key not in properties:
                yield (*path, key)
            else:
                yield from _unknown(item, (properties or {}).get(key, _of_each(schema)), (*path, key))


def _of_each(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    each = schema.get("additionalProperties", {})
    return each if isinstance(each, Mapping) else {}


def _known(schema: Mapping[str, Any], path: KeyPath) -> frozenset[str]:
    """Return the keys that the object at `path` may have."""
    for step in path:
        schema = schema["items"] if isinstance(step, int) else schema.get("properties", {}).get(step, _of_each(schema))
    return frozenset(schema.get("properties", ()))
