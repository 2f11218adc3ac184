"""Servers in the YAML files of clients, and in the settings of Crush, Amp and Codex plugins."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.plugin.manager import Plugins
from tests.compiler.dialects import findings, servers_of

LIBRECHAT = """version: 1.3.1
interface:
  mcpServers: {use: true}
mcpServers:
  docs:
    type: streamable-http
    url: https://docs.example/mcp
    timeout: 60000
    headers: {Authorization: "Bearer ${DOCS_TOKEN}", X-User: "{{LIBRECHAT_USER_ID}}"}
    serverInstructions: true
  time: &time
    command: uvx
    args: [mcp-server-time==2026.10.19]
  again:
    <<: *time
    env: {TZ: UTC}
  live: {type: websocket, url: wss://live.example/mcp}
"""
TIME = {"transport": "stdio", "command": "uvx", "args": ("mcp-server-time==2026.10.19",)}
DOCS = {"transport": "http", "url": "https://docs.example/mcp"}


def test_librechat() -> None:
    """Anchors are resolved, and time limits are milliseconds."""
    headers = {"Authorization": "Bearer ${DOCS_TOKEN}", "X-User": "{{LIBRECHAT_USER_ID}}"}
    assert servers_of("librechat.yaml", LIBRECHAT) == {
        "docs": {**DOCS, "timeout_s": 60.0, "headers": headers},
        "time": TIME,
        "again": {**TIME, "env": {"TZ": "UTC"}},
        "live": {"transport": "ws", "url": "wss://live.example/mcp"},
    }


MCP_AGENT = """execution_engine: asyncio
mcp:
  servers:
    time:
      command: uvx
      args: [mcp-server-time==2026.10.19]
      allowed_tools: [get_time]
      read_timeout_seconds: 30
    docs: {transport: streamable_http, url: https://docs.example/mcp, roots: []}
    of-the-secrets: {transport: websocket}
"""
GOOSE = """GOOSE_PROVIDER: x
extensions:
  developer: {enabled: true, type: builtin, name: developer}
  time:
    enabled: false
    type: stdio
    name: time
    cmd: uvx
    args: [mcp-server-time==2026.10.19]
    envs: {LANG: C}
    env_keys: [TZ]
    timeout: 300
    available_tools: []
  docs: {enabled: true, type: streamable_http, name: docs, uri: https://docs.example/mcp, available_tools: [read]}
"""
RECIPE = """title: A recipe
extensions:
  - {type: builtin, name: developer}
  - {type: stdio, name: time, cmd: uvx, args: [mcp-server-time==2026.10.19]}
"""
CONTINUE = """name: ours
version: 1.0.0
mcpServers:
  - uses: other/block
  - name: Time server
    command: uvx
    args: [mcp-server-time==2026.10.19]
    env: {KEY: "${{ secrets.KEY }}"}
  - name: docs
    type: streamable-http
    url: https://docs.example/mcp
    requestOptions: {headers: {X-Key: "${{secrets.DOCS}}"}}
"""
APM = """name: ours
version: 1.0.0
dependencies:
  apm: [a/b]
  mcp:
    - io.github.acme/search
    - {name: io.github.acme/pinned, version: 1.0.0}
    - {name: time, registry: false, transport: stdio, command: uvx, args: [mcp-server-time==2026.10.19]}
    - {name: docs, registry: false, transport: http, url: https://docs.example/mcp, tools: ["*"]}
"""
DOCKER = """registry:
  fetch: {image: "mcp/fetch@sha256:0a1b", type: server, command: [--quiet], tools: [{name: fetch}]}
  docs: {type: remote, remote: {url: https://docs.example/mcp, transport_type: streamable-http}}
  enabled-elsewhere: {ref: ""}
"""
CRUSH = {
    "lsp": {"go": {"command": "gopls"}},
    "mcp": {
        "time": {
            "type": "stdio",
            "command": "uvx",
            "args": ["mcp-server-time==2026.10.19"],
            "timeout": 120,
            "disabled_tools": ["set_time"],
        },
        "docs": {"type": "http", "url": "https://docs.example/mcp", "headers": {"X-Key": "$DOCS_KEY"}},
    },
}
AMP = {"amp.mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time==2026.10.19"], "includeTools": ["get"]}}}
AUGMENT = {
    "toolPermissions": [{"toolName": "save-file", "permission": {"type": "deny"}}],
    "mcpServers": {
        "time": {"type": "stdio", "command": "uvx", "args": ["mcp-server-time==2026.10.19"]},
        "docs": {"url": "https://docs.example/mcp"},
    },
}
PLUGIN = {"name": "ours", "mcpServers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}
CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "mcp_agent.config.yaml",
        MCP_AGENT,
        {"time": {**TIME, "include": ("get_time",), "timeout_s": 30.0}, "docs": DOCS},
    ),
    (
        ".config/goose/config.yaml",
        GOOSE,
        {
            "time": {**TIME, "disabled": True, "timeout_s": 300.0, "env": {"TZ": "${TZ}", "LANG": "C"}},
            "docs": {**DOCS, "include": ("read",)},
        },
    ),
    (".goose/recipes/one.yaml", RECIPE, {"time": TIME}),
    (
        ".continue/config.yaml",
        CONTINUE,
        {
            "Time server": {**TIME, "env": {"KEY": "${input:KEY}"}},
            "docs": {**DOCS, "headers": {"X-Key": "${input:DOCS}"}},
        },
    ),
    (".continue/mcpServers/time.json", json.dumps({"mcpServers": {"docs": {"url": DOCS["url"]}}}), {"docs": DOCS}),
    ("apm.yml", APM, {"time": TIME, "docs": DOCS}),
    (
        "catalog.yaml",
        DOCKER,
        {
            "fetch": {
                "transport": "stdio",
                "command": "docker",
                "args": ("run", "-i", "--rm", "mcp/fetch@sha256:0a1b", "--quiet"),
            },
            "docs": DOCS,
        },
    ),
    (
        "crush.json",
        json.dumps(CRUSH),
        {
            "time": {**TIME, "timeout_s": 120.0, "exclude": ("set_time",)},
            "docs": {**DOCS, "headers": {"X-Key": "${DOCS_KEY}"}},
        },
    ),
    (".amp/settings.json", json.dumps(AMP), {"time": {**TIME, "include": ("get",)}}),
    (".augment/settings.json", json.dumps(AUGMENT), {"time": TIME, "docs": DOCS}),
    (".codex-plugin/plugin.json", json.dumps(PLUGIN), {"docs": DOCS}),
]

ROLES = "`chat`, `autocomplete`, `embed`, `rerank`, `edit`, `apply`, `summarize` or `subagent`"


@pytest.mark.parametrize("path, text, expected", CASES, ids=[path for path, _, _ in CASES])
def test_a_client(path: str, text: str, expected: dict[str, Any], tmp_path: Path) -> None:
    """The file's servers are octoc's, a sound file has no error and no warning, and a scan finds it."""
    assert servers_of(path, text) == expected
    assert findings(tmp_path, path, text) == []


@pytest.mark.parametrize(
    "path, text, expected",
    [
        (
            "librechat.yaml",
            "mcpServers:\n  a:\n    command: a-mcp\n    env:\n      B: ${B:-c}\n",
            [
                ("OCT202", "server `a` has no `args`, and LibreChat skips it", 2),
                ("OCT440", "`mcpServers.a.env.B` has a reference, which LibreChat passes on as text", 5),
            ],
        ),
        (
            "mcp_agent.config.yaml",
            "mcp:\n  servers:\n    a:\n      url: https://a.example/mcp\n",
            [("OCT202", "server `a` has no `transport`, and mcp-agent skips it", 3)],
        ),
        (
            ".config/goose/config.yaml",
            "extensions:\n  a:\n    type: stdio\n    cmd: 3\n    args: []\n    enabled: true\n",
            [("OCT203", "expected a string for `extensions.a.cmd`, found a whole number", 4)],
        ),
        (
            ".continue/config.yaml",
            "name: a\nversion: 1.0.0\nmcpServers:\n  - name: a\n    command: a-mcp\n    args: b\n",
            [("OCT203", "expected a list of strings for `mcpServers[0].args`, found a string", 6)],
        ),
        (
            ".continue/config.yaml",
            "name: a\nversion: 1.0.0\nmcpServers:\n  - name: a\n    type: http\n    url: https://a.example/mcp\n",
            [("OCT780", "Continue refuses `http` as the `type` of server `a`", 5)],
        ),
        (
            ".continue/config.yaml",
            "name: a\nversion: 1.0.0\nmodels:\n  - name: b\n    roles: [aply]\n",
            [
                ("OCT204", f"`aply` is not one of the `roles` that Continue knows: expected {ROLES}", 5),
            ],
        ),
        (
            "apm.yml",
            "name: a\nversion: 1.0.0\ndependencies:\n  mcp:\n    - name: a\n      registry: false\n      command: b\n",
            [("OCT202", "server `a` has no `transport`, and APM skips it", 5)],
        ),
        (
            "crush.json",
            '{"mcp": {\n "a": {"command": "a-mcp"}}}',
            [("OCT202", "server `a` has no `type`, and Crush skips it", 2)],
        ),
    ],
)
def test_what_a_client_refuses(path: str, text: str, expected: list[tuple[str, str, int]], tmp_path: Path) -> None:
    """A key that the client needs, and a value that it cannot use, are findings at their lines."""
    assert findings(tmp_path, path, text) == expected


@pytest.mark.parametrize(
    "path, text",
    [
        ("librechat.yaml", "version: 1.2.1\ncache: true\n"),
        ("catalog.yaml", "kind: Component\nregistry: npm\n"),
        ("recipe.yaml", "package:\n  name: conda\nextensions: []\n"),
        ("crush.json", '[{"name": "a"}]'),
        (".codex-plugin/plugin.json", '{"name": "a", "mcpServers": "./.codex-plugin"}'),
    ],
)
def test_a_file_without_servers_has_no_finding(path: str, text: str, tmp_path: Path) -> None:
    """A file of the name of a client's, without a server in it, has nothing that octoc judges."""
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    assert (
        check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False).diagnostics == ()
    )


def test_aliases_do_not_multiply_servers(tmp_path: Path) -> None:
    """A file that would expand to millions of values has one finding."""
    text = "a0: &a0 {command: x}\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))
    found = findings(tmp_path, "librechat.yaml", f"{text}mcpServers: {{a: *a29}}\n")
    assert [code for code, *_ in found] == ["OCT738"]
