"""Lint rules of plugins: they behave like octoc's own, and an unsound or failing one stops nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target, check_workspace
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.pages import page_of
from octoc.diagnostics.render.sarif import render_sarif
from octoc.diagnostics.rules import all_rules
from octoc.plugin import LintCheck, LintWorkspace, Rule, Scope, Severity, hookimpl, lint_check
from octoc.plugin.manager import Plugins, plugins_of

WORKSPACE = '[workspace]\nname = "acme"\n'
SERVERS = '{\n "mcpServers": {"time": {"command": "clock-mcp"}} %s\n}\n'
AGENT = "---\nname: a\ndescription: A.\nmcpServers:\n  - own: {command: x}\n---\nDo.\n"
REPORTED = [("ACME001", "warning", 2)]


def rule_of(code: str = "ACME001", name: str = "no-region", **fields: Any) -> Rule:
    """A rule of the plugin, with what a test says of it."""
    return Rule(code, name, "A server has no region.", **{"severity": Severity.WARNING, "scope": Scope.FILE, **fields})


def check_of(rule: Rule, report: Callable[[LintWorkspace, DiagnosticSink], None] | None = None) -> LintCheck:
    """A check that reports each server, or what `report` does."""

    def run(workspace: LintWorkspace, sink: DiagnosticSink) -> None:
        if report is not None:
            report(workspace, sink)
        for server in workspace.servers:
            sink.report(rule, f"server `{server.name}` has no region", at=server.place)

    return lint_check(rule)(run)


class Acme:
    """A plugin that registers checks."""

    def __init__(self, *checks: Any) -> None:
        self.checks = checks

    @hookimpl
    def octoc_lint_rules(self) -> Any:
        return self.checks


class Beta(Acme):
    """Another one."""


class Broken:
    """A plugin whose hook raises."""

    @hookimpl
    def octoc_lint_rules(self) -> Any:
        raise ZeroDivisionError("no rules")


def found(root: Path, plugins: Plugins, *, lint: str = "", comment: str = "") -> list[tuple[str, str, int]]:
    """Write a workspace with one server, and return code, severity and line of what the plugins' rules report."""
    root.joinpath("octoc.toml").write_text(WORKSPACE + lint, encoding="utf-8")
    root.joinpath(".mcp.json").write_text(SERVERS % comment, encoding="utf-8")
    return [
        (one.rule.code, one.severity.label, one.span.line if one.span else -1)
        for one in check_workspace(root, plugins=plugins, use_cache=False).diagnostics
        if one.rule.code not in all_rules() or one.rule.name.startswith(("lint-rule", "unknown-rule", "unused"))
    ]


def messages(root: Path, *plugins: object) -> list[str]:
    """Return what is wrong with the rules of `plugins`."""
    found(root, plugins_of())
    diagnostics = check_workspace(root, plugins=plugins_of(*plugins), use_cache=False).diagnostics
    return [one.message for one in diagnostics if one.rule.name.startswith("lint-rule")]


def test_a_rule_of_a_plugin_is_reported(tmp_path: Path) -> None:
    """A check that a plugin registers runs with octoc's own."""
    assert found(tmp_path, plugins_of(Acme(check_of(rule_of())))) == REPORTED


@pytest.mark.parametrize("name", ["ACME001", "acme001", "no-region"])
def test_the_workspace_changes_its_severity(tmp_path: Path, name: str) -> None:
    """`[lint]` sets the severity of a plugin's rule, by code or by name, for all files or for some."""
    plugins = plugins_of(Acme(check_of(rule_of())))
    assert found(tmp_path, plugins, lint=f'[lint]\nrules = {{ {name} = "error" }}\n') == [("ACME001", "error", 2)]
    override = f'[[lint.overrides]]\npath = ".mcp.json"\nrules = {{ {name} = "off" }}\n'
    assert found(tmp_path, plugins, lint=override) == []


def test_a_rule_of_no_plugin_is_unknown(tmp_path: Path) -> None:
    """A name in `[lint]` that neither octoc nor a plugin of the workspace has is reported where it stands."""
    assert found(tmp_path, plugins_of(), lint='[lint]\nrules = { ACME001 = "off" }\n') == [("OCT491", "error", 4)]


def test_a_comment_suppresses_it(tmp_path: Path) -> None:
    """A comment suppresses a plugin's rule, and is unused where the rule finds nothing."""
    agent = tmp_path / "agents" / "a.md"
    agent.parent.mkdir()
    agent.write_text(AGENT.replace("  -", "  # octoc: ignore[no-region]\n  -"), encoding="utf-8")
    silent = lint_check(rule_of())(lambda _workspace, _sink: None)
    assert found(tmp_path, plugins_of(Acme(silent))) == [("OCT490", "warning", 5)]
    assert found(tmp_path, plugins_of(Acme(check_of(rule_of())))) == REPORTED


