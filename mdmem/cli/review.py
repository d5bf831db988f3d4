"""`review`: go through what was captured since the last review, session by session or note by note."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import completions, editor, options, progress, render
from mdmem.cli.terminal.outcome import print_applied
from mdmem.cli.terminal.render import print_array, safe, warn
from mdmem.config import Config
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.history import find, message
from mdmem.history import review as work
from mdmem.history.merging import undecided
from mdmem.history.merging.undecided import OpenChoice
from mdmem.history.review import Review, ReviewItem, ReviewScreen
from mdmem.history.rewrite import RewriteStep
from mdmem.vault import disk as vault_files
from mdmem.vault import journal, note, user_notes
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep

CHOICES = {
    "k": ("keep", "it stays, and is not asked about again"),
    "e": ("edit", "open it in your editor, then keep it"),
    "p": ("pin", "keep it, and give it to agents at the start of sessions"),
    "r": ("retitle", "keep it under another title"),
    "t": ("tag", "keep it, with tags"),
    "d": ("drop", "delete it; it stays in history (`mdmem undo` restores it)"),
    "s": ("skip", "decide later"),
    "o": ("superseded", "keep it, and say which note replaces it"),
    "b": ("back", "return to the previous one and decide again"),
    "q": ("quit", "keep what was decided, and ask about the rest later"),
    "?": ("help", "this list"),
}
OF_A_SESSION = {
    "k": ("keep", "its prompts and answers stay, and are not asked about again"),
    "e": ("edit", "open one of its notes in your editor, then keep all"),
    "d": ("drop", "delete the session's new notes, tool runs included; they stay in history"),
    "n": ("notes", "decide note by note"),
    "t": ("runs", "show the tool runs"),
    "s": ("skip", "decide later"),
    **{key: CHOICES[key] for key in "bq?"},
}
OF_TWO = {
    "1": ("first", "keep the first version"),
    "2": ("second", "keep the second version"),
    "k": ("both", "keep both, and do not ask again"),
    "s": ("skip", "decide later, or in your editor"),
    **{key: CHOICES[key] for key in "q?"},
}
"""Answers for a line that two machines changed."""

SHOWN_CHARS = 1500
MAX_ASKS = 12
MAX_RUNS = 100


class ReviewDecision(NamedTuple):
    """The answers on a screen: how often each was given, the changes to make, and whether to quit."""

    counts: Counter[str]
    steps: list[RewriteStep]
    quits: bool = False


@click.command()
@options.project
@options.several("--kind", "KIND", "Only this kind; repeatable.", completions.kinds)
@options.window
@click.option("--list", "listing", is_flag=True, help="Only list what there is to review.")
@click.option("--notes", "by_note", is_flag=True, help="Ask note by note, tool runs too, instead of by session.")
@click.option("--done", "done", is_flag=True, help="Mark everything as reviewed without looking.")
@options.as_json(
    "an array of objects: path, change, id, kind, title, created, project, session, edited, reviewed, status"
)
@options.with_config
@options.answered("--list lists what there is to review, --done marks it as reviewed.")
def review(
    config: Config,
    /,
    project: str,
    kind: tuple[str, ...],
    listing: bool,
    by_note: bool,
    done: bool,
    as_json: bool,
    **when: str,
) -> int:
    """Review what was captured since the last review, session by session: keep, edit or drop it.

    First, where two machines changed the same line, it asks which version stays. With --kind or --notes, one note at
    a time. `?` explains the keys.

    \b
    Example:  mdmem review --kind response --kind note
    """
    first, last = options.span(when)
    narrowed = bool(project or kind or first or last)
    choices = [] if narrowed else undecided.waiting(config)
    if not (listing or done or as_json) and not _ask_versions(config, choices):
        return 0
    with progress.ProgressBar("Reading what is new", shown=not as_json):
        pending = work.pending(config, project=project, kinds=kind)
    pending = pending._replace(items=[item for item in pending.items if options.fits(item.created, first, last)])
    if as_json:
        print_array(chain(map(_row, pending.items), ({**_row(choice), "change": "both"} for choice in choices)))
        return 0
    is_by_note = bool(kind or by_note)
    screens = [_screen_of(item) for item in pending.items] if is_by_note else work.screens(pending.items)
    if listing or not screens:
        _print_waiting(choices if listing else [], screens)
        return 0 if listing or done else _ask_proposals(config, project)
    if done and narrowed:
        raise UsageError("--done marks everything as reviewed; it takes no filter.")
    if done:
        status = print_applied(work.finish(config, pending, [], "Review\n"))
        click.echo(f"{plural.number(len(pending.items), 'note')} marked as reviewed.")
        return status
    decided = None
    while decided is None:
        decided = _ask(config, screens)
    # A filtered review has not shown everything: the next one shows the rest.
    status = _carry_out(config, pending, decided, complete=not decided.quits and not narrowed)
    return status or (0 if decided.quits else _ask_proposals(config, project))


def _screen_of(item: ReviewItem) -> ReviewScreen:
    """Return a screen that asks about one note."""
    return work.ReviewScreen("", [item], [])


def _print_waiting(choices: list[OpenChoice], screens: list[ReviewScreen]) -> None:
    """List what there is to review, one line per screen."""
    for choice in choices:
        click.echo(f"both versions  {safe(_place(choice))}")
    render.table((render.ID, render.WHEN, render.Column(), render.TITLE), map(_cells, screens))
    notes = plural.number(sum(len(screen.all) for screen in screens), "note")
    places = f"{plural.number(len(choices), 'place')} with both versions and " if choices else ""
    click.echo(f"{places}{notes} to review.")


def _carry_out(config: Config, reviewed: Review, decided: ReviewDecision, *, complete: bool) -> int:
    """Make the changes and commit them; return the exit status."""
    counts = ", ".join(f"{name} {count}" for name, count in decided.counts.items())
    text, update_page = f"Review: {counts or 'nothing'}\n", upkeep.updater(config)
    return print_applied(work.finish(config, reviewed, decided.steps, text, complete=complete, update_page=update_page))


def _row(item: ReviewItem | OpenChoice) -> dict[str, object]:
    return {key: value for key, value in item._asdict().items() if key not in ("oid", "named", "merge")}


def _ask_versions(config: Config, choices: list[OpenChoice]) -> bool:
    """Ask which version stays where two machines changed the same line; return False for quit."""
    for number, choice in enumerate(choices, 1):
        click.secho(f"\n[{number}/{len(choices)}] Two machines changed {safe(_place(choice))}", bold=True)
        mine = undecided.mine(config, choice)
        for key, name, text in ((1, "one", choice.one), (2, "other", choice.other)):
            owner = ("(this machine's)  " if name == mine else "(the other machine's)  ") if mine else ""
            click.echo(f"  {key}  {owner}{safe(text[:SHOWN_CHARS]).replace(chr(10), chr(10) + '     ')}")
        answer = options.choose(OF_TWO, "s")
        if answer == "quit":
            return False
        keep = {"first": "one", "second": "other"}.get(answer, "")
        try:
            if answer != "skip" and not undecided.decide(config, choice, keep=keep):
                warn(f"{choice.path} has changed in the meantime.")
        except MdmemError as error:
            warn(str(error))
    return True


def _place(choice: OpenChoice) -> str:
    return f"{choice.path}:{choice.line}" if choice.line else f"`{choice.key}` of {choice.path}"


def _ask_proposals(config: Config, project: str) -> int:
    """Ask about proposals of agents and rules. This comes last, when the decisions on notes are saved."""
    from mdmem.cli import proposals as commands
    from mdmem.learn import proposals as learned
    from mdmem.views import rows

    rows.refresh(config)
    with suppress(click.Abort):
        commands.ask(config, learned.waiting(config, project, now=options.now()))
    return 0


def _ask(config: Config, screens: list[ReviewScreen]) -> ReviewDecision | None:
    """Ask about each screen. `back` revokes the previous decision; from the first screen, return None.

    The end of stdin after a decision counts as "quit".
    """
    decided: list[ReviewDecision] = []
    while len(decided) < len(screens):
        screen = screens[len(decided)]
        place = f"[{len(decided) + 1}/{len(screens)}]"
        try:
            answer = (
                _ask_session(config, screen, place) if screen.session else _ask_note(config, screen.items[0], place)
            )
        except click.Abort as error:
            if not decided or not isinstance(error.__context__, EOFError):
                raise
            answer = _without_steps("quit")
        if answer:
            decided.append(answer)
            if answer.quits:
                break
            continue
        if not decided:
            return None
        decided.pop()
        while decided and not screens[len(decided)].session and screens[len(decided)].items[0].change == "deleted":
            decided.pop()  # that screen asked nothing
    counts: Counter[str] = sum((decision.counts for decision in decided), Counter())
    return ReviewDecision(
        counts, [step for decision in decided for step in decision.steps], bool(decided and decided[-1].quits)
    )


def _ask_session(config: Config, screen: ReviewScreen, place: str) -> ReviewDecision | None:
    """Ask about a session; return None for back."""
    _show_session(screen, place)
    while True:
        answer = options.choose(OF_A_SESSION, "k")
        if answer in ("back", "quit", "skip"):
            return _without_steps(answer)
        try:
            if answer == "notes":
                decided = _ask(config, [_screen_of(item) for item in screen.all])
                if decided:
                    return decided
                _show_session(screen, place)
            elif answer == "runs":
                for run in screen.runs[:MAX_RUNS]:
                    click.echo(f"     {safe(run.title)}")
            elif answer == "drop":
                edited = sum(item.edited for item in screen.all)
                own_changes = f", of which you have changed {edited}" if edited else ""
                if click.confirm(f"Delete {plural.number(len(screen.all), 'note')}{own_changes}?"):
                    steps = work.delete(config, [item for item in screen.all if item.change != "deleted"])
                    return ReviewDecision(Counter([answer]), steps)
            else:
                return ReviewDecision(Counter([answer]), _steps_to_keep(config, screen, answer))
        except MdmemError as error:
            warn(str(error))


def _steps_to_keep(config: Config, screen: ReviewScreen, answer: str) -> list[RewriteStep]:
    """Return the steps that keep a session's notes; first let the user edit one, if that was the answer."""
    items = [item for item in screen.items if item.change != "deleted"]
    edited: ReviewItem | None = None
    if answer == "edit" and items:
        for number, item in enumerate(items, 1):
            click.echo(f"  {number}  {item.kind}  {safe(item.title)}")
        edited = items[click.prompt("Which", type=click.IntRange(1, len(items)), default=len(items)) - 1]
    steps = []
    for item in items:
        try:
            steps += _decided(config, item, "edit") if item is edited else [work.decide(config, item.path)]
        except NotFoundError:
            continue  # deleted in the meantime
    return steps


