"""Public faces whose names are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(face: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that exports names of other modules.

    Args:
        face: the package's dotted name.
        modules: dotted name of a module -> the names of it that the package exports, separated by spaces.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module `{face}` has no attribute `{name}`")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[face], name, value)
        return value

    return get
