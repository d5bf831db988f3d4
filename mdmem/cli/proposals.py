"""`proposals`: what waits for the user's decision, also as questions of `review`."""

from __future__ import annotations

from collections.abc import Iterable

import click

from mdmem.cli.terminal import completions, options, render
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.learn import proposals as learned
from mdmem.learn.proposals import Proposal
from mdmem.views import rows as note_rows
from mdmem.views import wording

CHOICES = {
    "y": ("accept", "carry it out"),
    "n": ("dismiss", "drop it for good"),
    "s": ("skip", "decide later"),
    "q": ("quit", "ask about the rest later"),
    "?": ("help", "this list"),
}


@click.command()
@options.project
@options.several("--accept accepted", "ID", "Carry out this proposal; repeatable.", completions.proposals)
@options.several("--dismiss dismissed", "ID", "Drop this proposal for good; repeatable.", completions.proposals)
@options.as_json("an array of objects: key, kind, title, why, project, created, id, path, other, noted")
@options.in_vault
def proposals(
    config: Config, project: str, accepted: tuple[str, ...], dismissed: tuple[str, ...], as_json: bool
) -> None:
    """List what waits for your decision: notes that agents propose, rules found in your prompts, duplicate notes.

    Nothing is carried out until you accept it; `mdmem review` asks about each.

    \b
    Example:  mdmem proposals --accept 1f2e3d4c --dismiss 5b6a7988
    """
    decided = [("Accepted", learned.accept(config, key, now=options.now())) for key in accepted]
    decided += [("Dismissed", learned.dismiss(config, key, now=options.now())) for key in dismissed]
    listed = [proposal for _, proposal in decided]
    if not decided:
        note_rows.refresh(config)
        listed = learned.waiting(config, project, now=options.now())
    if as_json:
        render.print_json(listed)
    elif decided:
        click.echo("\n".join(f"{decision}: {render.safe(proposal.title)}" for decision, proposal in decided))
    elif listed:
        rows = [_proposal_row(proposal) for proposal in listed]
        render.table((render.ID, render.KIND, render.WHEN, render.PROJECT, render.TITLE), rows)
    else:
        click.echo("No proposals.", err=True)


def _proposal_row(proposal: Proposal) -> tuple[str, ...]:
    day, text = wording.day(proposal.created), f"{proposal.title}: {proposal.why}"
    return proposal.key, proposal.kind, day, proposal.project, text


def ask(config: Config, proposals: Iterable[Proposal]) -> None:
    """Ask the user about each proposal, and carry out the answers."""
    for proposal in proposals:
        click.echo()
        click.secho(f"{render.safe(proposal.title)}  [mem:{proposal.id}]", bold=True)
        click.secho(render.safe(f"{wording.day(proposal.created)} {proposal.project}: {proposal.why}"), dim=True)
        click.echo(learned.KINDS[proposal.kind].question)
        answer = options.choose(CHOICES, "s")
        if answer == "quit":
            break
        try:
            if answer != "skip":
                (learned.accept if answer == "accept" else learned.dismiss)(config, proposal.key, now=options.now())
        except MdmemError as error:
            render.warn(str(error))
