"""The pages of the rules: each has its rule's text, and its examples break and keep the rule.

The fenced blocks of a section that have a `title` are the files of one workspace, and `octoc check` of it finds the
mistake of the page. The test adds an octoc.toml with tap `acme` where a page shows none, and the `default.toml` of a
capability with one provider. The check also gets a block with the title `.env` as its environment.
"""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

import octoc.diagnostics
from octoc.compiler.cache.store import Cache
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.discover.stage import find_files
from octoc.compiler.workspace.environment import read_environment
from octoc.compiler.workspace.load import load_workspace
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import all_rules
from octoc.plugin.manager import Plugins

DOCS = Path(octoc.diagnostics.__file__).parent / "docs"
CHECKOUT = Path(__file__).resolve().parents[2]
SECTIONS = ["## What it does", "## Why it matters", "## Bad", "## Good"]
FENCED = re.compile(r"^```(\w*)(.*)\n((?s:.*?))^```$", re.MULTILINE)
TITLE = re.compile(r'\A title="([^"]+)"\Z')

_LINK = "text shows no link"
_LOCK = "told by `octoc build --locked`, or when the lock is written"
_PIN = "told by `octoc pin`"
_BUNDLE = "about the bundle, which a check neither reads nor writes"
_ENCODER = "told while texts are encoded, which a check does not"
NOT_SHOWN: Mapping[str, str] = {
    "OCT101": "text shows no permissions",
    "OCT102": "a page has no room for a file of this size",
    "OCT103": "a page is UTF-8 itself",
    "OCT104": "a page is text itself",
    "OCT122": _LINK,
    "OCT123": _LINK,
    "OCT124": _LINK,
    "OCT128": "about what stands on the command line",
    "OCT129": "a page has no room for so many folders",
    "OCT424": "needs the sentence encoder, which a check does not run",
    "OCT436": "needs the sentence encoder, which a check does not run",
    **dict.fromkeys((f"OCT{number}" for number in (*range(501, 519), 523, 772, 775, 787)), _LOCK),
    **dict.fromkeys((f"OCT{number}" for number in (*range(540, 546), 791, 792)), _PIN),
    **dict.fromkeys((f"OCT{number}" for number in (*range(601, 609), *range(768, 772))), _BUNDLE),
    **dict.fromkeys((f"OCT{number}" for number in (701, 702, *range(704, 708))), _ENCODER),
    "OCT782": _ENCODER,
    **dict.fromkeys(("OCT783", "OCT784", "OCT785"), "told by `octoc test`"),
    "OCT720": "a page installs nothing",
    "OCT721": "a page installs nothing",
    "OCT722": "a page installs nothing",
    "OCT723": "a page installs nothing",
    "OCT724": "a page installs nothing",
    "OCT609": _LINK,
    "OCT610": _BUNDLE,
    "OCT901": "about a bug of octoc",
}
COMPANIONS: Mapping[str, tuple[str, str]] = {
    "OCT125": ("OCT303", "a capability whose default leads nowhere has none"),
    "OCT330": ("OCT321", "each entry without a tool is reported, too"),
    "OCT372": ("OCT201", "the table cannot be read because of the key"),
    "OCT434": ("OCT401", "the skill's capability is hidden because it has no trigger"),
}
NO_WORKSPACE = frozenset({".claude/mcp.json", "fastmcp.json", "manifest.json", "server.json"})
"""Files that no build of a workspace reads: a scan of a folder finds them."""
SHOWN = sorted(set(all_rules()) - set(NOT_SHOWN))


def page(code: str) -> str:
    """Return the page of a rule, in Markdown."""
    return (DOCS / f"{code}.md").read_text(encoding="utf-8")


