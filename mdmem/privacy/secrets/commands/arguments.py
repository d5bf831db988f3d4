"""Arguments of commands: finds the word that has the secret, the secret in `user:…` or `user/…@host`, and judges it."""

from __future__ import annotations

from mdmem.privacy.secrets import values
from mdmem.privacy.secrets.commands.table import (
    APART,
    AROUND,
    END,
    FINAL,
    FIRST,
    FOURTH,
    GLUED,
    LAST,
    LAST_PAIR,
    ODD,
    ONLY,
    PAIR,
    PAIRS,
    SAID,
    SECOND,
    SURE,
    THIRD,
    TWO,
    TYPED,
    URL,
    USER,
    VALUES,
    WORD,
    FlagRow,
)  # fmt: skip
from mdmem.privacy.secrets.literals import PROSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.privacy.secrets.scan import Span

_OF_LAST = {LAST: WORD, FINAL: SURE, LAST_PAIR: PAIR}
_PLACES = {SECOND: 1, THIRD: 2, FOURTH: 3}
_ENDS = "|;&>`"
_ODD_SIGNS = frozenset("!#*@%^&?~")
_LONGEST_WORD = 256


def of_row(text: str, low: str, words: list[tuple[int, int]], row: FlagRow) -> Iterator[Span]:
    """Yield the secrets that a row finds in a command, which has these words."""
    first = row[0][0].lower()
    for number, (begin, _) in enumerate(words):
        if low[begin : begin + 1] == first:
            for start, end in _secret_words(text, words, number, row):
                yield start, end, "command-password"
                if row[1] in _OF_LAST:
                    return


