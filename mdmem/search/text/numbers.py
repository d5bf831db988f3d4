"""Numbers: the decimal numbers, versions and times of day in a text, which mean one thing and are several words.

Each is a tuple of its groups: `0.46` is ("0", "46"), `v2.4.0-rc1` is ("2", "4", "0", "rc1"), and `02:00`, `2 am` and
`2 Uhr` are ("2:", "00"). `2:00`, which may be in either half of the day, is ("2?:", "00"). `20000` is ("20", "000"), as
people also write it `20,000`, `20.000`, `20 000`, `20'000` or `20_000`.
"""

from __future__ import annotations

from mdmem.lazy_pattern import lazy
from mdmem.search.text import analysis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Number = tuple[str, ...]

_STAGE = r"(?i:[-.]?(?:rc|alpha|beta|pre|dev)[-.]?[0-9]*|[ab][0-9]+)?"
_DIGITS = rf"[0-9]+(?:[.,][0-9]+)+{_STAGE}(?![.,]?\w)"
_ASKED = lazy(rf"(?<![\w.,])[vV]?({_DIGITS})")
_IN_NOTE = lazy(rf"(?<![0-9])(?<![0-9][.,])({_DIGITS})")
_WHOLE = lazy(r"(?<![\w.,:/+-])[1-9][0-9]{3,8}(?![\w:/-])(?![.,]\w)")
_SPACED = lazy(r"(?<![\w.,:/+-])(?<![0-9] )[1-9][0-9]{0,2}(?:[ \u00a0\u202f'’_][0-9]{3})+(?![\w:/-])(?![.,]\w)")
_PIECE = lazy(r"[0-9]+|[^0-9.,].*")
_TIME = lazy(
    r"(?i)(?P<hour>[0-9]{1,2})"
    r"(?::(?P<minute>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:]))?"
    r"(?:(?P<told> ?[ap]m\b| ?[ap]\.m\.| uhr\b| ?h(?= ?[0-5][0-9]\b)"
    r"|時(?!間)|点(?![建意要需原不注区區满満]))(?: ?(?P<behind>[0-5][0-9])\b)?)?"
)
_HOUR_ONLY = ("am", "pm", "uhr", "時", "点")
"""Words of which a note has one that tells a full hour without its minutes."""


def of_question(text: str, *, foreign: bool = False) -> list[tuple[Number, str]]:
    """Return the numbers of a question, each as typed. foreign: its language may be one in which `am` is `on the`."""
    if not any(map(str.isdigit, text)):
        return []
    split = [*((_groups(match[1]), match[0]) for match in _ASKED.finditer(text)), *_times(text, foreign=foreign)]
    spaced = [(_in_thousands(match[0]), match[0]) for match in _SPACED.finditer(text)]
    return [*split, *spaced, *((_in_thousands(match[0]), match[0]) for match in _WHOLE.finditer(text))]


def in_note(text: str, asked: Collection[Number]) -> set[Number]:
    """Return which of the numbers asked for are in a note: `2.1.4` is also a `2.1`."""
    if any(map(joined, asked)):
        text = _SPACED.sub(lambda match: ",".join(_in_thousands(match[0])), text)
    times = {number for number in asked if number[0].endswith(":")}
    sizes = {len(number) for number in asked if number not in times}
    split = map(_groups, _IN_NOTE.findall(text)) if sizes else ()
    found = {one[:size] for one in split for size in ([len(one)] if joined(one) else sizes)}  # not 20,000 in 20,000,000
    told = (one for time, _ in _times(text) for one in _same_times(time)) if times else ()
    return found.union(told).intersection(asked)


def terms(number: Number) -> list[frozenset[str]]:
    """Return, for each group that the index has, the terms of which a note with the number has at least one."""
    first, *others = number
    if not first.endswith(":"):
        return [frozenset([group]) for group in number if group.isdigit()]
    minute = others[0]
    hours = {spelled for hour in _hours(number) for spelled in (str(hour), f"{hour:02}", str(hour % 12 or 12))}
    return [frozenset(hours), frozenset([minute, *(_HOUR_ONLY if minute == "00" else ())])]


def joined(number: Number) -> str:
    """Return a number without the marks between its thousands: `20000`; "" if it is none of four to nine digits."""
    first, *others = number
    is_whole = first[:1] != "0" and first.isdigit() and len(first) <= _GROUP and 0 < len(others) <= _MOST_GROUPS
    return "".join(number) if is_whole and all(len(one) == _GROUP and one.isdigit() for one in others) else ""


