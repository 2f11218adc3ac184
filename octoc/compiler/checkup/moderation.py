"""Lower severities by what a scan of a folder knows: where a file lies, and what many of its files have in common."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

import attrs

from octoc.compiler.discover.broken_links import OUTSIDE
from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.mcp.gemini import EXTENSION_FILE
from octoc.compiler.inputs.skill import SKILL_FILE, skill_client
from octoc.compiler.policy.examples import is_archived, is_example, is_template
from octoc.compiler.read.text import OF_GIT_LFS
from octoc.compiler.read.yaml_file import LIKE_A_TEMPLATE
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Certainty, Rule, Severity
from octoc.diagnostics.rules import check, read, resolve
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.rules.resolve import KNOWN_TOKEN

_CONVENTION = 5
"""Least files with one unknown key that make it the owner's own."""
_FILLED_LATER = re.compile(r" no `version`\Z|\Athe file has no `hooks`\Z")
"""What a release or an installer may write: a version, and the object around the events of hooks."""
_OF_SOURCE = re.compile(r"(?:\A|/)(?:src|[\w.]+[-_]source)/skills/")
"""Skills among the sources of a program, which reads them by its own rules."""
_TAKEN_EMPTY = re.compile(r"(?:\A|/)(?:\.claude/settings(?:\.local)?|\.vscode/[^/]+)\.json\Z")
"""Files that Claude Code and VS Code take for an object without keys when they are empty."""
_OF_OCTOMIND = re.compile(r"`(?:domains|rules|capabilities)(?:\[\d+\])?`")
"""Keys that only Octomind reads in a skill."""
_AGENT_OF_PLUGIN = re.compile(r"(?:\A|/)plugins/[^/]+/agents/")
_REFUSAL = re.compile(r" (?:expects|refuses|skips|leaves|does not load) ")
_NEEDED = re.compile(
    r"`(?:(?:hooks|permissions|plugins)\b[^`]*|(?:[^`]*\.)?(?:mcpServers|servers|mcp|command|args|env|url|headers|name"
    r"|description))`"
)
_OF_AUTH = " in an `auth` "
_NO_DESCRIPTION = "the file has no `description`"
"""Claude Code 2.1 gives a plugin's agent without one a description of its own; it skips such an agent of a project."""
_SERVERS_OF_AGENT = "expected a list for `mcpServers`"
"""Claude Code ignores a text as the servers of an agent, which has those of the project all the same."""

_SERVERS_OF_EXTENSION = "expected an object for `mcpServers`, found a list"
"""Gemini CLI 0.56 takes the numbers of the list for the servers' names in an extension."""
_SHAPE = frozenset({
    read.NOT_STRICT_JSON, check.MISSING_KEY, check.WRONG_TYPE, check.EMPTY_VALUE, check.BAD_NAME,
    check.INCOMPLETE_SERVER,
})  # fmt: skip
"""What may be unfinished in a file with values to fill in."""

_Test = Callable[[Diagnostic, str], bool]
"""Tells something of a finding and the file that it is in."""


def _is_skill_read_without(file: str) -> bool:
    """Tell whether a file is a skill whose client takes one without name and description."""
    return PurePosixPath(file).name == SKILL_FILE and not skill_client(file, None).needs


def _is_key_of_octomind(one: Diagnostic, file: str) -> bool:
    is_of_skill = one.rule is check.WRONG_TYPE and PurePosixPath(file).name == SKILL_FILE
    return is_of_skill and _OF_OCTOMIND.search(one.message) is not None


_INFORMATION: Mapping[Rule, _Test] = {
    # A release writes it.
    check.MISSING_KEY: lambda one, file: (
        PurePosixPath(file).name == "server.json" and one.message == "the file has no `version`"
    ),
    # Only the owner's machine has what lies outside of the repository.
    read.BROKEN_LINK: lambda one, _: one.subject == OUTSIDE,
    # The owner's own checkout has the content.
    read.UNREADABLE: lambda one, _: OF_GIT_LFS in one.message,
    read.YAML_SYNTAX: lambda one, _: LIKE_A_TEMPLATE in one.notes,
    # A client takes nothing from an empty file; an empty text is not JSON, but these two take it.
    read.EMPTY_FILE: lambda _, file: not file.endswith(".json") or _TAKEN_EMPTY.search(file) is not None,
    read.NO_FRONT_MATTER: lambda _, file: _OF_SOURCE.search(file) is not None,
    # Claude Code writes its agents so by itself. Its skills are read by other clients, too.
    read.LENIENT_FRONT_MATTER: lambda _, file: (
        (CLAUDE.home in PurePosixPath(file).parts and PurePosixPath(file).name != SKILL_FILE)
        or _AGENT_OF_PLUGIN.search(file) is not None
    ),
}
"""Rules with findings that are information, and which."""

_UNCERTAIN: Mapping[Rule, _Test] = {
    # Readers of JSON and of front matter take one of the two.
    read.DUPLICATE_KEY: lambda _, file: not file.endswith((".toml", ".yaml", ".yml")),
    # A newer build of Codex may read it.
    read.TOML_SYNTAX: lambda one, _: " is TOML 1.1" in one.message,
    # Clients read a text with one such character in it.
    read.BINARY_FILE: lambda _, file: file.endswith((".md", ".mdc")),
    # Node.js and Bun put a replacement character in its place.
    read.NOT_UTF8: lambda one, file: file.endswith((".json", ".md")) and one.message.startswith("byte "),
    read.FRONT_MATTER_SYNTAX: lambda one, file: (
        (" is empty" in one.message and _is_skill_read_without(file))
        or (PurePosixPath(file).name == SKILL_FILE and skill_client(file, None).takes_any_front_matter)
    ),
    check.MISSING_KEY: lambda one, file: (
        _FILLED_LATER.search(one.message) is not None
        or (one.message == _NO_DESCRIPTION and not any(part.startswith(".") for part in PurePosixPath(file).parts))
    ),
    check.WRONG_TYPE: lambda one, file: (
        one.message.startswith(_SERVERS_OF_AGENT)
        or (one.message == _SERVERS_OF_EXTENSION and PurePosixPath(file).name == EXTENSION_FILE)
        or _is_skill_read_without(file)
    ),
    check.EMPTY_VALUE: lambda _, file: _is_skill_read_without(file),
}
"""Rules with findings that a client may take all the same, and which."""


