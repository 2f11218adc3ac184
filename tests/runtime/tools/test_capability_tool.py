"""The tool `capability`: every text of Octomind's table, from real sessions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from octoc.plugin.manager import plugins_of
from octoc.results import ToolResult
from octoc.runtime import Runtime, Session

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

LAST = 'Use capability(action="enable", name="<name>") to activate.'


def _says(session: Session, **arguments: Any) -> tuple[str, bool]:
    """Return the tool's text and whether it is an error."""
    outcome = asyncio.run(session.call("capability", arguments))
    assert isinstance(outcome, ToolResult)
    return outcome.text, outcome.is_error


@pytest.fixture
def runtime(fleet: Fleet) -> Runtime:
    """Two servers, and capabilities of every kind."""
    fleet.server("git", ["log", "diff"])
    fleet.server("web", ["fetch"])
    git = fleet.grant("git", "log")
    fleet.capability("git", git, triggers=["show the commits", "what changed", "who wrote this", "blame the line"])
    fleet.capability("web", fleet.grant("web"), triggers=["fetch the page", "open the site"])
    fleet.capability("both", fleet.grant("git", "diff"), fleet.grant("web"))
    fleet.capability("keyed", fleet.grant("web"), triggers=["search the web"], requires_env=("KEY_A", "KEY_B"))
    fleet.capability("hollow")
    fleet.capability("docker", deps=("org/docker", "org/compose"))
    fleet.capability("empty", fleet.grant("git", "nothing*"))
    fleet.capability("films", fleet.grant("web"), domains=("video", "media"))
    fleet.agent(capabilities=("both", "docker", "empty", "git", "hollow", "keyed", "web"), domain="developer")
    fleet.agent("bare", capabilities=())
    return fleet.open()


@pytest.fixture
def session(runtime: Runtime) -> Session:
    """A session of the supervisor."""
    return runtime.session()


def test_a_missing_name_is_named(session: Session) -> None:
    """Enable and disable need a name."""
    assert _says(session, action="enable") == ("Missing required parameter 'name'", True)


def test_list_marks_active_and_missing_env(session: Session) -> None:
    """The list has each capability of the registry by name, its state, and a preview of three triggers."""
    _says(session, action="enable", name="web")
    assert _says(session, action="list") == (
        "Installed capabilities (7):\n"
        "- both\n"
        "- docker\n"
        "- empty\n"
        '- git — "show the commits", "what changed", "who wrote this", …\n'
        "- hollow\n"
        '- [missing env] keyed — "search the web" (missing env: KEY_A, KEY_B)\n'
        '- [active] web — "fetch the page", "open the site"\n' + LAST,
        False,
    )


def test_a_session_without_capabilities_has_no_such_tool(runtime: Runtime) -> None:
    """An agent without capabilities is not shown the tool, and a call of it finds nothing."""
    session = runtime.session("bare")
    assert session.tools() == []
    outcome = asyncio.run(session.call("capability", {"action": "list"}))
    assert getattr(outcome, "kind", None) == "not_found"


def test_enable_filtered_lists_the_tools(session: Session) -> None:
    """Enabling a filtered capability names its servers and the aliases of its tools."""
    assert _says(session, action="enable", name="git") == (
        "Capability 'git' enabled. Activated 1 server(s): git\nTools available: git__log",
        False,
    )


def test_enable_several_servers(session: Session) -> None:
    """Several servers are named in the capability's own order."""
    assert _says(session, action="enable", name="both")[0] == (
        "Capability 'both' enabled. Activated 2 server(s): git, web\nTools available: git__diff, web__fetch"
    )


def test_enable_with_a_filter_that_leaves_nothing(session: Session) -> None:
    """A filter that matches no tool is named as the reason for no tools."""
    assert _says(session, action="enable", name="empty")[0] == (
        "Capability 'empty' enabled. Activated 1 server(s): git\n"
        "Tools available: none — the configured allowed_tools filter excluded every tool the server reported"
    )


