"""The schemas themselves: valid, described key by key, with examples that meet them."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from octoc.compiler.check.schemas import schema_of, validator_of
from octoc.compiler.check.translate import TRANSLATED_KEYWORDS
from octoc.compiler.inputs.registry import KINDS
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.data import schemas_dir
from octoc.names import NAME_RULE, is_name
from octoc.plugin.file_kinds import FileKind

# Keywords that only lead to others, hold words, or cannot fail on their own.
HARMLESS = {
    "$schema",
    "$id",
    "$comment",
    "deprecated",
    "$defs",
    "$ref",
    "title",
    "description",
    "examples",
    "default",
    "x-octoc-rule",
    "x-octoc-ignored",
}
HARMLESS |= {"properties", "items", "propertyNames"}
BY_NAME = {"properties", "$defs"}
WITH_FILE = [kind for kind in KINDS if kind.schema is None]
"""The kinds whose schema is a file; the others have one for each client, in `schemas/clients`."""


def subschemas(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every subschema with its JSON pointer."""
    yield path, node
    for keyword in BY_NAME & set(node):
        for name, inner in node[keyword].items():
            yield from subschemas(inner, f"{path}/{keyword}/{name}")
    for keyword in ("items", "propertyNames", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from subschemas(node[keyword], f"{path}/{keyword}")


def described(kind: FileKind) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the subschema of every key, with its JSON pointer."""
    return ((path, node) for path, node in subschemas(schema_of(kind)) if re.search(r"/properties/[^/]+\Z", path))


def within(kind: FileKind, subschema: dict[str, Any]) -> Validator:
    """Return a validator of a part of a schema that still resolves the schema's own references."""
    whole = schema_of(kind)
    return validator_of(kind).evolve(schema={"$id": whole["$id"], "$defs": whole.get("$defs", {}), **subschema})


def test_there_is_one_schema_per_kind() -> None:
    """Each file kind without a schema of its own has a file, and there is no other file."""
    assert {path.name for path in schemas_dir().glob("*.json")} == {f"{kind}.v1.json" for kind in WITH_FILE}


@pytest.mark.parametrize("kind", WITH_FILE, ids=str)
def test_a_schema_is_valid(kind: FileKind) -> None:
    """Each schema meets the 2020-12 meta-schema and has a URN, a title and a description."""
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:octoc:schema:{kind}:v1"
    assert schema["title"]
    assert schema["description"]
    assert schema["examples"]


@pytest.mark.parametrize("kind", WITH_FILE, ids=str)
def test_every_key_is_explained(kind: FileKind) -> None:
    """Each key has a description that ends with a full stop, and at least one example."""
    nodes = list(described(kind))
    assert nodes
    for path, node in nodes:
        assert node.get("description", "").endswith("."), path
        assert node.get("examples"), path


@pytest.mark.parametrize("kind", WITH_FILE, ids=str)
def test_examples_meet_their_schema(kind: FileKind) -> None:
    """The examples of a key meet the key's schema, and those of a file the file's."""
    for example in schema_of(kind)["examples"]:
        validator_of(kind).validate(example)
    for path, node in described(kind):
        for example in node["examples"]:
            assert list(within(kind, node).iter_errors(example)) == [], path


@pytest.mark.parametrize("kind", WITH_FILE, ids=str)
def test_every_keyword_has_words(kind: FileKind) -> None:
    """A schema uses no keyword whose failure octoc cannot put into words."""
    for path, node in subschemas(schema_of(kind)):
        assert set(node) <= HARMLESS | TRANSLATED_KEYWORDS, path


@pytest.mark.parametrize("text", ["acme", "a.b_c-1", "9", "", "-a", ".a", "a b", "a/b", "ä", "a:b", "a\n"])
def test_the_schema_s_names_are_octoc_s(text: str) -> None:
    """The pattern for names in the schemas is the rule of `octoc.names`."""
    name = schema_of(WORKSPACE)["$defs"]["name"]
    assert within(WORKSPACE, name).is_valid(text) is is_name(text)
    assert name["$comment"] == NAME_RULE


def test_schemas_are_written_with_two_spaces() -> None:
    """Schema files are UTF-8 JSON that ends with a newline, indented by two spaces."""
    for path in schemas_dir().glob("*.json"):
        text = path.read_text(encoding="utf-8")
        json.loads(text)
        assert text.endswith("}\n"), path
        assert '\n  "$id"' in text, path
