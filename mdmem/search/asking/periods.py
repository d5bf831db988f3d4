"""Periods: finds the days that a question names in words, as in `what did we do last Tuesday?`."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import chain

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search.asking import more_days
from mdmem.search.asking.day_words import (
    ABBREVIATED,
    COUNTS,
    DAYS_AGO,
    FEIRAS,
    LAST,
    LAST_BEHIND,
    MONTHS,
    NAMES_OF_PEOPLE,
    OF_KOREAN,
    ORDER,
    PARTS,
    PARTS_OF_DAY,
    THIS,
    UNITS,
    WEEKDAY_NAMES,
    WEEKDAYS,
    jamo,
)
from mdmem.search.asking.orders import word_set
from mdmem.search.asking.prose import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable


class Period(NamedTuple):
    """Days, both included, and the words that name them, folded."""

    first: date
    last: date
    words: frozenset[str]


def period_in(text: str, today: date, language: str = "") -> Period | None:
    """Return the period that a text names, None for none: a day, a week from Monday on, a month, a year.

    A month or day without a year is the latest one that is not in the future, a weekday the latest one before today,
    or that of a week that the text names beside it. Understood are the languages of `day_words` and `more_days`, and
    the commonest words in Japanese, Chinese and Korean. A text that names more than one period has none.

    language: the text's, if known; the German "hier" (here) is not the French one (yesterday).
    """
    folded = " ".join(fold(word) for word in text.replace("’", "'").split()).replace("mid-", "mid ")
    words = folded.translate(_NO_WORD).split()
    more = next((names for names in more_days.ALL if not names.names.isdisjoint(words)), None)
    is_named = not folded.isascii() or not _NAMES.isdisjoint(words) or any(name in folded for name in _IN_SHORT)
    if more is None and not is_named and not _has_digit(folded):
        return None  # before any expression is compiled
    sure_names = _SURE_NAMES if more is None else _SURE_NAMES | (more.names - more.common)
    named = [match.span() for match in _WORD.finditer(folded) if match[0] in sure_names]
    if not folded.isascii():
        named = sorted([*named, *(match.span() for match in _UNSPACED_DAY.finditer(folded))])
    if more is not None and language in _MORE_LANGUAGES:
        is_named = False
    of_all = _PATTERNS if is_named or not MONTHS.keys().isdisjoint(words) else _IN_DIGITS
    for pattern, days in (*(_rows_of(more) if more is not None else ()), *of_all):
        for match in pattern.finditer(folded):
            try:
                first, last = days(match, today)
            except (KeyError, ValueError, OverflowError, StopIteration):
                continue
            first, last, (start, end) = _part(folded, *_joined(folded, match.span(), first, last))
            if (language != "fr" and match[0] == "hier") or _names_more(folded, start, end, named):
                continue
            is_since = _SINCE.search(folded[max(0, start - 14) : end])
            last = today if is_since else min(last, today)
            if first <= last:
                return Period(first, last, frozenset(_WORD.findall(folded[start:end])))
    return None


def _joined(folded: str, span: tuple[int, int], first: date, last: date) -> tuple[date, date, tuple[int, int]]:
    """Return the day of a week that a text names beside it, or the week of a day, and where; else what was found.

    `tuesday of last week`, `letzte woche am dienstag`, `the week of november 9`.
    """
    start, end = span
    words_before = folded[max(0, start - _MOST_JOINED) : start]
    monday = first - timedelta(days=first.weekday())
    if first == last:
        if week := _WEEK_OF.search(words_before):
            return monday, monday + timedelta(days=6), (start - len(week[0]), end)
    elif (first, last) == (monday, monday + timedelta(days=6)):
        before, behind = _DAY_BEFORE.search(words_before), _DAY_BEHIND.match(folded, end)
        if day := before or behind:
            named = monday + timedelta(days=WEEKDAYS[next(filter(None, day.groups()))])
            return named, named, (start - len(day[0]), end) if before else (start, end + len(day[0]))
    return first, last, span


def _part(folded: str, first: date, last: date, span: tuple[int, int]) -> tuple[date, date, tuple[int, int]]:
    """Return the part of a week, month or year that a text names with it, and where; else what was found.

    `the beginning of november`, `Ende letzter Woche`. Parts overlap a little, as people do not count.
    """
    start, end = span
    before = folded[max(0, start - _MOST_JOINED) : start]
    found = _PART_BEFORE.search(before) or _PART_WITHIN.match(folded[start:end])
    if found is None or first == last or _NO_PART.match(rest := folded[start:end]) or _VERB.match(found[0] + rest):
        return first, last, span
    start = start - len(found[0]) if found.string is before else start
    days = (last - first).days
    share = PARTS[found["part"]]
    return first + timedelta(days=int(days * share)), first + timedelta(days=int(days * (share + 0.4))), (start, end)


def _names_more(folded: str, start: int, end: int, named: list[tuple[int, int]]) -> bool:
    """Whether a text names another day beside the one found: `from monday to friday`, `yesterday and today`.

    start, end: of the words for the one found, which may also be a part of a longer word. named: where the text has
    words that name a period, in order.
    """
    if named and (named[0][1] <= start or named[-1][0] >= end):
        return True
    before, after = folded[max(start - _MOST_LETTERS, 0) : start], folded[end : end + _MOST_LETTERS]
    return not _SURE_NAMES.isdisjoint(_LAST_WORD.findall(before) + _FIRST_WORD.findall(after))


def _of_unit(unit: str, today: date, back: int) -> tuple[date, date]:
    """Return the day, week, month or year of today, or the one so many before."""
    if unit == "day":
        day = today - timedelta(days=back)
        return day, day
    if unit == "week":
        monday = today - timedelta(days=today.weekday(), weeks=back)
        return monday, monday + timedelta(days=6)
    if unit == "year":
        return date(today.year - back, 1, 1), date(today.year - back, 12, 31)
    months = today.year * 12 + today.month - 1 - back
    return _month(months // 12, months % 12 + 1)


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _counted(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `two weeks ago`."""
    number = match["count"]
    return _of_unit(_UNITS[match["unit"]], today, int(number) if number.isdecimal() else _COUNTS[number])


