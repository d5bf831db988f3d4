"""Find the note, session or commit that a person names by path, id, session or date."""

from __future__ import annotations

import glob
import os
import posixpath
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime

from mdmem import when
from mdmem.config import Config
from mdmem.errors import AmbiguousError, MdmemError, NotFoundError, UsageError
from mdmem.history.git import repository
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.repository import Repository
from mdmem.vault import disk, journal, layout, note, unreadable

MIN_ID_CHARS = 4
"""Fewest characters of a session's id that name it."""

EVERY_SIDE = ("--full-history",)
"""Option of `git log` for some paths: also list a side of a merge that added a file and deleted it again."""


def path_of(config: Config, name: str) -> str:
    """Return the vault-relative path of the note that `name` means: its path, its id, `mem:ID` or `[mem:ID]`.

    A prefix of an id will do if it is unique.

    Raises:
        NotFoundError: when there is none.
        AmbiguousError: when there are several.
    """
    path = layout.typed_path(config.vault, name)
    if path and disk.read_path(config.vault, path) is not None:
        return path
    note_id = note.id_in_reference(name)
    paths = [entry.path for entry in disk.walk(config.vault)]
    if match := by_id(paths, note_id):
        return match
    if match := by_beginning({**ids_in(paths), **_ids_like(config.vault, paths, note_id)}, note_id):
        return match
    hint = deletion_of(config, name)
    if not hint and session_folders(config, name):
        hint = f"That is a session: `mdmem history {shlex.quote(name)}` reads it."
    hint = hint or "`mdmem search` finds notes by their words; `mdmem list` shows the newest."
    raise NotFoundError(f"No note has the id or path {name!r}. {hint}")


def deletion_of(config: Config, name: str) -> str:
    """Return a sentence about how a note was deleted, by a commit or not yet; "" when it was not.

    name: a captured note's id, or the path of any note.
    """
    note_id, path = note.id_in_reference(name), layout.typed_path(config.vault, name)
    if note.is_made_id(note_id):
        place = f":(glob)**/*-{note_id}.md"
    elif disk.is_note_path(path):
        place = f":(literal){path}"
    else:
        return ""
    try:
        repo = repository.open_vault(config.vault)
        missing, uncommitted = uncommitted_deletion(repo, place)
        oid, time, subject = ("", "", "") if uncommitted else last_deletion(repo, place)
    except MdmemError:
        return ""
    if uncommitted:
        return f"Its file is {uncommitted}" if missing == path else f"Its file {missing} is {uncommitted}"
    return f"It was deleted on {time[:10]} ({subject}): `mdmem undo {oid[:8]}` brings it back." if oid else ""


def uncommitted_deletion(repo: Repository, place: str) -> tuple[str, str]:
    """Return the first missing file at a pathspec whose deletion is not committed, and what it is, to end a sentence.

    Both are "" without one.
    """
    words = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=D", "HEAD", "--", place)
    missing = os.fsdecode(repository.attempt(repo, *words, env=PATTERNS).out).split("\0")[:-1]
    for path in missing:
        if why := unreadable.why_missing(str(repo.root), path):
            return path, why
    deleted = "deleted, but that is not committed: `mdmem commit` completes it."
    return (missing[0], deleted) if missing else ("", "")


def last_deletion(repo: Repository, place: str) -> tuple[str, str, str]:
    """Return id, time (ISO 8601) and subject of the last commit that deleted files at a pathspec; "" for none."""
    arguments = ("log", "-1", *EVERY_SIDE, "--diff-filter=D", "--format=%H%x00%aI%x00%s", "HEAD", "--", place)
    commit = repository.attempt(repo, *arguments, env=PATTERNS).out.decode("utf-8", "replace")
    oid, time, subject = commit.strip("\n").split("\0", 2) if commit else ("", "", "")
    return oid, time, subject


def renamed(config: Config, names: Iterable[str]) -> dict[str, str]:
    """Return old path -> new path of files with these names that commits renamed, oldest first; {} without history."""
    names = {name for name in names if "\0" not in name}  # which no file has
    wanted, places = {*map(str.lower, names)}, [f":(glob,icase)**/{glob.escape(name)}" for name in names]
    if not places:
        return {}
    words = ("diff-tree", "--stdin", "-r", "--find-renames", "--diff-filter=R", "--name-status", "--no-commit-id", "-z")
    try:
        repo = repository.open_vault(config.vault)
        deleting = ("log", *EVERY_SIDE, "--no-renames", "--diff-filter=D", "--format=%H", "HEAD", "--", *places)
        logged = repository.attempt(repo, *deleting, env=PATTERNS)
        rows = os.fsdecode(repository.run(repo, *words, stdin=logged.out)).split("\0") if logged.out else []
    except MdmemError:
        return {}
    pairs = zip(rows[-3::-3], rows[-2::-3], strict=True)  # a status precedes both paths, and the last row is ""
    return {old: new for old, new in pairs if posixpath.basename(old).lower() in wanted}


