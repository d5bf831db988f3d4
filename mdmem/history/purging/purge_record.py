"""What other machines must know about a purge: rewritten commits, and keyed digests of what was removed.

They are trailers of the commit after the purge. A digest lets a machine recognize the text. It does not protect a text
that can be guessed; neither do the ids of the old commits.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import reduce
from itertools import chain
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history.git import checked_out, git_index, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.lazy_pattern import lazy
from mdmem.vault import note

TRAILER = "Mdmem-Purged"
"""Trailer with the id of a rewritten commit; `mdmem sync` never brings these back."""

NOTE_TRAILER = "Mdmem-Purged-Note"
"""Trailer with the hash of the id of a purged note: see `was_purged`."""

TEXT_TRAILER = "Mdmem-Purged-Text"
"""Trailer with a purged text: a key, its length in bytes, its digest."""

IN_PART_TRAILER = "Mdmem-Purged-In-Part"
"""Trailer of a purge that other machines cannot repeat in full: a random id, number of texts that they do not know."""

_KEYS = (TRAILER, NOTE_TRAILER, TEXT_TRAILER, IN_PART_TRAILER)

MAX_TEXTS = 200
"""Maximum number of texts in trailers; with more, the user is told to repeat the purge on the other machines."""

MAP = "mdmem-purged"
"""File in the git directory that maps rewritten commits, for remotes that still have the old ones."""


class PurgeRecord(NamedTuple):
    """The records of purges. oids: rewritten commits; notes: hashes of ids; texts: sealed texts.

    in_part: for each purge that other machines cannot repeat in full, an id and how many texts they do not know.
    """

    oids: list[str]
    notes: list[str]
    texts: list[str]
    in_part: list[str]


def was_purged(config: Config) -> Callable[[str], bool]:
    """Return a function that tells whether a note's id was purged: an import must not restore it."""
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return lambda _: False
    form = f"--format=%(trailers:key={NOTE_TRAILER},valueonly)"
    told = repository.attempt(repo, "log", "--grep", f"^{NOTE_TRAILER}: ", form, "HEAD").out
    marks = frozenset(told.decode("ascii", "replace").split())
    return lambda name: bool(marks) and mark(name) in marks


def mark(name: str) -> str:
    """Return the hash under which a purged note's id is recorded."""
    return note.make_id("purged", name)


def read(repo: Repository, span: str) -> PurgeRecord:
    """Read the purge records of a range of commits."""
    form = "--format=" + "%x00".join(f"%(trailers:key={key},valueonly)" for key in _KEYS)
    listed = repository.run(repo, "log", "-z", "--grep", "^Mdmem-Purged", form, span).decode("ascii", "replace")
    fields, count = listed.split("\0"), len(_KEYS)
    return PurgeRecord(*([word for field in fields[at::count] for word in field.split()] for at in range(count)))


def trailers_of(marks: Collection[str], texts: Collection[bytes], in_part: int | None) -> list[tuple[str, str]]:
    """Return the trailers of a purge, without those of the rewritten commits.

    marks: hashes of notes that no import may restore. texts: what other machines have to purge from their notes too.
    in_part: number of texts that they do not know; None when they can repeat all of the purge.
    """
    named = [(NOTE_TRAILER, mark) for mark in sorted(marks)]
    named += [(TEXT_TRAILER, seal) for seal in sealed(sorted(texts)[:MAX_TEXTS])]
    return named if in_part is None else [*named, (IN_PART_TRAILER, f"{secrets.token_hex(4)}:{in_part}")]


