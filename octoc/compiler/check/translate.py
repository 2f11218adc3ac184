"""What a JSON Schema validator finds, said in our words: expected, found, and where."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.schemas import schema_of
from octoc.compiler.check.type_words import words_of_type
from octoc.compiler.fixes.edits import MakeFix, renamed
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Rule, Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import did_you_mean, typo_of
from octoc.json_types import json_type
from octoc.lists import one_of
from octoc.plugin.file_kinds import FileKind

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_RULES = {rule.name: rule for rule in vars(rules).values() if isinstance(rule, Rule)}
_FOUND_WORDS = {
    "null": "no value",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "string": "a string",
    "array": "a list",
}


def report_errors(errors: Iterable[ValidationError], inspection: FileInspection, base: KeyPath = ()) -> None:
    """Report each error of a validator, and cut what it makes unusable.

    Args:
        base: where the value that was validated stands in its file.
    """
    for error in errors:
        path: KeyPath = (*base, *error.absolute_path)
        _REPORTERS.get(str(error.validator), _other)(error, path, inspection)


def found_words(value: Any, kind: FileKind) -> str:
    """Return what kind of value this is, never the value itself: it may be a secret."""
    if isinstance(value, (dt.date, dt.time)):
        return "a date or time"
    kind_word = json_type(value)
    return kind.object_word if kind_word == "object" else _FOUND_WORDS.get(kind_word, f"a value of type {kind_word}")


def _expected_words(schema: Mapping[str, Any], kind: FileKind) -> str:
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else [name for name in types if name != "null"]
    if names != ["string"] and "$comment" in schema:
        return str(schema["$comment"])
    strings = schema.get("items", {}).get("type") == "string"
    words = {
        "string": "a string",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
        "array": "a list of strings" if strings else "a list",
        "object": kind.object_word,
    }
    return " or ".join(words[name] for name in names)


def _wrong_type(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    kind = inspection.file.kind
    schema = _mapping(error.schema)
    found = found_words(error.instance, kind)
    expected = _expected_words(schema, kind)
    advice = None
    if isinstance(error.instance, str) and schema.get("type") == "array":
        advice = "put it in square brackets to make it a list"
    elif error.instance is None and "array" in schema.get("type", ()):
        advice = "write `[]` for an empty list, or leave the key out"
    inspection.report(
        rules.WRONG_TYPE,
        f"expected {expected} for `{inspection.dotted(path)}`, found {found}"
        if path
        else f"expected {expected}, found {found}",
        path,
        # A missing value has only the place of its key.
        key=error.instance is None and bool(path) and isinstance(path[-1], str),
        cut=kind.cut_of(path),
        label=f"expected {expected}",
        help=advice,
        # No client acts on some keys: one of another type changes nothing.
        severity=Severity.INFO if schema.get("x-octoc-ignored") else None,
    )


def _missing(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    # One error per missing key, none of which says its key: the table is reported once with all of them.
    instance, schema = _mapping(error.instance), _mapping(error.schema)
    known = schema.get("properties", {})
    unknown = [key for key in instance if isinstance(key, str) and key not in known]
    cut = inspection.file.kind.cut_of(path)
    # A default stands in for what is missing.
    if inspection.file.kind.has_defaults and inspection.file.kind.unit_of(path) is None:
        inspection = attrs.evolve(inspection, cuts=set())
    for key in (key for key in _strings(error.validator_value) if key not in instance):
        meant = [name for name in unknown if did_you_mean(name, [key])]
        example = known.get(key, {}).get("description", "")
        # A slip of the key is the place to look at.
        slip = meant[0] if len(meant) == 1 and typo_of(meant[0], [key]) else None
        inspection.report(
            rules.MISSING_KEY,
            f"`{inspection.dotted(path)}` has no `{key}`" if path else f"the file has no `{key}`",
            path if slip is None else (*path, slip),
            key=slip is not None,
            cut=cut,
            help=f"rename `{meant[0]}` to `{key}`" if meant else f"add `{key}`: {example}".rstrip(". :"),
            fix=_renamed(inspection, (*path, meant[0]), meant[0], [key], part="key") if len(meant) == 1 else None,
        )


def _unknown_keys(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    known = _mapping(error.schema).get("properties", {})
    instance = _mapping(error.instance)
    for key in (key for key in instance if key not in known):
        expected = _where_known(key, inspection.file.kind) or f"expected {one_of(known)}"
        inspection.report(
            rules.UNKNOWN_KEY,
            f"unknown key `{key}` in {f'`{inspection.dotted(path)}`' if path else 'this file'}",
            (*path, key),
            key=True,
            cut=inspection.file.kind.cut_of((*path, key)),
            help=did_you_mean(str(key), known) or expected,
            fix=_renamed(inspection, (*path, key), str(key), known.keys() - instance.keys(), part="key"),
        )


def _where_known(key: Any, kind: FileKind) -> str | None:
    """Return which table of a TOML file has the key, if just one has."""
    tables = _mapping(schema_of(kind).get("properties")) if kind.syntax == "toml" else {}
    owners = [name for name, table in tables.items() if key in _mapping(table.get("properties"))]
    return f"move it to `[{owners[0]}]`" if len(owners) == 1 else None


def _not_in_enum(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    allowed = _strings(error.validator_value)
    kind = inspection.file.kind
    if not isinstance(error.instance, str):
        inspection.report(
            rules.WRONG_TYPE,
            f"expected {one_of(allowed)} for `{inspection.dotted(path)}`, found {found_words(error.instance, kind)}",
            path,
            cut=kind.cut_of(path),
        )
        return
    what = _mapping(error.schema).get("$comment", "")
    rule = _rule_of(error, rules.UNEXPECTED_VALUE)
    if rule is rules.UNKNOWN_TRANSPORT and kind.role == "servers":
        words = words_of_type(inspection.value_at(path[:-1]), inspection)
        report_not_allowed(
            error.instance, words.allowed, rule, path, inspection, meant=words.fitting, advice=words.advice
        )
        return
    report_not_allowed(error.instance, allowed, rule, path, inspection, what=what)


def report_not_allowed(
    value: str,
    allowed: Sequence[str],
    rule: Rule,
    path: KeyPath,
    inspection: FileInspection,
    *,
    what: str = "",
    meant: Sequence[str] | None = None,
    advice: str | None = None,
) -> None:
    """Report a word that is not one of `allowed`, and cut what it makes unusable.

    Args:
        what: what the word is; empty for a value of its key.
        meant: those that may be meant; None is all of `allowed`.
        advice: the help where none of them is near.
    """
    meant = allowed if meant is None else meant
    dialect = inspection.file.dialect
    # octoc itself reads agents of Octo and Octomind.
    is_of_client = inspection.file.kind.role == "servers" or bool(inspection.effect)
    reader = dialect.client if is_of_client and not dialect.needs_content else "octoc"
    key = next((step for step in reversed(path) if isinstance(step, str)), "value")
    article = "an" if key[0] in "aeiou" else "a"
    name = f"a {what}" if what else f"one of the `{key}`" if path[-1] != key else f"{article} `{key}`"
    inspection.report(
        rule,
        f"`{value}` is not {name} that {reader} knows: expected {one_of(allowed)}",
        path,
        cut=inspection.file.kind.cut_of(path),
        help=did_you_mean(value, meant) or advice,
        fix=_renamed(inspection, path, value, meant),
    )


def _no_alternative(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    # The first alternative has the words that people look for.
    first = min(error.context or (), key=lambda each: each.schema_path[0], default=None)
    if first is not None:
        base = path[: len(path) - len(error.absolute_path)]
        _REPORTERS.get(str(first.validator), _other)(first, (*base, *first.absolute_path), inspection)


def _renamed(
    inspection: FileInspection,
    path: KeyPath,
    old: str,
    known: Iterable[str],
    *,
    part: Literal["value", "key"] = "value",
) -> MakeFix | None:
    return renamed(Place(file=inspection.file.display, path=path, part=part), old, known)


def _out_of_range(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    schema = _mapping(error.schema)
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
    limits = " and ".join(f"{word} {schema[key]}" for key, word in words.items() if key in schema)
    inspection.report(
        rules.OUT_OF_RANGE,
        f"`{inspection.dotted(path)}` is {error.instance}, expected {limits}",
        path,
        cut=inspection.file.kind.cut_of(path),
    )


def _no_match(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    text = str(error.instance)
    # A key that is not a name: the path ends at its table, and the key itself is what was tested.
    of_key = "propertyNames" in error.absolute_schema_path
    path = (*path, text) if of_key else path
    cut = inspection.file.kind.cut_of(path)
    if not text.strip():
        what = f"a key of `{inspection.dotted(path[:-1])}`" if of_key else f"`{inspection.dotted(path)}`"
        inspection.report(rules.EMPTY_VALUE, f"{what} is empty, expected text", path, key=of_key, cut=cut)
        return
    expected = _mapping(error.schema).get("$comment", "another form")
    written = " ".join(text.split())  # a message has one line
    inspection.report(
        _rule_of(error, rules.BAD_NAME),
        f"`{written}` is not a valid name: expected {expected}",
        path,
        key=of_key,
        cut=cut,
    )


def _no_items(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    inspection.report(
        rules.EMPTY_VALUE,
        f"`{inspection.dotted(path)}` is empty, expected at least {error.validator_value} element",
        path,
        cut=inspection.file.kind.cut_of(path),
    )


def _other(error: ValidationError, path: KeyPath, inspection: FileInspection) -> None:
    # A keyword of a schema that has no words here yet; a test keeps the schemas to the keywords below.
    inspection.report(rules.UNEXPECTED_VALUE, error.message, path, cut=inspection.file.kind.cut_of(path))


_REPORTERS: dict[str, Callable[[ValidationError, KeyPath, FileInspection], None]] = {
    "type": _wrong_type,
    "required": _missing,
    "additionalProperties": _unknown_keys,
    "enum": _not_in_enum,
    "anyOf": _no_alternative,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "exclusiveMinimum": _out_of_range,
    "pattern": _no_match,
    "minItems": _no_items,
}
TRANSLATED_KEYWORDS = frozenset(_REPORTERS)
"""The keywords of JSON Schema that can fail and have words."""


def _rule_of(error: ValidationError, default: Rule) -> Rule:
    return _RULES.get(str(_mapping(error.schema).get("x-octoc-rule", "")), default)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _strings(value: Any) -> list[str]:
    return [str(element) for element in value] if isinstance(value, list) else []
