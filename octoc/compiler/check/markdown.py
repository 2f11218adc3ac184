"""What the schemas of front matter cannot say: names that paths give, inline servers, unknown fields."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from octoc.compiler.check.fields import report_unknown_fields
from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.mcp import check_entry
from octoc.compiler.check.schemas import fields
from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.keys import KEYS_OF_CLIENTS
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import AGENT_FILE, AGENT_TYPES
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE, is_claude_s
from octoc.compiler.inputs.claude.start_scripts import copies_agents
from octoc.compiler.inputs.claude.tools import PERMISSION_MODES
from octoc.compiler.inputs.settings.plugins import CURSOR_PLUGIN_FILE
from octoc.compiler.inputs.skill import MAX_NAME, OCTOMIND, SKILL, SkillClient, is_of_client, skill_client
from octoc.compiler.model.documents import kept
from octoc.compiler.scope.hosts import HOST_TOOLS, host_name
from octoc.diagnostics.model import Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.read import NO_FRONT_MATTER
from octoc.diagnostics.suggest import did_you_mean, near_miss, slips_of
from octoc.lists import one_of
from octoc.names import is_name

_RESTRICTING = frozenset({"allowed-tools", "allowed_tools", "allowedTools"})
"""What skills and commands of Claude Code, and other clients, call the tools of an agent."""
_RESTRICTING_SKILLS = frozenset({"tools", "allowed_tools", "allowedTools"})
_OF_AUTHORS = frozenset({"agents", "domain", "capability", "rule"})
"""Metadata of catalogues, such as the clients of a skill, that is near a key of a client."""
_NAMES = "expected letters, digits, `-`, `_` and `.`, starting with a letter or a digit"
_NOT_OF_PLUGINS = frozenset({"permissionMode", "hooks", "mcpServers"})
"""Source: Claude Code, plugins reference."""
_USUAL_AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")


def agent_name_from_path(display: str) -> str:
    """Return what an agent without a `name` is called: its folder for an AGENT.md, else its file's stem."""
    path = PurePosixPath(display)
    return path.parent.name if path.name == AGENT_FILE else path.stem


