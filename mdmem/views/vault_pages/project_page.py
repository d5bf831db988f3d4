"""A project's page: decisions, open work, most touched files, and sessions by month."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, islice

from mdmem.capture import page
from mdmem.learn.work import OpenItem
from mdmem.views import sessions
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import listed, open_work
from mdmem.views.vault_pages.listed import Listing

MAX_FILES = 15
_EDITS = 5_000
"""Number of newest edits from which files are counted."""


def called(found: Listing, name: str) -> set[str]:
    """Return the names that notes use for the project whose folder has this name."""
    held = (one.project for one in found.sessions if one.page.startswith(f"journal/{name}/"))
    return {name, *islice(held, 1)}


def lines(found: Listing, name: str, open_: Iterable[OpenItem]) -> list[str]:
    """Return the generated part of the page of the project whose folder has this name.

    open_: its open work.
    """
    folder = f"journal/{name}"
    held = [one for one in found.sessions if one.page.startswith(f"{folder}/")]
    names = called(found, name)
    decisions = {row.path: row for called_so in sorted(names) for row in found.notes(listed.DECISIONS, called_so)}
    parts = [
        listed.section("Decisions", [listed.note_line(row, folder) for row in decisions.values()]),
        open_work.section(open_, folder),
        listed.section("Files touched most", _files(found, names)),
        *_months(list(found.named(held)), folder),
    ]
    made = [line for part in parts for line in part]
    return ["", *made] if made else []


def _months(held: list[SessionRow], folder: str) -> list[list[str]]:
    months = groupby(held, key=lambda one: listed.day(one)[:7])
    return [
        listed.section(f"Sessions in {month}", [listed.session_line(one, folder) for one in found])
        for month, found in months
    ]


def _files(found: Listing, called: set[str]) -> list[str]:
    """Return the most changed files, with the number of changes."""
    of_project = found.view.with_any(f"project:{name}".lower() for name in called)
    counted = sessions.files_changed_most(found.view, of_project, edits=_EDITS, most=MAX_FILES)
    return [f"- {page.code(file)} ×{count}" for file, count in counted]
