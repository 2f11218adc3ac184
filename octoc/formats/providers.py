"""What model providers refuse in the schema of a tool, as data: one row for each construct, with its source.

Linting tells of them, rewriting acts on them. A construct is named by what the schema shows: `root:KEYWORD` at the top
level, `keyword:KEYWORD` anywhere, or one of the names that the linter's `constructs.py` finds. The rows are facts of
the plain function-calling APIs without strict mode, which has narrower rules that a client chooses for each tool; as of
November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class ProviderRule:
    """What a provider makes of a construct.

    `drops` is a construct that an adapter has to leave out, so that calls are checked less; what is not dropped makes
    the provider refuse the request, with every other tool in it. `says` is one line.
    """

    provider: str
    construct: str
    says: str
    source: str
    drops: bool = False


@attrs.frozen(kw_only=True)
class DescriptionLimit:
    """How much of a tool's description a provider or its client takes. `unit` is `characters` or `bytes`."""

    provider: str
    limit: int
    unit: str
    says: str
    source: str


LABELS: Mapping[str, str] = {"anthropic": "Anthropic", "openai": "OpenAI", "gemini": "Gemini"}
"""What a provider is called, by its name in `[lint] providers`."""

PROPERTY_NAMES: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "anthropic": ("letters, digits, `_`, `.` and `-`, 64 at most", re.compile(r"[a-zA-Z0-9_.-]{1,64}")),
    "gemini": (
        "letters, digits and `_`, 64 at most, and no digit at the start",
        re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
    ),
}
"""Names that the properties at the top level may have: in words, and as an expression over ASCII."""

_ANTHROPIC_API = "Anthropic Messages API: the 400 answer that names `tools.N.custom.input_schema`"
_OPENAI_API = "OpenAI function calling: the 400 answer with code `invalid_function_parameters`"
_GEMINI_SCHEMA = "Gemini API reference, object `Schema`, which `FunctionDeclaration.parameters` is"
_GEMINI_NAMES = "Vertex AI reference, `FunctionDeclaration.parameters`: names of parameters"
_GEMINI_API = "Gemini API: the 400 answer that names `function_declarations[N].parameters`"

_TOP_LEVEL = "takes no `{}` at the top level of a schema"
_NO_FIELD = "has no field for `{}` in `parameters`"


def _gemini(*keywords: str, drops: bool) -> tuple[ProviderRule, ...]:
    return tuple(
        ProviderRule(
            provider="gemini",
            construct=f"keyword:{keyword}",
            says=_NO_FIELD.format(keyword),
            source=_GEMINI_SCHEMA,
            drops=drops,
        )
        for keyword in keywords
    )


PROVIDER_RULES: tuple[ProviderRule, ...] = (
    *(
        ProviderRule(
            provider="anthropic", construct=f"root:{keyword}", says=_TOP_LEVEL.format(keyword), source=_ANTHROPIC_API
        )
        for keyword in ("oneOf", "allOf", "anyOf")
    ),
    ProviderRule(
        provider="anthropic",
        construct="property-name",
        says=f"wants property names of {PROPERTY_NAMES['anthropic'][0]}",
        source=_ANTHROPIC_API,
    ),
    ProviderRule(
        provider="anthropic",
        construct="list-items",
        says="reads schemas as draft 2020-12, where `items` is not a list",
        source=_ANTHROPIC_API,
    ),
    ProviderRule(
        provider="anthropic",
        construct="boolean-bound",
        says="reads schemas as draft 2020-12, where an exclusive bound is a number",
        source=_ANTHROPIC_API,
    ),
    *(
        ProviderRule(
            provider="openai", construct=f"root:{keyword}", says=_TOP_LEVEL.format(keyword), source=_OPENAI_API
        )
        for keyword in ("oneOf", "anyOf", "allOf", "enum", "const", "not")
    ),
    ProviderRule(
        provider="openai", construct="array-without-items", says="wants `items` in every array", source=_OPENAI_API
    ),
    ProviderRule(
        provider="gemini", construct="array-without-items", says="wants `items` in every array", source=_GEMINI_API
    ),
    ProviderRule(
        provider="gemini",
        construct="property-name",
        says=f"wants property names of {PROPERTY_NAMES['gemini'][0]}",
        source=_GEMINI_NAMES,
    ),
    ProviderRule(
        provider="gemini",
        construct="type-list",
        says="takes one `type` and no list of them in `parameters`",
        source=_GEMINI_API,
    ),
    ProviderRule(
        provider="gemini",
        construct="enum-not-text",
        says="takes an `enum` of texts only in `parameters`",
        source=_GEMINI_API,
    ),
    ProviderRule(
        provider="gemini",
        construct="list-items",
        says="takes one schema as `items` and no list of them in `parameters`",
        source=_GEMINI_SCHEMA,
    ),
    *_gemini("$ref", "allOf", "oneOf", "not", "if", "patternProperties", "prefixItems", drops=False),
    *_gemini(
        "$schema",
        "additionalProperties",
        "const",
        "contains",
        "dependentRequired",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "multipleOf",
        "propertyNames",
        "unevaluatedProperties",
        "uniqueItems",
        drops=True,
    ),
    ProviderRule(
        provider="gemini",
        construct="text-format",
        says="takes no `format` of texts but `date-time` and `enum` in `parameters`",
        source=_GEMINI_API,
        drops=True,
    ),
)

DESCRIPTION_LIMITS: tuple[DescriptionLimit, ...] = (
    DescriptionLimit(
        provider="openai",
        limit=1024,
        unit="characters",
        says="OpenAI refuses a request with a longer one",
        source="OpenAI function calling: the 400 answer with code `string_above_max_length`",
    ),
    DescriptionLimit(
        provider="anthropic",
        limit=2048,
        unit="bytes",
        says="Claude Code shows no more of it",
        source="Claude Code documentation, MCP: tool descriptions and server instructions are cut at 2 KB each",
    ),
)

REFUSED_AT_ROOT: Mapping[str, frozenset[str]] = {
    provider: frozenset(
        rule.construct.removeprefix("root:")
        for rule in PROVIDER_RULES
        if rule.provider == provider and rule.construct.startswith("root:")
    )
    for provider in LABELS
}
"""The keywords that each provider refuses at the top level."""

TEXT_FORMATS = frozenset({"date-time", "enum"})
"""What Gemini takes as `format` of a text. Source: the 400 answer that names the two."""
GEMINI_FORMATS: Mapping[str, frozenset[str]] = {
    "string": TEXT_FORMATS,
    "number": frozenset({"float", "double"}),
    "integer": frozenset({"int32", "int64"}),
}
"""What Gemini takes as `format`, by type. Source: Gemini API reference, object `Schema`."""
GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""A function's name. Source: Gemini API reference, `FunctionDeclaration.name`. Other providers take every alias."""
