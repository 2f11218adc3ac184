"""What every test of reading needs: a sink that knows the positions of one text, and findings as short lines."""

from collections.abc import Callable

import pytest

from octoc.compiler.read.spans import SpanIndex
from octoc.diagnostics.model import Diagnostic, DiagnosticSink

Findings = Callable[[DiagnosticSink], list[str]]


@pytest.fixture
def sink_for() -> Callable[[str], DiagnosticSink]:
    """A function from a text to a sink that finds places in it."""
    return lambda text: DiagnosticSink(SpanIndex(lambda _: text))


@pytest.fixture
def findings() -> Findings:
    """A function from a sink to lines of the form `OCTnnn line:column-line:column message`."""
    return lambda sink: [_line(each) for each in sink.diagnostics]


def _line(found: Diagnostic) -> str:
    span = found.span
    assert span is not None
    where = f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"
    also = "".join(f" [{label.span.line}:{label.span.column} {label.text}]" for label in found.related)
    return f"{found.rule.code} {where} {found.message}{also}"
