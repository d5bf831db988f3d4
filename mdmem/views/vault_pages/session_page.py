"""What hooks cannot put on a session's page: the neighboring sessions, and the titles of its tool runs."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterable

from mdmem.agents import aliases
from mdmem.capture import page
from mdmem.capture.page_entry import PageEntry
from mdmem.history import pages
from mdmem.learn.work import OpenItem
from mdmem.vault import disk, generated, journal, layout, note, people
from mdmem.views import sessions
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow, SessionTurn
from mdmem.views.vault_pages import listed, open_work
from mdmem.views.vault_pages.listed import Listing

MAX_ERROR_CHARS = 160


def lines(
    listing: Listing,
    session: SessionRow,
    page_lines: list[str],
    neighbors: tuple[SessionRow | None, SessionRow | None],
    open_items: Iterable[OpenItem],
) -> list[str]:
    """Return the generated part of a session's page.

    page_lines: the current part, as the hooks wrote it. neighbors: the project's sessions before and after this one.
    open_items: its open work.
    """
    folder = session.page.rpartition("/")[0]
    before, after = neighbors
    day = listed.day(session)
    project = journal.project_page(layout.project_of(folder))
    links = [listed.link("Project", project, folder)] if listing.view.find(project) is not None else []
    links += [listed.link(day, listing.day_page(day), folder)] if day in listing.days else []
    links += [f"previous: {_dated_link(before, folder)}"] if before else []
    links += [f"next: {_dated_link(after, folder)}"] if after else []
    navigation = f"{' · '.join(links)} {generated.NAVIGATION_MARK}".lstrip()
    if listing.is_part:
        navigation = _link_to_missing_session(listing.root, folder, page_lines) or navigation
    turns = sessions.turns(listing.view, session.session)
    listed_runs: dict[str, tuple[list[str], int]] = {}
    for turn in turns:
        runs = [row for row in turn.rows if row.kind == "observation" and _is_listed(listing, row, folder)]
        prompt = layout.split(next((row.path for row in turn.rows if row.kind == "prompt"), ""))[1]
        if runs and prompt:
            failed = sum(row.success is False for row in runs)
            listed_runs[prompt] = [_run_line(listing, row) for row in runs], failed
    missing = _missing_notes(listing.root, folder, page_lines)
    page_lines = _with_every_prompt(listing, page_lines, turns, folder, list_again=bool(missing))
    page_lines = _with_every_file(listing, page_lines, turns, folder)
    page_lines = [_LINK.sub(lambda link: link[1] if _target(link) in missing else link[0], line) for line in page_lines]
    return open_work.with_section(
        generated.with_runs(page_lines, navigation, listed_runs), open_work.section(open_items, folder)
    )


def _link_to_missing_session(root: str, folder: str, page_lines: list[str]) -> str:
    """Return the line of links if it leads to a session that is not here: a machine that has it has written it."""
    line = next((line for line in page_lines if line.endswith(generated.NAVIGATION_MARK)), "")
    neighbors = (link for link in line.split(" · ") if link.startswith(("previous: ", "next: ")))
    linked = (posixpath.join(folder, _target(link)) for text in neighbors for link in _LINK.finditer(text))
    targets = list(map(posixpath.normpath, linked))
    is_here = (os.path.lexists(f"{root}/{target}") or disk.is_packed(root, target) for target in targets)
    return "" if all(is_here) else line


def _is_listed(listing: Listing, row: NoteRow, folder: str) -> bool:
    return row.path.startswith(f"{folder}/") and listing.leaves(row.path)


_LINK = re.compile(r"\[((?:\\.|[^\]\\\n])*)\]\((?:<([^<>\n]+)>|([^()<>\s]+))\)")


def _target(link: re.Match[str]) -> str:
    return generated.path_of(link[2] or link[3])


def _missing_notes(root: str, folder: str, page_lines: list[str]) -> set[str]:
    """Return the notes that a session's page links to but that are no longer in its folder."""
    linked = {_target(link) for line in page_lines for link in _LINK.finditer(line)}
    captured = {name for name in linked - set(disk.names_in(root, folder)) if journal.numbers(name)}
    return {name for name in captured if not os.path.lexists(f"{root}/{folder}/{name}")}


def _with_every_prompt(
    listing: Listing, page_lines: list[str], turns: list[SessionTurn], folder: str, *, list_again: bool
) -> list[str]:
    """Return the lines of a page with prompts added that came from another machine.

    list_again: list all prompts again, because listed notes are gone.
    """
    listed_turns = [(turn.number, [row for row in turn.rows if _is_listed(listing, row, folder)]) for turn in turns]
    prompts = {layout.split(row.path)[1] for _, rows in listed_turns for row in rows if row.kind == "prompt"}
    if not list_again and prompts <= {generated.prompt_in(line) for line in page_lines}:
        return page_lines
    return generated.with_prompts(
        page_lines, page.prompts([(number, [_entry(row) for row in rows]) for number, rows in listed_turns])
    )


def _with_every_file(listing: Listing, page_lines: list[str], turns: list[SessionTurn], folder: str) -> list[str]:
    """Return the lines of a page with the files added that only notes changed which no longer stay on a machine.

    A commit took these files off the page (`pages.without`), and there may be no further hook of the session.
    """
    begin, end = pages.files_listed(page_lines)
    work = next((at for at, line in enumerate(page_lines) if line == page.WORK), -1)
    if work < 0 or any(line.endswith(" more") for line in page_lines[begin:end]):
        return page_lines
    rows = [row for turn in turns for row in turn.rows if row.success and _is_listed(listing, row, folder)]
    changed = Counter(page.code(file) for row in rows if aliases.changes_files(row.tool) for file in row.files)
    known = set(map(pages.listed_file, page_lines[begin:end]))
    added = [
        f"- {file}" + (f" ×{changed[file]}" if changed[file] > 1 else "")
        for file in sorted(changed)
        if pages.listed_file(f"- {file}") not in known
    ][: page.MAX_FILES]
    if not added:
        return page_lines
    if begin == end:
        return [*page_lines[:work], generated.FILES, "", *added, "", *page_lines[work:]]
    last = max(at for at in range(begin, end) if page_lines[at])
    return [*page_lines[: last + 1], *added, *page_lines[last + 1 :]]


def _entry(row: NoteRow) -> PageEntry:
    name = layout.split(row.path)[1]
    entry = PageEntry(name, journal.numbers(name))
    entry.kind, entry.title, entry.success = row.kind, row.title, row.success is not False
    return entry


def _dated_link(session: SessionRow, folder: str) -> str:
    return listed.link(listed.moment(session), session.page, folder)


def _run_line(listing: Listing, row: NoteRow) -> str:
    """Return a run's title, for a failed one with the start of its error, as a link.

    All of it is inside the link, because pages that leave this machine drop links to runs that stay.
    """
    title = row.title
    if row.success is False:
        parsed = people.try_load_clean(listing.root, row.path)
        error = note.one_line(str(parsed.meta.get("error") or ""), MAX_ERROR_CHARS)
        title = f"{title}: {error}" if error and error not in title else title
    return page.run_line(layout.split(row.path)[1], title, success=row.success is not False)
