"""`octoc check` as CI runs it: formats, exit statuses, and how often files are read."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from octoc.cli.report import exit_status, line_reader, print_diagnostics
from octoc.diagnostics.model import Diagnostic, Label, Span
from octoc.diagnostics.render import FORMATS, render_full
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import all_rules

Run = Callable[..., Any]

AGENT = "agents/writer/AGENT.md"
SLIPPED = '{"mcpServers": {"NAME": {"command": "x", "timeot": 1}}}'


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout, the working directory, with a workspace in a folder of it: an agent's description is a list."""
    root = tmp_path / "checkout" / "fleet"
    (root / AGENT).parent.mkdir(parents=True)
    (root / "octoc.toml").write_text('[workspace]\nname = "acme"\n', encoding="utf-8")
    (root / AGENT).write_text("---\nname: writer\ndescription: [1]\n---\nYou write.\n", encoding="utf-8")
    monkeypatch.chdir(root.parent)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return root


def test_sarif_s_paths_count_from_the_checkout(octoc: Run, broken: Path) -> None:
    """In SARIF a path is relative to the working directory, where CI runs, not to the workspace."""
    done = octoc("check", "--workspace", "fleet", "--output-format", "sarif")
    assert done.status == 1
    (run,) = json.loads(done.out)["runs"]
    (result,) = [one for one in run["results"] if one["ruleId"] == "OCT203"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == f"fleet/{AGENT}"
    assert place["region"]["startLine"] == 3


def test_github_s_paths_count_from_its_workspace(octoc: Run, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where GitHub says what the checkout is, paths count from there, whatever the working directory."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(broken.parent))
    monkeypatch.chdir(broken)
    done = octoc("check", "--output-format", "github")
    assert done.status == 1
    (line,) = [line for line in done.out.splitlines() if "OCT203" in line]
    assert line.startswith(f"::error file=fleet/{AGENT},line=3,")


def test_junit_has_a_case_for_each_file(octoc: Run, broken: Path) -> None:
    """Files that are sound are cases that pass."""
    done = octoc("check", "--workspace", "fleet", "--output-format", "junit")
    (suite,) = ET.fromstring(done.out)  # noqa: S314  # our own text
    assert {case.get("name"): case.find("failure") is not None for case in suite} == {
        "fleet/octoc.toml": False,
        f"fleet/{AGENT}": True,
    }


def test_junit_fails_each_file_of_a_folded_finding(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings that say the same of two files are one for people, and fail the case of each file in `junit`."""
    for name in ("one", "two"):
        path = tmp_path / name / ".mcp.json"
        path.parent.mkdir()
        path.write_text(SLIPPED.replace("NAME", name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    concise = octoc("check", "--output-format", "concise")
    assert [line.partition(":")[0] for line in concise.out.splitlines() if "OCT208" in line] == ["one/.mcp.json"]
    done = octoc("check", "--output-format", "junit", "--fail-on", "warning")
    (suite,) = ET.fromstring(done.out)  # noqa: S314  # our own text
    assert {case.get("name"): case.find("failure") is not None for case in suite} == {
        "one/.mcp.json": True,
        "two/.mcp.json": True,
    }


def test_a_folded_finding_counts_each_place(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary, `[*]`, programs' formats and the baseline count the places that people see as one finding."""
    servers = {name: {"command": "x", "comand": "y"} for name in ("one", "two", "three")}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def lines(*options: str) -> int:
        return len(re.findall("OCT208", octoc("check", "--output-format", "concise", *options).out))

    done = octoc("check")
    assert "(and 2 more)" in done.out
    assert "also at `.mcp.json:9`, `.mcp.json:13`" in done.out
    assert re.search(r"3 warnings.*\(--verbose shows each place", done.err)
    assert (lines(), lines("--verbose")) == (1, 3)
    assert sum(one["code"] == "OCT208" for one in json.loads(octoc("check", "--output-format", "json").out)) == 3
    (run,) = json.loads(octoc("check", "--output-format", "sarif").out)["runs"]
    assert sum(one["ruleId"] == "OCT208" for one in run["results"]) == 3
    octoc("check", "--baseline", "b.json", "--update-baseline")
    accepted = octoc("check", "--baseline", "b.json")
    assert "OCT208" not in accepted.out
    servers["four"] = servers["one"]
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1), encoding="utf-8")
    assert "1 warning" in octoc("check", "--baseline", "b.json").err


def test_junit_passes_no_file_that_was_not_asked_for(octoc: Run, broken: Path) -> None:
    """With one path of a workspace, a JUnit report has no cases for other files, whose findings are not shown."""
    done = octoc("check", "fleet/octoc.toml", "--output-format", "junit")
    (suite,) = ET.fromstring(done.out)  # noqa: S314  # our own text
    assert [case.get("name") for case in suite] == ["fleet/octoc.toml"]


@pytest.mark.parametrize("output_format", ["full", "concise"])
def test_a_file_s_name_is_no_workflow_command(
    octoc: Run, broken: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    """In a log of GitHub's no line that a file's name begins is obeyed."""
    (broken / "agents" / "writer").rename(broken / "agents" / "##[error]x")
    monkeypatch.chdir(broken)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = octoc("check", "--output-format", output_format)
    assert "OCT203" in done.out
    assert "##[" not in done.out


@pytest.mark.parametrize("fail_on,least", [("none", None), ("info", 1), ("warning", 2), ("error", 3)])
def test_fail_on_says_what_the_status_is(fail_on: str, least: int | None) -> None:
    """The exit status is 1 for a finding at or above the severity, and 0 for every other; with `none` always 0."""
    for severity in Severity:
        found = [Diagnostic(rule=all_rules()["OCT401"], message="m", severity=severity)]
        assert exit_status(found, fail_on) == int(least is not None and severity >= least)
    assert exit_status([], fail_on) == 0


def test_fail_on_none_shows_and_passes(octoc: Run, broken: Path) -> None:
    """With `--fail-on none` errors are shown, and the status is 0."""
    done = octoc("check", "--workspace", "fleet", "--fail-on", "none")
    assert done.status == 0
    assert "error[OCT203]" in done.out


@pytest.mark.parametrize("output_format", FORMATS)
def test_every_format_is_one_of_check_s(octoc: Run, broken: Path, output_format: str) -> None:
    """Each format that octoc renders can be asked for, and has the finding on stdout."""
    done = octoc("check", "--workspace", "fleet", "--output-format", output_format)
    assert done.status == 1
    assert "OCT203" in done.out


@pytest.mark.parametrize("output_format", ["json", "sarif", "github", "junit"])
def test_what_a_build_says_to_programs_is_all_there_is_on_stdout(octoc: Run, broken: Path, output_format: str) -> None:
    """A build in a format for programs writes nothing else to stdout, and has the finding there."""
    done = octoc("build", "--workspace", "fleet", "--output-format", output_format)
    assert done.status == 1
    assert "OCT203" in done.out
    match output_format:
        case "json":
            assert json.loads(done.out)["name"] == "acme"
        case "sarif":
            assert json.loads(done.out)["version"] == "2.1.0"
        case "junit":
            assert ET.fromstring(done.out).get("failures") == "1"  # noqa: S314  # our own text
        case _:
            assert all(line.startswith("::") for line in done.out.splitlines())


@pytest.mark.parametrize("files", [1, 100])
def test_many_findings_read_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: int
) -> None:
    """Five hundred findings, each with a second place in another file, are printed with one read of each file."""
    names = [f"{number}.toml" for number in range(files)]
    for name in names:
        (tmp_path / name).write_text("a = 1\n" * 600, encoding="utf-8")
    found = [
        Diagnostic(
            rule=all_rules()["OCT401"],
            message=f"finding {number}",
            severity=Severity.ERROR,
            span=Span(file=names[number % files], line=number + 1, column=1, end_line=number + 1, end_column=2),
            related=(Label(span=Span(file=names[-1 - number % files], line=1, column=1), text="there"),),
        )
        for number in range(500)
    ]
    read: list[str] = []
    read_bytes = Path.read_bytes

    def counted(path: Path) -> bytes:
        read.append(path.name)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    print_diagnostics(found, tmp_path, output_format="full", verbose=False)
    assert sorted(read) == sorted(names)
    assert len(re.findall(r"^error\[", capsys.readouterr().out, re.MULTILINE)) == 500


def test_a_line_that_is_gone_is_named_without_its_text(tmp_path: Path) -> None:
    """A file that was deleted since is named, and nothing is quoted from it."""
    found = Diagnostic(
        rule=all_rules()["OCT401"],
        message="m",
        severity=Severity.ERROR,
        span=Span(file="gone.toml", line=3, column=1, end_line=3, end_column=2),
    )
    text = render_full([found], line_reader(tmp_path))
    assert "--> gone.toml:3:1" in text
    assert "3 |" not in text


def _in_a_terminal(folder: Path, columns: int, **variables: str) -> str:
    """Return what `octoc check` writes to a terminal of that width."""
    control, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, columns))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "octoc", "check", "--no-cache"],
        cwd=folder,
        stdout=terminal,
        stderr=terminal,
        env={**environment, "TERM": "xterm", **variables},
    ):
        os.close(terminal)
        chunks = []
        with contextlib.suppress(OSError):  # a terminal that its last writer has closed
            while chunk := os.read(control, 65536):
                chunks.append(chunk)
    os.close(control)
    return b"".join(chunks).decode()


