"""Laws of the codec: encoded values decode to themselves, and every wrong shape is reported with its key path."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.codec import decode, encode
from octoc.bundle.digest import canonical_json
from octoc.bundle.model import (
    AgentEntry,
    Bundle,
    CapabilityEntry,
    Encoder,
    Gate,
    Grant,
    Registry,
    ServerEntry,
    Settings,
    SkillEntry,
    Slice,
    ToolEntry,
)
from octoc.bundle.refusal import BundleError
from octoc.choices import AgentKind, GateKind, Mode

_TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
_TEXTS = st.lists(_TEXT, max_size=3).map(tuple)
_INDEXES = st.lists(st.integers(0, 9), max_size=4).map(tuple)
_NUMBER = st.floats(allow_nan=False, allow_infinity=False)
_STRINGS = st.dictionaries(_TEXT, _TEXT, max_size=2)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | _NUMBER | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_SLICE = st.builds(Slice, st.integers(0, 99), st.integers(0, 99))
_GRANT = st.builds(Grant, server=_TEXT, globs=_TEXTS, tools=_INDEXES)
_GRANTS = st.lists(_GRANT, max_size=2).map(tuple)
_SERVER = st.builds(
    ServerEntry,
    name=_TEXT,
    transport=_TEXT,
    command=st.none() | _TEXT,
    args=_TEXTS,
    env=_STRINGS,
    auth=st.none() | st.dictionaries(_TEXT, _PLAIN, max_size=2),
    timeout_s=_NUMBER,
    include=st.none() | _TEXTS,
    listed=st.booleans(),
)
_TOOL = st.builds(ToolEntry, server=_TEXT, name=_TEXT, alias=_TEXT, description=_TEXT, wire=_SLICE)
_CAPABILITY = st.builds(
    CapabilityEntry,
    name=_TEXT,
    provider=_TEXT,
    triggers=_TEXTS,
    rows=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    grants=_GRANTS,
)
_REGISTRY = st.builds(Registry, tools=_INDEXES, direct=_INDEXES, proxy=st.booleans(), unlisted=_GRANTS, boot=_TEXTS)
_AGENT = st.builds(
    AgentEntry,
    name=_TEXT,
    kind=st.sampled_from(get_args(AgentKind)),
    domain=st.none() | _TEXT,
    sampling=st.dictionaries(_TEXT, _NUMBER, max_size=2),
    prompt=_SLICE,
    registry=_REGISTRY,
)
_BUNDLE = st.builds(
    Bundle,
    name=_TEXT,
    octoc_version=_TEXT,
    settings=st.builds(Settings, mode=st.sampled_from(get_args(Mode)), max_active=st.integers()),
    servers=st.lists(_SERVER, max_size=2).map(tuple),
    tools=st.lists(_TOOL, max_size=2).map(tuple),
    capabilities=st.lists(_CAPABILITY, max_size=2).map(tuple),
    skills=st.lists(st.builds(SkillEntry, name=_TEXT, rules=_TEXTS, body=_SLICE), max_size=2).map(tuple),
    agents=st.lists(_AGENT, max_size=2).map(tuple),
    encoder=st.none() | st.builds(Encoder, name=_TEXT, identity=_TEXT, dimension=st.integers(), settings=_STRINGS),
    gate=st.none()
    | st.builds(
        Gate,
        kind=st.sampled_from(get_args(GateKind)),
        threshold=_NUMBER,
        data=st.dictionaries(_TEXT, _PLAIN, max_size=2),
        arrays=_TEXTS,
    ),
    plugins=_STRINGS,
)


@given(_BUNDLE)
def test_a_bundle_survives_encoding_and_decoding(bundle: Bundle) -> None:
    """Encoding a bundle, writing it as JSON, reading and decoding it gives an equal bundle."""
    assert decode(Bundle, json.loads(canonical_json(encode(bundle)))) == bundle


@given(_BUNDLE)
def test_encoding_is_a_function_of_the_value(bundle: Bundle) -> None:
    """A decoded bundle encodes to the same bytes as the bundle that it came from."""
    written = canonical_json(encode(bundle))
    assert canonical_json(encode(decode(Bundle, json.loads(written)))) == written


@given(_PLAIN)
def test_any_json_value_is_a_bundle_or_a_bundle_error(value: Any) -> None:
    """Decoding an arbitrary JSON value never raises anything but BundleError."""
    with pytest.raises(BundleError):
        decode(Bundle, value)


def _leaf_paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, Mapping):
        return [path, *(found for key, item in value.items() for found in _leaf_paths(item, (*path, key)))]
    if isinstance(value, list):
        return [path, *(found for index, item in enumerate(value) for found in _leaf_paths(item, (*path, index)))]
    return [path]


FULL: Mapping[str, Any] = {
    "name": "acme",
    "octoc_version": "0.1.0",
    "settings": {"max_active": 5},
    "servers": [{"name": "a", "transport": "stdio", "args": ["x"], "env": {"K": "v"}, "include": ["y"]}],
    "tools": [{"server": "a", "name": "t", "alias": "a__t", "description": "d", "wire": [0, 2]}],
    "capabilities": [{"name": "c", "provider": "p", "rows": [0, 1], "grants": [{"server": "a", "globs": ["*"]}]}],
    "agents": [{"name": "s", "kind": "octo", "sampling": {"top_p": 1.0}, "registry": {"tools": [0, 1], "proxy": True}}],
    "encoder": {"name": "e", "identity": "i", "dimension": 384},
}


@pytest.mark.parametrize("path", _leaf_paths(FULL), ids=str)
def test_a_value_of_another_type_is_told_with_its_key_path(path: tuple[str | int, ...]) -> None:
    """Whichever value is replaced by one that fits nowhere, the error's path leads to it."""
    wrong = object()
    with pytest.raises(BundleError) as caught:
        decode(Bundle, _replaced(FULL, path, wrong))
    assert caught.value.path == path
    assert "expected" in str(caught.value)


