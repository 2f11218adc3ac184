"""`octoc check PATH…`: folders that have no octoc.toml, single files, and what of a workspace is shown."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

UNTYPED = '{"mcpServers": {"%s": {"url": "https://a.example/mcp"}}}'
AGENT = "---\nname: %s\ndescription: Helps.\n---\nBe helpful.\n"
SKILL = (
    "---\nname: %s\ntitle: T\ndescription: Tells the time.\ndomains: office\nrules: [content(time)]\n"
    "capabilities: [%s]\n---\nUse it.\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: an empty folder without octoc.toml above it."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _found(octoc: Run, *arguments: str) -> list[tuple[str, str]]:
    """Return the code and the file of each warning and error."""
    found = json.loads(octoc("check", *arguments, "--json").out)
    return [(each["code"], each["file"]) for each in found if each["severity"] != "info"]


@pytest.mark.parametrize(
    "path",
    [
        ".mcp.json",
        ".octo/.mcp.json",
        "claude_desktop_config.json",
        "services/billing/.mcp.json",
    ],
)
def test_every_clients_file_is_found(octoc: Run, here: Path, path: str) -> None:
    """The MCP files of each client are found by their names, at any depth, without an octoc.toml."""
    _write(here, {path: UNTYPED % "a"})
    assert _found(octoc) == [("OCT224", path)]


def test_cursors_habit_is_no_mistake_in_its_own_file(octoc: Run, here: Path) -> None:
    """A file is read in the dialect that its path says."""
    _write(here, {".cursor/mcp.json": UNTYPED % "a"})
    assert _found(octoc) == []


@pytest.mark.parametrize("path", [".claude/agents/deep/a.md", "x/y/AGENT.md", ".octo/agents/a/AGENT.md", "agents/a.md"])
def test_agents_are_found_and_checked_against_servers(octoc: Run, here: Path, path: str) -> None:
    """Agents are found where clients keep them, and what their tools name is looked up in the project's servers."""
    _write(here, {path: AGENT.replace("---\nBe", "tools: [mcp__doc__read]\n---\nBe") % "a"})
    _write(here, {".mcp.json": '{"mcpServers": {"docs": {"command": "docs-mcp"}}}'})
    assert sorted(_found(octoc)) == [("OCT321", path)]


def test_prose_is_never_an_agent_or_a_tap(octoc: Run, here: Path) -> None:
    """An AGENT.md without front matter defines nothing, and skills of other clients make no tap of their folder."""
    _write(here, {"AGENT.md": "# For agents\n\nRun the tests.\n", ".mcp.json": '{"mcpServers": {}}'})
    plain = "---\nname: %s\ndescription: Writes notes.\n---\nWrite.\n"
    _write(
        here,
        {"skills/notes/SKILL.md": plain % "notes", "skills/shared/helper.py": "", "skills/a_b/SKILL.md": plain % "a-b"},
    )
    _write(
        here, {"skills/notes/agents/openai.yaml": "", ".claude/skills/bare/SKILL.md": "Says what the skill teaches.\n"}
    )
    _write(here, {".claude/skills/unnamed/SKILL.md": "---\ndescription: Reads notes.\n---\nRead.\n"})
    _write(
        here,
        {"agents/helper.md": (AGENT % "helper").replace("---\nBe", "model: opus\nskills: [bare, unnamed]\n---\nBe")},
    )
    assert _found(octoc) == [("OCT112", ".claude/skills/bare/SKILL.md")]
    shown = octoc("check", "-v", "--output-format", "concise").out
    assert "warning[OCT112]" in shown
    assert not [code for code in ("OCT127", "OCT421", "OCT427", "OCT457", "OCT307", "OCT202") if code in shown]


def test_agents_of_other_clients_are_not_judged_as_known_ones(octoc: Run, here: Path) -> None:
    """An agent in the hidden folder of a client whose agents octoc does not read has no finding."""
    copilot = (AGENT % "helper").replace("---\nBe", "tools: [read, search/codebase]\n---\nBe")
    other = copilot.replace("helper", "other")
    _write(here, {".github/agents/helper.md": copilot, ".github/agents/other.agent.md": other})
    _write(here, {".acme/agents/helper.md": copilot, ".mcp.json": '{"mcpServers": {}}'})
    assert _found(octoc) == []


