"""Undo a session or a commit, keeping later changes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import GitError, NotFoundError, UsageError, VaultError
from mdmem.history import changes, commit, find, forget, message, pages, rewrite
from mdmem.history.git import checked_out, objects, repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging import merge
from mdmem.history.rewrite import Applied, RewriteStep, UpdatePage
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.vault import JOURNAL, attachments, disk, generated, is_in_journal, journal, layout, note, people

EMPTY_PAGE = "\n".join([*generated.MARKS, ""]).encode()

AT_ONCE = 500
"""Number of changes read at a time."""

_TAGS = frozenset([*message.COUNTED, "command", "subagent", "failed"])
"""Tags of captured notes; a person added any other."""


class UndoPlan(NamedTuple):
    """What undoing would do.

    commits: (id, subject), newest first.
    steps: files to revert; kept: files to leave, because a person has changed them.
    deleted: files that were only changed, and are deleted now; they are not restored.
    """

    commits: list[tuple[str, str]]
    steps: list[RewriteStep]
    kept: list[str]
    deleted: Sequence[str] = ()


def plan(config: Config, target: str, report: ProgressCallback = ignore) -> UndoPlan:
    """Plan the undo of a commit, or of all commits of a session. This commits changes first, and changes no file.

    report: progress callback.

    Raises:
        NotFoundError: when no session or commit has that name, or the session was deleted as a whole.
        VaultError, BusyError, GitError: as `commit.commit`.
    """
    commit_id = _commit_now(config, target)
    commit.commit(config, report=report)  # only what is in history can be restored
    repo = repository.open_vault(config.vault)
    commits = _commits(config, repo, target, commit_id)
    why = "and undoing the oldest that it has would delete all earlier notes"
    objects.refuse_shallow(repo, why, [oid for oid, *_ in commits])
    files = _Files(config, repo)
    changed = {oid: objects.changed(repo, oid) for oid, *_ in commits}
    moved = _moved(config, {path for rows in changed.values() for path, *_ in rows})
    for oid, _, session in reporting(commits, "Reading commits", report):
        for changed_path, new, old in _texts(repo, changed[oid]):
            if not (session and _is_upkeep(new, old, session)):
                files.revert(moved.get(changed_path, changed_path), new, old)
    steps = files.steps(report)
    if not steps and any(session for *_, session in commits):
        _refuse_deleted(config, target)
    return UndoPlan([(oid, subject) for oid, subject, _ in commits], steps, list(files.kept), list(files.deleted))


class _Files:
    """The files that an undo changes. kept, deleted: as in `UndoPlan`, once their changes are reverted."""

    def __init__(self, config: Config, repo: Repository) -> None:
        self._config, self._repo = config, repo
        self._now: dict[str, bytes | None] = {}
        self._unwritten: set[bytes | None] = set()
        self.kept: dict[str, None] = {}
        self.deleted: dict[str, None] = {}

    def revert(self, path: str, new: bytes | None, old: bytes | None) -> None:
        """Revert one change of a file, from `old` to `new`; later changes come first."""
        config = self._config
        if path in self.kept or not (changes.is_own(path) or attachments.is_visible(path, config.settings)):
            return
        current = self._now[path] if path in self._now else disk.read_path(config.vault, path)
        if current and new and pages.with_generated(current, new) == new:
            current = new  # only mdmem has changed this page since
        is_undone, self._now[path] = _back(self._repo, current, new, old)
        if is_undone:
            self.deleted.pop(path, None)
        else:
            (self.deleted if current is None else self.kept)[path] = None
            self._unwritten.add(old)

    def steps(self, report: ProgressCallback) -> list[RewriteStep]:
        """Return the steps that write the reverted files, deletions last."""
        steps = []
        for path, after in reporting(list(self._now.items()), "Reading notes", report):
            before = disk.read_path(self._config.vault, path)
            if before and after is None and before in self._unwritten:
                self.kept[path] = None  # it was moved, and another file is in its old place
            if path not in self.kept and before != after:
                step = _for_people(self._config, RewriteStep(path, before, after), self.kept)
                steps += [step] if step.before != step.after else []
        return sorted(steps, key=lambda step: step.after is None)


def _is_upkeep(new: bytes | None, old: bytes | None, session: str) -> bool:
    """Whether a change concerns only the generated part of a page of something else, which is rebuilt anyway."""
    if new and not old and note.parse(new).meta.get("kind") == "day":
        return True
    if not new or not old or pages.with_generated(old, new) != new:
        return False
    return note.parse(new).fact("session") not in session.split(",")


def _for_people(config: Config, step: RewriteStep, kept: dict[str, None]) -> RewriteStep:
    """Keep what a person wrote out of a step: on a session's or project's page, or in a captured note."""
    path, before, after = step
    if journal.is_page(path) or note.parse(before or b"").meta.get("kind") == "session":
        if before is None or (after is None and not pages.is_worded(config.vault, before)):
            return step
        if after is None:
            kept[path] = None
        return step._replace(after=pages.with_generated(before, after or EMPTY_PAGE))
    is_project = path == journal.project_page(layout.project_of(path))
    if before and after is None and is_project and pages.is_worded(config.vault, before):
        kept[path] = None
        return step._replace(after=pages.with_generated(before, EMPTY_PAGE))
    if before and after is None and is_in_journal(path) and not _is_untouched(before):
        kept[path] = None
        return step._replace(after=before)
    return step


def _is_untouched(data: bytes) -> bool:
    """Whether a captured note is as mdmem wrote it. Without a digest nobody can tell, and it counts as untouched."""
    parsed = note.parse(data)
    tags = parsed.meta.get("tags")
    has_own_tags = not isinstance(tags, list) or set(tags) <= _TAGS
    return "digest" not in parsed.meta or (has_own_tags and people.is_untouched(parsed, data, tags))


def apply(
    config: Config, planned: UndoPlan, update_page: UpdatePage | None = None, report: ProgressCallback = ignore
) -> Applied:
    """Undo as planned, in a commit of its own, which can be undone too.

    update_page: as for `rewrite.apply`. report: progress callback.

    Raises what `rewrite.apply` raises.
    """
    subjects = [subject for _, subject in planned.commits]
    trailers = "".join(f"Mdmem-Undoes: {oid}\n" for oid, _ in planned.commits)
    text = f"Undo: {plural.some(subjects, 1) or 'nothing'}\n\n{trailers}"
    return rewrite.apply(config, reporting(planned.steps, "Undoing", report), text, update_page, report)


def _commit_now(config: Config, target: str) -> str:
    """Return the commit that a name such as HEAD means before we commit; "" when it is not a commit's name."""
    try:
        return find.commit_of(repository.open_vault(config.vault), target)
    except (VaultError, NotFoundError, UsageError):
        return ""