_GROUP, _MOST_GROUPS = 3, 2
"""Digits of a group, and groups after the first: `192.168.100.200` is an address."""


def may_be_several(number: Number, typed: str) -> bool:
    """Whether a whole number, as typed, may also be a list of numbers: `502 503 504`."""
    return " " in typed and bool(joined(number))


def _in_thousands(number: str) -> Number:
    digits = "".join(filter(str.isdigit, number))
    first = len(digits) % _GROUP or _GROUP
    return digits[:first], *(digits[at : at + _GROUP] for at in range(first, len(digits), _GROUP))


def _hours(time: Number) -> list[int]:
    """Return the hours of the day that a time may mean."""
    hour = int(time[0].rstrip("?:"))
    return [hour % 12, hour % 12 + 12] if time[0].endswith("?:") else [hour]


def _same_times(time: Number) -> Iterator[Number]:
    """Yield a time, and for one that may be in either half of the day both, or the reverse."""
    for hour in _hours(time):
        yield f"{hour}:", time[1]
        yield f"{hour % 12 or 12}?:", time[1]


def spelling(number: Number, typed: str) -> frozenset[str]:
    """Return the terms of a question that only spell a number."""
    return frozenset([*analysis.terms(typed), joined(number)]).union(*terms(number))


def spelled(text: str, *, foreign: bool) -> str:
    """Return a question with other spellings of its times: `at 2 am` also asks for `02:00`, and the reverse.

    A whole number also asks for its groups, which are words where its thousands are marked, and the reverse. foreign:
    as in `of_question`.
    """
    added: list[str] = []  # after a comma: `20 000, 000` is not `20 000 000`
    for number, typed in of_question(text, foreign=foreign):
        if number[0].endswith(":"):
            added += (f"{hour % 12 or 12} {hour:02} {number[1]}" for hour in _hours(number))
        elif whole := joined(number):
            added += [*number, *([whole] if typed != whole else ())]
    return ", ".join([text, *added])


def _groups(number: str) -> Number:
    return tuple(group.replace("-", "").replace(".", "") for group in _PIECE.findall(number.lower()))


def _times(text: str, *, foreign: bool = False) -> Iterator[tuple[Number, str]]:
    for match in _TIME.finditer(text):
        start, end = match.span()
        before, told = text[max(start - 2, 0) : start], (match["told"] or "").strip().lower()
        minute = match["minute"] or (told and match["behind"])
        if not (told or minute) or _is_joined(before):
            continue
        if foreign and match["told"] == " am" and _is_on_the(text, start, end):
            continue
        half = before if before in _HALVES else ""
        hour = int(match["hour"])
        if hour <= 12 and (half or told[:1] in ("a", "p")):
            hour = hour % 12 + (12 if told[:1] == "p" or half in _HALVES[2:] else 0)
        is_bare = not told and match[0].count(":") == 1 and not _SPAN.match(text, end)
        is_either = is_bare and 0 < hour <= 12 and match["hour"][0] != "0"  # `02:30` is of a day of 24 hours
        if hour < 24:
            yield (f"{hour}{'?' * is_either}:", minute or "00"), half + match[0]


def _is_joined(before: str) -> bool:
    """Whether a number is a part of something else, by the two signs before it."""
    return before != "" and (before[-1] in _JOINING or (before[-1].isalnum() and before.isascii()))


def _is_on_the(text: str, start: int, end: int) -> bool:
    """Whether a number's ` am` is German: `Server 3 am Montag`, but not `a las 3 am`."""
    at = text[max(start - 10, 0) : start].split()[-1:]
    return text[end : end + 2].strip().isalnum() and not _AT.issuperset(word.lower() for word in at)


_AT = frozenset(["a", "à", "às", "as", "las", "om", "o"])
_SPAN = lazy(r"(?i) ?(?:min|mn|se[ck]|s\b|m\b|hours?\b|hrs?\b|std|stunden|heures|horas|ore\b|uur|ratio|分|秒)")
"""Behind `5:30`, these make it a duration or a ratio, which is in no half of the day."""

_JOINING = "_.,:/-"
"""Before a number, these make it a part of something else."""
_HALVES = ("午前", "上午", "午後", "下午")
