"""Several taps with capabilities of one name: whose an agent has, who is selected by name, and what is added."""

from pathlib import Path

import pytest

from octoc.bundle.model import AgentEntry, Bundle
from octoc.bundle.reader import OpenBundle
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.workspace.build import BuildOutcome
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

TRIGGERS = ["look this up on the web", "search the internet", "find a page about it"]
PROVIDER = """# Title: Web search
# Description: Searches the web for pages

[roles.mcp]
server_refs = ["{server}"]
allowed_tools = ["{server}:*"]

[[mcp.servers]]
name = "{server}"
type = "stdio"
command = "{server}"
args = []
timeout_seconds = 30
tools = []
"""
AGENT = """# Title: {name}
# Description: Looks things up for people

capabilities = ["{reference}"]

[[roles]]
system = "{system}"
welcome = "Hello {{{{{{{{NAME}}}}}}}}"
temperature = 0.2
top_p = 0.9
top_k = 0
"""


class Taps:
    """A workspace with taps, in the order in which they are added."""

    def __init__(self, root: Path) -> None:
        self.root, self.taps = root, list[tuple[str, str]]()

    def tap(self, name: str) -> "Taps":
        self.taps.append((name, f"taps/{len(self.taps)}"))
        return self

    def file(self, tap: str, path: str, text: str) -> "Taps":
        file = self.root / dict(self.taps)[tap] / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return self

    def capability(self, tap: str, name: str, server: str, triggers: list[str] = TRIGGERS) -> "Taps":
        self.file(tap, f"capabilities/{name}/config.toml", f"triggers = {triggers!r}\n")
        return self.file(tap, f"capabilities/{name}/default.toml", PROVIDER.format(server=server))

    def agent(self, tap: str, reference: str, name: str = "helper", system: str = "Help.") -> "Taps":
        text = AGENT.format(name=f"{name} agent", reference=reference, system=system)
        return self.file(tap, f"agents/office/{name}.toml", text)

    def write(self) -> Path:
        lines = [f'[[taps]]\nname = "{name}"\npath = "{path}"\n' for name, path in self.taps]
        self.root.mkdir(exist_ok=True)
        (self.root / "octoc.toml").write_text('[workspace]\nname = "acme"\n' + "".join(lines), encoding="utf-8")
        return self.root

    def build(self) -> tuple[BuildOutcome, Bundle]:
        from octoc.compiler.workspace.build import build

        outcome = build(self.write(), plugins=plugins_of(), allow_degraded=True)
        assert outcome.bundle is not None
        with OpenBundle.open(outcome.bundle) as opened:
            return outcome, opened.bundle


@pytest.fixture
def taps(tmp_path: Path) -> Taps:
    """Two taps, both with the capability `websearch`."""
    made = Taps(tmp_path / "ws").tap("ours/first").tap("muvon/tap")
    return made.capability("ours/first", "websearch", "brave").capability("muvon/tap", "websearch", "tavily")


def _agent(bundle: Bundle, name: str = "office:helper") -> AgentEntry:
    return next(agent for agent in bundle.agents if agent.name == name)


def _servers(bundle: Bundle, agent: str = "office:helper") -> list[str]:
    """Return the servers of the capabilities that an agent boots with."""
    boot = _agent(bundle, agent).registry.boot
    return [grant.server for entry in bundle.capabilities if entry.name in boot for grant in entry.grants]


@pytest.mark.parametrize(
    "tap,reference,server",
    [
        ("ours/first", "websearch", "brave"),
        ("muvon/tap", "websearch", "tavily"),
        ("muvon/tap", "ours/websearch", "brave"),
        ("muvon/tap", "ours/first/websearch", "brave"),
        ("ours/first", "muvon/websearch", "tavily"),
        ("ours/first", "octomind/websearch", "tavily"),
    ],
)
def test_an_agent_has_the_capability_of_its_own_tap_or_of_the_one_it_selects(
    taps: Taps, tap: str, reference: str, server: str
) -> None:
    """A bare name means the agent's own tap first; `<org>/` and `<tap>/` select a tap, `octomind/` the baseline."""
    outcome, bundle = taps.agent(tap, reference).build()
    assert [found.message for found in outcome.diagnostics if found.severity.name == "ERROR"] == []
    assert _servers(bundle) == [server]


def test_another_taps_capability_is_for_the_agents_that_prefer_it(taps: Taps) -> None:
    """All agents have the first tap's capability; the other tap's is neither routable nor seen through the proxy."""
    _, bundle = taps.agent("muvon/tap", "websearch").build()
    supervisor = _agent(bundle, "supervisor").registry
    assert supervisor.capabilities == ("websearch",)
    assert [grant.server for grant in supervisor.unlisted] == ["brave"]
    helper = _agent(bundle).registry
    assert (helper.boot, helper.capabilities) == (("muvon/tap/websearch",), ())
    (entry,) = [entry for entry in bundle.capabilities if entry.name == "muvon/tap/websearch"]
    assert entry.triggers == ()


