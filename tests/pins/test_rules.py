"""Kinds of change of recorded tools and offers: each is reported by its own rule, in its class."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from octoc.pins.changes import listing_changes
from octoc.pins.parts import change_objects, moved, moves, pins_of
from octoc.pins.rules import RULES, ChangeClass
from octoc.results import ListedOffer, ListedTool, OfferKind, ServerListing

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
BREAKING, WIDENING, WORDING = ChangeClass.BREAKING, ChangeClass.WIDENING, ChangeClass.WORDING


def listing(
    *tools: Mapping[str, Any], offers: Mapping[OfferKind, Mapping[str, Any]] | None = None, **about: Any
) -> ServerListing:
    """A listing of tools in wire form, of one offer by kind, and of what the server says of itself."""
    keys = {"resource": "uri", "template": "uriTemplate", "prompt": "name"}
    return ServerListing(
        server_info=about.get("info", {}),
        protocol_version="",
        instructions=about.get("instructions"),
        tools=tuple(
            ListedTool(name=wire["name"], description=wire.get("description", ""), wire=wire) for wire in tools
        ),
        offers=tuple(ListedOffer(kind=kind, name=wire[keys[kind]], wire=wire) for kind, wire in (offers or {}).items()),
        features=about.get("features", ()),
    )


def tool(**wire: Any) -> ServerListing:
    """A listing of one tool."""
    return listing({"name": "t", "inputSchema": {"type": "object"}, **wire})


def takes(schema: Any, *required: str, **more: Any) -> ServerListing:
    """A listing of a tool with the argument `a` of a schema; `more` are other members of its input schema."""
    needs = {"required": list(required)} if required else {}
    return tool(inputSchema={"type": "object", "properties": {"a": schema}, **needs, **more})


def gives(schema: Any, *required: str) -> ServerListing:
    """A listing of a tool whose result has the field `a` of a schema."""
    return tool(outputSchema={"type": "object", "properties": {"a": schema}, "required": list(required)})


def hints(**annotations: Any) -> ServerListing:
    """A listing of a tool with annotations."""
    return tool(annotations=annotations)


def resource(**wire: Any) -> ServerListing:
    """A listing of one resource."""
    return listing(offers={"resource": {"uri": "file:///a", "description": "A file", **wire}})


def template(**wire: Any) -> ServerListing:
    """A listing of one resource template."""
    return listing(offers={"template": {"uriTemplate": "file:///{a}", "description": "Any file", **wire}})


def prompt(*arguments: Mapping[str, Any], **wire: Any) -> ServerListing:
    """A listing of one prompt."""
    return listing(offers={"prompt": {"name": "p", "description": "Ask", "arguments": list(arguments), **wire}})


def nested(schema: Any) -> Any:
    """An object in a list in an object."""
    return {"type": "object", "properties": {"b": {"type": "array", "items": schema}}}


def objects(**properties: Any) -> Any:
    """The schema of an object."""
    return {"type": "object", "properties": properties}


NOTHING = listing()
LEAF = {"$ref": "#/$defs/Leaf"}
DOCUMENTED = {"name": "old", "description": "Reads a file", "inputSchema": {"type": "object"}}
A, A_REQUIRED = {"name": "a"}, {"name": "a", "required": True}

ROWS: list[tuple[ServerListing, ServerListing, str, ChangeClass]] = [
    (tool(), NOTHING, "tool-removed", BREAKING),
    (NOTHING, tool(), "tool-added", WIDENING),
    (listing(DOCUMENTED), listing({**DOCUMENTED, "name": "new"}), "tool-renamed", BREAKING),
    (tool(), tool(description="x"), "description-added", WORDING),
    (tool(description="x"), tool(description="y"), "description-changed", WORDING),
    (tool(description="x"), tool(), "description-removed", WORDING),
    (tool(title="x"), tool(title="y"), "title-changed", WORDING),
    (hints(title="x"), hints(title="y"), "title-changed", WORDING),
    (tool(), tool(icons=[{"src": "https://x.example/i.png"}]), "icons-changed", WORDING),
    (tool(), tool(_meta={"a": 1}), "meta-changed", WORDING),
    (tool(), tool(other=1), "member-changed", WORDING),
    (tool(), tool(execution={"taskSupport": "required"}), "execution-changed", WIDENING),
    # What a tool says of its calls.
    (hints(readOnlyHint=True), tool(), "read-only-hint-dropped", WIDENING),
    (hints(readOnlyHint=True), hints(readOnlyHint=False), "read-only-hint-dropped", WIDENING),
    (hints(), hints(readOnlyHint=True), "read-only-hint-gained", WIDENING),
    (hints(destructiveHint=False), hints(destructiveHint=True), "destructive-hint-gained", WIDENING),
    (hints(), hints(destructiveHint=False), "destructive-hint-dropped", WIDENING),
    (hints(idempotentHint=True), hints(), "idempotent-hint-dropped", WIDENING),
    (hints(), hints(idempotentHint=True), "idempotent-hint-gained", WIDENING),
    (hints(openWorldHint=False), hints(), "open-world-hint-gained", WIDENING),
    (hints(), hints(openWorldHint=False), "open-world-hint-dropped", WIDENING),
    (hints(), hints(openWorldHint=True), "hint-stated", WORDING),
    (hints(), hints(audience="x"), "annotation-changed", WIDENING),
    # Arguments.
    (takes(TEXT), takes(TEXT, "a"), "parameter-required", BREAKING),
    (takes(TEXT, "a"), takes(TEXT), "parameter-optional", WIDENING),
    (tool(), takes(TEXT), "parameter-added", WIDENING),
    (tool(), takes(TEXT, "a"), "parameter-required-added", BREAKING),
    (takes(TEXT), tool(), "parameter-removed", BREAKING),
    (takes(TEXT), tool(inputSchema=objects(b=TEXT)), "parameter-renamed", BREAKING),
    (takes(TEXT), takes(NUMBER), "type-changed", BREAKING),
    (takes(NUMBER), takes({"type": "number"}), "type-widened", WIDENING),
    (takes(TEXT), takes({"type": ["string", "null"]}), "nullable-added", WIDENING),
    (takes({"type": ["string", "null"]}), takes(TEXT), "nullable-removed", BREAKING),
    (takes({"enum": ["x", "y"]}), takes({"enum": ["x"]}), "enum-narrowed", BREAKING),
    (takes({"enum": ["x"]}), takes({"enum": ["x", "y"]}), "enum-widened", WIDENING),
    (takes({"enum": [1]}), takes({"enum": [True]}), "enum-narrowed", BREAKING),
    (takes(TEXT), takes({**TEXT, "enum": ["x"]}), "enum-added", BREAKING),
    (takes({**TEXT, "enum": ["x"]}), takes(TEXT), "enum-removed", WIDENING),
    (takes({"const": "x"}), takes({"const": "y"}), "enum-narrowed", BREAKING),
    (takes({"minimum": 1}), takes({"minimum": 2}), "minimum-tightened", BREAKING),
    (takes({"minimum": 2}), takes({"minimum": 1}), "minimum-loosened", WIDENING),
    (takes({"maximum": 2}), takes({"maximum": 1}), "maximum-tightened", BREAKING),
    (takes({"maximum": 1}), takes({}), "maximum-loosened", WIDENING),
    (takes({"exclusiveMinimum": 1}), takes({"exclusiveMinimum": 2}), "exclusive-minimum-tightened", BREAKING),
    (takes({"exclusiveMaximum": 1}), takes({"exclusiveMaximum": 2}), "exclusive-maximum-loosened", WIDENING),
    (takes(TEXT), takes({**TEXT, "minLength": 1}), "min-length-tightened", BREAKING),
    (takes({**TEXT, "minLength": 1}), takes(TEXT), "min-length-loosened", WIDENING),
    (takes(TEXT), takes({**TEXT, "maxLength": 9}), "max-length-tightened", BREAKING),
    (takes({**TEXT, "maxLength": 9}), takes({**TEXT, "maxLength": 10}), "max-length-loosened", WIDENING),
    (takes({"minItems": 1}), takes({"minItems": 2}), "min-items-tightened", BREAKING),
    (takes({"maxItems": 1}), takes({"maxItems": 2}), "max-items-loosened", WIDENING),
    (takes({"minProperties": 1}), takes({"minProperties": 2}), "min-properties-tightened", BREAKING),
    (takes({"maxProperties": 1}), takes({"maxProperties": 2}), "max-properties-loosened", WIDENING),
    (takes(TEXT), takes({**TEXT, "pattern": "x"}), "pattern-added", BREAKING),
    (takes({**TEXT, "pattern": "x"}), takes(TEXT), "pattern-removed", WIDENING),
    (takes({**TEXT, "pattern": "x"}), takes({**TEXT, "pattern": "y"}), "pattern-changed", BREAKING),
    (takes(TEXT), takes({**TEXT, "format": "uri"}), "format-added", BREAKING),
    (takes({**TEXT, "format": "uri"}), takes(TEXT), "format-removed", WIDENING),
    (takes({"multipleOf": 2}), takes({"multipleOf": 3}), "multiple-of-changed", BREAKING),
    (takes({"type": "array"}), takes({"type": "array", "uniqueItems": True}), "unique-items-added", BREAKING),
    (takes(TEXT), takes(TEXT, additionalProperties=False), "schema-closed", BREAKING),
    (takes(TEXT, additionalProperties=False), takes(TEXT), "schema-opened", WIDENING),
    (takes(TEXT), takes(TEXT, propertyNames={"pattern": "^a"}), "property-names-added", BREAKING),
    (takes(TEXT), takes(TEXT, patternProperties={"^x": TEXT}), "pattern-properties-added", BREAKING),
    (takes(TEXT), takes(TEXT, dependentRequired={"a": ["b"]}), "dependent-required-added", BREAKING),
    (takes({}), takes({"not": TEXT}), "not-added", BREAKING),
    (takes({**TEXT, "default": "x"}), takes({**TEXT, "default": "y"}), "default-changed", WIDENING),
    (takes(TEXT), takes({**TEXT, "default": "y"}), "default-added", WIDENING),
    (takes({**TEXT, "default": "x"}), takes(TEXT), "default-removed", WIDENING),
    (takes(TEXT), takes({**TEXT, "description": "y"}), "schema-text-changed", WORDING),
    (takes(TEXT), takes({**TEXT, "title": "y"}), "schema-text-changed", WORDING),
    (takes(TEXT), takes({**TEXT, "x-vendor": 1}), "schema-rewritten", WORDING),
    (takes(TEXT), takes("string"), "schema-unknown", BREAKING),
    # Inside of arguments.
    (takes(nested(TEXT)), takes(nested(NUMBER)), "type-changed", BREAKING),
    (takes(nested(objects(c=TEXT))), takes(nested(objects(c=TEXT, d=TEXT))), "parameter-added", WIDENING),
    (takes({"items": [TEXT]}), takes({"items": [NUMBER]}), "items-changed", BREAKING),
    (takes({"prefixItems": [TEXT]}), takes({"prefixItems": [NUMBER]}), "prefix-items-changed", BREAKING),
    (takes({"anyOf": [TEXT]}), takes({"anyOf": [TEXT, {"type": "null"}]}), "alternative-added", WIDENING),
    (takes({"anyOf": [TEXT, {"type": "null"}]}), takes({"anyOf": [TEXT]}), "alternative-removed", BREAKING),
    (takes({"anyOf": [TEXT, NUMBER]}), takes({"anyOf": [{**TEXT, "minLength": 1}, NUMBER]}), "min-length-tightened",
     BREAKING),
    (takes({"anyOf": [TEXT, NUMBER]}), takes({"anyOf": [NUMBER, TEXT]}), "schema-text-changed", WORDING),
    (takes({"anyOf": [TEXT, NUMBER]}), takes({"anyOf": [{}, {"type": "null"}]}), "any-of-changed", BREAKING),
    (takes({"oneOf": [TEXT]}), takes({"oneOf": [TEXT, NUMBER]}), "one-of-changed", BREAKING),
    (takes({"allOf": [TEXT]}), takes({"allOf": [TEXT, {"minLength": 1}]}), "all-of-changed", BREAKING),
    (takes({"allOf": [TEXT, {"minLength": 1}]}), takes({"allOf": [TEXT]}), "all-of-removed", WIDENING),
    (takes(LEAF, **{"$defs": {"Leaf": TEXT}}), takes(LEAF, **{"$defs": {"Leaf": NUMBER}}), "type-changed", BREAKING),
    (takes(LEAF, **{"$defs": {"Leaf": TEXT}}), takes(TEXT), "schema-rewritten", WORDING),
    (takes({"$ref": "other.json"}), takes({"$ref": "more.json"}), "ref-changed", BREAKING),
    # Results.
    (gives(TEXT), tool(), "output-schema-removed", BREAKING),
    (tool(), gives(TEXT), "output-schema-added", WIDENING),
    (gives(TEXT), tool(outputSchema=objects()), "output-field-removed", BREAKING),
    (tool(outputSchema=objects()), gives(TEXT), "output-field-added", WIDENING),
    (gives(TEXT), tool(outputSchema=objects(b=TEXT)), "output-field-renamed", BREAKING),
    (gives(TEXT, "a"), gives(TEXT), "output-field-optional", BREAKING),
    (gives(TEXT), gives(TEXT, "a"), "output-field-required", WIDENING),
    (gives(TEXT), gives(NUMBER), "output-type-changed", BREAKING),
    (gives(TEXT), gives({"type": ["string", "null"]}), "output-type-changed", BREAKING),
    (gives({"type": "number"}), gives(NUMBER), "output-type-narrowed", WIDENING),
    (gives({"enum": ["x"]}), gives({"enum": ["x", "y"]}), "output-enum-widened", BREAKING),
    (gives({"enum": ["x", "y"]}), gives({"enum": ["x"]}), "output-enum-narrowed", WIDENING),
    (gives({"maximum": 1}), gives({"maximum": 2}), "output-loosened", BREAKING),
    (gives({"maximum": 2}), gives({"maximum": 1}), "output-tightened", WIDENING),
    (gives(TEXT), gives({**TEXT, "description": "y"}), "output-text-changed", WORDING),
    # Offers.
    (resource(), NOTHING, "resource-removed", BREAKING),
    (NOTHING, resource(), "resource-added", WIDENING),
    (resource(), resource(uri="file:///b"), "resource-uri-changed", BREAKING),
    (resource(mimeType="text/plain"), resource(mimeType="image/png"), "resource-mime-type-changed", BREAKING),
    (resource(), resource(mimeType="text/plain"), "resource-mime-type-stated", WORDING),
    (resource(), resource(description="Other"), "offer-description-changed", WORDING),
    (resource(), resource(title="A"), "offer-title-changed", WORDING),
    (resource(), resource(size=3), "offer-member-changed", WORDING),
    (template(), NOTHING, "template-removed", BREAKING),
    (NOTHING, template(), "template-added", WIDENING),
    (template(), template(uriTemplate="file:///x/{a}"), "template-uri-changed", BREAKING),
    (template(mimeType="text/plain"), template(mimeType="image/png"), "template-mime-type-changed", BREAKING),
    (template(), template(mimeType="text/plain"), "template-mime-type-stated", WORDING),
    (prompt(), NOTHING, "prompt-removed", BREAKING),
    (NOTHING, prompt(), "prompt-added", WIDENING),
    (prompt(), prompt(name="q"), "prompt-renamed", BREAKING),
    (prompt(), prompt(A), "prompt-argument-added", WIDENING),
    (prompt(), prompt(A_REQUIRED), "prompt-argument-required-added", BREAKING),
    (prompt(A), prompt(A_REQUIRED), "prompt-argument-required", BREAKING),
    (prompt(A_REQUIRED), prompt(A), "prompt-argument-optional", WIDENING),
    (prompt(A), prompt(), "prompt-argument-removed", BREAKING),
    (prompt(A), prompt({**A, "description": "x"}), "prompt-argument-text-changed", WORDING),
    # What the server says of itself.
    (listing(features=("logging",)), NOTHING, "feature-removed", BREAKING),
    (NOTHING, listing(features=("logging",)), "feature-added", WIDENING),
    (NOTHING, listing(instructions="Obey"), "instructions-changed", WORDING),
    (listing(info={"version": "1"}), listing(info={"version": "2"}), "server-version-changed", WORDING),
    (listing(info={"name": "a"}), listing(info={"name": "b"}), "server-info-changed", WORDING),
]  # fmt: skip


@pytest.mark.parametrize("old,new,rule,kind", ROWS, ids=[f"{number}-{row[2]}" for number, row in enumerate(ROWS)])
def test_each_change_has_its_rule_and_class(
    old: ServerListing, new: ServerListing, rule: str, kind: ChangeClass
) -> None:
    """The worst finding of a change is by the rule of its row; one value for another also adds the other one."""
    change, *others = listing_changes(old, new)
    assert (change.rule.name, change.kind) == (rule, kind)
    assert {other.rule.name for other in others} <= {"enum-widened", "type-widened"}


OF_OTHER_COMPARISONS = {
    *("server-added", "server-removed"),
    *("input-schema-changed", "output-schema-changed", "annotations-changed", "features-changed", "record-changed"),
}
"""Rules of changes of whole servers, and of parts of which only digests are known."""


def test_each_named_rule_has_a_row() -> None:
    """No rule is without an example; keywords that are compared whole share three rules by class."""
    covered = {row[2] for row in ROWS}
    whole = {name for name in RULES if name.rsplit("-", 1)[-1] in ("tightened", "loosened") or _is_whole(name)}
    assert RULES.keys() - whole - covered == OF_OTHER_COMPARISONS
    assert len(covered) > 60


def _is_whole(name: str) -> bool:
    return RULES[name].text.startswith("{at}: `") and RULES[name].text.endswith((" added", " removed", " changed"))


def _random_listing(seed: random.Random) -> ServerListing:
    """A listing that is put together of members of the rows."""
    tools: dict[str, Mapping[str, Any]] = {}
    offers: dict[tuple[str, str], ListedOffer] = {}
    for _ in range(seed.randint(0, 4)):
        old, new, _, _ = seed.choice(ROWS)
        source = seed.choice([old, new])
        for one in source.tools:
            name = seed.choice(["t", "u", "v"])
            tools[name] = {**one.wire, "name": name}
        offers |= {(one.kind, one.name): one for one in source.offers}
    info = {"version": str(seed.randint(1, 2))}
    plain = listing(*tools.values(), info=info, instructions=seed.choice([None, "x", "y"]))
    return ServerListing(
        server_info=plain.server_info, protocol_version="", instructions=plain.instructions, tools=plain.tools,
        offers=tuple(offers.values()), features=seed.choice([(), ("logging",)]),
    )  # fmt: skip


def test_a_diff_is_empty_exactly_between_equal_records_and_moves_the_pins() -> None:
    """diff(A, A) is empty; the JSON form of diff(A, B) applied to the pins of A gives those of B."""
    seed = random.Random(19)
    records = [_random_listing(seed) for _ in range(60)]
    for old in records:
        assert listing_changes(old, old) == ()
        for new in records:
            before, after = pins_of(old), pins_of(new)
            form = moves(before, after)
            assert moved(before, form) == after
            assert bool(form) == bool(listing_changes(old, new)), change_objects(listing_changes(old, new))


def test_a_diff_is_not_applied_to_other_pins() -> None:
    """Pins that are not those before the diff are refused by name."""
    form = moves(pins_of(tool()), pins_of(tool(description="x")))
    with pytest.raises(ValueError, match="`tool t` is not what the diff begins with"):
        moved(pins_of(tool(description="y")), form)


def test_each_part_of_a_tool_has_its_own_digest() -> None:
    """A change of one part changes the digest of that part alone."""
    plain = {"description": "x", "inputSchema": objects(), "outputSchema": objects(), "annotations": {}, "title": "t"}
    for key, part in (
        ("description", "description"), ("inputSchema", "input_schema"), ("outputSchema", "output_schema"),
        ("annotations", "annotations"), ("title", "other"),
    ):  # fmt: skip
        before = pins_of(tool(**plain))["tool t"]
        after = pins_of(tool(**{**plain, key: {"x": 1} if key != "description" else "y"}))["tool t"]
        assert {name for name in before if before[name] != after[name]} == {part}
