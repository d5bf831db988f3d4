"""`commit`, `log`, `why`, `diff`, `undo`: what git makes of a vault."""

from __future__ import annotations

import json
import time
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from mdmem import config, note
from mdmem import vault as vault_files
from mdmem.cli import wording
from mdmem.cli.render import safe
from mdmem.errors import MdmemError
from mdmem.journal import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.config import Config
    from mdmem.history.commit import Result
    from mdmem.history.journal import Session, Stat
    from mdmem.history.rewrite import Applied, UpdatePage
    from mdmem.history.why import Origin


def print_json(value: Any) -> None:
    """Print a value as JSON; bytes and paths as text."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_result(done: Result) -> int:
    """Print the commits that were made and what was left out; give the exit status."""
    for made in done.commits:
        click.echo(f"{made.oid[:8]} {safe(made.subject)}")
    for held in done.held_back:
        click.secho(safe(str(held)), err=True, fg="yellow")
    if done.staged:
        click.secho(f"Left to you, because you staged it: {safe(', '.join(done.staged))}", err=True, dim=True)
    return 1 if done.held_back else 0


@click.command()
@click.option("--session", metavar="ID", help="Only what this session wrote.")
@click.option("--accept", metavar="PATH", multiple=True, help="Commit this file whatever it holds; you looked at it.")
@click.option("--quiet", is_flag=True, help="Say nothing unless it fails, and pack the repository when it needs it.")
@click.option("--json", "as_json", is_flag=True, help="Print an object with commits, held_back and staged.")
@click.pass_obj
def commit(vault: str | None, session: str | None, accept: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Commit the vault's new and changed notes: a commit for each session, one for what people did.

    A file whose text the privacy rules would change is held back and named; the others are committed (status 1).

    \b
    Example:  mdmem commit --session 00893aaf-19fa-41d2-8238-13269b9b3ca0
    """
    from mdmem.capture import upkeep
    from mdmem.history import commit as work
    from mdmem.history import tidy

    settings = config.load(vault)
    is_time = quiet and upkeep.look_after(settings, time.time())
    done = work.commit(settings, session=session, accept=accept)
    if quiet:
        tidy.tidy(settings)
        if is_time:
            _update_index(settings)
        return 1 if done.held_back else 0
    if as_json:
        print_json(
            {
                "commits": [made._asdict() for made in done.commits],
                "held_back": [held._asdict() for held in done.held_back],
                "staged": done.staged,
            }
        )
        return 1 if done.held_back else 0
    if not (done.commits or done.held_back or done.staged):
        click.echo("Nothing to commit.")
    return print_result(done)


def _update_index(settings: Config) -> None:
    """Index what is new: a large vault, just imported or cloned, is more than injection has the time for."""
    from mdmem.recall import index

    try:
        index.update(settings, wait_seconds=0)
    except (MdmemError, OSError):
        pass  # whoever searches next does it, or says why not


@click.command()
@click.option("--project", metavar="NAME", default="", help="Only this project.")
@click.option("--since", metavar="WHEN", default="", help="What began since: 2w, yesterday, monday, 2026-09-14.")
@click.option("--file", metavar="PART", default="", help="Sessions that changed a file with this in its path.")
@click.option("--session", metavar="ID", default="", help="The session whose id, or folder's name, begins so.")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="At most so many.")
@click.option("--oneline", is_flag=True, help="One line a session.")
@click.option("--stat", is_flag=True, help="The vault's commits, and how many files each touched.")
@click.option("--json", "as_json", is_flag=True, help="Print an array of objects.")
@click.pass_obj
def log(vault: str | None, /, limit: int | None, oneline: bool, stat: bool, as_json: bool, **filters: str) -> None:
    """Show the journal: what was asked, what came of it, which files changed; the last session first.

    \b
    Example:  mdmem log --since 1w --project acme-notes-app
    """
    from mdmem.history import journal

    settings = config.load(vault)
    if filters["since"]:
        filters["since"] = wording.begin_of(filters["since"])
    if stat:
        narrowed = any(filters[name] for name in ("project", "file", "session"))
        wanted = {one.session for one in journal.sessions(settings, **filters)} if narrowed else None
        found_stats = (one for one in journal.stats(settings) if wanted is None or one.session in wanted)
        _print_stats(islice(_since(found_stats, filters["since"]), limit), as_json)
        return
    found = islice(journal.sessions(settings, **filters), limit)
    if as_json:
        print_json([session._asdict() for session in found])
    elif oneline:
        for session in found:
            click.echo(f"{session.started[:16]} {session.session[:8]:8} {safe(session.project)}: {safe(session.title)}")
    else:
        _print_journal(found)


def _since(stats: Iterable[Stat], since: str) -> Iterator[Stat]:
    start = datetime.fromisoformat(since) if since else None
    return (one for one in stats if start is None or datetime.fromisoformat(one.time) >= start)


def _print_stats(stats: Iterable[Stat], as_json: bool) -> None:
    if as_json:
        print_json([one._asdict() for one in stats])
        return
    for one in stats:
        counts = [f"{sign}{count}" for sign, count in zip("+~-", one[4:], strict=True) if count]
        click.echo(f"{one.oid[:8]} {one.time[:16]} {safe(one.subject)} {click.style(' '.join(counts), dim=True)}")