def _relative(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `last week`, `la semaine derniere`, `先週`."""
    return _of_unit(_UNITS[match["unit"] or "week"], today, 0 if match["this"] else 1)


def _before_last(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `the week before last`, `vorletzte Woche`, `l'avant-dernière semaine`."""
    return _of_unit(UNITS[match["unit"]], today, 2)


def _named_day(match: re.Match[str], today: date) -> tuple[date, date]:
    return _of_unit("day", today, _DAYS_AGO[match[0]])


def _part_of_day(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `last night`, `this morning`, `ce matin`."""
    return _of_unit("day", today, PARTS_OF_DAY[match["which"]])


def _weekend(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `at the weekend`, `last weekend`: the latest one that has begun, or the one before it on its own days."""
    back = (today.weekday() - 5) % 7
    saturday = today - timedelta(days=back + (7 if match["last"] and back < 2 else 0))
    return saturday, saturday + timedelta(days=1)


def _until_today(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `the last 3 days`, `the past two weeks`."""
    number = match["count"]
    count = int(number) if number.isdecimal() else COUNTS[number]
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[UNITS[match["unit"]]]
    return today - timedelta(days=count * days), today


def _few_days(_match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `a few days ago`."""
    return today - timedelta(days=7), today - timedelta(days=2)


def _weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `on monday` and `this monday`; raise ValueError for `a monday` and `next monday`."""
    found = match.groupdict()
    if found.get("other") or found.get("coming"):
        raise ValueError
    back = today.weekday() - _WEEKDAYS[match["day"]]
    return _of_unit("day", today, back if found.get("this") else (back - 1) % 7 + 1)


def _weekday_before(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `the monday before last`, `vorletzten montag`."""
    return _of_unit("day", _weekday(match, today)[0], 7)


def _numbered_week(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `KW 46/2025`, and `KW 46`: the latest week of this number that has begun."""
    number = int(match["number"])
    years = [int(match["year"])] if match["year"] else range(today.isocalendar()[0], today.year - _MOST_YEARS, -1)
    weeks = (date.fromisocalendar(year, number, 1) for year in years if number <= date(year, 12, 28).isocalendar()[1])
    monday = next(week for week in weeks if week <= today)
    return monday, monday + timedelta(days=6)


def _rows_of(names: more_days.DayWords) -> tuple[_Row, ...]:
    """Return the expressions for the periods that the words of one language name."""
    months, unit = _either(names.months), f"(?P<unit>{_either(names.units)})"
    counted = rf"(?P<count>\d+|{_either(names.counts)}) {unit}"
    before = f"(?:(?P<this>{_either(names.this)}) |(?P<other>{_either(names.other)}) )?"
    named = "|".join(rf"(?<=\b{word} )" for word in sorted(names.last | names.this | names.at))
    common, sure = (_either(names.weekdays.keys() & names.common), _either(names.weekdays.keys() - names.common))
    weekday = rf"(?P<day>{sure}|{common}(?= gunu\b)|(?:{named}){common})"  # `среда` is also an environment
    single = ((rf"\b(?<!\d )(?P<unit>{_either(names.single)}) {names.ago}\b(?P<this>)", _relative),)
    return _rows(
        (rf"\b(?P<day>\d{{1,2}}) (?P<month>{months})\b{_YEAR}", _calendar_day),
        (rf"\b{names.in_month.format(months=months)}\b{_YEAR}", _calendar_month),
        (rf"\b{counted} {names.ago}\b", _counted),
        *(single if names.single else ()),
        (rf"\b(?:{_either(names.last)}|(?P<this>{_either(names.this)})) {unit}\b", _relative),
        (rf"\b{_either(names.days_ago)}\b".join(_NOT_NAMED), _named_day),
        (rf"\b{before}{weekday}\b", _weekday),
    )


_MORE_LANGUAGES = ("tr", "ru")
_MOST_YEARS = 13
"""Among so many years, one has a week 53."""


def _calendar_day(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `november 4`, `18. november`, `18.11.`, `11月18日`, `2026-11-18`."""
    month = int(match["month"]) if match["month"].isdecimal() else _MONTHS[match["month"]]
    year = match.groupdict().get("year")
    day = date(int(year) if year else today.year, month, int(match["day"]))
    if not year and day > today:
        day = day.replace(year=today.year - 1)
    return day, day


def _either_way(match: re.Match[str], _today: date) -> tuple[date, date]:
    """Read `25/08/2026` and `8/25/2026`; raise ValueError for `5/8/2026`, which may be either day."""
    first, second = int(match["day"]), int(match["month"])
    if max(first, second) <= 12 and first != second:
        raise ValueError
    day = date(int(match["year"]), min(first, second), max(first, second))
    return day, day


def _calendar_month(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `in october`, `the first week of november`, `10月`."""
    if match["month"] in NAMES_OF_PEOPLE:
        raise ValueError
    month = int(match["month"]) if match["month"].isdecimal() else _MONTHS[match["month"]]
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    first, last = _month(year, month)
    if week := match.groupdict().get("week"):
        first += timedelta(days=7 * (ORDER[week] - 1))
        last = first + timedelta(days=6)
    return first, last


def _day_of_month(match: re.Match[str], today: date) -> tuple[date, date]:
    """Read `on the 13th`."""
    number = int(match["day"])
    first = today if number <= today.day else _of_unit("month", today, 1)[0]
    day = first.replace(day=number)
    return day, day


def _either(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


_OF_DAY = word_set("night evening morning afternoon matin soir manana tarde noche abend vormittag mittag nachmittag")
_PART_OF_DAY = _either([*_OF_DAY, "morgen", "fruh"])
_DAY = _either(WEEKDAY_NAMES)
_DAY_BEFORE = lazy(rf"\b({_DAY})(?: {_either(_OF_DAY)})?,? (?:(?:of|from|in|de|der|von|la) ){{0,2}}$")
_WEEK_ZH = "(?:周|週|星期|礼拜|禮拜)"
_NO_COUNT = "(?![共直起些个個次份种種条條度件样樣番定般十百千]|(?<=日)[本志誌程常报報])"
"""Behind a number, these make it no weekday: `上周三次`, `周日志`."""
_OTHER = (
    "(?:an?|any|every|each|next|eine[mns]|jeden|nachsten|kommenden|una?|n?uma?|een|chaque|cada|tod[oa]|proxim[oa]|ogni"
    "|prossim[oa]|elke|iedere|volgende|kazd(?:y|a|ej)|jaki[sm]s?|nastepn(?:y|a))"
)
"""Before a weekday, these name no day in the past."""
_DAY_BEHIND = lazy(
    rf",? (?:(?:on|am|le|el) )?({_DAY})\b|の?([月火水木金土日])曜日?"
    rf"|(?<![先今]週)的?{_WEEK_ZH}?([一二三四五六日天]){_NO_COUNT}"
)
_UNSPACED_DAY = lazy(rf"[月火水木金土日]曜|{_WEEK_ZH}[一二三四五六日天]{_NO_COUNT}")
_WEEK_OF = lazy(r"\b(?:the )?(?:week (?:of|from)(?: the)?|woche vom|semaine du|semana del) $")
"""What joins a weekday and a week, or a week and its day."""
_SINCE = lazy(r"\b(?:since|seit|depuis|desde)\b")
_WORD, _LAST_WORD, _FIRST_WORD = lazy(r"\w+"), lazy(r"\w+$"), lazy(r"^\w+")
_MOST_JOINED = 40
_PART = f"(?P<part>{_either(PARTS)})"
_NO_PART = lazy(r"(?:in|im|during|for|since|seit|depuis|desde|en|em|nel)\b")
"""What a period begins with if the word before it is none for its part: `what did we start in november?`."""
_VERB = lazy(r"(?:start|begin|end) (?:last|this|the|past)\b")
"""A verb before a period: `what did we start last week?`, not `begin vorige week`."""
_PART_WITHIN = lazy(rf"{_PART}\b")
_PART_BEFORE = lazy(rf"\b{_PART}(?: (?:of|de|du|van|di))?(?: (?:the|la|der|dieser))? $")
_MONTH = f"(?P<month>{_either(MONTHS)})"
_UNIT = rf"(?P<unit>{_either(unit for unit in UNITS if unit.isascii())})\b"
_SINGULAR_UNIT = (
    r"(?P<unit>day|week|month|year|tag|woche|monat|jahr|jour|semaine|mois|annee|dia|semana|mes|ano|giorno|settimana|mese"
    r"|anno|maand|jaar|tygodniu|tygodnia|miesiacu|miesiaca|roku)\b"
)
_UNIT_CJK = f"(?P<unit>{_either(unit for unit in UNITS if unit >= '一')})"
_KOREAN_UNIT = f"(?P<unit>{_either(jamo('일 주 달 개월').split())})"
_ENDS_KOREAN = jamo("(?=에|엔|의|부터|까지|동안|말|초|중|쯤|이나|[^ᄀ-ᇿ]|$)")
"""Behind a Korean unit: a particle, or no other syllable, which would make it another word, as in `지난 주문`."""
_COUNT = rf"(?P<count>\d+|{_either(COUNTS)})"
_IN_MONTH = (
    "(?:in|im|en|of|during|for|since|seit|depuis|desde|early|mid|late|anfang|mitte|ende|em|nel|begin|eind|w|debut|fin"
    "|(?:principios|mediados|finales) de)"
)
_YEAR = r"(?:,? (?P<year>20\d\d)\b)?"

_NO_NOUN = (
    r"(?! (?!(?:about|after|and|at|before|by|did|do|does|for|from|how|i|in|of|on|or|that|to|was|we|were|what|when|where"
    r"|which|who|why|with|you)\b)\w)"
)
"""Behind `the 3rd`: `the 3rd attempt` and `the 12 factor app` are not days."""
_NOT_NAMED = r"(?<!\bthe )(?<!\ba )(?<!\bour )", r"(?!-\w)"
"""Around a word for a day: `the today button` and `der Heute-Knopf` are named so, and no day."""
_BEFORE_DAY = rf"(?:(?:on the(?= \d)|the(?= \d{{1,2}}[snrt]))(?= \w+\b{_NO_NOUN})|am|le|el|el dia|(?:no )?dia)"
_COMING = "(?P<coming> prochain| proximo| prossim[oa]| que viene| que vem)?"
_WEEKDAY = (
    rf"\b(?:(?P<this>{_either(THIS)}) |(?P<other>{_OTHER}) )?(?P<day>{_DAY})(?: {_either(LAST_BEHIND)})?"
    rf"{_COMING}(?: (?:por la )?{_PART_OF_DAY})?\b"
)
_NO_UNIT = "(?!(?:last|past|previous|this) (?!day|week|month|year))"
"""`the last tag` is no German day, and `the last Roku build` of no Polish year."""
_Row = tuple["re.Pattern[str]", "Callable[[re.Match[str], date], tuple[date, date]]"]


def _rows(*rows: tuple[str, Callable[[re.Match[str], date], tuple[date, date]]]) -> tuple[_Row, ...]:
    """Return the rows with their expressions, each compiled when it is first used."""
    return tuple((lazy(pattern), days) for pattern, days in rows)


_DIGITS = (
    (r"\b(?P<year>20\d\d)[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})\b", _calendar_day),
    (r"(?<![\w/])(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>20\d\d)\b", _either_way),
    (r"(?<![\w.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?P<year>20\d\d)?(?![\w])", _calendar_day),
    (r"(?<!\d )\b(?:kw|kalenderwoche) ?(?P<number>\d{1,2})\b(?: ?[/ ] ?(?P<year>20\d\d)\b)?", _numbered_week),
    (rf"\b{_BEFORE_DAY} (?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?= |$|\?|!|,)", _day_of_month),
)
_IN_DIGITS = _rows(*_DIGITS)
"""Expressions for periods that no word names."""
_PATTERNS = _rows(
    *_DIGITS[:-1],
    (r"(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]", _calendar_day),
    (rf"\b(?:l|dell|all)?(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of |de )?{_MONTH}\b{_YEAR}", _calendar_day),
    (rf"\b{_MONTH} (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d){_YEAR}", _calendar_day),
    (
        rf"\b(?P<week>{_either(ORDER)}) (?:week|woche|semaine|semana) (?:of|in|im|des|de|du) {_MONTH}\b{_YEAR}",
        _calendar_month,
    ),
    (rf"\b{_IN_MONTH} {_MONTH}\b{_YEAR}", _calendar_month),
    (r"(?P<year>)(?<!\d)(?P<month>\d{1,2})月", _calendar_month),
    (jamo(r"(?P<month>\d{1,2})월 ?(?P<day>\d{1,2})일"), _calendar_day),
    (jamo(rf"(?P<count>\d+){_KOREAN_UNIT} ?전") + _ENDS_KOREAN, _counted),
    (jamo(rf"(?:지난|(?P<this>이번)) ?(?!일){_KOREAN_UNIT}") + _ENDS_KOREAN, _relative),
    (jamo(rf"(?P<other>(?:매주|다음(?: ?주)?) ?)?(?P<day>{_either(OF_KOREAN)})요일"), _weekday),
    (r"\b(?:the )?day before yesterday\b", lambda _, today: _of_unit("day", today, 2)),
    (rf"\b{_COUNT} (?:of )?{_UNIT} (?:ago|back|fa|atras|geleden|temu)\b", _counted),
    (
        r"\b(?:few|several) days (?:ago|back)\b|\b(?:vor ein paar|vor einigen) tagen\b|\bil y a quelques jours\b",
        _few_days,
    ),
    (r"\bhace (?:unos|algunos) dias\b", _few_days),
    (rf"\b(?:last|past|letzten|vergangenen|ultim[oa]s) {_COUNT} {_UNIT}", _until_today),
    (rf"\b{_COUNT} (?:derniers?|dernieres?) {_UNIT}", _until_today),
    (r"\b(?P<which>last) (?:night|evening)\b", _part_of_day),
    (
        rf"\b(?P<which>{_either(PARTS_OF_DAY)}) (?:morning|afternoon|evening|matin|soir|manana|tarde|morgen|fruh)\b",
        _part_of_day,
    ),
    (rf"\b(?P<last>{_either(LAST)} )?(?:weekend|week-end|wochenende|fi[nm] de semana|fine settimana)\b", _weekend),
    (rf"\b(?:vor|il y a|hace|before|ha) {_COUNT} {_UNIT}", _counted),
    (rf"{_COUNT}个?{_UNIT_CJK}前", _counted),
    (_either(word for word in DAYS_AGO if word >= "一"), _named_day),
    (jamo(rf"(?<![ᄀ-ᇿ]){_either(word for word in DAYS_AGO if 'ᄀ' <= word < '一')}(?!날|야|서)"), _named_day),
    (rf"\b{_SINGULAR_UNIT} (?:before last|antepasad[oa])\b", _before_last),
    (rf"\b(?:vorletzte[nrs]?|l?avant-derniere?) {_SINGULAR_UNIT}", _before_last),
    (rf"\b(?P<day>{_DAY})s? before last\b", _weekday_before),
    (rf"\b(?:vorletzte[nrs]?|l?avant-dernier) (?P<day>{_DAY})\b", _weekday_before),
    (rf"\b{_NO_UNIT}(?:{_either(LAST)}|(?P<this>{_either(THIS)})) (?:{_SINGULAR_UNIT}|weeks(?= {_DAY}\b))", _relative),
    (rf"\b{_SINGULAR_UNIT} {_either(LAST_BEHIND)}\b(?P<this>)", _relative),
    (rf"(?<![上先])(?:[上先][个個]?|(?P<this>[本今这這][个個]?))(?![日天]){_UNIT_CJK}", _relative),
    (rf"\b{_either(word for word in DAYS_AGO if word.isascii())}\b".join(_NOT_NAMED), _named_day),
    (_WEEKDAY, _weekday),
    (
        rf"\b(?:(?P<other>{_OTHER}) )?(?P<day>{_either(FEIRAS)})(?:-feira\b| passada\b(?! d[ao]s?\b)){{1,2}}{_COMING}",
        _weekday,
    ),
    (r"(?:(?P<this>今週の?)|(?P<other>(?:[毎来隔]週|次)の?))?(?P<day>[月火水木金土日])曜日?", _weekday),
    (
        rf"(?<![每隔上下])(?P<this>[本今这這])?[个個]?(?<![每隔上下][个個]){_WEEK_ZH}(?P<day>[一二三四五六日天]){_NO_COUNT}",
        _weekday,
    ),
    (rf"\b(?:on|last|since) (?P<day>{_either(ABBREVIATED)})\b", _weekday),
    _DIGITS[-1],
)
"""Expressions for folded text, the most exact first, each with the function that reads it."""

_WEEKDAYS = {**WEEKDAYS, **ABBREVIATED, **FEIRAS, **OF_KOREAN}
_MONTHS, _UNITS, _COUNTS, _DAYS_AGO = dict(MONTHS), dict(UNITS), dict(COUNTS), dict(DAYS_AGO)
for _more in more_days.ALL:
    _MONTHS |= _more.months
    _WEEKDAYS |= _more.weekdays
    _UNITS |= _more.units
    _COUNTS |= _more.counts
    _DAYS_AGO |= _more.days_ago
"""The words of all languages."""

EVERY_WORD = frozenset(chain(_MONTHS, WEEKDAYS, ORDER, _DAYS_AGO, _UNITS, LAST, LAST_BEHIND, THIS, _OF_DAY))
"""Words that may name a period."""
_NAMES = (
    frozenset([*MONTHS, *WEEKDAY_NAMES, *WEEKDAYS, *DAYS_AGO, *UNITS, *ABBREVIATED, *_OF_DAY])
    | {"weekend", "week-end", "wochenende", "kw", "kalenderwoche", "passada", *(f"{day}-feira" for day in FEIRAS)}
) - {"an", "may", "mar", "sep", "dec", *NAMES_OF_PEOPLE}
"""Words of which a period in Latin letters has one, unless it has a digit or one of these."""
_IN_SHORT = ("in may", "of may", *(f"since {month}" for month in ("may", "mar", "sep", "dec")))
_SURE_NAMES = (
    _NAMES - _OF_DAY - {"hier", "mes", "sun", "sat", "mon", "dag", "dagen", "dni", "tien", "anno", "dia", "passada"}
)
"""Words of which a period has one at most."""
_MOST_LETTERS = max(map(len, _SURE_NAMES)) + 1
_NO_WORD = str.maketrans(dict.fromkeys(".,;:!?()[]\"'/", " "))


def _has_digit(text: str) -> bool:
    return any(digit in text for digit in "0123456789")
