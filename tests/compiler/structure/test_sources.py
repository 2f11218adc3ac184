"""Files become sources: names from paths, places inside strings, and what absence means."""

from typing import Any

import pytest

from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.model.documents import DefaultLink, SkillFolder
from octoc.diagnostics.model import Place

MANIFEST = """# agents/developer/general.toml
# Agent: developer:general
# Title: Developer
# Description: Writes code.

capabilities = ["core", "git"]
model = "m"

[[roles]]
system = "You write code."
welcome = "Hi."
temperature = 0
top_p = 0.5
top_k = 3

[roles.mcp]
server_refs = ["docs"]
allowed_tools = []

[deps]
require = ["astral/uv"]

[[mcp.servers]]
name = "docs"
type = "http"
url = "https://docs.example/mcp"
timeout_seconds = 30
tools = []
"""


def values(located: Any) -> list[str]:
    """Return the values of located ones."""
    return [item.value for item in located]


def agent(
    build_sources: Any, text_file: Any, front: str, display: str = "agents/reviewer/AGENT.md", **more: str
) -> Any:
    """Return what is built of one agent in Markdown."""
    text = f"---\n{front}\n---\n\nYou review.\n"
    return build_sources(text_file(display=display, kind=AGENT_MD, text=text, **{"dialect": "octo", **more}))


def test_an_octomind_agent(build_sources: Any, text_file: Any) -> None:
    """A manifest's name is its domain and spec, its texts come from headers and the first role."""
    file = text_file(
        display="taps/a/agents/developer/general.toml",
        kind=AGENT_MANIFEST,
        text=MANIFEST,
        key={"domain": "developer", "spec": "general"},
        tap="a",
    )
    built = build_sources(file)
    (found,) = built.sources.agents
    assert (found.name, found.kind, found.domain, found.tap) == ("developer:general", "octomind", "developer", "a")
    assert (found.title, found.description, found.model) == ("Developer", "Writes code.", "m")
    assert (found.prompt, found.welcome) == ("You write code.", "Hi.")
    assert found.sampling == {"temperature": 0.0, "top_p": 0.5, "top_k": 3.0}
    assert (values(found.capabilities), values(found.server_refs), values(found.deps)) == (
        ["core", "git"],
        ["docs"],
        ["astral/uv"],
    )
    assert found.allowed_tools == ()
    assert found.tools is None
    assert [server.name for server in found.inline_servers] == ["docs"]
    assert found.folder == "taps/a/agents/developer"
    assert built.text_at(found.capabilities[1].place) == '"git"'
    assert built.codes == []


def test_sampling_in_its_newer_place(build_sources: Any, text_file: Any) -> None:
    """Sampling under `[roles.model]` counts as that of the role."""
    text = "[[roles]]\nsystem = 's'\n[roles.model]\ntemperature = 0.2\n"
    key = {"domain": "d", "spec": "s"}
    file = text_file(display="agents/d/s.toml", kind=AGENT_MANIFEST, text=text, key=key)
    assert build_sources(file).sources.agents[0].sampling == {"temperature": 0.2}


TOOLS: list[tuple[str, list[str] | None]] = [
    ("", None),
    ("tools: []", []),
    ("tools: ''", []),
    ("tools: [Read, git_log]", ["Read", "git_log"]),
    ("tools: Read, git_log", ["Read", "git_log"]),
    ("tools: Read,, Bash(git log, git diff:*) ,Grep", ["Read", "Bash(git log, git diff:*)", "Grep"]),
    ("tools: mcp__docs__*", ["mcp__docs__*"]),
    ("tools: [3, Read]", ["Read"]),
]


@pytest.mark.parametrize("front,expected", TOOLS)
def test_absent_and_empty_tools_differ(
    front: str, expected: list[str] | None, build_sources: Any, text_file: Any
) -> None:
    """Absent `tools` is None and empty ones are (); a list and a string with commas say the same."""
    built = agent(build_sources, text_file, f"name: reviewer\ndescription: d\n{front}")
    tools = built.sources.agents[0].tools
    assert (None if tools is None else values(tools)) == expected
    assert all(built.text_at(tool.place) == tool.value for tool in tools or ())


