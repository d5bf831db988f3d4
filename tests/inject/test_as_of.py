"""As of: a question about an earlier time is answered with what was in force then."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.inject import context
from mdmem.inject.as_of import CHANGED_SINCE
from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk

_CHANGES = (
    ("2026-02-10", "set a retention for the audit log", "-KEEP = None", "+KEEP = 730", "The audit log has 730 days."),
    ("2026-04-07", "the disk is full, keep less", "-KEEP = 730", "+KEEP = 365", "The audit log is kept for 365 days."),
    ("2026-07-20", "Kestrel review: shorten it", "-KEEP = 365", "+KEEP = 90", "The audit log is kept for 90 days."),
)


@pytest.fixture
def now(vault: Path, tmp_path: Path) -> Talk:
    """Return a session in September, after one value was changed in February, April and July, and other work."""
    first = Talk(vault, tmp_path / "shop")
    for day, asked, old, new, answer in _CHANGES:
        talk = _on(first, day)
        talk.says(asked)
        talk.edits("settings.py", [old, new])
        talk.answers(answer)
    for day, asked, answer in (
        ("2026-05-11", "the audit page is slow", "The audit page loads 50 rows at once."),
        ("2026-06-02", "publish release Falcon", "Release Falcon is out."),
    ):
        talk = _on(first, day)
        talk.says(asked)
        talk.edits("page.py")
        talk.answers(answer)
    return new_session(first, 10)


def _on(first: Talk, day: str) -> Talk:
    moment = datetime.fromisoformat(f"{day}T10:00").replace(tzinfo=UTC).timestamp()
    talk = Talk(first.vault, first.cwd, f"{day.replace('-', '')}-0000-4000-8000-000000000000")
    talk.now = moment
    talk.start()
    return talk


@pytest.mark.parametrize(
    "prompt",
    [
        "how long did we keep the audit log before July?",
        "how long did we keep the audit log in May?",
        "how long did we keep the audit log in June?",
        "what retention did the audit log have in May?",
        "how long was the audit log kept before 20 July?",
        "how long did we keep the audit log before the Kestrel review?",
        "Before the Kestrel review, how long did we keep the audit log?",
        "how long did we keep the audit log at the time of release Falcon?",
        "wie lange haben wir das audit log vor dem Kestrel review behalten?",
        "was war vor Juli die retention vom audit log?",
    ],
)
def test_the_value_of_that_time_comes_first_and_then_what_changed_it(now: Talk, prompt: str) -> None:
    first, second, *_ = entries(ask(now, prompt))

    assert "365 days" in first
    assert f"({CHANGED_SINCE})" in first
    assert "90 days" in second


def test_the_explanation_of_such_a_question_has_the_block_that_it_is_given(now: Talk) -> None:
    question = "how long did we keep the audit log before the Kestrel review?"
    event = Event(agent="claude-code", name="UserPromptSubmit", session="new", cwd=str(now.cwd), prompt=question)

    block = context.explain(config.load(str(now.vault)), event, now.now + 60, time.monotonic() + 240).block

    assert block is not None
    assert entries(block.text)[0] == entries(ask(now, question))[0]


def test_before_the_first_of_two_changes_the_first_value_was_in_force(now: Talk) -> None:
    first, second, *_ = entries(ask(now, "how long did we keep the audit log in March?"))

    assert "730 days" in first
    assert "90 days" in second  # what holds today


@pytest.mark.parametrize("prompt", ["how long do we keep the audit log now?", "how long did we keep the audit log?"])
def test_without_a_time_the_newest_value_comes_first(now: Talk, prompt: str) -> None:
    first, *_ = entries(ask(now, prompt))

    assert "90 days" in first
    assert CHANGED_SINCE not in first


def test_a_value_that_was_never_changed_again_has_no_such_mark(now: Talk) -> None:
    (given,) = entries(ask(now, "how many rows did the audit page load in August?"))

    assert "50 rows" in given
    assert CHANGED_SINCE not in given


def test_what_happened_in_a_month_is_still_looked_for_in_that_month(now: Talk) -> None:
    first, *_ = entries(ask(now, "when did we shorten the audit log in July?"))

    assert "90 days" in first


def test_the_sessions_before_a_day_are_listed(now: Talk) -> None:
    given = ask(now, "what did we do before April 2026?")

    assert "## Sessions before 2026-04-01" in given
    assert "730 days" in given
    assert "365 days" not in given


def test_before_the_first_note_nothing_is_held_back(now: Talk) -> None:
    first, *_ = entries(ask(now, "how long did we keep the audit log before January 2026?"))

    assert "90 days" in first


def test_an_event_that_tells_what_was_before_it_is_not_held_back(now: Talk) -> None:
    restore = _on(now, "2026-03-02")
    restore.says("how do I restore Heron?")
    restore.answers("Restore Heron with a dump of yesterday.")
    upgrade = new_session(now, 1)
    upgrade.says("upgrade to Heron 9")
    upgrade.edits("heron.py")
    upgrade.answers("The upgrade is done: Heron is 9.1 instead of 8.6.")

    given = ask(new_session(now, 2), "which Heron did we have before the upgrade?")

    assert "instead of 8.6" in given
