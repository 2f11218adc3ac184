"""`octoc completion`: the scripts, and what a shell gets, by click's classes and by a real bash."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from octoc.cli import completion
from octoc.cli.completion import VARIABLE, Bash
from octoc.cli.root import root

Run = Callable[..., Any]
CHECKOUT = Path(__file__).resolve().parents[2]


def completed(args: list[str], incomplete: str) -> list[str]:
    """Return the words that a shell offers after some words."""
    return [one.value for one in ShellComplete(root, {}, "octoc", VARIABLE).get_completions(args, incomplete)]


@pytest.mark.parametrize(
    "args, incomplete, words",
    [
        ([], "che", ["check"]),
        (["find", "x", "--agent"], "", ["supervisor"]),
        (["scope"], "super", ["supervisor"]),
        (["scope"], "x", []),
        (["scope", "--who-can"], "time/c", ["time/convert_time"]),
        (["pin"], "", ["time", "notes"]),
        (["doctor"], "no", ["notes"]),
        (["auth", "login"], "ti", ["time"]),
        (["call"], "time/", ["time/get_current_time", "time/convert_time"]),
        (["call", "time"], "con", ["convert_time"]),
        (["show"], "to", ["tools", "tokens", "tool"]),
        (["show", "tools"], "to", ["tokens"]),
        (["show", "tool"], "time/g", ["time/get_current_time"]),
        (["show", "--context"], "s", ["supervisor"]),
        (["completion"], "", ["bash", "zsh", "fish"]),
        (["build"], "--lo", ["--locked"]),
    ],
)
def test_words_of_the_built_bundle(
    built: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], incomplete: str, words: list[str]
) -> None:
    """Commands, options, agents, servers and tools are completed, in a folder of the workspace too."""
    monkeypatch.chdir(built / "taps")
    assert sorted(completed(args, incomplete)) == sorted(words)


def test_where_there_is_no_bundle(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bundle, or with a broken one, nothing is offered; `--workspace` and `--bundle` name another."""
    monkeypatch.chdir(tmp_path)
    assert completed(["scope"], "") == []
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "x.octoc").write_text("x", encoding="utf-8")
    assert completed(["scope"], "") == []
    assert completed(["scope", "--workspace", str(built)], "") == ["supervisor"]
    assert completed(["show", "--bundle", str(built / "dist" / "acme.octoc"), "--agent"], "") == ["supervisor"]


@pytest.mark.parametrize("shell, says", [("bash", "complete -o nosort -F"), ("zsh", "compdef"), ("fish", "complete")])
def test_the_script_of_each_shell(octoc: Run, shell: str, says: str) -> None:
    """Each script asks `octoc` by the variable that octoc reads."""
    done = octoc("completion", shell)
    assert (done.status, done.err) == (0, "")
    assert says in done.out
    assert f"{VARIABLE}={shell}_complete" in done.out


def test_an_agent_with_a_colon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is read as it was typed: bash itself splits a name at its colon."""
    monkeypatch.setattr(completion, "_agents", lambda _: ())
    monkeypatch.setenv("COMP_WORDS", "octoc scope developer:ge")
    assert Bash(root, {}, "octoc", VARIABLE).get_completion_args() == (["scope"], "developer:ge")
    monkeypatch.setenv("COMP_WORDS", "octoc scope ")
    assert Bash(root, {}, "octoc", VARIABLE).get_completion_args() == (["scope"], "")
    monkeypatch.setenv("COMP_WORDS", "octoc ")
    assert Bash(root, {}, "octoc", VARIABLE).get_completion_args() == ([], "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_real_bash(built: Path, tmp_path: Path) -> None:
    """Bash offers the tools of a server and the rest of a name with a colon, and the compiler is not imported."""
    program = tmp_path / "octoc"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom octoc.cli import main\n"
        "from octoc.cli import completion\nfrom click.shell_completion import CompletionItem\n"
        "found = completion.COMPLETERS['agents']\n"
        "completion.COMPLETERS['agents'] = lambda ctx, word: [*found(ctx, word), CompletionItem('dev:ops')]\n"
        "status = main()\nheavy = {'octoc.compiler', 'octoc.runtime', 'numpy', 'rich'} & set(sys.modules)\n"
        "print('plain,' + ' '.join(heavy)) if heavy else None\nsys.exit(status)\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    script = (
        'eval "$(octoc completion bash)"\n'
        'ask() { COMP_LINE="$1" COMP_POINT=${#1}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
        '_octoc_completion octoc; echo "${COMPREPLY[*]}"; }\n'
        "ask 'octoc call time/con' octoc call time/con\n"
        "ask 'octoc scope dev:o' octoc scope dev : o\n"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=built,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["time/convert_time", "ops"]
