"""Titles are one line, and are cut after a word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mdmem.vault import note


@given(st.text(st.sampled_from("ab é日—\n\t"), min_size=150, max_size=400))
def test_a_long_title_ends_with_a_whole_word_or_within_a_long_one(text: str) -> None:
    line, title = " ".join(text.split()), note.one_line(text)
    assert len(title) <= note.MAX_TITLE_CHARS
    if title == line:
        return
    kept = title.removesuffix("…")
    assert line.startswith(kept)
    assert line[len(kept)] == " " or " " not in line[note.MAX_TITLE_CHARS * 2 // 3 : note.MAX_TITLE_CHARS]
