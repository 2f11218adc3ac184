"""The policy in a whole workspace: severities by rule and path, suppressions, and what is wrong with either."""

from collections.abc import Callable
from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.model.settings import LintOverride, LintSettings
from octoc.compiler.policy.lint_policy import policy_of
from octoc.compiler.workspace.build import build
from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import all_rules
from octoc.plugin.manager import Plugins, plugins_of
from octoc.testing import InProcessPlugin

Found = list[tuple[str, str, int]]
CheckText = Callable[..., Found]

PROVIDER = "taps/acme/capabilities/clock/default.toml"
CONFIG = "taps/acme/capabilities/clock/config.toml"
WORKSPACE = '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n'
SERVER = """\
# Title: Clock
# Description: Tells the time.
[roles.mcp]
server_refs = ["clock"]
allowed_tools = ["clock:*"]

[[mcp.servers]]
name = "clock"
type = "stdio"
command = "npx"
args = ["clock-mcp"]
timeout_seconds = 30
tools = []
"""
AT_ARGS = SERVER.replace('["clock-mcp"]', '["clock-mcp"] # octoc: ignore[unpinned-package]')
# The rules that these tests are about; others may have something to say of so small a workspace.
WATCHED = {"OCT301", "OCT402", *(code for code in all_rules() if code.startswith("OCT2") or code >= "OCT490")}


def write(
    root: Path, *, lint: str = "", provider: str = SERVER, config: str = 'triggers = ["what time is it"]\n'
) -> None:
    """Write a workspace with one capability, whose server runs a package without a version."""
    for path, text in (("octoc.toml", WORKSPACE + lint), (PROVIDER, provider), (CONFIG, config)):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def found(tmp_path: Path) -> CheckText:
    """A function that writes the workspace and returns (code, severity, line) of what is found in it."""

    def check(**texts: str) -> Found:
        write(tmp_path, **texts)
        diagnostics = check_workspace(tmp_path, plugins=Plugins(), use_cache=False).diagnostics
        return [
            (one.rule.code, one.severity.label, one.span.line if one.span else -1)
            for one in diagnostics
            if one.rule.code in WATCHED
        ]

    return check


def test_without_a_policy_the_rule_s_severity_counts(found: CheckText) -> None:
    """An unpinned package of a tap is an error unless the workspace says otherwise."""
    assert found() == [("OCT402", "error", 11)]


@pytest.mark.parametrize("name", ["unpinned-package", "OCT402", "oct402"])
@pytest.mark.parametrize("word", ["off", "info", "warning", "error"])
def test_a_rule_gets_the_severity_of_the_workspace(found: CheckText, name: str, word: str) -> None:
    """`[lint]` gives a rule, by name or by code, another severity, or none."""
    expected = [] if word == "off" else [("OCT402", word, 11)]
    assert found(lint=f'[lint]\nrules = {{ {name} = "{word}" }}\n') == expected


def test_a_path_has_severities_of_its_own(found: CheckText) -> None:
    """An override counts for the files that it matches, over `rules`, and a later one over an earlier."""
    override = '[[lint.overrides]]\npath = "{}"\nrules = {{ OCT402 = "{}" }}\n'
    base = '[lint]\nrules = { OCT402 = "info" }\n'
    assert found(lint=base + override.format("taps/**", "warning")) == [("OCT402", "warning", 11)]
    assert found(lint=base + override.format("octoc.toml", "warning")) == [("OCT402", "info", 11)]
    both = override.format("**/default.toml", "warning") + override.format("taps/acme/**", "off")
    assert found(lint=base + both) == []


def test_an_override_that_matches_nothing_is_reported(found: CheckText) -> None:
    """A path that no file has is a warning at the path."""
    lint = '[[lint.overrides]]\npath = "taps/acme"\nrules = { OCT402 = "off" }\n'
    assert found(lint=lint) == [("OCT493", "warning", 8), ("OCT402", "error", 11)]


