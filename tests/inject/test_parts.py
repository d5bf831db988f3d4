"""Questions that ask two things at once, or for what the person said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk

SESSIONS = (
    (
        "we keep getting 502s behind nginx",
        "Caddyfile",
        "Caddy replaced nginx, which dropped idle sockets after a minute.",
    ),
    ("stripe or adyen? finance wants sepa", "pay.md", "Adyen: a debit costs 0.27 EUR there, and 0.35 with Stripe."),
    ("write the rollout in plain bash, ops reads nothing else", "rollout.sh", "The rollout is a script of 40 lines."),
    ("the rollout forgets the cache", "rollout.sh", "The bash script clears the cache first."),
    ("the seed script is slow", "seed.sh", "A loop in bash called psql a thousand times; now there is one COPY."),
    ("tickets show boxes", "pdf.ts", "Inter is embedded, as Helvetica has no Polish letters."),
    ("make the header sticky", "header.css", "The header is sticky."),
)


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project with some others."""
    first = Talk(vault, tmp_path / "ferry")
    for day, (asked, file, ended) in enumerate(SESSIONS):
        past = new_session(first, day)
        past.says(asked)
        past.edits(file)
        past.answers(ended)
        past.runs("bash scripts/check.sh", "ok")
    return new_session(first, len(SESSIONS))


@pytest.mark.parametrize(
    "question",
    [
        "why did we leave nginx and which font do tickets embed?",
        "which font is embedded in tickets, and why did we leave nginx?",
        "Why did we leave nginx? And which font do the tickets embed?",
        "what was the sockets trouble with nginx and the font of the tickets?",
        "what did we decide about nginx sockets and the Polish letters?",
        "warum haben wir nginx ersetzt und welcher Font ist in den tickets embedded?",
    ],
)
def test_both_parts_of_a_question_are_answered(talk: Talk, question: str) -> None:
    given = entries(ask(talk, question))

    assert any("idle sockets" in entry for entry in given)
    assert any("Inter is embedded" in entry for entry in given)


def test_of_one_thing_with_two_names_nothing_else_is_given(talk: Talk) -> None:
    (answer,) = entries(ask(talk, "why did we choose between Stripe and Adyen, and the debit?"))

    assert "0.27 EUR" in answer


def test_a_part_that_needs_the_other_is_no_question_of_its_own(talk: Talk) -> None:
    (answer,) = entries(ask(talk, "which font do the tickets embed, and why is it that one?"))

    assert "Inter is embedded" in answer


@pytest.mark.parametrize("question", ["what did I say about bash?", "did I ever mention bash?"])
def test_what_the_person_said_of_something_is_found_though_many_runs_have_its_name(talk: Talk, question: str) -> None:
    (answer,) = entries(ask(talk, question))

    assert "plain bash, ops reads nothing else" in answer


def test_what_the_person_never_said_is_not_made_up(talk: Talk) -> None:
    assert ask(talk, "did I ever mention terraform?") == ""


def test_of_a_long_prompt_the_part_with_what_is_asked_is_shown(talk: Talk) -> None:
    earlier = new_session(talk, 20)
    earlier.says(
        f"The harbor wants other prices. {'They vary by the hour of the day. ' * 4}Never round them with floor."
    )
    earlier.answers("Done.")

    (answer,) = entries(ask(new_session(earlier, 21), "what did I say about floor?"))

    assert "Never round them with floor." in answer


@pytest.mark.parametrize(
    ("follow_up", "answer"),
    [
        ("and the seed script?", "one COPY"),
        ("what about the tickets?", "Inter is embedded"),
        ("same for the header", "The header is sticky"),
        ("and test the tickets", ""),
        ("what about the tickets here?", ""),
    ],
)
def test_what_goes_on_with_a_question_about_the_past_asks_too(talk: Talk, follow_up: str, answer: str) -> None:
    asked = "why did we leave nginx?"
    assert "idle sockets" in ask(talk, asked)
    talk.store("UserPromptSubmit", prompt=asked)

    given = ask(talk, follow_up)

    assert answer in given
    assert bool(given) == bool(answer)


def test_what_goes_on_with_new_work_asks_nothing(talk: Talk) -> None:
    asked = "why did we leave nginx?"
    assert "idle sockets" in ask(talk, asked)
    talk.store("UserPromptSubmit", prompt=asked)
    talk.says("Make the logo smaller")

    assert ask(talk, "and the tickets?") == ""


@pytest.mark.parametrize("question", ["Warum haben wir Adyen genommen?", "почему мы выбрали Adyen?"])
def test_a_name_that_is_all_a_question_in_another_language_has_finds_it(talk: Talk, question: str) -> None:
    again = new_session(talk, 20)
    again.says("refunds come twice")
    again.edits("webhook.ts")
    again.answers("Adyen delivers each event at least once; the second one is ignored.")

    assert "0.27 EUR" in ask(new_session(again, 21), question)


def test_what_is_not_meant_is_no_second_question(talk: Talk) -> None:
    assert ask(talk, "why the p99 and not nginx?") == ""
    assert "idle sockets" in ask(talk, "why did we take Caddy and not nginx?")
