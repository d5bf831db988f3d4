"""Slips: typos in the words by which a prompt asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.asking import shape, slips


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rember the redirect bug", "remember the redirect bug"),
        ("waht did we decide on retries?", "what did we decide on retries?"),
        ("the relay, what happend there", "the relay, what happened there"),
        ("whcih port, and why?", "which port, and why?"),
        ("Remmember the outage", "remember the outage"),
        ("yesteday's deploy", "yesteday's deploy"),
        ("pourqoi on a choisi Redis ?", "pourquoi on a choisi Redis ?"),
    ],
)
def test_a_slip_in_a_word_that_asks_is_corrected(typed: str, meant: str) -> None:
    assert slips.corrected(typed) == meant


@pytest.mark.parametrize(
    "prompt", ["were they there", "wat is dit", "wen meinst du", "`waht` is a typo", "a wait  for it"]
)
def test_words_of_their_own_and_code_are_no_slips(prompt: str) -> None:
    assert slips.corrected(prompt) == prompt


@given(st.text(max_size=200))
def test_correcting_fails_on_no_text_and_keeps_its_spaces(text: str) -> None:
    corrected = slips.corrected(text)

    assert corrected.count(" ") == text.count(" ")
    assert slips.corrected(corrected) == corrected


def test_a_question_with_a_slip_asks_as_surely_as_without() -> None:
    typed, meant = shape.of("waht did we deicde about the retries?"), shape.of("what did we decide about the retries?")

    assert typed is not None
    assert meant is not None
    assert (typed.grade, typed.topic) == (meant.grade, meant.topic)
