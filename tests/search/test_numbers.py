"""Numbers: which numbers a question has."""

from __future__ import annotations

import pytest

from mdmem.search.text import numbers


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1284000 rows", ["1284000"]),
        ("1 284 000 rows", ["1284000"]),
        ("192.168.100.200", [""]),
        ("call +49 301 234 567", []),
        ("2026-09-14", []),
        ("3.14", [""]),
    ],
)
def test_only_numbers_of_four_to_nine_digits_are_whole_numbers_with_thousands(text: str, joined: list[str]) -> None:
    assert [numbers.joined(number) for number, _ in numbers.of_question(text)] == joined


@pytest.mark.parametrize("text", ["20 000", "why not 20 000", "from 20 000 to 30 000"])
def test_other_spellings_of_a_number_make_no_other_number(text: str) -> None:
    spelled = numbers.spelled(text, foreign=False)

    assert {number for number, _ in numbers.of_question(spelled)} == {number for number, _ in numbers.of_question(text)}
