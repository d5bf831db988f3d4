"""A subject that is called like what mdmem keeps: sessions, notes, search."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.talk import Talk
from tests.inject.test_inject import ask, entries, new_session


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("what did we decide about sessions?", "after 12 hours"),
        ("why were sessions so short?", "after 12 hours"),
        ("how did we do notes?", "drafts"),
        ("what did we change in search?", "reversed"),
    ],
)
def test_a_subject_that_is_called_like_what_mdmem_keeps_is_found(
    tmp_path: Path, vault: Path, prompt: str, answer: str
) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    for number, (asked, said) in enumerate(
        [
            ("Users are logged out all the time", "Sessions are short on the kiosk only, others end after 12 hours."),
            ("What vets type gets lost", "Notes are stored as drafts each 2 seconds."),
            ("Chip numbers are slow", "Search looks for the reversed number."),
            ("Show the calendar", "The calendar shows weeks."),
        ]
    ):
        work = new_session(talk, number)
        work.says(asked)
        work.edits(f"app/{number}.rb")
        work.answers(said)

    text = ask(new_session(talk, 9), prompt)
    (given,) = entries(text)

    assert answer in given
