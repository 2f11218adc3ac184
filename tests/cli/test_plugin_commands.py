"""Commands by the hook `octoc_cli_commands`: octoc's own, those of plugins, and plugins that fail."""

import importlib
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from octoc.cli.commands import OWN_PLUGINS, PLUGIN_OF, SUMMARIES
from octoc.cli.failures import missing_package
from octoc.cli.plugin_commands import installed_commands
from octoc.cli.root import root

Run = Callable[..., Any]
PLUGIN = """
from octoc.plugin import hookimpl
from octoc.plugin.commands import CliCommand

@hookimpl
def octoc_cli_commands():
    {body}
"""
COMMAND = """
import click

print("{name} is imported")

@click.command
@click.argument("word")
def command(word):
    print(f"{name} says {{word}}")
    return 3
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str, str], None]:
    """A function that installs a plugin in a folder that `run` has on its path; `body` is what its hook does."""

    def install(name: str, body: str) -> None:
        (tmp_path / f"{name}_plugin.py").write_text(PLUGIN.format(body=body), encoding="utf-8")
        (tmp_path / f"{name}_command.py").write_text(COMMAND.format(name=name), encoding="utf-8")
        metadata = tmp_path / f"{name}_plugin-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {name}-plugin\nVersion: 1\n", encoding="utf-8")
        (metadata / "entry_points.txt").write_text(f"[octoc]\n{name} = {name}_plugin\n", encoding="utf-8")

    return install


@pytest.fixture
def run(octoc_process: Run, tmp_path: Path) -> Run:
    """A function that runs one command in a process with the plugins of this test."""
    checkout = str(Path(__file__).resolve().parents[2])
    return lambda *words: octoc_process(*words, env={"PYTHONPATH": f"{tmp_path}:{checkout}"})


def _returns(name: str, target: str | None = None) -> str:
    target = target or f"{name}_command:command"
    return f"return [CliCommand(name={name!r}, summary='Greets {name}.', target={target!r})]"


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_is_the_commands_own(name: str) -> None:
    """The line in `octoc --help`, which imports no command, is the first line of the command's own help."""
    command = root.get_command(click.Context(root), name)
    assert command is not None
    assert command.get_short_help_str(limit=200) == SUMMARIES[name]


def test_octocs_plugins_are_known() -> None:
    """Every plugin of the tree is one whose commands octoc knows without loading it."""
    folders = (Path(__file__).resolve().parents[2] / "plugins").glob("*/pyproject.toml")
    projects = [tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in folders]
    # Adapters for frameworks are not plugins: they have no entry point.
    named = (project.get("entry-points", {}).get("octoc", {}) for project in projects)
    assert {name for one in named for name in one} == OWN_PLUGINS


def test_own_commands_come_by_the_hook() -> None:
    """Each of octoc's commands is one that a plugin gives, and its target is a command."""
    commands = installed_commands()
    assert commands.keys() == SUMMARIES.keys()
    for name, command in commands.items():
        assert command.summary == SUMMARIES[name]
        module, _, attribute = command.target.partition(":")
        assert isinstance(getattr(importlib.import_module(module), attribute), click.Command)
        assert module.startswith("octoc.cli.commands.") == (name not in PLUGIN_OF)


def test_a_plugin_adds_a_command(run: Run, plugin: Any) -> None:
    """It is listed behind octoc's own without being imported, runs with its arguments, and its status counts."""
    plugin("hello", _returns("hello"))
    listed = run("--help")
    assert (listed.status, listed.err) == (0, "")
    assert listed.out.rstrip().splitlines()[-1] == "  hello  Greets hello."
    done = run("hello", "world")
    assert (done.status, done.out, done.err) == (3, "hello is imported\nhello says world\n", "")
    assert "did you mean `hello`" in run("hallo").err


def test_an_own_command_asks_no_plugin(plugin: Any, tmp_path: Path) -> None:
    """A command of octoc's own loads no plugin, nor what finds them."""
    plugin("hello", _returns("hello"))
    program = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom octoc.cli import main\nmain(['schema'])\n"
        "print([name for name in ('pluggy', 'importlib.metadata', 'hello_plugin') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "body, message",
    [
        ("raise KeyError('lost')", "a plugin failed: bad: KeyError"),
        ("return ['build']", "a plugin failed: bad: TypeError: expected CliCommand, got str"),
        ("return [CliCommand(name='Bad', summary='', target='a:b')]", "name `Bad`: expected"),
        ("return [CliCommand(name='bad', summary='', target='a.b')]", "target `a.b`: expected `module:attribute`"),
    ],
)
def test_a_plugin_that_fails_breaks_no_command(run: Run, plugin: Any, body: str, message: str) -> None:
    """It is reported on stderr; the commands of octoc and of the other plugins are there."""
    plugin("bad", body)
    plugin("hello", _returns("hello"))
    listed = run("--help")
    assert listed.status == 0
    assert message in listed.err
    assert "Traceback" not in listed.err
    assert "Greets hello." in listed.out
    assert run("hello", "world").status == 3
    assert run("explain", "OCT901").err == ""


def test_a_plugin_that_cannot_be_imported_breaks_no_command(run: Run, plugin: Any, tmp_path: Path) -> None:
    """A plugin whose module fails is reported on stderr, and `--help` lists the others."""
    plugin("bad", "return None")
    (tmp_path / "bad_plugin.py").write_text("1 / 0\n", encoding="utf-8")
    listed = run("--help")
    assert listed.status == 0
    assert "plugin `bad` is left out: `bad_plugin` cannot be imported" in listed.err
    assert "init" in listed.out


@pytest.mark.parametrize(
    "target, message",
    [
        ("no_such_module:command", "the command `bad` cannot be imported: No module named 'no_such_module'"),
        ("bad_command:no_such_name", "the command `bad` cannot be imported: "),
        ("bad_command:click", "`bad_command:click` is not a command of click"),
    ],
)
def test_a_command_that_cannot_be_imported_says_why(run: Run, plugin: Any, target: str, message: str) -> None:
    """With any arguments it ends with exit status 2 and one line; it stands in `--help`, as its plugin has said."""
    plugin("bad", _returns("bad", target))
    assert "Greets bad." in run("--help").out
    for words in (("bad",), ("bad", "--help"), ("bad", "word", "--option", "1")):
        done = run(*words)
        assert done.status == 2
        assert f"error: {message}" in done.err
        assert "Traceback" not in done.err


def test_no_plugin_takes_a_name_of_octocs(run: Run, plugin: Any) -> None:
    """A command called like one of octoc's own is left out, and reported where plugins are asked."""
    plugin("explain2", _returns("explain", "explain2_command:command"))
    plugin("serve2", _returns("serve", "serve2_command:command"))
    listed = run("--help")
    assert "Greets" not in listed.out
    assert "the command `explain` of `explain2_command:command` is left out: the name is taken" in listed.err
    assert "is imported" not in run("explain", "OCT901").out
    assert "is imported" not in run("serve", "--help").out


def test_a_missing_package_of_octocs_names_its_install() -> None:
    """Only an exception about a missing package that octoc installs gets a hint."""
    assert missing_package(ModuleNotFoundError("", name="acme.other")) is None
    assert missing_package(ValueError("mcp")) is None
    found = missing_package(ModuleNotFoundError("", name="mcp.client"))
    assert found is not None
    assert "pip install" in str(found.help)
