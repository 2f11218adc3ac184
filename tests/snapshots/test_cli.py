"""Help, output and exit status of every command, on the demo and on workspaces with mistakes."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import click
import pytest

from octoc import __version__
from octoc.cli import main
from octoc.cli.root import root
from tests.bad_input.conftest import write_files
from tests.cli.test_init_octopus import EXPORT

CHECKOUT = Path(__file__).resolve().parents[2]
# What differs from machine to machine or from run to run -> what stands for it.
MASKS = (
    (re.compile(r"octoc_[A-Za-z0-9_-]{24,}"), "<token>"),
    (re.compile(r"token `[0-9a-f]{8}`"), "token `<id>`"),
    (re.compile(r"[\d,]+ bytes, [0-9a-f]{16}\b"), "<size> bytes, <digest>"),
    (re.compile(r"(?<!\.)\b[0-9a-f]{16,64}\b"), "<digest>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?([+-]\d\d:\d\d|Z)?"), "<time>"),
    (re.compile(r'("size": )\d+'), r"\1<size>"),
    (re.compile(r"[+-]?\b\d+\.\d{2,}(e-\d+)?\b"), "<score>"),
    (re.compile(r"^(?P<first>(\S+ +)?<score>.*\n)((\S+ +)?<score>.*\n)+", re.MULTILINE), r"\g<first>…\n"),
)


@attrs.define
class Terminal:
    """Runs commands in a folder and writes down what each prints."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    lines: list[str] = attrs.field(factory=list)

    def run(self, *commands: str) -> None:
        """Run command lines, without `octoc`."""
        for command in commands:
            self.capture.readouterr()
            status = main(shlex.split(command))
            out, err = self.capture.readouterr()
            self.lines += [f"$ octoc {command}", *out.splitlines()]
            self.lines += [f"stderr: {line}" for line in err.splitlines()]
            self.lines += [f"exit status {status}", ""]

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file, which must have it."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert old in text, (path, old)
        (self.folder / path).write_text(text.replace(old, new), encoding="utf-8")
        self.lines += [f"# {path}: {old!r} becomes {new!r}", ""]

    def transcript(self, base: Path) -> str:
        """Return all that was printed, without what differs between machines."""
        text = "\n".join(self.lines)
        names = {
            str(base): "<tmp>",
            str(CHECKOUT): "<checkout>",
            sys.prefix: "<venv>",
            f"octoc {__version__}": "octoc <version>",
        }
        for value, name in names.items():
            text = text.replace(value, name)
        for pattern, name in MASKS:
            text = pattern.sub(name, text)
        return text


@pytest.fixture
def terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Terminal]:
    """A function that makes a folder of a name and a terminal that works in it."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    of_services = ("GITHUB_", "MEMORY_", "NOTION_", "PG", "SENTRY_", "SLACK_", "TAVILY_")
    for name in ("OCTOC_DEBUG", *(name for name in os.environ if name.startswith(of_services))):
        monkeypatch.delenv(name, raising=False)

    def make(name: str) -> Terminal:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        return Terminal(folder, capsys)

    return make


def commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of all below it."""
    yield words
    if isinstance(group, click.Group):
        for name in group.list_commands(click.Context(group)):
            found = group.get_command(click.Context(group), name)
            assert found is not None
            yield from commands(found, (*words, name))


def test_the_help_of_each_command_is_as_recorded(
    terminal: Callable[[str], Terminal], tmp_path: Path, snapshots: Callable[[str, Mapping[str, str]], None]
) -> None:
    """`--help` of every command and group prints the recorded text."""
    texts = {}
    for words in commands(root):
        shell = terminal("help")
        shell.run(" ".join([*words, "--help"]))
        texts[f"{'-'.join(['octoc', *words])}.txt"] = shell.transcript(tmp_path)
    snapshots("help", texts)


def demo(shell: Terminal) -> None:
    """Every command on the demo, which is sound."""
    shutil.copytree(CHECKOUT / "examples" / "demo", shell.folder, dirs_exist_ok=True)
    shutil.rmtree(shell.folder / "dist", ignore_errors=True)
    shell.run("check", "check --verbose --output-format concise", "build", "build")
    shell.run("")
    shell.run("show", "show capabilities skills servers", "show --agent data:analyst", "show --agent absent")
    shell.run("show --cache supervisor", "show --context", "show --context assistant:general", "show tokens --json")
    shell.run("show tool git_log", "show tool git/git_lg", "show tool time/convert_time --json", "show tols")
    shell.run("scope", "scope assistant:general", "scope --who-can git/git_log", "scope --who-can fetch/fetch --json")
    shell.run(
        "scope absent",
        "env",
        "env --agent assistant:general",
        "env --env TAVILY_API_KEY",
        "env --agent assistant:general --json",
    )
    message = shlex.quote("which of my branches has commits that are not on main yet?")
    shell.run(f"route {message}", f"route --explain {message}", "route 'thanks, that was helpful'", "route ''")
    shell.run("route --before 'what time is it in Tokyo' 'and in Lisbon?'", "route --agent absent x")
    shell.run("find 'list the branches'", "find --explain 'list the branches'", "find zzzz", "find x --limit 0")
    shell.run("call time convert_time '{}'", "call time no_such '{}'", "call tiem x '{}'", "call time x '{bad'")
    shell.run("call --agent supervisor time convert_time '{}'", "call no_such '{}'", "call time convert_time '[1]'")
    shell.run(
        "test", "test --json -k branches", "test -k zzzz", "test --agent absent", "auth status", "auth status time"
    )
    for client in ("claude", "cursor", "vscode"):
        shell.run(f"serve --print-config {client}")
    shell.run("serve --host 0.0.0.0", "serve --transport http --port 0 --agents absent", "serve --agent absent")
    shell.run("serve --transport http --tls-key x.pem", "serve --transport http --allow-origin nonsense")
    shell.run(
        "serve token list",
        "serve token add --agent supervisor",
        "serve token revoke none",
        "serve token add --agent absent",
    )
    shell.run(
        "expand", "pin no_such", "schema", "schema lock --path", "schema no_such", "rules --json", "explain oct301"
    )


