from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.references import Expansion, Reference, builtins_of, expand, find_references

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True).filter(
    lambda name: name not in {"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"}
)
PLAIN = st.text(st.characters(exclude_characters="${}"), max_size=20)
WRITTEN = st.sampled_from(["${%s}", "${env:%s}", "{{ENV:%s}}", "${input:%s}"])
FORMS = [
    ("${TOKEN}", Reference("TOKEN", None, "env", (0, 8))),
    ("${env:TOKEN}", Reference("TOKEN", None, "env", (0, 12))),
    ("${TOKEN:-none}", Reference("TOKEN", "none", "env", (0, 14))),
    ("${TOKEN:-}", Reference("TOKEN", "", "env", (0, 10))),
    ("${TOKEN:-a:-b$c}", Reference("TOKEN", "a:-b$c", "env", (0, 16))),
    ("${env:TOKEN:-x}", Reference("TOKEN", "x", "env", (0, 15))),
    ("{{ENV:TOKEN}}", Reference("TOKEN", None, "env", (0, 13))),
    ("{{INPUT:api-key}}", Reference("api-key", None, "input", (0, 17))),
    ("${input:api-key}", Reference("api-key", None, "input", (0, 16))),
    ("${workspaceFolder}", Reference("workspaceFolder", None, "builtin", (0, 18))),
    ("${userHome}", Reference("userHome", None, "builtin", (0, 11))),
    ("${/}", Reference("/", None, "builtin", (0, 4))),
    ("${file:/run/secrets/token}", Reference("file:/run/secrets/token", None, "file", (0, 26))),
    ("${file:a b:-none}", Reference("file:a b", "none", "file", (0, 17))),
    ("${file:${workspaceFolder}/t}", Reference("file:${workspaceFolder}/t", None, "file", (0, 28))),
    ("${keyring:acme/me}", Reference("keyring:acme/me", None, "keyring", (0, 18))),
    ("${keyring:acme/me@acme.example/x:-}", Reference("keyring:acme/me@acme.example/x", "", "keyring", (0, 35))),
    ("${cred:17}", Reference("cred:17", None, "cred", (0, 10))),
]


@pytest.mark.parametrize("text,reference", FORMS)
def test_each_form_is_found(text: str, reference: Reference) -> None:
    """Every form of a reference is found with its name, default, kind and place."""
    assert find_references(text) == (reference,)


@pytest.mark.parametrize(
    "text",
    [
        "$TOKEN",
        "$(id -u)",
        "${}",
        "${1A}",
        "{{ENV:}}",
        "{{CWD}}",
        "{{env:X}}",
        "${vault:x}",
        "${X",
        "{{{{ENV:X}}}}",
        "${file:}",
        "${keyring:x}",
        "${keyring:/x}",
        "${cred:x}",
    ],
)
def test_what_only_looks_like_one_is_text(text: str) -> None:
    """Shell variables, empty keys, prompt placeholders, unknown schemes and escapes are not references."""
    assert find_references(text) == ()


def test_expansion_replaces_in_one_pass() -> None:
    """A value that looks like a reference is put in as it is."""
    values = {"A": "${B}", "B": "{{ENV:A}}"}
    assert expand("${A} {{ENV:B}}", values.get, {}).text == "${B} {{ENV:A}}"


def test_missing_names_are_values_and_stay_as_written() -> None:
    """Names without a value are reported once each, in order, and their references stay in the text."""
    found = expand("{{ENV:B}}-${A}-${B}", {"C": "x"}.get, {})
    assert found == Expansion("{{ENV:B}}-${A}-${B}", ("B", "A"))


def test_an_empty_value_gives_way_to_a_default() -> None:
    """`${X:-d}` is `d` where X is unset or empty, and its value elsewhere; without a default empty is a value."""
    assert expand("${X:-d}", lambda _: None, {}).text == "d"
    assert expand("${X:-d}", {"X": ""}.get, {}).text == "d"
    assert expand("${X:-d}", {"X": "v"}.get, {}).text == "v"
    assert expand("[${X}]", {"X": ""}.get, {}) == Expansion("[]")


def test_builtins_come_from_the_host_alone() -> None:
    """A builtin is never looked up as a variable, and does not count as a secret value."""
    builtins = builtins_of("/home/u/my work", "/home/u")
    found = expand("${workspaceFolder}${/}x ${workspaceFolderBasename} ${userHome}", {"userHome": "no"}.get, builtins)
    assert found == Expansion("/home/u/my work/x my work /home/u")


def test_a_folder_in_a_path_is_put_in_before_it_is_looked_up() -> None:
    """A file's path may begin with the workspace or the home; what is missing is named as it is written."""
    builtins = builtins_of("/w", "/home/u")
    looked_up: list[str] = []
    found = expand("${file:${workspaceFolder}/t}${file:${userHome}/t}", looked_up.append, builtins)
    assert looked_up == ["file:/w/t", "file:/home/u/t"]
    assert found.missing == ("file:${workspaceFolder}/t", "file:${userHome}/t")
    assert expand("a ${cred:7:-none} ${keyring:s/u}", {"keyring:s/u": "v"}.get, {}) == Expansion("a none v", (), ("v",))


def test_an_escape_becomes_its_literal() -> None:
    """`{{{{X}}}}` is the text `{{X}}`."""
    assert expand("a {{{{ENV:X}}}} b", {"X": "no"}.get, {}).text == "a {{ENV:X}} b"


@given(st.text())
def test_text_without_references_is_left_alone(text: str) -> None:
    """A text in which nothing is found, and no escape stands, expands to itself."""
    if not find_references(text) and "{{{{" not in text:
        assert expand(text, lambda _: "value", {}) == Expansion(text)


@given(
    st.lists(st.tuples(PLAIN, NAMES, st.sampled_from(["${%s}", "${env:%s}", "{{ENV:%s}}", "${input:%s}"])), max_size=6)
)
def test_expansion_is_what_stands_between_with_values_in(pieces: list[tuple[str, str, str]]) -> None:
    """A text of plain stretches and references expands to the stretches and values, at the spans that were found."""
    text = "".join(plain + form % name for plain, name, form in pieces)
    found = find_references(text)
    assert [reference.name for reference in found] == [name for _, name, _ in pieces]
    assert [text[slice(*reference.span)] for reference in found] == [form % name for _, name, form in pieces]
    expanded = expand(text, lambda name: f"<{name}>", {})
    assert expanded.text == "".join(f"{plain}<{name}>" for plain, name, _ in pieces)
    assert set(expanded.values) == {f"<{name}>" for _, name, _ in pieces}


@given(st.text(alphabet="${}:-/ENVINPUT" + ascii_letters + digits, max_size=60))
def test_missing_and_found_agree(text: str) -> None:
    """With nothing to look up, what is missing is exactly what is found without a default."""
    expanded = expand(text, lambda _: None, {})
    needed = dict.fromkeys(reference.name for reference in find_references(text) if reference.default is None)
    assert expanded.missing == tuple(needed)
    assert expanded.values == ()
