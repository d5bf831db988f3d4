"""`help`: the help pages that come with mdmem, shown with a pager."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from mdmem.cli.terminal import render
from mdmem.errors import NotFoundError

PAGES = Path(__file__).parent.parent.parent / "help"
"""One Markdown file per topic; its first line is `# Title`."""


def topics() -> dict[str, str]:
    """Return each topic and the title of its page, in alphabetical order."""
    return {path.stem: _title(path) for path in sorted(PAGES.glob("*.md"))}


def page(topic: str) -> str:
    """Return the Markdown of a topic's page.

    Raises:
        NotFoundError: when there is no such page; the message names the nearest.
    """
    known = topics()
    if topic not in known:
        near = difflib.get_close_matches(topic, known, 1)
        tip = f"Did you mean `mdmem help {near[0]}`?" if near else "`mdmem help` lists the topics."
        raise NotFoundError(f"There is no help page {topic!r:.40}. {tip}")
    return (PAGES / f"{topic}.md").read_text(encoding="utf-8")


@click.command("help", short_help="Show a help page, or the help of a command.")
@click.argument(
    "topic", required=False, shell_complete=lambda _ctx, _param, begin: [t for t in topics() if t.startswith(begin)]
)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
    """Show the help page of TOPIC, or the help of the command TOPIC. Without TOPIC, list both.

    \b
    Example:  mdmem help privacy
              mdmem help search
    """
    group = ctx.parent.command if ctx.parent else None
    if topic is None:
        _list()
    elif topic in topics() or not isinstance(group, click.Group) or topic not in group.list_commands(ctx):
        _show(page(topic))
    else:
        shown = group.get_command(ctx, topic)
        if shown is not None:
            with click.Context(shown, info_name=f"mdmem {topic}") as inner:
                click.echo(shown.get_help(inner))


def _list() -> None:
    width = max(map(len, topics()), default=0)
    click.echo("Help pages:\n")
    for name, title in topics().items():
        click.echo(f"  mdmem help {name:<{width}}  {title}")
    click.echo("\n`mdmem --help` lists the commands; `mdmem COMMAND --help` explains one.")


def _show(text: str) -> None:
    """Print a page: rendered and paged on a terminal, as Markdown in a pipe."""
    if not render.is_terminal():
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    shown = render.console()
    with shown.pager(styles=True):
        shown.print(Markdown(text), width=min(shown.width, 100))


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()