def by_id(paths: Iterable[str], name: str) -> str:
    """Return the path whose file name ends in this id, "" when none does."""
    endings = (f"-{name}.md", f"/{name}.md")
    return next((path for path in paths if f"/{path}".endswith(endings)), "")


def by_beginning(ids: Mapping[str, str], name: str) -> str:
    """Return the path with this id, else the one whose id has this prefix; "" when there is none.

    Raises AmbiguousError when there are several.
    """
    paths = [path for path, note_id in ids.items() if len(name) >= note.MIN_PREFIX_CHARS and note_id.startswith(name)]
    paths = [path for path in paths if ids[path] == name][:1] or paths
    if len(paths) > 1:
        listed = ", ".join(paths[:5])
        raise AmbiguousError(f"{len(paths)} notes match {name!r}: {listed}. Give more characters, or the path.", paths)
    return paths[0] if paths else ""


def ids_in(paths: Iterable[str]) -> dict[str, str]:
    """Return the ids in file names, path -> id; "" for a name without one."""
    return {path: journal.id_in(path) for path in paths}


def id_of(config: Config, path: str) -> str:
    """Return a note's id from its front matter, else the one that the index derives from its path."""
    data = disk.read_path(config.vault, path) or b""
    return str(note.parse(data).meta.get("id") or note.id_of_path(path))


def session_folders(config: Config, name: str) -> list[str]:
    """Return the folders of the session whose id or folder name begins with `name`, or the folder of that path."""
    if len(name) < MIN_ID_CHARS:
        return []
    root = config.vault
    packed = {layout.archived_in(path) for path in layout.archives(root)} - {""}
    folders = sorted(packed.union(layout.sessions(root)))
    if (typed := layout.typed_path(root, name)) in folders:
        return [typed]
    ending = f"-{name[:8]}"
    likely = [folder for folder in folders if folder.endswith(ending) or folder.rpartition("/")[2].startswith(name)]
    sure = [folder for folder in likely if _is_session(root, folder, name)]
    sure = sure or [folder for folder in folders if _is_session(root, folder, name)]
    return [folder for folder in sure if any(disk.walk(root, folder))]


def is_named(name: str, session: str) -> bool:
    """Whether a name means a session: a prefix of its id, or the tag at the end of its folder's name."""
    return len(name) >= MIN_ID_CHARS and (session.startswith(name) or journal.session_tag(session) == name.lower())


def commit_of(repo: Repository, name: str) -> str:
    """Return the id of the commit that `name` means: a revision, or the last commit by a date or time.

    A date (`yesterday`, `2026-09-14`) means its end in local time; `3d`, `2w` and `12h` count back from now.

    Raises:
        NotFoundError: when there is no commit by then.
        UsageError: when it is neither a revision nor a date.
    """
    # `2026` is a year, not a commit prefix; eight digits are more likely a commit than a date without dashes.
    is_id = len(name) > len("2026") and name.isdigit()
    moment = None if is_id else moment_of(name, when.now())
    if moment is None:
        result = repository.attempt(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if result.status:
            raise UsageError(
                f"{name!r} is not a commit, date or time. Examples: yesterday, 2026-09-14T10:30, 3d, HEAD~2."
            )
        return result.out.decode("ascii").strip()
    result = repository.attempt(repo, "rev-list", "-1", "--first-parent", f"--before={int(moment.timestamp())}", "HEAD")
    if result.status or not result.out:
        raise NotFoundError(f"The vault has no commit from before {moment:%Y-%m-%d %H:%M}.")
    return result.out.decode("ascii").strip()


def moment_of(text: str, now: datetime) -> datetime | None:
    """Parse a time as all commands do and return the end of the span it names; None when it is not a time."""
    bounds = when.span(text, now)
    if bounds is None:
        return None
    start, end = bounds
    return datetime.fromtimestamp(end - (end > start), now.tzinfo)


def _ids_like(root: str, paths: list[str], name: str) -> dict[str, str]:
    """Return path -> id for notes whose id may begin with `name` and is not in their file name.

    These are notes that people wrote or renamed. One without an id has the id that the index derives from its path.
    """
    ids: dict[str, str] = {}
    for path in paths if len(name) >= note.MIN_PREFIX_CHARS else ():
        data, derived_id = disk.read_path(root, path), note.id_of_path(path)
        if data and (derived_id.startswith(name) or name.encode() in data[: 64 * 1024]):
            ids[path] = str(note.parse(data).meta.get("id") or derived_id)
    return ids


def _is_session(root: str, folder: str, name: str) -> bool:
    session = journal.session_of(root, folder)
    if folder.rpartition("/")[2] == name:
        return True
    return is_named(name, session) if session else folder.endswith(f"-{name[:8]}")
