"""Day words: the words by which people name days, weeks and months, folded as `prose.fold` folds them."""

from __future__ import annotations

from mdmem.search.asking.orders import word_set
from mdmem.search.asking.prose import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def _words(numbers: Iterable[str], start: int = 1) -> dict[str, int]:
    return {word: number for number, spellings in enumerate(numbers, start) for word in spellings.split()}


def jamo(text: str) -> str:
    """Return a text whose Korean syllables are split into letters, as `fold` splits them."""
    return "".join(fold(letter) if "가" <= letter <= "힣" else letter for letter in text)


MONTHS = _words(
    [
        "january jan januar janvier enero gennaio janeiro januari stycznia styczniu",
        "february feb februar fevrier febrero febbraio fevereiro februari lutego lutym",
        "march mar marz mars marzo marco maart marca marcu",
        "april apr avril abril aprile kwietnia kwietniu",
        "may mai mayo maggio maio mei maja maju",
        "june jun juni juin junio giugno junho czerwca czerwcu",
        "july jul juli juillet julio luglio julho lipca lipcu",
        "august aug aout agosto augustus sierpnia sierpniu",
        "september sep sept septembre septiembre settembre setembro wrzesnia wrzesniu",
        "october oct oktober okt octobre octubre ottobre outubro pazdziernika pazdzierniku",
        "november nov novembre noviembre novembro listopada listopadzie",
        "december dec dezember dez decembre diciembre dicembre dezembro grudnia grudniu",
    ]
)  # fmt: skip
WEEKDAYS = _words(
    [
        "monday montag lundi lunes lunedi maandag poniedzialek",
        "tuesday dienstag mardi martes martedi dinsdag wtorek",
        "wednesday mittwoch mercredi miercoles mercoledi woensdag sroda srode",
        "thursday donnerstag jeudi jueves giovedi donderdag czwartek",
        "friday freitag vendredi viernes venerdi vrijdag piatek",
        "saturday samstag sonnabend samedi sabado sabato zaterdag sobota sobote",
        "sunday sonntag dimanche domingo domenica zondag niedziela niedziele",
    ],
    start=0,
) | _words(["月 一", "火 二", "水 三", "木 四", "金 五", "土 六", "日 天"], start=0)  # fmt: skip
FEIRAS = _words(["segunda", "terca", "quarta", "quinta", "sexta"], start=0)
"""Portuguese weekdays, which are ordinal numbers too: understood before `-feira` or `passada` only."""
OF_KOREAN = _words(jamo("월 화 수 목 금 토 일").split(), start=0)
COUNTS = _words(
    [
        "a an one ein eine einem einer un une una uno um uma een 一",
        "two couple zwei deux dos due dois duas twee 二 两 両",
        "three drei trois tres tre drie 三", "four vier quatre cuatro quattro quatro 四",
        "five funf cinq cinco cinque vijf 五", "six sechs seis sei zes 六",
        "seven sieben sept siete sette sete zeven 七",
        "eight acht huit ocho otto oito 八",
        "nine neun neuf nueve nove negen 九", "ten zehn dix diez dieci dez tien 十",
    ]
)  # fmt: skip
ORDER = _words(
    ["first erste ersten premiere primera", "second zweite zweiten deuxieme segunda", "third dritte dritten"]
)
DAYS_AGO = {
    **dict.fromkeys(word_set("today heute aujourdhui hoy oggi hoje vandaag dzis dzisiaj 今日 今天"), 0),
    **dict.fromkeys(word_set("yesterday gestern hier ayer ieri ontem gisteren wczoraj 昨日 昨天"), 1),
    **dict.fromkeys(
        word_set("vorgestern avant-hier anteayer antier laltroieri anteontem eergisteren przedwczoraj 一昨日 前天"), 2
    ),
    **dict(zip(jamo("오늘 어제 그저께 그제").split(), (0, 1, 2, 2), strict=True)),
}
WEEKDAY_NAMES = frozenset(filter(str.isascii, WEEKDAYS))
NAMES_OF_PEOPLE = frozenset(["marco", "marca", "maja", "mei"])
"""Months that are understood beside a day only: also names, and a brand."""
ABBREVIATED = _words(["mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun"], start=0)
"""Understood after `on` or `last` only."""
PARTS_OF_DAY = {
    **dict.fromkeys(word_set("last"), 1),
    **dict.fromkeys(word_set("this ce cet cette esta este heute"), 0),
}
UNITS = {
    **dict.fromkeys(word_set("day days tag tage tagen jour jours dia dias giorno giorni dag dagen dni 天 日"), "day"),
    **dict.fromkeys(
        word_set(
            "week weeks woche wochen semaine semaines semana semanas settimana settimane weken tygodniu tygodnia "
            "tygodnie 周 週 週間 星期 礼拜 禮拜"
        ),
        "week",
    ),
    **dict.fromkeys(
        word_set(
            "month months monat monate monaten mois mes meses mese mesi maand maanden miesiacu miesiaca miesiace "
            "月 个月 ヶ月 か月"
        ),
        "month",
    ),
    **dict.fromkeys(word_set("year years jahr jahre jahren an ans annee ano anos anno anni jaar roku 年"), "year"),
    **dict(zip(jamo("일 주 달 개월").split(), ("day", "week", "month", "month"), strict=True)),
}
LAST = word_set(
    "last past previous letzte letzten letzter letztes vorige vorigen voriger vergangene vergangenen vergangener "
    "scorso scorsa afgelopen zeszly zeszla zeszlym zeszlego"
)
LAST_BEHIND = word_set("dernier derniere passe passee pasado pasada anterior passado passada scorso scorsa")
"""Behind the day or week: `el viernes pasado`."""
THIS = word_set("this diese dieser dieses diesen cette ce este esta questo questa deze dit tym")
PARTS = {
    **dict.fromkeys(word_set("beginning start early anfang debut principios begin inizio"), 0.0),
    **dict.fromkeys(word_set("middle mid mitte mediados midden"), 0.3),
    **dict.fromkeys(word_set("end late ende fin finales fine eind"), 0.6),
}
"""Words for a part of a week, month or year -> the share of it before that part."""
