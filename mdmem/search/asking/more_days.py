"""More days: the words by which Turkish and Russian name days, folded as `prose.fold` folds them.

They are apart from those of `day_words`: expressions with them are compiled for texts that have one of them.
"""

from __future__ import annotations

from mdmem.named_tuple import NamedTuple
from mdmem.search.asking.orders import word_set


def _numbered(words: str, start: int = 1) -> dict[str, int]:
    return {word: number for number, spelled in enumerate(words.split(), start) for word in spelled.split("/")}


class DayWords(NamedTuple):
    """How a language names days.

    months: as in `9 ekim`. in_month: what names a month without a day, with a group `month`. weekdays: from 0, Monday.
    days_ago: as in `dün`. units: word -> `day`, `week`, `month` or `year`. counts: word -> number. ago: after a count
    and a unit. single: units that mean one before `ago`, as in `неделю назад`. last, this: before a unit. at: before a
    weekday. other: before a weekday, these name no day in the past. names: words of which a text has one if it names
    days. common: those of `names` that mean something else as often; a weekday needs one of `last`, `this` or `at`.
    """

    months: dict[str, int]
    in_month: str
    weekdays: dict[str, int]
    days_ago: dict[str, int]
    units: dict[str, str]
    counts: dict[str, int]
    ago: str
    single: frozenset[str]
    last: frozenset[str]
    this: frozenset[str]
    at: frozenset[str]
    other: frozenset[str]
    common: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Return the words of which a text has one if it names days."""
        return frozenset([*self.months, *self.weekdays, *self.days_ago, *self.units])


TURKISH = DayWords(
    months=_numbered(
        "ocak/ocakta subat/subatta mart/martta nisan/nisanda mayis/mayista haziran/haziranda temmuz/temmuzda "
        "agustos/agustosta eylul/eylulde ekim/ekimde kasim/kasimda aralik/aralikta"
    ),
    in_month=r"(?P<month>{months})(?:(?<=[td][ae])| ayi?nda)",
    weekdays=_numbered("pazartesi sali carsamba persembe cuma cumartesi pazar", start=0),
    days_ago={"bugun": 0, "dun": 1},
    units={"gun": "day", "gunu": "day", "hafta": "week", "ay": "month", "yil": "year"},
    counts=_numbered("bir iki uc dort bes alti yedi sekiz dokuz on"),
    ago="once",
    single=frozenset(),
    last=word_set("gecen"),
    this=word_set("bu"),
    at=frozenset(),
    other=word_set("her gelecek onumuzdeki haftaya"),
    common=word_set("ocak mart nisan ekim kasim aralik pazar dun gun gunu hafta ay yil"),
)
RUSSIAN = DayWords(
    months=_numbered(
        "января/январе февраля/феврале марта/марте апреля/апреле мая/мае июня/июне июля/июле августа/августе "
        "сентября/сентябре октября/октябре ноября/ноябре декабря/декабре"
    ),
    in_month="(?:в|с|за) (?P<month>{months})",
    weekdays=_numbered("понедельник вторник среда/среду четверг пятница/пятницу суббота/субботу воскресенье", start=0),
    days_ago={"сегодня": 0, "вчера": 1, "позавчера": 2},
    units={
        **dict.fromkeys(word_set("день дня днеи"), "day"),
        **dict.fromkeys(word_set("неделю недели недель неделе"), "week"),
        **dict.fromkeys(word_set("месяц месяца месяцев месяце"), "month"),
        **dict.fromkeys(word_set("год года году лет"), "year"),
    },
    counts=_numbered("один/одну два/две три четыре пять шесть семь восемь девять десять"),
    ago="назад",
    single=word_set("день неделю месяц год"),
    last=word_set("прошлую прошлои прошлом прошлыи"),
    this=word_set("эту этои этот этом"),
    at=word_set("в во"),
    other=word_set("каждыи каждую каждое следующии следующую следующее"),
    common=word_set("среда среду дня днеи день недели неделе месяца года лет"),
)
ALL = (TURKISH, RUSSIAN)