def test_an_agent_in_markdown(build_sources: Any, text_file: Any) -> None:
    """Front matter gives the fields, the text after it the prompt; each AGENT.md is named inside its agents folder."""
    front = "name: reviewer\ndescription: Reviews.\ntype: deep_research\nmodel: high\ndisallowedTools: Bash"
    (found,) = agent(build_sources, text_file, front).sources.agents
    assert (found.name, found.kind, found.type, found.model) == ("reviewer", "octo", "deep_research", "high")
    assert (found.prompt, found.folder, found.tap) == ("You review.", "agents", None)
    assert values(found.disallowed_tools) == ["Bash"]


@pytest.mark.parametrize(
    "display,name,folder",
    [("agents/reviewer/AGENT.md", "reviewer", "agents"), ("agents/helper.md", "helper", "agents")],
)
def test_a_path_names_an_agent_without_a_name(
    display: str, name: str, folder: str, build_sources: Any, text_file: Any
) -> None:
    """An Octo agent without `name` is called after its folder or its file, and that is reported."""
    built = agent(build_sources, text_file, "description: d", display)
    assert [(found.name, found.folder) for found in built.sources.agents] == [(name, folder)]
    assert built.codes == ["OCT241"]


def test_a_claude_subagent_s_servers(build_sources: Any, text_file: Any) -> None:
    """`mcpServers` of a subagent are references and definitions, each with its place."""
    front = "name: a\ndescription: d\nmcpServers:\n  - github\n  - docs:\n      type: http\n      url: https://x"
    built = agent(build_sources, text_file, front, ".claude/agents/a.md", dialect="claude")
    (found,) = built.sources.agents
    assert found.kind == "claude"
    assert values(found.server_refs) == ["github"]
    (server,) = found.inline_servers
    assert (server.name, server.transport, server.url) == ("docs", "http", "https://x")
    assert server.place.path == ("mcpServers", 1, "docs")


def test_capabilities_are_put_together_by_folder(build_sources: Any, text_file: Any) -> None:
    """A capability's config, providers and default come from the files of its folder in one tap."""
    config = text_file(
        display="t/capabilities/clock/config.toml",
        kind=CAPABILITY_CONFIG,
        text="triggers = [' what time is it ', 3]\ndomains = ['developer']\n",
        key={"capability": "clock"},
        tap="t",
    )
    provider = text_file(
        display="t/capabilities/clock/local.toml",
        kind=CAPABILITY_PROVIDER,
        text="# Title: Clock\n# Description: d\n[roles.mcp]\nserver_refs = ['time']\nallowed_tools = []\n",
        key={"capability": "clock", "provider": "local"},
        tap="t",
    )
    link = DefaultLink(tap="t", capability="clock", provider="local", place=Place(file="t/x"))
    built = build_sources(config, provider, default_links=(link,))
    (found,) = built.sources.capabilities
    assert (found.name, found.tap, found.default) == ("clock", "t", link)
    assert found.config is not None
    assert values(found.config.triggers) == ["what time is it"]
    assert values(found.config.domains) == ["developer"]
    assert found.providers["local"].title == "Clock"
    assert values(found.providers["local"].server_refs) == ["time"]
    assert found.providers["local"].allowed_tools == ()
    assert built.codes == ["OCT203"]


def test_a_provider_without_patterns_has_none(build_sources: Any, text_file: Any) -> None:
    """A provider that names neither servers nor patterns keeps both absent."""
    file = text_file(
        display="t/capabilities/clock/default.toml",
        kind=CAPABILITY_PROVIDER,
        text="[deps]\nrequire = ['a/b']\n",
        key={"capability": "clock", "provider": "default"},
        tap="t",
    )
    (found,) = build_sources(file).sources.capabilities
    provider = found.providers["default"]
    assert (provider.server_refs, provider.allowed_tools, values(provider.deps)) == (None, None, ["a/b"])
    assert found.default is not None
    assert found.default.provider == "default"


def test_a_capability_of_unsound_files_is_still_known(build_sources: Any, text_file: Any) -> None:
    """A capability whose only provider is unsound is there without providers, and taps do not mix."""
    bad, good = (
        text_file(
            display=f"{tap}/capabilities/clock/local.toml",
            kind=CAPABILITY_PROVIDER,
            text=text,
            key={"capability": "clock", "provider": "local"},
            tap=tap,
        )
        for tap, text in (("a", "deps = 3"), ("b", "[deps]"))
    )
    found = build_sources(bad, good).sources.capabilities
    assert [(capability.tap, list(capability.providers)) for capability in found] == [("a", []), ("b", ["local"])]


