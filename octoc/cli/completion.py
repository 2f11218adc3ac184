"""Completion in shells: names of agents, servers and tools from the built bundle, without the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

from octoc.cli.options import SECTIONS, Completed

if TYPE_CHECKING:
    from octoc.bundle.model import AgentEntry, Bundle

VARIABLE = "_OCTOC_COMPLETE"
"""The variable by which a shell asks `octoc` what may come next."""
_BUNDLES = "dist/*.octoc"
_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:$COMP_POINT}" word="${COMP_WORDS[COMP_CWORD]}" type value start=""
    # Bash splits words at `:`, which names of agents have, and replaces only the part after it.
    if [[ "$COMP_WORDBREAKS" == *:* ]]; then
        start="${line##*[[:space:]]}"
        [[ "$start" == *:* ]] && start="${start%%"${start##*:}"}" || start=""
    fi
    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == dir ]]; then
            compopt -o dirnames
        elif [[ $type == file ]]; then
            compopt -o default
        elif [[ $type == plain ]]; then
            COMPREPLY+=("${value#"$start"}")
        fi
    done < <(env COMP_WORDS="$line" %(complete_var)s=bash_complete "$1")
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Click's completion for bash, of names with a colon too."""

    source_template = _BASH

    def source(self) -> str:
        """Return the script; unlike click's, without starting bash to ask for its version."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the incomplete one, of the line as it was typed."""
        import os

        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        return (words, "") if not words or line[-1:].isspace() else (words[:-1], words[-1])


add_completion_class(Bash)


def _agents_items(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the agents of the bundle."""
    return _starting(incomplete, ((one.name, one.title) for one in _agents(ctx)))


def _servers_items(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the servers of the bundle."""
    bundle = _bundle(ctx)
    return _starting(incomplete, ((one.name, one.transport) for one in (() if bundle is None else bundle.servers)))


def _tools_items(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the tools of the bundle as `server/tool`."""
    return _starting(incomplete, _tools(ctx))


def _call_items(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return what may be the next word of `octoc call SERVER TOOL`: a tool as `server/tool`, or one of the server."""
    words = _words(ctx)
    if not words:
        return _starting(incomplete, _tools(ctx))
    tools = ((name.partition("/"), help_) for name, help_ in _tools(ctx))
    return _starting(incomplete, ((name, help_) for (server, _, name), help_ in tools if [server] == words))


def _show_items(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the sections of `octoc show`, and tools after `tool`."""
    words = _words(ctx)
    if words[:1] == ["tool"]:
        return _starting(incomplete, _tools(ctx))
    names = (*SECTIONS, "tool") if not words else SECTIONS
    return _starting(incomplete, ((name, "") for name in names if name not in words))


def _words(ctx: click.Context) -> list[str]:
    return [str(word) for word in ctx.params.get("words") or ()]


def _tools(ctx: click.Context) -> Iterator[tuple[str, str]]:
    bundle = _bundle(ctx)
    for one in () if bundle is None else bundle.tools:
        yield f"{one.server}/{one.name}", one.description


def _agents(ctx: click.Context) -> tuple[AgentEntry, ...]:
    bundle = _bundle(ctx)
    return () if bundle is None else bundle.agents


def _starting(incomplete: str, names: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=" ".join(help_.split())[:80] or None)
        for name, help_ in names
        if name.startswith(incomplete)
    ]


def _bundle(ctx: click.Context) -> Bundle | None:
    """Return the bundle of `--bundle`, or the newest one of the workspace; None if there is none that opens."""
    from octoc.bundle.reader import OpenBundle
    from octoc.bundle.refusal import BundleFileError

    named, workspace = ctx.params.get("bundle"), ctx.params.get("workspace")
    try:
        path = Path(named) if named else _newest(Path(workspace or "").absolute(), climbs=not workspace)
        return None if path is None else OpenBundle.open(path).bundle
    except (BundleFileError, OSError):
        return None


def _newest(folder: Path, *, climbs: bool) -> Path | None:
    for one in (folder, *folder.parents) if climbs else (folder,):
        bundles = sorted(one.glob(_BUNDLES), key=lambda path: path.stat().st_mtime)
        if bundles:
            return bundles[-1]
    return None


COMPLETERS: Mapping[Completed, Callable[[click.Context, str], list[CompletionItem]]] = {
    "agents": _agents_items,
    "servers": _servers_items,
    "tools": _tools_items,
    "call": _call_items,
    "show": _show_items,
}
"""What a parameter is completed with -> the names that begin as the incomplete word."""
