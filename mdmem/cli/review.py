"""`review`: what was captured since a person last looked, note by note."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import config
from mdmem.cli.history import print_applied, print_json
from mdmem.cli.terminal import editor, options
from mdmem.cli.terminal.render import safe
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.vault import disk as vault_files
from mdmem.vault import note
from mdmem.views import pages

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.review import ReviewItem
    from mdmem.history.rewrite import RewriteStep

CHOICES = {
    "k": "keep",
    "e": "edit",
    "p": "pin",
    "r": "retitle",
    "t": "tag",
    "d": "delete",
    "s": "skip",
    "o": "superseded",
    "q": "quit",
}
SHOWN_CHARS = 1500


@click.command()
@options.project
@click.option("--kind", multiple=True, metavar="KIND", shell_complete=options.kinds, help="Only this kind; repeatable.")
@options.window
@click.option("--list", "listing", is_flag=True, help="Only list what there is to review.")
@click.option("--done", "done", is_flag=True, help="Mark everything as reviewed without looking.")
@options.as_json("an array of objects")
@click.pass_obj
def review(
    vault: str | None,
    /,
    project: str | None,
    kind: tuple[str, ...],
    listing: bool,
    done: bool,
    as_json: bool,
    **when: str | None,
) -> int:
    """Look through what was captured since the last time, and keep, edit, pin or delete it.

    \b
    Example:  mdmem review --kind response --kind note
    """
    from mdmem.history import review as work

    settings = config.load(vault)
    first, last = options.span(when)
    seen = work.pending(settings, project=project or "", kinds=kind)
    seen = seen._replace(items=[item for item in seen.items if options.fits(item.created, first, last)])
    narrowed = bool(project or kind or first or last)
    if as_json:
        print_json([{key: value for key, value in item._asdict().items() if key != "data"} for item in seen.items])
        return 0
    if listing or not seen.items:
        for item in seen.items:
            click.echo(f"{item.id or '-':10} {item.created[:10]:10} {item.change:8} {safe(item.title or item.path)}")
        click.echo(f"{len(seen.items)} to review.")
        return 0 if listing else _ask_proposals(settings, project or "")
    if done and narrowed:
        raise UsageError("--done marks everything as reviewed; it takes no filter.")
    if done:
        return print_applied(work.finish(settings, seen, [], "Review\n"))
    steps, counts, complete = _ask(settings, seen.items)
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    # A narrowed review has not seen everything, so the next one shows the rest.
    whole = complete and not narrowed
    text = f"Review: {told or 'nothing'}\n"
    applied = work.finish(settings, seen, steps, text, complete=whole, update_page=pages.updater(settings))
    return print_applied(applied) or (_ask_proposals(settings, project or "") if complete else 0)


def _ask_proposals(settings: Config, project: str) -> int:
    """Ask about what agents and rules propose, behind the notes."""
    from mdmem.cli.learned import proposals
    from mdmem.learn import proposals as learned

    proposals.ask(settings, learned.waiting(settings, project, now=proposals.now()))
    return 0


def _ask(settings: Config, items: list[ReviewItem]) -> tuple[list[RewriteStep], Counter[str], bool]:
    """Ask about each note; return the steps, how often each answer was given, and whether all were seen."""
    steps: list[RewriteStep] = []
    counts: Counter[str] = Counter()
    for number, item in enumerate(items, 1):
        _show(item, number, len(items))
        answer, decided = _answered(settings, item)
        if answer == "quit":
            return steps, counts, False
        counts[answer] += 1
        steps += decided
    return steps, counts, True


def _answered(settings: Config, item: ReviewItem) -> tuple[str, list[RewriteStep]]:
    """Ask about one note until the answer can be followed; what was decided before it is never lost by that."""
    if item.change == "deleted":
        return "skip", []
    while True:
        answer = _choose()
        try:
            return answer, _decided(settings, item, answer)
        except NotFoundError as error:
            click.secho(safe(str(error)), err=True, fg="yellow")
            return "skip", []
        except MdmemError as error:
            click.secho(safe(str(error)), err=True, fg="yellow")


def _choose() -> str:
    words = " ".join(f"{click.style(key, bold=True)}={name}" for key, name in CHOICES.items())
    return CHOICES[click.prompt(words, type=click.Choice(list(CHOICES)), show_choices=False, default="k")]


def _decided(settings: Config, item: ReviewItem, answer: str) -> list[RewriteStep]:
    from mdmem.history import review as work

    if answer in ("skip", "quit"):
        return []
    if answer == "delete":
        return [work.delete(item)]
    changes: dict[str, Any] = {}
    if answer == "edit":
        before = vault_files.read_path(settings.vault, item.path)
        editor.edit(str(Path(settings.vault, item.path)))
        if vault_files.read_path(settings.vault, item.path) != before:
            changes["edited"] = True
    elif answer == "pin":
        changes["pinned"] = True
    elif answer == "retitle":
        changes["title"] = note.one_line(click.prompt("Title", default=item.title))
    elif answer == "tag":
        typed = click.prompt("Tags, with spaces between", default="")
        had = note.parse(item.data).meta.get("tags")
        changes["tags"] = list(dict.fromkeys([*(had if isinstance(had, list) else []), *typed.split()]))
    elif answer == "superseded":
        changes["superseded_by"] = _known(settings, click.prompt("By which note (id)"))
    return [work.decide(settings, item, **changes)]


def _known(settings: Config, name: str) -> str:
    """Return the id that was typed.

    Raises:
        UsageError: when no note has it.
    """
    from mdmem.history import find

    wanted = name.strip("[] ").removeprefix("mem:")
    try:
        find.path_of(settings, wanted)
    except NotFoundError as error:
        raise UsageError(str(error)) from error
    return wanted


def _show(item: ReviewItem, number: int, count: int) -> None:
    marks = " ".join(mark for mark in (item.change, "edited" if item.edited else "") if mark)
    click.echo()
    click.secho(f"[{number}/{count}] {safe(item.title or item.path)}", bold=True)
    click.secho(safe(f"{item.created} {item.kind} {item.project} {marks}  {item.path}"), dim=True)
    body = safe(note.parse(item.data).body.strip())
    more = f"\n… {len(body) - SHOWN_CHARS} more characters" if len(body) > SHOWN_CHARS else ""
    click.echo(body[:SHOWN_CHARS] + more)
