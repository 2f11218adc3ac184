"""Files of every kind and dialect for mutation: values drawn from the form's JSON Schema, in the form's syntax."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import tomlkit
import yaml

from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import FileForm
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.data import schemas_dir
from octoc.plugin.file_kinds import NO_DIALECT

_TEXTS = ("time", "npx", "./a.sh", "${NAME}", "mcp__time__*", "https://docs.example/mcp", "Bash(git log:*)", "@a/b@1.2")
_DEPTH = 5


def path_of(form: FileForm) -> PurePosixPath:
    """Return a path that a file of this form may have."""
    patterns = (*form.dialect.patterns, *form.kind.patterns, *form.kind.workspace_files, *form.kind.content_patterns)
    endings = {"json": "x.json", "markdown": "x.md", "lines": "x.txt", "yaml": "x.yaml"}
    pattern = patterns[0] if patterns else endings.get(form.kind.syntax, "x.toml")
    return PurePosixPath(pattern.replace("**/", "").replace("*", "x"))


def sample(form: FileForm, chance: random.Random) -> bytes:
    """Return a file of this form with values at random."""
    schema = _schema_of(form)
    values = _drawn(schema, schema, chance, _DEPTH)
    syntax = form.dialect.syntax or form.kind.syntax
    if syntax == "markdown":
        return f"---\n{yaml.safe_dump(values, allow_unicode=True)}---\nUse {{{{ENV:A}}}} it.\n".encode()
    if syntax == "lines":
        return "\n".join(["# c", *map(str, values.get("lines", ()))]).encode()
    if syntax == "toml":
        return tomlkit.dumps(_without_nulls(values)).encode()
    return (json.dumps(values, indent=1) if syntax == "json" else yaml.safe_dump(values)).encode()


def _schema_of(form: FileForm) -> Mapping[str, Any]:
    if isinstance(form.dialect, AgentDialect):
        return form.dialect.schema
    if isinstance(form.dialect, SettingsDialect):
        named = (*form.dialect.files, *form.dialect.tools, *form.dialect.texts)
        own = form.dialect.schema.get("properties", {})
        return {"type": "object", "properties": {**{path[0]: {} for path in named}, **own}}
    is_client = form.kind is MCP and form.dialect is not NO_DIALECT
    if form.kind.schema is not None and not is_client:
        return form.kind.schema
    name = f"clients/{form.dialect.name}" if is_client else form.kind.name
    schema: Mapping[str, Any] = json.loads((schemas_dir() / f"{name}.v1.json").read_bytes())
    return schema


def _drawn(schema: Mapping[str, Any], root: Mapping[str, Any], chance: random.Random, depth: int) -> Any:
    """Return a value that mostly meets `schema`; a key without a type gets any value."""
    if "$ref" in schema:
        schema = root.get("$defs", {}).get(
            schema["$ref"].rpartition("/")[2], {}
        )  # another file's definition: any value
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _drawn(chance.choice(schema[key]), root, chance, depth)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else chance.choice(schema["enum"])
    if schema.get("examples") and chance.random() < 0.5:
        return chance.choice(schema["examples"])
    kinds = schema.get("type", "object" if "properties" in schema else ["string", "array", "object", "boolean"])
    kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        return _object(schema, root, chance, depth)
    if kind == "array":
        items = schema.get("items", {})
        return [_drawn(items, root, chance, depth - 1) for _ in range(chance.randint(1, 3) if depth > 0 else 0)]
    scalars = {"boolean": chance.random() < 0.5, "integer": chance.randint(0, 90), "number": 1.5, "null": None}
    return scalars.get(kind, chance.choice(_TEXTS))


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], chance: random.Random, depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    values = {
        key: _drawn(inner, root, chance, depth - 1)
        for key, inner in schema.get("properties", {}).items()
        if isinstance(inner, Mapping) and (key in required or depth == _DEPTH or (depth > 0 and chance.random() < 0.5))
    }
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping) and depth > 0:
        values |= {name: _drawn(more, root, chance, depth - 1) for name in chance.sample(("time", "a-b", "x y"), 2)}
    return values


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value