def moderated(
    diagnostics: tuple[Diagnostic, ...],
    own: AbstractSet[str],
    *,
    unclaimed: AbstractSet[str] = frozenset(),
    unread: AbstractSet[str] = frozenset(),
    unfilled: AbstractSet[str] = frozenset(),
    vendored: AbstractSet[str] = frozenset(),
    is_of_claude: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return the findings, in examples one severity lower, in templates and of conventions as information.

    An error of a rule that depends on a client's version, or on files that may be elsewhere, becomes a warning.

    Args:
        own: the files in octoc's own formats, as findings name them; their errors stay.
        unclaimed: the files that no client has at their path.
        unread: the files that their client does not read at their path; only tokens in them are errors.
        unfilled: the files with values to fill in, whose shape may be unfinished, too.
        vendored: the files of others that the folder passes on; they count as examples.
        is_of_claude: no other client reads the folder: Claude Code takes values without quotes.
    """
    files: dict[str, set[str]] = defaultdict(set)
    for one in diagnostics:
        if one.rule is check.UNKNOWN_FIELD and one.span is not None:
            files[one.subject].add(one.span.file)
    conventions = {subject for subject, names in files.items() if len(names) >= _CONVENTION}
    named = Counter(PurePosixPath(one.span.file).parents[1] for one in diagnostics if _is_odd_name(one) and one.span)
    unread_lists = {one.span.file for one in diagnostics if one.rule is check.FOREIGN_SERVER_LIST and one.span}
    unquoted = {read.LENIENT_FRONT_MATTER} if is_of_claude else set()
    return tuple(
        attrs.evolve(one, severity=Severity.INFO)
        if one.span is not None
        and (
            (one.rule in unquoted and CLAUDE.home in PurePosixPath(one.span.file).parts)
            or (_is_odd_name(one) and named[PurePosixPath(one.span.file).parents[1]] >= _CONVENTION)
        )
        else _moderated(one, conventions, unread_lists, own, unclaimed, unread, unfilled, vendored)
        for one in diagnostics
    )


def _is_odd_name(one: Diagnostic) -> bool:
    """Tell whether a finding is about the name of a skill that only some clients refuse."""
    is_of_skill = one.span is not None and PurePosixPath(one.span.file).name == SKILL_FILE
    return is_of_skill and one.rule is check.BAD_NAME and one.severity is Severity.WARNING


def _moderated(
    one: Diagnostic,
    conventions: set[str],
    unread_lists: set[str],
    own: AbstractSet[str],
    unclaimed: AbstractSet[str],
    unread: AbstractSet[str],
    unfilled: AbstractSet[str],
    vendored: AbstractSet[str],
) -> Diagnostic:
    if one.severity is Severity.INFO or one.span is None:
        return one
    file = one.span.file
    is_harmless = _INFORMATION.get(one.rule)
    if (
        one.rule.certainty is Certainty.OCTOC
        or is_template(file)
        or is_archived(file)
        or (is_harmless is not None and is_harmless(one, file))
        or (one.rule is check.UNKNOWN_FIELD and one.subject in conventions)
        # Each reader has credentials in a form of its own.
        or (file in unclaimed and one.rule is check.UNKNOWN_KEY and _OF_AUTH in one.message)
        # A skill's key of another program.
        or (file not in own and (one.rule is resolve.UNKNOWN_CAPABILITY or _is_key_of_octomind(one, file)))
    ):
        return attrs.evolve(one, severity=Severity.INFO)
    if is_example(file) or file in vendored:
        is_broken = one.severity is Severity.ERROR and one.rule is not NAMED_FILE_MISSING
        return attrs.evolve(one, severity=Severity.WARNING if is_broken else Severity.INFO)
    if one.severity is not Severity.ERROR or file in own:
        return one
    if file in unclaimed and one.rule.certainty is not Certainty.ANY_READER:
        return attrs.evolve(one, severity=Severity.INFO if one.rule is check.EMPTY_VALUE else Severity.WARNING)
    if (file in unread and one.rule is not KNOWN_TOKEN) or (file in unfilled and one.rule in _SHAPE):
        return attrs.evolve(one, severity=Severity.WARNING)
    is_in_unread_list = one.rule is check.INCOMPLETE_SERVER and file in unread_lists
    return attrs.evolve(one, severity=Severity.WARNING) if is_in_unread_list or not _is_certain(one, file) else one


def _is_certain(one: Diagnostic, file: str) -> bool:
    """Tell whether a client refuses what an error is about; a note on the client's refusal tells."""
    may_be_taken = _UNCERTAIN.get(one.rule)
    if may_be_taken is not None and may_be_taken(one, file):
        return False
    certainty = one.rule.certainty
    return (
        certainty in (Certainty.ANY_READER, Certainty.CLIENT)
        or (certainty is Certainty.NEEDED_KEY and _NEEDED.search(one.message) is not None)
        or any(_REFUSAL.search(text) for text in (one.message, *one.notes))
    )
