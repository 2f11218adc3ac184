"""The tree's own Markdown as pages of the site: the same text, with links that lead to pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from docs_site.page import ROOT, Page

OTHERS: Mapping[str, str] = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "deploy/README.md": "deploy-files.md",
    "examples/paraphraser/README.md": "paraphraser.md",
    "schemas/README.md": "schemas.md",
    "taps/core/README.md": "core-tap.md",
}
"""Pages that are not in `docs/` -> where they are on the site."""
_FENCED = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def project_pages(repository: str | None) -> Iterator[Page]:
    """Yield each page of the tree.

    Args:
        repository: the address of the source code, to which links to other files lead; None keeps only their text.
    """
    paths = site_paths()
    for source, path in paths.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        yield Page(path, with_site_links(text, source, paths | _rules(), repository))


def site_paths() -> dict[str, str]:
    """Return each page of the tree, by its path from the checkout, with its place on the site."""
    docs = {f"docs/{path}": path for path in (one.relative_to(ROOT / "docs").as_posix() for one in _docs("*.md"))}
    plugins = sorted(path.parent.name for path in ROOT.glob("plugins/*/README.md"))
    return docs | dict(OTHERS) | {f"plugins/{name}/README.md": f"plugins/{name}.md" for name in plugins}


def _rules() -> dict[str, str]:
    """Return the pages of rules, which the site has with what each rule declares."""
    folder = ROOT / "octoc" / "diagnostics" / "docs"
    return {path.relative_to(ROOT).as_posix(): f"rules/{path.name}" for path in folder.glob("*.md")}


def pictures() -> list[Path]:
    """Return the pictures of `docs/`."""
    return _docs("*.svg")


def _docs(pattern: str) -> list[Path]:
    return sorted((ROOT / "docs").rglob(pattern))


def with_site_links(text: str, source: str, paths: Mapping[str, str], repository: str | None) -> str:
    """Return a page's text with its links to files of the tree made links of the site.

    Args:
        source: the page's path from the checkout, as in `paths`, which has the place of each page on the site.
    """

    def link(match: re.Match[str]) -> str:
        words, (target, sign, anchor) = match[1], match[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = paths.get(found) or paths.get(f"{found}/README.md")
        if page is None and found.startswith("docs/"):
            page = found.removeprefix("docs/")
        if page is not None:
            return f"[{words}]({posixpath.relpath(page, posixpath.dirname(paths[source]) or '.')}{sign}{anchor})"
        return words if repository is None else f"[{words}]({repository.rstrip('/')}/blob/main/{found}{sign}{anchor})"

    parts, at = [], 0
    for fence in _FENCED.finditer(text):
        parts += [_LINK.sub(link, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, _LINK.sub(link, text[at:])])
