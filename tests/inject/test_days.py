"""A question that names days and a subject: the answers of those days come before others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk


@pytest.fixture
def later(vault: Path, tmp_path: Path) -> Talk:
    """Return a session on Friday, after two about the same subject, on Monday and Wednesday."""
    first = Talk(vault, tmp_path / "shop")  # Monday, 2026-09-14
    first.says("The ledger test fails")
    first.edits("ledger.py")
    first.answers("The ledger test compared amounts with different currencies.")
    second = new_session(first, 2)
    second.says("The ledger test is slow")
    second.edits("fixtures.py")
    second.answers("The ledger test loads its fixtures once now.")
    return new_session(first, 4)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("what did we do about the ledger test on monday?", "different currencies"),
        ("what did we do about the ledger test on wednesday?", "fixtures once"),
        ("was haben wir am 14. September am ledger test gemacht?", "different currencies"),
        ("14 Eylül'de ledger test için ne yaptık", "different currencies"),
        ("что мы делали с ledger test в среду?", "fixtures once"),
        ("ledger test decision, 2026-09-14", "different currencies"),
        ("which ledger test was slow on 16/09/2026?", "fixtures once"),
        ("Sep 14: why did the ledger test fail?", "different currencies"),
        ("what came out of the ledger on 16 September 2026?", "fixtures once"),
    ],
)
def test_only_what_was_done_on_the_day_is_given(later: Talk, prompt: str, answer: str) -> None:
    (given,) = entries(ask(later, prompt))

    assert answer in given


def test_what_was_done_on_another_day_is_given_where_nothing_of_the_day_fits(later: Talk) -> None:
    assert "fixtures once" in ask(later, "what did we do about the fixtures on monday?")
    assert "fixtures once" in ask(new_session(later, 1), "what did we do about the ledger test last week?")


@pytest.mark.parametrize(
    "prompt",
    [
        "what did we do in shop on monday?",
        "in shop, what did we do on monday?",
        "what changed in the shop repo on monday?",
    ],
)
def test_the_name_of_the_project_is_no_subject_beside_a_day(later: Talk, prompt: str) -> None:
    painted = new_session(later, 1)
    painted.says("Paint the shop")
    painted.edits("shop.css")
    painted.answers("The shop is blue.")

    given = ask(new_session(later, 2), prompt)

    assert "The ledger test fails" in given
    assert "fixtures once" not in given
    assert "blue" not in given


@pytest.mark.parametrize("name", ["bücher", "Bücher", "ビル", "магазин"])
def test_the_name_of_the_project_may_have_any_letters(vault: Path, tmp_path: Path, name: str) -> None:
    talk = Talk(vault, tmp_path / name.lower())
    talk.says("The ledger test fails")
    talk.edits("ledger.py")
    talk.answers("The ledger test compared amounts with different currencies.")
    painted = new_session(talk, 3)
    painted.says(f"Paint the {name}")
    painted.edits("shop.css")
    painted.answers(f"The {name} is blue.")

    given = ask(new_session(talk, 4), f"what did we do in {name} on monday?")

    assert "The ledger test fails" in given
    assert "blue" not in given


def test_the_words_that_name_the_day_are_not_looked_for(later: Talk) -> None:
    assert "different currencies" in ask(later, "what was it with the ledger currencies on monday?")


def test_what_changed_since_a_day_is_no_search_for_the_word_changed(later: Talk) -> None:
    work = new_session(later, 5)
    work.says("Round the amounts")
    work.edits("tariffs/rounding.py")
    work.answers("Amounts are rounded to cents.")

    assert "rounded to cents" in ask(new_session(later, 6), "what changed in tariffs since friday?")


@pytest.mark.parametrize("day", ["on 2026-09-14", "on September 14"])
def test_the_day_tells_which_of_the_sessions_with_a_common_word_is_meant(later: Talk, day: str) -> None:
    for number, end in enumerate(("The ledger is sorted.", "The ledger has colors.", "The ledger is printed."), 10):
        other = new_session(later, number)
        other.says("Go on")
        other.edits("ledger.py")
        other.answers(end)

    (given,) = entries(ask(new_session(later, 5), f"what was wrong with the ledger {day}?"))

    assert "different currencies" in given


def test_a_date_that_may_be_two_days_is_no_period(later: Talk) -> None:
    (given,) = entries(ask(later, "why was the ledger test slow on 09/10/2026?"))

    assert "fixtures once" in given


@pytest.mark.parametrize(
    "prompt",
    [
        "qué hicimos el lunes pasado",
        "qué hicimos el pasado lunes",
        "qu'est-ce qu'on a fait lundi dernier",
        "was haben wir Montag Morgen gemacht",
    ],
)
def test_a_weekday_may_stand_beside_words_for_last_or_a_part_of_the_day(later: Talk, prompt: str) -> None:
    text = ask(later, prompt)

    assert "## Sessions on 2026-09-14" in text
    assert "different currencies" in text
    assert "fixtures once" not in text


@pytest.mark.parametrize(
    "prompt",
    [
        "cosa abbiamo fatto lunedì scorso?", "a cosa abbiamo lavorato lunedì?", "o que fizemos na segunda-feira?",
        "no que trabalhamos no dia 14 de setembro?", "wat hebben we afgelopen maandag gedaan?",
        "co zrobiliśmy w poniedziałek?", "nad czym pracowaliśmy w poniedziałek?", "월요일에 뭐 했지?",
        "wat heb ik afgelopen maandag gedaan?", "co zrobiłem w poniedziałek?", "o que eu fiz na segunda passada?",
        "cosa ho fatto lunedì scorso?", "qu'est-ce que j'ai fait lundi dernier ?",
        "14 Eylül'de ne yaptık", "geçen pazartesi ne yaptık?", "wat deden we op 14 september?",
        "что мы делали 14 сентября?", "что было в понедельник?",
        "9월 14일에 무슨 작업을 했지?", "qu'a-t-on fait lundi ?", "qu'avons-nous fait lundi ?",
    ],
)  # fmt: skip
def test_the_sessions_of_a_day_are_given_in_each_language(later: Talk, prompt: str) -> None:
    (given,) = entries(ask(later, prompt))

    assert "different currencies" in given


@pytest.mark.parametrize("name", ["com", "vor", "mach", "EU"])
def test_a_name_that_is_a_word_of_another_language_is_asked_for(later: Talk, name: str) -> None:
    work = new_session(later, 2)
    work.says(f"Serve the {name} pages")
    work.edits("pages.py")
    work.answers(f"The pages of {name} are served now.")

    (given,) = entries(ask(new_session(later, 5), f"what did we change in {name} last week?"))

    assert f"pages of {name}" in given


def test_what_was_decided_in_a_session_is_told_in_a_language_of_few_letters_too(vault: Path, tmp_path: Path) -> None:
    camera = Talk(vault, tmp_path / "home")
    camera.says("摄像头要不要用云存储？")
    camera.answers("不用云存储。录像保存在本地 NAS 上，用 Frigate，保留 7 天，只保留有人的片段。")
    camera.says("重启一下")
    camera.answers("已重启。")

    assert "Frigate" in ask(new_session(camera, 2), "前天我们做了什么？")
