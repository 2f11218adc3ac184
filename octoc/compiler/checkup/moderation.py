"""Lower severities by what a scan of a folder knows: where a file lies, and what many of its files have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

import attrs

from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.skill import SKILL_FILE, skill_client
from octoc.compiler.policy.examples import is_example, is_template
from octoc.compiler.read.text import OF_GIT_LFS
from octoc.compiler.read.yaml_file import LIKE_A_TEMPLATE
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check, read, resolve
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING, PLUGIN_PATH_REFUSED
from octoc.diagnostics.rules.lint_mcp import UNSET_IN_SHELL, UNSUPPORTED_CONNECTION
from octoc.diagnostics.rules.lint_servers import CONTROL_CHARACTER, RETIRED_PACKAGE

_CONVENTION = 5
"""Least files with one unknown key that make it the owner's own."""
_OF_OCTOC = frozenset({
    *(check.UNUSUAL_AGENT_NAME, resolve.NO_TOOL_RESOLVES, resolve.TWO_CREDENTIALS),
    *(UNSET_IN_SHELL, UNSUPPORTED_CONNECTION),
})  # fmt: skip
"""Rules on what octoc, or another client, does with a server or an agent: the file's own client takes it."""

_CERTAIN = frozenset({
    *(read.NOT_UTF8, read.BINARY_FILE, read.TOML_SYNTAX, read.JSON_SYNTAX, read.YAML_SYNTAX, read.DUPLICATE_KEY),
    *(read.NO_FRONT_MATTER, read.UNCLOSED_FRONT_MATTER, read.FRONT_MATTER_SYNTAX),
    *(check.MISSING_KEY, check.BAD_NAME, check.REPEATED_NAME, check.INCOMPLETE_SERVER, check.REFUSED_TYPE),
    *(check.REFUSED_BY_REGISTRY, check.MISSING_SOURCE),
    *(resolve.KNOWN_TOKEN, PLUGIN_PATH_REFUSED, RETIRED_PACKAGE, CONTROL_CHARACTER),
})  # fmt: skip
"""Rules whose errors hold whatever the version of a client, and whatever files octoc does not see."""

_OF_ANY_CLIENT = frozenset({
    *(read.NOT_UTF8, read.BINARY_FILE, read.JSON_SYNTAX, read.FRONT_MATTER_SYNTAX, read.UNCLOSED_FRONT_MATTER),
    *(resolve.KNOWN_TOKEN, RETIRED_PACKAGE, CONTROL_CHARACTER),
})  # fmt: skip
"""Rules whose errors hold where nothing tells which program reads a file: some keep servers in a form of their own."""

_BY_KEY = frozenset({check.WRONG_TYPE, check.EMPTY_VALUE})
"""Rules whose errors are certain for the keys that a client cannot do without."""

_OF_SKILLS = frozenset({check.WRONG_TYPE, check.EMPTY_VALUE})
"""Rules whose errors in a skill are certain where its client skips one without name or description."""

_FILLED_LATER = re.compile(r" no `version`\Z|\Athe file has no `hooks`\Z")
"""What a release or an installer may write: a version, and the object around the events of hooks."""
_OF_SOURCE = re.compile(r"(?:\A|/)(?:src|[\w.]+[-_]source)/skills/")
"""Skills among the sources of a program, which reads them by its own rules."""
_REFUSAL = re.compile(r" (?:expects|refuses|skips|leaves|does not load) ")
_NEEDED = re.compile(
    r"`(?:(?:hooks|permissions|plugins)\b[^`]*|(?:[^`]*\.)?(?:mcpServers|servers|mcp|command|args|env|url|headers|name"
    r"|description))`"
)
_SERVERS_OF_AGENT = "expected a list for `mcpServers`"
"""Claude Code ignores a text as the servers of an agent, which has those of the project all the same."""


