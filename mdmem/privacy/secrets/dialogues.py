"""Passwords that servers are sent, and that relays and Redis keep: `334 …`, `AUTH PLAIN …`, `user ana on >…`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import line_before, line_end
from mdmem.privacy.secrets.tokens import end_of_run
from mdmem.privacy.secrets.tokens.formats import BASE64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_RELAYS = ("]:587 ", "]:465 ", "]:25 ")
"""Precede a user and a password in a mail relay map: `[smtp.example.org]:587 ana:…`."""
_SENT = ("AUTH PLAIN ", "AUTHENTICATE PLAIN ", "AUTH XOAUTH2 ")
"""Precede a user and a password in base64."""
_CHALLENGE = "334 "
_ASKS_USER = "VXNlcm5hbWU6"  # "Username:"
_ASKS_ANSWER = "UGFzc3dvcmQ6"  # "Password:"
_MOST_BETWEEN = 2  # lines below a question, as a client may print it twice
_PROMPT = "<>-+*CS: \t|"
_LONGEST = 256  # characters of a value
_SHORTEST_ANSWER = 4  # characters of base64


def find(text: str) -> Iterator[Span]:
    """Find the passwords, in ascending order for each form."""
    yield from _relays(text)
    yield from _sent(text)
    yield from _answers(text)
    yield from _sent_alone(text)
    yield from _to_redis(text)
    yield from _users_of_redis(text)


def _relays(text: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *_RELAYS):
        line = text[start : start + _LONGEST].partition("\n")[0]
        user, colon, password = line.rstrip().partition(":")
        is_login = colon and user and len(password) > 2 and len(line.split()) == 1
        if is_login and not values.is_placeholder(line):
            yield start + len(user) + 1, start + len(user) + 1 + len(password), "password"


def _sent(text: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *_SENT):
        end = end_of_run(text, start, BASE64)
        if end - start >= 2 * _SHORTEST_ANSWER and not text[start : start + _LONGEST][: end - start].isalpha():
            yield start, end, "password"


def _answers(text: str) -> Iterator[Span]:
    """Find what a client sends after a server's `334 …`: a password in base64, or the response to a challenge."""
    for at, begin in secrets.occurrences(text, _CHALLENGE):
        end = line_end(text, at)
        challenge = _bare(text[begin:end].strip())
        head = line_before(text, at, 8).strip(_PROMPT)
        if challenge != _ASKS_ANSWER and (head or challenge == _ASKS_USER or challenge.strip(BASE64)):
            continue
        for _ in range(_MOST_BETWEEN):
            line = scan.next_line(text, end)
            end = line_end(text, line)
            word = (text[line:end].split() or [""])[-1] if line else ""
            answer = _bare(word)
            if _ASKS_ANSWER not in word:
                break
        if len(answer) >= _SHORTEST_ANSWER and len(answer) % 4 == 0 and not answer.strip(BASE64):
            start = text.rindex(answer, line, end)
            yield start, start + len(answer), "password"


def _sent_alone(text: str) -> Iterator[Span]:
    """Find the password below `AUTH LOGIN` where only the client's lines are shown: a user and it, in base64."""
    for _, begin in secrets.occurrences(text, "AUTH LOGIN"):
        end, sent = line_end(text, begin), []
        for _ in range(2):
            line = scan.next_line(text, end)
            end = line_end(text, line) if line else end
            answer = _bare(text[line:end].strip(" \t\r" + _PROMPT)) if line else ""
            if len(answer) >= _SHORTEST_ANSWER and not answer.strip(BASE64) and _encodes_text(answer):
                sent.append((text.rindex(answer, line, end), len(answer)))
        if len(sent) > 1:
            yield sent[1][0], sum(sent[1]), "password"


def _encodes_text(word: str) -> bool:
    """Whether a word is a text in base64; `test` and `file` are none."""
    from binascii import Error, a2b_base64

    try:
        return a2b_base64(word, strict_mode=True).decode("utf-8").isprintable()
    except (Error, ValueError):
        return False


def _bare(word: str) -> str:
    r"""Return a word without the quotes and escapes that a client prints around it: `'dXNlcg==\r\n'`."""
    return word.partition("\\")[0].removeprefix("b'").strip("'\"")


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