def write(
    repo: Repository,
    moved: dict[str, str],
    trailers: list[tuple[str, str]],
    lock_fd: int,
    copy: Repository | None = None,
) -> None:
    """Commit a record of the purge, so that no other machine merges the old history back.

    trailers: what `trailers_of` returns.
    copy: the rewritten history, which becomes ours with the record in it. Written later, the record would be missing
    if we are killed in between, and the next sync would merge what was purged.
    """
    arguments = ("rev-list", "--parents", "--topo-order", "--reverse", "--stdin")
    walked = repository.run(repo, *arguments, stdin="".join(f"{oid}\n" for oid in moved).encode()).decode("ascii")
    rows = [line.split() for line in walked.splitlines()]
    first = [oid for oid, *parents in rows if oid in moved and not any(parent in moved for parent in parents)]
    subject = "Purge: history was rewritten" if moved else "Purge: the text was in no commit"
    with (repo.git_dir / MAP).open("a", encoding="ascii") as file:
        file.writelines(f"{old} {new}\n" for old, new in moved.items())
    branch, into = checked_out.branch(repo), copy or repo
    head = writer.tip(into, branch)
    lost = _lost(repo, writer.tip(repo, branch), into, head)
    lines = [f"{key}: {value}\n" for key, value in (*((TRAILER, oid) for oid in first), *lost, *trailers)]
    draft = CommitDraft(f"{subject}\n\n{''.join(lines)}", {})
    if copy is None:
        writer.mark(repo, head)
    writer.write(into, branch, head, [draft], lock_fd)
    if copy is None:
        git_index.catch_up(repo, lock_fd)


def _lost(repo: Repository, tip: str, copy: Repository, new_tip: str) -> Iterator[tuple[str, str]]:
    """Yield the trailers that the rewritten history lacks: a record goes with the commit before it if that is dropped.

    Without them, a machine that has not synced since would bring back what an earlier purge removed.
    """
    before, after = (read(one, oid) if oid else ((),) * len(_KEYS) for one, oid in ((repo, tip), (copy, new_tip)))
    for key, values, left in zip(_KEYS, before, after, strict=True):
        yield from ((key, value) for value in values if value not in left)


def replaced(repo: Repository) -> frozenset[str]:
    """Return the commits that purges in this clone have rewritten."""
    try:
        return frozenset((repo.git_dir / MAP).read_text("ascii").split()[::2])
    except OSError:
        return frozenset()


def sealed(texts: Collection[bytes]) -> list[str]:
    """Return for each text a random key, its length, and its digest under that key.

    The texts of a purge share their key: those of one length are then found in one pass.
    """
    key = secrets.token_bytes(16)
    return [f"{key.hex()}:{len(text)}:{_digest(key, text)}" for text in texts]


def recovered(sealed: Collection[str], data: Iterable[bytes]) -> set[bytes]:
    """Find texts that another machine purged in the data of this one. Anything but a sealed text is ignored."""
    digests: dict[tuple[str, str], set[str]] = {}
    for key, size, digest in (found.groups() for found in map(_SEALED.fullmatch, sealed) if found):
        digests.setdefault((key, size), set()).add(digest)
    seals = [_Seal(bytes.fromhex(key), int(size), frozenset(of_one)) for (key, size), of_one in digests.items()]
    return {text for one in data for seal in seals for text in seal.within(one)}


_SEALED = lazy(r"([0-9a-f]{32}):([1-9][0-9]{,8}):([0-9a-f]{36})")  # anybody can write such a trailer


class _Seal(NamedTuple):
    """Purged texts of one length: their key, length in bytes, and digests, each of which begins with a rolling hash."""

    key: bytes
    size: int
    digests: frozenset[str]

    def within(self, data: bytes) -> set[bytes]:
        """Find the texts in `data`: compute the digest only where the rolling hash matches."""
        if len(data) < self.size:
            return set()
        base = _base(self.key)
        top = pow(base, self.size, PRIME)
        leaving = [byte * top % PRIME for byte in range(256)]
        sums = {int(digest[:SUM_DIGITS], 16) for digest in self.digests}
        rolled, found = _rolled(base, data[: self.size]), set()
        for start, (first, following) in enumerate(zip(data, chain(data[self.size :], b"\0"), strict=False)):
            if rolled & SUM_MASK in sums:
                text = data[start : start + self.size]
                found |= {text} if _digest(self.key, text) in self.digests else set()
            rolled = (rolled * base + following - leaving[first]) % PRIME
        return found


PRIME = (1 << 61) - 1
SUM_DIGITS = 4
SUM_MASK = 0xFFFF


def _digest(key: bytes, text: bytes) -> str:
    rolled = _rolled(_base(key), text) & SUM_MASK
    return f"{rolled:0{SUM_DIGITS}x}{hashlib.blake2b(text, key=key, digest_size=16).hexdigest()}"


def _rolled(base: int, text: bytes) -> int:
    return reduce(lambda rolled, byte: (rolled * base + byte) % PRIME, text, 0)


def _base(key: bytes) -> int:
    return int.from_bytes(key[:7], "big") | 256
