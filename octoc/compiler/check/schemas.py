"""The JSON Schemas of `schemas/` and their validators: each loaded when its kind is first met, and then kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from octoc.compiler.check.quick_validator import is_met, quick_validator
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.data import schemas_dir
from octoc.plugin.file_kinds import FileKind

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from referencing import Registry

    from octoc.compiler.inputs.agents.clients import AgentDialect
    from octoc.compiler.inputs.settings.clients import SettingsDialect

_URN = "urn:octoc:schema:"
MAJOR = 1
"""The version of every file kind that this octoc reads."""


def schema_of(kind: FileKind) -> Mapping[str, Any]:
    """Return the schema of `kind`."""
    return _shipped(kind.name) if kind.schema is None else kind.schema


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    text = (schemas_dir() / f"{name}.v{MAJOR}.json").read_text(encoding="utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema


@cache
def validator_of(kind: FileKind) -> Validator:
    """Return the validator of `kind`. As JSON Schema has it, `3.0` is a whole number too."""
    return quick_validator()(schema_of(kind), registry=_registry())


def surely_meets(kind: FileKind, values: Any) -> bool:
    """Tell whether values surely meet the schema of `kind`; those of most files do, without a validator."""
    return is_met(_whole(kind), values)


@cache
def _whole(kind: FileKind) -> Any:
    """Return the schema of `kind` with the definitions that it refers to in their places."""
    return _filled(schema_of(kind), schema_of(kind), frozenset())


def _filled(node: Any, root: Mapping[str, Any], around: frozenset[str]) -> Any:
    if isinstance(node, list):
        return [_filled(each, root, around) for each in node]
    if not isinstance(node, Mapping):
        return node
    filled = {key: _filled(value, root, around) for key, value in node.items()}
    name, _, pointer = str(filled.get("$ref", "")).partition("#")
    # A definition that refers to itself stays a reference, which is never sure.
    if pointer and f"{name}#{pointer}" not in around:
        del filled["$ref"]
        whole = _shipped(name.removeprefix(_URN).partition(":")[0]) if name else root
        target: Any = whole
        for step in pointer.strip("/").split("/"):
            target = target[step]
        filled["allOf"] = [_filled(target, whole, around | {f"{name}#{pointer}"})]
    return filled


@cache
def validator_of_client(dialect: AgentDialect | SettingsDialect) -> Validator:
    """Return the validator of what a client refuses in its agents or settings."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(dialect.schema)


def fields(kind: FileKind, *pointer: str) -> frozenset[str]:
    """Return the keys that the schema of `kind` knows for the object at `pointer`, a path inside the schema."""
    node: Any = schema_of(kind)
    for step in pointer:
        node = node[step]
    return frozenset(node["properties"])


def type_words() -> tuple[str, ...]:
    """Return the words of a server's `type` in files of known clients."""
    either = schema_of(MCP)["$defs"]["server"]["properties"]["type"]["anyOf"]
    return tuple(either[0]["enum"])


@cache
def _registry() -> Registry[Any]:
    from referencing import Registry, Resource

    # A schema refers to the definitions of another by the name in its URN.
    def retrieve(uri: str) -> Resource[Any]:
        return Resource.from_contents(_shipped(uri.removeprefix(_URN).partition(":")[0]))

    return Registry(retrieve=retrieve)  # type: ignore[call-arg]  # an alias that mypy does not see