def test_a_skill_that_other_clients_skip_is_an_error(octoc: Run, here: Path) -> None:
    """Without front matter Codex skips a skill, and without a name Gemini CLI does: each is an error in its folder."""
    _write(here, {".agents/skills/bare/SKILL.md": "Says what the skill teaches.\n", ".mcp.json": '{"mcpServers": {}}'})
    for folder in (".agents", ".gemini"):
        _write(here, {f"{folder}/skills/unnamed/SKILL.md": "---\ndescription: Reads notes.\n---\nRead.\n"})
    assert _found(octoc) == [
        ("OCT112", ".agents/skills/bare/SKILL.md"),
        ("OCT202", ".gemini/skills/unnamed/SKILL.md"),
    ]


def test_documents_are_not_agents(octoc: Run, here: Path) -> None:
    """Markdown without front matter, READMEs and AGENTS.md are not read as agents."""
    _write(here, {"agents/notes.md": "# Notes\n", "agents/README.md": AGENT % "x", "AGENTS.md": "Do this.\n"})
    assert octoc("check").status == 2


def test_a_folder_that_looks_like_a_tap_is_checked_across_files(octoc: Run, here: Path) -> None:
    """A skill of a tap that asks for a capability which the tap has not is found."""
    _write(here, {"taps/mine/skills/clock/SKILL.md": SKILL % ("clock", "time")})
    assert ("OCT304", "taps/mine/skills/clock/SKILL.md") in _found(octoc)


def test_what_others_have_put_there_is_not_looked_at(octoc: Run, here: Path) -> None:
    """`.git`, `node_modules`, virtual environments and links to other folders are passed over."""
    for folder in (".git", "node_modules/x", "fixtures/x", "testdata", ".venv", "venv", "own"):
        _write(here, {f"{folder}/.mcp.json": UNTYPED % "a"})
    (here / "own" / "pyvenv.cfg").write_text("home = /usr\n", encoding="utf-8")
    _write(here.parent, {"outside/.mcp.json": UNTYPED % "a"})
    (here / "link").symlink_to(here.parent / "outside")
    _write(here, {".mcp.json": '{"mcpServers": {}}'})
    assert _found(octoc) == []


def test_a_file_linked_from_elsewhere_is_not_opened(octoc: Run, here: Path) -> None:
    """A link that leads out of the folder is reported, and what it leads to is not read."""
    _write(here.parent, {"outside/mcp.json": UNTYPED % "a"})
    (here / ".mcp.json").symlink_to(here.parent / "outside" / "mcp.json")
    assert _found(octoc) == [("OCT123", ".mcp.json")]


def test_projects_do_not_mix(octoc: Run, here: Path) -> None:
    """Two projects of one repository may each have a server of the same name."""
    for project in ("a", "b"):
        _write(here, {f"{project}/.mcp.json": json.dumps({"mcpServers": {"s": {"command": f"./{project}"}}})})
    assert _found(octoc) == []


def test_a_workspace_below_is_checked_as_one(octoc: Run, here: Path) -> None:
    """A folder below with its own octoc.toml is checked with its settings; paths are relative to the current folder."""
    _write(here, {"w/octoc.toml": "[workspace]\nname = 'w'\nsize = 3\n", ".mcp.json": '{"mcpServers": {}}'})
    assert _found(octoc) == [("OCT201", "w/octoc.toml")]


def test_a_folder_with_nothing_to_check_is_an_error(octoc: Run, here: Path) -> None:
    """A folder without any file to check but prose ends with status 2, since a check of nothing is not a success."""
    _write(here, {"CLAUDE.md": "Be kind.", "docs/AGENTS.md": "Test first."})
    done = octoc("check")
    assert done.status == 2
    assert "nothing to check" in done.err
    assert "= note" not in done.err


