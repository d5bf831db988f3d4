"""Passwords in dialogues with Redis, and in its files of users: `AUTH …`, `user ana on >…`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import line_before, line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_LONGEST = 256  # characters of a value


def find(text: str) -> Iterator[Span]:
    """Find the passwords, in ascending order for each form."""
    yield from _to_redis(text)
    yield from _users_of_redis(text)


def _to_redis(text: str) -> Iterator[Span]:
    """Find the password in `AUTH …` with Redis' answer below, and in its protocol: `AUTH`, `$6`, `…`, line by line."""
    for at, begin in secrets.occurrences(text, "AUTH"):
        end = line_end(text, begin)
        head = line_before(text, at, _LONGEST_HEAD).strip()
        words = text[begin:end].split() if not head or head.endswith(">") else []
        answer = text[end + 1 : line_end(text, end + 1)].strip(" \t\r<")
        is_answer = answer == "+OK" or answer.startswith(_REFUSALS) or (answer == "OK" and len(head) > 1)
        if 0 < len(words) < _MOST_WORDS and is_answer and words[-1] not in _MECHANISMS:
            start = begin + text[begin:end].rindex(words[-1])
            yield start, start + len(words[-1]), "password"
        lines = text[end + 1 : end + 1 + _LONGEST].split("\n") if not words else []
        start, last = end + 1, (0, 0)
        for size, value in zip(lines[::2], lines[1::2], strict=False):
            if not (size[:1] == "$" and size[1:].strip() == str(len(value.strip("\r")))):
                break
            start += len(size) + 1
            last = start, start + len(value.strip("\r"))
            start += len(value) + 1
        if last[1]:
            yield *last, "password"


_LONGEST_HEAD, _MOST_WORDS = 40, 3
_MECHANISMS = ("PLAIN", "LOGIN")  # of mail

_REFUSALS = ("(error) ", "-ERR ", "-WRONGPASS ")


def _users_of_redis(text: str) -> Iterator[Span]:
    """Find the passwords in `user ana on >… ~* +@all`, a line of an ACL file."""
    for at, start in secrets.occurrences(text, "user "):
        line = text[start : line_end(text, start)] if text[at - 1 : at] in ("", "\n") else ""
        if " on " in line and not _RIGHTS.isdisjoint(word[0] for word in line.split()):
            for first, last in scan.words(text, start, start + len(line)):
                if text[first] in ">#" and not values.is_placeholder(text[first + 1 : last]):
                    yield first + 1, last, "password"


_RIGHTS = frozenset("~+-&")  # begin what a user of Redis may do
