"""Which command a hint names to install more of octoc: one that works where octoc came from."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc import installation
from octoc.installation import install_command

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")])
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("octoc/diagnostics/docs/*.md"),
        *ROOT.glob("plugins/*/README.md"),
        *ROOT.glob("examples/**/README.md"),
    ]
)
# What is a requirement of a command on a page: the words behind `pip install`, up to what ends it.
_COMMAND = re.compile(
    r"\bpip install\s+((?:\"[^\"]*\"|'[^']*'|[^\s`\"'#;|&)]+)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|[^\s`\"'#;|&)]+))*)"
)
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
_REQUIREMENT = re.compile(r"(?P<name>[\w./-]+?)(?P<extra>\[[\w,-]+\])?(?P<at> @ git\+https://\S+)?")


def _extras(folder: Path) -> set[str]:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    hooks = project.get("tool", {}).get("hatch", {}).get("metadata", {}).get("hooks", {})
    return {*project["project"].get("optional-dependencies", {}), *hooks.get("custom", {}).get("extras", {})}


def _folder_of(distribution: str) -> Path | None:
    """Return the folder of one of octoc's distributions."""
    if distribution == "octoc":
        return ROOT
    folder = ROOT / "plugins" / distribution
    return folder if (folder / "pyproject.toml").is_file() else None


def _problem(word: str) -> str | None:
    """Return what is wrong with a requirement on a page, read from a checkout's folder."""
    match = _REQUIREMENT.fullmatch(word)
    if match is None:
        return None  # an exact version of someone else's distribution
    name, extra = match["name"], set((match["extra"] or "[]")[1:-1].split(",")) - {""}
    folder = _folder_of(name) if match["at"] else ROOT / name if name.startswith(".") else None
    if folder is None:
        return f"`{word}` is on no package index" if name.startswith("octoc") else None
    if not (folder / "pyproject.toml").is_file():
        return f"`{word}` is not a folder of the checkout"
    unknown = extra - _extras(folder)
    return f"`{word}` has no extra {unknown}" if unknown else None


def _calls() -> Iterator[tuple[Path, ast.Call]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "install_command":
                yield path, node


def test_pages_name_what_a_checkout_can_install() -> None:
    """Each `pip install` on a page names a folder of the checkout with that extra, or a distribution of others."""
    commands = 0
    problems: list[str] = []
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue  # it says what held at its time
        for match in _COMMAND.finditer(page.read_text(encoding="utf-8")):
            commands += 1
            words = ["".join(groups) for groups in _WORD.findall(match[1])]
            found = [_problem(word) for word in words if not word.startswith("-")]
            problems += [f"{page.relative_to(ROOT)}: {problem}" for problem in found if problem]
    assert commands > 10
    assert problems == []


def test_no_text_of_the_code_names_an_install_of_octoc() -> None:
    """Hints of the code get their `pip install` from `install_command`, which knows where octoc came from."""
    written = re.compile(r"pip install[^`]*\bocto[a-z]*-?")
    problems = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value[:80]}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and written.search(node.value)
    ]
    assert problems == []


def test_hints_install_distributions_that_exist() -> None:
    """Each name that the code gives to `install_command` is one of octoc's distributions and has the extra."""
    names = [
        argument.value
        for _, call in _calls()
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    from octoc.cli.failures import _BROUGHT_BY
    from octoc.compiler.embed.encoder_findings import _PACKAGES
    from octoc.transport_kinds import STANDARD

    names += [
        *_BROUGHT_BY.values(),
        *_PACKAGES.values(),
        *(f"octoc-{kind.plugin}" for kind in STANDARD.values() if kind.plugin),
    ]
    assert len(names) > 10
    for name in names:
        if not name.startswith("octoc"):
            continue
        distribution, _, extra = name.rstrip("]").partition("[")
        folder = _folder_of(distribution)
        assert folder is not None, name
        assert not extra or extra in _extras(folder), name


ORIGINS: Mapping[str, tuple[Any, str, str]] = {
    "an index": (None, "pip install 'octoc[build]'", "pip install octoc-serve"),
    "a repository": (
        {"url": "https://git.example/octoc", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        "pip install 'octoc[build] @ git+https://git.example/octoc@abc'",
        "pip install 'octoc-serve @ git+https://git.example/octoc@abc#subdirectory=plugins/octoc-serve'",
    ),
    "a checkout": (
        {"url": ROOT.as_uri(), "dir_info": {}},
        f"pip install '{ROOT}[build]'",
        f"pip install {ROOT}/plugins/octoc-serve",
    ),
    "an editable checkout": (
        {"url": ROOT.as_uri(), "dir_info": {"editable": True}},
        f"pip install --editable '{ROOT}[build]'",
        f"pip install --editable {ROOT}/plugins/octoc-serve",
    ),
    "a checkout that is gone": (
        {"url": "file:///gone/octoc", "dir_info": {}},
        "pip install 'octoc[build]'",
        "pip install octoc-serve",
    ),
    "no record": ("{", "pip install 'octoc[build]'", "pip install octoc-serve"),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_command_fits_where_octoc_came_from(origin: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command names folders, a repository or plain names, as pip recorded where octoc is from."""
    record, core, plugin = ORIGINS[origin]

    class Installed:
        def read_text(self, _: str) -> str | None:
            return record if record is None or isinstance(record, str) else json.dumps(record)

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    monkeypatch.setattr(installation, "_ROOT", tmp_path)
    assert install_command("octoc[build]") == core
    assert install_command("octoc-serve") == plugin


def test_a_folder_of_wheels_is_where_the_others_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Octoc from a wheel file looks for the others beside it."""
    (tmp_path / "octoc_serve-0.1.0-py3-none-any.whl").touch()
    record = {"url": (tmp_path / "octoc-0.1.0-py3-none-any.whl").as_uri(), "archive_info": {}}
    monkeypatch.setattr(installation, "_origin", lambda: record)
    assert install_command("octoc-serve") == f"pip install --find-links {tmp_path} octoc-serve"


def test_another_distribution_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not octoc's is named as it is, beside what is."""
    monkeypatch.setattr(installation, "_origin", lambda: {"url": ROOT.as_uri(), "dir_info": {"editable": True}})
    plugin = ROOT / "plugins" / "octoc-serve"
    command = install_command("octoc-serve", "weights==1.0", options="--force-reinstall")
    assert command == f"pip install --force-reinstall --editable {plugin} weights==1.0"
