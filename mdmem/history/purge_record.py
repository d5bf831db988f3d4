"""What other machines must know about a purge: rewritten commits, and what was removed, as keyed digests.

They are trailers of the commit that follows a purge. A digest tells whether a text is the one that went; of a text
that can be guessed it is not a secret, as little as the ids of the old commits are.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history.git import git_index, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.vault import note

TRAILER = "Mdmem-Purged"
"""Names, in the commit that follows a purge, commits that were rewritten; `mdmem sync` never brings them back."""

NOTE_TRAILER = "Mdmem-Purged-Note"
"""Names there a note that was purged by its id, which is nowhere any more, by a hash of that: see `known`."""

TEXT_TRAILER = "Mdmem-Purged-Text"
"""Names there a text that was purged: a key, its length in bytes, its digest."""

MAX_TEXTS = 200
"""Maximum number of texts of a pattern that other machines are told; of more, the purge is to be repeated there."""

MAP = "mdmem-purged"
"""A file in the git folder: what became of each rewritten commit, for remotes that still have the old ones."""


class PurgeRecord(NamedTuple):
    """What purges have told. oids: commits that were rewritten; notes: marks of ids; texts: sealed texts."""

    oids: list[str]
    notes: list[str]
    texts: list[str]


def known(config: Config) -> Callable[[str], bool]:
    """Return what says of a note's id whether that note was purged: what is imported again must not bring it back."""
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return lambda _: False
    form = f"--format=%(trailers:key={NOTE_TRAILER},valueonly)"
    told = repository.attempt(repo, "log", "--grep", f"^{NOTE_TRAILER}: ", form, "HEAD").out
    marks = frozenset(told.decode("ascii", "replace").split())
    return lambda name: bool(marks) and mark(name) in marks


def mark(name: str) -> str:
    """Return the hash by which a purged note's id is known."""
    return note.make_id("purged", name)


def read(repo: Repository, span: str) -> PurgeRecord:
    """Read what the purges of some commits have told."""
    form = "--format=" + "%x00".join(
        f"%(trailers:key={key},valueonly)" for key in (TRAILER, NOTE_TRAILER, TEXT_TRAILER)
    )
    listed = repository.run(repo, "log", "-z", "--grep", "^Mdmem-Purged", form, span).decode("ascii", "replace")
    fields = listed.split("\0")
    return PurgeRecord(*([word for field in fields[at::3] for word in field.split()] for at in range(3)))


def write(repo: Repository, moved: dict[str, str], marks: Collection[str], texts: Collection[bytes], held: int) -> None:
    """Record in a commit that history was rewritten, so that another machine does not merge the old one back.

    marks: the notes that no import is to bring back. texts: what is to leave the notes of other machines, too.
    """
    words = ("rev-list", "--parents", "--topo-order", "--reverse", "--stdin")
    walked = repository.run(repo, *words, stdin="".join(f"{oid}\n" for oid in moved).encode()).decode("ascii")
    rows = [line.split() for line in walked.splitlines()]
    first = [oid for oid, *parents in rows if oid in moved and not any(parent in moved for parent in parents)]
    branch = repository.branch(repo)
    head = writer.tip(repo, branch)
    named = [(TRAILER, oid) for oid in first] + [(NOTE_TRAILER, mark) for mark in sorted(marks)]
    named += [(TEXT_TRAILER, sealed(text)) for text in sorted(texts)[:MAX_TEXTS]]
    trailers = "".join(f"{key}: {value}\n" for key, value in named)
    subject = "Purge: history was rewritten" if moved else "Purge: the text was in no commit"
    writer.mark(repo, head)
    writer.write(repo, branch, head, [CommitDraft(f"{subject}\n\n{trailers}", {})], held)
    git_index.catch_up(repo, held)
    with (repo.git_dir / MAP).open("a", encoding="ascii") as file:
        file.writelines(f"{old} {new}\n" for old, new in moved.items())


def replaced(repo: Repository) -> frozenset[str]:
    """Return the commits that a purge of this clone has rewritten."""
    try:
        return frozenset((repo.git_dir / MAP).read_text("ascii").split()[::2])
    except OSError:
        return frozenset()


def sealed(text: bytes) -> str:
    """Return the digest of a text, with the key that it was taken with and the text's length."""
    key = secrets.token_bytes(16)
    return f"{key.hex()}:{len(text)}:{_digest(key, text)}"


def recovered(sealed: Collection[str], data: Iterable[bytes]) -> set[bytes]:
    """Find, in what this machine still has, the texts that were purged on another."""
    seals = {_Seal(bytes.fromhex(key), int(size), digest) for key, size, digest in (one.split(":") for one in sealed)}
    return {text for one in data for seal in seals for text in seal.within(one)}


class _Seal(NamedTuple):
    """A purged text: the key of its digest, its length, and the digest, which begins with a sum that rolls."""

    key: bytes
    size: int
    digest: str

    def within(self, data: bytes) -> set[bytes]:
        """Find the text in another. A sum is rolled over it, and only where it fits the digest is taken."""
        base, wanted = _base(self.key), int(self.digest[:SUM_DIGITS], 16)
        top = pow(base, self.size - 1, PRIME)
        rolled, found = 0, set()
        for end, byte in enumerate(data):
            if end >= self.size:
                rolled -= data[end - self.size] * top
            rolled = (rolled * base + byte) % PRIME
            if rolled & SUM_MASK == wanted and end + 1 >= self.size:
                text = data[end + 1 - self.size : end + 1]
                found |= {text} if _digest(self.key, text) == self.digest else set()
        return found


PRIME = (1 << 61) - 1
SUM_DIGITS = 4
SUM_MASK = 0xFFFF


def _digest(key: bytes, text: bytes) -> str:
    rolled = 0
    for byte in text:
        rolled = (rolled * _base(key) + byte) % PRIME
    return f"{rolled & SUM_MASK:0{SUM_DIGITS}x}{hashlib.blake2b(text, key=key, digest_size=16).hexdigest()}"


def _base(key: bytes) -> int:
    return int.from_bytes(key[:7], "big") | 256
