"""The query language: what is an operator, what is only words, and what times mean."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import when
from mdmem.search import query
from mdmem.search.query import Filter, Query

NOW = datetime(2026, 9, 16, 15, 30, tzinfo=UTC)  # a Wednesday


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def parse(text: str) -> Query:
    return query.parse(text, NOW)


def test_words_phrases_and_operators_are_distinguished() -> None:
    asked = parse('date parser "leap year" +fixed -mobile begin* -"not this"')

    assert asked.words == "date parser"
    assert asked.phrases == ("leap year",)
    assert asked.must == ("fixed",)
    assert asked.must_not == ("mobile", "not this")
    assert asked.prefixes == ("begin",)
    assert asked.hints == ()
    assert asked.text == "date parser leap year fixed"


def test_filters_take_alternatives_and_may_be_turned_round() -> None:
    asked = parse("kind:prompt,Response -tool:Bash file:src/types.ts is:failed tag:a tag:b")

    assert asked.filters == (
        Filter("kind", ("prompt", "response")),
        Filter("tool", ("bash",), wanted=False),
        Filter("file", ("src/types.ts",)),
        Filter("is", ("failed",)),
        Filter("tag", ("a",)),
        Filter("tag", ("b",)),
    )
    assert asked.words == ""


def test_a_filter_may_have_its_value_in_quotes() -> None:
    assert parse('project:"my app" x').filters == (Filter("project", ("my app",)),)


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: x is undefined",
        "http://localhost:8080/a?b=c",
        "std::vector<int>",
        "--force -1 - +/- a+b",
        "C:\\Users\\me",
        "too:slow find:it event:x fil://x file.py:12 sesion:12 tol: ta:g",
        "why is 2*3 == 6?",
        "* **",
        "-",
        "",
        "   ",
    ],
)
def test_what_only_looks_like_an_operator_is_words_without_a_hint(text: str) -> None:
    asked = parse(text)

    assert asked.words.split() == text.split()
    assert asked == Query(words=asked.words, typed=text)


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("since:whenever x", "since:whenever x", "as a time. Try"),
        ("is:great x", "is:great x", "Known states: pinned, edited, failed, private, redacted"),
        ('say "hello', "say hello", "is not closed"),
        ("kind: prompt", "kind: prompt", "needs a value"),
        ("type:prompt", "type:prompt", "the filter is called `kind:`"),
        ("kidn:prompt", "kidn:prompt", "the filter is called `kind:`"),
        ("-Projct:app x", "-Projct:app x", "the filter is called `project:`"),
        ("snice:2w", "snice:2w", "the filter is called `since:`"),
        ('fiile:"a b"', "fiile: a b", "the filter is called `file:`"),
    ],
)
def test_what_cannot_be_read_is_searched_as_words_with_a_hint(text: str, words: str, hint: str) -> None:
    asked = parse(text)

    assert asked.words.split() == words.split()
    assert asked.filters == ()
    (said,) = asked.hints
    assert hint in said


def test_options_are_filters_too_and_a_bad_one_leaves_a_hint() -> None:
    asked = query.with_filters(
        parse("parser since:2026-09-01"), {"kind": "prompt", "tag": ["a", "b"], "until": "nonsense"}, NOW
    )

    assert asked.filters == (Filter("kind", ("prompt",)), Filter("tag", ("a",)), Filter("tag", ("b",)))
    assert asked.since == at("2026-09-01T00:00")
    assert "Can't read 'nonsense' as a time." in asked.hints[0]


def test_of_several_times_the_tightest_holds() -> None:
    asked = parse("since:2026-09-01 since:2026-09-10 until:2026-09-15 until:2026-09-12")

    assert (asked.since, asked.until) == (at("2026-09-10T00:00"), at("2026-09-13T00:00"))


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("on:yesterday", "2026-09-15T00:00", "2026-09-16T00:00"),
        ("on:today", "2026-09-16T00:00", "2026-09-17T00:00"),
        ("on:monday", "2026-09-14T00:00", "2026-09-15T00:00"),
        ("on:wednesday", "2026-09-16T00:00", "2026-09-17T00:00"),
        ("on:2026-09-14", "2026-09-14T00:00", "2026-09-15T00:00"),
        ("on:2026-12", "2026-12-01T00:00", "2027-01-01T00:00"),
        ("on:september", "2026-09-01T00:00", "2026-10-01T00:00"),
        ("on:dec", "2025-12-01T00:00", "2026-01-01T00:00"),
        ('on:"14 sep"', "2026-09-14T00:00", "2026-09-15T00:00"),
        ('on:"sept 17"', "2025-09-17T00:00", "2025-09-18T00:00"),
        ('on:"september 14, 2024"', "2024-09-14T00:00", "2024-09-15T00:00"),
        ("on:2d", "2026-09-14T00:00", "2026-09-15T00:00"),
        ("since:2w", "2026-09-02T15:30", None),
        ("since:36h", "2026-09-15T03:30", None),
        ("until:2026-09-01", None, "2026-09-02T00:00"),
        ("until:3d", None, "2026-09-13T15:30"),
        ("since:2026-09-14T08:30", "2026-09-14T08:30", None),
        ("since:2026-09-14T08:30:00Z", "2026-09-14T08:30", None),
    ],
)
def test_times_mean_what_people_mean(text: str, since: str | None, until: str | None) -> None:
    asked = parse(text)

    assert asked.hints == ()
    assert asked.since == (since and at(since))
    assert asked.until == (until and at(until))


@given(seconds=st.integers(0, 4_000_000_000))
def test_local_time_is_the_systems_and_tells_two_equal_hours_apart(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, when.LOCAL)
    assert moment.timestamp() == seconds
    assert moment.timetuple()[:6] == time.localtime(seconds)[:6]


def test_days_begin_at_midnight_of_the_asker_also_when_clocks_change() -> None:
    now = datetime(2026, 10, 25, 12, tzinfo=ZoneInfo("Europe/Berlin"))

    since, until = when.span("today", now) or (0, 0)

    assert (until - since) / 3600 == 25


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows reads the zone once")
def test_a_day_of_another_season_begins_at_midnight_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
    now = noon.astimezone(when.LOCAL)
    berlin = ZoneInfo("Europe/Berlin")

    for text, begin, end in (
        ("2026-07-01", datetime(2026, 7, 1, tzinfo=berlin), datetime(2026, 7, 2, tzinfo=berlin)),
        ("2026-10-25", datetime(2026, 10, 25, tzinfo=berlin), datetime(2026, 10, 26, tzinfo=berlin)),
        ("2026-07-01T08:00", datetime(2026, 7, 1, 8, tzinfo=berlin), datetime(2026, 7, 1, 8, tzinfo=berlin)),
        ("last year", datetime(2025, 1, 1, tzinfo=berlin), datetime(2026, 1, 1, tzinfo=berlin)),
        ("40d", noon - timedelta(days=40), noon - timedelta(days=40)),
    ):
        assert when.span(text, now) == (begin.timestamp(), end.timestamp())
    begin = datetime(2026, 7, 1, tzinfo=berlin)
    assert when.day_of(begin.timestamp() + 60, now) == (begin.timestamp(), (begin + timedelta(days=1)).timestamp())


@pytest.mark.parametrize("text", ["", "2026-13-01", "0000-00-00", "99999y", "tomorrowish", "2026-02-30", "12"])
def test_a_text_that_is_not_a_time_is_not_read_as_one(text: str) -> None:
    assert when.span(text, NOW) is None


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
    | st.text(alphabet='ab:-+*"\\ \tkindsice2w', max_size=60)
)
def test_anything_can_be_asked_and_no_word_is_lost(text: str) -> None:
    asked = parse(text)

    said = " ".join(
        [asked.text, *asked.must_not, *asked.prefixes, *(value for one in asked.filters for value in one.values)]
    )
    letters = [c for c in said.lower() if c.isalnum()]
    if asked.since is None and asked.until is None and not asked.filters:
        assert sorted(letters) == sorted(c for c in text.lower() if c.isalnum())
