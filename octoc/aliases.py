"""What a model calls a tool: aliases that fit every model API, and the reading of a name that a model wrote."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from octoc.choices import AliasStyle
from octoc.names import ToolId

MAX_ALIAS = 64
"""The longest tool name that the model APIs take, in characters."""
_HEX = 8
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")

RESERVED = frozenset({"find_tools", "call_mcp_tool", "capability", "skill", "read_result"})
"""octoc's own tools: no server's tool is called so, whatever the style."""


def sanitize(text: str) -> str:
    """Return `text` with every character that a model API refuses in a tool's name replaced by `_`."""
    return _OUTSIDE.sub("_", text)


def own_alias(tool: ToolId, style: AliasStyle = "qualified") -> str:
    """Return what a tool is called where no other would be called the same; it depends on no other tool."""
    plain = _plain(tool, style)
    return _cut(plain, tool, _HEX if len(plain) > MAX_ALIAS else 0)


def alike(ids: Iterable[ToolId], style: AliasStyle = "qualified") -> tuple[tuple[ToolId, ...], ...]:
    """Return the groups of tools whose plain names are the same, in order."""
    groups = _groups({tool: _plain(tool, style) for tool in ids})
    return tuple(tuple(group) for group in groups if len(group) > 1)


def make_aliases(ids: Iterable[ToolId], style: AliasStyle = "qualified") -> Mapping[ToolId, str]:
    """Return each tool's alias, in the order of `ids`: its own, but where two would be called the same.

    An alias matches `[A-Za-z0-9_-]{1,64}`, and no two are equal. Qualified is `server__tool`; what is too long, and
    each of two alike, is cut and ends in `_` and 8 hex digits of the id's SHA-256. Bare is the tool's own name; those
    of one name, and what is called like one of octoc's own tools, get their qualified aliases.
    """
    distinct = list(dict.fromkeys(ids))
    plain = {tool: _plain(tool, style) for tool in distinct}
    if style == "bare":
        plain |= {tool: _plain(tool, "qualified") for group in alike(distinct, style) for tool in group}
    digits = {tool: _HEX if len(plain[tool]) > MAX_ALIAS else 0 for tool in distinct}
    while True:
        aliases = {tool: _cut(plain[tool], tool, digits[tool]) for tool in distinct}
        same = [tool for group in _groups(aliases) if len(group) > 1 for tool in group]
        if not same:
            return aliases
        # A second round is for a name that is written like another's digest, and for digests that begin alike.
        for tool in same:
            digits[tool] += _HEX


def digest_alias(tool: ToolId, taken: Collection[str]) -> str:
    """Return an alias that ends in the id's digest and is not among `taken`, for a tool that comes after them."""
    plain = _plain(tool, "qualified")
    digits = _HEX
    while (alias := _cut(plain, tool, digits)) in taken:
        digits += _HEX
    return alias


def _plain(tool: ToolId, style: AliasStyle) -> str:
    """Return a tool's name before it is cut."""
    bare = (sanitize(tool.tool) or "_") if style == "bare" else ""
    return sanitize(f"{tool.server}__{tool.tool}") if bare in RESERVED or not bare else bare


def _groups(names: Mapping[ToolId, str]) -> Iterable[list[ToolId]]:
    groups: dict[str, list[ToolId]] = {}
    for tool, name in names.items():
        groups.setdefault(name, []).append(tool)
    return groups.values()


def _cut(plain: str, tool: ToolId, digits: int) -> str:
    if not digits:
        return plain
    # In a later round the text itself may be what two ids share: `a/b` and `c`, `a` and `b/c`.
    text = str(tool) if digits == _HEX else f"{tool.server}\0{tool.tool}"
    # `surrogatepass` because a recorded name may hold a lone surrogate.
    import hashlib  # not at the top: only an alias that is cut needs it

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{plain[: MAX_ALIAS - 1 - len(digest)]}_{digest}"


class ToolNames:
    """The names that one agent may use, each form of them, over the tools of its registry and no others.

    Understood are the alias, `server/tool`, `server:tool`, `mcp__server__tool` (other characters `_`), and a bare name;
    the first form in this order that fits decides. A tool that is called as one of octoc's own has no bare name.
    """

    def __init__(self, tools: Iterable[tuple[int, ToolId, str]]) -> None:
        """Take (index, identity, alias) of each tool."""
        self._forms: tuple[dict[str, list[int]], ...] = ({}, {}, {}, {}, {})
        for index, tool, alias in tools:
            written = (
                alias,
                str(tool),
                f"{tool.server}:{tool.tool}",
                f"mcp__{sanitize(tool.server)}__{sanitize(tool.tool)}",
                tool.tool,
            )
            for form, name in zip(self._forms, written, strict=True):
                if name not in RESERVED:
                    form.setdefault(name, []).append(index)

    def resolve(self, text: str) -> int | tuple[int, ...] | None:
        """Return the index of the tool that `text` names, all candidates when several have that name, or None."""
        for form in self._forms:
            found = form.get(text)
            if found:
                return found[0] if len(found) == 1 else tuple(found)
        return None
