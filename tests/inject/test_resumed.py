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


def test_work_was_left_off_in_the_session_that_was_resumed_last(talk: Talk) -> None:
    assert "Which ingress" in entries(ask(talk, "Where did we leave off?"))[0]


def test_a_day_has_the_sessions_that_were_resumed_on_it(talk: Talk) -> None:
    (resumed,) = entries(ask(talk, "What did we do on September 24?"))

    assert "routes of Cilium" in resumed


def test_a_day_between_start_and_resumption_has_no_session(talk: Talk) -> None:
    text = ask(talk, "What did we do on September 20?")

    assert "No session of this project was worked on then." in text
