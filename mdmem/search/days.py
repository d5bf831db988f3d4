"""Days: what a text asks about besides the days that it names, or before them, for prompts and searches alike."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import groupby
from unicodedata import normalize

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search.asking import day_words, facts, periods, prose, shape
from mdmem.search.asking.english import LIKELY
from mdmem.search.asking.languages import LANGUAGES, is_unspaced
from mdmem.search.asking.periods import Period
from mdmem.search.asking.prose import fold
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import FOREIGN, STOPWORDS

FIRST_DAY = date(1970, 1, 2)
"""The first day of the time before a day."""


class DatedWords(NamedTuple):
    """The words of a search without those that name days, when the days begin and end, and how to tell them.

    words: "" if a question asks for nothing else. since, until: seconds since 1970; before `until`.
    typed: the words that name the days, as typed; "" for a date in digits, and in a text without spaces.
    """

    words: str
    since: float
    until: float
    days: str
    typed: str


def in_search(typed: str, now: datetime) -> DatedWords | None:
    """Return the days that the words of a search name, and the other words; None if they name none.

    A weekday or a date in digits may be a word of the notes: outside a question, it counts after `on`, `from` or the
    like. `date.today()` and `monday.com` name no day.
    """
    question = shape.of(typed)
    language = question.language if question else ""
    text = " ".join(word for word in typed.split() if not _OF_CODE.search(word))
    period = None if language == "error" else period_of(text, now.date(), language)
    if period is None:
        return None
    if (question is None or question.grade < LIKELY) and not _is_pointed_at(typed, period):
        return None
    topic = question.topic if question and question.grade >= LIKELY else typed
    words = without(topic, period) if has_topic(topic, language, period) else ""
    is_of_state = question is not None and facts.asks_what_held(prose.folds(prose.words(question.words)))
    if words and is_of_state and period.last < now.date():
        period = period._replace(first=FIRST_DAY)  # what was so in these days may have been said before
    zone = now.tzinfo
    begin, end = (
        datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
        for day in (period.first, period.last + timedelta(days=1))
    )
    runs = groupby(analysis.words(typed), lambda word: fold(word) in period.words)
    naming = max((list(run) for is_naming, run in runs if is_naming), key=len, default=[])
    is_named = not all(word.isdecimal() for word in naming)
    return DatedWords(words, begin, end, named(period), " ".join(naming) if is_named else "")


_OF_CODE = lazy(r"(?i)[a-z_](?:\.[a-z_]|\()")
_POINTING = frozenset(
    """on from of since last past this the at in until before during for vom von am seit im letzten letzte
    le du de depuis dernier derniere el del desde pasado""".split()
)


def _is_pointed_at(typed: str, period: Period) -> bool:
    """Whether a period has a word that is more than a name or number, or follows one that points at it."""
    is_bare = all(word.isdecimal() or word in day_words.WEEKDAY_NAMES for word in period.words)
    if not is_bare:
        return True
    folded = [fold(word) for word in analysis.words(typed)]
    return any(word in period.words and at > 0 and folded[at - 1] in _POINTING for at, word in enumerate(folded))


def period_of(text: str, today: date, language: str = "") -> Period | None:
    """Return the period that a text names, as `periods.period_in`, or all time before one: `before July`."""
    return _before(text, today, language) or periods.period_in(text, today, language)


def _before(text: str, today: date, language: str) -> Period | None:
    """Return the time until the day before those that a text names behind a word such as `before`, None for none.

    `vor drei Wochen` and `the week before last` are periods themselves.
    """
    if BEFORE.keys().isdisjoint(text.lower().split()):
        return None
    folded = " ".join(map(fold, text.split()))
    for found in _BEFORE_NEXT.finditer(folded):
        if language in ("", BEFORE[found["word"]]) and not _ends_in_unit(folded[: found.start()]):
            period = periods.period_in(f"in {folded[found.end() :]}", today, language)
            is_next = found["next"].isdecimal() or found["next"] in periods.EVERY_WORD | day_words.PARTS.keys()
            is_next = is_next and not (found["next"] == "may" and _MAY_DO.match(folded, found.end()))
            if period is not None and is_next and found["next"] in period.words and period.first > FIRST_DAY:
                return Period(FIRST_DAY, period.first - timedelta(days=1), period.words | {found["word"]})
    return None


def _ends_in_unit(folded: str) -> bool:
    return folded.rpartition(" ")[2] in day_words.UNITS


BEFORE = {
    "before": "en", "until": "en", "vor": "de", "bis": "de", "avant": "fr", "antes": "es", "prima": "it", "voor": "nl",
    "przed": "pl",
}  # fmt: skip
"""Words for `before` -> their language; each is also a name in others."""
_BEFORE_NEXT = lazy(
    rf"(?: |^)(?P<word>{'|'.join(sorted(BEFORE))})(?: (?:the|dem|den|der|le|la|el|o|de|del|di|do|da))*"
    r" (?=(?P<next>\w+))"
)


_MAY_DO = lazy(r"may (?!(?:and|or|did|do|does|was|were|we|i|what|which|how|who|when|why|where|of|in|on|for)\b)[a-z]")
"""A verb follows: `locks the table before may fail`."""


def named(period: Period) -> str:
    """Return the days of a period in words: `on 2026-09-14`."""
    if period.first == FIRST_DAY:
        return f"before {period.last + timedelta(days=1)}"
    return f"from {period.first} to {period.last}" if period.last > period.first else f"on {period.first}"


def seconds(period: Period) -> tuple[float, float]:
    """Return the first and last second of a period."""
    begin, end = (datetime(day.year, day.month, day.day) for day in (period.first, period.last + timedelta(days=1)))  # noqa: DTZ001 - days are the user's
    return begin.timestamp(), end.timestamp() - 1


def without(topic: str, period: Period) -> str:
    """Return a question's topic without the words for its days and for work."""
    words = period.words | _GENERAL
    others = (word for word in topic.split() if words.isdisjoint(analysis.words(fold(word))))
    return " ".join(word for word in others if period.words.isdisjoint(f"{fold(word)}{end}" for end in _IN_TURKISH))


