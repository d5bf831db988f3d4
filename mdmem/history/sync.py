"""Sync a vault between machines over any git remote: fetch, merge, push. Nothing is lost or forced.

Files are written before the commit that contains them (see `merged_files`). If we are killed in between, the next
commit includes these files; in the other order it would look as if a person had deleted them.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import BusyError, GitError
from mdmem.history import commit, other_files, private, review
from mdmem.history.changes import Change
from mdmem.history.gate import HeldBack
from mdmem.history.git import checked_out, fetching, filtering, git_index, lock, part, repository, transfer, writer
from mdmem.history.git.paths import PackedPaths
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.history.git.writer import CommitDraft
from mdmem.history.merged_files import MergedFiles
from mdmem.history.merging import join, same_names, undecided
from mdmem.history.merging.join import Joined
from mdmem.history.merging.undecided import KeptPlace
from mdmem.history.purging import carry, purge, purge_record, unpurged
from mdmem.history.purging.purge import PurgePlan
from mdmem.history.purging.purge_record import PurgeRecord
from mdmem.history.scan import EVERY_FILE, ScanMode
from mdmem.history.space import archive, checkout
from mdmem.progress import ProgressCallback, ignore
from mdmem.vault import disk, is_in_journal

TRIES = 8
"""How often to start over when another machine pushed first."""

REFUSED = "[remote rejected]"
MOVED = ("cannot lock ref", "failed to update ref")
OVERTAKEN = ("fetch first", "non-fast-forward", *MOVED, "stale info")
"""What git reports of a push when another machine pushed first."""

DROPPED = (
    "A merge on another machine dropped {} from the history: a vault takes no links and no submodules. What is on this"
    " disk stays; to sync it, put the files themselves in its place."
)
PURGED_HERE = "Another machine ran a purge. It was applied here too, and all new notes were kept."
PURGED_IN_PART = "Another machine ran a purge that this one can repeat only in part: run the same purge here too."
PURGE_AGAIN = (
    "A purge was run here too, and what it removed may have come back with the history of the other machine: run it"
    " again."
)

SENT_AGAIN = (
    "{} no longer had commits that were fetched from it before, as after a forced push. This machine has sent them"
    " again. To remove a text from every machine, run `mdmem purge TEXT`."
)


class Synced(NamedTuple):
    """The result of a sync.

    received: files that were added or changed here. sent: number of pushed commits; branch: of the remote, with them.
    conflicts: files that could not be merged; the other version is beside them.
    held_back: files that the gate kept out; private: number of notes that stay on this machine.
    refused: remote files that no vault accepts, such as links, or whose name this system does not allow.
    remaining_advice: what a merge elsewhere dropped, hidden files, where a purged text still is; and what to do.
    kept: places of notes that both machines changed; the note has both versions, for a person to choose.
    undeleted: notes that one machine deleted and the other changed, so that they stay.
    """

    received: PackedPaths
    sent: int
    conflicts: list[str]
    held_back: list[HeldBack]
    private: int
    refused: list[str]
    remaining_advice: tuple[str, ...] = ()
    kept: tuple[KeptPlace, ...] = ()
    undeleted: tuple[str, ...] = ()
    branch: str = ""

    def with_later(self, later: Synced) -> Synced:
        """Return the combined result of this run and the one after it."""
        received = self.received or later.received
        if self.received and later.received:
            received = PackedPaths(dict.fromkeys(chain(self.received, later.received)))
        return later._replace(
            received=received,
            sent=self.sent + later.sent,
            conflicts=list(dict.fromkeys([*self.conflicts, *later.conflicts])),
            refused=list(dict.fromkeys([*self.refused, *later.refused])),
            remaining_advice=self.remaining_advice + later.remaining_advice,
            kept=self.kept + later.kept,
            undeleted=tuple(dict.fromkeys(self.undeleted + later.undeleted)),
        )


class CarriedPurge(NamedTuple):
    """A purge that was carried over to the other side's commits.

    replaces: it was made here, so the remote's history has to be replaced. again: both sides purged, and our purge
    was repeated on what we fetched.
    """

    planned: PurgePlan
    joined: Joined
    replaces: bool
    again: bool = False


def sync(
    config: Config, remote: str = "origin", mode: ScanMode = EVERY_FILE, report: ProgressCallback = ignore
) -> Synced:
    """Commit, fetch, merge and push.

    mode: how to look for changes. report: progress callback.

    Raises:
        VaultError: when the vault is not a repository.
        GitError: when the remote is missing, unreachable or refuses the push, or a private note would be pushed.
        BusyError: when other machines kept pushing.
    """
    repo = repository.open_vault(config.vault)
    checkout.fill(repo, report)
    committed = commit.commit(config, mode=mode, report=report)
    url = repository.url(repo, remote)
    if not url:
        raise GitError(_no_remote(repo, remote))
    report("Waiting for another process to commit", 0, 0)
    with lock.held(config.state_dir, repo.common_dir) as lock_fd:
        work = _Work(config, repo, remote, url, lock_fd, report)
        work.done = work.done._replace(held_back=committed.held_back, private=work.keep_private(committed.staying))
        return work.all()


class _Work:
    """A sync in progress, under the committer's lock. done: the result so far."""

    def __init__(
        self, config: Config, repo: Repository, remote: str, url: str, lock_fd: int, report: ProgressCallback
    ) -> None:
        self.done = Synced(PackedPaths(), 0, [], [], 0, [])
        self._config, self._repo, self._lock_fd, self._report = config, repo, lock_fd, report
        self._remote, self._url, self._branch = remote, url, checked_out.branch(repo)
        self._carried: CarriedPurge | None = None

    def all(self) -> Synced:
        """Fetch, merge and push, until no other machine pushes in between.

        An error message also says what was already merged and needs a person, because the next run cannot know it.
        """
        try:
            if repeated := carry.to_repeat(self._config, self._repo):
                self._repeat_purge(repeated)
            for _ in range(TRIES):
                if self._round():
                    return self.done
            raise BusyError(
                f"Other machines keep pushing to {self._remote}. Everything is committed here: sync again later."
            )
        except (BusyError, GitError) as error:
            told = " ".join(_waiting(self.done))
            if not told:
                raise
            raise type(error)(f"{error} {told}") from error

    def _round(self) -> bool:
        """Fetch, merge and push once; False when that has to be repeated, such as when another machine pushed first."""
        repo, remote, branch = self._repo, self._remote, self._branch
        self._report("Fetching", 0, 0)
        fetched_before, upstream = fetching.last_fetched(repo, remote, branch)
        remote_branch, ours, theirs = fetching.fetch(repo, remote, self._url, branch, fetched_before)
        tips_before = map(fetched_before.get, (fetching.tracked(remote, remote_branch), upstream))  # it may be renamed
        last_fetched = next(filter(None, tips_before), "")
        if theirs and theirs != ours:
            self._report("Merging", 0, 0)
            if not self._join(ours, theirs, last_fetched):
                return False
            self._keep_returned()
            ours = writer.tip(repo, branch)
        self._report("Pushing", 0, 0)
        sent = self._push(remote_branch, ours, theirs)
        if sent is None:
            return False
        carried = self._carried
        purged = (carried.planned, carried.replaces) if carried else carry.unfinished(self._config, repo, branch)
        advice = self._after_purge(*purged) if purged else _sent_again(repo, remote, last_fetched, theirs, sent)
        name = remote_branch.removeprefix("refs/heads/")
        told = (*self.done.remaining_advice, *advice)
        self.done = self.done._replace(sent=sent, remaining_advice=told, branch=name)
        return True

    def _join(self, ours: str, theirs: str, last_fetched: str) -> bool:
        """Merge what was fetched; return False if that repeated our purge, which takes another round to carry over.

        The merge is not kept: in a first sync, it has an entry for each file of the vault.
        """
        carried = self._carry_purge(ours, theirs, last_fetched) if ours else None
        self._carried = carried or self._carried
        joined = carried.joined if carried else self._merge(theirs)
        self.done = self.done.with_later(_merged(self._config, self._repo, joined, self.done))
        return not (carried and carried.again)

    def keep_private(self, staying: list[Change]) -> int:
        """Remove notes that became private from the branch, but keep their files; return how many stay on this machine.

        staying: the changed notes that are private. When a whole project became private, its notes are unchanged.
        """
        config, repo = self._config, self._repo
        is_tracked_by_path = {change.path: change.kind == "changed" for change in staying}
        projects = private.projects(config.vault)
        if not projects and not any(is_tracked_by_path.values()):
            return len(is_tracked_by_path)
        head = writer.tip(repo, self._branch)
        for path, _ in join.files(repo, head) if projects and head else ():
            is_read = not is_in_journal(path) and disk.is_note_path(path)
            if private.is_private(path, {}, projects) or (
                is_read and private.stays(path, disk.read_path(config.vault, path) or b"", projects)
            ):
                is_tracked_by_path[path] = True
        leaving = sorted(path for path, tracked in is_tracked_by_path.items() if tracked)
        if leaving:
            writer.mark(repo, head)
            text = f"Keep {plural.number(len(leaving), 'note')} on one machine\n"
            (goal,) = writer.prepare(repo, head, [CommitDraft(text, {}, tuple(leaving))], self._lock_fd)
            git_index.follow(repo, self._branch, head, goal, self._lock_fd)
        return len(is_tracked_by_path)

    def _merge(self, theirs: str) -> Joined:
        """Write the merged files, then commit them; uncommitted changes stay on top."""
        config, repo, lock_fd = self._config, self._repo, self._lock_fd
        ours = writer.tip(repo, self._branch)
        base = _base(repo, ours, theirs) if ours else ""
        if base == theirs:
            return Joined(Texts(repo, {}), (), [], [])
        joined = join.join(repo, base, ours, theirs)
        if base == ours and not joined.puts and not joined.deletes and joined.refused:
            return joined  # a merge would only drop what is refused, and the machine that has it would merge in turn
        absent = part.absent(repo, chain(joined.puts, joined.deletes))
        before = _texts(repo, ours, chain(joined.puts, joined.deletes))
        new = (path for path in joined.puts if path not in before and path not in absent)
        same_names.refuse(repo, new, ours, joined.deletes)
        archived = [path for path in joined.puts if disk.is_packed(config.vault, path)]
        before.update(archive.texts_at(repo, base, archived))
        # such as what became private
        only_here = {path for path in joined.puts if path not in before and os.path.lexists(repo.root / path)}
        for fork in join.forks(repo, ours, theirs) if ours and only_here else ():
            before.update(archive.texts_at(repo, fork, only_here))
        other_files.keep_left_out(config, [])  # new notes may link to one of them
        deletes = [path for path in joined.deletes if path not in absent]
        merged = MergedFiles(config, repo, before, joined.moved, joined.conflicts)
        kept = (*joined.kept, *merged.write(joined.puts.without(absent), deletes, self._report))
        self._report("Committing", 0, 0)
        writer.mark(repo, ours)
        if (base == ours or not ours) and not joined.refused:
            goal = theirs
        else:
            count = len(joined.puts) + len(joined.deletes)
            text = f"Sync with {self._remote} ({plural.number(count, 'file')})\n{undecided.trailers(joined.kept)}"
            (goal,) = writer.prepare(repo, ours, [CommitDraft(text, joined.puts, joined.deletes, (theirs,))], lock_fd)
        git_index.follow(repo, self._branch, ours, goal, lock_fd)
        added = (path for path in joined.puts if path not in before or path in only_here)
        returned = join.returned(repo, ours, theirs, added) if ours else ()
        return joined._replace(kept=kept, undeleted=(*joined.undeleted, *returned))

    def _keep_returned(self) -> None:
        """Remove notes that became private here from the branch again, where another machine's change restored them."""
        root, projects = self._config.vault, private.projects(self._config.vault)
        undeleted = self.done.undeleted
        back = [path for path in undeleted if private.stays(path, disk.read_path(root, path) or b"", projects)]
        if back:
            self.keep_private([Change(path, "changed") for path in back])
            self.done = self.done._replace(undeleted=tuple(path for path in undeleted if path not in back))

    def _carry_purge(self, ours: str, theirs: str, last_fetched: str) -> CarriedPurge | None:
        """Merge when one side has purged what the other still has, so that it does not come back; else return None.

        last_fetched: tip of the remote's branch at the fetch before.
        """
        config, repo, lock_fd = self._config, self._repo, self._lock_fd
        own_record, their_record = (
            purge_record.read(repo, span) for span in (f"{theirs}..{ours}", f"{ours}..{theirs}")
        )
        new_ids = {*their_record.texts, *their_record.notes} - {*own_record.texts, *own_record.notes}
        ours_to_carry = carry.unmet(repo, own_record, theirs)
        theirs_to_carry = carry.unmet(repo, their_record, ours, purge_record.replaced(repo) if new_ids else frozenset())
        repeated: PurgePlan | None = None
        if theirs_to_carry:
            planned = carry.plan(config, repo, theirs_to_carry, ours, theirs)
            base = _base(repo, ours, last_fetched) if last_fetched else ""
            onto = theirs
            if own_record.texts or own_record.notes:  # both sides purged: repeat our purge on theirs
                repeated = carry.plan(config, repo, own_record, theirs, ours)
                onto = carry.filtered(repo, theirs, repeated, lock_fd, theirs)
            goal, joined = carry.carry(repo, base, onto, ours, planned, lock_fd)
            _keep_reviewed(repo, planned, onto, lock_fd)
        elif ours_to_carry:
            planned = carry.plan(config, repo, ours_to_carry, theirs, ours)
            goal, joined = carry.carry(repo, carry.last_common(repo, theirs), ours, theirs, planned, lock_fd)
        else:
            return None
        puts, deletes = _between(repo, ours, goal)
        before = _texts(repo, ours, [*puts, *deletes])
        absent = part.absent(repo, [*puts, *deletes])
        merged = MergedFiles(config, repo, before, {}, joined.conflicts)
        merged.write(puts.without(absent), [path for path in deletes if path not in absent])
        carry.begin(repo, replaces=not theirs_to_carry, repeats=own_record if repeated else None)
        writer.mark(repo, ours)
        git_index.follow(repo, self._branch, ours, goal, lock_fd)
        if repeated:
            self._repeat_purge(repeated)
        joined = joined._replace(puts=puts, deletes=deletes)
        if theirs_to_carry:
            advice = (*self.done.remaining_advice, *_left_to_people(own_record, their_record))
            self.done = self.done._replace(remaining_advice=advice)
        return CarriedPurge(planned, joined, replaces=not theirs_to_carry, again=bool(repeated))

    def _repeat_purge(self, planned: PurgePlan) -> None:
        """Repeat our purge on the history that we have fetched and built on."""
        purge.apply_held(self._config, planned, self._lock_fd)
        carry.begin(self._repo, replaces=False)

    def _push(self, remote_branch: str, ours: str, theirs: str) -> int | None:
        """Push our branch; return the number of commits, or None when another machine pushed first.

        ours, theirs: tips of our branch and theirs. After a purge made here, the remote's history is replaced if it is
        still what we fetched.
        """
        repo, remote, url = self._repo, self._remote, self._url
        replaces = self._carried is not None and self._carried.replaces
        if ours in ("", theirs):
            return 0
        span = [f"{theirs}..{ours}"] if theirs else [ours]
        private.refuse(self._config.vault, repo, span[0], partial(archive.texts_at, repo, theirs))
        count = repository.run(repo, "rev-list", "--count", *span).decode("ascii").strip()
        if count == "0" and not replaces:
            return 0
        command = ("-c", f"remote.{remote}.mirror=false", "push", transfer.PROGRESS, "--no-verify", "--no-follow-tags")
        bounds = repository.far_end(repo.root, url, "receive-pack")
        lease = [f"--force-with-lease={remote_branch}:{theirs}"] if replaces else []
        result = repository.attempt(
            repo, *command, *bounds, *lease, "--", remote, f"{ours}:{remote_branch}", network=True
        )
        if not result.status:
            repository.run(repo, "update-ref", fetching.tracked(remote, remote_branch), ours)
            return int(count)
        if lease and REFUSED in result.err and not any(reason in result.err for reason in MOVED):
            raise GitError(unpurged.kept_by(repo, remote, url, result))
        if any(reason in result.err for reason in OVERTAKEN):
            return None
        raise GitError(f"{unpurged.refusal(repo, remote, url, result)} Everything is committed here.")

    def _after_purge(self, planned: PurgePlan, replaces: bool) -> tuple[str, ...]:
        """Clean up after a carried purge; return sentences on what is left to do."""
        repository.drop_refs(self._repo, filtering.KEPT_REMOTE_REFS)
        advice = purge.clean_up(self._config, planned, self._lock_fd)
        carry.end(self._repo)
        done_sentence = (
            f"The purge now applies to {self._remote} too, and all new notes were kept." if replaces else PURGED_HERE
        )
        return (done_sentence, *advice, *([unpurged.unreachable(self._url)] if replaces else []))


