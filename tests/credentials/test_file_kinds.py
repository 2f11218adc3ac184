"""No finding about any kind of file quotes a credential, in any format of the check."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from octoc.cli import main
from octoc.diagnostics.render import FORMATS

from .tables import KEYED, TOKENS, pem
from .test_outputs import leaks

VALUES = [*TOKENS.values(), *(value for name, value in KEYED.items() if name != "pem")]
KEY = pem(900)
SHOWN = [*VALUES, *KEY.splitlines()[1:-1]]


def toml(head: str = "", *, table: str = "") -> str:
    """Return TOML with every value under an unknown key, every token as a key, and a private key."""
    lines = [f'bogus_token_{number} = "{value}"' for number, value in enumerate(VALUES)]
    lines += [f'"{token}" = {number}' for number, token in enumerate(TOKENS.values())]
    return "\n".join([head, *([f"[{table}]"] if table else []), *lines, f'bogus_key = """\n{KEY}\n"""', ""])


def front(*head: str) -> str:
    """The front matter of a Markdown file with the same."""
    lines = [f'bogus_token_{number}: "{value}"' for number, value in enumerate(VALUES)]
    lines += [f'"{token}": {number}' for number, token in enumerate(TOKENS.values())]
    return "\n".join(
        ["---", *head, *lines, "bogus_key: |", *(f"  {line}" for line in KEY.splitlines()), "---", "Text."]
    )


def unknown_fields() -> dict[str, object]:
    """Fields that no schema has, with every value, and every token in place of a field."""
    values: dict[str, object] = {f"bogus_token_{number}": value for number, value in enumerate(VALUES)}
    return {**values, **dict.fromkeys(TOKENS.values(), 1), "bogus_key": KEY}


TAP = "tap/capabilities/time"
PROVIDER = '# Title: Time\n# Description: Clocks of the world\n\n[roles.mcp]\nserver_refs = ["time"]\n'
CLOCK = '[[mcp.servers]]\nname = "time"\ntype = "stdio"\ncommand = "x"\ntimeout_seconds = 30\nargs = []\ntools = []\n'
REFERENCES = json.dumps([*TOKENS.values()])

FILES: dict[str, Callable[[], str]] = {
    "octoc.toml": lambda: toml(
        '[workspace]\nname = "acme"\n[[taps]]\nname = "t"\npath = "tap"\n[agents]\npaths = ["agents"]\n',
        table="runtime",
    ),
    ".mcp.json": lambda: json.dumps(
        {
            "mcpServers": {
                "notes": {"command": "x", **unknown_fields()},
                "inputs": {"command": "x", "args": [f"${{input:{token}}}" for token in TOKENS.values()]},
                **{value: {"command": 1} for value in TOKENS.values()},
            },
            **unknown_fields(),
        },
        indent=1,
    ),
    f"{TAP}/config.toml": lambda: toml('triggers = ["what time is it"]'),
    f"{TAP}/default.toml": lambda: toml(PROVIDER + CLOCK),
    "tap/capabilities/many/config.toml": lambda: f'triggers = ["many things"]\ndomains = {REFERENCES}\n',
    "tap/capabilities/many/default.toml": lambda: PROVIDER.replace('["time"]', REFERENCES) + CLOCK,
    "tap/agents/office/clerk.toml": lambda: toml(
        f"# Title: Clerk\n# Description: A clerk.\n\ncapabilities = {REFERENCES}\n"
        '[[roles]]\nname = "clerk"\nsystem = "You help."\n'
    ),
    "agents/own/AGENT.md": lambda: front("name: own", "description: d", f"tools: {REFERENCES}"),
    "agents/clerk.md": lambda: front("name: clerk", "description: d", f"skills: {REFERENCES}"),
    "tap/skills/notes/SKILL.md": lambda: front("name: notes", "description: d", f"allowed-tools: {REFERENCES}"),
    "scopes/main.toml": lambda: toml(
        f"[areas.a]\nagents = {REFERENCES}\n" + f'[[deny]]\nagents = ["*"]\ntools = {REFERENCES}'
    ),
    "routing/main.toml": lambda: toml(
        "".join(f'[[message]]\ntext = "message {n}"\nexpect = "{token}"\n' for n, token in enumerate(TOKENS.values()))
    ),
    "routing/expanded.toml": lambda: toml(
        "".join(f'[{json.dumps(token)}]\ntriggers = "x"\nsays = ["a text"]\n' for token in TOKENS.values()),
        table="time",
    ),
    # A file that has only comments is reported, with its first line.
    "routing/background.txt": lambda: f"# {' '.join(TOKENS.values())}\n",
    "routing/needs/own.toml": lambda: toml('[rooms]\nabout = "book a room"\nsays = ["is a room free"]'),
    "snapshots/notes.json": lambda: json.dumps(
        {
            "server": "notes",
            "definition": "sha256:0",
            "tools": [{"name": value, "inputSchema": {"type": value}} for value in TOKENS.values()],
            **unknown_fields(),
        },
        indent=1,
    ),
}

ALONE: dict[str, Callable[[], str]] = {
    ".vscode/mcp.json": lambda: json.dumps(
        {
            "inputs": [
                *({"type": "promptString", "id": token, "default": token} for token in TOKENS.values()),
                *({"type": token, "id": token, "bogus_token": token} for token in TOKENS.values()),
                unknown_fields(),
            ],
            "servers": {"notes": {"command": "x", "args": [f"${{input:x-{token}}}" for token in TOKENS.values()]}},
        },
        indent=1,
    ),
    "export.json": lambda: json.dumps(
        {
            "tenants": [{"tenantId": token, **unknown_fields()} for token in TOKENS.values()],
            "areas": [{"areaId": 1, "tenantId": "x", "agents": [*TOKENS.values()], **unknown_fields()}],
            "toolGroups": [{"id": 3, "areaId": token, "toolNames": [token]} for token in TOKENS.values()],
            "agents": [
                {"agentId": 7, "name": "A", "mcpServers": [{"name": token, "headers": {"Authorization": token}}]}
                for token in TOKENS.values()
            ],
            "assignments": [{"agentId": token, "toolGroupId": token} for token in TOKENS.values()],
            **unknown_fields(),
        },
        indent=1,
    ),
}
"""Files that no workspace has, which are checked by themselves."""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Check in every format, and return what each printed."""
    printed = {}
    for name in FORMATS:
        main(["check", "-v", *arguments, "--output-format", name])
        printed[name] = "".join(capsys.readouterr())
    return printed


