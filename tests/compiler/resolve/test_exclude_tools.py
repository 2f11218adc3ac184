"""`exclude_tools` of a server whose tools are recorded."""

from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

TOOLS = ("git_log", "git_push", "git_status")


@pytest.mark.parametrize(
    "entry, left, words",
    [
        ("git_push", {"git_log", "git_status"}, None),
        ("git_p*", {"git_log", "git_status"}, None),
        ("git_psuh", {"git_log", "git_status"}, "until it is corrected, `git_push` is left out"),
        ("delete_repository", set(), "until it is corrected, the whole server is left out"),
        ("delete_*", set(), "until it is corrected, the whole server is left out"),
    ],
)
def test_an_exclusion_that_matches_nothing_excludes_more(
    tmp_path: Path, entry: str, left: set[str], words: str | None
) -> None:
    """A slip is an error and leaves out the tool that it nearly names; where it names none, no tool is left."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []}).server("git", "git-mcp", exclude_tools=[entry])
    builder.server("other", "other-mcp").snapshot("other", ["read"]).snapshot("git", TOOLS)
    outcome = builder.agent("supervisor").build(plugins_of())
    found = [one for one in outcome.diagnostics if one.rule.code == "OCT374"]
    assert [(one.severity, words in one.message) for one in found if words] == (
        [(Severity.ERROR, True)] if words else []
    )
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert {tool.name for tool in opened.bundle.tools if tool.server == "git"} == left