_IN_TURKISH = ("ta", "te", "da", "de")
"""Endings of Turkish days, which a topic has not: `ekim` for `ekimde`."""


def has_topic(topic: str, language: str, period: Period) -> bool:
    """Whether a question's topic names more than the period."""
    topic = fold(topic)
    for word in sorted(period.words, key=len, reverse=True):
        topic = topic.replace(word, " ")
    if is_unspaced(language):
        topic = normalize("NFC", topic).replace("작업", "").replace("했", "")
        return sum(map(str.isalnum, topic)) > _MOST_UNSPACED
    grammar = LANGUAGES[language].of("other") | _FOREIGN_FORMS if language in LANGUAGES else ()
    general = STOPWORDS.union(FOREIGN, period.words, periods.EVERY_WORD, _GENERAL, grammar)
    return any(word not in general and not word.isdecimal() for word in map(fold, analysis.words(topic)))


_MOST_UNSPACED = 5
"""A Chinese, Japanese or Korean question that has no more letters besides the period asks for nothing else."""

_GENERAL = frozenset(
    [
        "achieved", "change", "changed", "changes", "did", "do", "does", "doing", "done", "finished", "get", "got",
        "happen", "happened", "made", "news", "work", "worked", "working", "gearbeitet", "geandert", "gemacht",
        "geschafft", "passiert", "war", "fait", "travaille", "passe", "hice", "hicimos", "hecho", "paso", "trabajamos",
        "fizemos", "feito", "trabalhamos", "fatto", "lavorato", "successo", "gedaan", "gewerkt", "gebeurd",
        "zrobilismy", "robilismy", "pracowalismy", "qua", "quavons", "taten", "machten", "faisait", "faisions",
        "haciamos", "faziamos", "facevamo", "deden", "deed", "yaptik", "calistik", "oldu", "делали", "сделали", "делал",
        "делала", "сделал", "сделала", "работали", "было", "произошло", "случилось",
    ]
)  # fmt: skip
"""Words about work of any kind."""
_FOREIGN_FORMS = frozenset(
    """quest jai sest sestil eu fiz aconteceu ho cose ik er zrobilem zrobilam robilem robilam stalo""".split()
)
"""The same in other languages than English, some of whose words are names in it: `the EU`, `a quest`."""