def test_output_fits_a_narrow_terminal(broken: Path) -> None:
    """On a terminal of 40 columns no line is wider, and the finding is in colour."""
    text = _in_a_terminal(broken, 40)
    assert "\x1b[1;31merror[OCT203]" in text
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "\n").split("\n")
    assert [line for line in lines if len(line) > 40] == []


def test_no_color_is_stronger_than_a_terminal(broken: Path) -> None:
    """With `NO_COLOR` a terminal gets no colour, even with `FORCE_COLOR`."""
    assert "\x1b[1;31m" not in _in_a_terminal(broken, 80, NO_COLOR="1", FORCE_COLOR="1")


def test_force_color_colours_a_pipe(octoc: Run, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `FORCE_COLOR` a pipe gets colour, as CI wants it in its logs; an empty value asks for nothing."""
    for value, coloured in (("1", True), ("", False)):
        monkeypatch.setenv("FORCE_COLOR", value)
        done = octoc("check", "--workspace", "fleet")
        assert ("\x1b[1;31merror[OCT203]" in done.out) is coloured


def test_a_check_loads_no_writer_of_toml(tmp_path: Path) -> None:
    """A check of a workspace without a finding to fix does not load tomlkit, which takes long."""
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}', encoding="utf-8")
    program = "import sys\nfrom octoc.cli import main\nmain(['check', '--no-cache'])\nprint('tomlkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "False"