@pytest.mark.parametrize(
    "lint,code",
    [
        ('rules = { unpined-package = "off" }', "OCT491"),
        ('rules = { OCT601 = "off" }', "OCT491"),
        ('rules = { OCT402 = "of" }', "OCT204"),
        ("rules = { OCT402 = 1 }", "OCT203"),
        ('rules = { OCT402 = "off", unpinned-package = "error" }', "OCT210"),
        ('overrides = [{ path = "taps/**", rules = { no-trigger = "off" } }]', "OCT491"),
        ('overrides = [{ rules = { no-triggers = "off" } }]', "OCT202"),
        ('overrides = [{ path = "taps/**" }]', "OCT202"),
        ('overrides = [{ path = " ", rules = { no-triggers = "off" } }]', "OCT207"),
        ('providers = ["antropic"]', "OCT204"),
        ('severity = "off"', "OCT201"),
    ],
)
def test_unsound_settings_are_reported_and_change_nothing(found: CheckText, lint: str, code: str) -> None:
    """What `[lint]` says wrongly is an error at its line, and the rest counts as if it were not there."""
    codes = found(lint=f"[lint]\n{lint}\n")
    assert (code, "error", 8) in codes
    assert codes[-1][0] == "OCT402" or 'OCT402 = "off", unpinned' in lint


def test_near_names_of_rules_are_told(tmp_path: Path) -> None:
    """A misspelt rule comes with the name that was meant."""
    write(tmp_path, lint='[lint]\nrules = { unpined-package = "off" }\n')
    (wrong,) = [
        one
        for one in check_workspace(tmp_path, plugins=Plugins(), use_cache=False).diagnostics
        if one.rule.code == "OCT491"
    ]
    assert wrong.help == "did you mean `unpinned-package` or `retired-package`?"


def test_a_suppression_keeps_a_finding_quiet(found: CheckText) -> None:
    """A finding is suppressed at its line, above it, and for its file."""
    assert found(provider=AT_ARGS) == []
    above = SERVER.replace("args =", "# octoc: ignore[OCT402] ours\nargs =")
    assert found(provider=above) == []
    assert found(provider=f"# octoc: ignore-file[OCT402]\n{SERVER}") == []


def test_a_suppression_of_nothing_is_reported(found: CheckText) -> None:
    """A suppression whose rule finds nothing there is a warning at the rule's name."""
    pinned = AT_ARGS.replace("clock-mcp", "clock-mcp@1.0.0")
    assert found(provider=pinned) == [("OCT490", "warning", 11)]
    assert found(config='# octoc: ignore-file[OCT401]\ntriggers = ["time"]\n', provider=AT_ARGS) == [
        ("OCT490", "warning", 1)
    ]


def test_a_suppression_of_nothing_can_be_suppressed(found: CheckText) -> None:
    """`unused-suppression` is a rule like any other, and one that suppressions only itself is in use."""
    pinned = AT_ARGS.replace("clock-mcp", "clock-mcp@1.0.0")
    assert found(provider=pinned.replace("ignore[", "ignore[unused-suppression, ")) == []
    assert found(provider=pinned, lint='[lint]\nrules = { unused-suppression = "off" }\n') == []
    alone = SERVER.replace("clock-mcp", "clock-mcp@1.0.0").replace("tools = []", "tools = [] # octoc: ignore[OCT490]")
    assert found(provider=alone) == [("OCT490", "warning", 13)]


def test_a_suppression_is_in_use_where_the_rule_is_off(found: CheckText) -> None:
    """A suppression of a finding that the settings would leave out, too, is not reported."""
    assert found(provider=AT_ARGS, lint='[lint]\nrules = { OCT402 = "off" }\n') == []


def test_nothing_is_unused_where_not_every_rule_looked(found: CheckText) -> None:
    """A file with an error of reading, checking or resolving has no finding about unused suppressions."""
    broken = AT_ARGS.replace('"clock-mcp"', '"clock-mcp@1.0.0"').replace('refs = ["clock"]', 'refs = ["clock", "tick"]')
    assert [code for code, _, _ in found(provider=broken)] == ["OCT301"]


@pytest.mark.parametrize("comment,code", [("ignore", "OCT492"), ("ignore[]", "OCT492"), ("ignore[nope]", "OCT491")])
def test_a_suppression_without_a_rule_is_reported(found: CheckText, comment: str, code: str) -> None:
    """A suppression that names no rule, or none that exists, is a warning."""
    config = f'triggers = ["time"] # octoc: {comment}\n'
    assert found(config=config, provider=AT_ARGS) == [(code, "warning", 1)]