def misuse(shell: Terminal) -> None:
    """Commands that are written wrongly, outside any workspace."""
    shell.run("", "--version", "chekc", "frobnicate", "check --verbos", "build --output-format xml", "explain OCT999")
    shell.run("explain unknown-servr", "show --bundle none.octoc", "check none", "build --workspace none", "check")
    shell.run(
        "build", "show", "find x", "route x", "call a b '{}'", "pin", "test", "env", "scope", "serve", "auth status"
    )
    (shell.folder / "text.octoc").write_text("no bundle", encoding="utf-8")
    (shell.folder / "notes.txt").write_text("no kind", encoding="utf-8")
    shell.run(
        "show --bundle text.octoc", "check notes.txt", "check --kind mcp:curser notes.txt", "check --kind mcp:cursor ."
    )


def beginning(shell: Terminal) -> None:
    """From an empty folder, a file of a client, and an export of Octopus to a workspace."""
    shell.run("init", "init")
    (shell.folder / "octoc.toml").unlink()
    servers = {"notes": {"command": "./no-such-server"}, "web": {"url": "http://127.0.0.1:1/mcp", "tokn": "x"}}
    (shell.folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=2), encoding="utf-8")
    shell.run(
        "check", "init --no-pin", "check", "pin", "env", "build", "auth status", "auth login notes", "auth logout web"
    )
    for name in ("new", "newer"):
        (shell.folder / name).mkdir()
    (shell.folder / "export.json").write_text(json.dumps(EXPORT), encoding="utf-8")
    shell.run("init --from octopus export.json", "init --from octopus export.json --workspace new")
    shell.run("init --from octopus none.json --workspace newer", "scope --workspace new", "check --workspace new")


def mistakes(shell: Terminal) -> None:
    """A workspace that is sound, pinned and built, and then gets one mistake after the other."""
    write_files(shell.folder)
    for agent in ("builder", "writer"):
        shell.edit(f"taps/acme/agents/dev/{agent}.toml", f'name = "{agent}"\n', "")
    dump = shell.folder / "dump.json"
    for server in ("notes", "files", "time", "mail"):
        tools = [
            {"name": f"{server}_{verb}", "description": f"{verb} {server}", "inputSchema": {"type": "object"}}
            for verb in ("read", "write")
        ]
        dump.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        shell.run(f"pin {server} --from dump.json")
    shell.run("build", "build --json", "test", "expand")
    dump.write_text(
        '{"tools": [{"name": "mail_read", "description": "", "inputSchema": {"type": "object", "required": ["id"]}}]}'
    )
    shell.run(
        "pin mail --from dump.json", "pin tiem --from dump.json", "pin --from dump.json", "pin mail --from none.json"
    )
    shell.edit("snapshots/files.json", "files_read", "files_list")
    shell.run("build --locked", "build", "pin files --from dump.json")
    (shell.folder / "snapshots" / "notes.json").unlink()
    provider = "taps/acme/capabilities/time/installed.toml"
    shell.edit(provider, 'server_refs = ["time"]', 'server_refs = ["tiem"]')
    shell.edit("octoc.toml", "[routing]", "[rotuing]")
    for output_format in ("full", "concise", "json"):
        shell.run(f"check --output-format {output_format}")
    shell.run("check --fail-on none", "check agents", "build", "build --strict", "build --locked", "show", "test")
    shell.edit("octoc.toml", "[rotuing]", "[routing]")
    shell.edit(provider, "command = ", "comand = ")
    shell.edit("taps/acme/agents/dev/builder.toml", 'capabilities = ["time"]', 'capabilites = ["time"]')
    shell.run("check --diff", "check --fix", "check --fix", "check --diff")
    (shell.folder / "octoc.toml").write_text("[workspace\n", encoding="utf-8")
    shell.run("check", "build", "pin", "show", "env", "scope", "expand", "test")


def test_what_commands_print_is_as_recorded(
    terminal: Callable[[str], Terminal],
    tmp_path: Path,
    snapshots: Callable[[str, Mapping[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Standard output, standard error and exit status of each command are the recorded ones."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:/usr/bin:/bin")
    texts = {}
    for play in (demo, misuse, beginning, mistakes):
        shell = terminal(play.__name__)
        play(shell)
        texts[f"{play.__name__}.txt"] = shell.transcript(tmp_path)
    snapshots("cli", texts)
