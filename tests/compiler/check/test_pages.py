"""The examples of the rules' pages: the bad one breaks the rule, the good one breaks none."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import octoc.diagnostics
from octoc.compiler.model.documents import FileKind
from octoc.diagnostics.rule import Rule
from octoc.diagnostics.rules import check as rules

DOCS = Path(octoc.diagnostics.__file__).parent / "docs"
CODES = sorted(rule.code for rule in vars(rules).values() if isinstance(rule, Rule))
# The file that an example is, where its fence's language does not say it.
KIND = {
    "OCT202": FileKind.CAPABILITY_PROVIDER,
    "OCT203": FileKind.CAPABILITY_CONFIG,
    "OCT207": FileKind.CAPABILITY_CONFIG,
    "OCT226": FileKind.CAPABILITY_PROVIDER,
    "OCT243": FileKind.AGENT_MANIFEST,
    "OCT244": FileKind.SKILL,
    "OCT245": FileKind.SNAPSHOT,
}
BY_LANGUAGE = {"toml": FileKind.WORKSPACE, "json": FileKind.MCP, "markdown": FileKind.AGENT_MD}
DIALECT = {"OCT209": "vscode", "OCT240": "claude"}


@pytest.mark.parametrize("code", CODES)
def test_the_examples_of_a_page_are_true(code: str, check_text: Callable[..., Any]) -> None:
    """A page's bad example breaks its rule and no other, and its good example breaks none."""
    page = (DOCS / f"{code}.md").read_text(encoding="utf-8")
    (language, bad), (_, good) = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    kind = KIND.get(code, BY_LANGUAGE[language])
    assert set(check_text(kind, bad, DIALECT.get(code, "")).codes) == {code}
    assert check_text(kind, good, DIALECT.get(code, "")).codes == []
