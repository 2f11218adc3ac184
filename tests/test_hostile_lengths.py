"""Work grows with the length of what others write, never with its square: lines run and memory taken are counted."""

from __future__ import annotations

import re
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import attrs
import pytest

from octoc import masking, secrets
from octoc.credentials import credentials_in, forms, places, urls
from octoc.credentials.windows import LONGEST
from octoc.formats.rewrite import rewritten
from octoc.masking import lines_above, mask_secrets, mask_values, masked_lines
from octoc.results import ContentPart, ToolResult
from octoc.routing.clean import clean_intent
from octoc.routing.features import grams
from octoc.routing.follow_up import cues
from octoc.routing.paste_filter import by_lines
from octoc.routing.rerank import stems
from octoc.runtime.history import SHAPES, age, prune, repair
from octoc.runtime.results.fit import truncate
from octoc.runtime.results.limits import ResultLimits
from octoc.search.fields import ToolText
from octoc.search.index import lexical_arrays
from octoc.search.keyword import rank
from octoc.search.stem import stem
from octoc.search.words import clauses, hashed, misspellings, query_terms, terms
from octoc.secrets import redactor
from octoc.tokens import APPROXIMATE

GROWTH = 2.6
"""Allowed growth for twice the input: 2 is linear, 4 is quadratic."""
FIXED_LINES = 4_000
FIXED_BYTES = 512 * 1024
"""Work that any input takes, whatever its length."""


@attrs.frozen
class Work:
    """What one call takes: lines of Python run, and bytes held at its highest."""

    lines: int
    peak: int


