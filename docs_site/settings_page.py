"""The reference of octoc.toml, from its JSON Schema: every key, its type, its default and its allowed values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from docs_site.page import Page, plain, table
from octoc.cli.schema_rows import argument_rows
from octoc.data import schemas_dir

_INTRODUCTION = """# Settings of octoc.toml

Every key of `octoc.toml` with its type, made from the JSON Schema that octoc checks the file with
(printed by `octoc schema workspace`). [octoc.toml](../workspace.md) explains what the settings do.
"""
_OTHER_FILE = "urn:octoc:schema:scopes:v1#"


def settings_page() -> Page:
    """Return the page of all settings."""
    schema = _schema("workspace")
    parts = [_INTRODUCTION]
    for name, written in schema["properties"].items():
        heading, entry = _section(name, written, schema)
        parts += [f"## {heading}\n", f"{plain(written['description'])}\n"]
        rows = [
            (
                f"`{row.name}`{', required' if row.required else ''}",
                plain(row.type_name),
                plain("; ".join([row.description.rstrip("."), *map(_as_code, _notes(row.value_note))])),
            )
            for row in argument_rows(entry)
        ]
        if rows:
            parts.append(table(("key", "type", "what it means"), rows))
    return Page("reference/settings.md", "\n".join(parts))


def _notes(note: str) -> list[str]:
    """Return the parts of a note on values, such as `one of …` and `default …`."""
    return re.split(r"; (?=default )", note) if note else []


def _as_code(note: str) -> str:
    """Return a part with its values in backticks."""
    word, _, values = note.replace("one of", "one_of").partition(" ")
    return f"{word.replace('_', ' ')} `{values}`"


def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((schemas_dir() / f"{name}.v1.json").read_text(encoding="utf-8"))
    return schema


def _section(name: str, written: Mapping[str, Any], schema: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a section's heading as the file writes it, and the schema of one entry with the definitions it uses."""
    one, root = _target(written, schema)
    heading = f"[{name}]"
    if one.get("type") == "array":
        heading = f"[[{name}]]"
        one, root = _target(one["items"], root)
    elif "properties" not in one and isinstance(one.get("additionalProperties"), dict):
        entry, below = _target(one["additionalProperties"], root)
        if "properties" in entry:
            heading, one, root = f"[{name}.NAME]", entry, below
    whole = {key: {**_target(written, root)[0], **written} for key, written in one.get("properties", {}).items()}
    return f"`{heading}`", {
        **one,
        "properties": {key: _opened(_without_ref(written), root) for key, written in whole.items()},
        "$defs": root.get("$defs", {}),
    }


def _opened(one: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a table whose keys users choose as one that has the key `NAME`."""
    below = one.get("additionalProperties")
    if "properties" in one or not isinstance(below, dict):
        return one
    entry, _ = _target(below, root)
    return {**one, "properties": {"NAME": entry}} if "properties" in entry else one


def _without_ref(written: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in written.items() if key != "$ref"}


def _target(one: Mapping[str, Any], root: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema that a reference leads to, and the file that it is in."""
    while "$ref" in one:
        address = one["$ref"]
        if address.startswith(_OTHER_FILE):
            root, address = _schema("scopes"), address.removeprefix(_OTHER_FILE)
        one = root
        for token in address.lstrip("#/").split("/"):
            one = one[token]
    return dict(one), root