def test_files_that_look_like_a_client_s_are_named(octoc: Run, here: Path) -> None:
    """Where nothing is found, each file that looks right is shown with a command, and the command checks it."""
    servers = json.dumps({"mcpServers": {"a": {"type": "http", "url": "https://a.example/mcp"}}})
    _write(here, {
        "config/servers.json": servers.replace("{", '{"version": 1, ', 1),
        "examples/mcp.json.example": servers,
        "settings.toml": "[mcp_servers.a]\ncommand = 'a-mcp'\n",
        "chat.yaml": "mcpServers:\n  a:\n    type: sse\n    url: https://a.example/sse\n",
        "openapi.json": '{"servers": [{"url": "/"}]}',
        "package.json": "{}",
    })  # fmt: skip
    done = octoc("check")
    assert done.status == 2
    commands = [line.partition(": octoc ")[2].split() for line in " ".join(done.err.split()).split("= note: ")[1:]]
    named = [(command[1], command[3]) for command in commands]
    assert named == [
        ("chat.yaml", "mcp:librechat"),
        ("settings.toml", "mcp:codex"),
        ("config/servers.json", "mcp:any"),
        ("examples/mcp.json.example", "mcp:any"),
    ]
    for path, kind in named:
        assert octoc("check", path, "--kind", kind).status == 0


def test_at_most_eight_such_files_are_named(octoc: Run, here: Path) -> None:
    """A folder of examples does not fill the screen."""
    _write(here, {f"a{number}.json": '{"mcpServers": {}}' for number in range(20)})
    assert octoc("check").err.count("= note") == 8


@pytest.mark.parametrize(
    "name, content, code",
    [
        ("servers.json", UNTYPED % "a", "OCT224"),
        ("settings.toml", "[workspace]\nsize = 3\n", "OCT201"),
        ("prov.toml", "[[mcp.servers]]\nname = 's'\n", "OCT202"),
        ("conf.toml", "triggers = ['a']\nsize = 3\n", "OCT208"),
        ("role.toml", "[[roles]]\nsize = 3\n[deps]\n", "OCT208"),
        ("helper.md", AGENT.replace("description", "descripton") % "helper", "OCT202"),
        ("how.md", "---\nname: how\nrules: [x]\n---\n", "OCT202"),
        ("messages.toml", '[[message]]\ntext = "hello there"\n', "OCT202"),
    ],
)
def test_a_files_kind_is_told_by_its_content(octoc: Run, here: Path, name: str, content: str, code: str) -> None:
    """A file that is named is checked whatever its path is; its content says what it is."""
    _write(here, {name: content})
    assert (code, name) in _found(octoc, name)


def test_a_file_of_no_known_kind_is_an_error(octoc: Run, here: Path) -> None:
    """A named file that could be anything is reported, and the others are checked all the same."""
    _write(here, {"notes.txt": "Hello\n", "a.json": UNTYPED % "a"})
    assert _found(octoc, "notes.txt", "a.json") == [("OCT224", "a.json"), ("OCT128", "notes.txt")]
    assert octoc("check", "notes.txt").status == 1


def test_two_unknown_files_are_two_findings(octoc: Run, here: Path) -> None:
    """What is found about one file is never told of another."""
    _write(here, {"one.txt": "1\n", "two.txt": "2\n"})
    assert _found(octoc, "one.txt") == [("OCT128", "one.txt")]
    assert _found(octoc, "two.txt") == [("OCT128", "two.txt")]


def test_kind_overrides(octoc: Run, here: Path) -> None:
    """`--kind` says what a file is, and in which dialect."""
    _write(here, {"servers.txt": UNTYPED % "a"})
    assert _found(octoc, "servers.txt", "--kind", "mcp") == [("OCT224", "servers.txt")]
    assert _found(octoc, "servers.txt", "--kind", "mcp:cursor") == []
    assert "did you mean `skill`" in octoc("check", "servers.txt", "--kind", "skil").err
    assert octoc("check", ".", "--kind", "mcp").status == 2