def is_documentation(values: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Report and cut a Markdown file without a name among Claude Code's agents; tell whether it is one.

    One that `extends` another, and has no description, is for a program that merges it.
    """
    if inspection.file.dialect.needs_name and "extends" in values and "description" not in values:
        return True
    if not inspection.file.dialect.needs_name or values.get("name") is not None:
        return False
    is_agent = not {"description", "tools", "model"}.isdisjoint(values)
    inspection.report(
        rules.AGENT_WITHOUT_NAME,
        "the file has no `name`: it is taken for documentation and skipped",
        (),
        cut=(),
        help="add `name` and `description` to make it an agent",
        severity=Severity.WARNING if is_agent else None,
    )
    return True


def _check_mode(mode: object, inspection: FileInspection) -> None:
    """Report a permission mode that Claude Code does not know; "manual" and "delegate" are of some versions."""
    if not isinstance(mode, str) or mode in {*PERMISSION_MODES, "manual", "delegate"} or "{{" in mode:
        return
    near = near_miss(mode, PERMISSION_MODES)
    inspection.report(
        rules.UNEXPECTED_VALUE,
        f"Claude Code knows no permission mode `{in_one_line(mode)}`, so the agent has none of its own",
        ("permissionMode",),
        help=f"did you mean `{near}`?" if near else f"expected {one_of(PERMISSION_MODES)}",
        severity=Severity.WARNING,
    )


def check_agent(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check an agent in Markdown whose schema is met; one unsound inline server is cut, not the agent."""
    restricting = _RESTRICTING & values.keys()
    for key in sorted(restricting) if not _is_of_cursor(inspection.file.path.parent.parent) else ():
        inspection.report(
            rules.RESTRICTION_NOT_IN_FORCE,
            f"{inspection.file.dialect.client} does not read `{key}` in an agent"
            + ("" if "tools" in values else ", so the agent has every tool"),
            (key,),
            key=True,
            help="call it `tools`" if "tools" not in values else "delete it: `tools` says what the agent has",
        )
    is_claude = inspection.file.dialect is CLAUDE
    has_mode = is_claude and values.get("mode") in PERMISSION_MODES
    if has_mode:
        message = "Claude Code does not read `mode` in an agent"
        inspection.report(rules.UNKNOWN_FIELD, message, ("mode",), key=True, help="call it `permissionMode`")
    known = fields(AGENT_MD) | restricting | ({"mode"} if has_mode else set())
    report_unknown_fields(values, known, (), inspection, open_ended=True, of_others=KEYS_OF_CLIENTS)
    if is_claude and (inspection.file.path.parent.parent / PLUGIN_FILE).is_file():
        is_copied = copies_agents(inspection.file.path.parent.parent)
        for key in sorted(_NOT_OF_PLUGINS & values.keys()) if not is_copied else ():
            inspection.report(
                rules.RESTRICTION_NOT_IN_FORCE,
                f"Claude Code does not read `{key}` in an agent of a plugin",
                (key,),
                key=True,
                help="leave it to the user's settings, or copy the agent to `.claude/agents`",
                # Without any other mode Claude Code asks, which is safe.
                severity=Severity.INFO if key == "permissionMode" and values[key] != "plan" else None,
            )
    if is_claude:
        _check_mode(values.get("permissionMode"), inspection)
    name = values.get("name")
    if name is None:
        name = agent_name_from_path(inspection.file.display)
        inspection.report(
            rules.AGENT_NAME_FROM_PATH,
            f"the agent has no `name`: its path makes it `{name}`",
            (),
            help=f"add `name: {name}`",
        )
    elif not _USUAL_AGENT_NAME.match(name) and "{{" not in name:
        inspection.report(
            rules.UNUSUAL_AGENT_NAME,
            f"agent name `{name}` is one that some clients refuse: expected lower-case letters, digits and `-`",
            ("name",),
            help=f"call it `{_usual(name)}`" if is_name(_usual(name)) else None,
            # An agent outside of Claude Code's folders may be for any client, which reads letters of other scripts.
            severity=Severity.INFO
            if not name.isascii() or (is_claude and not is_claude_s(inspection.file.path))
            else None,
        )
    written = values.get("type")
    # Claude Code reads no `type`, so another word there is the author's own.
    if written and written not in AGENT_TYPES and (not is_claude or slips_of(written, AGENT_TYPES)):
        inspection.report(
            rules.UNEXPECTED_VALUE,
            f"unknown agent type `{written}`, so the agent is a worker: expected {one_of(AGENT_TYPES)}",
            ("type",),
            help=did_you_mean(written, AGENT_TYPES),
            severity=Severity.WARNING,
        )
    for index, item in kept(values.get("mcpServers", [])):
        if isinstance(item, Mapping):
            for server, entry in item.items():
                check_entry(server, entry, ("mcpServers", index, server), inspection)


def _is_of_cursor(plugin: Path) -> bool:
    """Tell whether a folder is a plugin of Cursor alone, whose agents have `readonly`."""
    return (plugin / CURSOR_PLUGIN_FILE).is_file() and not (plugin / PLUGIN_FILE).is_file()


def check_skill(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a skill whose schema is met, by the rules of the client in whose folder it lies."""
    reader = skill_client(inspection.file.display, inspection.file.tap)
    restricting = {key for key in _RESTRICTING_SKILLS & values.keys() if _names_tools(values[key])}
    for key in sorted(restricting):
        inspection.report(
            rules.RESTRICTION_NOT_IN_FORCE,
            f"{reader.client} does not read `{key}` in a skill",
            (key,),
            key=True,
            help="call it `allowed-tools`" if "allowed-tools" not in values else "delete it: `allowed-tools` is there",
            severity=Severity.INFO,  # a skill's list only spares questions: it restricts nothing
        )
    own = frozenset[str]() if reader is OCTOMIND else _OF_AUTHORS
    report_unknown_fields(values, fields(SKILL) | restricting, (), inspection, open_ended=True, of_others=own)
    if values:  # a file without front matter is reported where it is read
        _check_needs(values, reader, inspection)
        if reader.refuses_mark and _has_mark(inspection.file.path):
            inspection.report(
                NO_FRONT_MATTER,
                f"the file begins with a byte order mark, behind which {reader.client} finds no front matter",
                (),
                help="save it as UTF-8 without a byte order mark",
            )
    _check_name(values, reader, inspection)
    description = " ".join(str(values.get("description") or "").split())
    if 0 < reader.max_description < len(description):
        inspection.report(
            rules.LONG_SKILL_TEXT,
            f"the description has {len(description):,} characters, {reader.client} reads at most "
            f"{reader.max_description:,}: {reader.too_long}",
            ("description",),
            help="say first what the skill does and when it is needed; move the rest to the text of the skill",
        )


def _has_mark(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(BOM_UTF8)) == BOM_UTF8
    except OSError:
        return False


def in_one_line(text: str) -> str:
    """Return a text as a message quotes it, with its lines joined."""
    return " ".join(text.split())


def _names_tools(value: Any) -> bool:
    """Tell whether a list has tools of Claude Code alone; other programs have lists of this name, too."""
    names = [name for name, _ in names_in(value)]
    return bool(names) and all(host_name(name) in HOST_TOOLS or name.startswith("mcp__") for name in names)


def _check_needs(values: Mapping[str, Any], reader: SkillClient, inspection: FileInspection) -> None:
    for key in ("name", "description"):
        if key in values:
            continue
        if key in reader.needs:
            inspection.report(
                rules.MISSING_KEY,
                f"the skill has no `{key}`: {reader.client} skips it",
                (),
                cut=(),
                help=f"add `{key}`",
            )
            continue
        if key == "name" and not reader.wants:
            # The folder's name stands in. `npx skills` installs skills of a repository and its plugins for any client.
            if not is_of_client(inspection.file.display):
                inspection.sink.report(
                    rules.MISSING_KEY,
                    f"the skill has no `name`: {reader.client} takes the folder's, and other clients skip the skill",
                    at=Place(file=inspection.file.display),
                    help="add `name`",
                    severity=Severity.INFO,
                    subject=f"{reader.client} {key}",
                )
            continue
        effect = f"{reader.client} wants it" if reader.wants else f"{reader.client} takes its first paragraph"
        inspection.sink.report(
            rules.MISSING_KEY,
            f"the skill has no `{key}`: {effect}, and other clients skip the skill",
            at=Place(file=inspection.file.display),
            help=f"add `{key}`",
            severity=Severity.WARNING,
            subject=f"{reader.client} {key}",
        )


def _check_name(values: Mapping[str, Any], reader: SkillClient, inspection: FileInspection) -> None:
    """Report a name that is not valid, too long, or not the folder's."""
    folder = PurePosixPath(inspection.file.display).parent.name
    name = values.get("name", folder)
    if not folder:
        return  # a repository that is one skill may be called as one likes
    if not is_name(name):
        if reader is OCTOMIND:
            inspection.report(rules.BAD_NAME, f"`{in_one_line(name)}` is not a valid name: {_NAMES}", ("name",), cut=())
            return
        inspection.cuts.add(("name",))
    if len(name) > MAX_NAME:
        inspection.report(
            rules.LONG_SKILL_TEXT,
            f"the name has {len(name)} characters: the Agent Skills specification allows {MAX_NAME}",
            ("name",),
            help="shorten it, and call the folder as the skill",
        )
    if name == folder:
        return
    if reader is OCTOMIND:
        inspection.report(
            rules.SKILL_NAME_DIFFERS,
            f"skill `{name}` is in folder `{folder}`: Octomind never activates it",
            ("name",),
            help="give folder and skill the same name",
        )
        return
    shown = in_one_line(name)
    calls = f"; {reader.client} calls the skill `{folder}`" if reader.calls_by_folder else ""
    differs = rules.SKILL_NAME_DIFFERS, f"skill `{shown}` is in folder `{folder}`"
    rule, message = differs if is_name(name) else (rules.BAD_NAME, f"`{shown}` is not a valid name: {_NAMES}")
    effect, severity = "", Severity.INFO
    if reader.wants_folder_name:
        effect, severity = f": {reader.client} skips the skill", Severity.ERROR
    elif reader.is_shared and rule is rules.BAD_NAME:
        # Claude Code, Codex, Copilot and OpenCode take it. Source: Cline 3.87, issue 11268.
        calls, severity = "; Cline, which reads this folder, too, skips the skill", Severity.WARNING
    inspection.sink.report(
        rule,
        f"{message}{effect}",
        at=Place(file=inspection.file.display).child("name"),
        help=f"the Agent Skills specification wants the folder's name{calls}",
        severity=severity,
        subject=f"{reader.client} name",
    )


def _usual(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
