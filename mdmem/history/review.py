"""Review what changed since a person last looked, and apply their decisions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, NamedTuple

from mdmem import privacy, timestamps
from mdmem.config import Config
from mdmem.errors import BusyError, GitError, NotFoundError, VaultError
from mdmem.history import commit, past, rewrite
from mdmem.history.git import checked_out, git_index, lock, objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.message import SESSION_FORMAT
from mdmem.history.rewrite import Applied, RewriteStep, UpdatePage
from mdmem.vault import creation, disk, editing, note, people

REF = "refs/mdmem/reviewed"
"""The last commit that a person has reviewed; each machine has its own."""

AS_PROPOSALS = ("proposed", "dismissed")
"""Status of an agent's note before a person accepts it, and after they decline. Proposals have their own command."""


class ReviewItem(NamedTuple):
    """A note that was added, changed or deleted since the last review.

    edited: a person has changed the captured note. reviewed: a person has decided to keep it.
    oid: its blob in git, from before the deletion if it was deleted; see `text_of`.
    status: from its front matter, such as proposed.
    """

    path: str
    change: str
    id: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    edited: bool
    reviewed: bool
    oid: str
    status: str = ""


class Review(NamedTuple):
    """The notes to review, between two commits; base is "" before the first review."""

    base: str
    head: str
    items: list[ReviewItem]


class ReviewScreen(NamedTuple):
    """Notes to decide on together: those of a session, or one note that a person wrote.

    items: to decide on; runs: the session's tool runs, which share the decision. session: "" for a single note.
    """

    session: str
    items: list[ReviewItem]
    runs: list[ReviewItem]

    @property
    def all(self) -> list[ReviewItem]:
        """Return all notes of the screen."""
        return [*self.items, *self.runs]

    def titles(self, kind: str) -> list[str]:
        """Return the titles of the notes of one kind, oldest first."""
        return [item.title for item in self.items if item.kind == kind]


def screens(items: Iterable[ReviewItem]) -> list[ReviewScreen]:
    """Group notes by session, with tool runs apart; tool runs of turns that were decided before get no screen."""
    screen_of: dict[str, ReviewScreen] = {}
    for item in items:
        screen = screen_of.setdefault(item.session or item.path, ReviewScreen(item.session, [], []))
        (screen.runs if item.kind == "observation" and item.session else screen.items).append(item)
    return [screen for screen in screen_of.values() if screen.items]


def pending(config: Config, *, project: str = "", kinds: Iterable[str] = ()) -> Review:
    """Commit what has changed, and list it compared with the last review, oldest note first.

    kinds: only these; none means all but generated pages, proposals and internal memories.

    Raises what `commit.commit` raises.
    """
    commit.commit(config)
    repo = repository.open_vault(config.vault)
    head = checked_out.tip(repo)
    base = writer.tip(repo, REF)
    wanted = frozenset(kinds)
    items = [
        item
        for item in _items(config, repo, base, head)
        if (item.kind in wanted if wanted else not _is_unshown(item)) and project in ("", item.project)
    ]
    return Review(base, head, sorted(items, key=lambda item: (item.created, item.path)))


def last_review(config: Config) -> str:
    """Return the time of the last finished review on this machine, as notes write times; "" for never."""
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return ""
    result = repository.attempt(repo, "log", "-1", "--format=%ct", REF)
    seconds = result.out.decode("ascii", "replace").strip()
    return timestamps.note_time(float(seconds)) if not result.status and seconds.isdigit() else ""


def finish(
    config: Config,
    seen: Review,
    steps: Iterable[RewriteStep],
    text: str,
    *,
    complete: bool = True,
    update_page: UpdatePage | None = None,
) -> Applied:
    """Apply the decisions, commit them, and (when `complete`) mark everything in `seen` as reviewed.

    Notes captured during the review remain for the next one. update_page: as for `rewrite.apply`.

    Raises what `rewrite.apply` raises.
    """
    applied = rewrite.apply(config, steps, text, update_page)
    if not complete:
        return applied
    repo = repository.open_vault(config.vault)
    commits = applied.result.commits
    with lock.held(config.state_dir, repo.common_dir) as lock_fd:
        # The commit of the decisions counts as reviewed too, if it directly follows.
        head = commits[-1].oid if commits and writer.tip(repo, f"{commits[-1].oid}^") == seen.head else seen.head
        if head:
            repository.run(repo, "update-ref", "-m", "mdmem: review", REF, head, lock_fd=lock_fd)
    return applied


def begin_import(config: Config) -> str | None:
    """Commit the vault before an import; return the last commit, "" for none, None when that fails."""
    try:
        commit.commit(config)
        return checked_out.tip(repository.open_vault(config.vault))
    except (VaultError, BusyError, GitError):
        return None  # the notes are stored, and a later commit includes them


def end_import(config: Config, before: str | None) -> None:
    """Commit imported notes with their original dates, and exclude them from reviews.

    before: what `begin_import` returned.
    """
    if before is None:
        return
    with suppress(BusyError, GitError):
        commit.commit(config, imported=True)
        repo = repository.open_vault(config.vault)
        with lock.held(config.state_dir, repo.common_dir) as lock_fd:
            after = checked_out.tip(repo)
            if after != before:
                _pass_over(repo, before, after, lock_fd)


