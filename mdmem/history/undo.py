"""Taking back a session or a commit, without what was done since."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import GitError, NotFoundError, UsageError, VaultError
from mdmem.history import changes, commit, find, message, pages, past, rewrite
from mdmem.history.git import objects, repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging import merge
from mdmem.history.rewrite import Applied, RewriteStep, UpdatePage
from mdmem.steps import Tell, told, untold
from mdmem.vault import attachments, disk, journal, layout, note, people

EMPTY_PAGE = "\n".join([*journal.PAGE_MARKS, ""]).encode()

AT_ONCE = 500
"""Number of changes whose texts are read at a time."""

_TAGS = frozenset([*message.COUNTED, "command", "subagent", "failed"])
"""Tags of captured notes; any other is a person's."""


class UndoPlan(NamedTuple):
    """What undoing would do.

    commits: (id, subject) of each, the last one first.
    steps: files that go back; kept: files that stay, because a person has changed them or has written on them.
    """

    commits: list[tuple[str, str]]
    steps: list[RewriteStep]
    kept: list[str]


def plan(config: Config, target: str, tell: Tell = untold) -> UndoPlan:
    """Work out what undoing a commit, or all commits of a session, would do. Nothing is changed but committed first.

    tell: is told what is being done.

    Raises:
        NotFoundError: when nothing has that name.
        VaultError, BusyError, GitError: as `commit.commit`.
    """
    meant = _commit_now(config, target)
    commit.commit(config, tell=tell)  # what is not in history yet could not be brought back
    repo = repository.open_vault(config.vault)
    found = _commits(repo, target, meant)
    now: dict[str, bytes | None] = {}
    kept: dict[str, None] = {}
    unwritten: set[bytes | None] = set()
    changed = {oid: objects.changed(repo, oid) for oid, *_ in found}
    moved = _moved(config, {path for rows in changed.values() for path, *_ in rows})
    for oid, _, session in told(found, "Reading commits", tell):
        for was, new, old in _texts(repo, changed[oid]):
            if session and _is_upkeep(new, old, session):
                continue
            path = moved.get(was, was)
            if path not in kept and (changes.is_own(path) or attachments.is_visible(path, config.settings)):
                current = now[path] if path in now else disk.read_path(config.vault, path)
                done, now[path] = _back(repo, current, new, old)
                if not done:
                    kept[path] = None
                    unwritten.add(old)
    steps = []
    for path, after in told(list(now.items()), "Reading notes", tell):
        before = disk.read_path(config.vault, path)
        if before and after is None and before in unwritten:
            kept[path] = None  # it was moved, and somebody has its place
        if path not in kept and before != after:
            step = _for_people(config, RewriteStep(path, before, after), kept)
            steps += [step] if step.before != step.after else []
    steps.sort(key=lambda step: step.after is None)
    return UndoPlan([(oid, subject) for oid, subject, _ in found], steps, list(kept))


def _is_upkeep(new: bytes | None, old: bytes | None, session: str) -> bool:
    """Whether a change is one of the generated part of a page that is not the session's: it is rebuilt."""
    if new and not old and note.parse(new).meta.get("kind") == "day":
        return True
    if not new or not old or EMPTY_PAGE.split(b"\n")[0] not in new or pages.with_generated(old, new) != new:
        return False
    return str(note.parse(new).meta.get("session", "")) not in session.split(",")


def _for_people(config: Config, step: RewriteStep, kept: dict[str, None]) -> RewriteStep:
    """Leave what a person wrote out of a step: their part of a session's page, what they changed before a commit."""
    path, before, after = step
    if journal.is_page(path) or note.parse(before or b"").meta.get("kind") == "session":
        if before is None or (after is None and not pages.is_worded(config.vault, before)):
            return step
        if after is None:
            kept[path] = None
        return step._replace(after=pages.with_generated(before, after or EMPTY_PAGE))
    if before and after is None and _is_project(path) and pages.is_worded(config.vault, before):
        kept[path] = None
        return step._replace(after=pages.with_generated(before, EMPTY_PAGE))
    if before and after is None and path.startswith("journal/") and not _is_untouched(before):
        kept[path] = None
        return step._replace(after=before)
    return step


def _is_project(path: str) -> bool:
    return path == f"journal/{layout.project_of(path)}/{journal.PROJECT_PAGE}"


