"""`prompts`: search what you asked, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mdmem.cli.terminal import options, render
from mdmem.views import wording

if TYPE_CHECKING:
    from mdmem.search.index.view import View
    from mdmem.views.prompts import PromptPage


@click.command()
@click.argument("words", nargs=-1)
@options.project
@options.one_session
@options.window
@click.option(
    "--sort",
    cls=options.RenamedOption,
    before="--order",
    type=click.Choice(["relevance", "newest", "oldest"]),
    default="relevance",
    show_default=True,
)
@click.option("--full", is_flag=True, help="Print the whole text of each prompt.")
@click.option("--offset", type=click.IntRange(min=0), metavar="N", default=0, help="Skip this many results.")
@options.limit(20)
@options.as_json("an array of objects: id, session, prompt, project, created, title, text, …")
@click.pass_obj
def prompts(
    given_vault: str | None,
    /,
    words: tuple[str, ...],
    sort: str,
    full: bool,
    offset: int,
    limit: int,
    as_json: bool,
    **given: str | None,
) -> None:
    """Search your prompts across sessions, with the query language of SQLite's FTS5. Without words, list the latest.

    \b
    a AND b   a OR b   a NOT b   ( )   "a phrase"   begin*   NEAR(a b, 5)
    prompt_text:a   prompt:3   project:   session:   since:2w

    \b
    Example:  mdmem prompts 'validation NOT third'
              mdmem prompts 'NEAR(date parser, 5) since:2w' --full
    """
    from mdmem.cli.finding.hits import folder
    from mdmem.search import staged
    from mdmem.views import prompts as view_of
    from mdmem.views import rows

    settings = options.settings(given_vault)
    asked, narrowed = view_of.read(" ".join(words), given)
    here = staged.place(settings, folder())

    def answer(view: View) -> PromptPage:
        part = view_of.PromptSlice(sort, limit, offset)
        return view_of.find(view, settings.vault, asked, narrowed, part, here=here)

    page = rows.ask(settings, answer)
    if as_json:
        render.print_json([one._asdict() for one in page.prompts])
    for one in () if as_json else page.prompts:
        where = f"  {render.safe(one.project)}" if one.project else ""
        head = f"{wording.day(one.created)}  {render.safe(one.session[:8])} prompt {one.prompt}{where}  "
        render.write([[(head, "dim"), (f"[mem:{render.safe(one.id)}]", "yellow")]])
        shown = one.text.splitlines() if full else [one.title]
        render.write([[(f"    {render.safe(line)}", "")] for line in shown])
    for hint in page.hints:
        click.echo(f"hint: {hint}", err=True)
    if not page.total and not page.hints:
        click.echo("No prompt matches.", err=True)
    elif page.total > offset + len(page.prompts):
        click.echo(f"{len(page.prompts)} of {page.total}; --offset {offset + len(page.prompts)} shows more.", err=True)
