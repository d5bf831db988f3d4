"""Titles are one line of words, and are cut after a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.vault import note, titles


@given(st.text(st.sampled_from("ab é日—\n\t"), min_size=150, max_size=400))
def test_a_long_title_ends_with_a_whole_word_or_within_a_long_one(text: str) -> None:
    line, title = " ".join(text.split()), note.one_line(text)
    assert len(title) <= note.MAX_TITLE_CHARS
    if title == line:
        return
    kept = title.removesuffix("…")
    assert line.startswith(kept)
    assert line[len(kept)] == " " or " " not in line[note.MAX_TITLE_CHARS * 2 // 3 : note.MAX_TITLE_CHARS]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("#12 is still broken", "#12 is still broken"),
        ("--verbose does nothing", "--verbose does nothing"),
        ("-5 is accepted", "-5 is accepted"),
        ("*.py files are skipped", "*.py files are skipped"),
        ("**kwargs are lost", "**kwargs are lost"),
        (">= 3.11 is needed", ">= 3.11 is needed"),
        ("make: *** [Makefile:3: all] Error 1", "make: *** [Makefile:3: all] Error 1"),
        ("## Plan ##", "Plan"),
        ("# Bindings for C#", "Bindings for C#"),
        ("- [ ] **Sort**: the *dates*", "Sort: the *dates*"),
        ("> - **Sort them**", "Sort them"),
        ("***Important:*** sort them", "Important: sort them"),
        ("*Why* does it fail?", "Why does it fail?"),
        (">quoted", "quoted"),
    ],
)
def test_a_title_loses_marks_of_markdown_but_no_part_of_a_word(text: str, title: str) -> None:
    assert titles.first_line(text, "[PRIVATE]") == title


@pytest.mark.parametrize(
    "before",
    [
        "```js\nlet x = 1\n```\n",
        "~~~~\nlet x\n~~~\nlet y\n~~~~\n",
        '<div align="center">\n',
        "<instructions>\n<!-- for agents -->\n",
        'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\n',
    ],
)
def test_a_title_is_made_of_words_rather_than_of_code_or_tags_before_them(before: str) -> None:
    text = f"{before}What is wrong here?"
    assert titles.first_line(text, "[PRIVATE]") == titles.telling_line(text, "[PRIVATE]") == "What is wrong here?"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("```js\nlet x = 1\n```", "let x = 1"),
        ("```\nnever closed", "never closed"),
        ("<instructions>\n</instructions>", "<instructions>"),
        ("<https://example.org/a>\nand more", "<https://example.org/a>"),
        ("```x``` fails", "```x``` fails"),
        ("**", "**"),
    ],
)
def test_code_and_tags_are_a_title_if_there_is_nothing_else(text: str, title: str) -> None:
    assert titles.first_line(text, "[PRIVATE]") == title