def _pass_over(repo: Repository, before: str, after: str, lock_fd: int) -> None:
    """Mark the changes between two commits as reviewed; earlier ones remain to be reviewed."""
    reviewed, nothing = writer.tip(repo, REF), repository.empty_tree(repo)
    if reviewed or (before and any(past.notes(repo, before))):
        entries = git_index.tree_changes(repo, before or nothing, after)
        tree = git_index.tree_with(
            repo, reviewed or nothing, (entry for entry in entries if entry.mode != git_index.GONE), lock_fd
        )
        keep_tree(repo, tree, "Reviewed before an import")
    else:
        repository.run(repo, "update-ref", "-m", "mdmem: import", REF, after, lock_fd=lock_fd)


def keep_tree(repo: Repository, tree: str, why: str) -> None:
    """Mark the contents of a tree as reviewed, by a commit without parents."""
    identity = dict(zip(("NAME", "EMAIL"), repository.identity(repo), strict=True))
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in identity.items()}
    oid = repository.run(repo, "commit-tree", "-m", why, tree, env=env)
    repository.run(repo, "update-ref", REF, oid.decode("ascii").strip())


def decide(config: Config, path: str, *, now: datetime | None = None, **changes: Any) -> RewriteStep:
    """Return the step that marks a note as reviewed and sets front matter (`pinned=True`, `title=…`).

    None removes a key.

    Raises:
        NotFoundError: when the note was deleted meanwhile.
        UsageError: when its front matter cannot be read.
    """
    data = disk.read_path(config.vault, path)
    if data is None:
        raise NotFoundError(f"{path} was deleted in the meantime.")
    day = (now or datetime.now(UTC)).astimezone().strftime("%Y-%m-%d")
    return RewriteStep(path, data, editing.set_keys(data, {**changes, "reviewed": day}))


def delete(config: Config, items: Iterable[ReviewItem]) -> list[RewriteStep]:
    """Return the steps that delete notes."""
    oids = {item.path: item.oid for item in items}
    texts = objects.contents(repository.open_vault(config.vault), oids.values())
    return [RewriteStep(path, texts[oid], None) for path, oid in oids.items()]


def text_of(config: Config, item: ReviewItem) -> bytes:
    """Return the bytes of a reviewed note, from git."""
    return objects.contents(repository.open_vault(config.vault), [item.oid])[item.oid]


def _is_unshown(item: ReviewItem) -> bool:
    return item.kind in note.PAGES or item.status in AS_PROPOSALS or note.is_internal(item.path, item.kind)


AT_ONCE = 1_000
"""Number of notes read at a time: the first review covers the whole vault."""


def _items(config: Config, repo: Repository, base: str, head: str) -> Iterator[ReviewItem]:
    if base == head:
        return
    rules = privacy.Rules.of(config.settings)
    before = past.tree(repo, base) if base else {}
    after = past.tree(repo, head)
    changed = {path: oid for path, oid in after.items() if before.get(path) != oid}
    deleted = {path: oid for path, oid in before.items() if path not in after}
    by_hand = _by_hand(repo, base, head)
    del after
    paths = chain(changed, deleted)
    while part := list(islice(paths, AT_ONCE)):
        new_oids = {path: changed.get(path) or deleted[path] for path in part}
        old_oids = {path: before[path] for path in part if path in before and path not in deleted}
        texts = objects.contents(repo, chain(new_oids.values(), old_oids.values()))
        for path, oid in new_oids.items():
            change = "deleted" if path in deleted else "changed" if path in before else "added"
            parsed = note.parse(texts[oid])
            # An interrupted review, or one on another machine, may have decided on some already.
            if change == "deleted" or not _is_decided(parsed, texts.get(old_oids.get(path, ""), b"")):
                is_edited = change == "changed" and path in by_hand
                yield _item(config.vault, rules, path, change, oid, parsed, edited=is_edited)


def _is_decided(parsed: note.Parsed, before: bytes) -> bool:
    now = parsed.meta.get("reviewed")
    return "reviewed" in parsed.meta and str(note.parse(before).meta.get("reviewed")) != str(now)


def _item(
    root: str, rules: privacy.Rules, path: str, change: str, oid: str, parsed: note.Parsed, *, edited: bool
) -> ReviewItem:
    meta = parsed.meta
    shown = people.cleaned(root, parsed, rules) if privacy.may_hold_private(parsed.body, rules) else parsed
    texts = note.texts(meta, "session", "status") | creation.described(root, path, shown)
    if texts["title"] != meta.get("title"):  # it is taken from the text
        texts["title"] = str(privacy.clean(texts["title"], rules=rules).value)
    texts = {key: text if key in ("id", "title") else sys.intern(text) for key, text in texts.items()}
    edited = edited or note.is_edited(parsed)
    return ReviewItem(path, change, **texts, edited=edited, reviewed="reviewed" in meta, oid=oid)


def _by_hand(repo: Repository, base: str, head: str) -> frozenset[str]:
    """Return the files that commits without a session changed."""
    form = f"--format=%H%x00{SESSION_FORMAT}"
    listed = repository.run(repo, "log", "--no-merges", form, f"{base}..{head}" if base else head).decode("utf-8")
    oids = "".join(f"{line[:-1]}\n" for line in listed.splitlines() if line.endswith("\0"))
    arguments = ("diff-tree", "--stdin", "--root", "-r", "--name-only", "--no-renames", "--no-commit-id", "-z")
    touched = repository.run(repo, *arguments, stdin=oids.encode()) if oids else b""
    return frozenset(os.fsdecode(touched).split("\0"))
