"""No command prints a credential in any format, and no file that octoc writes holds one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from octoc.cli import main
from octoc.diagnostics.render import FORMATS
from octoc.testing import WorkspaceBuilder

from .tables import KEYED, READABLE, TOKENS, forms, made_up, paths, pem

COMMANDS = (
    *(["check", "-v", "--output-format", name] for name in FORMATS),
    *(["report", "--json"], ["report", "--output-format", "markdown"], ["report"]),
    *(["check", "--diff"], ["build", "-v"], ["build", "--json"], ["show", "--json"], ["show", "tools"]),
    *(["env"], ["env", "--json"], ["call", "form-0", "x", "{}", "-v"], ["pin", "form-0"]),
)


def servers() -> tuple[dict[str, object], list[str]]:
    """Every form with a secret of its own, every token in four places, and the texts that must show nowhere."""
    defined: dict[str, object] = {}
    shown: list[str] = []
    for seed, name in enumerate(forms("x")):
        secret = "s3cr3t" + made_up(8, 1000 + seed)
        definition, text = forms(secret)[name]
        defined[f"form-{seed}"] = definition
        shown += [text, secret]
    for name, (definition, text) in paths(300).items():
        defined[name.replace(" ", "-")] = definition
        shown.append(text)
    for number, token in enumerate(TOKENS.values()):
        env = {"PLAIN": token, "SPACED": f" {token}", "WRONG": f"${{X_{token}"}
        defined[f"token-{number}"] = {
            "command": f"/opt/{token}/x",
            "args": [token, f"--x={token}", "$HOME"],
            "env": env,
        }
        shown.append(token)
    for number, (name, value) in enumerate(KEYED.items()):
        defined[f"keyed-{number}"] = {"command": "x", "args": ["--token", value], "env": {"A_TOKEN": f"{value} "}}
        shown += [value] if name != "pem" else value.splitlines()[1:-1]
    return defined, shown


def run(capsys: pytest.CaptureFixture[str], folder: Path) -> Iterator[tuple[str, str]]:
    """Run the commands, and yield what each printed and each file that octoc wrote."""
    for command in COMMANDS:
        main([*command, "--workspace", str(folder)])
        out, err = capsys.readouterr()
        yield " ".join(command), out + err
    for name in ("octoc.lock", "dist", ".octoc", "snapshots"):
        for file in ((folder / name), *(folder / name).rglob("*")):
            if file.is_file():
                yield name, file.read_bytes().decode("utf-8", "replace")


def leaks(printed: Mapping[str, str], shown: list[str]) -> list[tuple[str, str]]:
    """Which texts are shown where, as they are or as JSON has them."""
    return [
        (where, text)
        for where, output in printed.items()
        for text in dict.fromkeys(shown)
        if text in output or json.dumps(text)[1:-1] in output
    ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own cache folder, for this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_no_output_has_a_credential_of_a_definition(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: Path
) -> None:
    """Every form and every token of the tables stays out of outputs, lock, bundle and caches."""
    defined, shown = servers()
    folder = tmp_path / "ws"
    WorkspaceBuilder(folder, mcp={"files": [".mcp.json", "one-line.json"]}).write()
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": defined}, indent=2), encoding="utf-8")
    (folder / "one-line.json").write_text(json.dumps({"mcpServers": defined}), encoding="utf-8")
    printed = dict(run(capsys, folder))
    kept = [file.read_bytes().decode("utf-8", "replace") for file in cache.rglob("*") if file.is_file()]
    printed["the user's cache"] = "\n".join(kept)
    assert leaks(printed, shown) == []
    assert "OCT340" in printed["check -v --output-format concise"]
    assert "octoc.lock" in printed


@pytest.mark.parametrize("broken", ["", "\n[[mcp.servers]]\nname = \n", 'x = "unclosed\n'])
def test_no_output_has_a_credential_of_a_tap(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: Path, broken: str
) -> None:
    """The same holds for providers and agents of a tap, for keys over several lines, and beside a mistake."""
    key, token = pem(400, lines=8), TOKENS["github"]
    folder = tmp_path / "ws"
    builder = WorkspaceBuilder(folder, agents={"paths": ["agents"]}).capability("time", triggers=["what time is it"])
    provider = (
        "# Title: Time\n# Description: Clocks and zones of the world\n\n"
        '[roles.mcp]\nserver_refs = ["time"]\nallowed_tools = ["time:*"]\n\n'
        '[[mcp.servers]]\nname = "time"\ntype = "stdio"\ncommand = "x"\ntimeout_seconds = 30\ntools = []\n'
        f'args = ["{token}"]\n[mcp.servers.env]\nSIGNING = """\n{key}\n"""\nOTHER = " {token}"\n{broken}'
    )
    builder.file("taps/test/capabilities/time/default.toml", provider)
    agent = "---\nname: clerk\ndescription: d\nmcpServers:\n  - own:\n      command: x\n      env:\n        KEY: |\n"
    body = "".join(f"          {line}\n" for line in key.splitlines())
    builder.file("agents/clerk.md", f"{agent}{body}        OTHER: {token}\n      bogus: {token}\n---\nText\n")
    builder.write()
    printed = dict(run(capsys, folder))
    assert leaks(printed, [token, *key.splitlines()[1:-1]]) == []


def test_a_line_of_a_key_is_masked_wherever_a_finding_points(tmp_path: Path) -> None:
    """Each line of a key in PEM is masked, also the short last one, and the lines around it are not."""
    from octoc.diagnostics.model import Diagnostic, Span
    from octoc.diagnostics.render import render_full
    from octoc.diagnostics.rules.resolve import LITERAL_SECRET

    lines = ["[servers]", 'key = """', *pem(500, lines=30).splitlines(), '"""', "mode = 'fast'"]
    for number in range(1, len(lines) + 1):
        span = Span(file="f", line=number, column=1, end_line=number, end_column=2)
        found = Diagnostic(rule=LITERAL_SECRET, message="x", severity=LITERAL_SECRET.severity, span=span)
        shown = render_full([found], lambda _, line: lines[line - 1] if 0 < line <= len(lines) else None)
        is_key = 3 <= number <= len(lines) - 2
        assert is_key or lines[number - 1] in shown, lines[number - 1]
        assert not is_key or lines[number - 1] not in shown or "-----END" in lines[number - 1], lines[number - 1]


def test_what_is_no_credential_stays_readable_in_a_finding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Names, digests, versions and placeholders are shown by the findings about them."""
    names = ["CONTEXT7_API_KEY", "Server2ForGitHubEnterprise", "My-Server2-of-AcmeV3"]
    folder = tmp_path / "ws"
    WorkspaceBuilder(folder, mcp={"files": [".mcp.json"]}).write()
    servers = {name: {"type": "http", "url": "https://h/mcp", "headers": {name: " ${X}"}} for name in names}
    servers |= {f"s{n}": {"command": "x", "args": ["$HOME", text]} for n, text in enumerate(READABLE)}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1), encoding="utf-8")
    main(["check", "-v", "--output-format", "full", "--workspace", str(folder)])
    out, _ = capsys.readouterr()
    assert "OCT340" not in out
    for name in names:
        assert f"`headers.{name}` of server `{name}`" in out
