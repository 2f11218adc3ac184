"""Diagnostics for CI: SARIF, GitHub's workflow commands, JUnit, and JSON's fixes; whatever text an input has."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree as ET

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from octoc.cli.report import print_diagnostics
from octoc.diagnostics.model import Diagnostic, Edit, Fix, Label, Span
from octoc.diagnostics.pages import page_of
from octoc.diagnostics.render import escape, render_concise, render_full, render_json
from octoc.diagnostics.render.github import defuse, render_github
from octoc.diagnostics.render.junit import render_junit
from octoc.diagnostics.render.sarif import render_sarif
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import all_rules

SCHEMA = Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json"
RULES = all_rules()
PROVIDER = "taps/acme/capabilities/a b/ä.toml"

FIXED = Diagnostic(
    rule=RULES["OCT301"],
    message="server `postgress` is not defined",
    severity=Severity.ERROR,
    span=Span(file=PROVIDER, line=2, column=16, end_line=2, end_column=27),
    label="no server has this name",
    related=(Label(span=Span(file=PROVIDER, line=4, column=1, end_line=6, end_column=2), text="`postgres` is here"),),
    notes=("the tap has one server",),
    help="did you mean `postgres`?",
    fix=Fix(
        title="rename it",
        edits=(
            Edit(span=Span(file=PROVIDER, line=2, column=17, end_line=2, end_column=26), text="postgres"),
            Edit(span=Span(file="octoc.toml", line=1, column=1, end_line=1, end_column=1), text="# new\n"),
        ),
    ),
)
WHOLE_FILE = Diagnostic(
    rule=RULES["OCT401"], message="no trigger", severity=Severity.WARNING, span=Span(file="/tap/x.toml")
)
NOWHERE = Diagnostic(rule=RULES["OCT312"], message="no snapshot", severity=Severity.INFO)
ALL = (FIXED, WHOLE_FILE, NOWHERE)

MARKS = (
    "::",
    "##[",
    "\n",
    "\r",
    "%",
    "%0A",
    ",",
    ":",
    "=",
    "error",
    "[",
    "](",
    "{0}",
    "{",
    "}",
    "<",
    "]]>",
    "&",
    '"',
    "\\",
)
HIDDEN = ("\x00", "\x1b[2J", "\u2028", "\u202e", "\ufffe", "\ud800", "\udcff", "../", "/")
TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(MARKS + HIDDEN), max_size=8).map("".join),
)
LINES = st.integers(0, 3)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Make a place in any file; line 0 is the file as a whole."""
    line = draw(LINES)
    if line == 0:
        return Span(file=draw(TEXT))
    end_line = line + draw(LINES)
    return Span(file=draw(TEXT), line=line, column=draw(LINES) + 1, end_line=end_line, end_column=draw(LINES) + 5)


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    """Make a diagnostic whose every text is arbitrary."""
    labels = st.builds(lambda span, text: Label(span=span, text=text), spans(), TEXT)
    edits = st.builds(lambda span, text: Edit(span=span, text=text), spans(), TEXT)
    fixes = st.builds(lambda title, edits: Fix(title=title, edits=tuple(edits)), TEXT, st.lists(edits, max_size=2))
    return Diagnostic(
        rule=draw(st.sampled_from(list(RULES.values()))),
        message=draw(TEXT),
        severity=draw(st.sampled_from(Severity)),
        span=draw(st.none() | spans()),
        label=draw(TEXT),
        related=tuple(draw(st.lists(labels, max_size=2))),
        notes=tuple(draw(st.lists(TEXT, max_size=2))),
        help=draw(st.none() | TEXT),
        fix=draw(st.none() | fixes),
    )