def _sent_again(repo: Repository, remote: str, last_fetched: str, theirs: str, sent: int) -> tuple[str, ...]:
    """Return a sentence if the remote had lost commits other than by a purge, and has them again.

    last_fetched, theirs: tips of its branch at the fetch before and now.
    """
    if not (sent and last_fetched and theirs) or last_fetched == theirs:
        return ()
    has_lost = repository.attempt(repo, "merge-base", "--is-ancestor", last_fetched, theirs).status == 1
    if has_lost and not any(purge_record.read(repo, f"{last_fetched}..{theirs}")):
        return (SENT_AGAIN.format(remote),)
    return ()


def _left_to_people(own: PurgeRecord, their: PurgeRecord) -> Iterator[str]:
    """Yield sentences on purges that a person has to repeat. own, their: the purges that only one side has."""
    if not {*own.in_part} <= {*their.in_part}:
        yield PURGE_AGAIN
    if any(not one.endswith(":0") for one in {*their.in_part} - {*own.in_part}):
        yield PURGED_IN_PART


def _waiting(done: Synced) -> Iterator[str]:
    """Yield sentences on what a sync has merged and leaves to a person."""
    if done.kept:
        paths = plural.some(list(dict.fromkeys(place.path for place in done.kept)), 3)
        asks = "both versions are kept, and `mdmem review` asks which one stays."
        yield f"Both machines changed the same lines of {paths}: {asks}"
    if done.conflicts:
        paths = plural.some(done.conflicts, 3)
        yield f"Both machines changed {paths}: the other version is beside it, with .conflict- in its name."
    if done.undeleted:
        yield f"Deleted on one machine and changed on the other, so that it stays: {plural.some([*done.undeleted], 3)}."
    yield from done.remaining_advice


