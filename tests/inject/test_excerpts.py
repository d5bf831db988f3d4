"""Excerpts: of an answer what it says, of a change what is not shown already."""

from __future__ import annotations

from mdmem.inject import excerpts
from mdmem.inject.excerpts import ExcerptHunk


def test_a_sentence_that_says_nothing_is_left_out_unless_it_is_all_there_is() -> None:
    assert excerpts.outcome("Done. The export pages through the rows.", (), 300) == "The export pages through the rows."
    assert excerpts.outcome("**Next steps:** Page through the rows.", (), 300).count("..") == 0
    assert excerpts.outcome("Done.", (), 300) == "Done."


def test_a_change_that_stands_above_is_known_as_repeated() -> None:
    first = ExcerptHunk("export.py", ["+def rows():", "+    yield 1", "+    yield 2"])
    again = ExcerptHunk("export.py", ["-def rows(x):", "+def rows():", "+    yield 1"])
    other = ExcerptHunk("export.py", ["+def columns():", "+    yield 1"])

    assert excerpts.repeats(again, set(map(str.strip, first.added)))
    assert not excerpts.repeats(other, set(map(str.strip, first.added)))
