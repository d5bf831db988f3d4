"""Passwords in dialogues with mail servers, and in maps of mail relays: `334 …`, `AUTH PLAIN …`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import line_before, line_end
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


def _relays(text: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *_RELAYS):
        line = text[start : start + _LONGEST].partition("\n")[0]
        user, colon, password = line.rstrip().partition(":")
        is_login = colon and user and len(password) > 2 and len(line.split()) == 1
        if is_login and not values.is_placeholder(line):
            yield start + len(user) + 1, start + len(user) + 1 + len(password), "password"


def _sent(text: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *_SENT):
        end = start
        while chunk := text[end : end + _LONGEST]:
            after_run = chunk.lstrip(BASE64)
            end += len(chunk) - len(after_run)
            if after_run:
                break
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
