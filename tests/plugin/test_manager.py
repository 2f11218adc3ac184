"""The plugin manager: loads late, by name and sorted, and names the culprit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import PluginError, PythonTool, ServerTarget, hookimpl
from octoc.plugin.manager import load_plugins, plugins_of
from octoc.plugin.pages import WebPage
from octoc.results import Caller, ToolCall, ToolResult

CALL = ToolCall(tool="t", arguments={}, timeout_s=1.0)


class Secrets:
    """Knows one secret."""

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        return "from the vault" if reference == "TOKEN" else None


class Broken:
    """Fails whenever it is asked."""

    @hookimpl
    def octoc_make_transport(self, kind: str) -> Any:
        raise ZeroDivisionError(kind)

    @hookimpl
    def octoc_call_finished(self, server: str) -> None:
        raise ZeroDivisionError(server)


class Misspelt:
    """Has a hook that does not exist."""

    @hookimpl
    def octoc_make_embeder(self, name: str) -> None:
        return None


class Tools:
    """Binds a tool to the server `notes`."""

    @hookimpl
    def octoc_tools(self, server: str) -> list[PythonTool] | None:
        tool = PythonTool(name="add", description="Adds a note.", input_schema={"type": "object"}, handler=str)
        return [tool] if server == "notes" else None


def entry_points(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """Let the installed distributions have these entry points."""
    found = [EntryPoint(name=name, value=value, group="octoc") for name, value in points]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [p for p in found if p.group == group])


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Write an importable module."""
    folder.joinpath(f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_a_plugin_is_asked_before_what_is_built_in() -> None:
    """A plugin's secret wins over the environment's, which answers where no plugin does."""
    plugins = plugins_of(Secrets(), env={"TOKEN": "from the environment", "OTHER": "x", "EMPTY": ""})
    assert plugins.resolve_secret("TOKEN") == "from the vault"
    assert plugins.resolve_secret("OTHER") == "x"
    assert plugins.resolve_secret("EMPTY") is None


def test_tools_come_from_the_plugin_that_binds_the_server() -> None:
    """Only the server that a plugin names gets its tools."""
    plugins = plugins_of(Tools())
    assert [tool.name for tool in plugins.tools(ServerTarget(name="notes", transport="builtin"))] == ["add"]
    assert plugins.tools(ServerTarget(name="other", transport="builtin")) == ()


def test_a_failing_plugin_is_an_error_of_its_own_kind() -> None:
    """An exception of a plugin becomes a PluginError with its type, so that callers need to know one type."""
    with pytest.raises(PluginError, match="a plugin failed: stdio"):
        plugins_of(Broken()).make_transport("stdio")


def test_a_failing_observer_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    """An observer that fails does not disturb the call that it observes."""
    with caplog.at_level(logging.WARNING):
        plugins_of(Broken()).call_finished("s", CALL, ToolResult.of_text("ok"), 0.1)
    assert "ZeroDivisionError" in caplog.text


def test_a_hook_that_does_not_exist_is_refused() -> None:
    """A misspelt hook is an error that names it, not a plugin that never does anything."""
    with pytest.raises(PluginError, match="octoc_make_embeder"):
        plugins_of(Misspelt()).token_counter()


def test_every_call_is_logged_without_arguments(caplog: pytest.LogCaptureFixture) -> None:
    """The built-in observer logs the caller, the tool and the outcome at debug, without arguments and result."""
    call = ToolCall(tool="t", arguments={"password": "hunter2"}, timeout_s=1.0, caller=Caller(agent="writer"))
    with caplog.at_level(logging.DEBUG, "octoc.calls"):
        plugins_of().call_finished("s", call, ToolResult.of_text("the answer"), 0.25)
    assert "writer called s/t: ok after 0.250 s" in caplog.text
    assert "hunter2" not in caplog.text
    assert "the answer" not in caplog.text


def test_nothing_is_imported_before_the_first_question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Naming a plugin imports nothing; asking imports those that are named, in the order of their names."""
    for name in ("one", "two", "three"):
        module(
            tmp_path, monkeypatch, f"plugin_{name}", f"import builtins\nbuiltins.__dict__['_seen'].append('{name}')\n"
        )
    entry_points(monkeypatch, ("two", "plugin_two"), ("one", "plugin_one"), ("three", "plugin_three"))
    seen: list[str] = []
    monkeypatch.setitem(__import__("builtins").__dict__, "_seen", seen)
    plugins = load_plugins(["two", "one", "absent"])
    assert seen == []
    versions: Mapping[str, str] = plugins.versions()
    assert seen == ["one", "two"]
    assert list(versions) == ["one", "two"]
    assert plugins.missing == ("absent",)


def test_two_plugins_of_one_name_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plugins of one name are both named as broken and not used, since a choice would hide one of them."""
    entry_points(monkeypatch, ("mine", "json"), ("mine", "csv"))
    plugins = load_plugins(["mine"])
    assert plugins.versions() == {}
    assert plugins.broken == {"mine": "several installed plugins are called so: `csv`, `json`; uninstall all but one"}


def test_a_plugin_that_cannot_be_imported_leaves_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A plugin whose import fails, or with a hook that does not exist, is named with the reason; the others serve."""
    text = "from octoc.plugin import hookimpl\n@hookimpl\ndef {}(reference):\n    return 'x'\n"
    module(tmp_path, monkeypatch, "plugin_good", text.format("octoc_resolve_secret"))
    module(tmp_path, monkeypatch, "plugin_misspelt", text.format("octoc_resolve_secrets"))
    entry_points(
        monkeypatch, ("bad", "no_such_module_of_a_plugin"), ("good", "plugin_good"), ("misspelt", "plugin_misspelt")
    )
    plugins = load_plugins(["bad", "good", "misspelt"], env={})
    assert plugins.resolve_secret("ANY") == "x"
    assert list(plugins.versions()) == ["good"]
    assert "`no_such_module_of_a_plugin` cannot be imported: No module named" in plugins.broken["bad"]
    assert "octoc_resolve_secrets" in plugins.broken["misspelt"]


class Paged:
    """A plugin with pages; `pages` may be anything, or raise."""

    def __init__(self, pages: Callable[[], Any]) -> None:
        self._pages = pages

    @hookimpl
    def octoc_pages(self) -> Any:
        return self._pages()


def _page(prefix: str, **settings: Any) -> WebPage:
    return WebPage(prefix=prefix, make=lambda _: lambda *_: asyncio.sleep(0), **settings)


@pytest.mark.parametrize(
    "broken",
    [
        lambda: 1 / 0,
        lambda: ["/reports/"],
        lambda: (1 / 0 for _ in "x"),
        lambda: [_page("reports")],
        lambda: [_page("/reports")],
        lambda: [_page("/reports/", access="public")],
    ],
    ids=["raises", "no page", "raises late", "no root", "no folder", "no such access"],
)
def test_pages_of_a_plugin_that_fails_are_left_out(broken: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A plugin that raises, or whose page has no such prefix or access, is logged; the others' pages are there."""
    good = _page("/good/")
    assert plugins_of(Paged(lambda: [good]), Paged(broken), Paged(lambda: None)).pages() == (good,)
    assert "a plugin failed: object:1:Paged" in caplog.text


def test_a_page_needs_a_token_unless_it_says_otherwise() -> None:
    """The access of a page that names none is `token`."""
    assert _page("/x/").access == "token"
