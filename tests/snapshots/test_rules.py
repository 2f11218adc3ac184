"""What the bad example of each rule's page prints, in every output format."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from octoc.cli.report import line_reader
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.render import FORMATS, render_concise, render_full, render_json
from octoc.diagnostics.render.github import render_github
from octoc.diagnostics.render.junit import render_junit
from octoc.diagnostics.render.sarif import render_sarif
from octoc.diagnostics.rule import Severity
from tests.diagnostics.test_pages import SHOWN, check_section


def rendered(found: tuple[Diagnostic, ...], root: Path) -> str:
    """Return findings in every format, one format after the other; of SARIF only the results, one on a line."""
    sarif = json.loads(render_sarif(found, version="0", page_of=lambda _: None, placeless="octoc.toml"))
    texts = {
        "full": render_full(found, line_reader(root)),
        "concise": render_concise(found),
        "json": render_json(found),
        "sarif": "\n".join(json.dumps(result, ensure_ascii=False) for result in sarif["runs"][0]["results"]),
        "github": render_github(found),
        "junit": render_junit(found, files=[], fail_on=Severity.ERROR),
    }
    assert set(texts) == set(FORMATS)
    return "\n".join(f"=== {name} ===\n{text.rstrip()}\n" for name, text in texts.items())


def test_the_findings_of_each_page_are_as_recorded(
    tmp_path_factory: pytest.TempPathFactory, snapshots: Callable[[str, Mapping[str, str]], None]
) -> None:
    """Every rule whose page is checked prints the recorded text in each format."""
    texts = {}
    for code in SHOWN:
        root = tmp_path_factory.mktemp(code)
        texts[f"{code}.txt"] = rendered(check_section(code, "Bad", root), root).replace(str(root), "<workspace>")
    snapshots("rules", texts)
