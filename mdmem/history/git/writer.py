"""Write commits with `git fast-import`, from bytes in memory: no index, no filters, no hooks.

The cost does not grow with the vault. Afterwards the branch moves in one step, unless somebody else has moved it.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mdmem import files
from mdmem.errors import GitError
from mdmem.history.git import repository
from mdmem.history.git.repository import Repository

MARK = "mdmem-commit"
"""File in the git directory while commits are written. Line 1: the last commit before them, "" for none; line 2: the
branch's tip and the commit it is about to move to."""

PENDING = "refs/mdmem/pending"
"""Ref that protects commits from garbage collection until a branch has them."""

DELETE_PENDING = ("-c", "core.packedRefsTimeout=100", "update-ref", "-d", PENDING)
"""Git locks all packed refs for that, and would wait ten seconds for the lock of one that was killed."""

LONG_AGO_SECONDS = 3600.0
"""Older events were not captured just now, but imported or committed late."""

STALE_SECONDS = 1.0
"""Git holds a ref's lock for milliseconds; one that stays this long is stale."""


class CommitDraft(NamedTuple):
    """A commit to write.

    message: subject, body, trailers.
    puts: vault path -> the file's bytes; deletes: vault paths.
    merges: additional parents.
    author: author and time in git's format ("Ada <ada@example.org> 1789372800 +0200"); "" for the committer, now.
    happened: when the committed events happened, in seconds; 0 for now.
    """

    message: str
    puts: Mapping[str, bytes]
    deletes: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    author: str = ""
    happened: float = 0.0


def prepare(repo: Repository, head: str, drafts: list[CommitDraft], lock_fd: int) -> list[str]:
    """Write commits on top of `head` ("" for none), without moving a branch; return their ids, oldest first.

    lock_fd: descriptor of the lock that git keeps until it ends.

    Raises GitError when git fails.
    """
    committer = repository.identity(repo)
    with tempfile.TemporaryFile(dir=repo.git_dir) as stream:
        stream.writelines(_stream(head, drafts, "{} <{}>".format(*committer), _committed(repo, head, drafts)))
        stream.seek(0)
        command = ("fast-import", "--quiet", "--done", "--force", "--date-format=raw")
        result = repository.attempt(repo, *command, stdin=stream, env=_committed_by(*committer), lock_fd=lock_fd)
    if result.status == 0:
        return result.out.decode("ascii").split()
    for report in repo.git_dir.glob("fast_import_crash_*"):
        report.unlink(missing_ok=True)
    raise _failed(repo, result)


def move(repo: Repository, branch: str, head: str, goal: str, lock_fd: int) -> bool:
    """Move a branch from `head` ("" for no commit) to `goal`; False when another git process has moved it.

    Raises GitError when git fails.
    """
    command = ("update-ref", "-m", "mdmem", branch, goal, head or "0" * len(goal))
    locks = [lock for lock in _locks(repo, branch) if not lock.exists()]
    env = _committed_by(*repository.OWN_IDENTITY)  # of the line in git's log of the branch
    result = repository.attempt(repo, *command, env=env, lock_fd=lock_fd)
    # It has left locks when it was killed (on Windows, 1 and no message), or could not delete one, about which git is
    # silent. Our next mark will be younger, so that `heal` would keep them.
    if result.status == 0:
        _remove_stale(lock for lock in locks if _is_before_reflog(repo, lock))
    elif result.status < 0 or not result.err:
        _remove_stale(locks)
    now = tip(repo, branch) if result.status else goal
    if result.status and now == head:
        raise _failed(repo, result)
    repository.attempt(repo, *DELETE_PENDING, lock_fd=lock_fd)  # if that fails, the next commit replaces it
    return now == goal


def write(repo: Repository, branch: str, head: str, drafts: list[CommitDraft], lock_fd: int) -> bool:
    """Write commits on top of `head`, the tip of `branch`, and move it; False when another git process has moved it.

    For commits that leave the index alone; others need `git_index.move`.

    Raises GitError when git fails.
    """
    return move(repo, branch, head, prepare(repo, head, drafts, lock_fd)[-1], lock_fd)


def _failed(repo: Repository, result: repository.GitResult) -> GitError:
    return GitError(f"git could not write the commit in {repo.root}: {repository.reason(result)} No note is lost.")


def time_of(repo: Repository, oid: str) -> float:
    """Return a commit's committer time in seconds."""
    return float(repository.run(repo, "log", "-1", "--format=%ct", oid))


def tip(repo: Repository, branch: str) -> str:
    """Return the id of a branch's last commit, "" for none."""
    result = repository.attempt(repo, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}")
    return result.out.decode("ascii").strip()


def mark(repo: Repository, head: str, goal: str = "") -> None:
    """Record that commits on top of `head` are being written; an existing mark keeps its base.

    goal: the commit that the branch is about to move to.
    """
    base = marked(repo)
    temp = repo.git_dir / f"{MARK}.{secrets.token_hex(6)}"
    try:
        temp.write_text(f"{head if base is None else base}\n{head} {goal}", encoding="ascii")
        temp.replace(repo.git_dir / MARK)
    except OSError:
        temp.unlink(missing_ok=True)  # on a full disk, every try would leave one
        raise


def marked(repo: Repository) -> str | None:
    """Return the last commit before an interrupted run, "" for none; None when no run was interrupted."""
    mark = _mark(repo)
    return None if mark is None else mark.partition("\n")[0].strip()


