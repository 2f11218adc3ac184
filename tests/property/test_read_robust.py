"""The law of reading: whatever the bytes are, the outcome is values or a finding, never a crash."""

import json

from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.read.frontmatter import read_front_matter
from octoc.compiler.read.json import read_json
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.text import decode
from octoc.compiler.read.toml import read_toml
from octoc.compiler.read.yaml_file import read_yaml
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity

SAMPLES = [
    b'# Title: T\ntriggers = ["a", \'b\']\n[[mcp.servers]]\nenv = { A = "{{ENV:A}}" }\n[roles]\nsystem = """\nx\n"""\n',
    b'{"mcpServers": {"a": {"command": "x", "args": ["-y", "\\u00e9"], "n": [1, -2.5e+3, true, null]}}} // c\n',
    b"a: &b {c: [1, 'x']}\nd:\n  <<: *b\n  e: *b\nmcpServers:\n  f:\n    args: [-y]\n    env: |2-\n      h\n",
    b"---\nname: x\ntools: [a, 'b']\nrules:\n  - match(a): b\n  - k: v\ntext: >-\n  a\n  b\nd: e: f\n---\nBody\n",
]
TOKENS = [bytes([each]) for each in b"{}[]\"'\\#:,=-\n\t |>&*!%@`x0."] + [
    b"---\n",
    b'"""',
    b"'''",
    b"\xff",
    b"\x00",
    "é😀\u2028".encode(),
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sound file with a few pieces cut out, doubled or put in."""
    data = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(0, 4))):
        low = draw(st.integers(0, len(data)))
        high = draw(st.integers(low, min(len(data), low + 8)))
        data = data[:low] + draw(st.sampled_from([*TOKENS, b"", data[low:high] * 2])) + data[high:]
    return data


@given(st.one_of(mutated(), st.binary(max_size=40), st.lists(st.sampled_from(TOKENS), max_size=25).map(b"".join)))
def test_any_bytes_give_values_or_a_finding(data: bytes) -> None:
    """A file that gives no values has an error; values can be written as JSON; every finding's place is in the text.

    Markdown that some clients read has a warning instead, such as one that starts with a horizontal rule.
    """
    for ending in ("toml", "json", "yaml", "md"):
        name = f"a.{ending}"
        probe = DiagnosticSink()
        text = decode(data, name, probe)
        if text is None:
            assert probe.worst() is Severity.ERROR
            continue
        sink = DiagnosticSink(SpanIndex({name: text}.get))
        place = Place(file=name)
        if ending == "toml":
            values = read_toml(text, place, sink)
        elif ending == "json":
            values = read_json(text, place, sink)
        elif ending == "yaml":
            values = read_yaml(text, place, sink)
        else:
            found = read_front_matter(text, place, sink)
            values = None if found is None else found.values
        if values is None:
            assert sink.worst() is Severity.ERROR or (ending == "md" and sink.worst() is Severity.WARNING)
        else:
            # Dates are TOML's own, and the checks of structure say what is expected in their place.
            json.dumps(values, allow_nan=False, default=str).encode("utf-8")
        lines = text.split("\n")
        for each in sink.diagnostics:
            assert each.span is not None
            assert 0 <= each.span.line <= each.span.end_line <= len(lines)
            if each.span.line:
                assert 1 <= each.span.column <= len(lines[each.span.line - 1]) + 1
                assert (each.span.line, each.span.column) <= (each.span.end_line, each.span.end_column)