def _refuse_deleted(config: Config, target: str) -> None:
    """Raise NotFoundError if all notes of a session were deleted, naming the command that restores them."""
    folders = find.session_folders(config, target)
    entries = chain.from_iterable(disk.walk(config.vault, folder) for folder in folders)
    if any(journal.numbers(entry.path) for entry in entries):
        return
    if deleted := forget.deleted_session(config, target):
        raise NotFoundError(f"There is nothing to undo: all its notes are deleted. {deleted}")


def _commits(config: Config, repo: Repository, target: str, commit_id: str) -> list[tuple[str, str, str]]:
    """Return (id, subject, session) of the commits that `target` means, newest first, without merges.

    commit_id: the commit if `target` names one; "" to look it up. For a commit named directly, the session is "".
    """
    form = f"--format=%H%x00%s%x00{message.SESSION_FORMAT}"
    result = repository.attempt(repo, "log", "-z", "--no-merges", form, "HEAD")
    if result.status and checked_out.has_commit(repo):
        raise GitError(f"git could not list the commits in {repo.root}: {repository.reason(result)}")
    listed = os.fsdecode(result.out).split("\0")
    rows = list(zip(listed[::3], listed[1::3], listed[2::3], strict=False))
    folder = layout.typed_path(config.vault, target)
    name = target
    if layout.is_session(folder):  # a folder that its owner renamed does not end with a session's tag
        name = journal.session_of(config.vault, folder) or folder.rpartition("-")[2]
    of_session = [row for row in rows if any(find.is_named(name, part) for part in row[2].split(","))]
    if of_session:
        return of_session
    try:
        oid = commit_id or find.commit_of(repo, target)
    except UsageError:
        _refuse_deleted(config, target)
        raise NotFoundError(
            f"No session or commit is called {target!r}. `mdmem sessions` and `mdmem log --stat` list them."
        ) from None
    of_commit = [(commit, subject, "") for commit, subject, _ in rows if commit == oid]
    if not of_commit:
        raise NotFoundError(f"{target} is a merge, or not in the history of the vault's branch. Nothing to undo.")
    return of_commit


def _moved(config: Config, paths: Collection[str]) -> dict[str, str]:
    """Return old path -> new path of captured notes that were moved.

    Their folders may be renamed; the file name with the id stays the same.
    """
    root = config.vault
    gone = (path for path in paths if layout.is_in_session(path) and not os.path.lexists(f"{root}/{path}"))
    missing = {path for path in gone if not disk.is_packed(root, path)}
    names = {path.rpartition("/")[2] for path in missing}
    walked = (entry.path for entry in disk.walk(config.vault, JOURNAL)) if names else iter(())
    candidates = (path for path in walked if path.rpartition("/")[2] in names and layout.is_in_session(path))
    present = {path.rpartition("/")[2]: path for path in candidates}
    return {path: present[name] for path in missing if (name := path.rpartition("/")[2]) in present}


def _texts(
    repo: Repository, changed: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield path, content after and content before of what a commit changed, reading some at a time."""
    for start in range(0, len(changed), AT_ONCE):
        rows = changed[start : start + AT_ONCE]
        texts = objects.contents(repo, (blob for _, *blobs in rows for blob in blobs))
        yield from ((path, texts.get(new), texts.get(old)) for path, old, new in rows)


def _back(repo: Repository, now: bytes | None, new: bytes | None, old: bytes | None) -> tuple[bool, bytes | None]:
    """Revert one change (from `old` to `new`) in the current content; False when later changes conflict with it."""
    if now in (new, old):
        return True, old
    if now is None or new is None or old is None or b"\0" in now:
        return False, now
    merged = merge.three_way(repo, now, new, old)
    return (False, now) if merged.kept else (True, merged.data)
