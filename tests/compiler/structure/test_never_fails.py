"""The law of the two stages: whatever a file says, check reports and structure does not fail."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.check.schemas import schema_of, validator_of
from octoc.compiler.check.stage import check_values, sound_documents
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import KINDS
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.model.documents import Discovered, Document, Documents, FoundFile, kept
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.structure.settings import settings_from
from octoc.compiler.structure.stage import sources_of
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.plugin.file_kinds import FileKind
from tests.compiler.dialects import dialect_named

KEY = {
    CAPABILITY_CONFIG: {"capability": "clock"},
    CAPABILITY_PROVIDER: {"capability": "clock", "provider": "default"},
    AGENT_MANIFEST: {"domain": "developer", "spec": "general"},
    SKILL: {"skill": "s"},
    SNAPSHOT: {"server": "time"},
}
DIALECTS = {
    MCP: ["claude", "claude-desktop", "cursor", "vscode"],
    AGENT_MD: ["octo", "claude"],
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
WORDS = ["a", "b", "a b", "x:y", "x/y", "[a, b]", "a, b", "", " ", "Bash(a", "AGENT"]


def resolved(kind: FileKind, node: dict[str, Any]) -> tuple[FileKind, dict[str, Any]]:
    """Return the subschema that a reference of `node` leads to, and the kind whose schema has it."""
    while "$ref" in node:
        address, _, pointer = node["$ref"].partition("#")
        kind = next((other for other in KINDS if address == schema_of(other).get("$id")), kind)
        found: Any = schema_of(kind)
        for step in pointer.strip("/").split("/"):
            found = found[step]
        node = found
    return kind, node


def shaped(kind: FileKind, node: dict[str, Any], *, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return values that are shaped like a schema wants them, here and there replaced by anything at all."""
    kind, node = resolved(kind, node)
    if depth > 7:
        return ANYTHING
    options: list[st.SearchStrategy[Any]] = []
    types = node.get("type", "object" if "properties" in node else [])
    for name in [types] if isinstance(types, str) else types:
        if name == "object":
            options.append(_objects(kind, node, depth))
        elif name == "array":
            options.append(st.lists(shaped(kind, node.get("items", {}), depth=depth + 1), max_size=3))
        elif name in ("integer", "number"):
            options.append(st.integers(-1, 2000) | st.floats(0, 2))
        elif name == "string":
            options.append(st.sampled_from(WORDS))
        else:
            options.append(st.booleans() if name == "boolean" else st.none())
    if "enum" in node:
        options.append(st.sampled_from([*node["enum"], "builtin", "htp"]))
    sound = st.one_of(options) if options else ANYTHING
    # One in eight, so that what is below has a chance to be sound.
    return st.integers(0, 7).flatmap(lambda dice: ANYTHING if dice == 0 else sound)


def _objects(kind: FileKind, node: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    known = {key: shaped(kind, inner, depth=depth + 1) for key, inner in node.get("properties", {}).items()}
    required = set(node.get("required", []))
    fixed = st.fixed_dictionaries(
        {key: known[key] for key in sorted(required)},
        optional={key: known[key] for key in sorted(set(known) - required)},
    )
    more = node.get("additionalProperties")
    if not isinstance(more, dict):
        return fixed
    extra = st.dictionaries(st.sampled_from(WORDS), shaped(kind, more, depth=depth + 1), max_size=3)
    return st.tuples(fixed, extra).map(lambda pair: {**pair[0], **pair[1]})


@cache
def files_of(kind: FileKind) -> st.SearchStrategy[Any]:
    """Return the values of files that are more or less of `kind`."""
    return _objects(kind, dict(schema_of(kind)), 0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not WORKSPACE], ids=str)
@given(data=st.data())
def test_structure_does_not_fail_after_check(kind: FileKind, data: st.DataObject) -> None:
    """Any values of any kind pass check and structure without an exception, and what is cut was reported."""
    values = data.draw(files_of(kind))
    file = FoundFile(
        path=Path("t/s/SKILL.md"),
        display="t/s/SKILL.md",
        kind=kind,
        tap="t",
        key=KEY.get(kind, {}),
        dialect=dialect_named(kind, data.draw(st.sampled_from(DIALECTS.get(kind, [""])))),
    )
    sink = DiagnosticSink()
    settings = WorkspaceSettings(name="acme", place=Place(file="octoc.toml"))
    found = Discovered(root=Path("/workspace"), settings=settings, files=(file,))
    document = Document(file=file, values=values, digest="0" * 64, body="Body")
    checked = sound_documents(Documents(documents=(document,), digests={}), sink)
    sources_of(checked, found)
    left = checked.documents[0].values if checked.documents else None
    if left is None and kind.exclude is not None:
        return  # it is a file of another client
    if left != values:
        assert sink.diagnostics
    if not validator_of(kind).is_valid(values) and not any(
        diagnostic.rule.code == "OCT240" for diagnostic in sink.diagnostics
    ):
        assert sink.worst() is Severity.ERROR


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not WORKSPACE], ids=str)
@given(data=st.data())
def test_what_check_leaves_is_sound(kind: FileKind, data: st.DataObject) -> None:
    """Values that check keeps are sound on a second check, except a list that lost its last element.

    Of a kind whose values have defaults, a required key with a bad value is gone too.
    """
    values = data.draw(files_of(kind))
    file = FoundFile(
        path=Path("x"), display="x", kind=kind, key=KEY.get(kind, {}), dialect=dialect_named(kind, "claude")
    )
    left = check_values(file, values, DiagnosticSink())
    if left is not None:
        errors = validator_of(kind).iter_errors(_compact(left))
        expected = {"minItems", "required"} if kind.has_defaults else {"minItems"}
        assert [error.message for error in errors if error.validator not in expected] == []


def _compact(values: Any) -> Any:
    """Return checked values as a file would have them, without removed elements."""
    if isinstance(values, dict):
        return {key: _compact(value) for key, value in values.items()}
    return [_compact(value) for _, value in kept(values)] if isinstance(values, list) else values


@given(values=files_of(WORKSPACE))
def test_settings_do_not_fail(values: dict[str, Any]) -> None:
    """Any values of octoc.toml give settings, and what is unsound in them is an error."""
    sink = DiagnosticSink()
    settings = settings_from(values, Place(file="octoc.toml"), "folder", sink)
    assert settings.name
    if not validator_of(WORKSPACE).is_valid(values):
        assert sink.worst() is Severity.ERROR