def work(call: Callable[[Any], object], given: Any) -> Work:
    """Count the lines that a call runs, then the memory that it takes: with the one the other cannot be counted."""
    lines = 0

    def count(_: FrameType, event: str, __: object) -> Any:
        nonlocal lines
        lines += event in ("line", "call")
        return count

    for cache in (stem, hashed):
        cache.cache_clear()
    before = sys.gettrace()
    sys.settrace(count)
    try:
        call(given)
    finally:
        sys.settrace(before)
    for cache in (stem, hashed):
        cache.cache_clear()
    tracemalloc.start()
    try:
        call(given)
        return Work(lines, tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def assert_linear(call: Callable[[Any], object], make: Callable[[int], Any], length: int) -> None:
    """Compare what a call takes for `length` and for twice as much."""
    once, twice = work(call, make(length)), work(call, make(2 * length))
    assert twice.lines <= GROWTH * once.lines + FIXED_LINES, (once, twice)
    assert twice.peak <= GROWTH * once.peak + FIXED_BYTES, (once, twice)


TEXTS: dict[str, str] = {
    "one word": "a",
    "one acronym": "A",
    "camel case": "Aa",
    "consonants": "y",
    "digits": "1",
    "Han": "漢",
    "Thai": "ก",
    "letters with marks": "e\u0301",
    "one character that stands for eighteen": "\ufdfa",
    "blanks": " ",
    "lines": "x\n",
    "words": "word ",
    "names": "a_",
    "clauses": "a, ",
    "open tags": "<a ",
    "whole tags": "<a>",
    "open JSON": '{"a":',
    "table": "| ",
    "base64": "aA1+",
    "quoted mail": "> a\n",
    "heads of mail": "From: a\n",
    "greetings": "Hello Bob\n",
    "assignments": "a = 1\n",
}

OF_TEXT: dict[str, Callable[[str], object]] = {
    "terms": terms,
    "query terms": query_terms,
    "clauses": clauses,
    "misspellings": misspellings,
    "an index of a description": lambda text: lexical_arrays([ToolText(server="s", name="n", description=text)]),
    "an index of a name": lambda text: lexical_arrays([ToolText(server="s", name=text)]),
    "words of Octo's search": lambda text: rank(text[:2000], [(0, "n", text)]),
    "cleaning": clean_intent,
    "what was pasted": by_lines,
    "a message that goes on": cues,
    "n-grams": grams,
    "beginnings of words": stems,
    "a cut result": lambda text: truncate(
        ToolResult(content=(ContentPart(type="text", text=text),)),
        ResultLimits(profile="octoc", max_chars=500),
        APPROXIMATE,
    ),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", OF_TEXT)
def test_a_text_takes_work_in_proportion_to_its_length(name: str, text: str) -> None:
    """Twice the text takes about twice the lines and the memory, whatever it consists of."""
    assert_linear(OF_TEXT[name], lambda length: TEXTS[text] * (length // len(TEXTS[text])), 3000)


def test_terms_are_as_many_as_the_text_is_long_and_short_themselves() -> None:
    """A long word gives one short term, text without blanks gives pairs of characters, and neither is misspelt."""
    assert [len(term) for term in terms("x" * 20_000)] == [64]
    assert misspellings("x" * 20_000) == ()
    assert terms("検索する files") == ["検索", "索す", "する", "file"]
    assert terms("検索") == ["検索"]
    assert set(terms("検索する")) & set(terms("すべて検索"))
    assert len(terms("漢" * 5000)) == 4999


def _object(**keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {}, **keywords}


def _doubling(combiner: str, length: int) -> dict[str, Any]:
    return {f"d{i}": {combiner: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(length)}


SCHEMAS: dict[str, tuple[int, Callable[[int], dict[str, Any]]]] = {
    "references that double": (
        9,
        lambda n: _object(allOf=[{"$ref": "#/$defs/d0"}], **{"$defs": _doubling("allOf", n)}),
    ),
    "choices that double": (9, lambda n: _object(anyOf=[{"$ref": "#/$defs/d0"}], **{"$defs": _doubling("anyOf", n)})),
    "alternatives for one property": (
        400,
        lambda n: _object(anyOf=[{"properties": {"a": {"const": i}}} for i in range(n)]),
    ),
    "values of one property": (
        400,
        lambda n: _object(properties={"a": {"anyOf": [{"type": "integer", "maximum": i} for i in range(n)]}}),
    ),
    "names that look alike": (400, lambda n: _object(properties={"a" * 70 + chr(0x4E00 + i): {} for i in range(n)})),
    "parts of one object": (400, lambda n: _object(allOf=[{"properties": {f"p{i}": {}}} for i in range(n)])),
    "references to one large schema": (
        60,
        lambda n: _object(
            properties={f"é{i}": {"$ref": "#/properties/all"} for i in range(n)}
            | {"all": _object(properties={f"p{i}": {} for i in range(10 * n)})}
        ),
    ),
}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_takes_work_in_proportion_to_its_size(name: str, provider: str) -> None:
    """References may double at each step, and still a schema is rewritten in bounded work."""
    length, make = SCHEMAS[name]
    fixed = 200_000 if "double" in name or "references" in name else 0

    def call(schema: Any) -> object:
        return rewritten(schema, provider)

    once, twice = work(call, make(length)), work(call, make(2 * length))
    assert twice.lines <= GROWTH * once.lines + FIXED_LINES + fixed, (once, twice)
    assert twice.peak <= GROWTH * once.peak + 4 * FIXED_BYTES, (once, twice)


def _called(name: str, arguments: str) -> list[dict[str, Any]]:
    function = {"name": "t", "arguments": arguments}
    call = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": "r"},
    ]


HISTORIES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "calls of one id": lambda n: [one for i in range(n) for one in _called("x", f'{{"a": {i}}}')],
    "one call again and again": lambda n: [one for _ in range(n) for one in _called("x", "{}")],
    "calls without an id": lambda n: [one for i in range(n) for one in _called("", f'{{"a": {i}}}')],
    "all calls before all results": lambda n: sorted(
        (one for i in range(n) for one in _called(f"x{i}", "{}")), key=lambda one: one["role"]
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("task", ["repair", "prune", "age"])
def test_a_conversation_takes_work_in_proportion_to_its_length(task: str, name: str) -> None:
    """Twice the messages take about twice the work, whatever their ids are."""
    shape = SHAPES["openai"]
    tasks: dict[str, Callable[[Any], object]] = {
        "repair": lambda messages: repair(messages, shape),
        "prune": lambda messages: prune(messages, 10, APPROXIMATE, shape=shape),
        "age": lambda messages: age(messages, shape, lambda text, tool: text + tool),
    }
    assert_linear(tasks[task], HISTORIES[name], 150)


class Scanned:
    """A pattern that counts the characters of the text in each call: it may scan them all from each place."""

    def __init__(self, pattern: Any, count: Callable[[int], None]) -> None:
        self._pattern = pattern
        self._count = count

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)

        def counted(*given: Any) -> Any:
            text = next(one for one in reversed(given) if isinstance(one, str))
            self._count(len(text))
            return method(*given)

        return counted


WINDOWED = (masking, forms, places, urls)
"""Modules whose patterns scan far ahead, so that each may only get a window."""
BOUNDED = frozenset({"_KEY", "_KEY_END", "_KEY_BEGINS", "_KEY_BODY", "SCHEMED", "_STRINGS"})
"""Patterns there that get a whole text: each repetition is bounded, or continues after what it scanned."""

SECRETIVE: dict[str, str] = {
    **{name: TEXTS[name] for name in ("one word", "blanks", "open JSON", "base64")},
    **{f"{text} again and again": text for text in ('"a\\', '\\"', "sk-", "eyJa-", "token=$", "--token $ ")},
    **{f"{text} again and again": text for text in ("${", "://", "https://a/")},
    "JSON web tokens": "eyJ",
    "percent signs": "%25",
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----",
    "ends of keys": "-----END PRIVATE KEY-----",
    "random text": "aB1cD2eF3/",
}
OF_SECRETS: dict[str, Callable[[str], object]] = {
    "a line": mask_secrets,
    "a message": mask_values,
    "a value": credentials_in,
    "known secrets": redactor(["aaaaaaaa", "hunter2hunter2"]),
    "a long line in base64": lambda text: redactor(["hunter2hunter2"])(text + "aHVudGVyMmh1bnRlcjI" + text),
}


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the texts that patterns get which may scan a text once from each of its places."""
    lengths: list[int] = []
    for module in WINDOWED:
        for name, value in vars(module).copy().items():
            if name not in BOUNDED and isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Scanned(value, lengths.append))
            elif name not in BOUNDED and isinstance(value, tuple) and isinstance(value[0], re.Pattern):
                monkeypatch.setattr(module, name, tuple(Scanned(one, lengths.append) for one in value))
    monkeypatch.setattr(secrets, "re", Scanned(re, lengths.append))
    return lengths


@pytest.mark.parametrize("text", SECRETIVE)
@pytest.mark.parametrize("name", OF_SECRETS)
def test_looking_for_secrets_takes_work_in_proportion_to_the_text(name: str, text: str, scanned: list[int]) -> None:
    """Twice the text takes about twice the lines, and no pattern that may scan far gets more than a window."""
    unit = SECRETIVE[text]
    assert_linear(OF_SECRETS[name], lambda length: unit * (length // len(unit)), 2 * LONGEST)
    assert max(scanned, default=0) <= LONGEST


LINES: dict[str, Callable[[int], list[str]]] = {
    "a key": lambda n: ["-----BEGIN PRIVATE KEY-----", *["aB1cD2eF3/" * 6] * n, "-----END PRIVATE KEY-----"],
    "a key without an end": lambda n: ["-----BEGIN PRIVATE KEY-----", *["aB1cD2eF3/" * 6] * n],
    "long lines": lambda n: ["token = x " * 60] * n,
    "empty lines": lambda n: [""] * n,
}


@pytest.mark.parametrize("name", LINES)
def test_a_file_is_masked_in_work_in_proportion_to_its_lines(name: str, scanned: list[int]) -> None:
    """Twice the lines take about twice the work, also the lines of a key."""
    assert_linear(masked_lines, LINES[name], 120)
    assert max(scanned) <= LONGEST


@pytest.mark.parametrize("text", [" ", "a", "{", '"', "a ", "a=b&", '"a", ', "aB1cD2eF3"])
def test_a_secret_at_the_end_of_a_long_line_is_masked(text: str) -> None:
    """What a window cuts is still one credential, with the name before it and to its end."""
    token = "ghp_" + "aB1cD2eF3gH4" * 3
    for length in range(LONGEST - 40, LONGEST + 40, 7):
        for fits in (1, 5):
            before = (text * fits * length)[: fits * length] + " "
            assert token not in mask_secrets(before + token)
            assert "secret" not in mask_values(before + "https://me:secret7@host/")
            assert mask_secrets(before + "\ntoken = hunter2!").endswith("token = ********")
    long = "hunter2!" * LONGEST
    assert "hunter2" not in mask_secrets(f"x token={long}")
    assert "hunter2" not in mask_secrets(f'"token": "{long.replace("!", " ")}"')


def test_every_line_of_a_long_key_is_masked() -> None:
    """A key of thousands of lines is masked to its end, and what follows it is not."""
    body = ["abcdefgh" * 8] * 3000
    lines = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", "mode = fast"]
    masked = masked_lines(lines)
    assert {*masked[1:-2]} == {"*" * 64}
    assert masked[-1] == "mode = fast"
    line = lines_above(lambda number: lines[number - 1], 2000)
    assert mask_secrets(lines[1999], line) == "*" * 64


def test_percent_signs_inside_each_other_end() -> None:
    """A text that is percent-encoded again and again is looked through a few times, and fails nowhere."""
    text = "%" + "25" * 20_000 + "41"
    assert mask_values(text) == text
