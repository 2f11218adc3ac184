"""Finds, loads and asks plugins. One manager per build or runtime; nothing is loaded before the first question."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import pluggy

from octoc.lists import name_list
from octoc.plain_text import because
from octoc.plugin import builtin, hookspecs, resolvers
from octoc.plugin.protocols import PluginError

if TYPE_CHECKING:
    from octoc.plugin.commands import CliCommand
    from octoc.plugin.file_kinds import Dialect, FileKind
    from octoc.plugin.pages import WebPage
    from octoc.plugin.protocols import Embedder, FailedCall, Login, PythonTool, ServerTarget, TokenCounter, Transport
    from octoc.plugin.stores import StoreBackend
    from octoc.results import ToolCall, ToolFailure, ToolResult

logger = logging.getLogger("octoc.plugin")

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class HookResult:
    """What one plugin registers by a hook of data. `error` is why it failed, to follow a message; else empty."""

    plugin: str
    is_own: bool = False
    items: tuple[Any, ...] = ()
    error: str = ""


class Plugins:
    """The plugins of one build or runtime. Entry points are looked up, by name and sorted, at the first question.

    Args:
        names: entry point names in the group `octoc`, None for all that are installed. Afterwards `missing` has the
            names that are not installed, and `broken` those that cannot be used, with the reason; the others work.
        objects: plugins that are passed in, asked before those of `names`.
        env: where the built-in resolver looks variables up.
    """

    def __init__(
        self, names: Iterable[str] | None = (), objects: Iterable[object] = (), env: Mapping[str, str] | None = None
    ) -> None:
        self._names = None if names is None else tuple(sorted(set(names)))
        self._objects = tuple(objects)
        self._env = os.environ if env is None else env
        self._manager: pluggy.PluginManager | None = None
        self._loading = threading.RLock()
        self._versions: dict[str, str] = {}
        self._own: dict[str, object] = {}
        self.missing: tuple[str, ...] = ()
        self.broken: Mapping[str, str] = {}

    def join(self, *objects: object) -> None:
        """Take in more plugins that are passed in. Raises: PluginError when others are at work already."""
        if objects and self._manager is not None:
            raise PluginError("plugins that are passed in must join before the first question")
        self._objects += objects

    def add_own(self, plugin: object) -> None:
        """Register one of octoc's own plugins, at any time; a second one of its class changes nothing."""
        name = _own_name(plugin)
        with self._loading:
            if name in self._own:
                return
            self._own[name] = plugin
            if self._manager is not None:
                self._manager.register(plugin, name)

    def answers(self, hook: str) -> tuple[HookResult, ...]:
        """Return what each plugin registers by `hook`: octoc's own first, then by name.

        A plugin that fails has an answer without items. Raises: PluginError when plugins passed in cannot be loaded.
        """
        implementations = getattr(self._loaded().hook, hook).get_hookimpls()
        own = set(self._own)
        answers = []
        for each in sorted(implementations, key=lambda each: (each.plugin_name not in own, each.plugin_name)):
            answer = HookResult(plugin=each.plugin_name, is_own=each.plugin_name in own)
            try:
                answers.append(attrs.evolve(answer, items=tuple(each.function() or ())))
            except Exception as error:  # noqa: BLE001  # a plugin's own fault must not take the host down
                answers.append(attrs.evolve(answer, error=because(error) or f": {type(error).__name__}"))
        return tuple(answers)

    def make_embedder(
        self, name: str, settings: Mapping[str, str] | None = None, files: Mapping[str, bytes] | None = None
    ) -> Embedder | None:
        """Return the embedder called `name`, or None when no plugin knows it. Raises: PluginError."""
        made: Embedder | None = self._ask(
            lambda hook: hook.octoc_make_embedder(name=name, settings=settings or {}, files=files)
        )
        return made

    def expand_triggers(
        self, capability: str, title: str, description: str, triggers: Sequence[str]
    ) -> tuple[str, ...] | None:
        """Return what plugins say that people ask of a capability; None where none expands any. Raises: PluginError."""
        told = {"capability": capability, "title": title, "description": description, "triggers": triggers}

        def ask(hook: Any) -> tuple[str, ...] | None:
            # Answers may be generators: they run here, where their failures are the plugin's too.
            answers = hook.octoc_expand_triggers(**told)
            return tuple(text for answer in answers for text in answer) if answers else None

        found: tuple[str, ...] | None = self._ask(ask)
        return found

    def make_transport(self, kind: str) -> Transport | None:
        """Return a transport for servers of `kind`, or None when no plugin has one. Raises: PluginError."""
        made: Transport | None = self._ask(lambda hook: hook.octoc_make_transport(kind=kind))
        return made

    def make_login(self, kind: str) -> Login | None:
        """Return what logs in to servers of `kind`, or None when no plugin does. Raises: PluginError."""
        made: Login | None = self._ask(lambda hook: hook.octoc_make_login(kind=kind))
        return made

    def cli_commands(self) -> tuple[CliCommand, ...]:
        """Return the commands that plugins add to `octoc`. Never raises: a plugin that fails is logged."""
        from octoc.plugin.commands import CliCommand

        return tuple(one for answer in self._each("octoc_cli_commands", _tuple_of(CliCommand)) for one in answer)

    def file_kinds(self) -> tuple[FileKind | Dialect, ...]:
        """Return the kinds of files and dialects that plugins add. Never raises: a plugin that fails is logged."""
        from octoc.plugin.file_kinds import Dialect, FileKind

        read: Callable[..., tuple[FileKind | Dialect, ...]] = _tuple_of(FileKind, Dialect)
        return tuple(one for answer in self._each("octoc_file_kinds", read) for one in answer)

    def pages(self) -> tuple[WebPage, ...]:
        """Return the pages that plugins add to the gateway. Never raises: a plugin that fails is logged."""
        from octoc.plugin.pages import WebPage

        return tuple(page for pages in self._each("octoc_pages", _tuple_of(WebPage)) for page in pages)

    def make_store(self, url: str) -> StoreBackend | None:
        """Return the store at an address, or None if no plugin knows its scheme. Raises: PluginError."""
        made: StoreBackend | None = self._ask(lambda hook: hook.octoc_make_store(url=url))
        return made

    def resolve_secret(self, reference: str) -> str | None:
        """Return the value of a reference; octoc's own resolvers are asked last. Raises: PluginError."""
        try:
            value: str | None = self._ask(lambda hook: hook.octoc_resolve_secret(reference=reference))
        except PluginError as error:
            if error.__cause__ is None:
                raise
            # A plugin's own fault: what it says of it may hold the value.
            logger.warning("a plugin failed to resolve `%s` with `%s`", reference, type(error.__cause__).__name__)
            raise PluginError(f"a plugin failed to resolve `{reference}`") from None
        return value

    def token_counter(self, model: str = "") -> TokenCounter:
        """Return the counter for `model`; the approximate one when no plugin has a better. Raises: PluginError."""
        counter: TokenCounter = self._ask(lambda hook: hook.octoc_token_counter(model=model))
        return counter

    @property
    def explains(self) -> bool:
        """Whether any plugin explains failures. Raises: PluginError."""
        return bool(self._loaded().hook.octoc_explain_failure.get_hookimpls())

    def explain_failure(self, failed: FailedCall) -> str | Awaitable[str | None] | None:
        """Return what a failed call means, or None when no plugin says it. Raises: PluginError."""
        answer: str | Awaitable[str | None] | None = self._ask(lambda hook: hook.octoc_explain_failure(failed=failed))
        return answer

    def tools(self, target: ServerTarget) -> tuple[PythonTool, ...]:
        """Return the in-process tools that plugins bind to a builtin server. Raises: PluginError."""
        answers = self._ask(lambda hook: hook.octoc_tools(server=target.name, target=target))
        return tuple(tool for answer in answers for tool in answer)

    def call_finished(self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float) -> None:
        """Tell each observer that a call ended. Never raises: an observer's failure is logged."""
        for _ in self._each(
            "octoc_call_finished", _nothing, server=server, call=call, outcome=outcome, seconds=seconds
        ):
            pass

    def versions(self) -> Mapping[str, str]:
        """Return the version of each installed plugin of `names`, by entry point name, sorted."""
        self._loaded()
        return dict(sorted(self._versions.items()))

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        hook = self._loaded().hook
        try:
            return question(hook)
        except PluginError:
            raise
        except Exception as error:  # a plugin's own fault must not take the host down: it is named and reported
            raise PluginError(f"a plugin failed{because(error)}") from error

    def _each(self, hook: str, read: Callable[[Any], T], **arguments: object) -> Iterator[T]:
        """Yield what `read` makes of each plugin's answer to a hook. Never raises: a plugin that fails is logged."""
        try:
            implementations = getattr(self._loaded().hook, hook).get_hookimpls()
        except PluginError as error:
            logger.warning("%s", error)
            return
        for one in reversed(implementations):
            try:
                yield read(one.function(*(arguments[name] for name in one.argnames)))
            except Exception as error:  # noqa: BLE001  # a plugin's own fault must not take the host down
                logger.warning("a plugin failed: %s: %s: %s", one.plugin_name, type(error).__name__, error)

    def _loaded(self) -> pluggy.PluginManager:
        if self._manager is not None:
            return self._manager
        # A router and several connections may ask first at the same time, from threads of their own.
        with self._loading:
            return self._load()

    def _load(self) -> pluggy.PluginManager:
        if self._manager is not None:  # another thread was first
            return self._manager
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        own: tuple[object, ...] = (
            resolvers.EnvironmentResolver(self._env),
            resolvers.FileResolver(),
            resolvers.KeyringResolver(),
            builtin.DefaultTokenCounter(),
            builtin.CallLog(),
        )
        self._own = {_own_name(plugin): plugin for plugin in own} | self._own
        for name, plugin in self._own.items():
            manager.register(plugin, name)
        self._register_entry_points(manager)
        for number, plugin in enumerate(self._objects):
            manager.register(plugin, f"object:{number}:{type(plugin).__name__}")
        self._check_hooks(manager)
        self._manager = manager
        return manager

    def _check_hooks(self, manager: pluggy.PluginManager) -> None:
        """Take out installed plugins with a hook that does not exist. Raises: PluginError for one passed in."""
        while True:
            try:
                manager.check_pending()
            except pluggy.PluginValidationError as error:
                name = manager.get_name(error.plugin) or ""
                if name not in self._versions:
                    raise PluginError(f"a plugin has a hook that octoc does not know: {error}") from error
                manager.unregister(error.plugin)
                self._break(name, f"it has a hook that octoc does not know: {str(error).splitlines()[0]}")
            else:
                return

    def _register_entry_points(self, manager: pluggy.PluginManager) -> None:
        if self._names == ():
            return
        # Not at the top: opening a bundle must not pay for it. Not pluggy's own loader: it walks distributions in the
        # machine's order and skips a second plugin of one name in silence.
        from importlib.metadata import entry_points

        found: dict[str, dict[str, Any]] = {}
        for point in entry_points(group=hookspecs.PROJECT):
            if self._names is None or point.name in self._names:
                found.setdefault(point.name, {}).setdefault(point.value, point)
        self.missing = tuple(name for name in self._names or () if name not in found)
        for name, points in sorted(found.items()):
            if len(points) > 1:
                both = name_list(sorted(points))
                self._break(name, f"several installed plugins are called so: {both}; uninstall all but one")
                continue
            ((value, point),) = points.items()
            try:
                plugin = point.load()
            except Exception as error:  # noqa: BLE001  # whatever an import can raise
                self._break(name, f"`{value}` cannot be imported{because(error)}")
                continue
            manager.register(plugin, name)
            self._versions[name] = point.dist.version if point.dist is not None else "0"

    def _break(self, name: str, why: str) -> None:
        self._versions.pop(name, None)
        self.broken = {**self.broken, name: why}
        logger.warning("plugin `%s` is left out: %s", name, why)


def _nothing(_: object) -> None:
    return None


def _tuple_of(*kinds: type[T]) -> Callable[[Iterable[Any] | None], tuple[T, ...]]:
    """Return a function that reads an answer as a tuple of `kinds`. It raises TypeError for anything else."""

    def read(answer: Iterable[Any] | None) -> tuple[T, ...]:
        values: list[T] = []
        for value in answer or ():
            if not isinstance(value, kinds):
                raise TypeError(f"expected {' or '.join(kind.__name__ for kind in kinds)}, got {type(value).__name__}")
            values.append(value)
        return tuple(values)

    return read


def _own_name(plugin: object) -> str:
    return f"builtin:{type(plugin).__name__}"


def load_plugins(names: Iterable[str], env: Mapping[str, str] | None = None) -> Plugins:
    """Return a manager of the installed plugins called `names`; they are imported at the first question."""
    return Plugins(names=names, env=env)


def plugins_of(*objects: object, env: Mapping[str, str] | None = None) -> Plugins:
    """Return a manager of the given plugin objects alone, for hosts that build their own and for tests."""
    return Plugins(objects=objects, env=env)