def blocks(code: str, section: str) -> list[tuple[str | None, str]]:
    """Return title and text of each fenced block of a section."""
    text = re.split(r"^## ", page(code).partition(f"\n## {section}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    titles = [(TITLE.match(info), example) for _, info, example in FENCED.findall(text)]
    return [(title and title[1], example) for title, example in titles]


def workspace(shown: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the workspace that a page means by those that it shows."""
    files = dict(shown)
    if not NO_WORKSPACE.isdisjoint(files):
        return files
    if "octoc.toml" not in files:
        in_tap = any(path.startswith("taps/") for path in files)
        tap = '\n[[taps]]\nname = "acme"\npath = "taps/acme"\n' if in_tap else ""
        files["octoc.toml"] = f'[workspace]\nname = "acme"\n{tap}'
    providers: dict[PurePosixPath, list[str]] = {}
    for path in map(PurePosixPath, shown):
        if path.parent.parent.name == "capabilities" and path.name != "config.toml":
            providers.setdefault(path.parent, []).append(path.name)
    alone = {folder: names[0] for folder, names in providers.items() if len(names) == 1}
    return {**{f"{folder}/default.toml": name for folder, name in alone.items() if name != "default.toml"}, **files}


def check_section(code: str, section: str, root: Path) -> tuple[Diagnostic, ...]:
    """Return what is found in the workspace that a section of a page makes, written to `root`."""
    files = workspace({title: text for title, text in blocks(code, section) if title is not None})
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    environment = read_environment([root / ".env"], []) if ".env" in files else None
    scanned = CheckTarget(root=root, folder=None if "octoc.toml" in files else root)
    return check_target(scanned, plugins=Plugins(), use_cache=False, environment=environment).diagnostics


def _kinds(root: Path) -> dict[str, str]:
    """Return the kind of each file of the workspace in `root`, by its display path."""
    loaded = load_workspace(root, cache=Cache(None), plugins=Plugins())
    assert loaded.settings is not None
    files = find_files(loaded.settings, loaded.context).files
    return {WORKSPACE_FILE: "workspace", **{file.display: file.kind.name for file in files}}


def test_every_page_is_of_a_rule() -> None:
    """There is a page of each rule, and no page of a rule that does not exist."""
    assert {path.stem for path in DOCS.glob("*.md")} == set(all_rules())


@pytest.mark.parametrize("code", sorted(all_rules()))
def test_a_page_says_what_its_rule_says(code: str) -> None:
    """A page begins with code, name and summary of its rule, and has its sections in one order, with examples."""
    rule = all_rules()[code]
    assert page(code).startswith(f"# {code} {rule.name}\n\n{rule.summary}\n\n{SECTIONS[0]}\n")
    headings = [line for line in page(code).splitlines() if line.startswith("## ")]
    assert headings in (SECTIONS, [*SECTIONS, "## Settings"])
    assert all(blocks(code, section) for section in ("Bad", "Good"))


@pytest.mark.parametrize("code", SHOWN)
def test_what_a_page_calls_bad_breaks_its_rule_alone(code: str, tmp_path: Path) -> None:
    """The bad example breaks its rule and no other rule above information."""
    found = check_section(code, "Bad", tmp_path)
    shown = {one.rule.code for one in found if one.severity > Severity.INFO or one.rule.code == code}
    assert shown == {code, *COMPANIONS.get(code, ())[:1]}, found
    kinds = all_rules()[code].kinds
    in_kinds = {_kinds(tmp_path).get(one.span.file) for one in found if one.rule.code == code and one.span is not None}
    assert not kinds or in_kinds - {None} <= kinds, "the rule declares other kinds of files"


@pytest.mark.parametrize("code", SHOWN)
def test_what_a_page_calls_good_keeps_its_rule(code: str, tmp_path: Path) -> None:
    """The good example keeps its rule and every other rule above information."""
    found = check_section(code, "Good", tmp_path)
    assert [one for one in found if one.severity > Severity.INFO or one.rule.code == code] == []


@pytest.mark.parametrize("code", sorted(all_rules()))
def test_an_example_is_a_file_where_it_is_checked(code: str) -> None:
    """Every block of a page's examples has a title when they are checked, and none has one when they are not."""
    titles = [title for section in ("Bad", "Good") for title, _ in blocks(code, section)]
    assert {title is not None for title in titles} == {code not in NOT_SHOWN}


def test_what_no_page_can_show_is_tested_elsewhere() -> None:
    """The code of a rule whose page is not checked is one that another test expects."""
    tests = {*CHECKOUT.glob("tests/**/test_*.py"), *CHECKOUT.glob("plugins/*/tests/**/test_*.py")}
    texts = (path.read_text(encoding="utf-8") for path in tests - {Path(__file__).resolve()})
    expected = {code for text in texts for code in re.findall(r'"(OCT\d{3})\b', text)}
    assert set(NOT_SHOWN) - expected == set()
    assert set(NOT_SHOWN) <= set(all_rules())
