"""Open work on the pages of projects and sessions: what was left undone, as lines of links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.inject.open_work import HEADING
from mdmem.learn import work
from mdmem.views import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.learn.work import OpenItem
    from mdmem.views.listed import Listing

MOST = 20
LABELS = {"task": "To do", "failure": "Still fails", "prompt": "No answer", "interrupted": "Broke off"}


def of_project(found: Listing, called: Iterable[str]) -> list[OpenItem]:
    """Return what was left open in a project. The newest note says what time it is: every machine lists the same."""
    now = float(max(found.view.numbers("created"), default=0))
    items = [item for name in sorted(called) for item in work.in_view(found.config, found.view, name, now)]
    return [item for item in items if found.leaves(item.path)]


def section(items: Iterable[OpenItem], folder: str) -> list[str]:
    """Write open work as the part of a page in `folder`; nothing when there is none."""
    lines = [f"- {LABELS[item.kind]}: {listed.link(item.text, item.path, folder)}" for item in items]
    return listed.section(HEADING, lines[:MOST])


def without(lines: list[str]) -> list[str]:
    """Return the lines of a page without that part, and without the empty lines before it."""
    heading = f"## {HEADING}"
    if heading not in lines:
        return lines
    begin = lines.index(heading)
    end = next((at for at, line in enumerate(lines) if at > begin and line.startswith("## ")), len(lines))
    return [*_without_blanks(lines[:begin]), *([""] if lines[end:] else []), *lines[end:]]


def listed_in(lines: list[str]) -> list[str]:
    """Return the lines of that part."""
    kept = set(without(lines))
    return [line for line in lines if line.startswith("- ") and line not in kept]


def with_section(lines: list[str], part: list[str]) -> list[str]:
    """Return the lines of a page with that part at their end."""
    kept = without(lines)
    return [*_without_blanks(kept), "", *part] if part else kept


def _without_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
