"""`octoc completion SHELL`: the script that completes octoc's command line in a shell."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script of SHELL.

    It completes commands, options, and the agents, servers and tools of the workspace's built bundle. Put
    `eval "$(octoc completion bash)"` into ~/.bashrc, the same with zsh into ~/.zshrc after compinit, or
    `octoc completion fish | source` into ~/.config/fish/config.fish.
    """
    from click.shell_completion import get_completion_class

    from octoc.cli.completion import VARIABLE
    from octoc.cli.root import root

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for `{shell}`")
    click.echo(kind(root, {}, "octoc", VARIABLE).source())
    return 0
