"""The pages of the policy's own rules: their bad examples give exactly the rule, their good ones nothing."""

import re
from pathlib import Path

import pytest

import octoc.diagnostics
from octoc.compiler.checkup import check_workspace
from octoc.plugin.manager import Plugins

DOCS = Path(octoc.diagnostics.__file__).parent / "docs"


@pytest.mark.parametrize("code", ["OCT490", "OCT491", "OCT492", "OCT493"])
@pytest.mark.parametrize("section", ["Bad", "Good"])
def test_the_examples_are_true(tmp_path: Path, code: str, section: str) -> None:
    """Checked as an octoc.toml, the bad example has this one finding and the good one has none."""
    page = (DOCS / f"{code}.md").read_text(encoding="utf-8")
    (example,) = re.findall(rf'^## {section}\n\n```toml title="octoc.toml"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "octoc.toml").write_text(example, encoding="utf-8")
    found = check_workspace(tmp_path, plugins=Plugins(), use_cache=False).diagnostics
    assert [one.rule.code for one in found] == ([code] if section == "Bad" else [])