def _is_untouched(data: bytes) -> bool:
    """Whether a captured note is as mdmem wrote it; one without a digest cannot be told from that."""
    parsed = note.parse(data)
    tags = parsed.meta.get("tags")
    own = not isinstance(tags, list) or set(tags) <= _TAGS
    return "digest" not in parsed.meta or (own and people.is_untouched(parsed, data, tags))


def apply(config: Config, planned: UndoPlan, update_page: UpdatePage | None = None, tell: Tell = untold) -> Applied:
    """Take back what was planned, as a commit of its own, which can itself be undone.

    update_page: as for `rewrite.apply`. tell: is told what is being done.

    Raises what `rewrite.apply` raises.
    """
    subjects = [subject for _, subject in planned.commits]
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    trailers = "".join(f"Mdmem-Undoes: {oid}\n" for oid, _ in planned.commits)
    text = f"Undo: {subjects[0] if subjects else 'nothing'}{more}\n\n{trailers}"
    return rewrite.apply(config, told(planned.steps, "Taking back", tell), text, update_page, tell)


def _commit_now(config: Config, target: str) -> str:
    """Return the commit that a name such as HEAD means before anything new is committed; "" when it means none."""
    try:
        return find.commit_of(repository.open_vault(config.vault), target)
    except (VaultError, NotFoundError, UsageError):
        return ""


def _commits(repo: Repository, target: str, meant: str) -> list[tuple[str, str, str]]:
    """List the commits that `target` means, the last one first, with their sessions; merges have nothing of their own.

    meant: the commit that it means if it is no session; "" to look again.
    The session of a commit that was named itself is "".
    """
    form = f"--format=%H%x00%s%x00{message.SESSION_FORMAT}"
    done = repository.attempt(repo, "log", "-z", "--no-merges", form, "HEAD")
    if done.status and repository.attempt(repo, "rev-parse", "--verify", "HEAD").status == 0:
        raise GitError(f"git could not list the commits in {repo.root}: {repository.reason(done)}")
    listed = os.fsdecode(done.out).split("\0")
    rows = list(zip(listed[::3], listed[1::3], listed[2::3], strict=False))
    of_session = [row for row in rows if any(find.is_named(target, part) for part in row[2].split(","))]
    if of_session:
        return of_session
    try:
        oid = meant or find.commit_of(repo, target)
    except UsageError:
        raise NotFoundError(
            f"No session or commit is called {target!r}. `mdmem sessions` and `mdmem log --stat` list them."
        ) from None
    of_commit = [(found, subject, "") for found, subject, _ in rows if found == oid]
    if not of_commit:
        raise NotFoundError(f"{target} is a merge, or not in the history of the vault's branch. Nothing to undo.")
    return of_commit


def _moved(config: Config, paths: Collection[str]) -> dict[str, str]:
    """Return where captured notes are that are no longer at these paths.

    A folder may have another name by now; a captured note still has its id in its own.
    """
    gone = {path for path in paths if layout.is_in_session(path) and not _is_there(config, path)}
    names = {path.rpartition("/")[2] for path in gone}
    walked = (entry.path for entry in disk.walk(config.vault, "journal")) if names else iter(())
    here = {name: path for path in walked if (name := path.rpartition("/")[2]) in names and layout.is_in_session(path)}
    return {path: here[name] for path in gone if (name := path.rpartition("/")[2]) in here}


def _is_there(config: Config, path: str) -> bool:
    try:
        disk.look(config.vault, path)
    except (OSError, ValueError):
        return False
    return True


def _texts(
    repo: Repository, changed: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield what a commit changed, some texts at a time: path, text after it, text before it."""
    for start in range(0, len(changed), AT_ONCE):
        rows = changed[start : start + AT_ONCE]
        texts = past.objects_of(repo, sorted({blob for _, *blobs in rows for blob in blobs if blob}))
        yield from ((path, texts.get(new), texts.get(old)) for path, old, new in rows)


def _back(repo: Repository, now: bytes | None, new: bytes | None, old: bytes | None) -> tuple[bool, bytes | None]:
    """Take one change (from `old` to `new`) out of what a file is now; False when later work stands in the way."""
    if now in (new, old):
        return True, old
    if now is None or new is None or old is None or b"\0" in now:
        return False, now
    merged = merge.three_way(repo, now, new, old)
    return (False, now) if merged.kept else (True, merged.data)
