"""References to values that only the place of running knows, in texts of server definitions: found, and expanded.

- a variable: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{{ENV:VAR}}`
- an input, looked up like a variable: `${input:id}`, `{{INPUT:KEY}}`
- what is kept elsewhere: `${file:PATH}`, a file's text; `${keyring:SERVICE/USER}`, the system's keyring;
  `${cred:ID}`, a credential by its integer id; each with `:-default`, as a variable
- what the host knows: `${workspaceFolder}`, `${userHome}`, `${workspaceFolderBasename}`, `${pathSeparator}`, `${/}`
- no reference, but the literal `{{X}}`: `{{{{X}}}}`

It takes one pass: what was put in is not looked at again; only PATH may hold `${workspaceFolder}` and `${userHome}`. A
bare `$VAR` is text. Sources: the `.mcp.json` dialects of
Claude Code, Cursor and VS Code; Octomind's placeholders; Octopus's credential ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import attrs

ReferenceKind = Literal["env", "input", "builtin", "file", "keyring", "cred"]
Lookup = Callable[[str], str | None]

VARIABLE_KINDS: tuple[ReferenceKind, ...] = ("env", "input")
"""Those that are set by name, in an environment; the others are kept elsewhere."""

BUILTINS = ("workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/")

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_KEY = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_FOLDER = r"\$\{(?:workspaceFolder|userHome)\}"
_KEPT = rf"file:(?:[^{{}}$]|\$(?!\{{)|{_FOLDER})+?|keyring:[^{{}}/]+/[^{{}}]+?|cred:[0-9]+"
_FORM = re.compile(
    rf"\{{\{{\{{\{{(?P<escaped>[^{{}}]*)\}}\}}\}}\}}"
    rf"|\{{\{{(?P<mark>ENV|INPUT):(?P<key>{_KEY})\}}\}}"
    rf"|\$\{{(?P<builtin>{'|'.join(map(re.escape, BUILTINS))})\}}"
    rf"|\$\{{input:(?P<id>{_KEY})\}}"
    rf"|\$\{{(?P<kept>{_KEPT})(?::-(?P<otherwise>[^}}]*))?\}}"
    rf"|\$\{{(?:env:)?(?P<name>{_VARIABLE})(?::-(?P<default>[^}}]*))?\}}"
)


@attrs.frozen
class Reference:
    """One reference. `span` is where it stands in the text, in code points, half open; `default` None means no default.

    `name` is a variable's, an input's or a builtin's; of what is kept elsewhere it is the whole, as `file:/run/token`.
    """

    name: str
    default: str | None
    kind: ReferenceKind
    span: tuple[int, int]

    @property
    def needs_value(self) -> bool:
        """Whether someone must set a value for it: it has no default, and the host does not know it itself."""
        return self.kind != "builtin" and self.default is None


@attrs.frozen
class Expansion:
    """A text with its references replaced.

    `missing` are the names without a value, each once, in the text's order: those references are left as written.
    `values` are what variables and inputs were replaced by, defaults left out: what a message must not show.
    """

    text: str
    missing: tuple[str, ...] = ()
    values: tuple[str, ...] = attrs.field(default=(), repr=False)


def find_references(text: str) -> tuple[Reference, ...]:
    """Return every reference in `text`, in its order."""
    if "{" not in text:
        return ()
    return tuple(reference for _, reference in _forms(text) if reference is not None)


def variables_needed(value: Any) -> frozenset[str]:
    """Return the variables and inputs that must be set for the texts in a value, at any depth."""
    if isinstance(value, str):
        found = (one for one in find_references(value) if one.needs_value and one.kind in VARIABLE_KINDS)
        return frozenset(one.name for one in found)
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return frozenset(name for item in value for name in variables_needed(item))
    return frozenset()


def expand(text: str, lookup: Lookup, builtins: Mapping[str, str]) -> Expansion:
    """Return `text` with each reference replaced by its value, and each escape by what it stands for.

    Args:
        lookup: the value for a reference's name, or None. A default replaces an empty value.
        builtins: the values of BUILTINS, by name; see `builtins_of`.
    """
    parts: list[str] = []
    missing: dict[str, None] = {}
    values: dict[str, None] = {}
    end = 0
    for match, reference in _forms(text):
        parts.append(text[end : match.start()])
        end = match.end()
        if reference is None:
            parts.append("{{" + match["escaped"] + "}}")
            continue
        value = builtins.get(reference.name) if reference.kind == "builtin" else lookup(_looked_up(reference, builtins))
        if reference.default is not None and not value:
            parts.append(reference.default)
        elif value is None:
            missing[reference.name] = None
            parts.append(match[0])
        else:
            if reference.kind != "builtin" and value:
                values[value] = None
            parts.append(value)
    parts.append(text[end:])
    return Expansion("".join(parts), tuple(missing), tuple(values))


def unescaped(text: str) -> str:
    """Return `text` with each escape `{{{{X}}}}` replaced by the `{{X}}` that it stands for; references stay."""
    return _FORM.sub(lambda match: match[0] if match["escaped"] is None else "{{" + match["escaped"] + "}}", text)


def _looked_up(reference: Reference, builtins: Mapping[str, str]) -> str:
    if reference.kind != "file":
        return reference.name
    return re.sub(_FOLDER, lambda match: builtins.get(match[0][2:-1], match[0]), reference.name)


def builtins_of(workspace_folder: str, user_home: str | None) -> Mapping[str, str]:
    """Return the values of BUILTINS for a workspace's folder (absolute, POSIX) and the home of who runs it, if any."""
    values = {
        "workspaceFolder": workspace_folder,
        "workspaceFolderBasename": workspace_folder.rstrip("/").rpartition("/")[2],
        "pathSeparator": "/",
        "/": "/",
    }
    return values if user_home is None else {**values, "userHome": user_home}


def _forms(text: str) -> Iterator[tuple[re.Match[str], Reference | None]]:
    """Yield each form and what it refers to; None for an escape."""
    for match in _FORM.finditer(text):
        groups = match.groupdict()
        if groups["escaped"] is not None:
            yield match, None
        elif groups["builtin"] is not None:
            yield match, Reference(groups["builtin"], None, "builtin", match.span())
        elif groups["mark"] is not None:
            yield match, Reference(groups["key"], None, "env" if groups["mark"] == "ENV" else "input", match.span())
        elif groups["id"] is not None:
            yield match, Reference(groups["id"], None, "input", match.span())
        elif groups["kept"] is not None:
            yield match, Reference(groups["kept"], groups["otherwise"], _kept_kind(groups["kept"]), match.span())
        else:
            yield match, Reference(groups["name"], groups["default"], "env", match.span())


def _kept_kind(name: str) -> ReferenceKind:
    if name.startswith("file:"):
        return "file"
    return "keyring" if name.startswith("keyring:") else "cred"
