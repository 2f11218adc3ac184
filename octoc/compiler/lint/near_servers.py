"""Names of servers in rules and lists of tools that are a slip of a server that some file of the project defines.

It needs all files of a check: each client has a file of servers of its own, and rules name servers of any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.aliases import sanitize
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE
from octoc.compiler.inputs.claude.user import UserScope
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.compiler.resolve.definitions import definitions
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import UNKNOWN_SERVER
from octoc.diagnostics.suggest import near_miss, slips_of
from octoc.lists import one_of

_SHORTEST = 4
"""Least characters of a word that can be a slip: a shorter one is too near to too many."""
_LONG = 9
_SHORTEST_CUT = 5
_MOST_CUT = 2
_LONGEST_END = 3
_OF_PLUGIN = "plugin_"
_WORDS = re.compile(r"[-_. ]+")
# Claude Code and others; Kiro and Amazon Q; GitHub Copilot.
_FORMS = (
    re.compile(r"\bmcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)(?=__|\b)"),
    re.compile(r"\A@(?P<server>[^/\s]+)(?:/|\Z)"),
    re.compile(r"\A(?P<server>[A-Za-z0-9._-]+)/[A-Za-z0-9_.*-]+\Z"),
)
_LISTS: tuple[tuple[str, ...], ...] = (
    *(("permissions", kind) for kind in ("allow", "ask", "deny")),
    *(("tools",), ("allowedTools",), ("allowed-tools",), ("disallowedTools",)),
)
_EXACT: tuple[tuple[str, ...], ...] = (("enabledMcpjsonServers",), ("disabledMcpjsonServers",))
"""Lists of servers, by their own names."""


@attrs.frozen
class _Use:
    name: str
    text: str
    place: Place
    key: str = ""


def report_near_servers(builds: Sequence[Build], user: UserScope | None, sink: DiagnosticSink) -> None:
    """Report each name of a server that no file defines and that is a slip of one that a file defines.

    A name that is near none may be the server of a plugin, a connector or a user.
    """
    own = {name for build in builds for name in (*_defined(build), *_in_files(build))} | set(_of_plugins(builds))
    if not own:
        return
    known = {*own, *map(sanitize, own)}
    elsewhere = user or UserScope()
    for build in builds:
        of_build = _defined(build)
        for document in build.checked.documents:
            uses = tuple(_uses(document))
            beside = {use.name for use in uses}
            for use in uses:
                # Other plugins may be the user's; a slip of one here is still a slip.
                is_elsewhere = not use.name.startswith(_OF_PLUGIN) and elsewhere.may_have(use.name)
                if use.name in known or is_elsewhere:
                    continue
                near = near_servers(use.name, own) or _cut_short(use.name, own, beside)
                # Agents of a build have their tools resolved, which reports a slip of the build's own servers.
                has_tools_resolved = document.file.kind.role == "agents" and use.key == "tools"
                is_resolved = has_tools_resolved and slips_of(use.name, of_build)
                if near and not is_resolved:
                    _report(use, near, sink)


def near_servers(name: str, known: set[str]) -> tuple[str, ...]:
    """Return the servers that `name` is a slip of: one of its words, or its separators, differ."""
    words = _WORDS.split(name.lower())
    return tuple(sorted(one for one in known if _is_near(words, _WORDS.split(one.lower()))))


def _is_near(words: list[str], others: list[str]) -> bool:
    if "".join(words) == "".join(others):
        return True
    if len(words) != len(others):
        return False
    different = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(different) != 1 or min(map(len, different[0])) < _SHORTEST:
        return False
    word, other = different[0]
    return bool(slips_of(word, (other,))) or near_miss(word, (other,)) is not None or _sounds_like(word, other)


def _cut_short(name: str, known: set[str], beside: set[str]) -> tuple[str, ...]:
    """Return the servers from which `name` differs by a letter or two at the end.

    A name of one word is likely another server's, except beside uses of the one that it means.
    """
    words = _WORDS.split(name.lower())
    return tuple(
        sorted(
            one
            for one in known
            if len(others := _WORDS.split(one.lower())) == len(words)
            and (len(words) > 1 or not beside.isdisjoint((one, sanitize(one))))
            and words[:-1] == others[:-1]
            and _is_end_apart("".join(words), "".join(others))
        )
    )


def _is_end_apart(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    end = longer.removeprefix(shorter)
    return len(shorter) >= _SHORTEST_CUT and end != longer and end.isalpha() and len(end) <= _MOST_CUT


def _sounds_like(word: str, other: str) -> bool:
    """Tell whether two long words differ in their ends alone, as `playwrite` and `playwright`, and not in length."""
    if min(len(word), len(other)) < _LONG or word.startswith(other) or other.startswith(word):
        return False
    most = max(len(word), len(other)) - _LONGEST_END
    return word.isalpha() and other.isalpha() and word[:most] == other[:most]


def _defined(build: Build) -> set[str]:
    return {definition.source.name for definition in definitions(build.sources)}


def _in_files(build: Build) -> Iterator[str]:
    """Yield the names of all servers in files, also of those that have a mistake: rules still mean them."""
    for document in build.documents.documents:
        servers = document.values.get("mcpServers") if document.file.kind.role == "servers" else None
        yield from map(str, servers) if isinstance(servers, Mapping) else ()


def _of_plugins(builds: Sequence[Build]) -> Iterator[str]:
    """Yield the names that Claude Code gives to servers of the plugins here: `plugin_<plugin>_<server>`."""
    documents = [document for build in builds for document in build.documents.documents]
    plugins = {
        document.file.path.parent.parent: document.values.get("name")
        for document in documents
        if document.file.path.match(PLUGIN_FILE) and document.file.kind.role != "servers"
    }
    for document in documents:
        servers = document.values.get("mcpServers") if document.file.kind.role == "servers" else None
        above = document.file.path.parents[:2] if isinstance(servers, Mapping) else ()
        name = next((plugins[folder] for folder in above if folder in plugins), None)
        if isinstance(name, str) and isinstance(servers, Mapping):
            yield from (f"{_OF_PLUGIN}{name}_{server}" for server in servers)


def _uses(document: Document) -> Iterator[_Use]:
    kind = document.file.kind
    if kind.role == "servers":
        return
    is_github = document.file.dialect.client == "GitHub Copilot"
    forms = _FORMS if is_github else _FORMS[:2]
    for path in _LISTS:
        if path[0] not in document.values:
            continue
        place = document.place(*path)
        value = _at(document.values, path)
        for text, step in names_in(value):
            match = next((match for form in forms if (match := form.search(text))), None)
            if match is not None:
                at = place.child(*step)
                offset = value.find(text) if isinstance(value, str) else 0
                span = (offset + match.start("server"), offset + match.end("server"))
                is_key = isinstance(value, dict)
                yield _Use(match["server"], text, at.key() if is_key else attrs.evolve(at, within=span), str(path[-1]))
    dialect = document.file.dialect
    exact = _EXACT if kind.role == "permissions" else dialect.servers if isinstance(dialect, SettingsDialect) else ()
    for pattern in exact:
        for at_list, names in values_at(document.values, pattern):
            for text, step in names_in(names) if isinstance(names, list) else ():
                yield _Use(text, text, document.place(*at_list, *step))
    hooks = _at(document.values, ("hooks",))
    for event, groups in hooks.items() if isinstance(hooks, dict) and kind.role == "permissions" else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            matcher = group.get("matcher") if isinstance(group, dict) else None
            match = _FORMS[0].match(matcher) if isinstance(matcher, str) else None
            if match is not None:
                yield _Use(match["server"], match.string, document.place("hooks", event, index, "matcher"))


def _at(values: Any, path: tuple[str, ...]) -> Any:
    return next((value for _, value in values_at(values, path)), None)


def _report(use: _Use, near: tuple[str, ...], sink: DiagnosticSink) -> None:
    # Connectors and servers of users often have the same name in another case or with other separators.
    is_same = _WORDS.sub("", use.name.lower()) in {_WORDS.sub("", name.lower()) for name in near}
    fix = replaced(use.place, use.name, sanitize(near[0]), f"write `{near[0]}`") if len(near) == 1 else None
    sink.report(
        UNKNOWN_SERVER,
        f"`{use.text}` names server `{use.name}`, which no file here defines",
        at=use.place,
        help=f"did you mean {one_of(near)}?",
        severity=Severity.INFO if is_same else Severity.WARNING,
        subject=f"{use.place.file}:{use.name}",
        fix=fix,
    )
