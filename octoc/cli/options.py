"""Options that several commands share, each written once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from octoc.compiler.inputs.registry import FileForm

Command = Callable[..., int]

SECTIONS = ("capabilities", "agents", "skills", "servers", "tools", "resources", "prompts", "routing", "tokens")
"""What `octoc show` prints."""

Completed = Literal["agents", "servers", "tools", "call", "show"]


def completes(what: Completed) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what completes a parameter in a shell: names of the bundle, read when a shell asks."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from octoc.cli.completion import COMPLETERS

        return COMPLETERS[what](ctx, incomplete)

    return complete


workspace_option = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The workspace's folder. Default: this folder or the nearest parent with an octoc.toml.",
)
bundle_option = click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The bundle to open. Default: the workspace's dist/<name>.octoc, built if missing.",
)
trust_option = click.option(
    "--trust",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Open the bundle only if a key of this trust file signed it.",
)
agent_option = click.option(
    "--agent",
    default="supervisor",
    show_default=True,
    metavar="NAME",
    shell_complete=completes("agents"),
    help="As which agent.",
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Also show infos and log messages.")
no_cache_option = click.option("--no-cache", is_flag=True, help="Do not read or write the user's cache folder.")
allow_degraded_option = click.option(
    "--allow-degraded",
    is_flag=True,
    help="Build without vectors if the encoder is missing or fails; routing and search then use words only.",
)
fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["none", "info", "warning", "error"]),
    default="error",
    show_default=True,
    help="Exit with 1 if there is a finding of this severity or above; `none`: never.",
)


def format_options(*formats: str) -> Callable[[Command], Command]:
    """Add `--output-format` with these choices, the first by default, and `--json`, which is short for one of them."""

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def merged(*args: Any, as_json: bool, output_format: str, **rest: Any) -> int:
            return function(*args, output_format="json" if as_json else output_format, **rest)

        choice = click.option(
            "--output-format", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
        )
        short = click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
        return short(choice(merged))

    return decorate


def form_named(kind: str) -> FileForm:
    """Return the kind of file, and the dialect, that a value of `--kind` names. Raises: click.UsageError."""
    from octoc.compiler.inputs.registry import FileKinds
    from octoc.diagnostics.suggest import did_you_mean
    from octoc.plugin.manager import Plugins

    forms = FileKinds(Plugins(names=None)).named
    if kind not in forms:
        hint = did_you_mean(kind, forms) or f"expected one of {', '.join(forms)}"
        raise click.UsageError(f"unknown kind `{kind}`: {hint}")
    return forms[kind]
