"""Periods: the days that a question names in words, in the languages that mdmem understands."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.asking import periods

TODAY = date(2026, 11, 27)
"""A Friday."""


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we do last tuesday?", "2026-11-24", "2026-11-24"),
        ("what did we do on friday?", "2026-11-20", "2026-11-20"),
        ("what did I do yesterday", "2026-11-26", "2026-11-26"),
        ("what did we change on November 4th?", "2026-11-04", "2026-11-04"),
        ("what was done on 4 December?", "2025-12-04", "2025-12-04"),
        ("what was done on May 3, 2024?", "2024-05-03", "2024-05-03"),
        ("what happened on 2026-11-05?", "2026-11-05", "2026-11-05"),
        ("what was I doing on the 13th?", "2026-11-13", "2026-11-13"),
        ("what was I doing on the 30th?", "2026-10-30", "2026-10-30"),
        ("what did we do two weeks ago?", "2026-11-09", "2026-11-15"),
        ("what did we do a couple of months ago?", "2026-09-01", "2026-09-30"),
        ("what did we do in May?", "2026-05-01", "2026-05-31"),
        ("what has changed since sep?", "2026-09-01", "2026-11-27"),
        ("what did we do the day before yesterday?", "2026-11-25", "2026-11-25"),
        ("what happened last night?", "2026-11-26", "2026-11-26"),
        ("what did we do yesterday morning?", "2026-11-26", "2026-11-26"),
        ("what was done this morning", "2026-11-27", "2026-11-27"),
        ("what did we do last weekend?", "2026-11-21", "2026-11-22"),
        ("what did i do 2 days back", "2026-11-25", "2026-11-25"),
        ("what did we do on thurs", "2026-11-26", "2026-11-26"),
        ("what did we do in the last 3 days?", "2026-11-24", "2026-11-27"),
        ("what did we do over the past two weeks", "2026-11-13", "2026-11-27"),
        ("what did we do a few days ago?", "2026-11-20", "2026-11-25"),
        ("what was done in late october", "2026-10-19", "2026-10-31"),
        ("what did we do at the beginning of november?", "2026-11-01", "2026-11-12"),
        ("what did we do in mid-november?", "2026-11-09", "2026-11-21"),
        ("what happened at the end of last week?", "2026-11-19", "2026-11-22"),
        ("what did we change since the beginning of november", "2026-11-01", "2026-11-27"),
        ("was haben wir Anfang November gemacht?", "2026-11-01", "2026-11-12"),
        ("was haben wir Ende letzter Woche gemacht?", "2026-11-19", "2026-11-22"),
        ("qu'est-ce qu'on a fait début novembre ?", "2026-11-01", "2026-11-12"),
        ("¿qué hicimos a finales de octubre?", "2026-10-19", "2026-10-31"),
        ("what did we start in november?", "2026-11-01", "2026-11-27"),
        ("what did we start last week?", "2026-11-16", "2026-11-22"),
        ("what did we begin last month?", "2026-10-01", "2026-10-31"),
        ("did the build end last week?", "2026-11-16", "2026-11-22"),
        ("what did we do end of last week?", "2026-11-19", "2026-11-22"),
        ("wat deden we begin vorige week?", "2026-11-16", "2026-11-18"),
        ("was haben wir am Wochenende gemacht?", "2026-11-21", "2026-11-22"),
        ("was haben wir heute Morgen gemacht?", "2026-11-27", "2026-11-27"),
        ("was haben wir in den letzten zwei Tagen gemacht?", "2026-11-25", "2026-11-27"),
        ("was haben wir vor ein paar Tagen gemacht?", "2026-11-20", "2026-11-25"),
        ("qu'est-ce qu'on a fait ce matin ?", "2026-11-27", "2026-11-27"),
        ("qu'est-ce qu'on a fait les deux derniers jours ?", "2026-11-25", "2026-11-27"),
        ("¿qué hicimos el fin de semana?", "2026-11-21", "2026-11-22"),
        ("what happened last week?", "2026-11-16", "2026-11-22"),
        ("what happened this week?", "2026-11-23", "2026-11-27"),
        ("what got done in the first week of november?", "2026-11-01", "2026-11-07"),
        ("what did we work on in december?", "2025-12-01", "2025-12-31"),
        ("show me what changed since monday", "2026-11-23", "2026-11-27"),
        ("was haben wir am 18. November gemacht?", "2026-11-18", "2026-11-18"),
        ("was war am 18.11. los?", "2026-11-18", "2026-11-18"),
        ("what did we do on 18/11/2026?", "2026-11-18", "2026-11-18"),
        ("what did we do on 11/18/2026?", "2026-11-18", "2026-11-18"),
        ("Nov 18: what did we do", "2026-11-18", "2026-11-18"),
        ("was haben wir vorgestern gemacht?", "2026-11-25", "2026-11-25"),
        ("was haben wir vor drei Tagen gemacht?", "2026-11-24", "2026-11-24"),
        ("woran haben wir letzte Woche gearbeitet?", "2026-11-16", "2026-11-22"),
        ("was haben wir seit März gemacht?", "2026-03-01", "2026-11-27"),
        ("qu'est-ce qu'on a fait la semaine dernière ?", "2026-11-16", "2026-11-22"),
        ("qu'avons-nous fait il y a deux semaines ?", "2026-11-09", "2026-11-15"),
        ("qu’a-t-on fait aujourd’hui ?", "2026-11-27", "2026-11-27"),
        ("¿qué hicimos ayer?", "2026-11-26", "2026-11-26"),
        ("¿qué hicimos hace tres días?", "2026-11-24", "2026-11-24"),
        ("¿qué hicimos el mes pasado?", "2026-10-01", "2026-10-31"),
        ("what did we do the week before last?", "2026-11-09", "2026-11-15"),
        ("was haben wir vorletzte Woche gemacht?", "2026-11-09", "2026-11-15"),
        ("qu'a-t-on fait l'avant-dernière semaine ?", "2026-11-09", "2026-11-15"),
        ("wie haben wir den Fehler gelöst, der gestern auftrat?", "2026-11-26", "2026-11-26"),
        ("was war mit dem Cache, den gestern jemand gemeldet hat?", "2026-11-26", "2026-11-26"),
        ("¿qué hicimos el viernes pasado?", "2026-11-20", "2026-11-20"),
        ("¿qué hice el lunes por la tarde?", "2026-11-23", "2026-11-23"),
        ("qu'est-ce qu'on a fait vendredi dernier ?", "2026-11-20", "2026-11-20"),
        ("what did we do on the monday before last?", "2026-11-16", "2026-11-16"),
        ("what did we do on tuesday of last week?", "2026-11-17", "2026-11-17"),
        ("what did we do last week on tuesday?", "2026-11-17", "2026-11-17"),
        ("what was last week's monday spent on?", "2026-11-16", "2026-11-16"),
        ("what did we do on friday two weeks ago?", "2026-11-13", "2026-11-13"),
        ("what did we do in the week of november 4?", "2026-11-02", "2026-11-08"),
        ("was haben wir am vorletzten Dienstag gemacht?", "2026-11-17", "2026-11-17"),
        ("was haben wir am Dienstag vergangener Woche gemacht?", "2026-11-17", "2026-11-17"),
        ("was haben wir letzte Woche am Dienstag gemacht?", "2026-11-17", "2026-11-17"),
        ("was haben wir in KW 46 gemacht?", "2026-11-09", "2026-11-15"),
        ("was haben wir in KW 50 gemacht?", "2025-12-08", "2025-12-14"),
        ("qu'avons-nous fait mardi de la semaine dernière ?", "2026-11-17", "2026-11-17"),
        ("¿qué hicimos el martes de la semana pasada?", "2026-11-17", "2026-11-17"),
        ("月曜日に何をした？", "2026-11-23", "2026-11-23"),
        ("先週の火曜日は何をした？", "2026-11-17", "2026-11-17"),
        ("上周二我们做了什么", "2026-11-17", "2026-11-17"),
        ("上周一共做了什么", "2026-11-16", "2026-11-22"),
        ("周二我们做了什么", "2026-11-24", "2026-11-24"),
        ("周日我們做了什麼", "2026-11-22", "2026-11-22"),
        ("上禮拜三我們做了什麼", "2026-11-18", "2026-11-18"),
        ("这周三做了什么", "2026-11-25", "2026-11-25"),
        ("上周三次失败的原因是什么", "2026-11-16", "2026-11-22"),
        ("上周日志为什么丢了", "2026-11-16", "2026-11-22"),
        ("先週日本語対応で何をした？", "2026-11-16", "2026-11-22"),
        ("先週一番遅かったテストは？", "2026-11-16", "2026-11-22"),
        ("what did we do this friday?", "2026-11-27", "2026-11-27"),
        ("was haben wir diesen Montag gemacht?", "2026-11-23", "2026-11-23"),
        ("was haben wir in KW46 gemacht?", "2026-11-09", "2026-11-15"),
        ("was haben wir in KW 46/2025 gemacht?", "2025-11-10", "2025-11-16"),
        ("was haben wir in KW 53 gemacht?", "2020-12-28", "2021-01-03"),
        ("昨日は何をした？", "2026-11-26", "2026-11-26"),
        ("一昨日は何をした？", "2026-11-25", "2026-11-25"),
        ("先週何をした？", "2026-11-16", "2026-11-22"),
        ("11月18日に何をした？", "2026-11-18", "2026-11-18"),
        ("三天前我们做了什么", "2026-11-24", "2026-11-24"),
        ("cosa abbiamo fatto l'11 novembre?", "2026-11-11", "2026-11-11"),
        ("cosa abbiamo fatto mercoledì scorso?", "2026-11-25", "2026-11-25"),
        ("cosa abbiamo fatto la settimana scorsa?", "2026-11-16", "2026-11-22"),
        ("cosa abbiamo fatto tre giorni fa?", "2026-11-24", "2026-11-24"),
        ("a cosa abbiamo lavorato l'altroieri?", "2026-11-25", "2026-11-25"),
        ("cosa abbiamo fatto in marzo?", "2026-03-01", "2026-03-31"),
        ("o que fizemos no dia 28 de outubro?", "2026-10-28", "2026-10-28"),
        ("o que fizemos no dia 13?", "2026-11-13", "2026-11-13"),
        ("o que fizemos na terça passada?", "2026-11-24", "2026-11-24"),
        ("o que fizemos na segunda-feira?", "2026-11-23", "2026-11-23"),
        ("o que fizemos na semana passada?", "2026-11-16", "2026-11-22"),
        ("o que fizemos há três dias?", "2026-11-24", "2026-11-24"),
        ("o que fizemos 2 semanas atrás?", "2026-11-09", "2026-11-15"),
        ("o que fizemos em setembro?", "2026-09-01", "2026-09-30"),
        ("wat hebben we afgelopen dinsdag gedaan?", "2026-11-24", "2026-11-24"),
        ("wat hebben we op 5 maart gedaan?", "2026-03-05", "2026-03-05"),
        ("wat hebben we vorige week gedaan?", "2026-11-16", "2026-11-22"),
        ("wat hebben we drie dagen geleden gedaan?", "2026-11-24", "2026-11-24"),
        ("co zrobiliśmy w zeszłym tygodniu?", "2026-11-16", "2026-11-22"),
        ("co zrobiliśmy w środę?", "2026-11-25", "2026-11-25"),
        ("co zrobiliśmy 9 listopada?", "2026-11-09", "2026-11-09"),
        ("co zrobiliśmy 3 dni temu?", "2026-11-24", "2026-11-24"),
        ("co zrobiliśmy wczoraj?", "2026-11-26", "2026-11-26"),
        ("어제 뭐 했지?", "2026-11-26", "2026-11-26"),
        ("그저께 뭐 했지?", "2026-11-25", "2026-11-25"),
        ("지난주에 뭐 했지?", "2026-11-16", "2026-11-22"),
        ("지난달에 뭐 했지?", "2026-10-01", "2026-10-31"),
        ("11월 5일에 뭐 했지?", "2026-11-05", "2026-11-05"),
        ("3일 전에 뭐 했지?", "2026-11-24", "2026-11-24"),
        ("월요일에 뭐 했지?", "2026-11-23", "2026-11-23"),
        ("지난 주에 뭐 했지?", "2026-11-16", "2026-11-22"),
        ("2주 전에는 뭐 했지?", "2026-11-09", "2026-11-15"),
        ("co zrobiliśmy w zeszłym roku?", "2025-01-01", "2025-12-31"),
        ("上个月我们做了什么", "2026-10-01", "2026-10-31"),
        ("28 Ekim'de ne yaptık?", "2026-10-28", "2026-10-28"),
        ("5 Mart 2025 tarihinde ne yaptık?", "2025-03-05", "2025-03-05"),
        ("Ekim'de ne yaptık?", "2026-10-01", "2026-10-31"),
        ("Mart ayında ne yaptık?", "2026-03-01", "2026-03-31"),
        ("salı günü ne yaptık?", "2026-11-24", "2026-11-24"),
        ("geçen hafta ne yaptık?", "2026-11-16", "2026-11-22"),
        ("bu hafta ne yaptık?", "2026-11-23", "2026-11-27"),
        ("üç gün önce ne yaptık?", "2026-11-24", "2026-11-24"),
        ("pazar günü ne yaptık?", "2026-11-22", "2026-11-22"),
        ("geçen pazar ne yaptık?", "2026-11-22", "2026-11-22"),
        ("dün ne yaptık?", "2026-11-26", "2026-11-26"),
        ("что мы делали 15 октября?", "2026-10-15", "2026-10-15"),
        ("что мы делали 15 мая 2025?", "2025-05-15", "2025-05-15"),
        ("что мы делали в октябре?", "2026-10-01", "2026-10-31"),
        ("что мы делали в среду?", "2026-11-25", "2026-11-25"),
        ("в прошлую среду", "2026-11-25", "2026-11-25"),
        ("как мы настроили среду на прошлой неделе?", "2026-11-16", "2026-11-22"),
        ("что мы делали вчера?", "2026-11-26", "2026-11-26"),
        ("что мы делали на прошлой неделе?", "2026-11-16", "2026-11-22"),
        ("что мы делали в прошлом году?", "2025-01-01", "2025-12-31"),
        ("что мы сделали два дня назад?", "2026-11-25", "2026-11-25"),
        ("что мы сделали неделю назад?", "2026-11-16", "2026-11-22"),
        ("what did we do yesterday with the gun model?", "2026-11-26", "2026-11-26"),
    ],
)
def test_a_question_names_its_days(text: str, first: str, last: str) -> None:
    found = periods.period_in(text, TODAY)

    assert found is not None
    assert (str(found.first), str(found.last)) == (first, last)


@pytest.mark.parametrize(
    "text",
    ["may I ask what we did?", "the march of the ants", "what did we do about the parser?",
     "what did we change in 2.10.3?", "from monday to friday", "yesterday and today", "tuesday and last week",
     "the last days", "the sun and the sat nav", "a night mode", "handle the 3 days of trial",
     "was haben wir hier gemacht?", "先日の件", "上上周做了什么", "一周做了什么", "KW 60",
     "never release on a friday", "an einem Freitag", "auf einen Freitag", "op een vrijdag", "di una domenica",
     "numa sexta-feira",
     "what did we plan for this sunday?", "the job that runs every monday", "what is due next monday",
     "qu'est-ce qui est prévu lundi prochain", "毎週月曜日のバッチは何？", "来週の月曜日は何をする？",
     "下周一做什么", "每周一做了什么",
     "月曜から金曜まで何をした？", "周一到周五我们做了什么", "周日志报告为什么失败",
     "warum liefert sie mit 11 kW 3 Phasen",
     "chiedi a marco cosa è successo", "what did we do for Marco?", "remember what Mei said", "a segunda opção",
     "a quarta tela passada ao usuário", "ogni lunedì", "lunedì prossimo", "in che anno", "why did the dag fail",
     "매주 월요일에 뭐 해?", "다음 주에 뭐 하지?",
     "지난 주문 취소는 어떻게 고쳤지?", "이번 일은 왜 실패했지?", "지난 일정은 뭐였지?", "지난 달력은 왜 깨졌지?",
     "1일 전체 보고서는 어디 있지?", "3주 전략은 뭐였지?", "한국어제품 목록은 왜 비었지?", "그제야 된 이유가 뭐지?",
     "o que fazemos toda segunda-feira?", "o que faremos na próxima terça-feira?", "na sexta-feira que vem",
     "o que fizemos na segunda passada do otimizador?", "prossimo lunedì", "co robimy w każdą środę?",
     "what did we change in the last tag?", "why did the last roku build fail?", "what is in this roku channel?",
     "her pazartesi ne yapıyoruz?", "gelecek salı ne yapacağız?", "dünden bugüne", "Ekim ve Kasım arası",
     "каждый понедельник падает тест", "со вторника до пятницы", "вчера и сегодня", "the data mart of 2.10",
     "why did the player fire the gun once?", "почему мы поменяли среду выполнения?",
     "pazar sayfasını neden değiştirdik?",
     "каждую среду падает тест", "9999999999 дней назад",
     "what a mess", "version 2.11 is out", "add an index"],
)  # fmt: skip
def test_a_text_without_a_past_period_names_none(text: str) -> None:
    assert periods.period_in(text, TODAY) is None


@pytest.mark.parametrize(
    ("today", "first"),
    [(date(2026, 12, 31), "2026-12-28"), (date(2027, 1, 2), "2026-12-28"), (date(2027, 3, 1), "2026-12-28")],
)
def test_week_53_is_the_latest_there_was(today: date, first: str) -> None:
    found = periods.period_in("was haben wir in KW 53 gemacht?", today)

    assert found is not None
    assert str(found.first) == first


def test_week_1_may_begin_in_december() -> None:
    found = periods.period_in("was haben wir in KW 1 gemacht?", date(2024, 12, 31))

    assert found is not None
    assert (str(found.first), str(found.last)) == ("2024-12-30", "2024-12-31")


WORDS = [
    "last",
    "week",
    "31",
    "30th",
    "of",
    "february",
    "on",
    "the",
    "99",
    "ago",
    "vor",
    "il y a",
    "0",
    "月",
    "2月31日",
    "2026-02-30",
    ".",
]


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)), st.dates(date(1970, 1, 1), date(2200, 1, 1))
)
def test_a_period_never_ends_in_the_future(text: str, today: date) -> None:
    found = periods.period_in(text, today)

    assert found is None or found.first <= found.last <= today


def test_only_in_french_hier_is_yesterday() -> None:
    found = periods.period_in("qu'a-t-on fait hier ?", TODAY, "fr")
    assert found is not None
    assert str(found.first) == str(found.last) == "2026-11-26"
    assert periods.period_in("was haben wir hier gemacht?", TODAY, "de") is None


@pytest.mark.parametrize(("day", "last"), [(28, "2026-11-21"), (29, "2026-11-21"), (30, "2026-11-28")])
def test_on_a_weekend_the_last_one_is_the_one_before(day: int, last: str) -> None:
    found = periods.period_in("what did we do last weekend?", date(2026, 11, day))

    assert found is not None and str(found.first) == last


def test_a_long_text_with_many_dates_is_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    read, findall = [], re.findall

    def counted(pattern: str, text: str) -> list[str]:
        read.append(len(text))
        return findall(pattern, text)

    monkeypatch.setattr(re, "findall", counted)
    for line, is_one_day in (("2026-11-26 10:00:00 ERROR no such file\n", True), ("yesterday, ", False)):
        read.clear()
        text = "what did we do on monday?\n" + 500 * line

        assert (periods.period_in(text, TODAY) is not None) == is_one_day

        assert sum(read) < 3 * len(text)
