"""`proposals`: what agents and rules would have kept, merged, pinned or dropped, for a person to decide."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from mdmem.cli.terminal import options, render
from mdmem.errors import MdmemError
from mdmem.views import rows as note_rows
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.learn.proposals import Proposal

CHOICES = {"y": "accept", "n": "dismiss", "s": "skip", "q": "quit"}


@click.command()
@options.project
@click.option("--accept", "accepted", multiple=True, metavar="ID", help="Carry out this proposal; repeatable.")
@click.option("--dismiss", "dismissed", multiple=True, metavar="ID", help="Drop this proposal for good; repeatable.")
@options.as_json("an array of objects: key, kind, title, why, project, created, id, path, other, noted")
@click.pass_obj
def proposals(
    given_vault: str | None, project: str | None, accepted: tuple[str, ...], dismissed: tuple[str, ...], as_json: bool
) -> None:
    """List what waits for your decision: notes that agents propose, rules found in your prompts, duplicate notes.

    Nothing is carried out until you accept it; `mdmem review` asks about each.

    \b
    Example:  mdmem proposals --accept 1f2e3d4c --dismiss 5b6a7988
    """
    from mdmem.learn import proposals as learned

    settings = options.settings(given_vault)
    decided = [("Accepted", learned.accept(settings, key, now=options.now())) for key in accepted]
    decided += [("Dismissed", learned.dismiss(settings, key, now=options.now())) for key in dismissed]
    found = [one for _, one in decided]
    if not decided:
        note_rows.refresh(settings)
        found = learned.waiting(settings, project or "", now=options.now(), update=False)
    if as_json:
        render.print_json([one._asdict() for one in found])
    elif decided:
        click.echo("\n".join(f"{what}: {render.safe(one.title)}" for what, one in decided))
    elif found:
        rows = [(one.key, one.kind, wording.day(one.created), one.project, f"{one.title}: {one.why}") for one in found]
        render.table((render.ID, render.KIND, render.WHEN, render.PROJECT, render.TITLE), rows)
    else:
        click.echo("Nothing is proposed.", err=True)


def ask(settings: Config, found: Iterable[Proposal]) -> Counter[str]:
    """Ask a person about each proposal; return how often each answer was given."""
    from mdmem.learn import proposals as learned

    counts: Counter[str] = Counter()
    words = " ".join(f"{click.style(key, bold=True)}={name}" for key, name in CHOICES.items())
    for one in found:
        click.echo()
        click.secho(f"{render.safe(one.title)}  [mem:{one.id}]", bold=True)
        click.secho(render.safe(f"{wording.day(one.created)} {one.project}: {one.why}"), dim=True)
        click.echo(learned.KINDS[one.kind].question)
        answer = CHOICES[click.prompt(words, type=click.Choice(list(CHOICES)), show_choices=False, default="s")]
        if answer == "quit":
            break
        try:
            if answer != "skip":
                (learned.accept if answer == "accept" else learned.dismiss)(settings, one.key, now=options.now())
            counts[answer] += 1
        except MdmemError as error:
            click.secho(render.safe(str(error)), err=True, fg="yellow")
    return counts
