"""Upkeep of the pages by which a vault is walked: start page, project pages, days, and the links of session pages.

They are made of the index, between markers, after a turn and around a sync; never in a hook. A page whose markers a
person has removed is theirs alone.
"""

from __future__ import annotations

import time
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from mdmem import files
from mdmem.errors import MdmemError
from mdmem.hashing import short

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import UpdatePage
    from mdmem.search.index.view import View


REST = 50
"""Pages are rebuilt after this multiple of the processor time it took: in the background, or where it takes long."""

LONG_SECONDS = 0.3
"""In a vault of some thousand notes people do not wait for pages each time they commit."""

QUICK_SECONDS = 1.0
"""Pages that take longer to make are left to the next commit by commands that have only some lines to take off them."""

QUICK_NOTES = 5_000
"""In a vault of more notes pages that were never made take longer than that."""

_STAMP = "pages"
MAX_STAMP_BYTES = 4 * 1024 * 1024


def refresh(
    config: Config,
    *,
    now: float,
    background: bool = False,
    may_wait: bool = False,
    quick: bool = False,
    everything: bool = False,
) -> list[str]:
    """Update the pages as far as the vault has changed; return the paths of those that were written.

    now: seconds since the epoch. background: leave it for later when it was done a moment ago, and say nothing of an
    index that cannot be brought up to date. may_wait: leave it for later as well, where it takes long. quick: leave it
    for later where it takes long, whenever it was done last. everything: make all pages again.
    """
    last = _read_stamp(config)
    has_rest = background or (may_wait and last.cost > LONG_SECONDS)
    if (quick and last.cost > QUICK_SECONDS) or (has_rest and 0 <= now - last.seen < REST * last.cost):
        return []
    from mdmem.history import changes as history

    if history.half_way(Path(config.vault, ".git")):
        return []  # git aborts no merge, rebase or the like while a page has changed
    began = time.process_time()
    try:
        done = _make(config, last, is_told=not background, quick=quick, everything=everything)
    except (MdmemError, OSError):
        if background:
            return []
        raise
    if done is None:
        return []
    source = "" if done.written else done.source
    _write_stamp(config, Stamp(now, time.process_time() - began, done.marks, source, done.left))
    return done.written


class _Made(NamedTuple):
    """The pages that were written, and for the next `Stamp`: marks, and of what all pages are made."""

    written: list[str]
    marks: Set[str]
    left: Set[str]
    source: str


def _make(config: Config, last: Stamp, *, is_told: bool, quick: bool, everything: bool) -> _Made | None:
    """Make the pages that may have changed; None when that is left for later, or nothing they are made of has changed.

    is_told: print why they are left for later.
    """
    from mdmem.search import freshness
    from mdmem.views.vault_pages import making  # what makes pages takes longer to load than to see that none is due

    changes, notices = freshness.bring_up_to_date(config, wait_seconds=0, most=freshness.MOST_AT_ONCE)
    if not changes.complete and freshness.being_built(config):  # pages of a part of the notes would be wrong
        for notice in notices if is_told else ():
            click.echo(f"mdmem: {notice} Pages are made when it is done.", err=True)
        return None

    def made(view: View) -> _Made | None:
        if (quick and not last.seen and view.live > QUICK_NOTES) or freshness.being_built(config):
            return None
        source = _source(config, view)
        if source == last.source and not everything:
            return None
        try:
            return _Made(*making.make(config, view, last.seen, last.marks, last.left, everything=everything), source)
        finally:
            view.answers.clear()  # of the table of all sessions nothing is needed any more

    return freshness.answered(config, made)


class Stamp(NamedTuple):
    """When pages were made last, what it cost in seconds, and marks of what each said of others then.

    source: of what they were made, where all of them were as they are to be; "" else. left: marks of the files
    that were written.
    """

    seen: float = 0.0
    cost: float = 0.0
    marks: Set[str] = frozenset()
    source: str = ""
    left: Set[str] = frozenset()


def _source(config: Config, view: View) -> str:
    """Return a mark of what all pages are made of: the index, the settings, the last review, and the start page."""
    from mdmem import __version__
    from mdmem.views import review_queue
    from mdmem.views.vault_pages import start_page

    reviewed = review_queue.last_review(config)
    settings = sorted(config.settings.values.items())
    try:
        page = Path(config.vault, start_page.PATH).lstat()
        start = (page.st_mtime_ns, page.st_size)
    except OSError:
        start = None
    return short(repr((__version__, sorted(view.files.items()), settings, reviewed, start)), 16)


def _stamp(config: Config) -> str:
    return str(Path(config.state_dir, _STAMP))


def _read_stamp(config: Config) -> Stamp:
    try:
        first, marks, left, *_ = (files.read(_stamp(config), MAX_STAMP_BYTES).decode() + "\n").split("\n")
        seen, cost, *source = first.split()
        return Stamp(float(seen), float(cost), frozenset(marks.split()), "".join(source), frozenset(left.split()))
    except (OSError, ValueError):
        return Stamp()


def _write_stamp(config: Config, made: Stamp) -> None:
    first = f"{made.seen:.3f} {made.cost:.3f} {made.source}"
    try:
        lines = (first, *(" ".join(sorted(marks)) for marks in (made.marks, made.left)))
        files.replace(_stamp(config), "".join(f"{line}\n" for line in lines).encode())
    except OSError:
        return  # the next time all pages are looked at again


def updater(config: Config) -> UpdatePage:
    """Return what brings the page of a session up to date, some of whose notes are gone; of "" the pages around it.

    It returns the paths of those pages around it that it wrote. In a large vault it leaves these to the next commit.
    """

    def update(folder: str) -> list[str]:
        if not folder:
            with suppress(MdmemError, OSError):  # the next turn does it
                return refresh(config, now=time.time(), quick=True)
            return []
        from mdmem.capture import page
        from mdmem.capture.session import Session
        from mdmem.vault import journal, note

        meta = note.parse(journal.read_page(config.vault, folder)).meta
        session = Session(config, str(meta.get("session", "")))
        opened = session.open_folder() if session.id else None
        if opened is None:
            return []
        with opened:
            opened.lock()
            session.catch_up(opened)
            page.update(session, opened)
        return []

    return update
