"""`completion`: what makes a shell complete commands, options, projects and kinds."""

from __future__ import annotations

import os
from pathlib import Path

import click

SHELLS = {
    "bash": "mdmem completion bash >> ~/.bashrc",
    "zsh": "mdmem completion zsh >> ~/.zshrc",
    "fish": "mdmem completion fish > ~/.config/fish/completions/mdmem.fish",
}
"""A shell -> the line that sets completion up."""


@click.command()
@click.argument("shell", metavar="[SHELL]", type=click.Choice(list(SHELLS)), required=False)
def completion(shell: str | None) -> None:
    """Print the script that makes SHELL (default: the one in $SHELL) complete mdmem's words.

    \b
    Example:  mdmem completion bash >> ~/.bashrc
              mdmem completion zsh >> ~/.zshrc
              mdmem completion fish > ~/.config/fish/completions/mdmem.fish
    """
    from click.shell_completion import get_completion_class

    from mdmem.cli.group import cli

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"Give your shell: {', '.join(SHELLS)}.")
    made = get_completion_class(name)
    assert made is not None  # click has a class for each of SHELLS
    click.echo(made(cli, {}, "mdmem", "_MDMEM_COMPLETE").source())