def test_a_suppression_of_the_file_stands_at_its_top(found: CheckText) -> None:
    """An `ignore-file` below the first value suppressions nothing, and is reported."""
    below = SERVER.replace("tools = []", "tools = [] # octoc: ignore-file[OCT402]")
    assert found(provider=below) == [("OCT402", "error", 11), ("OCT490", "warning", 13)]


def test_settings_judge_what_octoc_toml_itself_has(found: CheckText) -> None:
    """What is found in octoc.toml before its settings are known is judged by them all the same."""
    lint = '[lint]\nrules = { unused-setting = "error" }\n[routing]\nthreshold = 0.5\n'
    assert found(lint=lint, provider=AT_ARGS) == [("OCT246", "error", 10)]
    assert found(lint="[routing]\nthreshold = 0.5 # octoc: ignore[unused-setting]\n", provider=AT_ARGS) == []


@pytest.mark.parametrize(
    "lint,config,is_written",
    [
        ("", 'triggers = ["time", 1]\n', False),
        ('[lint]\nrules = { wrong-type = "warning" }\n', 'triggers = ["time", 1]\n', True),
        ("", 'triggers = ["time", 1] # octoc: ignore[wrong-type]\n', True),
    ],
)
def test_a_suppressed_error_does_not_withhold_the_bundle(
    tmp_path: Path, lint: str, config: str, is_written: bool
) -> None:
    """In a strict build an error that is suppressed or downgraded counts for nothing; what it excludes is left out."""
    write(tmp_path, lint=lint, config=config, provider=AT_ARGS)
    outcome = build(tmp_path, strict=True, plugins=plugins_of(InProcessPlugin()), use_cache=False)
    assert (outcome.bundle is not None) is is_written
    assert (outcome.worst is Severity.ERROR) is not is_written
    if outcome.bundle is not None:
        with OpenBundle.open(outcome.bundle) as opened:
            assert [one.triggers for one in opened.bundle.capabilities] == [("time",)]


def test_only_files_with_findings_are_read() -> None:
    """A file's text is read once, when the first finding in it is judged."""
    read: list[str] = []

    def read_text(file: str) -> str:
        read.append(file)
        return "a = 1\n"

    policy = policy_of(LintSettings(), read_text)
    rule = all_rules()["OCT401"]
    for line in (1, 1, 2):
        found = Diagnostic(rule=rule, message="m", severity=rule.severity, span=Span(file="a.toml", line=line))
        assert policy(found) == found
    assert policy(Diagnostic(rule=rule, message="m", severity=rule.severity)) is not None
    assert read == ["a.toml"]


def test_findings_about_the_build_are_left_as_they_are() -> None:
    """A rule of 5xx or above keeps its severity whatever the settings say."""
    rule = all_rules()["OCT501"]
    found = Diagnostic(rule=rule, message="m", severity=rule.severity, span=Span(file="octoc.lock"))
    settings = LintSettings(
        rules={"OCT501": "off"}, overrides=(LintOverride(path="**", rules={"lock-missing": "info"}),)
    )
    assert policy_of(settings, lambda _: None)(found) == found


@pytest.mark.parametrize("run", ["check", "build"])
def test_a_comment_in_octoc_toml_is_seen_by_a_cached_run(tmp_path: Path, run: str) -> None:
    """A run that remembers the last one sees that only a suppression, or only the line of a key, has changed."""
    write(tmp_path, lint='[[lint.overrides]]\npath = "x/**"\nrules = {}\n', provider=AT_ARGS)
    plugins = plugins_of(InProcessPlugin())

    def lines() -> list[int]:
        outcome = check_workspace(tmp_path, plugins=plugins) if run == "check" else build(tmp_path, plugins=plugins)
        return [one.span.line for one in outcome.diagnostics if one.span and one.rule.code == "OCT493"]

    assert (lines(), lines()) == ([8], [8])
    path = tmp_path / "octoc.toml"
    path.write_text("# A comment.\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert lines() == [9]
    path.write_text("# octoc: ignore-file[OCT493]\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert lines() == []