def written(folder: Path, files: Mapping[str, Callable[[], str]], broken: str = "") -> Path:
    """Write one file of every kind; `broken` is put at the end of each."""
    for path, make in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(make() + (broken if path != "octoc.toml" else ""), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own cache folder, for this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_no_finding_quotes_a_credential_of_any_kind_of_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Unknown keys, wrong values and names that nothing has are reported in each kind without the credential."""
    printed = run(capsys, "--workspace", str(written(tmp_path / "ws", FILES)))
    assert [path for path in FILES if path not in printed["sarif"]] == []
    assert leaks(printed, SHOWN) == []


@pytest.mark.parametrize("path", ALONE)
@pytest.mark.parametrize("broken", ["", f'\nx_token = "{VALUES[0]}\n'])
def test_no_finding_about_a_file_by_itself_quotes_a_credential(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: str, broken: str
) -> None:
    """The same holds for the files of others that are checked by their path."""
    printed = run(capsys, str(written(tmp_path, ALONE, broken) / path))
    assert path in printed["concise"]
    assert leaks(printed, SHOWN) == []


@pytest.mark.parametrize("broken", [f'\nx_token = "{VALUES[0]}\n', f"\n}}]] {VALUES[0]}\n"])
def test_no_finding_about_a_broken_file_quotes_a_credential(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, broken: str
) -> None:
    """The same holds where a file cannot be read."""
    assert leaks(run(capsys, "--workspace", str(written(tmp_path / "ws", FILES, broken))), SHOWN) == []
