"""Servers as each client writes them: read as octoc's own, with findings at the client's own keys and lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.workspace.init import find_inputs
from octoc.plugin.manager import Plugins
from tests.compiler.dialects import findings, servers_of

CODEX = """model = "gpt-5"

[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { X-Region = "eu" }
env_http_headers = { X-Key = "DOCS_KEY" }

[mcp_servers.time]
command = "uvx"
args = ["mcp-server-time==2026.10.19"]
env_vars = ["TZ", { name = "LOCALE", source = "local" }]
env = { LANG = "C" }
tool_timeout_sec = 90
enabled_tools = ["get_time"]
disabled_tools = ["set_time"]
startup_timeout_sec = 20
enabled = false
"""
OPENCODE = {
    "model": "a/b",
    "mcp": {
        "docs": {"type": "remote", "url": "https://docs.example/mcp", "headers": {"X-Key": "{env:DOCS_KEY}"}},
        "time": {
            "type": "local",
            "command": ["uvx", "mcp-server-time==2026.10.19", "{file:./zone}"],
            "environment": {"TZ": "{env:TZ}"},
            "enabled": False,
        },
        "of-the-organisation": {"enabled": True},
    },
}
GEMINI = {
    "ui": {"theme": "x"},
    "mcpServers": {
        "docs": {
            "httpUrl": "https://docs.example/mcp",
            "url": "https://old.example/sse",
            "trust": True,
            "timeout": 9000,
        },
        "time": {
            "command": "${extensionPath}/run.sh",
            "env": {"TZ": "$TZ"},
            "includeTools": ["get_time"],
            "excludeTools": ["set_time"],
        },
    },
}
ZED = {
    "tab_size": 2,
    "context_servers": {
        "docs": {"url": "https://docs.example/mcp", "enabled": False},
        "time": {
            "command": {"path": "uvx", "args": ["mcp-server-time==2026.10.19"], "env": {"TZ": "UTC"}},
            "settings": {},
        },
        "flat": {"source": "custom", "command": "uvx", "args": ["x==1"]},
        "of-an-extension": {"source": "extension", "settings": {"a": 1}},
    },
}


def test_codex() -> None:
    """Variables that Codex passes on are references, time limits are seconds, and other settings are left out."""
    assert servers_of(".codex/config.toml", CODEX) == {
        "docs": {
            "transport": "http",
            "url": "https://docs.example/mcp",
            "headers": {"X-Key": "${DOCS_KEY}", "X-Region": "eu"},
            "auth": {"type": "bearer", "token_env": "DOCS_TOKEN"},
        },
        "time": {
            "transport": "stdio",
            "command": "uvx",
            "args": ("mcp-server-time==2026.10.19",),
            "env": {"TZ": "${TZ}", "LOCALE": "${LOCALE}", "LANG": "C"},
            "timeout_s": 90.0,
            "include": ("get_time",),
            "exclude": ("set_time",),
            "disabled": True,
        },
    }


TIME = {
    "transport": "stdio",
    "command": "uvx",
    "args": ("mcp-server-time==2026.10.19", "${file:./zone}"),
    "env": {"TZ": "${env:TZ}"},
    "disabled": True,
}


@pytest.mark.parametrize("path", ["opencode.json", ".opencode/opencode.jsonc"])
def test_opencode(path: str) -> None:
    """`command` is a program and its arguments; an entry that only switches an organisation's server is left out."""
    expected = {
        "docs": {"transport": "http", "url": "https://docs.example/mcp", "headers": {"X-Key": "${env:DOCS_KEY}"}},
        "time": TIME,
    }
    assert servers_of(path, json.dumps(OPENCODE)) == expected
    second = {"mcp": {"servers": OPENCODE["mcp"]}}
    assert servers_of(path, json.dumps(second)) == expected


def test_gemini() -> None:
    """`httpUrl` wins over `url`, and a bare `$NAME` is a reference."""
    assert servers_of("gemini-extension.json", json.dumps(GEMINI)) == {
        "docs": {"transport": "http", "url": "https://docs.example/mcp", "timeout_s": 9.0},
        "time": {
            "transport": "stdio",
            "command": "${workspaceFolder}/run.sh",
            "env": {"TZ": "${TZ}"},
            "include": ("get_time",),
            "exclude": ("set_time",),
        },
    }


def test_zed() -> None:
    """Both forms of `command` are read, and servers of extensions are left out."""
    assert servers_of(".zed/settings.json", json.dumps(ZED)) == {
        "docs": {"transport": "http", "url": "https://docs.example/mcp", "disabled": True},
        "time": {
            "transport": "stdio",
            "command": "uvx",
            "args": ("mcp-server-time==2026.10.19",),
            "env": {"TZ": "UTC"},
        },
        "flat": {"transport": "stdio", "command": "uvx", "args": ("x==1",)},
    }


LOCAL = {"transport": "stdio", "command": "x"}
REMOTE = {"transport": "http", "url": "https://x.example/mcp"}


@pytest.mark.parametrize(
    "path, entry, expected",
    [
        (
            ".kiro/settings/mcp.json",
            {"command": "x", "autoApprove": ["a"], "disabledTools": ["b"]},
            {**LOCAL, "exclude": ("b",)},
        ),
        (".amazonq/mcp.json", {"command": "x", "disabled": True}, {**LOCAL, "disabled": True}),
        (".junie/mcp/mcp.json", {"url": "https://x.example/mcp"}, REMOTE),
        (".roo/mcp.json", {"command": "x", "timeout": 120, "alwaysAllow": []}, {**LOCAL, "timeout_s": 120.0}),
        (
            "cline_mcp_settings.json",
            {"command": "x", "transportType": "stdio", "timeout": 60},
            {**LOCAL, "timeout_s": 60.0},
        ),
        (".trae/mcp.json", {"command": "x"}, LOCAL),
        (".codeium/windsurf/mcp_config.json", {"serverUrl": "https://x.example/mcp"}, REMOTE),
        (".factory/mcp.json", {"type": "http", "url": "https://x.example/mcp", "disabled": False}, REMOTE),
        (".github/mcp.json", {"type": "local", "command": "x", "tools": ["*"]}, LOCAL),
        (".copilot/mcp-config.json", {"command": "x", "tools": ["a"]}, {**LOCAL, "include": ("a",)}),
        ("mcp.json", {"serverUrl": "https://x.example/mcp", "alwaysAllow": ["a"]}, REMOTE),
    ],
)
def test_a_client_of_the_family(path: str, entry: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    """Keys of the client's own are read or left out, and none of them is a finding."""
    text = json.dumps({"mcpServers": {"x": entry}})
    assert servers_of(path, text) == {"x": expected}
    assert {found for found in findings(tmp_path, path, text) if found[0] != "OCT401"} == set()


def test_servers_that_are_named_like_repositories() -> None:
    """A name with slashes becomes its last part where that is free, and words joined by `-` elsewhere."""
    names = ["github.com/upstash/context7-mcp", "@acme/magic", "a/time", "b/time", "clock", "x/clock"]
    text = json.dumps({"mcpServers": {name: {"command": "x"} for name in names}})
    assert list(servers_of("cline_mcp_settings.json", text)) == [
        "context7-mcp",
        "magic",
        "a-time",
        "b-time",
        "clock",
        "x-clock",
    ]


def test_keys_of_ones_own_are_no_warning(tmp_path: Path) -> None:
    """A key that is near no known key is information in files of clients whose keys are open; a slip is a warning."""
    text = json.dumps({"mcpServers": {"a.b c": {"command": "x", "metadata": {}, "comand": 1}}}, indent=1)
    assert findings(tmp_path, ".trae/mcp.json", text) == [
        ("OCT208", "unknown field `comand` in `mcpServers.a.b c`", 6),
    ]


def test_a_list_of_another_client_is_read_where_the_client_takes_any(tmp_path: Path) -> None:
    """`.github/mcp.json` may have `servers`."""
    text = '{"servers": {"a": {"type": "http", "url": "https://a.example/mcp"}},\n "inputs": []}'
    assert findings(tmp_path, ".github/mcp.json", text) == []


@pytest.mark.parametrize(
    "path, text, expected",
    [
        (
            ".roo/mcp.json",
            '{"mcpServers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}',
            [("OCT780", "Roo Code refuses `http` as the `type` of server `docs`", 1)],
        ),
        (".roo/mcp.json", '{"mcpServers": {"docs": {"url": "https://docs.example/sse"}}}', []),
        (
            "opencode.json",
            '{"mcp": {"time": {"command": ["uvx", "mcp-server-time==2026.10.19"]}}}',
            [("OCT202", "server `time` has no `type`, and OpenCode skips it", 1)],
        ),
        (
            "opencode.json",
            '{"mcp": {"time": {"type": "local", "command": "mcp-server-time", "environment": {"N": 1}}}}',
            [
                ("OCT203", "OpenCode expects a list of the program and its arguments as `command` of server `time`", 1),
                ("OCT229", "variable `N` is a number, which OpenCode refuses", 1),
            ],
        ),
        (
            ".vscode/mcp.json",
            '{"servers": {"time": {"command": "x", "args": ["${A}"],\n"env": {"KEY": "${KEY}", "B": "${env:B}"}}}}',
            [("OCT440", "`servers.time.env.KEY` has a reference, which VS Code passes on as text", 2)],
        ),
        (
            "opencode.json",
            '{"mcpServers": {"time": {"command": "x", "args": ["a"], "env": {"A": "${A}"}}}}',
            [("OCT221", "OpenCode reads `mcp`, and not `mcpServers`", 1)],
        ),
        (
            ".vscode/mcp.json",
            '{"servers": {"time": {"command": "node",\n"args": ["${CLAUDE_PROJECT_DIR}/a.js"]}}}',
            [("OCT440", "`servers.time.args[0]` has `${CLAUDE_PROJECT_DIR}`, which VS Code passes on as text", 2)],
        ),
        (
            ".vscode/mcp.json",
            '{"servers": {"time": {"command": "node",\n"arguments": ["a.js"], "environment": {"A": "b"}}}}',
            [
                ("OCT208", "VS Code does not read `arguments` in `servers.time`", 2),
                ("OCT208", "VS Code does not read `environment` in `servers.time`", 2),
            ],
        ),
        (
            ".codex/config.toml",
            '[mcp_servers."ml docs"]\ncommand = "x"\n[mcp_servers."a/b"]\ncommand = "x"\n',
            [
                ("OCT206", f"Codex does not start server `{name}`: a name may have letters, digits, `-` and `_`", line)
                for name, line in (("ml docs", 1), ("a/b", 3))
            ],
        ),
        (
            ".codex/config.toml",
            '[mcp_servers.time]\ncommand = "node"\narguments = ["a.js"]\n',
            [("OCT208", "Codex does not read `arguments` of server `time`", 3)],
        ),
        (
            ".cursor/mcp.json",
            '{"mcpServers": {"time": {"command": "x",\n"alwaysAllow": []}},\n"docs": {"url": "x"}, "a": {}}',
            [("OCT781", "server `docs` stands outside `mcpServers`, where Cursor does not look for it", 3)],
        ),
    ],
)
def test_what_a_client_refuses_or_loses(
    path: str, text: str, expected: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    """Each client takes its own words of `type`, its own references, and servers in its own list alone."""
    assert findings(tmp_path, path, text) == expected


@pytest.mark.parametrize("path, key", [(".vscode/mcp.json", "servers"), (".cursor/mcp.json", "mcpServers")])
def test_what_editors_take_is_no_finding(path: str, key: str, tmp_path: Path) -> None:
    """Editors take names of a registry, numbers in `env`, and a `type` in another spelling, which VS Code marks."""
    servers = {
        "io.github.acme/time": {"command": "x", "env": {"N": 3}},
        "acme.docs": {"type": "streamableHTTP", "url": "https://docs.example/mcp"},
    }
    marked = [code for code, _, _ in findings(tmp_path, path, json.dumps({key: servers}))]
    assert marked == (["OCT780"] if key == "servers" else [])
    assert list(servers_of(path, json.dumps({key: servers}))) == ["time", "acme.docs"]


@pytest.mark.parametrize(
    "path, entry",
    [
        (".factory/mcp.json", {"type": "http", "url": "https://docs.example/mcp", "oauth": False}),
        (".factory/mcp.json", {"command": "x", "env": {"K": "${K:-d}"}, "timeoutMs": 5000, "enabledTools": ["a"]}),
        (".github/mcp.json", {"type": "local", "command": "x", "env": {"K": "$K", "L": "${L:-d}"}, "tools": ["*"]}),
        (
            ".github/mcp.json",
            {"type": "http", "url": "https://docs.example/mcp", "oauthClientId": "a", "oauthPublicClient": False},
        ),
        (".cursor/mcp.json", {"url": "https://docs.example/mcp", "auth": {"CLIENT_ID": "${env:ID}"}}),
        (
            ".codeium/windsurf/mcp_config.json",
            {"serverUrl": "https://docs.example/mcp", "headers": {"A": "${file:/run/a}"}},
        ),
        (".trae/mcp.json", {"url": "https://docs.example/mcp", "headers": {"A": "b"}}),
        (".amp/settings.json", {"url": "https://docs.example/mcp", "includeTools": ["a*"]}),
        ("crush.json", {"type": "stdio", "command": "x", "args": None, "env": None}),
        (".roo/mcp.json", {"type": "streamable-http", "url": "https://docs.example/mcp", "alwaysAllow": ["a"]}),
    ],
)
def test_what_a_client_documents_is_no_finding(path: str, entry: dict[str, Any], tmp_path: Path) -> None:
    """Each form that a client's documentation shows passes without a finding."""
    key = {".amp/settings.json": "amp.mcpServers", "crush.json": "mcp"}.get(path, "mcpServers")
    assert findings(tmp_path, path, json.dumps({key: {"docs": entry}})) == []


def test_a_key_of_another_client_is_no_slip(tmp_path: Path) -> None:
    """`alwaysAllow`, which other clients read, is not proposed to be `alwaysLoad`."""
    path = tmp_path / ".mcp.json"
    path.write_text('{"mcpServers": {"time": {"command": "mcp-server-time", "alwaysAllow": []}}}', encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False).diagnostics
    (one,) = (each for each in found if each.rule.code == "OCT208")
    assert (one.help, one.fix) == (None, None)


def test_a_transport_of_clines_command_line() -> None:
    """Cline's command line writes how a server is reached into an object `transport`."""
    entry = {"transport": {"type": "streamableHttp", "url": "https://x.example/mcp"}, "disabled": True}
    expected = {"transport": "http", "url": "https://x.example/mcp", "disabled": True}
    assert servers_of("cline_mcp_settings.json", json.dumps({"mcpServers": {"x": entry}})) == {"x": expected}


SOLUTION = """{
  "inputs": [],
  "servers": {"NuGet.Mcp.Server": {"command": "dnx", "args": ["x==1"]}, "docs": {"url": "https://docs.example/mcp"}}
}"""


def test_visual_studio_has_the_same_path_as_claude_code(tmp_path: Path) -> None:
    """`servers` in `.mcp.json` are Visual Studio's beside `inputs` or a solution, and a mistake elsewhere."""
    assert findings(tmp_path, ".mcp.json", SOLUTION) == []
    alone = SOLUTION.replace('"inputs": [],', "")
    assert findings(tmp_path, ".mcp.json", alone)[0][0] == "OCT221"
    (tmp_path / "acme.sln").touch()
    assert findings(tmp_path, ".mcp.json", alone) == []
    found = findings(tmp_path, ".mcp.json", '{"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}}')
    assert [code for code, *_ in found] == ["OCT224"]
    (tmp_path / ".mcp.json").unlink()
    found = findings(tmp_path, ".vscode/mcp.json", '{"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}}')
    assert [code for code, *_ in found] == ["OCT221"]


def test_entries_that_change_servers_of_others_are_no_servers(tmp_path: Path) -> None:
    """A project of Codex changes servers of the user's settings, one of Gemini CLI those of extensions."""
    text = '[mcp_servers.docs]\nenabled = false\n[mcp_servers.time]\nenabled_tools = ["now"]\nrequired = true\n'
    assert findings(tmp_path, ".codex/config.toml", text) == []
    assert findings(tmp_path, ".codex/config.toml", '[mcp_servers.docs]\nargs = ["x"]\n')[0][0] == "OCT225"
    assert findings(tmp_path, ".codex/config.toml", '[mcp_servers.docs]\ncomand = "x"\n')[0][0] == "OCT225"
    (tmp_path / ".codex/config.toml").unlink()
    assert findings(tmp_path, ".gemini/settings.json", '{"mcpServers": {"docs": {"excludeTools": ["x"]}}}') == []


def test_findings_are_at_the_clients_own_keys(tmp_path: Path) -> None:
    """A mistake in a converted value is at its own line, and named by the keys of the file."""
    text = """{
  // ours
  "mcp": {
    "time": {
      "type": "local",
      "command": ["uvx",
        7],
      "environment": {"TZ":
        []}
    },
    "docs": {"type": "remote", "url": "https://docs.example/mcp",
      "args": ["x"]}
  },
}"""
    assert findings(tmp_path, "opencode.jsonc", text) == [
        ("OCT203", "expected a string for `mcp.time.command[1]`, found a whole number", 7),
        ("OCT203", "expected a string or a number for `mcp.time.environment.TZ`, found a list", 9),
        ("OCT208", "OpenCode does not read `args` of server `docs`", 12),
    ]


def test_what_codex_loses_in_silence(tmp_path: Path) -> None:
    """References that Codex passes on as text, and settings below a table's head, are warnings."""
    text = """[mcp_servers.time]
command = "uvx"
args = ["mcp-server-time==2026.10.19"]
env = { TZ = "${TZ}", KEY = "$KEY" }
sandbox_mode = "read-only"
"""
    assert findings(tmp_path, ".codex/config.toml", text) == [
        ("OCT440", "`mcp_servers.time.env.TZ` has a reference, which Codex passes on as text", 4),
        ("OCT440", "`$KEY` in `env.KEY` of server `time` is passed on as it is: nothing replaces it", 4),
        ("OCT208", "Codex does not read `sandbox_mode` of server `time`", 5),
    ]


def test_a_list_that_the_client_does_not_read(tmp_path: Path) -> None:
    """Another client's list of servers in a file of settings is reported by its own key."""
    text = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time==2026.10.19"]}}, "mcp": 3}'
    found = findings(tmp_path, "opencode.json", text)
    assert [code for code, *_ in found] == ["OCT203"]
    (tmp_path / "opencode.json").unlink()
    text = '{"mcpServers": {"time": {"command": ["uvx", "mcp-server-time==2026.10.19"]}}}'
    assert findings(tmp_path, "opencode.json", text)[0][:2] == ("OCT221", "OpenCode reads `mcp`, and not `mcpServers`")


def test_the_mcp_file_of_a_plugin_may_be_bare(tmp_path: Path) -> None:
    """Beside a plugin's manifest the servers may stand at the root; without it the same file has no list of servers."""
    text = '{"docs": {"type": "http", "url": "https://docs.example/mcp"}}'
    assert [code for code, *_ in findings(tmp_path, ".mcp.json", text)] == ["OCT202"]
    (tmp_path / ".cursor-plugin").mkdir()
    (tmp_path / ".cursor-plugin/plugin.json").write_text('{"name": "x"}', encoding="utf-8")
    assert findings(tmp_path, ".mcp.json", text) == []


def test_settings_without_servers_define_none(tmp_path: Path) -> None:
    """`octoc init` takes a client's settings only where they have servers; a scan judges the other settings of some."""
    for path, text in {
        ".zed/settings.json": "{}",
        ".codex/config.toml": 'model = "x"\n',
        "mcp.json": '{"a": 1}',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    outcome = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False)
    assert outcome.read == {tmp_path / ".codex/config.toml"}
    assert find_inputs(tmp_path).mcp_files == ()
    named = CheckTarget(root=tmp_path, file=tmp_path / ".codex/config.toml")
    assert check_target(named, plugins=Plugins(), use_cache=False).diagnostics == ()
    (tmp_path / ".codex/config.toml").write_text(CODEX, encoding="utf-8")
    assert find_inputs(tmp_path).mcp_files == (".codex/config.toml",)


def test_a_named_file_has_lines_whatever_it_is_called(tmp_path: Path) -> None:
    """`--kind` says what a file is written in, so that findings have lines in a file of any name."""
    (tmp_path / "servers.txt").write_text("[mcp_servers.time]\n\ncommand = 3\n", encoding="utf-8")
    target = CheckTarget(root=tmp_path, file=tmp_path / "servers.txt", kind="mcp:codex")
    (found,) = check_target(target, plugins=Plugins(), use_cache=False).diagnostics
    assert found.span is not None
    assert (found.message, found.span.line) == (
        "expected a string for `mcp_servers.time.command`, found a whole number",
        3,
    )
