"""Carry commits over a purge: replay what one side added since, filtered, on top of the rewritten history.

The common base is filtered like the other side, so that only what is new counts as changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from mdmem import files, plural
from mdmem.config import Config
from mdmem.history.git import objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.texts import Texts
from mdmem.history.git.writer import CommitDraft
from mdmem.history.merging import join, undecided
from mdmem.history.merging.join import Joined
from mdmem.history.purging import purge, purge_record
from mdmem.history.purging.purge import PurgePlan
from mdmem.history.purging.purge_record import PurgeRecord

MARK = "mdmem-carrying"
"""File in the git folder while our branch is being carried over a purge, until nothing here has the old history.

Line 1 is "replaces" if the purge was made here, so that the remote's history is replaced. Lines 2 and 3 have the notes
and texts of our own purge while it has to be repeated on what was fetched: its record is replaced with our branch.
"""


def begin(repo: Repository, *, replaces: bool, repeats: PurgeRecord | None = None) -> None:
    """Note that our branch is about to be carried over a purge. repeats: our own purge that has to be repeated then."""
    own = (" ".join(repeats.notes), " ".join(repeats.texts)) if repeats else ()
    files.replace(str(repo.git_dir / MARK), "\n".join(["replaces" if replaces else "", *own]).encode("ascii"))


def to_repeat(config: Config, repo: Repository) -> PurgePlan | None:
    """Return the purge of ours that an interrupted run has still to repeat on what was fetched; None for none."""
    _, *own = _marked(repo) or [""]
    if not own:
        return None
    notes, texts = (line.split() for line in own)
    return _planned(config, PurgeRecord([], notes, texts, []), (data for _, data in objects.every(repo)))


def _marked(repo: Repository) -> list[str] | None:
    try:
        return (repo.git_dir / MARK).read_text("ascii").split("\n")
    except FileNotFoundError:
        return None


def end(repo: Repository) -> None:
    """Note that nothing is left of the old history."""
    (repo.git_dir / MARK).unlink(missing_ok=True)


def unfinished(config: Config, repo: Repository, branch: str) -> tuple[PurgePlan, bool] | None:
    """Return what an interrupted run has still to purge, and whether it replaces the remote's history; None for none.

    Our branch is clean already: the purged texts are looked for in what it does not reach.
    """
    marked = _marked(repo)
    if marked is None:
        return None
    replaces = marked[0] == "replaces"
    clean = objects.reachable(repo, branch)
    rest = (data for oid, data in objects.every(repo) if oid not in clean)
    return _planned(config, purge_record.read(repo, branch), rest), replaces


def plan(config: Config, repo: Repository, record: PurgeRecord, old: str, new: str) -> PurgePlan:
    """Plan the purges in `record` for this clone: their texts are in commits that `old` has and `new` lacks."""
    return _planned(config, record, _lacking(repo, old, new))


def _lacking(repo: Repository, old: str, new: str) -> Iterator[bytes]:
    """Yield the messages, paths and texts that `old` has and `new` lacks, as far as they are here."""
    yield repository.run(repo, "log", "--format=%B", old, f"^{new}")
    # from the commits: two files of the same content are one object, listed with one of their paths
    paths = purge.paths_in_history(repo, old, f"^{new}").difference(path for path, _ in join.files(repo, new))
    yield os.fsencode("\n".join(paths))
    of_old, of_new = (objects.reachable(repo, tip, *objects.ONLY_BLOBS) for tip in (old, new))
    yield from (data for _, data in objects.read(repo, of_old - of_new))


def _planned(config: Config, record: PurgeRecord, data: Iterable[bytes]) -> PurgePlan:
    texts = purge_record.recovered(record.texts, data) if record.texts else set()
    return purge.plan_again(config, texts, record.notes)


def unmet(
    repo: Repository, record: PurgeRecord, other: str, replaced: frozenset[str] = frozenset()
) -> PurgeRecord | None:
    """Return `record` if it names rewritten commits that `other` still has, else None.

    replaced: commits that `other` had until a purge of its own rewrote them.
    """
    has = not replaced.isdisjoint(record.oids) or any(objects.is_ancestor(repo, oid, other) for oid in record.oids)
    return record if has else None


def carry(repo: Repository, base: str, onto: str, own: str, planned: PurgePlan, lock_fd: int) -> tuple[str, Joined]:
    """Put what `own` has added since `base` on top of the purged `onto`. base: "" when it is not known.

    Return the new tip, and the merge of the carried changes into `onto`. No ref is moved.
    """
    clean_base = filtered(repo, base, planned, lock_fd, onto) if base else ""
    clean_own = filtered(repo, own, planned, lock_fd, onto)
    joined = join.join(repo, clean_base, onto, clean_own)
    drafts = _replayed(repo, f"{base}..{own}", planned, joined) if base else []
    put = {path: data for draft in drafts for path, data in draft.puts.items()}
    gone = {path for draft in drafts for path in draft.deletes} - set(put)
    puts = {path: data for path, data in joined.puts.items() if put.get(path) != data}
    deletes = tuple(path for path in joined.deletes if path not in gone)
    if puts or deletes:
        count = len(puts) + len(deletes)
        text = f"Carry {plural.number(count, 'file')} over a purge\n{undecided.trailers(joined.kept)}"
        drafts.append(CommitDraft(text, puts, deletes))
    goal = writer.prepare(repo, onto, drafts, lock_fd)[-1] if drafts else onto
    return goal, joined


def last_common(repo: Repository, theirs: str) -> str:
    """Return the newest commit of `theirs` that a purge in this clone has rewritten; "" when there is none."""
    known = purge_record.replaced(repo)
    oids = repository.run(repo, "rev-list", "--topo-order", theirs).decode("ascii").split()
    return next((oid for oid in oids if oid in known), "")


def filtered(repo: Repository, oid: str, planned: PurgePlan, lock_fd: int, onto: str) -> str:
    """Write a commit with the purged tree of another; return that one itself when there is nothing to purge.

    A file that a partial clone lacks is left out, unless `onto` has the same: the remote may have dropped its text.
    """
    tree = dict(join.files(repo, oid))
    puts: dict[str, bytes] = {}
    deletes: list[str] = []
    if repo.is_partial:
        here = objects.reachable(repo, oid, "--no-walk")
        kept = {blob for _, blob in join.files(repo, onto)}
        deletes = [path for path, blob in tree.items() if blob not in here and blob not in kept]
        tree = {path: blob for path, blob in tree.items() if blob in here}
    for path, before in Texts(repo, tree).items():
        new = planned.place(path)
        data = planned.cleaned(before)
        if new != path:
            deletes.append(path)
        if new and (new != path or data != before):
            puts[new] = data
    draft = CommitDraft("Purged\n", puts, tuple(deletes))
    return writer.prepare(repo, oid, [draft], lock_fd)[-1] if puts or deletes else oid


def _replayed(repo: Repository, span: str, planned: PurgePlan, joined: Joined) -> list[CommitDraft]:
    """Replay each commit, oldest first, limited to the files in which the merged result differs."""
    form = "--format=%H%x00%an <%ae> %ad%x00%B%x00"
    arguments = ("log", "-z", "--reverse", "--topo-order", "--no-merges", "--date=raw", form, span)
    fields = repository.each(repo, *arguments)
    drafts = []
    for oid, author, text, _ in zip(fields, fields, fields, fields, strict=False):
        draft = _replay(repo, oid.strip(), planned, joined)
        message = planned.cleaned(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
        if draft.puts or draft.deletes:
            drafts.append(draft._replace(message=message, author=author))
    return drafts


def _replay(repo: Repository, oid: str, planned: PurgePlan, joined: Joined) -> CommitDraft:
    changed = {path: blob for path, _, blob in objects.changed(repo, oid)}
    texts = objects.contents(repo, changed.values())
    puts = {
        new: planned.cleaned(texts[blob])
        for path, blob in changed.items()
        if blob in texts and (new := planned.place(path)) in joined.puts
    }
    gone = [new for path, blob in changed.items() if blob not in texts and (new := planned.place(path))]
    return CommitDraft("", puts, tuple(path for path in gone if path in joined.deletes))
