"""The echo: an agent repeats in its tool calls what a private section told it, without the tags.

For a session, keyed hashes of the longer tokens of its private sections are kept in a file that only the user
can read, never the tokens; what has such a hash in a later text is masked. The key lives in the same file, far
from any vault, and goes with it when the session ends.

A token is what stands between white space, and each of its parts between quotes, between brackets and signs,
and between all signs, so that `hunter2!pass` is known again in `PGPASSWORD="hunter2!pass"`, and `heron-box-42` in
`root@heron-box-42`. Shorter tokens than `SHORTEST`, and common words, are not remembered: masking them would hide
more of the work than of the secret.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTEST = 8
"""A token is worth remembering from this many characters on."""

MOST = 50_000
"""No more tokens than this are remembered at a time."""

COMMON = frozenset(
    """
    password passwords database username function localhost computer directory document documents download redacted
    sections personal account accounts customer customers company internal external services security secrets
    credential credentials authorization authentication connection connections production staging development testing
    environment environments variable variables deployment deployed repository branches settings configuration
    configure response responses request requests message messages endpoint endpoints interface parameter parameters
    argument arguments exception exceptions returned returning something anything everything nothing somebody everyone
    important remember actually probably currently previously following different possible problem problems question
    questions describe description implement implementation necessary available information generate generated
    continue although because through together another whatever whenever yourself ourselves themselves operating
    platform language programming javascript typescript postgres postgresql kubernetes container containers registry
    terminal keyboard notebook calendar yesterday tomorrow thursday saturday wednesday november december february
    september
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""Words that are in everybody's texts; in lower case."""

_KEY_BYTES = 32
_DIGEST_BYTES = 16
_LONGEST_FILE = 8 * 1024 * 1024

_QUOTES = str.maketrans(dict.fromkeys("\"'`\\", " "))
_SIGNS = str.maketrans(dict.fromkeys("\"'`\\,;:=<>()[]{}|&?#/", " "))
_USER_AT = str.maketrans(dict.fromkeys("\"'`\\,;:=<>()[]{}|&?#/@", " "))
_ALNUM = bytes(code if chr(code).isalnum() and code < 128 else 0x20 for code in range(256))
_DASHED = bytes(code if chr(code) in "-_" else _ALNUM[code] for code in range(256))
_EDGES = "\"'`.,;:!?()[]{}<>*_-=#/\\"


class Echo:
    """What the private sections of a session held, as keyed hashes."""

    __slots__ = ("_digests", "_key")

    def __init__(self, key: bytes, digests: frozenset[bytes]) -> None:
        self._key = key
        self._digests = digests

    def find(self, text: str) -> list[tuple[int, int]]:
        """Find what stood in a private section before: start and end, in order, apart from each other."""
        spans: list[tuple[int, int]] = []
        for level in _levels(text):
            words = [word for word in level.split() if len(word) >= SHORTEST]
            found = ((word, self._known(word)) for word in set(words))
            known = {word: token for word, token in found if token}
            if known:
                spans += _places(level, words, known)
        return _joined(spans)

    def _known(self, word: str) -> str:
        """Give the longest token of a word that is remembered, or ""."""
        tokens = (token for token in _tokens(word) if _digest(self._key, token) in self._digests)
        return max(tokens, key=len, default="")


def remember(path: str, spans: Iterable[str]) -> None:
    """Add the tokens of private texts to a session's file, which is made when there is none, for the user alone.

    Any number of processes may do so at once.

    Raises:
        OSError: the file cannot be made or written.
    """
    import fcntl

    tokens = _worth_remembering(spans)
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.fchmod(file, 0o600)
        key, digests, whole = _parse(_read(file))
        lines = [] if whole else [b""]  # a process died in the middle of a line
        if key is None:
            os.ftruncate(file, 0)
            key, digests, lines = os.urandom(_KEY_BYTES), set(), []
            lines.append(key.hex().encode())
        lines += [digest.hex().encode() for digest in {_digest(key, token) for token in tokens} - digests]
        _write(file, b"".join(line + b"\n" for line in lines))
    finally:
        os.close(file)


def load(path: str) -> Echo | None:
    """Read a session's file; None when there is none, or nothing in it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        key, digests, _ = _parse(_read(file))
    except OSError:
        return None
    finally:
        os.close(file)
    return Echo(key, frozenset(digests)) if key and digests else None


# -- tokens


def _levels(text: str) -> Iterator[str]:
    """Give the text with ever more signs turned into blanks, every character at its place."""
    yield text
    yield text.translate(_QUOTES)
    yield text.translate(_SIGNS)
    if "@" in text:
        yield text.translate(_USER_AT)
    plain = text.encode("ascii", "replace")
    yield plain.translate(_DASHED).decode("ascii")
    yield plain.translate(_ALNUM).decode("ascii")


def _tokens(word: str) -> set[str]:
    """Give a word, the value in it (X=…), and both without the signs around them, as far as they are long enough."""
    bare = word.strip(_EDGES)
    value = word.partition("=")[2]
    return {token for token in (word, bare, value, value.strip(_EDGES)) if len(token) >= SHORTEST}


def _worth_remembering(spans: Iterable[str]) -> set[str]:
    tokens: set[str] = set()
    for span in spans:
        for level in _levels(span):
            for word in level.split():
                if len(word) >= SHORTEST and len(tokens) < MOST:
                    tokens.update(token for token in _tokens(word) if not _is_common(token))
    return tokens


def _is_common(token: str) -> bool:
    return token.lower() in COMMON or _is_date(token)


def _is_date(token: str) -> bool:
    """Whether it is a day, like 2026-11-20."""
    return len(token) == 10 and token[4] == token[7] == "-" and token.replace("-", "").isdigit()


def _digest(key: bytes, token: str) -> bytes:
    """Hash a token with the session's key. The C module is imported directly: `hashlib` loads OpenSSL."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    digest: bytes = blake2b(token.encode("utf-8", "replace"), key=key, digest_size=_DIGEST_BYTES).digest()
    return digest


def _places(level: str, words: list[str], known: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Find the known tokens among all long words of a text, in order: a shorter word cannot hold one."""
    at = 0
    for word in words:
        at = level.find(word, at)
        token = known.get(word)
        if token is not None:
            start = at + word.find(token)
            yield start, start + len(token)
        at += len(word)


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


# -- the file: a key in hexadecimal on the first line, then a digest a line


def _parse(data: bytes) -> tuple[bytes | None, set[bytes], bool]:
    """Read key and digests; a line that is none is left out. And whether the last line is whole."""
    first, *lines = data.split(b"\n")
    key = _unhex(first, _KEY_BYTES)
    digests = {digest for line in lines if (digest := _unhex(line, _DIGEST_BYTES))}
    return key, digests, data.endswith(b"\n")


def _unhex(line: bytes, size: int) -> bytes | None:
    if len(line) != 2 * size:
        return None
    try:
        return bytes.fromhex(line.decode("ascii"))
    except ValueError:
        return None


def _read(file: int) -> bytes:
    parts = []
    room = _LONGEST_FILE
    while room > 0 and (part := os.read(file, min(room, 1 << 20))):
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
