"""Change notes on request: write each only if it is still as it was read, then commit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import GitError, MdmemError, VaultError
from mdmem.history import commit, pages
from mdmem.history.commit import CommitResult
from mdmem.progress import ProgressCallback, ignore
from mdmem.vault import archives, disk, generated, is_in_journal, journal, layout, leftovers, note

UpdatePage = Callable[[str], list[str]]
"""Updates the page of the session in this vault folder; for "", the pages that list sessions. Returns their paths."""


class RewriteStep(NamedTuple):
    """One file to change. before: its current bytes, None if it is missing; after: the new ones, None to delete it."""

    path: str
    before: bytes | None
    after: bytes | None


class Applied(NamedTuple):
    """The result of `apply`: paths that were changed, paths that somebody else changed meanwhile, the commit."""

    changed: list[str]
    skipped: list[str]
    result: CommitResult

    def with_later(self, later: Applied) -> Applied:
        """Return the combined result of this and a later run."""
        result = later.result._replace(commits=self.result.commits + later.result.commits)
        return Applied(self.changed + later.changed, self.skipped + later.skipped, result)


def apply(
    config: Config,
    steps: Iterable[RewriteStep],
    text: str,
    update_page: UpdatePage | None = None,
    report: ProgressCallback = ignore,
) -> Applied:
    """Apply the steps, and commit them as one commit with this message.

    A move is a write followed by a deletion; when the write fails, the file is not deleted.

    update_page: for steps that delete notes, so that the pages of their sessions no longer name them. A session
    without any notes left loses its page too.
    report: progress callback for what follows the steps.

    Raises:
        VaultError, BusyError, GitError: as `commit.commit`; what was changed stays changed, and the error says so.
        OSError, KeyboardInterrupt: when the disk failed or the steps were interrupted; those already applied are
            committed.
    """
    changed: list[str] = []
    skipped: list[str] = []
    deleted = _Deleted({}, set())
    unwritten: set[bytes | None] = set()
    stopped: KeyboardInterrupt | OSError | None = None
    try:
        for step in steps:
            is_moving = step.after is None and step.before in unwritten
            if is_moving or not take(config, step):
                skipped.append(step.path)
                unwritten.update({step.after} - {None})
                continue
            changed.append(step.path)
            if step.after is None and is_in_journal(step.path):
                title = note.parse(step.before or b"").fact("title")
                deleted.titles.setdefault(layout.folder_of(step.path), set()).add(title)
                deleted.paths.add(step.path)
    except (KeyboardInterrupt, OSError) as error:  # commit what was changed so far
        stopped = error
    also: list[str] = []
    try:
        also += _bring_pages(config, deleted, update_page, report) if update_page else []
    except OSError as error:
        stopped = stopped or error
    try:
        result = commit.commit_paths(config, [*changed, *also], text, report)
    except (MdmemError, OSError) as error:
        raise (_uncommitted(error, len(changed)) if changed else error) from error
    if stopped:
        raise stopped
    return Applied(changed, skipped, result)


def _uncommitted(error: MdmemError | OSError, files: int) -> MdmemError:
    """Return the error of a failed commit with what is done and what is not: a second run would not find the files."""
    kind, why = (
        (GitError, f"The commit failed: {error.strerror}.") if isinstance(error, OSError) else (type(error), error)
    )
    done = plural.number(files, "file is", "files are")
    return kind(f"{why} {done} changed or deleted already, and the commit is incomplete: `mdmem commit` completes it.")


class _Deleted(NamedTuple):
    """Deleted notes of the journal: their titles by folder, and their paths."""

    titles: dict[str, set[str]]
    paths: set[str]


def _bring_pages(config: Config, deleted: _Deleted, update_page: UpdatePage, report: ProgressCallback) -> list[str]:
    """Remove deleted notes from the pages of their sessions and from the pages that list these; return the pages.

    Neighboring pages that are not rebuilt now lose the lines that link to what was deleted.
    """
    titles = {_page_of(config.vault, folder): titles_of_page for folder, titles_of_page in deleted.titles.items()}
    changed: list[str] = []
    for place, path in enumerate(titles):
        report("Making pages", place, len(titles))
        data = disk.read_path(config.vault, path)
        if data is None:
            continue
        changed.append(path)
        folder = path.rpartition("/")[0]
        empty = all(entry.path == path for entry in disk.walk(config.vault, folder))
        if empty and not pages.is_worded(config.vault, data):
            take(config, RewriteStep(path, data, None))
            deleted.paths.update((path, layout.archive_of(folder)))
            continue
        take(config, RewriteStep(path, data, pages.retitled(config.vault, path, data, titles[path])))
        update_page(folder)
    if not titles:
        return []
    report("Making pages", 0, 0)
    generated_pages = update_page("")
    listings = {"README.md", *_listings(config.vault, titles)}
    for path in listings.union(_neighbors(config.vault, titles)):
        data = None if disk.is_packed(config.vault, path) else disk.read_path(config.vault, path)
        shortened = pages.unlisted(path, data, deleted.paths) if data else data
        if shortened != data and take(config, RewriteStep(path, data, shortened)):
            changed.append(path)
    return [*changed, *generated_pages, *listings]


def _listings(root: str, deleted: Iterable[str]) -> Iterator[str]:
    """Yield the pages that list these sessions: those of their projects, and of the days on which they began.

    deleted: the sessions' pages.
    """
    yield from {journal.project_page(layout.project_of(page)) for page in deleted if layout.day_of(page)}
    days = {layout.day_of(page) for page in deleted} - {""}
    places = generated.places_of_days(root, days)
    yield from (places[day] for day in days)


def _neighbors(root: str, deleted: Iterable[str]) -> Iterator[str]:
    """Yield pages of sessions of the same projects that may link to these as the previous or next one.

    deleted: the sessions' pages. Searched are the days on which they began, and two of the project's days before and
    after: what is the next session may be of an earlier day than this one in another time zone.
    """
    began: dict[str, set[str]] = {}
    for page in deleted:
        if day := layout.day_of(page):
            began.setdefault(layout.project_of(page), set()).add(day)
    for project, days_of_sessions in began.items():
        folders_of_day: dict[str, list[str]] = {}
        for day, folder in layout.days(root, project):
            folders_of_day.setdefault(day, []).append(folder)
        days = sorted(folders_of_day)
        positions = {
            at for day in days_of_sessions for at in range(bisect_left(days, day) - 2, bisect_right(days, day) + 2)
        }
        for at in positions & set(range(len(days))):
            folders = [
                f"{folder}/{name}" for folder in folders_of_day[days[at]] for name in layout.folders(f"{root}/{folder}")
            ]
            yield from (_page_of(root, folder) for folder in folders)


def _page_of(root: str, folder: str) -> str:
    names = {entry.path.rpartition("/")[2] for entry in disk.walk(root, folder)}
    return f"{folder}/{journal.page_of(names, folder) or journal.page_name(folder)}"


def take(config: Config, step: RewriteStep) -> bool:
    """Change one file; False when it is not as the step expects. A packed note is first taken out of its archive."""
    *folders, name = step.path.split("/")
    archives.unpack_archive_of(config, step.path)
    durable = config.durable
    try:
        with disk.open_parent(config.vault, step.path, create=step.after is not None) as folder:
            if step.after is not None:
                return disk.replace(folder, name, step.before, step.after, durable=durable)
            if disk.read(folder, name) != step.before:
                return False
            folder.handle.remove(name)
    except (FileNotFoundError, VaultError):
        return False
    leftovers.remove_empty(config.vault, folders)
    return True