def _replaced(value: Any, path: tuple[str | int, ...], by: Any) -> Any:
    if not path:
        return by
    head, *rest = path
    if isinstance(value, list):
        return [_replaced(item, tuple(rest), by) if index == head else item for index, item in enumerate(value)]
    return {key: _replaced(item, tuple(rest), by) if key == head else item for key, item in value.items()}


@pytest.mark.parametrize(
    "change,message",
    [
        ({"settings": {"max_active": True}}, "`settings.max_active`: expected a whole number, found true or false"),
        ({"tools": [{"server": "a"}]}, "`tools[0]`: expected the key `name`, which is missing"),
        ({"agents": [{"name": "a", "kind": "octo", "prompt": [1]}]}, "`agents[0].prompt`: expected an array of 2"),
        ({"gate": {"kind": "octomind", "threshold": float("inf")}}, "`gate.threshold`: expected a finite number"),
    ],
)
def test_messages_say_what_was_expected(change: Mapping[str, Any], message: str) -> None:
    """An error names the place in dots and brackets, what was expected and what was found."""
    with pytest.raises(BundleError) as caught:
        decode(Bundle, {**FULL, **change})
    assert str(caught.value).startswith(message)


def test_defaults_are_left_out_and_positional_classes_are_arrays() -> None:
    """The form is compact: no field at its default, and a slice is two numbers."""
    tool = ToolEntry(server="a", name="t", alias="a__t", description="", wire=Slice(3, 4))
    assert encode(tool)["wire"] == [3, 4]
    assert encode(Registry(proxy=True)) == {"proxy": True}


def test_keys_of_a_later_revision_are_passed_over() -> None:
    """A key that this reader does not know changes nothing."""
    assert decode(Bundle, {**FULL, "later": [1]}) == decode(Bundle, FULL)


def test_a_value_that_could_not_be_read_is_not_encoded() -> None:
    """Encoding refuses a value of another type than its field's, with the path."""
    bundle = attrs.evolve(decode(Bundle, FULL), tools=(object(),))  # type: ignore[arg-type]
    with pytest.raises(BundleError) as caught:
        encode(bundle)
    assert caught.value.path == ("tools", 0)


@given(st.text())
def test_canonical_json_holds_any_string(text: str) -> None:
    """Canonical JSON is UTF-8 for any string, and reads back as a string with the same JSON form."""
    written = canonical_json([text])
    read = json.loads(written.decode("utf-8"))
    assert canonical_json(read) == canonical_json(json.loads(json.dumps([text])))


def test_canonical_json_has_no_nan() -> None:
    """NaN, which JSON lacks, is refused."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_an_unknown_word_is_refused() -> None:
    """A value outside of a fixed set of words is reported with its key path and the words."""
    with pytest.raises(BundleError, match="expected one of development, production, found a string"):
        decode(Settings, {"mode": "prod"})
    assert decode(Settings, {"mode": "production"}).mode == "production"