def _clock(session: Session) -> str:
    """Give the local time a session began, as its folder has it."""
    name = session.folder.rpartition("/")[2]
    return f"{name[:2]}:{name[2:4]}" if name[:4].isdigit() else session.started[11:16]


def _print_journal(sessions: Iterable[Session]) -> None:
    day = ""
    for session in sessions:
        if session.day != day:
            day = session.day
            click.secho(f"\n{day}" if day else "", bold=True)
        facts = " · ".join(part for part in (session.project, session.branch, session.session[:8]) if part)
        click.echo(f"  {_clock(session)}  {click.style(safe(session.title), bold=True)}  ", nl=False)
        click.secho(safe(facts), dim=True)
        for ask in session.asks:
            click.echo(f"         {safe(ask)}")
        if session.outcome:
            click.secho(f"       → {safe(session.outcome)}", fg="green")
        if session.files:
            more = f" and {len(session.files) - 6} more" if len(session.files) > 6 else ""
            click.secho(f"         {safe(', '.join(session.files[:6]))}{more}", dim=True)


@click.command()
@click.argument("name", metavar="PATH[:LINE]|ID[:LINE]")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
@click.pass_obj
def why(vault: str | None, name: str, as_json: bool) -> None:
    """Show where a note, or one of its lines, came from, and who has edited it since.

    \b
    Example:  mdmem why notes/decision.md:12
    """
    from mdmem.history import why as work

    found = work.why(config.load(vault), name)
    if as_json:
        steps = [step._asdict() for step in found.steps]
        line_commit = found.line_commit._asdict() if found.line_commit else None
        print_json({**found._asdict(), "steps": steps, "line_commit": line_commit})
        return
    _print_origin(found)


def _print_origin(found: Origin) -> None:
    rows = [
        ("note", f"{found.title}  ({found.path})"),
        ("captured", f"{found.created} {found.agent}".strip()),
        ("project", found.project),
        ("session", found.session),
        ("asked", found.ask),
        ("tool", found.tool),
        ("code", " ".join(part for part in (found.branch, found.code_commit) if part)),
    ]
    if found.line:
        last = found.line_commit
        rows += [(f"line {found.line}", found.text)]
        rows += [("last changed", f"{last.time[:16]} {last.author}: {last.subject}" if last else "not committed yet")]
    for name, value in rows:
        if value:
            click.echo(f"{click.style(f'{name:>12}', dim=True)}  {safe(value)}")
    for step in found.steps:
        who = "captured" if step.session else f"by {step.author}"
        oid = click.style(f"{step.oid[:8]:>12}", fg="yellow")
        click.echo(f"{oid}  {step.time[:16]} {safe(who)}: {safe(step.subject)}")


@click.command()
@click.argument("span", metavar="[A..B]", default="")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.pass_obj
def diff(vault: str | None, span: str, paths: tuple[str, ...]) -> None:
    """Show what changed in memory: since the last commit, since A, or from A to B (commits or dates).

    \b
    Example:  mdmem diff 2026-09-01..2026-09-14
    """
    from mdmem.history import past

    moments = "..".join(wording.end_of(side) for side in span.split("..", 1))
    for line in past.diff(config.load(vault), moments, paths=paths).decode("utf-8", "replace").splitlines():
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.secho(safe(line), fg=colour, bold=line.startswith(("diff ", "+++", "---")))


@click.command()
@click.argument("target", metavar="SESSION|COMMIT")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def undo(vault: str | None, target: str, yes: bool) -> int:
    """Take back a session or a commit. What was changed since is kept, and named.

    \b
    Example:  mdmem undo 00893aaf
    """
    from mdmem.history import undo as work

    settings = config.load(vault)
    planned = work.plan(settings, target)
    for oid, subject in planned.commits:
        click.echo(f"{oid[:8]} {safe(subject)}")
    gone = sum(step.after is None for step in planned.steps)
    click.echo(f"{wording.number(gone, 'note')} would go, {len(planned.steps) - gone} would change back.")
    for path in planned.kept:
        click.secho(f"Kept, because it was changed since: {safe(path)}", fg="yellow")
    if not planned.steps:
        return 0
    if not yes:
        click.confirm("Take this back?", abort=True)
    return print_applied(work.apply(settings, planned, page_of(settings)))


def page_of(settings: Config) -> UpdatePage:
    """Give what brings the page of a session up to date, some of whose notes are gone."""

    def update(folder: str) -> None:
        from mdmem.capture import page
        from mdmem.capture.session import Session

        meta = note.parse(vault_files.read_path(settings.vault, f"{folder}/{PAGE}") or b"").meta
        session = Session(settings, str(meta.get("session", "")))
        opened = session.open_folder() if session.id else None
        if opened is None:
            return
        with opened:
            opened.lock()
            session.catch_up(opened)
            page.update(session, opened)

    return update


def print_applied(applied: Applied) -> int:
    """Print what a rewrite did; give the exit status."""
    for path in applied.skipped:
        click.secho(f"Left alone, because it was changed meanwhile: {safe(path)}", err=True, fg="yellow")
    return print_result(applied.result)