@cache
def sarif_validator() -> Draft4Validator:
    """Return the validator of SARIF's own schema."""
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def sarif(*found: Diagnostic) -> dict[str, Any]:
    """Return the run of a log of these findings, valid by SARIF's schema."""
    address = "https://docs.example/rules/{}/".format
    log = json.loads(render_sarif(found, version="0.1.0", page_of=page_of, url_of=lambda rule: address(rule.code)))
    assert [error.message for error in sarif_validator().iter_errors(log)] == []
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_has_every_part() -> None:
    """A finding has its rule, level, message, place, secondary places and fix; columns are code points."""
    run = sarif(*ALL)
    assert run["columnKind"] == "unicodeCodePoints"
    first, second, third = run["results"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert first["message"]["text"] == (
        "server `postgress` is not defined\nnote: the tap has one server\nhelp: did you mean `postgres`?"
    )
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {
        "uri": "taps/acme/capabilities/a%20b/%C3%A4.toml",
        "uriBaseId": "%SRCROOT%",
    }
    assert place["region"] == {"startLine": 2, "startColumn": 16, "endLine": 2, "endColumn": 27}
    assert first["locations"][0]["message"]["text"] == "no server has this name"
    assert first["relatedLocations"][0]["message"]["text"] == "`postgres` is here"
    changes = first["fixes"][0]["artifactChanges"]
    assert [change["artifactLocation"]["uri"] for change in changes] == [
        "taps/acme/capabilities/a%20b/%C3%A4.toml",
        "octoc.toml",
    ]
    assert changes[0]["replacements"][0]["insertedContent"] == {"text": "postgres"}
    assert second["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "file:///tap/x.toml"}}
    assert third["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "octoc.toml"


def test_sarif_s_rules_have_their_pages() -> None:
    """Each rule that is broken is there once, with its page, and results refer to it by index."""
    run = sarif(*ALL, FIXED)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["OCT301", "OCT312", "OCT401"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    assert all(rule["help"]["markdown"] == page_of(RULES[rule["id"]]) for rule in rules)
    assert [rule["helpUri"] for rule in rules] == [f"https://docs.example/rules/{rule['id']}/" for rule in rules]
    assert rules[0]["defaultConfiguration"]["level"] == "error"


def test_sarif_of_nothing_is_a_run_without_results() -> None:
    """Without findings there is a run, so that what was found before is closed."""
    assert sarif()["results"] == []


@given(diagnostics())
def test_sarif_is_valid_whatever_the_text(found: Diagnostic) -> None:
    """The log meets the schema; no message has a link, an argument or a hidden character; paths come back."""
    (result,) = sarif(found)["results"]
    texts = [result["message"], *(place.get("message", {}) for place in result.get("relatedLocations", ()))]
    for text in (one.get("text", "") for one in texts):
        unescaped = re.sub(r"\\[\\\[\]]", "", text)
        assert not re.search(r"\[[^\[\]]*\]\(", unescaped)
        assert not re.search(r"(?<!\{)(?:\{\{)*\{\d+\}", text)
        assert text.replace("\n", " ").isprintable() or escape(text.replace("\n", " ")) == text.replace("\n", " ")
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert re.fullmatch(r"(?:file://)?[A-Za-z0-9/._~%-]*", artifact["uri"])
    file = found.span.file if found.span is not None else "octoc.toml"
    # No file can have another surrogate in its name than those that stand for a byte.
    if re.fullmatch(r"[^\ud800-\udc7f\udd00-\udfff]*", file):
        written = unquote_to_bytes(artifact["uri"].removeprefix("file://"))
        assert written == file.encode("utf-8", "surrogateescape") or b"?" in written


COMMAND = re.compile(r"::(error|warning|notice)(?: ([^\r\n]*?))?::([^\r\n]*)")


def parsed(command: str) -> tuple[str, dict[str, str], str]:
    """Return a workflow command as the runner reads it: its name, its properties, its message."""
    match = COMMAND.fullmatch(command)
    assert match is not None, command
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    return match[1], {key: _read(value) for key, value in properties.items()}, _read(match[3])


def _read(text: str) -> str:
    for character, written in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        text = text.replace(written, character)
    return text


def test_github_has_a_command_per_finding() -> None:
    """A finding is an annotation at its place; it has columns only when it is on one line, as GitHub requires."""
    lines = render_github((*ALL, attrs.evolve(FIXED, span=FIXED.related[0].span))).splitlines()
    name, properties, message = parsed(lines[0])
    assert name == "error"
    assert properties == {
        "file": PROVIDER, "line": "2", "col": "16", "endLine": "2", "endColumn": "27", "title": "OCT301 unknown-server"
    }  # fmt: skip
    assert message == "server `postgress` is not defined\nnote: the tap has one server\nhelp: did you mean `postgres`?"
    assert parsed(lines[1])[:2] == ("warning", {"file": "/tap/x.toml", "title": "OCT401 no-triggers"})
    assert parsed(lines[2])[:2] == ("notice", {"title": "OCT312 no-snapshot"})
    assert {"line", "endLine"} == set(parsed(lines[3])[1]) - {"file", "title"}


@given(diagnostics())
def test_no_text_begins_a_command(found: Diagnostic) -> None:
    """Whatever a text is, there is one line, one command, with the properties that octoc gave and its own values."""
    (line, rest) = render_github([found]).split("\n", 1)
    assert rest == ""
    _, properties, message = parsed(line)
    assert set(properties) <= {"file", "line", "col", "endLine", "endColumn", "title"}
    assert properties["title"] == f"{found.rule.code} {found.rule.name}"
    if found.span is not None:
        assert properties["file"] == escape(found.span.file)
    assert message.startswith(escape(found.message))


@given(diagnostics())
def test_what_people_read_has_no_command_in_a_log(found: Diagnostic) -> None:
    """Text for people, as it is written where GitHub runs, begins no line with a command and has no old one."""
    for text in (render_full([found], lambda _, __: "::error::x ##[error]"), render_concise([found])):
        for line in defuse(text).split("\n"):
            assert not line.lstrip().startswith("::")
            assert "##[" not in line


def test_junit_has_a_case_per_file() -> None:
    """A file with a finding that counts is a failed case, one with another only says so, one without passes."""
    suites = ET.fromstring(render_junit(ALL, files=["octoc.toml", PROVIDER]))  # noqa: S314  # our own text
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == sorted(["octoc.toml", PROVIDER, "/tap/x.toml", "octoc"])
    (failure,) = cases[PROVIDER]
    assert failure.tag == "failure"
    assert failure.get("message") == "error[OCT301] unknown-server: server `postgress` is not defined"
    assert f"at {PROVIDER}:2:16" in str(failure.text)
    assert [child.tag for child in cases["/tap/x.toml"]] == ["system-out"]
    assert len(cases["octoc.toml"]) == 0


@pytest.mark.parametrize(
    "fail_on,failures", [(None, "0"), (Severity.ERROR, "1"), (Severity.WARNING, "2"), (Severity.INFO, "3")]
)
def test_junit_fails_as_the_exit_status_does(fail_on: Severity | None, failures: str) -> None:
    """Which severities are failures is the caller's choice."""
    suites = ET.fromstring(render_junit(ALL, fail_on=fail_on))  # noqa: S314  # our own text
    assert suites.get("failures") == failures


@given(st.lists(diagnostics(), max_size=3))
def test_junit_is_xml_whatever_the_text(found: list[Diagnostic]) -> None:
    """The document can be read, and has the elements that octoc made and no other."""
    suites = ET.fromstring(render_junit(found, fail_on=Severity.INFO).encode("utf-8"))  # noqa: S314  # our own text
    assert {element.tag for element in suites.iter()} <= {"testsuites", "testsuite", "testcase", "failure"}
    assert len(list(suites.iter("failure"))) == len(found)
    for failure in suites.iter("failure"):
        assert str(failure.get("message")).isprintable() or failure.get("message")


def test_json_has_the_fix() -> None:
    """A fix is its title and its edits, each with a place and the text that takes its place there."""
    fixed, whole, _ = json.loads(render_json(ALL))
    assert fixed["fix"] == {
        "title": "rename it",
        "edits": [
            {"file": PROVIDER, "line": 2, "column": 17, "end_line": 2, "end_column": 26, "text": "postgres"},
            {"file": "octoc.toml", "line": 1, "column": 1, "end_line": 1, "end_column": 1, "text": "# new\n"},
        ],
    }
    assert whole["fix"] is None
    assert list(fixed) == [
        *("code", "name", "severity", "message", "file", "line", "column", "end_line", "end_column"),
        *("related", "notes", "help", "fix"),
    ]


@given(st.lists(diagnostics(), max_size=3))
def test_json_is_one_array_whatever_the_text(found: list[Diagnostic]) -> None:
    """What is read back is what was found, and the text is ASCII without controls."""
    text = render_json(found)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    # Two halves of a surrogate pair are one character to JSON.
    messages = [one.message.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for one in found]
    assert [one["message"] for one in json.loads(text)] == messages


@pytest.mark.parametrize("for_ci", [False, True])
def test_an_unknown_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_ci: bool) -> None:
    """A format that no branch renders is an error, and not another format's output."""
    monkeypatch.setattr("octoc.cli.report._FOR_CI", {"new"} if for_ci else set())
    with pytest.raises(ValueError, match="unknown output format `new`"):
        print_diagnostics((), tmp_path, output_format="new", verbose=False)