def test_enable_again(session: Session) -> None:
    """Enabling an active capability succeeds without a change."""
    _says(session, action="enable", name="git")
    assert _says(session, action="enable", name="git") == ("Capability 'git' is already active.", False)


def test_enable_unknown(session: Session) -> None:
    """An unknown name is answered with a near one of this agent's, or with the plain fact."""
    assert _says(session, action="enable", name="gitt") == (
        "Capability 'gitt' not found: did you mean `git`?",
        True,
    )
    assert _says(session, action="enable", name="zzzzz") == (
        "Capability 'zzzzz' not found: this agent has no capability of that name",
        True,
    )


def test_enable_without_its_env(session: Session) -> None:
    """Variables that are not set are named, all of them."""
    assert _says(session, action="enable", name="keyed") == (
        "Capability 'keyed' requires env vars: KEY_A, KEY_B — set them before activating.",
        True,
    )


def test_an_empty_variable_counts_as_unset(fleet: Fleet) -> None:
    """A variable that is set to nothing does not meet a need."""
    fleet.env = {"KEY": ""}
    fleet.server("web", ["fetch"])
    fleet.capability("keyed", fleet.grant("web"), requires_env=("KEY",))
    fleet.agent()
    text, is_error = _says(fleet.open().session(), action="enable", name="keyed")
    assert (text, is_error) == ("Capability 'keyed' requires env vars: KEY — set them before activating.", True)


def test_enable_of_another_domain(session: Session) -> None:
    """A capability of other domains says which, and which role has it."""
    assert _says(session, action="enable", name="films") == (
        (
            "Capability 'films' is bound to domains [\"video\", \"media\"]; current domain is 'developer'. "
            "Run the matching role (e.g. `octomind run video:general`) to access it."
        ),
        True,
    )


def test_enable_deps_only_does_not_claim_to_have_installed_them(session: Session) -> None:
    """A capability of deps alone becomes active, and says what is known of its deps, which were not run."""
    how = "nothing says how to look for it"
    assert _says(session, action="enable", name="docker") == (
        (
            "Capability 'docker' enabled. It has no servers. "
            f"Not known whether installed: org/docker ({how}), org/compose ({how}). "
            "octoc does not install deps: they were not run."
        ),
        False,
    )
    assert session.capabilities == ("docker",)


def test_enable_with_a_server_that_does_not_start(fleet: Fleet) -> None:
    """When a server cannot be connected the answer has the reason, and nothing is active."""
    fleet.server("web", ["fetch"]).broken = "the command exited with status 3"
    fleet.capability("web", fleet.grant("web"))
    fleet.agent()
    session = fleet.open().session()
    assert _says(session, action="enable", name="web") == (
        "Capability 'web' could not be activated: server 'web': the command exited with status 3",
        True,
    )
    assert session.capabilities == ()


def test_disable_inactive(session: Session) -> None:
    """Disabling an inactive capability succeeds without a change."""
    assert _says(session, action="disable", name="git") == ("Capability 'git' is not active.", False)


def test_disable_shuts_down_what_nobody_needs(session: Session) -> None:
    """Disabling the last user of a server closes it, and names it."""
    _says(session, action="enable", name="git")
    assert _says(session, action="disable", name="git") == (
        "Capability 'git' disabled. Fully shut down 1 server(s): git",
        False,
    )


def test_disable_leaves_a_shared_server(session: Session) -> None:
    """A server that another active capability uses stays."""
    _says(session, action="enable", name="web")
    _says(session, action="enable", name="both")
    assert _says(session, action="disable", name="web")[0] == (
        "Capability 'web' disabled. Fully shut down 0 server(s): "
        "(none — all servers still in use by other active capabilities)"
    )


