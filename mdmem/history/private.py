"""Notes that never leave this machine: `private: true` or `sync: false` in a note, or in its project's page."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from mdmem import files
from mdmem.errors import GitError, VaultError
from mdmem.history.git import objects, repository
from mdmem.history.git.repository import Repository
from mdmem.vault import JOURNAL, disk, journal, layout, note, packed, people, unreadable
from mdmem.vault.unreadable import UnreadableFolders


def stays_here(root: str, meta: Mapping[str, object], project: str) -> bool:
    """Whether a note's own front matter or its project's page keeps it on this machine; reads only that page."""
    return people.stays_here(meta) or bool(project and people.stays_here(_page(root, journal.project_page(project))))


def projects(root: str, stays: Callable[[Mapping[str, object]], bool] = people.stays_here) -> frozenset[str]:
    """Return the journal folders of projects that stay on this machine, and their names before they were renamed.

    stays: whether the front matter of a project's page keeps it here.

    Raises VaultError when a project's page cannot be read.
    """
    try:
        names = [item.name for item in (Path(root) / JOURNAL).iterdir()]
    except OSError:
        return frozenset()
    pages = {name: _page(root, journal.project_page(name)) for name in names}
    staying = {name: page for name, page in pages.items() if stays(page)}
    taken = {name.lower() for name in names}
    former_names = (str(page.get("project") or "") for page in staying.values())
    return frozenset([*staying, *(name for name in former_names if name and name.lower() not in taken)])


def _page(root: str, page: str) -> Mapping[str, object]:
    """Return the front matter of a project's page, also of one that is hidden."""
    try:
        data = disk.read_path(root, page)
    except PermissionError as error:
        if UnreadableFolders(root).contain(page):
            return {}  # nothing of this project can be read
        raise VaultError(
            f"{page} cannot be read, so nothing tells whether the project's notes may leave this machine. "
            f"Run `sudo chown $USER {shlex.quote(f'{root}/{page}')}; chmod u+rw {shlex.quote(f'{root}/{page}')}`."
        ) from error
    if data is None and is_hidden(root, page):
        with suppress(GitError, VaultError, OSError):
            repo = repository.open_vault(root)
            if layout.project_of(page) not in _found(repo):
                return note.parse(repository.run(repo, "cat-file", "blob", f"HEAD:{page}")).meta
        return {"private": True}  # as a commit found it, or because nothing tells
    return note.parse(data or b"").meta


def is_hidden(root: str, page: str) -> bool:
    """Whether a page is there, but behind a link or at a sync program, while other files of its folder can be read."""
    return bool(unreadable.why_missing(root, page)) and not UnreadableFolders(root).contain(page)


_FOUND = "mdmem-private"
"""File in the git folder with the projects that commits found private, separated by NUL."""


def _found(repo: Repository) -> set[str]:
    try:
        return {*filter(None, os.fsdecode((repo.common_dir / _FOUND).read_bytes()).split("\0"))}
    except FileNotFoundError:
        return set()


def remember(root: str, repo: Repository, private_projects: frozenset[str]) -> None:
    """Store which projects are private, since a page that is hidden later may have been changed after its commit."""
    before = _found(repo)
    names = {name for name in private_projects if Path(root, JOURNAL, name).is_dir()}
    names.update(name for name in before if UnreadableFolders(root).contain(journal.project_page(name)))
    if names != before:
        files.replace(str(repo.common_dir / _FOUND), os.fsencode("\0".join(sorted(names))))


def stays(path: str, data: bytes, private_projects: frozenset[str]) -> bool:
    """Whether the note in a file stays on this machine, as `is_private` tells; it is parsed only when needed."""
    begin = None if layout.archived_in(path) else _BEGIN.match(data)
    end = begin and _END.search(data, begin.end() - 1)
    head = data[: end.start()] if end and end[1] not in (b"---", b"+++") else data
    may_be = private_projects or re.search(rb"(?i)sync|private", head)
    return bool(may_be) and is_private(path, meta_of(path, data), private_projects)


