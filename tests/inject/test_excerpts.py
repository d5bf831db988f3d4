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


def test_what_was_done_is_shown_and_not_what_may_be_done_next() -> None:
    done = "The export pages through the rows now."
    said = f"{done} Before proceeding, the tests should be run. If you agree, I will submit the change."

    assert excerpts.outcome(said, ["row"], 300) == done


def test_the_authority_lets_encrypt_announces_nothing() -> None:
    said = "Let's Encrypt limited us. Let's add a test next."

    assert excerpts.outcome(said, (), 300) == "Let's Encrypt limited us."


def test_no_mark_is_added_to_the_end_of_what_somebody_wrote() -> None:
    assert excerpts.outcome("Exports: UTF-8, never Latin-1", (), 300) == "Exports: UTF-8, never Latin-1"


def test_a_script_that_looked_into_a_bug_is_left_out_where_something_else_was_changed() -> None:
    script = ExcerptHunk("replicate_bug.py", ["+import export", "+export.rows()"])
    change = ExcerptHunk("export.py", ["-def rows(x):", "+def rows():"])

    assert excerpts.rank([script, change], ["row"]) == [change]
    assert excerpts.rank([script], ["row"]) == [script]


def test_a_change_for_which_there_is_no_room_begins_behind_its_imports() -> None:
    change = ExcerptHunk("export.py", ["+import os", "+", "+def rows():", "+    yield 1"])

    assert excerpts.shown(change, 40) == ["export.py:", "+def rows():", "+    yield 1"]
    assert excerpts.shown(change, 400)[1] == "+import os"
