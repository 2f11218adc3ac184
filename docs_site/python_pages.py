"""A page for each public package, whose docstrings the site's generator reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docs_site.page import Page, table

FACES: Mapping[str, str] = {
    "octoc.runtime": "open a bundle, route messages, list and call tools",
    "octoc.adapters": "give a session to an agent framework",
    "octoc.compiler": "check, resolve and build workspaces from Python",
    "octoc.plugin": "write a plugin: hooks, protocols and values",
    "octoc.plugin.toolkit": "helpers for plugins",
    "octoc.testing": "test agents and plugins",
}
"""Public package -> what it is for. Everything else may change with each version."""


def python_pages() -> Iterator[Page]:
    """Yield the overview of public packages, and one page each."""
    rows = [(f"[`{face}`]({face}.md)", use) for face, use in FACES.items()]
    intro = "Hosts and plugins import from these packages; everything else may change with each version.\n"
    yield Page("reference/python/index.md", f"# Python API\n\n{intro}\n{table(('package', 'use it to'), rows)}")
    for face in FACES:
        yield Page(f"reference/python/{face}.md", f"# {face}\n\n::: {face}\n")
