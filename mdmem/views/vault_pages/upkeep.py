"""Upkeep of the generated pages: start page, project pages, day pages, and the links of session pages.

They are made from the index, between markers, after a turn and around a sync; never in a hook. A page whose markers
the user has removed is never written again.
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
from mdmem.hashing import sha256, short
from mdmem.vault import START_PAGE

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import UpdatePage
    from mdmem.search.index.view import View


REST = 50
"""Pages are made again only after this multiple of the CPU time it took: in the background, or if that was long."""

LONG_SECONDS = 0.3
"""If making pages takes longer, not every commit waits for them."""

QUICK_SECONDS = 1.0
"""If making pages takes longer, commands that only remove a few lines from them leave that to the next commit."""

QUICK_NOTES = 5_000
"""In a vault of more notes, making pages for the first time takes longer than that."""

_STAMP = "pages"
MAX_STAMP_BYTES = 16 * 1024 * 1024


def refresh(
    config: Config,
    *,
    now: float,
    background: bool = False,
    may_wait: bool = False,
    quick: bool = False,
    everything: bool = False,
) -> list[str]:
    """Update the pages that changes in the vault affect; return the paths written.

    now: seconds since the epoch. background: skip it if it was done recently, and do not report an index that cannot
    be updated. may_wait: skip it if it was done recently and takes long, unless a note that pages lead to is gone.
    quick: skip it if it takes long. everything: make all pages again.
    """
    last = _read_stamp(config)
    has_rest = background or (may_wait and last.cost > LONG_SECONDS)
    is_resting = has_rest and 0 <= now - last.seen < REST * last.cost
    if (quick and last.cost > QUICK_SECONDS) or (is_resting and not may_wait):
        return []
    from mdmem.history import changes as history

    if history.half_way(Path(config.vault, ".git")):
        return []  # git could not abort a merge or rebase if a page changed
    began = time.process_time()
    try:
        made = _make(config, last, is_told=not background, is_resting=is_resting, quick=quick, everything=everything)
    except (MdmemError, OSError):
        if background:
            return []
        raise
    if made is None:
        return []
    written, stamp = made
    _write_stamp(config, stamp._replace(seen=now, cost=time.process_time() - began))
    return written


def _make(
    config: Config, last: Stamp, *, is_told: bool, is_resting: bool, quick: bool, everything: bool
) -> tuple[list[str], Stamp] | None:
    """Make the pages that may have changed; return those written, and the marks of the next `Stamp`.

    None if that is postponed, or their sources are unchanged.

    is_told: print why it is postponed. is_resting: postpone it unless a note that pages lead to is gone.
    """
    from mdmem.search import freshness, index
    from mdmem.watcher import client

    changes, notices = index.Changes(), tuple[str, ...]()
    if not client.has_indexed_all(config):
        changes, notices = freshness.bring_up_to_date(config, wait_seconds=0, most=freshness.MOST_AT_ONCE)
    if not changes.complete and freshness.being_built(config):  # pages of a partial index would be wrong
        for notice in notices if is_told else ():
            click.echo(f"mdmem: {notice} Pages are made when it is done.", err=True)
        return None

    def answer(view: View) -> tuple[list[str], Stamp] | None:
        if (quick and not last.seen and view.live > QUICK_NOTES) or freshness.being_built(config):
            return None
        source = _source(config, view)
        if source == last.source and not everything:
            return None  # nor is a note gone
        places = _places(view)
        if is_resting and not (changes.removed or last.places - places):
            return None
        from mdmem.views.vault_pages import making  # slow to load

        try:
            written, marks = making.make(config, view, last.seen, last.marks, everything=everything)
            return written, Stamp(marks=marks, source="" if written else source, places=places)
        finally:
            view.answers.clear()  # frees the table of all sessions

    return freshness.answered(config, answer)


class Stamp(NamedTuple):
    """When pages were last made, its CPU time in seconds, and the marks that `making.make` returned.

    source: a mark of all sources if no page had to be written, else "". places: marks of the paths of notes that pages
    lead to.
    """

    seen: float = 0.0
    cost: float = 0.0
    marks: Set[str] = frozenset()
    source: str = ""
    places: Set[str] = frozenset()


def _places(view: View) -> Set[str]:
    """Return a mark for the path of each note that a page of other notes leads to."""
    from mdmem.vault import note

    linked = view.notes("facet", "kind:session") | view.of_kinds(note.WRITTEN)
    return {sha256(path.encode("utf-8", "surrogatepass"))[:5].hex() for path in view.paths(linked)}


def _source(config: Config, view: View) -> str:
    """Return a mark of the pages' sources: the index, the settings, the last review, and the start page."""
    from mdmem import __version__
    from mdmem.history import review

    reviewed = review.last_review(config)
    settings = sorted(config.settings.values.items())
    try:
        page = Path(config.vault, START_PAGE).lstat()
        start = (page.st_mtime_ns, page.st_size)
    except OSError:
        start = None
    return short(repr((__version__, sorted(view.files.items()), settings, reviewed, start)), 16)


def _stamp(config: Config) -> str:
    return str(Path(config.state_dir, _STAMP))


def _read_stamp(config: Config) -> Stamp:
    try:
        first, *rest = (files.read_own(_stamp(config), MAX_STAMP_BYTES).decode() + "\n\n").split("\n")
        marks, places = (frozenset(line.split()) for line in rest[:2])
        seen, cost, *source = first.split()
        return Stamp(float(seen), float(cost), marks, "".join(source), places)
    except (OSError, ValueError):
        return Stamp()


def _write_stamp(config: Config, stamp: Stamp) -> None:
    first = f"{stamp.seen:.3f} {stamp.cost:.3f} {stamp.source}"
    lines = (first, *(" ".join(sorted(marks)) for marks in (stamp.marks, stamp.places)))
    # If that fails, all pages are checked again the next time.
    files.try_replace(_stamp(config), "".join(f"{line}\n" for line in lines).encode())


def updater(config: Config) -> UpdatePage:
    """Return a function that updates a session's page after notes were deleted; for "", all other pages.

    It returns the paths of the other pages that it wrote. In a large vault it leaves these to the next commit.
    """

    def update(folder: str) -> list[str]:
        if not folder:
            with suppress(MdmemError, OSError):  # the next turn does it then
                return refresh(config, now=time.time(), quick=True)
            return []
        from mdmem.capture import page
        from mdmem.capture.session import Session
        from mdmem.vault import journal, note

        meta = note.parse(journal.read_page(config.vault, folder)).meta
        if meta.get("session"):
            page.bring_up_to_date(Session(config, str(meta["session"])))
        return []

    return update
