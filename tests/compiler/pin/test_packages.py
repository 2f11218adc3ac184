import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.pin.packages import Package, fetched_by, package_of

RUNS = [
    ("npx -y @modelcontextprotocol/server-github@2025.4.8", "npm", "@modelcontextprotocol/server-github", "2025.4.8"),
    ("npx @playwright/mcp@0.0.78 --headless", "npm", "@playwright/mcp", "0.0.78"),
    ("npx -y -p openai-sora2-mcp-server@1.1.1 sora2-mcp-server", "npm", "openai-sora2-mcp-server", "1.1.1"),
    ("npx --package=@a/b@1 -- b", "npm", "@a/b", "1"),
    ("npx -y tavily-mcp@latest", "npm", "tavily-mcp", None),
    ("/usr/local/bin/npx.cmd tavily-mcp", "npm", "tavily-mcp", None),
    ("cmd /c npx -y tavily-mcp@0.2.0", "npm", "tavily-mcp", "0.2.0"),
    ("cmd.exe /d /s /C npx -y tavily-mcp@0.2.0", "npm", "tavily-mcp", "0.2.0"),
    ("wsl.exe npx -y tavily-mcp", "npm", "tavily-mcp", None),
    ("env TOKEN=x npx -y tavily-mcp", "npm", "tavily-mcp", None),
    ("bunx @sveltejs/mcp", "npm", "@sveltejs/mcp", None),
    ("bun x @sveltejs/mcp", "npm", "@sveltejs/mcp", None),
    ("pnpm dlx --package=c d", "npm", "c", None),
    ("pnpm --dir x dlx c@1.0.0", "npm", "c", "1.0.0"),
    ("yarn dlx -p c d", "npm", "c", None),
    ("npm exec -y -- c@2", "npm", "c", "2"),
    ("uvx mcp-server-time", "pypi", "mcp-server-time", None),
    ("uvx --with mcp<2 mcp-server-fetch==2026.7.10", "pypi", "mcp-server-fetch", "2026.7.10"),
    ("uvx --from mcp-server-git==1.0 mcp-git", "pypi", "mcp-server-git", "1.0"),
    ("uvx --from=foo[all]>=1 foo", "pypi", "foo", None),
    ("uvx foo@1.2.3", "pypi", "foo", "1.2.3"),
    ("uv tool run --python 3.12 foo", "pypi", "foo", None),
    ("uv --offline tool run foo", "pypi", "foo", None),
    ("pipx run --spec foo==2 bar", "pypi", "foo", "2"),
    ("deno run -A npm:@a/b@1.0.0", "npm", "@a/b", "1.0.0"),
    ("deno run --allow-net=x jsr:@a/b", "jsr", "@a/b", None),
    (
        "docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:v1",
        "docker",
        "ghcr.io/github/github-mcp-server",
        "v1",
    ),
    ("docker run mcp/time", "docker", "mcp/time", None),
    ("docker run localhost:5000/a/b@sha256:0f", "docker", "localhost:5000/a/b", "sha256:0f"),
    ("podman run -v /a:/b mcp/git:latest", "docker", "mcp/git", None),
]


@pytest.mark.parametrize("line,registry,name,version", RUNS, ids=[run[0] for run in RUNS])
def test_a_launchers_package_is_read(line: str, registry: str, name: str, version: str | None) -> None:
    """Each launcher's command line names its package, whatever flags stand before it."""
    command, *args = line.split()
    assert package_of(command, args) == Package(registry=registry, name=name, version=version)


@pytest.mark.parametrize(
    "line",
    [
        "mcp-server-time",
        "node dist/index.js",
        "python -m mcp_server_time",
        "uv run server.py",
        "docker mcp gateway run",
        "docker compose up",
        "npx",
        "npx -y",
        "npx ./local",
        "npx -y ${PACKAGE}",
        "npx git+https://example.org/x",
        "uvx --from git+https://example.org/x x",
        "deno run -A https://example.org/x.ts",
        "sh script.sh",
        "sh -c",
        "cmd /k npx x",
        "cmd",
        "cmd /c",
        "yarn install x",
    ],
)
def test_other_commands_name_no_package(line: str) -> None:
    """A program that is there, a path, a URL, a reference and another subcommand name no package."""
    command, *args = line.split()
    assert package_of(command, args) is None