def test_a_remembered_answer_has_the_whole_rule(tmp_path: Path) -> None:
    """A check that is repeated from the cache has the same findings, and the page of the plugin's rule."""
    found(tmp_path, plugins_of())
    (tmp_path / "ACME001.md").write_text("# ACME001 no-region\n", encoding="utf-8")
    rule = rule_of(pages=tmp_path)
    first = check_workspace(tmp_path, plugins=plugins_of(Acme(check_of(rule))))
    again = check_workspace(tmp_path, plugins=plugins_of(Acme(check_of(rule))))
    assert again.unchanged
    assert again.diagnostics == first.diagnostics
    log = json.loads(render_sarif(again.diagnostics, version="0", page_of=page_of))
    rules = {one["id"]: one for one in log["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["ACME001"]["help"]["markdown"] == "# ACME001 no-region\n"


def test_a_file_by_itself_has_the_rules_of_one_file(tmp_path: Path) -> None:
    """A file that is checked by itself has findings of rules of scope FILE, and checks of other rules do not run."""
    agent = tmp_path / "a.md"
    agent.write_text(AGENT, encoding="utf-8")
    ran = []
    wide = check_of(rule_of("ACME002", "no-owner", scope=Scope.WORKSPACE), lambda _workspace, _sink: ran.append(1))
    plugins = plugins_of(Acme(check_of(rule_of()), wide))
    checkup = check_target(
        CheckTarget(root=tmp_path, file=agent, kind="agent-md:claude"), plugins=plugins, use_cache=False
    )
    codes = [one.rule.code for one in checkup.diagnostics]
    assert codes.count("ACME001") == 1
    assert "ACME002" not in codes
    assert ran == []


@pytest.mark.parametrize(
    "rule, why",
    [
        (rule_of("OCT999"), "rule `OCT999`, whose code begins with `OCT`, as octoc's own do"),
        (rule_of("acme1"), "rule `acme1`, whose code is not a word in capitals and three digits, as `ACME001`"),
        (rule_of(name="No Region"), "rule `ACME001`, whose name `No Region` is not lower-case words joined by `-`"),
        (rule_of(scope=Scope.BUILD), "rule `ACME001`, whose scope is neither a file nor the workspace"),
        (rule_of(name="unpinned-package"), "rule `ACME001`, whose name `unpinned-package` rule `OCT402` of octoc has"),
    ],
)
def test_an_unsound_rule_is_refused(tmp_path: Path, rule: Rule, why: str) -> None:
    """Octoc reports a plugin's rule that it cannot use, and runs the plugin's other checks."""
    sound = check_of(rule_of("ACME009", "no-zone"))
    plugins = plugins_of(Acme(check_of(rule), sound))
    assert [code for code, _, _ in found(tmp_path, plugins)] == ["ACME009", "OCT722"]
    assert messages(tmp_path, Acme(check_of(rule), sound)) == [f"plugin `object:0:Acme` registers {why}"]


def test_two_plugins_with_one_code(tmp_path: Path) -> None:
    """When two plugins register one code, the first by name keeps it and the other is reported."""
    plugins = Acme(check_of(rule_of())), Beta(check_of(rule_of(name="no-zone")))
    assert ("ACME001", "warning", 2) in found(tmp_path, plugins_of(*plugins))
    assert messages(tmp_path, *plugins) == [
        "plugin `object:1:Beta` registers rule `ACME001`, which plugin `object:0:Acme` has too"
    ]


def test_what_is_no_check_is_refused(tmp_path: Path) -> None:
    """A plugin that registers something else, or whose hook raises, is reported."""
    assert messages(tmp_path, Acme("ACME001"), Broken()) == [
        "plugin `object:0:Acme` registers `str` where a check with rules is expected",
        "plugin `object:1:Broken` cannot register its rules: no rules",
    ]


def test_a_check_that_raises_does_not_stop_the_run(tmp_path: Path) -> None:
    """Octoc reports a check that raises or reports another rule than it declares, and runs the others."""

    def fail(workspace: LintWorkspace, sink: DiagnosticSink) -> None:
        raise ValueError("no such region")

    def stray(workspace: LintWorkspace, sink: DiagnosticSink) -> None:
        sink.report(all_rules()["OCT402"], "not mine")

    acme = Acme(
        check_of(rule_of("ACME002", "one"), fail), check_of(rule_of("ACME003", "two"), stray), check_of(rule_of())
    )
    assert messages(tmp_path, acme) == [
        "the check of `ACME002` in plugin `object:0:Acme` failed: no such region",
        (
            "the check of `ACME003` in plugin `object:0:Acme` failed: "
            "rule `OCT402` is reported by a check that does not declare it"
        ),
    ]
    assert ("ACME001", "warning", 2) in found(tmp_path, plugins_of(acme))
    assert "OCT723" in {code for code, _, _ in found(tmp_path, plugins_of(acme))}
