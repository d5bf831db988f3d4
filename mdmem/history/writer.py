"""Commits written by `git fast-import`, from bytes in memory: no index, no filters, no hooks.

Its cost does not grow with the vault, and it moves the branch in one step, only if nobody else moved it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mdmem.errors import GitError
from mdmem.history import repository
from mdmem.history.repository import Repository

MARK = "mdmem-commit"
"""A file in the git folder while commits are written: the commit before them, "" for none."""

STALE_SECONDS = 1.0
"""Git holds the lock of a ref for milliseconds."""


class Draft(NamedTuple):
    """A commit to be.

    message: subject, body, trailers.
    puts: vault path -> the file's bytes; deletes: vault paths.
    merges: commits that are its further parents.
    """

    message: str
    puts: Mapping[str, bytes]
    deletes: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()


def write(repo: Repository, branch: str, head: str, drafts: list[Draft], held: int) -> list[str] | None:
    """Write commits on top of `head`, the tip of `branch` ("" when it has none); give their ids, oldest first.

    None when the branch was moved by somebody else: look again, and try again.

    Raises:
        GitError: when git fails.
    """
    who = "{} <{}>".format(*repository.identity(repo))
    when = f"{int(time.time())} {time.strftime('%z')}"
    with tempfile.TemporaryFile(dir=repo.git_dir) as stream:
        stream.writelines(_stream(branch, head, drafts, f"{who} {when}"))
        stream.seek(0)
        done = repository.attempt(
            repo, "fast-import", "--quiet", "--done", "--date-format=raw", stdin=stream, env=_person(who), held=held
        )
    if done.status == 0:
        return done.out.decode("ascii").split()
    for report in repo.git_dir.glob("fast_import_crash_*"):
        report.unlink(missing_ok=True)
    if tip(repo, branch) != head:
        return None
    raise GitError(f"git could not write the commit in {repo.root}: {repository.reason(done)} No note is lost by that.")


def tip(repo: Repository, branch: str) -> str:
    """Give the id of a branch's last commit, "" for none."""
    done = repository.attempt(repo, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}")
    return done.out.decode("ascii").strip()


def mark(repo: Repository, head: str) -> None:
    """Note that commits are being written on top of `head`; a mark that is there already stays."""
    path = repo.git_dir / MARK
    if not path.exists():
        path.write_text(head, encoding="ascii")


def marked(repo: Repository) -> str | None:
    """Give the commit that was the last before an interrupted run, "" for none; None when nothing was interrupted."""
    try:
        return (repo.git_dir / MARK).read_text("ascii").strip()
    except FileNotFoundError:
        return None


def unmark(repo: Repository) -> None:
    """Note that index and branch agree again."""
    (repo.git_dir / MARK).unlink(missing_ok=True)


def heal(repo: Repository, branch: str) -> None:
    """Remove the locks of refs that a killed run of ours left.

    To be called with the committer's lock held, which git itself keeps until it ends: a lock that is
    younger than our mark, and stays, is then nobody's.
    """
    path = repo.git_dir / MARK
    if not path.exists():
        return
    begun = path.stat().st_mtime_ns
    for lock in (repo.git_dir / "HEAD.lock", repo.common_dir / f"{branch}.lock"):
        if not lock.exists() or lock.stat().st_mtime_ns < begun:
            continue
        time.sleep(max(0.0, lock.stat().st_mtime + STALE_SECONDS - time.time()))
        if lock.exists() and lock.stat().st_mtime + STALE_SECONDS <= time.time():
            lock.unlink()


def _person(who: str) -> dict[str, str]:
    name, email = who.removesuffix(">").split(" <")
    return {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}


def _stream(branch: str, head: str, drafts: list[Draft], signature: str) -> Iterator[bytes]:
    for number, draft in enumerate(drafts, 1):
        text = draft.message.encode("utf-8", "replace")
        yield f"commit {branch}\nmark :{number}\n".encode()
        yield f"author {signature}\ncommitter {signature}\ndata {len(text)}\n".encode() + text + b"\n"
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
    """Write a path between quotes, as fast-import reads any path."""
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + raw + b'"'
