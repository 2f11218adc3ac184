"""Secrets in sound and in broken files reach no output, no lock, no bundle, no cache and no snapshot."""

import json
from pathlib import Path

import pytest

from octoc.compiler.cache.store import workspace_cache

from .conftest import Octoc

# Made up here; each is looked for by itself.
GITHUB = "ghp_" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
OPENAI = "sk-" + "proj-Qz7vXk29LmNpRt4Wy8AbCdEfGh"
SECRETS = (
    *("flag-hunter2", "equals-hunter2", "header-hunter2", "short-hunter2", "docker-hunter2", "args-url-hunter2"),
    *("env-hunter2", "env-url-hunter2", "env-query-hunter2", "user-hunter2", "query-hunter2", "bearer-hunter2"),
    *("key-hunter2", "cookie-hunter2", "dXNlcjpodW50ZXIyLWJhc2lj", "client-hunter2", "provider-hunter2"),
    *(GITHUB, OPENAI),
)
MCP = json.dumps(
    {
        "mcpServers": {
            "notes": {
                "command": "/no/such/notes",
                "args": [
                    *("--api-key", "flag-hunter2", "--token=equals-hunter2", GITHUB),
                    *("--header", "Authorization: Bearer header-hunter2", "-H", "X-Api-Key:short-hunter2"),
                    *("-e", "GITHUB_TOKEN=docker-hunter2", "https://h/?api_key=args-url-hunter2"),
                ],
                "env": {
                    "NOTES_TOKEN": "env-hunter2",
                    "DATABASE_URL": "postgres://u:env-url-hunter2@h/db",
                    "OTHER": OPENAI,
                    "URL": "https://h/x?token=env-query-hunter2",
                },
            },
            "web": {
                "type": "http",
                "url": "http://me:user-hunter2@127.0.0.1:9/mcp?api_key=query-hunter2&x=1",
                "headers": {
                    "Authorization": "Bearer bearer-hunter2",
                    "X-Api-Key": "key-hunter2",
                    "Cookie": "session=cookie-hunter2",
                    "X-Custom": "Basic dXNlcjpodW50ZXIyLWJhc2lj",
                },
                "auth": {"client_id": "abc", "client_secret": "client-hunter2"},
            },
            "token": {"type": "http", "url": f"http://{GITHUB}@127.0.0.1:9/mcp"},
            "path": {"type": "http", "url": f"http://127.0.0.1:9/s/{OPENAI}/mcp"},
        }
    },
    indent=2,
)
PAIR = '"NOTES_TOKEN": "env-hunter2"'
BROKEN = {
    "sound": MCP,
    "cut in the secret": MCP[: MCP.index("env-hunter2") + 11],
    "no quotes": MCP.replace('"env-hunter2"', "env-hunter2"),
    "single quotes": MCP.replace('"env-hunter2"', "'env-hunter2'"),
    "no comma": MCP.replace(PAIR + ",", PAIR),
    "no colon": MCP.replace(PAIR, PAIR.replace(":", "")),
    "twice": MCP.replace(PAIR, f"{PAIR}, {PAIR}"),
    "in a list": MCP.replace('"env-hunter2"', '["env-hunter2"]'),
    "in an object": MCP.replace('"env-hunter2"', '{"x": "env-hunter2"}'),
    "bad escape": MCP.replace("env-hunter2", "env-hunter2\\q"),
    "as a type": MCP.replace('"type": "http"', f'"type": "{OPENAI}"'),
    "headers as text": MCP.replace('"headers": {', '"headers": "Authorization: Bearer bearer-hunter2", "h": {'),
    "args as text": MCP.replace('"args": [', '"args": "--api-key flag-hunter2", "a": ['),
    "one line": json.dumps(json.loads(MCP))[:-2],
}
COMMANDS = (
    *(["check", "-v"], ["check", "--json"], ["check", "--output-format", "concise", "-v"]),
    *(["build", "-v"], ["build", "--json"], ["build", "--locked"], ["show", "--json"], ["show", "tools"]),
    *(["call", "notes", "x", "{}", "--json", "-v"], ["call", "web", "x", "{}", "-v"], ["pin"], ["pin", "notes"]),
)


def outputs(root: Path) -> dict[str, str]:
    """Return every file that octoc has written, by path."""
    cache = workspace_cache(root)
    assert cache is not None
    written = (*(root / name for name in ("octoc.lock", "dist", "snapshots")), cache)
    files = [file for path in written for file in (path, *path.rglob("*")) if file.is_file()]
    return {str(file): file.read_bytes().decode("utf-8", "replace") for file in files}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_no_output_has_a_secret_of_an_mcp_file(octoc: Octoc, folder: Path, text: str) -> None:
    """Whatever is wrong beside a secret, no command prints it and no file that octoc writes holds it."""
    (folder / ".mcp.json").write_text(text, encoding="utf-8")
    seen = {" ".join(command): octoc(*command, "--workspace", str(folder)).text for command in COMMANDS}
    seen |= outputs(folder)
    assert [(where, secret) for where, said in seen.items() for secret in SECRETS if secret in said] == []
    assert str(folder / "octoc.lock") in seen


@pytest.mark.parametrize(
    "old, new",
    [
        ("", ""),
        ('"provider-hunter2"', "provider-hunter2"),
        ('"provider-hunter2"', '["provider-hunter2"]'),
        ("provider-hunter2", "provider-hunter2\\q"),
        ('hunter2" }', "hunter2"),
        ("PLAIN", "TIME_TOKEN"),
    ],
)
def test_no_output_has_a_secret_of_a_provider_file(octoc: Octoc, folder: Path, old: str, new: str) -> None:
    """The same holds for the `env` of a provider, and for TOML that is broken beside it."""
    path = folder / "taps/acme/capabilities/time/installed.toml"
    env = f'env = {{ PLAIN = "{OPENAI}", TIME_TOKEN = "provider-hunter2" }}\n'
    path.write_text(path.read_text() + env.replace(old, new, 1))
    seen = {" ".join(command): octoc(*command, "--workspace", str(folder)).text for command in COMMANDS}
    seen |= outputs(folder)
    assert [(where, secret) for where, said in seen.items() for secret in SECRETS if secret in said] == []