def interrupted(repo: Repository) -> tuple[str, str]:
    """Return the tip from which an interrupted run was about to move the branch, and where to; "" before that point."""
    head, _, goal = (_mark(repo) or "").partition("\n")[2].partition(" ")
    return head, goal


def _mark(repo: Repository) -> str | None:
    """Return the mark's text; None without one."""
    try:
        return (repo.git_dir / MARK).read_text("ascii")
    except FileNotFoundError:
        return None


def unmark(repo: Repository) -> None:
    """Record that index and branch agree again."""
    (repo.git_dir / MARK).unlink(missing_ok=True)


def heal(repo: Repository, branch: str) -> None:
    """Remove ref locks that a killed run of ours left.

    Call it with the committer's lock held. Git keeps that lock until it ends, so that a ref lock which is younger
    than our mark, and stays, has no owner, unless a hook or a program makes another git keep it: then the branch's
    lock has another commit than the one that the run was moving to.
    """
    began_ns = _changed_ns(repo.git_dir / MARK)
    if not began_ns:
        return
    goal = interrupted(repo)[1]
    written = files.try_read_any(str(repo.common_dir / f"{branch}.lock"), len(goal)) if goal else b""
    if written not in (b"", goal.encode()):
        return
    _remove_stale([lock for lock in _locks(repo, branch) if _changed_ns(lock) >= began_ns])


def _locks(repo: Repository, branch: str) -> list[Path]:
    """Return the locks that git holds while it moves a branch of ours, or `PENDING`."""
    return [repo.git_dir / "HEAD.lock", *(repo.common_dir / f"{ref}.lock" for ref in (branch, PENDING))]


def _remove_stale(locks: Iterable[Path]) -> None:
    """Remove the locks that stay as they are for `STALE_SECONDS`; what a disk says of their age may be wrong."""
    changed_ns = {lock: changed for lock in locks if (changed := _changed_ns(lock))}
    if changed_ns:
        time.sleep(STALE_SECONDS)
    for lock, changed in changed_ns.items():
        if _changed_ns(lock) == changed:
            lock.unlink(missing_ok=True)


def _is_before_reflog(repo: Repository, lock: Path) -> bool:
    """Whether a lock is that of HEAD, and not younger than HEAD's reflog, which git writes before it lets go of HEAD.

    After a move that succeeded, any other is another git's: the branch's became the branch.
    """
    return lock.name == "HEAD.lock" and 0 < _changed_ns(lock) <= _changed_ns(repo.git_dir / "logs/HEAD")


def _changed_ns(file: Path) -> int:
    """Return when a file was last changed, by its disk's clock; 0 if it is not there."""
    try:
        return file.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0


def unlock_pending(repo: Repository) -> None:
    """Remove the lock of `PENDING`, which only we use, and that of packed-refs if the same git held both.

    Call it like `heal`, but also without a mark: a run may go on after its git was killed.
    """
    pending, packed = (repo.common_dir / f"{name}.lock" for name in (PENDING, "packed-refs"))
    if pending.exists():
        if packed.exists() and packed.stat().st_mtime_ns >= pending.stat().st_mtime_ns:
            packed.unlink()
        pending.unlink()


def _committed_by(name: str, email: str) -> dict[str, str]:
    return {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}


def _committed(repo: Repository, head: str, drafts: list[CommitDraft]) -> list[float]:
    """Return each commit's time: now, or for imported events their own time, but never before an earlier commit.

    Git expects ascending times: `git log --since` stops at the first older commit.
    """
    now = time.time()
    if not any(draft.happened and draft.happened < now - LONG_AGO_SECONDS for draft in drafts):
        return [now] * len(drafts)
    last = time_of(repo, head) if head else 0.0
    times = []
    for draft in drafts:
        last = max(last, min(draft.happened or now, now))
        times.append(last)
    return times


def _signature(identity: str, moment: float) -> str:
    moment = max(moment, 0.0)  # git has no earlier time, and no machine would fetch the commit
    return f"{identity} {int(moment)} {time.strftime('%z', time.localtime(moment))}"


def _stream(head: str, drafts: list[CommitDraft], committer: str, committed: list[float]) -> Iterator[bytes]:
    for number, (draft, moment) in enumerate(zip(drafts, committed, strict=True), 1):
        signature = _signature(committer, moment)
        author = draft.author or _signature(committer, min(draft.happened or moment, moment))
        text = draft.message.encode("utf-8", "replace")
        yield f"commit {PENDING}\nmark :{number}\n".encode()
        people = f"author {author}\ncommitter {signature}\n".encode("utf-8", "replace")
        yield people + f"data {len(text)}\n".encode() + text + b"\n"
        if number == 1 and head:
            yield f"from {head}\n".encode()
        for parent in draft.merges:
            yield f"merge {parent}\n".encode()
        for path in draft.deletes:
            yield b"D " + _quoted(path) + b"\n"
        for path, data in draft.puts.items():
            yield b"M 100644 inline " + _quoted(path) + f"\ndata {len(data)}\n".encode() + data + b"\n"
        yield b"\n"
    for number in range(1, len(drafts) + 1):
        yield f"get-mark :{number}\n".encode()
    yield b"done\n"


def _quoted(path: str) -> bytes:
    """Quote a path for fast-import."""
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + raw + b'"'