def test_a_capability_that_no_agent_prefers_is_shadowed(taps: Taps) -> None:
    """An earlier tap hides a capability from all agents, unless an agent of its own tap has it."""
    codes = [found.rule.code for found in check_workspace(taps.write()).diagnostics]
    assert "OCT305" in codes
    taps.agent("muvon/tap", "websearch")
    assert "OCT305" not in [found.rule.code for found in check_workspace(taps.write()).diagnostics]


@pytest.mark.parametrize(
    "reference,said",
    [
        ("other/websearch", "asks for a capability of tap `other`, which octoc.toml does not name"),
        ("muvon/notes", "asks for capability `notes` of tap `muvon/tap`, which has none of this name"),
        ("websarch", "asks for capability `websarch`, which no tap has"),
    ],
)
def test_a_reference_without_a_capability_is_an_error(taps: Taps, reference: str, said: str) -> None:
    """The message tells an unknown tap, a tap without the capability and an unknown name apart."""
    root = taps.agent("ours/first", reference).write()
    found = [one.message for one in check_workspace(root).diagnostics if one.rule.code == "OCT304"]
    assert found == [f"agent `office:helper` {said}"]


def test_a_config_alone_adds_its_triggers(tmp_path: Path) -> None:
    """A `config.toml` without a provider adds triggers, once each, to the capability that another tap has."""
    taps = Taps(tmp_path / "ws").tap("mine").tap("muvon/tap").capability("muvon/tap", "websearch", "tavily")
    added = ["dig something up online", TRIGGERS[0]]
    taps.file("mine", "capabilities/websearch/config.toml", f"triggers = {added!r}\n")
    outcome, bundle = taps.build()
    (entry,) = bundle.capabilities
    assert entry.triggers == (*TRIGGERS, added[0])
    assert {found.rule.code for found in outcome.diagnostics} & {"OCT127", "OCT303", "OCT305", "OCT325"} == set()


def test_a_config_alone_opens_nothing(tmp_path: Path) -> None:
    """Added `domains` do not count, nor triggers for a capability that has no `config.toml`; both are reported."""
    taps = Taps(tmp_path / "ws").tap("mine").tap("muvon/tap").capability("muvon/tap", "websearch", "tavily")
    taps.file("mine", "capabilities/websearch/config.toml", 'triggers = ["x y z"]\ndomains = ["office"]\n')
    taps.file("mine", "capabilities/core/config.toml", 'triggers = ["do it all"]\n')
    taps.file("muvon/tap", "capabilities/core/default.toml", PROVIDER.format(server="core-tools"))
    outcome, bundle = taps.build()
    entries = {entry.name: entry for entry in bundle.capabilities}
    assert entries["websearch"].domains == ()
    assert entries["core"].triggers == ()
    assert sum(found.rule.code == "OCT325" for found in outcome.diagnostics) == 2


def test_a_config_without_a_capability_anywhere_is_an_error(tmp_path: Path) -> None:
    """Triggers for a capability that no tap provides are reported, and the capability is left out."""
    taps = Taps(tmp_path / "ws").tap("mine").file("mine", "capabilities/gone/config.toml", 'triggers = ["a b c"]\n')
    found = [one.rule.code for one in check_workspace(taps.write()).diagnostics if one.severity.name == "ERROR"]
    assert found == ["OCT303"]


def test_escapes_in_prompts_are_what_they_stand_for(taps: Taps) -> None:
    """`{{{{X}}}}` of a manifest's prompts becomes `{{X}}`, and placeholders stay."""
    taps.agent("muvon/tap", "websearch", system="In {{CWD}} write {{{{ENV:TOKEN}}}} and {{{{DATE}}}}.")
    outcome, bundle = taps.build()
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert opened.text(_agent(bundle).prompt) == "In {{CWD}} write {{ENV:TOKEN}} and {{DATE}}."
        assert opened.text(_agent(bundle).welcome) == "Hello {{NAME}}"


def test_escapes_of_other_systems_are_text(tmp_path: Path) -> None:
    """In AGENT.md the same signs are text."""
    outcome = (
        WorkspaceBuilder(tmp_path)
        .file("agents/a.md", "---\nname: a\ndescription: Helps people\n---\nWrite {{{{X}}}}.\n")
        .build(plugins_of())
    )
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert opened.text(_agent(opened.bundle, "a").prompt).strip() == "Write {{{{X}}}}."


@pytest.mark.parametrize("name,is_sound", [("muvon/tap", True), ("a/b/c", False), ("/tap", False), ("tap/", False)])
def test_a_tap_may_be_called_as_octomind_calls_it(tmp_path: Path, name: str, is_sound: bool) -> None:
    """A tap's name is one name, or an owner and a name."""
    taps = Taps(tmp_path / "ws").tap(name).capability(name, "websearch", "brave")
    errors = [one.rule.code for one in check_workspace(taps.write()).diagnostics if one.severity.name == "ERROR"]
    assert (errors == []) is is_sound
