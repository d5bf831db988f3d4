"""Delete notes on request. They stay in history until they are purged."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterable
from functools import reduce
from itertools import islice
from typing import NamedTuple

from mdmem import plural, timestamps
from mdmem.config import Config
from mdmem.errors import AmbiguousError, MdmemError, NotFoundError
from mdmem.history import commit, find, pages, rewrite
from mdmem.history.git import repository
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.repository import Repository
from mdmem.history.rewrite import Applied, RewriteStep, UpdatePage
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.vault import JOURNAL, disk, journal, layout, links, note

NOTES_AT_ONCE = 20_000
"""Maximum number of deleted notes per commit: a request may cover most of a vault."""


class Target(NamedTuple):
    """A note to delete. digest: that of its planned text; the texts of many notes would take too much memory."""

    path: str
    id: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    digest: bytes


class _DeletedError(NotFoundError):
    """A name means a note or session that is deleted already."""


def plan(
    config: Config,
    names: Iterable[str],
    *,
    span: tuple[str, str] = ("", ""),
    project: str = "",
    matching: str = "",
    gone: list[str] | None = None,
) -> list[Target]:
    """Return the notes to delete: those with these ids, paths or sessions (with all their notes); without names, all.

    A session's page on which a person has written goes only by its own name (see `worded_pages`).
    span: when notes were created, from and before, ISO 8601 in UTC; "" for no bound. project: only its notes.
    matching: only notes that contain these words, ignoring case and line breaks.
    gone: receives what is said of names whose notes are deleted already, as by a run that was killed.

    Raises NotFoundError when a name matches nothing, or nothing that is not deleted already.
    """
    names = list(names)
    since, until = span
    named_paths: list[str] = []
    deleted: list[_DeletedError] = []
    for name in names:
        try:
            named_paths += _paths(config, name)
        except _DeletedError as error:
            deleted.append(error)
    if deleted and not named_paths:
        raise deleted[0]
    if gone is not None:
        gone += map(str, deleted)
    paths = dict.fromkeys(named_paths) if names else (entry.path for entry in disk.walk(config.vault))
    words = links.as_compared(matching)
    targets: list[Target] = []
    for target, data in (_target(config, path) for path in paths):
        if project and target.project != project:
            continue
        if target.created < since or (until and not (target.created and target.created < until)):
            continue
        if words and words not in links.as_compared(data.decode("utf-8", "replace")):
            continue
        if names or target.kind not in note.PAGES or _is_left_over(config, target.path):
            targets.append(target)
    return sorted(targets)


def worded_pages(config: Config, targets: Iterable[Target]) -> list[str]:
    """Return the pages that stay, because a person wrote on them, when all notes of their sessions go."""
    deleted = {target.path for target in targets}
    folders = sorted({folder for path in deleted if (folder := layout.session_of(path))})
    remaining = (
        [entry.path for entry in disk.walk(config.vault, folder) if entry.path not in deleted] for folder in folders
    )
    return [paths[0] for paths in remaining if len(paths) == 1 and _is_worded_page(config, paths[0])]


def keep(config: Config, paths: Iterable[str], report: ProgressCallback = ignore) -> set[str]:
    """Commit notes as they are, so that they can be restored; return the paths that cannot be committed.

    Those are held back by the privacy gate, stay on this machine, or are staged by a person.

    Raises what `commit.commit_paths` raises.
    """
    paths = list(dict.fromkeys(paths))
    result = commit.commit_paths(config, paths, f"Keep {plural.number(len(paths), 'note')} before deletion", report)
    refused = {entry.path for entry in result.held_back} | {entry.path for entry in result.left_out}
    return refused.union(result.staged, (entry.path for entry in result.staying)).intersection(paths)


def apply(
    config: Config, targets: Iterable[Target], update_page: UpdatePage | None = None, report: ProgressCallback = ignore
) -> Applied:
    """Delete these notes and commit that, `NOTES_AT_ONCE` at a time.

    The message lists ids instead of titles, which are to be forgotten too.

    update_page: as for `rewrite.apply`. report: progress callback.

    Raises what `rewrite.apply` raises.
    """
    targets = list(targets)
    steps = (_step(config, target) for target in reporting(targets, "Deleting", report))
    parts = (targets[start : start + NOTES_AT_ONCE] for start in range(0, max(len(targets), 1), NOTES_AT_ONCE))
    results = (rewrite.apply(config, islice(steps, len(part)), _message(part), update_page, report) for part in parts)
    return reduce(Applied.with_later, results)


def _message(targets: list[Target]) -> str:
    listed = "".join(f"- {target.id or target.path}\n" for target in targets)
    return f"Forget {plural.number(len(targets), 'note')}\n\n{listed}"


def _step(config: Config, target: Target) -> RewriteStep:
    """Return the step that deletes a note, unless the note has changed since it was planned."""
    data = disk.read_path(config.vault, target.path)
    return RewriteStep(target.path, data if data is not None and _digest(data) == target.digest else None, None)


def deleted_session(config: Config, name: str) -> str:
    """Return how and when a session was deleted, and how to restore it; "" when history has no such session.

    A deletion that is not committed has no way back of its own yet: what commits it is returned.

    name: the beginning of its id or of its folder's tag, or the path of its folder.
    """
    name = name.rstrip("/")
    try:
        repo = repository.open_vault(config.vault)
        folder = _folder_by_trailer(repo, name) or _folder_by_tag(repo, name) if len(name) >= find.MIN_ID_CHARS else ""
    except MdmemError:
        return ""
    if not folder:
        return ""
    session, place = folder.rpartition("-")[2], f":(literal){folder}"
    _, uncommitted = find.uncommitted_deletion(repo, place)
    if uncommitted:
        return f"The notes of the session {session} are {uncommitted}"
    oid, time, subject = find.last_deletion(repo, place)
    how = {"Forget": "forgotten", "Undo:": "undone"}.get(subject.partition(" ")[0], "deleted")
    told = f"The session {session} was {how} on {timestamps.readable(time)}."
    return f"{told} `mdmem undo {oid[:8]}` restores its notes." if oid else ""


def _folder_by_trailer(repo: Repository, name: str) -> str:
    grep = ("--extended-regexp", "--grep", f"^Mdmem-Session: {re.escape(name)}")
    return _first_folder(repo, *grep, "HEAD", "--", JOURNAL)


def _folder_by_tag(repo: Repository, name: str) -> str:
    """Return the folder of a deleted session that no commit names, as when it was deleted before its first commit."""
    ends = (name[:8].lower(), name.rpartition("-")[2].lower())  # of an id, and of a folder's name
    tags = {tag for tag in (*ends, *journal.session_tags(name)) if len(tag) >= find.MIN_ID_CHARS and tag.isalnum()}
    places = (f":(glob)journal/**/*-{tag}*/*.md" for tag in sorted(tags))
    folder = _first_folder(repo, "--diff-filter=D", "HEAD", "--", *places)
    return folder if folder.rpartition("-")[2].startswith(tuple(tags)) else ""


def _first_folder(repo: Repository, *words: str) -> str:
    """Return the first session folder in the last commit that `git log` lists for these words; "" for none."""
    form = ("log", "-1", "-z", *find.EVERY_SIDE, "--format=", "--no-renames", "--name-only")
    listed = os.fsdecode(repository.attempt(repo, *form, *words, env=PATTERNS).out)
    return next(filter(None, map(layout.session_of, listed.strip("\0\n").split("\0"))), "")


def _paths(config: Config, name: str) -> list[str]:
    folders = find.session_folders(config, name)
    if not folders:
        try:
            return [find.path_of(config, name)]
        except AmbiguousError:
            raise
        except NotFoundError:
            text = f"No note or session has the id or path {name!r}."
            if deletion := find.deletion_of(config, name) or deleted_session(config, name):
                raise _DeletedError(f"{text} {deletion}") from None
            hint = f"To forget all notes with these words: mdmem forget --matching {shlex.quote(name)}"
            folder = layout.typed_path(config.vault, name)
            if folder and any(disk.walk(config.vault, folder)):
                advice = "That is a folder: delete it in your file manager or shell, then run `mdmem commit`."
                hint = advice if "/" in name else f"{advice} {hint}"  # a word may be meant as a word
            raise NotFoundError(f"{text} {hint}") from None
    if len({folder.rpartition("-")[2] for folder in folders}) > 1:
        listed = ", ".join(folder.rpartition("/")[2] for folder in folders[:5])
        raise NotFoundError(f"{name!r} matches {len(folders)} sessions ({listed}, …): give more characters.")
    paths = (entry.path for folder in folders for entry in disk.walk(config.vault, folder))
    return [path for path in paths if not _is_worded_page(config, path)]


def _is_worded_page(config: Config, path: str) -> bool:
    """Whether this is a session's page on which a person has written."""
    return journal.is_page(path) and pages.is_worded(config.vault, disk.read_path(config.vault, path) or b"")


def _is_left_over(config: Config, path: str) -> bool:
    """Whether this is the page of a session without other notes, and nobody has written on it.

    Other pages go when they are named, or with their session.
    """
    folder, name = layout.split(path)
    alone = journal.is_page(path) and disk.names_in(config.vault, folder) == [name]
    return alone and not _is_worded_page(config, path)


def _target(config: Config, path: str) -> tuple[Target, bytes]:
    data = disk.read_path(config.vault, path) or b""
    texts = note.texts(note.parse(data).meta, "id", "kind", "title", "created", "project", "session")
    same = {key: sys.intern(texts[key]) for key in ("kind", "project", "session")}  # of thousands of notes
    return Target(path, **texts | same | {"created": timestamps.utc(texts["created"])}, digest=_digest(data)), data


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:16]
