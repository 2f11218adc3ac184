"""`[servers.NAME]` of octoc.toml reaches the bundle, and what it names has to be there."""

import asyncio
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.model import Bundle, ResultSettings, ServerEntry, ToolPolicy
from octoc.bundle.pin_limits import PinLimits
from octoc.bundle.reader import OpenBundle
from octoc.choices import PinMode
from octoc.compiler.workspace.build import BuildOutcome
from octoc.plugin import PythonTool
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

STRICT = PinLimits(breaking="refuse", widening="refuse", wording="refuse")


def _built(builder: WorkspaceBuilder) -> tuple[Bundle, BuildOutcome]:
    outcome = builder.settings("plugins", use=[]).build(plugins_of())
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle, "full") as opened:
        return opened.bundle, outcome


def _docs(root: Path, **settings: Any) -> WorkspaceBuilder:
    builder = WorkspaceBuilder(root, **settings)
    builder.server("docs", "docs-mcp", timeout=5000).snapshot("docs", ["get_page", "get_index", "search"])
    return builder


def _told(outcome: BuildOutcome) -> list[tuple[str, str, str, str | None]]:
    return [
        (found.severity.name.lower(), found.rule.code, found.message, found.help)
        for found in outcome.diagnostics
        if found.rule.code in {"OCT246", "OCT301", "OCT321", "OCT790"}
    ]


def test_every_setting_of_a_server_is_in_the_bundle(tmp_path: Path) -> None:
    """What is set for a server and its tools stands in its entry; its time limit wins over the server's own file."""
    server = {
        "timeout": 60,
        "max_connections": 4,
        "max_concurrent": 2,
        "idle_close": 0,
        "max_body_bytes": 1000,
        "max_elements": 500,
        "inherit_env": ["GH_HOST"],
        "retry": "never",
        "trusted": True,
        "elicitation": False,
        "sampling": True,
        "roots": False,
        "tools": {
            "*": {"keep": "tail"},
            "get_*": {"timeout": 1.5, "retry": "always", "arguments": "off", "max_chars": 9, "keep": "both"},
            "get_page": {"timeout": 2},
        },
    }
    bundle, outcome = _built(_docs(tmp_path, servers={"docs": server}))
    assert _told(outcome) == []
    (entry,) = bundle.servers
    assert entry == attrs.evolve(
        entry,
        timeout_s=60.0,
        max_connections=4,
        max_concurrent=2,
        idle_close_s=0.0,
        max_body_bytes=1000,
        max_elements=500,
        inherit_env=("GH_HOST",),
        retry="never",
        trusted=True,
        elicitation=False,
        sampling=True,
        roots=False,
        tools=(
            ToolPolicy(glob="get_page", timeout_s=2.0),
            ToolPolicy(glob="get_*", timeout_s=1.5, retry="always", arguments="off", max_chars=9, keep="both"),
            ToolPolicy(glob="*", keep="tail"),
        ),
    )


def test_without_settings_there_are_the_defaults(tmp_path: Path) -> None:
    """A server that octoc.toml does not name has the format's defaults, and the time limit of its file."""
    bundle, _ = _built(_docs(tmp_path))
    (entry,) = bundle.servers
    assert entry.timeout_s == 5.0
    untouched = (
        "max_connections",
        "max_concurrent",
        "idle_close_s",
        "max_body_bytes",
        "retry",
        "trusted",
        "tools",
        "elicitation",
        "sampling",
        "roots",
    )
    plain = ServerEntry(name="docs", transport="stdio")
    assert all(getattr(entry, field) == getattr(plain, field) for field in untouched)
    assert (bundle.settings.results, bundle.settings.deps) == (ResultSettings(), "check")


def test_the_sections_of_the_runtime_are_in_the_bundle(tmp_path: Path) -> None:
    """`[runtime]` and `[results]` arrive in the bundle's settings, each under its own name."""
    builder = _docs(
        tmp_path,
        runtime={
            "arguments": "warn",
            "deps": "never",
            "deps_timeout": 9,
            "breaker_failures": 0,
            "breaker_seconds": 2.5,
        },
        results={
            "profile": "octoc",
            "max_chars": 10,
            "max_tokens": 11,
            "keep": "both",
            "max_media_bytes": 12,
            "store_memory_bytes": 13,
            "store_disk_bytes": 14,
            "store_seconds": 15,
        },
    )
    settings = _built(builder)[0].settings
    assert settings.results == ResultSettings(
        profile="octoc",
        max_chars=10,
        max_tokens=11,
        keep="both",
        max_media_bytes=12,
        store_memory_bytes=13,
        store_disk_bytes=14,
        store_s=15.0,
    )
    found = (settings.arguments, settings.deps, settings.deps_timeout_s, settings.breaker_failures, settings.breaker_s)
    assert found == ("warn", "never", 9.0, 0, 2.5)


def test_tuning_is_no_part_of_what_a_server_is(tmp_path: Path) -> None:
    """Another time limit leaves the digest of the definition alone, so no snapshot is stale; the lock shows it."""
    plain, _ = _built(_docs(tmp_path / "plain"))
    tuned, outcome = _built(
        _docs(tmp_path / "tuned", servers={"docs": {"timeout": 60, "tools": {"search": {"timeout": 9}}}})
    )
    assert plain.servers[0].definition == tuned.servers[0].definition
    assert "OCT313" not in {found.rule.code for found in outcome.diagnostics}
    lock = (tmp_path / "tuned/octoc.lock").read_text(encoding="utf-8")
    assert '"servers.docs.timeout" = "60.0"' in lock
    assert '"servers.docs.tools.search.timeout" = "9.0"' in lock


