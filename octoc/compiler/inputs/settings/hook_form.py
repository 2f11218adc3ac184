"""How a client writes hooks: its events, and what an entry needs to run; the forms in settings of several clients.

Sources: Codex, `config/src/hook_config.rs` (2026): it ignores events that it does not know; the list is that of all
versions. Qwen Code, hooks reference and `hooks/types.ts` (2026). Augment, hooks of Auggie
(docs.augmentcode.com/cli/hooks, November 2026): five events, and no other. Gemini CLI 0.56, `hooks/types.ts`: it warns
of any other event at its start.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.compiler.inputs.claude.tools import EVENTS as CLAUDE_EVENTS


@attrs.frozen(kw_only=True, eq=False)
class HookForm:
    """One client's form of `hooks`.

    Args:
        events: the events that the client has.
        other_events: events of other clients, and names of earlier versions -> those of this one.
        is_flat: the entries of an event stand in its list; otherwise in groups, each with a list `hooks`.
        takes_groups: a flat form may have groups, too.
        runs: a `type` of an entry -> the keys of which it needs one. Entries of any other type are not judged.
        usual: the type of an entry without `type`.
        working_folder: the key of an entry that says where its command runs, relative to the project.
        needs_own_event: another client has a file at the same path: the file is this one's if it has one of its events.
    """

    events: frozenset[str]
    other_events: Mapping[str, str] = attrs.field(factory=dict)
    is_flat: bool = False
    takes_groups: bool = False
    runs: Mapping[str, tuple[str, ...]] = attrs.field(factory=lambda: {"command": ("command",)})
    usual: str = "command"
    working_folder: str = ""
    needs_own_event: bool = False


_OF_GEMINI = {
    "BeforeTool": "PreToolUse", "AfterTool": "PostToolUse", "BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
}  # fmt: skip
"""Events of Gemini CLI -> those of Claude Code and of clients that follow it."""
CODEX_HOOK_FORM = HookForm(
    events=frozenset({
        "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "SessionEnd",
        "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "StopFailure", "Interrupt",
    }),
    other_events=_OF_GEMINI,
)  # fmt: skip

GEMINI_HOOK_FORM = HookForm(
    events=frozenset({
        "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
        "Notification", "SessionStart", "SessionEnd", "PreCompress",
    }),
    other_events={other: own for own, other in _OF_GEMINI.items()},
)  # fmt: skip

AUGMENT_HOOK_FORM = HookForm(events=frozenset({"PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd"}))

QWEN_HOOK_FORM = HookForm(
    events=CLAUDE_EVENTS | {"QueryEnd", "TodoCompleted", "TodoCreated"},
    other_events=_OF_GEMINI,
)  # fmt: skip
"""Qwen Code has most events of Claude Code, and more of them with each version."""
