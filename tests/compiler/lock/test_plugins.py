"""The versions of plugins in the lock."""

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from octoc.compiler.context import Context
from octoc.compiler.lock.stage import lock
from octoc.compiler.lock.text import parse
from octoc.compiler.model.build import Build
from octoc.plugin.manager import Plugins


class _Installed(Plugins):
    """No plugins, of which one has the version that a test says."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version

    def versions(self) -> Mapping[str, str]:
        return {"transport-mcp": self._version}


def test_another_version_of_a_plugin_is_told(
    tmp_path: Path, products: Callable[..., Build], context_of: Callable[..., Context]
) -> None:
    """With `--locked` a plugin of another version than the lock's is an error; the same version is silent."""

    def found(version: str, *, locked: bool) -> list[tuple[str, str]]:
        context = attrs.evolve(context_of(tmp_path, locked=locked), plugins=_Installed(version))
        lock(products(tmp_path), context)
        return [(one.rule.code, one.message) for one in context.sink.diagnostics]

    assert found("0.1.0", locked=False) == []
    assert found("0.1.0", locked=True) == []
    assert found("0.2.0", locked=True) == [("OCT511", "plugin `transport-mcp`: version is `0.2.0`, was `0.1.0`")]


class _Troubled(Plugins):
    """Three plugins: one installed, one missing, one that cannot be imported."""

    def versions(self) -> Mapping[str, str]:
        self.missing, self.broken = ("absent", "embed-onnx"), {"mine": "`mine` cannot be imported: ValueError: no"}
        return {"transport-mcp": "1.0"}


def test_a_plugin_that_does_not_serve_is_reported_at_its_name(
    tmp_path: Path, products: Callable[..., Build], context_of: Callable[..., Context]
) -> None:
    """A named plugin that is broken or absent is an error at its name; of those that are expected others speak."""
    build = products(tmp_path, plugins=("transport-mcp", "embed-onnx", "absent", "mine"))
    context = attrs.evolve(context_of(tmp_path), plugins=_Troubled())
    assert parse(lock(build, context).locked.text).plugins == {"transport-mcp": "1.0"}
    assert [(found.rule.code, found.message) for found in context.sink.diagnostics] == [
        ("OCT720", "plugin `absent` is not installed"),
        ("OCT721", "plugin `mine` cannot be used: `mine` cannot be imported: ValueError: no"),
    ]
