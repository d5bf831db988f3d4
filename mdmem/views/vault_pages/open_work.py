"""Open work on the pages of projects and sessions, as lines of links."""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.inject.open_work import HEADING
from mdmem.learn import work
from mdmem.learn.work import OpenItem
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.views.vault_pages import listed
from mdmem.views.vault_pages.listed import Listing

MOST = 20
_CAPTURED = frozenset(map(KINDS.index, ("prompt", "observation", "response")))
LABELS = {"task": "To do", "failure": "Still fails", "prompt": "No answer", "interrupted": "Interrupted"}


def all_items(listing: Listing) -> list[OpenItem]:
    """Return all open work, whether or not a page may name it.

    "Now" is the time of the newest captured note, so that every machine finds the same.
    """
    view = listing.view
    created, flags = view.numbers("created"), view.numbers("flags")
    times = (created[number] for number in view.newest() if flags[number] // KIND_STEP in _CAPTURED)
    return work.in_view(listing.config, view, "", float(next(times, 0)))


def in_order(listing: Listing, items: list[OpenItem]) -> list[OpenItem]:
    """Return the open work that a page may name, newest first, in the same order on every machine.

    Notes without a time are ordered by path.
    """
    view = listing.view
    numbers = {item.path: number for item in items if (number := view.find(item.path)) is not None}
    undated = {path for path, number in numbers.items() if not listing.created(number)}
    dated = [item for item in items if item.path not in undated]
    others = sorted((item for item in items if item.path in undated), key=lambda item: (item.path, item.key))
    return [item for item in [*dated, *others] if listing.leaves(item.path)]


def section(items: Iterable[OpenItem], folder: str) -> list[str]:
    """Return the open-work section of a page in `folder`; nothing if there is none."""
    lines = [f"- {LABELS[item.kind]}: {listed.link(item.text, item.path, folder)}" for item in items]
    return listed.section(HEADING, lines[:MOST])


def without(lines: list[str]) -> list[str]:
    """Return the lines of a page without that section and the empty lines before it."""
    heading = f"## {HEADING}"
    if heading not in lines:
        return lines
    begin = lines.index(heading)
    end = next((at for at, line in enumerate(lines) if at > begin and line.startswith("## ")), len(lines))
    return [*_without_blanks(lines[:begin]), *([""] if lines[end:] else []), *lines[end:]]


def with_section(lines: list[str], part: list[str]) -> list[str]:
    """Return the lines of a page with that section at the end."""
    without_section = without(lines)
    return [*_without_blanks(without_section), "", *part] if part else without_section


def _without_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