def test_a_file_of_a_tap_is_checked_in_its_tap(octoc: Run, here: Path) -> None:
    """A file of a tap is judged with its tap, and only its own findings are shown."""
    _write(here, {
        "t/skills/clock/SKILL.md": SKILL % ("clock", "time"),
        "t/skills/other/SKILL.md": SKILL % ("other", "gone"),
    })  # fmt: skip
    assert {file for _, file in _found(octoc, "t/skills/clock/SKILL.md")} == {"t/skills/clock/SKILL.md"}
    assert ("OCT304", "t/skills/clock/SKILL.md") in _found(octoc, "t/skills/clock")


def test_a_single_file_may_name_what_other_files_define(octoc: Run, here: Path) -> None:
    """A single file is not reported for names that files outside the check could define."""
    _write(here, {"helper.md": AGENT.replace("---\nBe", "tools: [mcp__x__read]\nskills: [y]\n---\nBe") % "helper"})
    _write(here, {"conf.toml": "triggers = ['a']\n"})
    assert _found(octoc, "helper.md", "conf.toml") == []


def test_a_path_in_a_workspace_filters_what_is_shown(octoc: Run, here: Path) -> None:
    """With an octoc.toml the whole workspace is checked, and a PATH chooses which files' findings are shown."""
    _write(here, {"octoc.toml": "[workspace]\nname = 'w'\nsize = 3\n", ".mcp.json": UNTYPED % "a"})
    assert _found(octoc, ".mcp.json") == [("OCT224", ".mcp.json")]
    assert _found(octoc, "octoc.toml") == [("OCT201", "octoc.toml")]
    assert len(_found(octoc, ".")) == len(_found(octoc)) == 2


def test_a_file_that_the_workspace_does_not_read_is_checked_by_itself(octoc: Run, here: Path) -> None:
    """A named file is always checked, also one that octoc.toml says nothing of."""
    _write(here, {"octoc.toml": "[workspace]\nname = 'w'\n", "old/servers.json": UNTYPED % "a"})
    assert _found(octoc, "old/servers.json") == [("OCT224", "old/servers.json")]


def test_nothing_is_written_into_a_folder_without_octoc_toml(octoc: Run, here: Path) -> None:
    """A repository that has no octoc.toml is left as it was, to the last file."""
    _write(here, {".mcp.json": UNTYPED % "a", ".claude/agents/a.md": AGENT % "a"})
    before = sorted(here.rglob("*"))
    octoc("check")
    octoc("check", ".mcp.json")
    assert sorted(here.rglob("*")) == before


def test_an_unlistable_folder_costs_only_itself(octoc: Run, here: Path) -> None:
    """A folder that may not be listed does not keep the others from being checked."""
    if os.geteuid() == 0:
        pytest.skip("this user may list every folder")
    _write(here, {".mcp.json": UNTYPED % "a", "closed/.mcp.json": UNTYPED % "b"})
    (here / "closed").chmod(0)
    found = _found(octoc)
    (here / "closed").chmod(0o700)
    assert found == [("OCT224", ".mcp.json")]


@pytest.mark.parametrize("host", ["[x.example", "[::1", "", "@", "user:p@h.example", "A.example:x"])
def test_an_address_that_is_none_is_no_bug(octoc: Run, here: Path, host: str) -> None:
    """Plain http to a host that no library can read is plain http beyond this machine all the same."""
    server = {"type": "http", "url": f"http://{host}/mcp"}
    _write(here, {".mcp.json": json.dumps({"mcpServers": {"a": server}})})
    assert ("OCT403", ".mcp.json") in _found(octoc)


def test_the_home_folder_is_read_with_its_flag_alone(
    octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--user` reads the names in the user's files; without it, their content makes no difference."""
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/settings.json").write_text('{"permissions": {"allow": ["mcp__gone__x"]}}', encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(project)
    assert "OCT301" not in octoc("check").out
    assert "OCT301" in octoc("check", "--user").out
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.claude.json").write_text('{"mcpServers": {"gone": {}}}', encoding="utf-8")
    assert "OCT301" not in octoc("check", "--user").out