def moderated(
    diagnostics: tuple[Diagnostic, ...],
    own: AbstractSet[str],
    *,
    unclaimed: AbstractSet[str] = frozenset(),
    is_of_claude: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return the findings, in examples one severity lower, in templates and of conventions as information.

    An error of a rule that depends on a client's version, or on files that may be elsewhere, becomes a warning.

    Args:
        own: the files in octoc's own formats, as findings name them; their errors stay.
        unclaimed: the files that no client has at their path.
        is_of_claude: no other client reads the folder: Claude Code takes values without quotes.
    """
    files: dict[str, set[str]] = defaultdict(set)
    for one in diagnostics:
        if one.rule is check.UNKNOWN_FIELD and one.span is not None:
            files[one.subject].add(one.span.file)
    conventions = {subject for subject, names in files.items() if len(names) >= _CONVENTION}
    unread_lists = {one.span.file for one in diagnostics if one.rule is check.FOREIGN_SERVER_LIST and one.span}
    unread = {read.LENIENT_FRONT_MATTER} if is_of_claude else set()
    return tuple(
        attrs.evolve(one, severity=Severity.INFO)
        if one.rule in unread and one.span is not None and CLAUDE.home in PurePosixPath(one.span.file).parts
        else _moderated(one, conventions, unread_lists, own, unclaimed)
        for one in diagnostics
    )


def _moderated(
    one: Diagnostic,
    conventions: set[str],
    unread_lists: set[str],
    own: AbstractSet[str],
    unclaimed: AbstractSet[str],
) -> Diagnostic:
    if one.severity is Severity.INFO or one.span is None:
        return one
    file = one.span.file
    if one.rule in _OF_OCTOC or is_template(file) or (one.rule is check.UNKNOWN_FIELD and one.subject in conventions):
        return attrs.evolve(one, severity=Severity.INFO)
    if one.rule is read.UNREADABLE and OF_GIT_LFS in one.message:
        return attrs.evolve(one, severity=Severity.INFO)  # the owner's own checkout has the content
    if one.rule is read.YAML_SYNTAX and LIKE_A_TEMPLATE in one.notes:
        return attrs.evolve(one, severity=Severity.INFO)
    if one.rule is resolve.UNKNOWN_CAPABILITY and file not in own:
        return attrs.evolve(one, severity=Severity.INFO)  # a skill's key of another program
    # A client takes nothing from an empty file; an empty text is not JSON.
    if one.rule is read.EMPTY_FILE and not file.endswith(".json"):
        return attrs.evolve(one, severity=Severity.INFO)
    if one.rule is read.NO_FRONT_MATTER and _OF_SOURCE.search(file):
        return attrs.evolve(one, severity=Severity.INFO)
    if is_example(file):
        is_broken = one.severity is Severity.ERROR and one.rule is not NAMED_FILE_MISSING
        return attrs.evolve(one, severity=Severity.WARNING if is_broken else Severity.INFO)
    if file in unclaimed and one.severity is Severity.ERROR and one.rule not in _OF_ANY_CLIENT:
        return attrs.evolve(one, severity=Severity.INFO if one.rule is check.EMPTY_VALUE else Severity.WARNING)
    is_in_unread_list = one.rule is check.INCOMPLETE_SERVER and file in unread_lists
    if one.severity is Severity.ERROR and file not in own and (is_in_unread_list or not _is_certain(one, file)):
        return attrs.evolve(one, severity=Severity.WARNING)
    return one


def _is_certain(one: Diagnostic, file: str) -> bool:
    """Tell whether a client refuses what an error is about; a note on the client's refusal tells."""
    if one.rule is read.DUPLICATE_KEY:
        return file.endswith((".toml", ".yaml", ".yml"))  # readers of JSON and of front matter take one of the two
    if one.rule is read.TOML_SYNTAX and " is TOML 1.1" in one.message:
        return False  # a newer build of Codex may read it
    if one.rule is read.NOT_UTF8 and file.endswith((".json", ".md")) and one.message.startswith("byte "):
        return False  # Node.js and Bun put a replacement character in its place
    is_of_skills = one.rule in _OF_SKILLS or (one.rule is read.FRONT_MATTER_SYNTAX and " is empty" in one.message)
    if is_of_skills and PurePosixPath(file).name == SKILL_FILE and not skill_client(file, None).needs:
        return False
    if one.rule is check.MISSING_KEY and _FILLED_LATER.search(one.message):
        return False
    if one.rule is check.WRONG_TYPE and one.message.startswith(_SERVERS_OF_AGENT):
        return False
    is_refused = any(_REFUSAL.search(text) for text in (one.message, *one.notes))
    is_needed = one.rule in _BY_KEY and _NEEDED.search(one.message) is not None
    return is_refused or is_needed or one.rule in _CERTAIN