def _ask_note(config: Config, item: ReviewItem, place: str) -> ReviewDecision | None:
    """Ask about one note until the answer can be carried out; return None for back."""
    _show(config, item, place)
    if item.change == "deleted":
        return _without_steps("skip")
    while True:
        answer = options.choose(CHOICES, "k")
        if answer in ("back", "quit"):
            return _without_steps(answer)
        try:
            return ReviewDecision(Counter([answer]), _decided(config, item, answer))
        except NotFoundError as error:
            warn(str(error))
            return _without_steps("skip")
        except MdmemError as error:
            warn(str(error))


def _without_steps(answer: str) -> ReviewDecision | None:
    if answer == "back":
        return None
    return ReviewDecision(Counter() if answer == "quit" else Counter([answer]), [], answer == "quit")


def _decided(config: Config, item: ReviewItem, answer: str) -> list[RewriteStep]:
    if answer == "skip":
        return []
    if answer == "drop":
        return work.delete(config, [item])
    changes: dict[str, Any] = {}
    if answer == "edit":
        before = vault_files.read_path(config.vault, item.path)
        editor.edit(str(Path(config.vault, item.path)))
        if vault_files.read_path(config.vault, item.path) != before:
            changes["edited"] = True
    elif answer == "pin":
        changes["pinned"] = True
    elif answer == "retitle":
        changes["title"] = note.one_line(click.prompt("Title", default=item.title))
    elif answer == "tag":
        typed = user_notes.typed_tags(click.prompt("Tags, with commas or spaces between", default=""))
        had = note.parse(work.text_of(config, item)).meta.get("tags")
        changes["tags"] = list(dict.fromkeys([*(had if isinstance(had, list) else []), *typed]))
    elif answer == "superseded":
        changes["superseded_by"] = _note_id(config, click.prompt("Replaced by which note (id)"))
    return [work.decide(config, item.path, **changes)]