def test_settings_for_a_server_that_is_not_there(tmp_path: Path) -> None:
    """A name that no server has is an error at its key, with the near name; of a disabled server it is information."""
    builder = _docs(tmp_path, servers={"dosc": {"timeout": 1}, "off": {"timeout": 1}})
    builder.server("off", "off-mcp", disabled=True)
    _, outcome = _built(builder)
    assert _told(outcome) == [
        (
            "error",
            "OCT301",
            "`[servers]` sets something for server `dosc`, which is not defined",
            "did you mean `docs`?",
        ),
        ("info", "OCT246", "server `off` is not in the bundle: it is disabled, or no capability in use has it", None),
    ]
    place = next(found.span for found in outcome.diagnostics if found.rule.code == "OCT301")
    text = (tmp_path / "octoc.toml").read_text(encoding="utf-8").splitlines()
    assert place is not None
    assert place.line is not None
    assert "dosc" in text[place.line - 1]


def test_settings_for_a_tool_that_is_not_there(tmp_path: Path) -> None:
    """A glob that matches no recorded tool is a warning; a server without a record has no finding."""
    tools = {"serach": {"timeout": 1}, "put_*": {"timeout": 1}, "get_*": {"timeout": 1}}
    builder = _docs(tmp_path, servers={"docs": {"tools": tools}, "other": {"tools": tools}})
    builder.server("other", "other-mcp")
    assert _told(_built(builder)[1]) == [
        ("warning", "OCT321", "`serach` matches no tool of server `docs`", "did you mean `search`?"),
        ("warning", "OCT321", "`put_*` matches no tool of server `docs`", None),
    ]


def test_octoc_toml_declares_a_builtin_server(tmp_path: Path) -> None:
    """A builtin server of octoc.toml has the settings beside it, and the tools that the host binds to it."""
    bundle, outcome = _built(WorkspaceBuilder(tmp_path, servers={"notes": {"builtin": "notes", "timeout": 5}}))
    assert _told(outcome) == []
    (entry,) = bundle.servers
    assert (entry.name, entry.transport, entry.timeout_s, entry.listed) == ("notes", "builtin", 5.0, False)
    assert outcome.bundle is not None

    async def run() -> None:
        async with Runtime.open(str(outcome.bundle), plugins=plugins_of()) as runtime:
            session = runtime.session()
            assert "notes" not in (await session.call("find_tools", {"query": "read a note"})).text
            tool = PythonTool(name="read_note", description="Read a note", input_schema={}, handler=lambda _: "tea")
            runtime.bind("notes", [tool])
            assert "notes__read_note" in (await session.call("find_tools", {"query": "read a note"})).text
            assert (await session.call("call_mcp_tool", {"tool_name": "notes__read_note"})).text == "tea"

    asyncio.run(run())


def test_a_builtin_server_goes_before_a_definition_of_its_name(tmp_path: Path) -> None:
    """A server of `.mcp.json` with the name of a builtin one gets another name, with a warning."""
    builder = WorkspaceBuilder(tmp_path, servers={"notes": {"builtin": "notes"}})
    bundle, outcome = _built(builder.server("notes", "notes-mcp"))
    assert {entry.name: entry.transport for entry in bundle.servers} == {"notes": "builtin", "notes-mcp": "stdio"}
    assert "OCT310" in {found.rule.code for found in outcome.diagnostics}


def test_a_builtin_server_has_one_name(tmp_path: Path) -> None:
    """`builtin` with another name than the table's is an error that says which of both to change."""
    _, outcome = _built(WorkspaceBuilder(tmp_path, servers={"notes": {"builtin": "note"}}))
    assert _told(outcome) == [
        (
            "error",
            "OCT790",
            "builtin server `notes` is bound by its own name, not as `note`",
            'write `builtin = "notes"`, or call the table `[servers.note]`',
        )
    ]


def test_how_far_a_server_may_differ_from_its_pins_is_in_the_bundle(tmp_path: Path) -> None:
    """A server's own `pins` win over `[pins]`, which win over the mode's default."""
    pins = {"breaking": "warn", "wording": "allow"}
    own = {"docs": {"pins": {"wording": "refuse"}}}
    widenings: tuple[tuple[str, PinMode], ...] = (("development", "warn"), ("production", "refuse"))
    for mode, widening in widenings:
        builder = _docs(tmp_path / mode, pins=pins, servers=own).settings("workspace", mode=mode)
        (server,) = _built(builder)[0].servers
        assert server.pins == PinLimits(breaking="warn", widening=widening, wording="refuse")
    for mode, limits in (("development", PinLimits()), ("production", STRICT)):
        (server,) = _built(_docs(tmp_path / f"default-{mode}").settings("workspace", mode=mode))[0].servers
        assert server.pins == limits


def test_production_connects_a_server_without_a_snapshot_only_by_name(tmp_path: Path) -> None:
    """A server without a snapshot is refused and reported in production; `unpinned` names one that is not."""
    builder = _docs(tmp_path, pins={"unpinned": ["one"]}).settings("workspace", mode="production")
    bundle, outcome = _built(builder.server("one", "one-mcp").server("two", "two-mcp"))
    assert {server.name: server.pins.unpinned for server in bundle.servers} == {
        "docs": "allow", "one": "allow", "two": "refuse",
    }  # fmt: skip
    (found,) = (one for one in outcome.diagnostics if one.rule.code == "OCT793")
    assert found.message == "server `two` has no snapshot, so production mode does not connect it"
