"""Days in the words of a search are read as those in a prompt."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.search import days, engine
from mdmem.search.asking import periods
from tests.helpers.injected import new_session
from tests.helpers.talk import Talk

NOW = datetime(2026, 9, 18, 12, tzinfo=UTC)
"""A Friday."""


@pytest.fixture
def shop(vault: Path, tmp_path: Path) -> Config:
    """Return a vault with work on Monday, Wednesday and Thursday."""
    first = Talk(vault, tmp_path / "shop")
    for number, (asked, answer) in {
        0: ("The ledger test fails", "The ledger test compared different currencies."),
        2: ("The ledger test is slow", "The ledger test loads its fixtures once now."),
        3: ("Errors of the mailer", "The mailer has errors on monday mornings only."),
    }.items():
        work = new_session(first, number)
        work.says(asked)
        work.edits("ledger.py")
        work.answers(answer)
    return config.load(str(vault))


def found(shop: Config, words: str) -> tuple[set[str], tuple[str, ...]]:
    """Return the days of what a search finds, and its hints."""
    result = engine.search(shop, words, engine.SearchOptions(now=NOW, limit=50))
    return {hit.created[:10] for hit in result.hits}, result.hints


@pytest.mark.parametrize(
    ("words", "days", "quoted"),
    [
        ("what did we do about the ledger last monday?", {"2026-09-14"}, '"monday"'),
        ("what did we decide last wednesday", {"2026-09-16"}, '"wednesday"'),
        ("this ledger and its errors this week", {"2026-09-14", "2026-09-16", "2026-09-17"}, '"this week"'),
        ("errors from Yesterday", {"2026-09-17"}, '"Yesterday"'),
        ("yesterday", {"2026-09-17"}, '"yesterday"'),
        ("ledger since wednesday", {"2026-09-16", "2026-09-17"}, '"wednesday"'),
        ("ledger on 2026-09-14", {"2026-09-14"}, ""),
        ("was haben wir am 16. September am ledger gemacht?", {"2026-09-16"}, '"16 September"'),
        ("昨日のmailer", {"2026-09-17"}, ""),
    ],
)
def test_only_the_days_that_are_named_are_searched_and_a_hint_names_the_words(
    shop: Config, words: str, days: set[str], quoted: str
) -> None:
    hits, hints = found(shop, words)

    assert hits == days
    (hint,) = (hint for hint in hints if hint.startswith("Only notes "))
    assert quoted in hint


@pytest.mark.parametrize(
    "words",
    [
        "mailer monday mornings",
        '"monday" ledger',
        "ledger 2026-09-16",
        "ledger since:2026-09-16 yesterday",
        "ledger test",
        "the 16th ledger test",
        "the 14 factor ledger",
        "ledger date.today()",
        "ledger of monday.com",
    ],
)
def test_a_name_that_nothing_points_at_is_a_word(shop: Config, words: str) -> None:
    hits, hints = found(shop, words)

    assert hits
    assert not any(hint.startswith("Only notes ") for hint in hints)


def test_all_days_are_searched_where_nothing_of_the_day_matches(shop: Config) -> None:
    hits, hints = found(shop, "what was wrong with the ledger last tuesday?")

    assert "2026-09-14" in hits
    assert "Nothing on 2026-09-15 matches: all days were searched." in hints


@pytest.mark.parametrize("name", ["the today button", "our yesterday tab", "der Heute-Knopf", "einem Gestern-Reiter"])
def test_a_name_that_begins_like_a_day_names_none(name: str) -> None:
    assert periods.period_in(f"what did we do about {name}?", NOW.date()) is None


@pytest.mark.parametrize(
    ("asked", "topic", "remaining"),
    [
        ("what did we do about the sun shader on sunday?", "sun shader", "sun shader"),
        ("Ekim'de shader için ne yaptık?", "Ekim shader", "shader"),
        ("ekimde shader için ne yaptık?", "Ekim shader", "shader"),
    ],
)
def test_a_topic_loses_the_names_of_days_and_no_word_that_begins_like_one(
    asked: str, topic: str, remaining: str
) -> None:
    period = periods.period_in(asked, NOW.date())

    assert period is not None
    assert days.without(topic, period) == remaining


@pytest.mark.parametrize(
    ("text", "language", "last"),
    [
        ("what was the limit before July?", "en", "2026-06-30"),
        ("what was the limit before July 3?", "en", "2026-07-02"),
        ("what was the limit before last week?", "en", "2026-09-06"),
        ("what was the limit before the end of July?", "en", "2026-07-18"),
        ("what was the limit before May?", "en", "2026-04-30"),
        ("before the switch to pg, what was the limit before May?", "en", "2026-04-30"),
        ("what was the limit until 2026-08-01?", "en", "2026-07-31"),
        ("was war das Limit vor dem 3. August?", "de", "2026-08-02"),
        ("cuál era el límite antes de agosto?", "es", "2026-07-31"),
        ("quelle était la limite avant juillet ?", "fr", "2026-06-30"),
    ],
)
def test_a_text_names_the_time_before_a_day(text: str, language: str, last: str) -> None:
    period = days.period_of(text, NOW.date(), language)

    assert period is not None
    assert (period.first, str(period.last)) == (days.FIRST_DAY, last)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did we do the week before last?", "en"),
        ("what did we do the day before yesterday?", "en"),
        ("did we see this before in March?", "en"),
        ("was haben wir vor drei Wochen gemacht?", "de"),
        ("what did we change in vor last week?", "en"),
    ],
)
def test_a_period_that_only_follows_a_word_for_before_is_that_period(text: str, language: str) -> None:
    assert days.period_of(text, NOW.date(), language) == periods.period_in(text, NOW.date(), language)


def test_a_search_for_the_time_before_a_day_finds_only_that(shop: Config) -> None:
    found_days, hints = found(shop, "how did the ledger test behave before Wednesday?")

    assert found_days == {"2026-09-14"}
    assert any(hint.startswith("Only notes before 2026-09-16 were searched.") for hint in hints)


def test_what_was_so_on_a_day_may_have_been_said_before(shop: Config) -> None:
    found_days, hints = found(shop, "which fixtures did the ledger test have on thursday?")

    assert "2026-09-16" in found_days
    assert any(hint.startswith("Only notes before 2026-09-18 were searched.") for hint in hints)


@pytest.mark.parametrize(
    ("text", "of_days"),
    [
        ("what retention did the stream have in May?", "before 2026-06-01"),
        ("which kubernetes version did we run in May?", "before 2026-06-01"),
        ("which log library was used in May?", "before 2026-06-01"),
        ("which fixtures were used in May?", "from 2026-05-01 to 2026-05-31"),
        ("how fast was the brake loop in May?", "before 2026-06-01"),
        ("how long did we keep the samples in May?", "before 2026-06-01"),
        ("what errors have we had yesterday?", "on 2026-09-17"),
        ("which tests did we run in May?", "from 2026-05-01 to 2026-05-31"),
        ("what did we have to fix in May?", "from 2026-05-01 to 2026-05-31"),
        ("what ran out of memory in May?", "from 2026-05-01 to 2026-05-31"),
        ("who ran the audit in May?", "from 2026-05-01 to 2026-05-31"),
        ("how many timeouts did the gateway have in May?", "from 2026-05-01 to 2026-05-31"),
    ],
)
def test_only_a_question_for_what_held_goes_back_before_the_days_that_it_names(text: str, of_days: str) -> None:
    dated = days.in_search(text, NOW)

    assert dated is not None
    assert dated.days == of_days


def test_a_question_since_a_day_does_not_go_back_before_it() -> None:
    dated = days.in_search("what retention does the stream have since July?", NOW)

    assert dated is not None
    assert dated.days.startswith("from 2026-07-01")


@pytest.mark.parametrize(
    "text", ["number of mar files", "run in dec mode", "files of sep type", "a read before may fail"]
)
def test_a_search_for_what_may_be_a_short_month_is_not_limited_to_it(text: str) -> None:
    assert days.in_search(text, NOW) is None


@pytest.mark.parametrize("text", ["retention before May", "retention before may and why", "retention before May 2026"])
def test_a_search_for_what_was_before_may_is_limited_to_it(text: str) -> None:
    dated = days.in_search(text, NOW)

    assert dated is not None
    assert dated.days == "before 2026-05-01"
