"""Files that the text of a skill names beside it."""

from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity


@pytest.mark.parametrize(
    "text, severity",
    [
        ("Run `bash scripts/get_dif.sh`.", Severity.WARNING),
        ("See [the schema](references/schemas.md).", Severity.WARNING),
        ("See [the schema](references/schemas.md#tables).", Severity.WARNING),
        ("Run ${CLAUDE_SKILL_DIR}/scripts/get_dif.sh", Severity.WARNING),
        ("Write the plan to references/plan.md first.", None),
        ("Run `bash scripts/get_diff.sh` and see [it](./references/schema.md).", None),
        ("Run `bash src/scripts/get_dif.sh` or docs/gone.md or scripts/lib/gone.sh.", None),
        ("See https://host.example/scripts/get_dif.sh", None),
        ("See [the channels](references/channels.md).", Severity.WARNING),
        ("See [the guide](./GUIDE.md#start).", Severity.WARNING),
        ("See [the guide](guide/intro.md).", Severity.WARNING),
        ("See [rules](../../rules.md), [code](src/main.py), [it](/x.md), [site](host.com/x.md).", None),
        ("In code: `[the guide](GUIDE.md)` and ![a picture](picture.png)", None),
        ("See [private notes](notes.local.md) and [hidden](.trellis/spec/guide.md).", None),
    ],
)
def test_a_path_in_the_text_of_a_skill(text: str, severity: Severity | None, tmp_path: Path) -> None:
    """A slip of a file beside the skill is a warning; any other path may be an example or made by the skill."""
    skill = tmp_path / ".claude/skills/ship"
    for path in ("scripts/get_diff.sh", "references/schema.md"):
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_text("", encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / ".gitignore").write_text("*.local.md\n", encoding="utf-8")
    (skill / "SKILL.md").write_text(f"---\nname: ship\ndescription: Ships\n---\n\n{text}\n", encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).diagnostics
    judged = [(one.severity, one.span and one.span.line) for one in found if one.rule.code == "OCT731"]
    assert judged == ([] if severity is None else [(severity, 6)])