def _note_id(config: Config, name: str) -> str:
    """Return the id of the note that the user named."""
    try:
        return find.id_of(config, find.path_of(config, name))
    except NotFoundError as error:
        raise UsageError(str(error)) from error


def _cells(screen: ReviewScreen) -> tuple[str, ...]:
    """Return the row that `--list` prints for a screen."""
    item = screen.items[0]
    name = journal.session_tag(screen.session) if screen.session else item.id or note.id_of_path(item.path)
    what = _counted(screen) if screen.session else f"{item.kind or 'note'} {item.change}"
    title = (screen.titles("prompt") or [item.title or item.path])[0] if screen.session else item.title or item.path
    return name, wording.day(item.created), what, title


def _counted(screen: ReviewScreen) -> str:
    """Count a session's notes by kind, deleted ones apart."""
    deleted = plural.number(sum(item.change == "deleted" for item in screen.all), "deleted note")
    present = message.counts(item.kind for item in screen.all if item.change != "deleted")
    return ", ".join(part for part in (present, deleted) if part and not part.startswith("0 "))


def _show_session(screen: ReviewScreen, place: str) -> None:
    """Show a session's prompts, last answer and written notes, and the number of its tool runs."""
    first = screen.items[0]
    asks = screen.titles("prompt")
    click.echo()
    click.secho(f"{place} {safe((asks or [first.title or first.path])[0])}", bold=True)
    when = timestamps.readable(first.created)
    click.secho(f"{when} {safe(first.project)} {journal.session_tag(screen.session)}: {_counted(screen)}", dim=True)
    for ask in asks[1 : MAX_ASKS + 1]:
        click.echo(f"     {safe(ask)}")
    if len(asks) > MAX_ASKS + 1:
        click.echo(f"     and {len(asks) - MAX_ASKS - 1} more prompts")
    for answer in screen.titles("response")[-1:]:
        click.secho(f"   → {safe(answer)}", fg="green")
    for item in screen.items:
        if item.kind not in ("prompt", "response") or item.change != "added":
            click.echo(f"   {item.change}: {item.kind} {safe(item.title or item.path)}")


def _show(config: Config, item: ReviewItem, place: str) -> None:
    marks = " ".join(mark for mark in (item.change, "edited" if item.edited else "") if mark)
    click.echo()
    click.secho(f"{place} {safe(item.title or item.path)}", bold=True)
    click.secho(safe(f"{timestamps.readable(item.created)} {item.kind} {item.project} {marks}  {item.path}"), dim=True)
    body = safe(note.parse(work.text_of(config, item)).body.strip())
    rest_of_text = f"\n… {len(body) - SHOWN_CHARS} more characters" if len(body) > SHOWN_CHARS else ""
    click.echo(body[:SHOWN_CHARS] + rest_of_text)
