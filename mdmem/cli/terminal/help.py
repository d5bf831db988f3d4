"""`help`: the help pages, shown in a pager; `completion`: scripts for shells."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mdmem.cli.terminal import pager, render
from mdmem.views import help_pages


@click.command("help", short_help="Show a help page, or the help of a command.")
@click.argument(
    "topic",
    required=False,
    shell_complete=lambda _ctx, _param, begin: [t for t in help_pages.topics() if t.startswith(begin)],
)
@click.pass_context
@pager.paged
def help_command(ctx: click.Context, topic: str | None) -> None:
    """Show the help page of TOPIC, or the help of the command TOPIC. Without TOPIC, list the pages.

    \b
    Example:  mdmem help privacy
              mdmem help search
    """
    group = ctx.parent.command if ctx.parent else None
    if topic is None:
        _list()
    elif topic in help_pages.topics() or not isinstance(group, click.Group) or topic not in group.list_commands(ctx):
        _show(help_pages.page(topic))
    else:
        shown = group.get_command(ctx, topic)
        if shown is not None:
            with click.Context(shown, info_name=f"mdmem {topic}") as inner:
                click.echo(shown.get_help(inner))


def _list() -> None:
    width = max(map(len, help_pages.topics()), default=0)
    click.echo("Help pages:\n")
    for name, title in help_pages.topics().items():
        click.echo(f"  mdmem help {name:<{width}}  {title}")
    click.echo("\n`mdmem --help` lists the commands; `mdmem COMMAND --help` explains one.")


def _show(text: str) -> None:
    """Print a page: rendered on a terminal, as Markdown in a pipe."""
    if not render.is_terminal():
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    screen = render.console()
    screen.print(Markdown(text), width=min(screen.width, 100), soft_wrap=False)


SHELLS = {
    "bash": "mdmem completion bash >> ~/.bashrc",
    "zsh": "mdmem completion zsh >> ~/.zshrc",
    "fish": "mdmem completion fish > ~/.config/fish/completions/mdmem.fish",
}
"""A shell -> the line that sets completion up."""


@click.command()
@click.argument("shell", metavar="[SHELL]", type=click.Choice(list(SHELLS)), required=False)
def completion(shell: str | None) -> None:
    """Print the completion script of mdmem for SHELL (default: the one in $SHELL).

    \b
    Example:  mdmem completion bash >> ~/.bashrc
              mdmem completion zsh >> ~/.zshrc
              mdmem completion fish > ~/.config/fish/completions/mdmem.fish
    """
    from click.shell_completion import get_completion_class

    from mdmem.cli.group import cli

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"Name your shell: {', '.join(SHELLS)}.")
    made = get_completion_class(name)
    assert made is not None  # click has a class for each of SHELLS
    click.echo(made(cli, {}, "mdmem", "_MDMEM_COMPLETE").source())