def _no_remote(repo: Repository, remote: str) -> str:
    """Return the message about a missing remote, which may be an address instead of a name."""
    is_address = "/" in remote or ":" in remote
    name, address = ("origin", shlex.quote(remote)) if is_address else (shlex.quote(remote), "URL")
    root = shlex.quote(str(repo.root))
    return f"The vault has no remote {remote!r}. Add one: git -C {root} remote add {name} {address}"


def _merged(config: Config, repo: Repository, joined: Joined, before: Synced) -> Synced:
    """Return the result of one merge. before: the result up to it, which has what does not depend on a merge."""
    absent = part.absent(repo, chain(joined.puts, joined.deletes))
    changed = chain(joined.puts, (path for path in joined.deletes if path not in joined.puts))
    return before._replace(
        received=PackedPaths(path for path in changed if path not in absent),
        conflicts=joined.conflicts,
        refused=[*joined.refused, *(path for path in joined.puts if not part.can_be(path))],
        kept=joined.kept,
        undeleted=joined.undeleted,
        remaining_advice=(*map(DROPPED.format, joined.dropped), *other_files.keep_received(config, joined.puts)),
    )


def _base(repo: Repository, ours: str, theirs: str) -> str:
    result = repository.attempt(repo, "merge-base", ours, theirs)
    return result.out.decode("ascii").split("\n")[0].strip()


def _texts(repo: Repository, oid: str, paths: Iterable[str]) -> Texts:
    """Return those of these files that a commit has."""
    wanted_paths = frozenset(paths)
    files = join.files(repo, oid) if oid and wanted_paths else ()
    return Texts(repo, {path: blob for path, blob in files if path in wanted_paths})


def _between(repo: Repository, old: str, new: str) -> tuple[Texts, tuple[str, ...]]:
    """Return the files of `new` that `old` lacks or has with other content, and the paths that only `old` has."""
    old_tree, new_tree = (dict(join.files(repo, oid)) for oid in (old, new))
    changed = [path for path, blob in new_tree.items() if old_tree.get(path) != blob]
    return _texts(repo, new, changed), tuple(path for path in old_tree if path not in new_tree)


def _keep_reviewed(repo: Repository, planned: PurgePlan, onto: str, lock_fd: int) -> None:
    """Replace the last reviewed commit by a purged one without parents."""
    reviewed = writer.tip(repo, review.REF)
    if reviewed:
        clean = carry.filtered(repo, reviewed, planned, lock_fd, onto)
        review.keep_tree(repo, f"{clean}^{{tree}}", "Reviewed before a purge")
