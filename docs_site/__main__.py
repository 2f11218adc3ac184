"""Write the pages and the configuration of the site to `build/docs`: `python -m docs_site`."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomlkit

from docs_site.command_pages import command_pages
from docs_site.navigation import expanded, mistakes
from docs_site.page import ROOT, Page
from docs_site.project_pages import pictures, project_pages
from docs_site.python_pages import python_pages
from docs_site.rule_pages import rule_navigation, rule_pages
from docs_site.settings_page import settings_page

HERE = Path(__file__).resolve().parent


def addresses() -> Mapping[str, str]:
    """Return `[project.urls]` of pyproject.toml, where the owner writes the site's address and the repository's."""
    project: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {name: str(url) for name, url in project.get("urls", {}).items()}


def all_pages(repository: str | None) -> Iterator[Page]:
    """Yield every page of the site."""
    yield from project_pages(repository)
    yield from command_pages()
    yield settings_page()
    yield from rule_pages()
    yield from python_pages()


def write(folder: Path) -> list[str]:
    """Write pages and configuration to a folder, and return what is wrong with the navigation."""
    urls = addresses()
    pages = list(all_pages(urls.get("Repository")))
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages:
        target = folder / "pages" / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.text, encoding="utf-8")
    for picture in (*pictures(), HERE / "site.css", HERE / "site.js"):
        base = ROOT / "docs" if picture.is_relative_to(ROOT / "docs") else HERE
        target = folder / "pages" / picture.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)
    settings = tomllib.loads((HERE / "zensical.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    paths = [page.path for page in pages]
    project["nav"] = expanded(project["nav"], paths, {"rules/*": rule_navigation()})
    project["plugins"]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT)]
    project |= {
        key: urls[name] for key, name in (("site_url", "Documentation"), ("repo_url", "Repository")) if name in urls
    }
    (folder / "zensical.toml").write_text(tomlkit.dumps(settings), encoding="utf-8")
    return mistakes(project["nav"], paths)


def main() -> int:
    """Write the site's pages; print what is wrong."""
    wrong = write(ROOT / "build" / "docs")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
