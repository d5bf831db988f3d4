"""`help`: the help pages, shown in a pager; `completion`: scripts for shells."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mdmem.cli.terminal import pager, render
from mdmem.views import help_pages


@click.command("help", short_help="Show a help page, or the help of a command.")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TOPIC]",
    shell_complete=lambda _ctx, _param, begin: [t for t in help_pages.topics() if t.startswith(begin)],
)
@click.pass_context
@pager.paged
def help_command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Show the help page of TOPIC, or the help of the command TOPIC. Without TOPIC, list the pages.

    \b
    Example:  mdmem help privacy
              mdmem help config set
    """
    shown = _command(ctx, words)
    if not words:
        _list()
    elif shown is None or (len(words) == 1 and words[0] in help_pages.topics()):
        _show(help_pages.page(" ".join(words)))
    else:
        with click.Context(shown, info_name=" ".join(("mdmem", *words))) as inner:
            click.echo(shown.get_help(inner))


def _command(ctx: click.Context, words: tuple[str, ...]) -> click.Command | None:
    """Return the command that the words name, None if there is none."""
    found = ctx.parent.command if ctx.parent and words else None
    for word in words:
        found = (
            found.get_command(ctx, word)
            if isinstance(found, click.Group) and word in found.list_commands(ctx)
            else None
        )
    return found


def _list() -> None:
    width = max(map(len, help_pages.topics()), default=0)
    click.echo("Help pages:\n")
    for name, title in help_pages.topics().items():
        render.hanging([(f"  mdmem help {name:<{width}}  ", "")], [(title, "")])
    click.echo()
    render.hanging([], [("`mdmem --help` lists the commands; `mdmem COMMAND --help` explains one.", "")])


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
    script = made(cli, {}, "mdmem", "_MDMEM_COMPLETE").source()
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))  # fish: descriptions may have commas