_BEGIN = re.compile(rb"[\s\xef\xbb\xbf]*+---[ \t\r]*+\n(?![^!-~]*+---)")
"""The line that begins front matter which is not empty, below a byte order mark and blank lines."""
_END = re.compile(rb"\n---[ \t\r]*+(?:\n|\Z)[^!-~]*+([!-~]{0,3})")
"""The line that ends it, and the first signs below any white space of Unicode, by which more front matter begins."""


def meta_of(path: str, data: bytes) -> dict[str, object]:
    """Return the front matter of a file; for an archive with a private note, `sync: false` is added."""
    meta: dict[str, object] = note.parse(data).meta
    archived = packed.parse(data).values() if layout.archived_in(path) else ()
    return {**meta, "sync": False} if any(people.stays_here(note.parse(text).meta) for text in archived) else meta


def is_private(path: str, meta: Mapping[str, object], private_projects: frozenset[str]) -> bool:
    """Whether a note stays on this machine, because of its own front matter or its project's."""
    if people.stays_here(meta):
        return True
    return belongs(layout.project_named(path, meta), private_projects)


def belongs(project: str, private_projects: frozenset[str]) -> bool:
    """Whether a note's project is one of these. People write its name in any case."""
    return bool(private_projects) and project.lower() in map(str.lower, private_projects)


AT_ONCE = 10_000
"""Number of changes in memory at a time."""


def refuse(root: str, repo: Repository, span: str, known: Callable[[Collection[str]], Mapping[str, bytes]]) -> None:
    """Raise GitError when commits to be pushed contain a note that stays on this machine, with text that is new there.

    known: returns path -> the text that the remote has of these notes, also in archives.
    """
    private_projects = projects(root)
    changes = _changes(repo, span)
    staying_paths: set[str] = set()
    while part := set(islice(changes, AT_ONCE)):  # a set, as many commits change the same page
        part |= _in_former_archives(root, repo, part)
        paths = {path for path, _ in part} - staying_paths
        found = {path for path in paths if stays(path, disk.read_path(root, path) or b"", private_projects)}
        texts = known(found) if found else {}
        staying_paths.update(
            path for path, oid in part if path in found and objects.blob_id(texts.get(path, b""), oid) != oid
        )
    staying = sorted(staying_paths)
    if staying:
        folders = {f"{JOURNAL}/{name}" for name in private_projects}
        places = ("/".join(path.split("/")[:2]) for path in staying)
        leaving = dict.fromkeys(
            place if place in folders else path for path, place in zip(staying, places, strict=True)
        )
        commands = "".join(f"\n  mdmem purge --history-only {shlex.quote(path)}" for path in leaving)
        raise GitError(
            f"{staying[0]} stays on this machine (sync: false), but is in commits that are not pushed yet, so "
            f"nothing was pushed. Remove it from them and keep the file:{commands}"
        )


def _changes(repo: Repository, span: str) -> Iterator[tuple[str, str]]:
    """Yield path and id of each file that commits add or change."""
    # -c: of a merge, what neither side has; the rest is in other commits of the span, or was pushed from elsewhere
    arguments = ("log", "--no-renames", "-c", "--raw", "--no-abbrev", "--format=", "--diff-filter=AM", "-z", span)
    fields = repository.each(repo, *arguments)
    for field in fields:
        if field.startswith(":"):
            yield next(fields), field.split(" ")[-2]


def _in_former_archives(root: str, repo: Repository, changed: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return path and id of each note in those of these files that are archives which have been unpacked since."""
    former = [(path, oid) for path, oid in changed if layout.archived_in(path) and not disk.read_file(root, path)]
    texts = objects.contents(repo, (oid for _, oid in former)) if former else {}
    return {
        (f"{layout.archived_in(path)}/{name}", objects.blob_id(text, oid))
        for path, oid in former
        for name, text in packed.parse(texts.get(oid, b"")).items()
    }
