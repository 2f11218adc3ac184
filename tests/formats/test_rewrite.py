"""Laws of rewriting: over generated schemas, and over the recorded tools of real servers."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octoc.formats.reading import read, written
from octoc.formats.rewrite import rewritten
from tests.formats.examples import schemas, values_of
from tests.formats.rules import REFUSES, as_json_schema, is_valid

PROVIDERS = ("anthropic", "openai", "gemini")
SLOW = settings(max_examples=150, suppress_health_check=list(HealthCheck))
FEW = settings(SLOW, max_examples=8)


def _has_a_shown_name(schema: Any, provider: str, arguments: Any) -> bool:
    """Return whether an undeclared property is called as a declared one is shown: a documented limit."""
    reading = rewritten(schema, provider).reading
    return reading is not None and any(name in arguments for name in reading.names)


@SLOW
@given(schemas(), st.sampled_from(PROVIDERS))
def test_a_rewritten_schema_is_one_that_the_provider_takes(schema: Any, provider: str) -> None:
    """No schema breaks a provider's rules after rewriting, and the original is left as it is."""
    before = copy.deepcopy(schema)
    made = rewritten(schema, provider)
    assert REFUSES[provider](made.schema) == []
    assert schema == before
    assert json.dumps(rewritten(copy.deepcopy(schema), provider).schema) == json.dumps(made.schema)


@SLOW
@given(st.data(), schemas(), st.sampled_from(PROVIDERS))
def test_valid_arguments_survive_the_round_trip(data: st.DataObject, schema: Any, provider: str) -> None:
    """Arguments that the original takes are the same after they were written in the shown form and read again."""
    arguments = data.draw(values_of(schema, schema))
    if not isinstance(arguments, dict) or not is_valid(schema, arguments):
        return
    made = rewritten(schema, provider)
    if _has_a_shown_name(schema, provider, arguments):
        return
    shown = written(made.reading, arguments)
    assert read(made.reading, shown) == arguments
    json.dumps(shown)


def test_recorded_schemas_pass_every_provider(recorded: list[tuple[str, Any]]) -> None:
    """Each tool of the real servers has a schema that each provider takes."""
    assert len(recorded) > 200
    refused = {
        (name, provider): REFUSES[provider](rewritten(schema, provider).schema)
        for name, schema in recorded
        for provider in PROVIDERS
    }
    assert {key: why for key, why in refused.items() if why} == {}


def test_some_recorded_schemas_are_refused_as_they_are(recorded: list[tuple[str, Any]]) -> None:
    """The rules that the tests know do refuse recorded schemas: without rewriting OpenAI and Gemini would."""
    refused = {provider for _, schema in recorded for provider in PROVIDERS if REFUSES[provider](schema)}
    assert refused >= {"openai", "gemini"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_recorded_tools_keep_their_valid_arguments(provider: str, recorded: list[tuple[str, Any]]) -> None:
    """For each real tool, what it takes is taken in the shown form too, and comes back as it was."""
    tried = 0

    def check(name: str, schema: Any) -> None:
        made = rewritten(schema, provider)
        shown_schema = as_json_schema(made.schema) if provider == "gemini" else made.schema

        @FEW
        @given(values_of(schema, schema))
        def law(arguments: Any) -> None:
            nonlocal tried
            if not is_valid(schema, arguments):
                return
            tried += 1
            shown = written(made.reading, arguments)
            assert read(made.reading, shown) == arguments, name
            assert read(made.reading, arguments) is not None
            if shown_schema is not None:
                assert is_valid(shown_schema, shown), (name, shown)

        law()

    for name, schema in recorded:
        plain = {key: value for key, value in schema.items() if key != "$schema"}
        check(name, plain)
    assert tried > len(recorded)