def _secret_words(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterable[tuple[int, int]]:
    """Return the spans of the secrets if the word with this index is the flag of the row."""
    flag, holds, place = row
    word = text[slice(*words[number])]
    is_flag = word == flag or ((flag.isalpha() or len(flag) > 2) and word.lower() == flag)
    cluster = len(flag) == 2 and flag[0] == word[:1] == "-" and word[1:].isalpha()
    if place == AROUND:
        return _nearby(text, words, number) if word.lower().startswith(flag) else ()
    if holds in _OF_LAST:
        return _in_last_word(text, words, number, row) if is_flag or (cluster and flag[1] in word) else ()
    if holds == FIRST:
        return _first_argument(text, words, number) if is_flag else ()
    if holds in _IN_LATER_WORDS:
        return _IN_LATER_WORDS[holds](text, words, number, row) if is_flag else ()
    if (is_flag or (cluster and word[-1] == flag[1])) and place != GLUED and number + 1 < len(words):
        return _in_next_word(text, words, number, row)
    if place != APART and word.startswith(flag) and len(word) > len(flag):
        return _in_same_word(text, *words[number], row)
    return ()


def _at_place(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `mc admin user add minio ana …`: the third word that is not a flag."""
    flag, holds, _ = row
    places = [at for at in range(number + 1, len(words)) if text[words[at][0]] != "-"]
    at = next(iter(places[_PLACES[holds] :]), 0)
    if at and (holds == THIRD or text[words[at - 1][0]] != "-"):
        yield from _if_secret(text, *words[at], _of_word(text, words, at), flag)


def _in_last_word(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `htpasswd -b users ana …`."""
    flag, holds, _ = row
    start, end = _last_word(text, words, number)
    if _is_option(text[start:end]):
        return
    if holds == LAST and end:
        yield from _if_secret(text, start, end, _of_word(text, words, words.index((start, end))), flag)
    elif holds != LAST_PAIR or ("." in text[words[number][1] : start] and "//" not in text[start:end]):
        yield from _if_secret(text, start, end, _OF_LAST[holds], flag)


def _is_option(word: str) -> bool:
    """Whether a last word is an option (`openssl passwd -apr1`), not a secret that begins so (`-pw12secret`)."""
    name = word.lstrip("-")
    return name != word and name.rstrip("0123456789").isalpha() and not values.looks_random(name)


def _next_two(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secrets in `qpdf --encrypt … … 256`."""
    for argument in words[number + 1 : number + 3]:
        yield from _if_secret(text, *argument, WORD, row[0])


def _before_end(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `bw unlock …` and `cf auth ana …`, before options or the end of the command."""
    flag, holds, _ = row
    at = number + (1 if holds == ONLY else 2)
    if at >= len(words) or text[slice(*words[number + 1])].lower() in PROSE:
        return
    if _ends_command(text, words[at][1]) or at + 1 == len(words) or text[words[at + 1][0]] == "-":
        yield from _if_secret(text, *words[at], SURE, flag)


def _first_argument(text: str, words: list[tuple[int, int]], number: int) -> Iterator[tuple[int, int]]:
    """Yield the secret in `encrypt_string --vault-id … "…"`, but not in `complete -c mkpasswd …`."""
    if text.endswith((" -c ", " -a "), 0, words[number][0]):
        return
    for (before, end), (start, last) in zip(words[number:], words[number + 1 :], strict=False):
        is_argument = text[before] == "-" and "=" not in text[before:end] and text[start - 1] not in ("'", '"')
        if text[start] != "-" and not is_argument:
            yield from _if_secret(text, start, last, SURE if text[start - 1] in ("'", '"') else WORD, "-")
            return


def _set_values(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secrets in `NAME=… NAME=…`, or the last word."""
    pairs = [(start, end) for start, end in words[number + 1 :] if "=" in text[start:end] and text[start] != "-"]
    for start, end in pairs:
        if row[1] == PAIRS:
            yield from _if_secret(text, start, end, PAIR, "--")
        else:
            yield from _if_secret(text, text.index("=", start) + 1, end, WORD, "set")
    if not pairs:
        yield from _if_secret(text, *_last_word(text, words, number), WORD, "set")


def _typed_values(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secrets in `op item create 'api[concealed]=…'`."""
    for start, end in words[number + 1 :]:
        head, sign, _ = text[start:end].partition("]=")
        if sign and head.endswith(_SECRET_TYPES):
            yield from _if_secret(text, start + len(head) + len(sign), end, SURE, row[0])


_SECRET_TYPES = ("[concealed", "[password", "[otp")
_IN_LATER_WORDS = {
    SECOND: _at_place, THIRD: _at_place, FOURTH: _at_place, TWO: _next_two, PAIRS: _set_values, VALUES: _set_values,
    ONLY: _before_end, END: _before_end, TYPED: _typed_values,
}  # fmt: skip


def _in_next_word(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `--password …`."""
    flag, holds, _ = row
    if holds == SURE and text[slice(*words[number + 1])].isdigit() and number + 2 < len(words):
        number += 1  # key 0 …
    start, end = words[number + 1]
    is_quoted = text[start - 1] in ("'", '"')
    if flag == "by" and not is_quoted and not _is_oracle(text, words, number):
        return
    if holds == WORD and flag.isalpha():
        holds = _of_word(text, words, number + 1)
    if text[start : start + 1] != "-":
        yield from _if_secret(text, start, end, holds, flag)


def _of_word(text: str, words: list[tuple[int, int]], at: int) -> str:
    """Return SURE for a rare word that ends a command which begins its line, `cargo login …`; else WORD.

    After an option, as in `--group …`, a word is rarely the secret, unless the option has no argument: `-6`.
    """
    start, end = words[at]
    option = text[slice(*words[at - 1])]
    if option[:1] == "-" and not option[-1].isdecimal():
        return WORD
    head = text[max(0, words[0][0] - _LONGEST_WORD) : words[0][0]].rpartition("\n")[2]
    is_whole = not head.strip(" \t$>") and (at + 1 == len(words) or _ends_command(text, end))
    return SURE if is_whole and values.is_rare(text[start:end].rstrip(";")) else WORD


def _in_same_word(text: str, start: int, end: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `-p…`, `--password=…`, `--password="…`."""
    flag, holds, _ = row
    start += len(flag)
    start += text[start] == "="
    if text[start : start + 1] in ("'", '"'):
        close = text.find(text[start], start + 1, start + _LONGEST_WORD)
        yield from _if_secret(text, start + 1, close if close >= 0 else end, holds, flag)
    else:
        yield from _if_secret(text, start, end, holds, flag)


def _is_oracle(text: str, words: list[tuple[int, int]], number: int) -> bool:
    """Whether this is a statement with an unquoted password, not a sentence: `IDENTIFIED BY Abc123;`."""
    password = text[slice(*words[number + 1])].rstrip(";")
    if text[slice(*words[number])] == "BY" and is_given(password, plain=True):
        return True
    before = text[max(0, words[number][0] - _LONGEST_WORD) : words[number][0]].lower().split()
    return before[-4:-3] in (["create"], ["alter"]) and before[-3] in ("user", "role")


def _nearby(text: str, words: list[tuple[int, int]], number: int) -> Iterator[tuple[int, int]]:
    """Yield the secret in `net use z: \\\\host\\share … /user:bob …` and `net user bob … /add`."""
    for neighbor in (number - 1, number + 1):
        if 2 < neighbor < len(words):
            start, end = words[neighbor]
            if text[start - 1] != "\\" and text[start] not in "/*" and not text[start:end].endswith(":"):
                yield from _if_secret(text, start, end, WORD, "/")


def _last_word(text: str, words: list[tuple[int, int]], number: int) -> tuple[int, int]:
    """Return the span of the command's last word, before a pipe or the like."""
    last = words[number]
    for start, end in words[number + 1 :]:
        if text[start : start + 1] in _ENDS:
            break
        last = (start, end)
        if _ends_command(text, end):
            break
    return last if last != words[number] else (0, 0)


def _ends_command(text: str, end: int) -> bool:
    """Whether a command ends after this word: `htpasswd -b f bob …; ls`."""
    return text[end - 1 : end] == ";" or text[end : end + 2] in ("';", '";')


def _if_secret(text: str, start: int, end: int, holds: str, flag: str) -> Iterator[tuple[int, int]]:
    """Yield the span of the secret in an argument, if it looks like one."""
    parts = {SAID: of_printer, PAIR: of_pair, USER: of_user, URL: of_address}
    core = text[start:end].rstrip("\"'`)\\;,")
    if holds == PAIR and (key := key_without_password(core)):
        yield start, start + len(key)
        return
    first, last = parts[holds](core) if holds in parts else (0, len(core))
    first += len(core[first:last]) - len(core[first:last].lstrip("\"'"))  # NAME="…"
    secret = core[first:last]
    plain = flag.strip("/-").isalpha() and flag[:1] not in "-/"
    if holds == ODD and _ODD_SIGNS.isdisjoint(secret):
        return
    plain = (plain and holds not in (SURE, URL, PAIR, USER)) or holds == ODD
    if 3 <= len(secret) <= _LONGEST_WORD and is_given(secret, plain=plain):
        yield start + first, start + last


# -- in a word

_ORACLE_USERS = ("system", "sys", "scott", "hr")
_NOWHERE = (0, 0)


def of_printer(word: str) -> tuple[int, int]:
    """Return the span of the secret in `echo …`."""
    printer, blank, printed = word.partition(" ")
    return (len(word) - len(printed), len(word)) if blank and printer in ("echo", "printf") else _NOWHERE


def of_pair(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user:…`, `user%…`, `user,…`, `name=…`."""
    sign = next((sign for sign in ":%,=" if sign in word), "")
    return (word.index(sign) + 1, len(word)) if sign else _NOWHERE


def of_user(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user/…@db`."""
    user, slash, password = word.partition("@")[0].partition("/")
    is_user = slash and user.isidentifier() and is_given(password or "x", plain=user.lower() not in _ORACLE_USERS)
    return (len(user) + 1, len(user) + 1 + len(password)) if is_user else _NOWHERE


def of_address(word: str) -> tuple[int, int]:
    """Return the span of the secret in `user/…@host`. The password may contain `@`."""
    user, slash, password_and_host = word.partition("/")
    at = password_and_host.rfind("@")
    return (len(user) + 1, len(user) + 1 + at) if slash and user and at >= 0 else _NOWHERE


def key_without_password(word: str) -> str:
    """Return a key given in place of the user: `curl -u KEY:`, `curl -u KEY:x`; "" if there is none."""
    user = word[: max(of_pair(word)[0] - 1, 0)]
    return user if user and len(word) - len(user) <= 3 and _is_key(user) else ""


def _is_key(user: str) -> bool:
    """Whether the user of a pair looks like a key."""
    return len(user) >= 10 and "@" not in user and values.is_unlike_words(user) and values.is_varied(user)


def is_given(word: str, *, plain: bool) -> bool:
    """Whether a word may be the secret. plain: its flag is a plain word ("login"), so it must not read like prose."""
    return values.is_unlike_words(word) if plain else not values.is_placeholder(word)