SKILL_LISTS: list[tuple[str, list[str]]] = [
    ("capabilities: git fetch", ["git", "fetch"]),
    ("capabilities: git, fetch", ["git", "fetch"]),
    ("capabilities: '[git, fetch]'", ["git", "fetch"]),
    ("capabilities: [git, fetch]", ["git", "fetch"]),
    ("capabilities:\n  - git\n  - fetch", ["git", "fetch"]),
    ("capabilities: ''", []),
    ("", []),
]


@pytest.mark.parametrize("front,expected", SKILL_LISTS)
def test_a_skill_s_lists_have_many_forms(front: str, expected: list[str], build_sources: Any, text_file: Any) -> None:
    """Words, words in brackets and YAML lists say the same, and each word has its place."""
    text = f"---\nname: s\ndescription: d\n{front}\n---\nBody\n"
    file = text_file(display="t/skills/s/SKILL.md", kind=SKILL, text=text, key={"skill": "s"}, tap="t")
    built = build_sources(file)
    (found,) = built.sources.skills
    assert values(found.capabilities) == expected
    assert [built.text_at(item.place) for item in found.capabilities] == expected


def test_a_skill(build_sources: Any, text_file: Any) -> None:
    """A skill has its texts, its rules one a line, and the folder that lies beside it."""
    front = "name: s\ntitle: T\ndescription: d\ndomains: developer\nrules:\n  - content(a b)\n  - match(x, y)"
    text = f"---\n{front}\nallowed-tools: Read Bash(git log:*)\n---\n\nBody\n"
    folder = SkillFolder(tap="t", skill="s", resources=("scripts/a.sh",), folder="t/skills/s")
    file = text_file(display="t/skills/s/SKILL.md", kind=SKILL, text=text, key={"skill": "s"}, tap="t")
    (found,) = build_sources(file, skill_folders=(folder,)).sources.skills
    assert (found.name, found.title, found.description, found.body, found.tap) == ("s", "T", "d", "Body", "t")
    assert values(found.domains) == ["developer"]
    assert values(found.rules) == ["content(a b)", "match(x, y)"]
    assert values(found.allowed_tools) == ["Read", "Bash(git log:*)"]
    assert found.folder == folder


def test_an_mcp_file(build_sources: Any, text_file: Any) -> None:
    """A file's servers come in its order without unsound ones, from either list."""
    text = '{"servers": {"b": {"command": "x"}, "bad": {}, "a": {"type": "http", "url": "u"}}}'
    file = text_file(display=".vscode/mcp.json", kind=MCP, text=text, dialect="vscode")
    built = build_sources(file)
    (found,) = built.sources.mcp_files
    assert (found.dialect.name, [server.name for server in found.servers]) == ("vscode", ["b", "a"])
    assert built.text_at(found.servers[0].place) == '{"command": "x"}'


def test_a_file_without_a_list_has_no_servers(build_sources: Any, text_file: Any) -> None:
    """A file with neither list gives no server."""
    file = text_file(display=".mcp.json", kind=MCP, text="{}", dialect="claude")
    assert build_sources(file).sources.mcp_files[0].servers == ()


def test_a_snapshot(build_sources: Any, text_file: Any) -> None:
    """A snapshot's tools keep their wire form and order; one without a name costs only itself."""
    text = """{"server": "time", "definition": "0f", "package": null, "serverInfo": {"name": "t"},
    "protocolVersion": "2026-07-28", "instructions": "i",
    "tools": [{"name": "b", "description": "B", "x": 1}, {"description": "no name"}, {"name": "a"}]}"""
    file = text_file(display="snapshots/time.json", kind=SNAPSHOT, text=text, key={"server": "time"})
    built = build_sources(file)
    (found,) = built.sources.snapshots
    assert (found.server, found.definition, found.package, found.digest) == ("time", "0f", None, "0" * 64)
    listing = found.listing
    assert (listing.server_info, listing.protocol_version, listing.instructions) == ({"name": "t"}, "2026-07-28", "i")
    assert [(tool.name, tool.description) for tool in listing.tools] == [("b", "B"), ("a", "")]
    assert listing.tools[0].wire == {"name": "b", "description": "B", "x": 1}
    assert built.codes == ["OCT202"]