SCRIPTS = [
    ('mkdir -p "$PWD/o"; A="$PWD/o" exec npx -y mcp-server-stability-ai@0.2.0', "mcp-server-stability-ai"),
    ("exec uvx --with 'mcp<2' mcp-server-git==2026.7.10 --repository \"$R\"", "mcp-server-git"),
    ("R=$(git rev-parse); if [ -z \"$R\" ]; then echo 'no npx' >&2; fi; exec uvx mcp-server-git", "mcp-server-git"),
    ('[ -f x ] || npm i --prefix "$d" --silent @a/law@2.0.0 >/dev/null 2>&1; exec node x', "@a/law"),
    ("cd /x && npx -y one\nnpx -y two", "two"),
    ("sh -c 'npx -y inner'", "inner"),
    ("cmd /c 'npx -y inner'", "inner"),
]  # fmt: skip


@pytest.mark.parametrize("script,name", SCRIPTS, ids=[script[1] for script in SCRIPTS])
def test_a_shells_last_launcher_counts(script: str, name: str) -> None:
    """In `sh -c` the last command that runs a package is the server."""
    package = package_of("sh", ["-c", script])
    assert package is not None
    assert package.name == name


def test_pypi_names_are_alike_in_any_spelling() -> None:
    """`Mcp_Server.Time` and `mcp-server-time` are one package on PyPI, and two on npm."""
    one, other = (Package(registry="pypi", name=name) for name in ("Mcp_Server.Time", "mcp-server-time"))
    assert one.key == other.key
    assert Package(registry="npm", name="a_b").key != Package(registry="npm", name="a-b").key


def test_a_package_is_written_as_its_registry_does() -> None:
    """`str` gives the spelling that the registry's own tools take."""
    assert [str(Package(registry=r, name="a", version="1")) for r in ("npm", "pypi", "docker")] == [
        "a@1",
        "a==1",
        "a:1",
    ]
    assert str(Package(registry="npm", name="a")) == "a"


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_any_command_line_is_read_without_an_error(words: list[str]) -> None:
    """Whatever the words are, also behind launchers and in a shell, there is an answer."""
    for start in ([], ["npx"], ["uvx", "--from"], ["docker", "run"], ["sh", "-c"], ["deno", "run"]):
        command, *args = [*start, *words]
        package_of(command, args)


def test_the_real_taps_launchers_are_read(realworld: Path) -> None:
    """Every server of the real tap that npx, uvx or bunx starts, bare or in a shell, names its package."""
    kinds: Counter[str] = Counter()
    for path in sorted((realworld / "octomind-tap").rglob("capabilities/*/*.toml")):
        if path.name == "default.toml":  # a link to a sibling
            continue
        for server in tomllib.loads(path.read_text(encoding="utf-8")).get("mcp", {}).get("servers", []):
            if "command" not in server:
                continue
            package = package_of(server["command"], server.get("args", []))
            kinds["package" if package else server["command"]] += 1
    assert kinds["package"] > 0
    assert not kinds.keys() & {"npx", "uvx", "bunx", "sh"}


@pytest.mark.parametrize(
    "line,is_fixed",
    [
        ("npx a@1.2.3", True),
        ("npx a@1.2.3-beta.1", True),
        ("npx a@^1.2.3", False),
        ("npx a@1", False),
        ("npx a@next", False),
        ("npx a@latest", False),
        ("deno run jsr:@a/b@1.0.0", True),
        ("deno run jsr:@a/b@^1", False),
        ("uvx a==1.0", True),
        ("uvx a==1.*", False),
        ("uvx a>=1", False),
        ("docker run a/b:1.2", True),
        ("docker run a/b:v1-alpine", True),
        ("docker run a/b:stable", False),
        ("docker run a/b@sha256:0f", True),
        ("uvx --from git+https://example.org/x y", False),
        ("uvx --from git+https://example.org/x@main y", False),
        ("uvx --from git+https://example.org/x@v1.2 y", True),
        ("uvx --from git+ssh://git@example.org/x.git@0123abc#subdirectory=z y", True),
        ("npx git+https://example.org/x", False),
        ("npx github:a/b#1.0.0", True),
    ],
)
def test_a_version_is_fixed_or_moves(line: str, is_fixed: bool) -> None:
    """A range, a tag that is a word, and a branch move; a full version, a digest and a revision do not."""
    command, *args = line.split()
    found = fetched_by(command, args)
    assert found is not None
    assert found.is_fixed == is_fixed
