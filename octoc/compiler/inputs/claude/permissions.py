"""Permission rules: what each one matches, which ones Claude Code skips, and which ones another rule decides.

Source: Claude Code, permissions (2.1.240), with the versions that `tools.py` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

import attrs

from octoc.compiler.inputs.claude.tools import CONTENT_FIELDS, DOMAIN_TOOLS, PATH_TOOLS, TOOLS, nearest
from octoc.compiler.model.documents import Document, kept
from octoc.compiler.model.located import Located
from octoc.compiler.model.source import PermissionsSource

LISTS = ("allow", "ask", "deny")
MCP_PREFIX = "mcp__"
_ONE_LINE = re.compile(r"mcp_[A-Za-z0-9-]")
_RULE = re.compile(r"(?P<tool>[^()]*)(?:\((?P<specifier>.*)\))?", re.DOTALL)


@attrs.frozen
class Permission:
    """One rule. `specifier` is None where the rule is about every use of the tool."""

    tool: str
    specifier: str | None = None

    @property
    def server(self) -> str | None:
        """The server of an MCP rule, None for Claude Code's own tools."""
        return self.tool.removeprefix(MCP_PREFIX).partition("__")[0] if self.tool.startswith(MCP_PREFIX) else None

    def covers(self, other: Permission) -> bool:
        """Tell whether this rule matches each call that `other` matches."""
        if self.specifier is not None:
            return self == other
        if self.tool.startswith(MCP_PREFIX) and "__" not in self.tool.removeprefix(MCP_PREFIX):
            return other.tool == self.tool or other.tool.startswith(f"{self.tool}__")
        return fnmatchcase(other.tool, self.tool.replace("[", "[[]"))


@attrs.frozen
class Skipped:
    """Why Claude Code skips a rule, to follow the rule's text, and what to write instead."""

    why: str
    help: str | None = None
    near: tuple[str, ...] = ()
    """The tools that the rule may mean."""
    instead: str = ""
    """The rule that is applied in its place; where the list has it too, nothing is lost."""


def parse(text: str) -> Permission | None:
    """Return the rule that `text` is, None when its brackets do not match."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        return None
    specifier = match["specifier"]
    if specifier is not None and specifier.endswith(":*"):
        specifier = f"{specifier.removesuffix(':*')} *"
    return Permission(match["tool"].strip(), None if specifier in (None, "*", "") else specifier)


def why_skipped(text: str, kind: str) -> Skipped | None:
    """Return why Claude Code skips a rule of the list `kind`; None when it does not, or when a newer one may not."""
    rule = parse(text)
    if rule is None:
        return Skipped("does not end with the bracket that it opens", "write `Tool` or `Tool(what)`")
    if rule.server is not None:
        return _of_server(rule, text, kind)
    if _ONE_LINE.match(rule.tool) is not None:
        return Skipped("has one `_` after `mcp`, and names of servers' tools have two", "write `mcp__<server>__<tool>`")
    if "*" in rule.tool or ":" in rule.tool:
        return _of_pattern(rule, kind)
    if rule.tool not in TOOLS:
        near = nearest(rule.tool, TOOLS)
        return Skipped("names no tool of Claude Code", near=near) if near else None
    return None if rule.specifier is None else _of_specifier(rule, rule.specifier, kind)


def _of_server(rule: Permission, text: str, kind: str) -> Skipped | None:
    if "(" in text:
        return Skipped("has brackets, with which Claude Code skips a rule of a server", f"write `{rule.tool}`")
    if kind != "allow" or "*" not in rule.tool:
        return None
    server, separator, _ = rule.tool.removeprefix(MCP_PREFIX).partition("__")
    if separator and "*" not in server:
        return None
    return Skipped("has a `*` before a server's name is complete", "write `mcp__<server>__*` for each server")


def _of_pattern(rule: Permission, kind: str) -> Skipped | None:
    name, separator, _ = rule.tool.partition(":")
    if separator:
        return Skipped("names no tool of Claude Code", f"write `{name}`" if name in TOOLS else None)
    if kind == "allow":
        return Skipped("is a pattern of tools, which only `deny` and `ask` may have", "name the tools")
    return None


def _of_specifier(rule: Permission, specifier: str, kind: str) -> Skipped | None:
    if kind != "allow" and specifier.partition(":")[0].strip() == CONTENT_FIELDS.get(rule.tool) and ":" in specifier:
        return Skipped(f"matches the field `{CONTENT_FIELDS[rule.tool]}`, which no rule may", f"write `{rule.tool}(…)`")
    if rule.tool in PATH_TOOLS:
        instead = f"{PATH_TOOLS[rule.tool]}({specifier})"
        return Skipped("is not matched by file permission checks", f"write `{instead}`", instead=instead)
    if rule.tool in DOMAIN_TOOLS and "://" in specifier:
        return Skipped("has an address, and Claude Code compares domains", "write `WebFetch(domain:…)`")
    return None


def is_granted(text: str, others: Iterable[str]) -> bool:
    """Tell whether one of `others` matches each path that the rule `text` matches, as far as their patterns tell."""
    wanted = parse(text) if text else None
    return wanted is not None and any(
        rule.covers(wanted) or (rule.tool == wanted.tool and _holds(rule.specifier or "", wanted.specifier or ""))
        for rule in map(parse, others)
        if rule is not None
    )


def _holds(pattern: str, other: str) -> bool:
    # As in a `.gitignore`, a pattern without a slash holds in every folder.
    if other.startswith(("/", "~", "..")):
        return False
    return fnmatchcase(other.removeprefix("**/"), pattern.removeprefix("./").removeprefix("**/").replace("[", "[[]"))


def overruled(rules: Mapping[str, Iterable[tuple[int, str]]]) -> Iterator[tuple[str, int, str, int]]:
    """Yield each rule without effect, as list and index, and the rule that decides before it, likewise.

    Claude Code asks `deny` first, then `ask`, then `allow`; that a rule is narrower changes nothing.
    """
    parsed = {kind: [(at, rule) for at, text in rules[kind] if (rule := parse(text)) is not None] for kind in LISTS}
    for kind, stronger in (("allow", ("deny", "ask")), ("ask", ("deny",))):
        for at, rule in parsed[kind]:
            wins = ((other, where) for other in stronger for where, one in parsed[other] if one.covers(rule))
            first = next(wins, None)
            if first is not None:
                yield kind, at, *first


def permissions_source(document: Document) -> PermissionsSource:
    """Return the permission rules of settings, and the servers that they approve."""
    rules = document.values.get("permissions", {})
    place = document.place("permissions")
    return PermissionsSource(
        place=document.place(),
        rules=tuple(
            Located(text, place.child(kind, index)) for kind in LISTS for index, text in kept(rules.get(kind, ()))
        ),
    )
