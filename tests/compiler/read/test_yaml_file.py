"""YAML files: values as their clients have them, and a finding for all that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.yaml import MAX_ALIASED
from octoc.compiler.read.yaml_file import read_yaml
from octoc.diagnostics.model import Diagnostic, DiagnosticSink, Place
from octoc.diagnostics.rule import Severity

PLACE = Place(file="a.yaml")
Findings = Callable[[DiagnosticSink], list[str]]


def sink_of(text: str) -> DiagnosticSink:
    """Return a sink that finds places in the text."""
    return DiagnosticSink(SpanIndex({"a.yaml": text}.get))


def test_aliases_and_merge_keys_give_their_values() -> None:
    """An alias has the anchor's value, and `<<` adds the keys that the object itself does not have."""
    text = "a: &x {k: 1, l: 2}\nb: *x\nc:\n  l: 3\n  <<: [*x, {m: 4, k: 5}]\ns: &t hi\nu: *t\n7: x\n"
    sink = sink_of(text)
    assert read_yaml(text, PLACE, sink) == {
        "a": {"k": 1, "l": 2},
        "b": {"k": 1, "l": 2},
        "c": {"l": 3, "k": 1, "m": 4},
        "s": "hi",
        "u": "hi",
        "7": "x",
    }
    assert sink.diagnostics == ()
    lines = [line_of(text, path) for path in (("b",), ("b", "k"), ("c", "k"), ("c", "m"), ("c", "l"))]
    assert lines == [2, 1, 1, 5, 4]


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the line of the value at a key path."""
    return SpanIndex({"a.yaml": text}.get)(PLACE.child(*path)).line


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
DEEP = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 70))
BROKEN = [
    ("a: 1\n\tb: 2\n", "OCT738 2:1-2:2 found a tab character that violates indentation while scanning a plain scalar"),
    ("a: [1\nb: 2\n", "OCT738 2:2-2:3 did not find expected ',' or ']' while parsing a flow sequence"),
    ("? [a]\n: 1\n", "OCT738 1:3-1:4 a list or an object stands where a key is expected"),
    ("a: 1\n---\nb: 2\n", "OCT738 2:1-2:2 a second document starts here, expected one"),
    ("- a\n", "OCT738 1:1-1:2 expected `key: value` lines as the whole file"),
    ("a: *b\n", "OCT738 1:4-1:5 alias `*b` has no anchor `&b` before it"),
    ("a: &a [*a]\n", "OCT738 1:8-1:9 alias `*a` has no anchor `&a` before it"),
    ("a: &a b\n*a : 1\n", "OCT738 2:1-2:2 alias `*a` stands where a key is expected"),
    ("a:\n  <<: 3\n", "OCT738 2:7-2:8 `<<` takes an object, or a list of objects"),
    ("a: !!python/name:os.system x\n", "OCT738 1:4-1:5 tag `tag:yaml.org,2002:python/name:os.system` is not read"),
    (BOMB, f"OCT738 13:12-13:13 aliases stand for more than {MAX_ALIASED} values"),
    (DEEP, "OCT110 64:12-64:13 more than 64 lists and objects inside each other"),
    ("a: " + "{a: " * 100_000, "OCT110 1:256-1:257 more than 64 lists and objects inside each other"),
    ("a: 1\nb: 2\na: 3\n", "OCT109 3:1-3:2 key `a` is there twice [1:1 it is here first]"),
]


@pytest.mark.parametrize("text,expected", BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_read_is_one_finding_with_its_place(text: str, expected: str, findings: Findings) -> None:
    """Tabs, bombs, depth, cycles, tags and odd keys are findings, never exceptions."""
    sink = sink_of(text)
    read_yaml(text, PLACE, sink)
    assert findings(sink) == [expected]


def test_a_template_is_information_in_a_folder(tmp_path: Path) -> None:
    """A build cannot use a file that a program fills in; a check of a folder expects it."""
    sink = sink_of("")
    text = "mcpServers:\n  {{- range .Values.servers }}\n  a: 1\n  {{- end }}\n"
    assert read_yaml(text, PLACE, sink) is None
    found: Diagnostic = sink.diagnostics[0]
    assert (found.rule.code, found.severity) == ("OCT738", Severity.ERROR)
    (tmp_path / "librechat.yaml").write_text(text)
    target = CheckTarget(root=tmp_path, folder=tmp_path)
    (in_folder,) = check_target(target, use_cache=False).diagnostics
    assert (in_folder.rule.code, in_folder.severity) == ("OCT738", Severity.INFO)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_has_no_values(text: str) -> None:
    """A file of comments has no values and no finding."""
    sink = sink_of(text)
    assert read_yaml(text, PLACE, sink) == {}
    assert sink.diagnostics == ()