def test_what_others_use_is_not_told(fleet: Fleet) -> None:
    """Disabling a capability says the same whether or not another session keeps its server open."""
    fleet.server("git", ["log"])
    fleet.capability("git", fleet.grant("git"))
    fleet.agent(capabilities=("git",))
    runtime = fleet.open()
    one, other = runtime.session(), runtime.session()
    _says(other, action="enable", name="git")
    _says(one, action="enable", name="git")
    assert _says(one, action="disable", name="git")[0] == "Capability 'git' disabled. Fully shut down 1 server(s): git"


def test_a_boot_capability_cannot_be_disabled(fleet: Fleet) -> None:
    """What an agent has from the start is shown as active and stays."""
    fleet.server("git", ["log"])
    fleet.capability("git", fleet.grant("git"))
    fleet.agent(boot=("git",), capabilities=())
    session = fleet.open().session()
    assert _says(session, action="list")[0] == f"Installed capabilities (1):\n- [active] git\n{LAST}"
    assert _says(session, action="enable", name="git") == ("Capability 'git' is already active.", False)
    assert _says(session, action="disable", name="git") == (
        "Capability 'git' is granted from the start and cannot be disabled.",
        True,
    )


def test_discover_ranks_by_score(session: Session) -> None:
    """Discover shows what scores over 0.2, the best first, active ones included."""
    _says(session, action="enable", name="web")
    assert _says(session, action="discover", intent="fetch the page") == (
        "Capabilities matching 'fetch the page':\n"
        '- [active] web (score 0.67) — "fetch the page", "open the site"\n'
        '- keyed (score 0.33) — "search the web"\n'
        '- git (score 0.22) — "show the commits", "what changed", "who wrote this", …\n' + LAST,
        False,
    )


def test_discover_without_a_hit(session: Session) -> None:
    """An intent that is near nothing points to the list."""
    assert _says(session, action="discover", intent="bake bread") == (
        "No capabilities matched intent 'bake bread'. Try `capability list` to see all installed capabilities.",
        False,
    )


def test_discover_without_an_intent(session: Session) -> None:
    """Discover needs an intent."""
    assert _says(session, action="discover") == ("Missing required parameter 'intent'", True)


def test_discover_without_an_encoder(fleet: Fleet) -> None:
    """Without the encoder discover says what it lacks."""
    fleet.server("git", ["log"])
    fleet.capability("git", fleet.grant("git"), triggers=["show the commits"])
    fleet.agent()
    runtime = Runtime.open(fleet.write(), plugins=plugins_of())
    assert _says(runtime.session(), action="discover", intent="show the commits") == (
        (
            "Capability discover requires the embedding model. "
            "Init failed: no installed plugin makes the encoder `words`. "
            "If the model is still downloading, retry in a moment."
        ),
        True,
    )


def test_disable_deps_only_has_no_server_to_keep(session: Session) -> None:
    """A capability without servers is not said to leave any of them in use."""
    _says(session, action="enable", name="docker")
    assert _says(session, action="disable", name="docker") == (
        "Capability 'docker' disabled. It has no servers.",
        False,
    )


def test_disable_what_the_agent_booted_with_keeps_the_server(fleet: Fleet) -> None:
    """A server that stays for what the agent has from the start is not said to stay for an active capability."""
    fleet.server("git", ["log", "push"])
    fleet.capability("read", fleet.grant("git", "log"))
    fleet.capability("write", fleet.grant("git", "push"))
    fleet.agent(capabilities=("write",), boot=("read",))
    session = fleet.open().session()
    _says(session, action="enable", name="write")
    assert _says(session, action="disable", name="write")[0] == (
        "Capability 'write' disabled. Fully shut down 0 server(s): (none — this session still uses them)"
    )


def test_enable_without_a_usable_server(fleet: Fleet) -> None:
    """A capability whose servers were left out of the bundle is not said to have none."""
    fleet.capability("broken", servers_left_out=True)
    fleet.agent(capabilities=("broken",))
    assert _says(fleet.open().session(), action="enable", name="broken") == (
        "Capability 'broken' has no server that can be used and no [deps] — nothing to activate.",
        True,
    )
