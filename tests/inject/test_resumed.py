"""Resumed: a session counts for the days on which it was worked on, not only for the one on which it began."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import ask, entries, new_session, occur
from tests.helpers.talk import Talk

DAY = 86_400


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    """Return a session of 14 September that was resumed on the 24th, with one on the 18th in between."""
    first = Talk(vault, tmp_path / "platform")
    first.start()
    first.says("Which ingress should the new cluster have?")
    first.answers("Traefik reads the 37 objects unchanged.")
    between = new_session(first, 4)
    between.says("Renew the certificates of the resolver")
    between.answers("The resolver has a new certificate.")
    first.now += 10 * DAY
    first.start("resume")
    first.says("We need mTLS: move on to Cilium")
    first.edits("main.tf", ["-traefik", "+cilium"])
    first.answers("All 37 objects are routes of Cilium now.")
    return new_session(first, 12)


def test_a_new_session_begins_with_the_one_that_was_resumed_last(talk: Talk) -> None:
    resumed, other, *_ = entries(occur(talk, "SessionStart", source="startup"))

    assert "Which ingress" in resumed
    assert "(last worked on 2026-09-24)" in resumed
    assert "Renew the certificates" in other
    assert "last worked on" not in other


def test_of_two_sessions_of_a_day_the_one_that_was_worked_on_last_comes_first(vault: Path, tmp_path: Path) -> None:
    long = Talk(vault, tmp_path / "shop")
    long.says("Sort the baskets")
    short = new_session(long, 0)
    short.now += 3600
    short.says("Renew the certificates")
    short.answers("They are renewed, and the resolver has read them.")
    long.now += 7200
    long.edits("baskets.py", ["+sort(stable=True)"])
    long.answers("The baskets are sorted, and the order of equal prices stays.")

    first, second = entries(occur(new_session(long, 1), "SessionStart", source="startup"))

    assert "Sort the baskets" in first
    assert "Renew the certificates" in second


def test_work_was_left_off_in_the_session_that_was_resumed_last(talk: Talk) -> None:
    assert "Which ingress" in entries(ask(talk, "Where did we leave off?"))[0]


def test_a_day_has_the_sessions_that_were_resumed_on_it(talk: Talk) -> None:
    (resumed,) = entries(ask(talk, "What did we do on September 24?"))

    assert "routes of Cilium" in resumed


@pytest.mark.parametrize("day", [15, 20])
def test_a_day_between_start_and_resumption_has_no_session(talk: Talk, day: int) -> None:
    text = ask(talk, f"What did we do on September {day}?")

    assert "No session of this project was worked on then." in text


def test_what_a_session_has_fixed_itself_is_not_left_open_where_it_is_resumed(vault: Path, tmp_path: Path) -> None:
    past = Talk(vault, tmp_path / "shop")
    past.start()
    past.says("Sort the baskets")
    past.runs("pytest tests/test_baskets.py", error="Exit code 1\n1 failed")
    past.answers("One test fails. Still to do: the order of equal prices.")
    fixing = new_session(past, 1)
    fixing.says("Fix that test")
    fixing.edits("baskets.py", ["+sort(stable=True)"])
    fixing.runs("pytest tests/test_baskets.py", "1 passed")
    fixing.answers("It passes.")

    resumed = occur(fixing, "SessionStart", source="resume")
    elsewhere = occur(new_session(past, 0), "SessionStart", source="startup")

    assert "Sort the baskets" in resumed
    assert "Left open" not in resumed
    assert "Left open" not in elsewhere


def test_what_a_session_ran_before_another_one_failed_settles_nothing(vault: Path, tmp_path: Path) -> None:
    first = Talk(vault, tmp_path / "shop")
    first.start()
    first.says("Check the baskets")
    first.runs("pytest tests/test_baskets.py", "1 passed")
    first.answers("It passes.")
    second = new_session(first, 1)
    second.says("Sort the baskets")
    second.runs("pytest tests/test_baskets.py", error="Exit code 1\n1 failed")
    second.answers("One test fails.")

    assert "Left open" in occur(first, "SessionStart", source="resume")
